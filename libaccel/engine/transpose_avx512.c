// SPDX-License-Identifier: MIT
/*
 * Transposes and interleaves by AVX-512 with byte permutes (F, BW, DQ, VL, VBMI). Contract in
 * kernels.h. Squares are transposed in registers: rounds of unpacking within lanes of 16 bytes,
 * then lanes are transposed among each other. At the edges they overlap those before them; what
 * fills no more than a lane of each column, or a quarter, is not done as a whole square. Where none
 * is there to overlap, or stores go around the caches, masks keep to the elements of the tile.
 */
#ifdef __x86_64__
#include <stddef.h>

#include "ahead.h"
#include "kernels.h"
#include "line_avx512.h"
#include "square_avx512.h"

/*
 * Elements of so many rows of the source, which become columns of the destination. Edges get a
 * copy: with more than seven members small matrices took a third longer.
 */
struct square {
	uint8_t *dst;
	int64_t dst_stride;
	const uint8_t *src;
	int64_t src_stride;
	const int64_t *places;	/* of rows that are not a stride apart, else NULL */
	int64_t num_rows;
	int64_t num_columns;
};

/* The place of row n. Asked for one after the other; next, that of row 0 at first, goes along. */
INLINE const uint8_t *next_row(const struct square *square, int n, const uint8_t **next)
{
	const uint8_t *row = *next;

	if (square->places)
		return BEYOND(square->src, square->places[n]);
	ADVANCE(*next, square->src_stride);
	return row;
}

/* The same, but rows beyond the last one are that one once more. */
INLINE const uint8_t *next_row_or_last(const struct square *square, int n, const uint8_t **next)
{
	const uint8_t *row = *next;

	if (square->places)
		return BEYOND(square->src, square->places[min(n, square->num_rows - 1)]);
	ADVANCE(*next, n + 1 < square->num_rows ? square->src_stride : 0);
	return row;
}

/*
 * The 64 bytes of row n, line by line: where lines are not in the first cache yet, a load that
 * crosses from one into the next takes several times as long as both of them.
 */
INLINE __m512i load_lines(const uint8_t *row, int n, const struct engine_join *join)
{
	const int64_t before = (int64_t)((uintptr_t)row % 64);
	const __mmask64 ours = ~0ull << before;
	const bool leaves_shared = join && join->leaves_shared;
	__m512i first, last;

	if (!before && !leaves_shared)
		return _mm512_load_si512(row);
	if (join && join->has_shared)
		first = _mm512_load_si512(join->shared[n]);
	else
		first = _mm512_maskz_loadu_epi8(ours, row - before);
	row += 64 - before;
	if (leaves_shared) {
		last = _mm512_load_si512(row);
		_mm512_store_si512(join->shared[n], last);
	} else {
		last = _mm512_maskz_loadu_epi8(~ours, row);
	}
	return bytes_from(first, before, last);
}

/* The same for a row between tiles on either side, whatever its place in a line. */
INLINE __m512i load_between(const uint8_t *row, uint8_t *shared)
{
	const int64_t before = (int64_t)((uintptr_t)row % 64);
	const __m512i first = _mm512_load_si512(shared);
	const __m512i last = _mm512_load_si512(row + 64 - before);

	_mm512_store_si512(shared, last);
	return bytes_from(first, before, last);
}

/* The first bytes of a row as a lane of a register, which has none of the later ones yet. */
INLINE __m512i load_lane(__m512i lanes, int lane, const uint8_t *row, __mmask16 columns)
{
	__m128i bytes = _mm_maskz_loadu_epi8(columns, row);

	/* the instruction takes a literal */
	switch (lane) {
	case 1:
		return _mm512_inserti32x4(lanes, bytes, 1);
	case 2:
		return _mm512_inserti32x4(lanes, bytes, 2);
	case 3:
		return _mm512_inserti32x4(lanes, bytes, 3);
	default:
		return _mm512_zextsi128_si512(bytes);
	}
}

/* The bytes of a lane. */
INLINE void store_lane(uint8_t *to, __m512i lanes, int lane)
{
	__m128i bytes;

	/* the instruction takes a literal */
	switch (lane) {
	case 1:
		bytes = _mm512_extracti32x4_epi32(lanes, 1);
		break;
	case 2:
		bytes = _mm512_extracti32x4_epi32(lanes, 2);
		break;
	case 3:
		bytes = _mm512_extracti32x4_epi32(lanes, 3);
		break;
	default:
		bytes = _mm512_castsi512_si128(lanes);
	}
	_mm_storeu_si128((__m128i *)to, bytes);
}

INLINE void zero_rows(__m512i *rows, int count)
{
	UNROLL
	for (int k = 0; k < count; k++)
		rows[k] = _mm512_setzero_si512();
}

/*
 * Stores a column, of which only so much as the mask has is there if it is not whole. Storing by
 * masks takes longer.
 */
INLINE void store_column(uint8_t *to, __m512i column, bool is_whole, bool streams, __mmask64 mask)
{
	if (streams)
		_mm512_stream_si512((__m512i *)to, column);
	else if (is_whole || mask == ~0ull)
		_mm512_storeu_si512(to, column);
	else
		_mm512_mask_storeu_epi8(to, mask, column);
}

/* Column c of a square, if it is there: streamed, or joined to what is in its lines. */
INLINE void put_column(const struct square *square, int c, uint8_t *to, __m512i column,
		       bool is_whole, bool streams, const struct engine_join *join,
		       __mmask64 mask)
{
	if (!is_whole && square->num_columns <= c)
		return;
	if (join && join->begins)
		begin_column(to, column, (__m512i *)join->lines[c]);
	else if (join)
		join_column(to, column, (__m512i *)join->lines[c],
			    is_whole ? 64 : _mm_popcnt_u64(mask));
	else
		store_column(to, column, is_whole, streams, mask);
}

/* Columns k, n + k, 2 * n + k and 3 * n + k, of which registers k of four groups have 16 bytes. */
INLINE void store_columns(__m512i *registers, int k, int n, const struct square *square,
			  uint8_t *to, bool is_whole, bool streams,
			  const struct engine_join *join, __mmask64 mask)
{
	const uint64_t step = (uint64_t)n * (uint64_t)square->dst_stride;
	__m512i *a = &registers[k], *b = a + n, *c = b + n, *d = c + n;

	transpose_lanes(a, b, c, d);
	put_column(square, k, to, *a, is_whole, streams, join, mask);
	put_column(square, n + k, BEYOND(to, step), *b, is_whole, streams, join, mask);
	put_column(square, 2 * n + k, BEYOND(to, 2 * step), *c, is_whole, streams, join, mask);
	put_column(square, 3 * n + k, BEYOND(to, 3 * step), *d, is_whole, streams, join, mask);
}

/* Whole rows, as they are stored: what is streamed is not in the first cache. */
INLINE void load_whole_rows(__m512i *rows, int first, int count, const struct square *square,
			    const uint8_t **next, bool streams)
{
	const bool is_by_lines = streams && !engine_loads_across();

	UNROLL
	for (int k = 0; k < count; k++) {
		const uint8_t *row = next_row(square, first + k, next);

		rows[k] = is_by_lines ? load_lines(row, first + k, NULL) : _mm512_loadu_si512(row);
	}
}

/* How rows are loaded of a tile whose columns are joined to what waits. */
enum row_loads {
	BY_LINES,		/* of which tiles beside may have some as well */
	BETWEEN_TILES,		/* that do, on either side */
	ACROSS_LINES,
};

static enum row_loads choose_loads(const struct engine_join *join)
{
	if (join->has_shared && join->leaves_shared)
		return BETWEEN_TILES;
	if (join->has_shared || join->leaves_shared || !engine_loads_across())
		return BY_LINES;
	return ACROSS_LINES;
}

/* Whole rows of such a tile. */
INLINE void load_joined_rows(__m512i *rows, int first, int count, const struct square *square,
			     const struct engine_join *join, enum row_loads loads)
{
	UNROLL
	for (int n = first; n < first + count; n++) {
		const uint8_t *row = BEYOND(square->src, square->places[n]);

		if (join->next)
			engine_fetch(join->next + n * 64);
		if (join->below)
			engine_fetch(BEYOND(row, join->below));
		if (loads == ACROSS_LINES)
			rows[n - first] = _mm512_loadu_si512(row);
		else if (loads == BETWEEN_TILES)
			rows[n - first] = load_between(row, join->shared[n]);
		else
			rows[n - first] = load_lines(row, n, join);
	}
}

/* The columns that are there of rows, of which fewer may be there. */
INLINE void load_rows(__m512i *rows, int first, int count, const struct square *square,
		      const uint8_t **next, __mmask64 columns)
{
	if (square->num_rows >= first + count) {
		UNROLL
		for (int k = 0; k < count; k++)
			rows[k] = _mm512_maskz_loadu_epi8(columns,
							  next_row(square, first + k, next));
		return;
	}
	UNROLL
	for (int k = 0; k < count; k++)
		rows[k] = _mm512_maskz_loadu_epi8(columns,
						  next_row_or_last(square, first + k, next));
}

/*
 * A square has rows of 64 bytes, in four groups of n rows, so many as there are elements in a lane.
 * In each group lanes are transposed, so that lane l of register k is column l * n + k; what the
 * groups have of a column is brought together when it is stored. Columns that go to the caches are
 * asked for before; where there are many of them, some with each group of rows. 64 columns of whole
 * lines are better left alone.
 */
#define DEFINE_SQUARE(size, rounds)								\
INLINE void square_##size(const struct square *square, bool is_whole, bool streams,		\
			  const struct engine_join *join, enum row_loads loads)			\
{												\
	enum { N = 16 / (size), IS_NARROW = N <= 4 };						\
	const bool owns = is_whole && !streams && !join &&					\
			  ((size) > 1 || square->dst_stride % 64);				\
	const __mmask64 columns = mask_of(square->num_columns * (size));			\
	const __mmask64 rows = mask_of(square->num_rows * (size));				\
	const uint8_t *from = square->src;							\
	uint8_t *to = square->dst;								\
	__m512i r[4 * N];									\
												\
	if (owns && IS_NARROW)									\
		engine_own_columns(to, square->dst_stride, 4 * N, 64);				\
	UNROLL											\
	for (int group = 0; group < 4 * N; group += N) {					\
		if (!is_whole && square->num_rows <= group) {					\
			zero_rows(r + group, N);						\
			continue;								\
		}										\
		if (!is_whole)									\
			load_rows(r + group, group, N, square, &from, columns);			\
		else if (join)									\
			load_joined_rows(r + group, group, N, square, join, loads);		\
		else										\
			load_whole_rows(r + group, group, N, square, &from, streams);		\
		if (owns && !IS_NARROW)								\
			engine_own_columns(BEYOND(to, group * square->dst_stride),		\
					   square->dst_stride, N, 64);				\
		UNROLL										\
		for (int round = 0; round < (rounds); round++)					\
			round_##size(r + group, N);						\
	}											\
	UNROLL											\
	for (int k = 0; k < N; k++) {								\
		if (!is_whole && square->num_columns <= k)					\
			return;									\
		store_columns(r, k, N, square, to, is_whole, streams, join, rows);		\
		ADVANCE(to, square->dst_stride);						\
	}											\
}

DEFINE_SQUARE(1, 4)
DEFINE_SQUARE(2, 3)
DEFINE_SQUARE(4, 2)
DEFINE_SQUARE(8, 1)
DEFINE_SQUARE(16, 0)

/* So few rows that they fill a lane of each column: of a square they are one group, all of it. */
#define DEFINE_GROUP(size, rounds)								\
TARGET static void group_##size(const struct square *square)					\
{												\
	enum { N = 16 / (size) };								\
	const __mmask64 columns = mask_of(square->num_columns * (size));			\
	const uint8_t *from = square->src;							\
	uint8_t *to = square->dst;								\
	__m512i r[N];										\
												\
	UNROLL											\
	for (int k = 0; k < N; k++) {								\
		r[k] = _mm512_maskz_loadu_epi8(columns, from);					\
		ADVANCE(from, square->src_stride);						\
	}											\
	UNROLL											\
	for (int round = 0; round < (rounds); round++)						\
		round_##size(r, N);								\
	UNROLL											\
	for (int c = 0; c < 4 * N; c++) {							\
		if (square->num_columns <= c)							\
			return;									\
		store_lane(to, r[c % N], c / N);						\
		ADVANCE(to, square->dst_stride);						\
	}											\
}

DEFINE_GROUP(1, 4)
DEFINE_GROUP(2, 3)
DEFINE_GROUP(4, 2)
DEFINE_GROUP(8, 1)
DEFINE_GROUP(16, 0)

/* Stores the first half of a column where it begins, the second so many bytes further on. */
INLINE void store_halves(uint8_t *to, int64_t further, __m512i column)
{
	_mm256_storeu_si256((__m256i *)to, _mm512_castsi512_si256(column));
	_mm256_storeu_si256((__m256i *)(to + further), _mm512_extracti64x4_epi64(column, 1));
}

/*
 * All columns of a square, of which the last rows are not there: its lower half begins where it has
 * to, and has some rows of the upper one once more. Rows are loaded where they are transposed, for
 * what stream_avx512.c says. Larger elements have fewer columns, which lost a little by being asked
 * for.
 */
#define DEFINE_SHORT_SQUARE(size, rounds)							\
TARGET static void short_square_##size(const struct square *square)				\
{												\
	enum { N = 16 / (size) };								\
	const int64_t skipped = square->num_rows - 2 * N;					\
	const uint64_t step = (uint64_t)N * (uint64_t)square->dst_stride;			\
	const uint8_t *from = square->src;							\
	uint8_t *to = square->dst;								\
	__m512i r[4 * N];									\
												\
	UNROLL											\
	for (int group = 0; group < 4 * N; group += N) {					\
		if (group == 2 * N)								\
			from = square->src + skipped * square->src_stride;			\
		UNROLL										\
		for (int k = 0; k < N; k++) {							\
			r[group + k] = _mm512_loadu_si512(from);				\
			ADVANCE(from, square->src_stride);					\
		}										\
		if ((size) == 1)								\
			engine_own_columns(BEYOND(to, group * square->dst_stride),		\
					   square->dst_stride, N, 64);				\
		UNROLL										\
		for (int round = 0; round < (rounds); round++)					\
			round_##size(r + group, N);						\
	}											\
	UNROLL											\
	for (int k = 0; k < N; k++) {								\
		transpose_lanes(&r[k], &r[N + k], &r[2 * N + k], &r[3 * N + k]);		\
		UNROLL										\
		for (int lane = 0; lane < 4; lane++)						\
			store_halves(BEYOND(to, (uint64_t)lane * step), skipped * (size),	\
				     r[lane * N + k]);						\
		ADVANCE(to, square->dst_stride);						\
	}											\
}

DEFINE_SHORT_SQUARE(1, 4)
DEFINE_SHORT_SQUARE(2, 3)
DEFINE_SHORT_SQUARE(4, 2)
DEFINE_SHORT_SQUARE(8, 1)
DEFINE_SHORT_SQUARE(16, 0)

/* As many rows as there are registers, into a lane of each. */
INLINE void load_lanes(__m512i *registers, int lane, int count, const struct square *square,
		       const uint8_t **next, __mmask16 columns)
{
	const int first = lane * count;

	if (square->num_rows >= first + count) {
		UNROLL
		for (int k = 0; k < count; k++)
			registers[k] = load_lane(registers[k], lane,
						 next_row(square, first + k, next), columns);
		return;
	}
	UNROLL
	for (int k = 0; k < count; k++)
		registers[k] = load_lane(registers[k], lane,
					 next_row_or_last(square, first + k, next), columns);
}

/* A quarter of a square: rows of 16 bytes, those of each group in a lane of their own. */
#define DEFINE_QUARTER(size, rounds)								\
INLINE void quarter_##size(const struct square *square, bool streams,				\
			   const struct engine_join *join)					\
{												\
	enum { N = 16 / (size) };								\
	const __mmask64 rows = mask_of(square->num_rows * (size));				\
	const __mmask16 columns = (__mmask16)mask_of(square->num_columns * (size));		\
	const uint8_t *from = square->src;							\
	uint8_t *to = square->dst;								\
	__m512i r[N];										\
												\
	UNROLL											\
	for (int lane = 0; lane < 4; lane++) {							\
		if (lane && square->num_rows <= lane * N)					\
			break;									\
		load_lanes(r, lane, N, square, &from, columns);					\
	}											\
	UNROLL											\
	for (int round = 0; round < (rounds); round++)						\
		round_##size(r, N);								\
	UNROLL											\
	for (int k = 0; k < N; k++) {								\
		if (square->num_columns <= k)							\
			return;									\
		put_column(square, k, to, r[k], false, streams, join, rows);			\
		ADVANCE(to, square->dst_stride);						\
	}											\
}

DEFINE_QUARTER(1, 4)
DEFINE_QUARTER(2, 3)
DEFINE_QUARTER(4, 2)
DEFINE_QUARTER(8, 1)
DEFINE_QUARTER(16, 0)

/* As many rows as there are registers, into the first or the second half of each. */
INLINE void load_halves(__m512i *registers, int part, int count, const struct square *square,
			const uint8_t **next, __mmask32 columns)
{
	const bool are_there = square->num_rows >= (part + 1) * count;

	UNROLL
	for (int k = 0; k < count; k++) {
		const int n = part * count + k;
		const uint8_t *row = are_there ? next_row(square, n, next) :
						 next_row_or_last(square, n, next);
		const __m256i half = _mm256_maskz_loadu_epi8(columns, row);

		registers[k] = part % 2 ? _mm512_inserti64x4(registers[k], half, 1) :
					  _mm512_zextsi256_si512(half);
	}
}

/* All four groups of them, where they are whole rows of a tile whose columns are joined. */
INLINE void load_joined_halves(__m512i *registers, int count, const struct square *square,
			       const struct engine_join *join)
{
	UNROLL
	for (int k = 0; k < 2 * count; k++) {
		const int64_t *places = square->places + k + k / count * count;
		const uint8_t *first = BEYOND(square->src, places[0]);
		const uint8_t *second = BEYOND(square->src, places[count]);
		const __m256i half = _mm256_loadu_si256((const __m256i *)second);

		if (join->next)
			engine_fetch(join->next + k * 64);
		registers[k] = _mm512_zextsi256_si512(_mm256_loadu_si256((const __m256i *)first));
		registers[k] = _mm512_mask_broadcast_i64x4(registers[k], 0xf0, half);
	}
}

/*
 * Half of a square: rows of 32 bytes, of two groups of them one in each register. It is whole only
 * where its columns are joined.
 */
#define DEFINE_HALF(size, rounds)								\
INLINE void half_##size(const struct square *square, bool is_whole, bool streams,		\
			const struct engine_join *join)						\
{												\
	enum { N = 16 / (size) };								\
	const __mmask64 rows = mask_of(square->num_rows * (size));				\
	const __mmask32 columns = (__mmask32)mask_of(square->num_columns * (size));		\
	const uint64_t step = (uint64_t)N * (uint64_t)square->dst_stride;			\
	const uint8_t *from = square->src;							\
	uint8_t *to = square->dst;								\
	__m512i r[2 * N];									\
												\
	if (is_whole)										\
		load_joined_halves(r, N, square, join);						\
	else											\
		zero_rows(r + N, N);								\
	UNROLL											\
	for (int part = 0; !is_whole && part < 4; part++) {					\
		if (part && square->num_rows <= part * N)					\
			break;									\
		load_halves(r + part / 2 * N, part, N, square, &from, columns);			\
	}											\
	UNROLL											\
	for (int round = 0; round < (rounds); round++) {					\
		round_##size(r, N);								\
		round_##size(r + N, N);								\
	}											\
	UNROLL											\
	for (int k = 0; k < N; k++) {								\
		if (!is_whole && square->num_columns <= k)					\
			return;									\
		put_column(square, k, to, even_lanes(r[k], r[N + k]), is_whole, streams, join,	\
			   rows);								\
		put_column(square, N + k, BEYOND(to, step), odd_lanes(r[k], r[N + k]),		\
			   is_whole, streams, join, rows);					\
		ADVANCE(to, square->dst_stride);						\
	}											\
}

DEFINE_HALF(1, 4)
DEFINE_HALF(2, 3)
DEFINE_HALF(4, 2)
DEFINE_HALF(8, 1)
DEFINE_HALF(16, 0)

/*
 * The columns that are done at a time: a square's, or half of them where there are no more than
 * that. A quarter's where there are no more than those, or rows are few.
 */
INLINE int64_t choose_width(const struct engine_tile *tile, int64_t c, int64_t side)
{
	const int64_t left = tile->extents[0] - c;

	if (left <= side / 4 || tile->extents[1] <= side / 2)
		return side / 4;
	return left <= side / 2 ? side / 2 : side;
}

/*
 * Whether columns are better stored a lane of the source at a time, if its rows begin within lines
 * and do not crowd each other. Of small elements a lane has many columns: only if these do so.
 */
INLINE bool are_columns_for_lanes(int64_t dst_stride, int64_t size)
{
	if (size == 1)
		return engine_is_back(dst_stride, 4, 4);
	return size > 2 || !engine_loads_across() || engine_is_back(dst_stride, 16, 16);
}

/*
 * Whether a tile is done by lanes, down 16 bytes of the source at a time: few lines of the
 * destination are under way then, which do not crowd each other out of the cache, and few loads go
 * across two lines of the source. Each of these is read four times meanwhile, and has to stay where
 * it is. Of bytes, a lane has 16 columns: these are done so only if they crowd each other. It is no
 * crowd where sets have room for a square's rows, of which larger elements have fewer, if each row
 * is a line and no part of two.
 */
INLINE bool goes_by_lanes(const struct engine_tile *tile, int64_t size)
{
	const int64_t dst_stride = tile->dst_strides[0], src_stride = tile->src_strides[1];
	const uint64_t most_rows = size == 1 ? 4 : dst_stride % 64 ? 16 : size < 8 ? 2 : 1;

	if (tile->extents[0] * size < 16 || tile->extents[1] * size < 64)
		return false;
	if (size > 1 && src_stride % 64)
		return are_columns_for_lanes(dst_stride, size);
	return engine_is_back(dst_stride, most_rows, size == 1 ? 4 : 8) &&
	       !engine_is_crowded(src_stride, size);
}

/*
 * How many columns are done together, along as many rows as a square has: four squares, or as many
 * as there is room for of the destination's lines, in the sets of the first cache in which they
 * begin. Where that is more than one square nothing is asked for ahead, by lanes neither.
 */
INLINE int64_t choose_panel(const struct engine_tile *tile, int64_t side)
{
	int64_t most;

	if (!engine_goes_along_rows() || tile->extents[0] < 2 * side)
		return side;
	most = ENGINE_SET_LINES * engine_rows_until_back(tile->dst_strides[0], 32, 16);
	return max(side, min(4 * side, most) / side * side);
}

/* The square or quarter that begins at a point of the tile. */
INLINE struct square square_at(uint8_t *dst, const uint8_t *src, const int64_t *places,
			       const struct engine_tile *tile, int64_t column, int64_t row,
			       int64_t size)
{
	return (struct square){
		.dst = dst + column * tile->dst_strides[0] + row * size,
		.dst_stride = tile->dst_strides[0],
		.src = src + column * size + (places ? 0 : row * tile->src_strides[1]),
		.src_stride = tile->src_strides[1],
		.places = places ? places + row : NULL,
		.num_rows = tile->extents[1] - row,
		.num_columns = tile->extents[0] - column,
	};
}

/* Whether a tile that is streamed is whole lines in the source, too, and of whole squares. */
INLINE bool are_lines(const uint8_t *src, const struct engine_tile *tile, int64_t side)
{
	return ((uintptr_t)src | (uint64_t)tile->src_strides[1]) % 64 == 0 &&
	       (tile->extents[0] | tile->extents[1]) % side == 0;
}

/*
 * Down the rows of a panel of the source, so that the destination is written along its lines; what
 * is streamed, along a few rows of the source: the CPU follows no more of them. The last squares
 * and groups end where the tile does, and overlap those before: storing by masks takes longer. The
 * edges have functions of their own: they need many registers.
 */
#define DEFINE_TRANSPOSE(size, shift)								\
INLINE void edge_##size(const struct square *square, int64_t width, bool streams,		\
			const struct engine_join *join)						\
{												\
	enum { SIDE = 64 / (size) };								\
	const bool can_stream = streams && square->num_rows >= SIDE;				\
												\
	if (width == SIDE)									\
		square_##size(square, false, can_stream, join, BY_LINES);			\
	else if (width == SIDE / 2)								\
		half_##size(square, false, can_stream, join);					\
	else											\
		quarter_##size(square, can_stream, join);					\
}												\
												\
TARGET static void strided_edge_##size(const struct square *given, int64_t width, bool streams)	\
{												\
	struct square square = *given;								\
												\
	square.places = NULL;									\
	edge_##size(&square, width, streams, NULL);						\
}												\
												\
INLINE void transpose_at_##size(uint8_t *dst, const uint8_t *src,				\
				const struct engine_tile *tile, int64_t c, int64_t r,		\
				int64_t width, bool streams, int64_t ahead)			\
{												\
	enum { SIDE = 64 / (size) };								\
	const struct square square = square_at(dst, src, NULL, tile, c, r, size);		\
												\
	if (!streams && width == SIDE && square.num_columns >= SIDE &&				\
	    square.num_rows < SIDE) {								\
		const struct square last = square;						\
												\
		short_square_##size(&last);							\
		return;										\
	}											\
	if (square.num_columns < SIDE || square.num_rows < SIDE) {				\
		const struct square edge = square;						\
												\
		strided_edge_##size(&edge, width, streams);					\
		return;										\
	}											\
	if (ahead)										\
		engine_fetch_after(square.src, square.src_stride, SIDE, ahead);			\
	square_##size(&square, true, streams, NULL, BY_LINES);					\
}												\
												\
INLINE void transpose_rest_##size(uint8_t *dst, const uint8_t *src,				\
				  const struct engine_tile *tile, int64_t c, int64_t r,		\
				  int64_t ahead)						\
{												\
	enum { N = 16 / (size), SIDE = 64 / (size) };						\
	const int64_t rows = tile->extents[1];							\
												\
	if (engine_is_last_one(r, rows, size)) {						\
		engine_copy_one(dst + c * tile->dst_strides[0] + r * (size),			\
				tile->dst_strides[0],						\
				src + c * (size) + r * tile->src_strides[1], size,		\
				min(SIDE, tile->extents[0] - c), size);				\
	} else if (r && rows - r <= N) {							\
		const struct square group = square_at(dst, src, NULL, tile, c, rows - N, size);	\
												\
		group_##size(&group);								\
	} else {										\
		transpose_at_##size(dst, src, tile, c, r ? rows - SIDE : 0, SIDE, false,	\
				    ahead);							\
	}											\
}												\
												\
/* Columns of whole squares, side by side before those below. */				\
INLINE void panel_##size(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,	\
			 int64_t first, int64_t count, int64_t ahead)				\
{												\
	enum { SIDE = 64 / (size) };								\
	const int64_t end = first + count;							\
	int64_t r = 0;										\
												\
	for (; r + SIDE <= tile->extents[1]; r += SIDE)						\
		for (int64_t c = first; c < end; c += SIDE)					\
			transpose_at_##size(dst, src, tile, c, r, SIDE, false, ahead);		\
	for (int64_t c = first; c < end && r < tile->extents[1]; c += SIDE)			\
		transpose_rest_##size(dst, src, tile, c, r, ahead);				\
}												\
												\
/* Fewer columns, or those of few rows. */							\
INLINE void narrow_##size(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,	\
			  int64_t c, int64_t width)						\
{												\
	for (int64_t r = 0; r < tile->extents[1]; r += 64 / (size)) {				\
		const struct square edge = square_at(dst, src, NULL, tile, c, r, size);		\
												\
		strided_edge_##size(&edge, width, false);					\
	}											\
}												\
												\
INLINE void squares_##size(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,	\
			   int64_t panel)							\
{												\
	enum { SIDE = 64 / (size) };								\
	const int64_t columns = tile->extents[0], ahead = panel > SIDE ? 0 : tile->ahead;	\
	int64_t count;										\
												\
	for (int64_t c = 0; c < columns; c += count) {						\
		count = choose_width(tile, c, SIDE);						\
		if (engine_is_last_one(c, columns, size)) {					\
			engine_copy_one(dst + c * tile->dst_strides[0], size, src + c * (size),	\
					tile->src_strides[1], tile->extents[1], size);		\
		} else if (count < SIDE) {							\
			narrow_##size(dst, src, tile, c, count);				\
		} else {									\
			count = max(SIDE, min(panel, columns - c) / SIDE * SIDE);		\
			panel_##size(dst, src, tile, c ? min(c, columns - SIDE) : 0, count,	\
				     ahead);							\
		}										\
	}											\
}												\
												\
TARGET static void transpose_##size(uint8_t *dst, const uint8_t *src,				\
				    const struct engine_tile *tile)				\
{												\
	const int64_t panel = choose_panel(tile, 64 / (size));					\
	struct engine_tile lanes;								\
												\
	if (!goes_by_lanes(tile, size)) {							\
		squares_##size(dst, src, tile, panel);						\
		return;										\
	}											\
	lanes = *tile;										\
	lanes.ahead = panel > 64 / (size) ? 0 : tile->ahead;					\
	engine_lanes_avx512[shift](dst, src, &lanes);						\
}												\
												\
TARGET static void stream_transpose_##size(uint8_t *dst, const uint8_t *src,			\
					   const struct engine_tile *tile)			\
{												\
	enum { SIDE = 64 / (size) };								\
	int64_t width;										\
												\
	if (are_lines(src, tile, SIDE)) {							\
		engine_stream_lines_avx512[shift](dst, src, tile);				\
		return;										\
	}											\
	for (int64_t r = 0; r < tile->extents[1]; r += SIDE) {					\
		for (int64_t c = 0; c < tile->extents[0]; c += width) {				\
			width = choose_width(tile, c, SIDE);					\
			transpose_at_##size(dst, src, tile, c, r, width, true, tile->ahead);	\
		}										\
	}											\
}

DEFINE_TRANSPOSE(1, 0)
DEFINE_TRANSPOSE(2, 1)
DEFINE_TRANSPOSE(4, 2)
DEFINE_TRANSPOSE(8, 3)
DEFINE_TRANSPOSE(16, 4)

/* Where the tile is no whole lines, what is to be fetched is so before. */
#define DEFINE_STREAM_BESIDE(size)								\
TARGET static void stream_beside_##size(uint8_t *dst, const uint8_t *src,			\
					const struct engine_tile *tile, const uint8_t *next)	\
{												\
	const int64_t bytes = tile->extents[0] * tile->extents[1] * (size);			\
												\
	if (are_lines(src, tile, 64 / (size))) {						\
		engine_stream_beside_##size##_avx512(dst, src, tile, next);			\
		return;										\
	}											\
	for (int64_t byte = 0; byte < bytes; byte += 64)					\
		engine_fetch(next + byte);							\
	stream_transpose_##size(dst, src, tile);						\
}

DEFINE_STREAM_BESIDE(4)
DEFINE_STREAM_BESIDE(8)
DEFINE_STREAM_BESIDE(16)

/*
 * What is fetched beside a square: so many bytes of a row. Where it has less, and beside what is no
 * whole square, they are fetched before, and it is NULL.
 */
INLINE const uint8_t *take_ahead(struct engine_ahead *ahead, bool is_whole, int64_t bytes)
{
	if (!ahead)
		return NULL;
	if (is_whole)
		return engine_ahead_take_or_fetch(ahead, bytes);
	engine_ahead_fetch(ahead, bytes);
	return NULL;
}

/* The same for a square, or a part of one that has so many columns, at a point of the tile. */
INLINE struct engine_join join_from(const struct engine_join *join, const struct square *square,
				    int64_t column, int64_t row, int64_t width, int64_t size)
{
	const int64_t side = 64 / size;
	const int64_t columns = min(width, square->num_columns), rows = min(side, square->num_rows);
	const bool is_whole = columns == side && rows == side;

	return (struct engine_join){
		.below = join->below,
		.next = take_ahead(join->ahead, is_whole, columns * rows * size),
		.lines = join->lines + column,
		.shared = join->shared + row,
		.has_shared = join->has_shared,
		.leaves_shared = join->leaves_shared,
		.begins = join->begins && !row,
	};
}

/*
 * Whether a whole square is joined by halves: rows of 32 bytes come to their halves of registers
 * as they are loaded, which are fewer instructions, but twice the loads. Only elements of two bytes
 * are better off.
 */
INLINE bool goes_by_halves(const struct engine_join *join, int64_t size)
{
	return size == 2 && !join->below && choose_loads(join) == ACROSS_LINES;
}

/* Rows that begin anywhere, to columns that begin anywhere: streamed, as above. */
#define DEFINE_JOIN_AT(size)									\
TARGET __attribute__((nonnull))									\
static void joined_edge_##size(const struct square *given, int64_t width,			\
			       const struct engine_join *join)					\
{												\
	const struct square square = *given;							\
												\
	if (square.places)									\
		edge_##size(&square, width, false, join);					\
}												\
												\
INLINE void join_halves_##size(const struct square *square, const struct engine_join *join)	\
{												\
	enum { WIDTH = 32 / (size) };								\
	struct engine_join there = *join;							\
	struct square half = *square;								\
												\
	for (int n = 0; n < 2; n++) {								\
		half_##size(&half, true, false, &there);					\
		half.dst = BEYOND(half.dst, WIDTH * square->dst_stride);			\
		half.src += 32;									\
		there.lines += WIDTH;								\
		there.next += there.next ? WIDTH * 64 : 0;					\
	}											\
}												\
												\
INLINE void join_at_##size(const struct square *square, int64_t width,				\
			   const struct engine_join *join)					\
{												\
	enum { SIDE = 64 / (size) };								\
												\
	if (square->num_columns < SIDE || square->num_rows < SIDE) {				\
		const struct square edge = *square;						\
												\
		joined_edge_##size(&edge, width, join);						\
		return;										\
	}											\
	if (goes_by_halves(join, size)) {							\
		join_halves_##size(square, join);						\
		return;										\
	}											\
	switch (choose_loads(join)) {								\
	case BETWEEN_TILES:									\
		square_##size(square, true, false, join, BETWEEN_TILES);			\
		break;										\
	case ACROSS_LINES:									\
		square_##size(square, true, false, join, ACROSS_LINES);				\
		break;										\
	default:										\
		square_##size(square, true, false, join, BY_LINES);				\
	}											\
}

DEFINE_JOIN_AT(1)
DEFINE_JOIN_AT(2)
DEFINE_JOIN_AT(4)
DEFINE_JOIN_AT(8)
DEFINE_JOIN_AT(16)

/*
 * Squares of 8-byte elements one below the other, while there are whole ones. What waits is in
 * registers meanwhile, of which squares of smaller elements leave too few. Returns the rows.
 */
INLINE int64_t join_squares_8(uint8_t *dst, const uint8_t *src, const struct engine_join *join,
			      const struct engine_tile *tile, int64_t c, enum row_loads loads)
{
	__m512i lines[8];
	int64_t r;

	UNROLL
	for (int k = 0; k < 8; k++)
		lines[k] = _mm512_load_si512(join->lines[c + k]);
	for (r = 0; r + 8 <= tile->extents[1]; r += 8) {
		const struct square square = square_at(dst, src, join->places, tile, c, r, 8);
		struct engine_join there = join_from(join, &square, c, r, 8, 8);

		there.lines = (uint8_t (*)[64])lines;
		square_8(&square, true, false, &there, loads);
	}
	UNROLL
	for (int k = 0; k < 8; k++)
		_mm512_store_si512(join->lines[c + k], lines[k]);
	return r;
}

INLINE int64_t join_whole_squares_8(uint8_t *dst, const uint8_t *src,
				    const struct engine_join *join,
				    const struct engine_tile *tile, int64_t c)
{
	if (tile->extents[0] - c < 8)
		return 0;
	switch (choose_loads(join)) {
	case BETWEEN_TILES:
		return join_squares_8(dst, src, join, tile, c, BETWEEN_TILES);
	case ACROSS_LINES:
		return join_squares_8(dst, src, join, tile, c, ACROSS_LINES);
	default:
		return join_squares_8(dst, src, join, tile, c, BY_LINES);
	}
}

/* first: how many rows of the columns from c on are joined already. */
#define DEFINE_JOIN(size, first)								\
TARGET __attribute__((nonnull))									\
static void join_##size(uint8_t *dst, const uint8_t *src, const struct engine_join *join,	\
			const struct engine_tile *tile)						\
{												\
	enum { SIDE = 64 / (size) };								\
	int64_t width;										\
												\
	for (int64_t c = 0; c < tile->extents[0]; c += width) {					\
		width = choose_width(tile, c, SIDE);						\
		for (int64_t r = (first); r < tile->extents[1]; r += SIDE) {			\
			const struct square square = square_at(dst, src, join->places, tile, c,	\
							       r, size);			\
			const struct engine_join there = join_from(join, &square, c, r, width,	\
								   size);			\
												\
			join_at_##size(&square, width, &there);					\
		}										\
	}											\
}

DEFINE_JOIN(1, 0)
DEFINE_JOIN(2, 0)
DEFINE_JOIN(4, 0)
DEFINE_JOIN(8, join_whole_squares_8(dst, src, join, tile, c))
DEFINE_JOIN(16, 0)

/* Four elements of a lane each, of rows at these places. */
INLINE __m512i line_of_rows(const uint8_t *src, const int64_t *places)
{
	__m512i line = _mm512_zextsi128_si512(_mm_loadu_si128(BEYOND(src, places[0])));

	line = _mm512_mask_broadcast_i32x4(line, 0x00f0, _mm_loadu_si128(BEYOND(src, places[1])));
	line = _mm512_mask_broadcast_i32x4(line, 0x0f00, _mm_loadu_si128(BEYOND(src, places[2])));
	return _mm512_mask_broadcast_i32x4(line, 0xf000, _mm_loadu_si128(BEYOND(src, places[3])));
}

/* The line in which a column begins, behind what waits, and what waits for the one after it. */
INLINE void join_ends(uint8_t *to, const uint8_t *src, const int64_t *places, int64_t rows,
		      uint8_t *line)
{
	const int64_t filled = (int64_t)((uintptr_t)to % 64);

	_mm512_stream_si512((__m512i *)(to - filled),
			    bytes_from(_mm512_load_si512(line), 64 - filled,
				       line_of_rows(src, places)));
	_mm512_store_si512(line, line_of_rows(src, places + rows - 4));
}

/*
 * Elements of 16 bytes that begin where a lane does: each line of a column is put together from the
 * rows that it has, and only those in which the column begins and ends are joined to others. A few
 * rows at a time go by squares, and columns that begin, and those beside which others are fetched.
 */
TARGET static void join_rows(uint8_t *dst, const uint8_t *src, const struct engine_join *join,
			     const struct engine_tile *tile)
{
	const int64_t stride = tile->dst_strides[0], rows = tile->extents[1];

	if (((uintptr_t)dst | (uint64_t)stride) % 16 || rows < 4 || join->below || join->ahead ||
	    join->begins) {
		join_16(dst, src, join, tile);
		return;
	}
	for (int64_t c = 0; c < tile->extents[0]; c++)
		join_ends(dst + c * stride, src + c * 16, join->places, rows, join->lines[c]);
	for (int64_t next = 4; next < rows; next += 4) {
		for (int64_t c = 0; c < tile->extents[0]; c++) {
			uint8_t *to = dst + c * stride + next * 16;
			const int64_t before = (int64_t)((uintptr_t)to % 64 / 16);
			const int64_t row = next - before;

			if (row + 4 <= rows)
				_mm512_stream_si512((__m512i *)(to - before * 16),
						    line_of_rows(src + c * 16, join->places + row));
		}
	}
}

/* A column of elements of half a line: two of them at a time. */
INLINE void transpose_column_32(uint8_t *to, const uint8_t *from, const struct engine_tile *tile,
				bool streams)
{
	const int64_t stride = tile->src_strides[1];
	int64_t r = 0;

	for (; r + 1 < tile->extents[1]; r += 2) {
		__m256i first = _mm256_loadu_si256((const __m256i *)(from + r * stride));
		__m256i second = _mm256_loadu_si256((const __m256i *)(from + (r + 1) * stride));

		store_column(to + r * 32, _mm512_inserti64x4(_mm512_castsi256_si512(first),
							     second, 1), true, streams, 0);
	}
	if (r < tile->extents[1])
		_mm256_storeu_si256((__m256i *)(to + r * 32),
				    _mm256_loadu_si256((const __m256i *)(from + r * stride)));
}

/* Of lines. */
INLINE void transpose_column_64(uint8_t *to, const uint8_t *from, const struct engine_tile *tile,
				bool streams)
{
	for (int64_t r = 0; r < tile->extents[1]; r++)
		store_column(to + r * 64, _mm512_loadu_si512(from + r * tile->src_strides[1]),
			     true, streams, 0);
}

#define DEFINE_WIDE_TRANSPOSE(name, size, streams)						\
TARGET static void name##_##size(uint8_t *dst, const uint8_t *src,				\
				 const struct engine_tile *tile)				\
{												\
	for (int64_t c = 0; c < tile->extents[0]; c++)						\
		transpose_column_##size(dst + c * tile->dst_strides[0], src + c * (size), tile,	\
					streams);						\
}

DEFINE_WIDE_TRANSPOSE(transpose, 32, false)
DEFINE_WIDE_TRANSPOSE(transpose, 64, false)
DEFINE_WIDE_TRANSPOSE(stream_transpose, 32, true)
DEFINE_WIDE_TRANSPOSE(stream_transpose, 64, true)

/* Where columns have no more than half a line they do not fill registers. */
INLINE bool is_narrow(const struct engine_tile *tile, int64_t size)
{
	return tile->extents[1] * size <= 32;
}

/* Interleaving begins with tables, for which squares transpose some hundred bytes. */
INLINE bool is_worth_tables(const struct engine_tile *tile, int64_t size)
{
	return tile->extents[0] * tile->extents[1] * size >= 512;
}

/* The same, but for the shapes that have kernels of their own. */
#define DEFINE_MATCH(size, shift)								\
TARGET static void match_##size(uint8_t *dst, const uint8_t *src,				\
				const struct engine_tile *tile)					\
{												\
	engine_tile_kernel *kernel = transpose_##size;						\
												\
	if (engine_is_deinterleave(tile, size) && is_worth_tables(tile, size))			\
		kernel = engine_deinterleave_avx512[shift];					\
	else if (engine_is_interleave(tile, size) && is_worth_tables(tile, size))		\
		kernel = engine_interleave_avx512[shift];					\
	else if (is_narrow(tile, size))								\
		kernel = engine_transpose_avx2.transpose[shift];				\
	kernel(dst, src, tile);									\
}

DEFINE_MATCH(1, 0)
DEFINE_MATCH(2, 1)
DEFINE_MATCH(4, 2)
DEFINE_MATCH(8, 3)

/*
 * To the staging buffer. Rows are not in the first cache, and are gone along: by lanes, what goes
 * across lines would be read from there four times. Other sizes gained nothing by it.
 */
TARGET static void stage_4(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile)
{
	enum { SIDE = 16 };
	const int64_t columns = tile->extents[0], rows = tile->extents[1];

	if (!engine_loads_across() || columns < SIDE || rows < SIDE) {
		match_4(dst, src, tile);
		return;
	}
	for (int64_t row = 0; row < rows; row += SIDE) {
		const int64_t r = min(row, rows - SIDE);

		for (int64_t c = 0; c < columns; c += SIDE)
			transpose_at_4(dst, src, tile, min(c, columns - SIDE), r, SIDE, false, 0);
	}
}

INLINE void stream_lines_beside(uint8_t *dst, const uint8_t *src, const struct engine_tile *rows,
				const uint8_t *next, bool fetches)
{
	const int64_t bytes = rows->extents[1];

	for (int64_t r = 0; r < rows->extents[0]; r++) {
		const int64_t before = (int64_t)((uintptr_t)dst % 64);
		const __m512i *from = (const __m512i *)(src - before);
		__m512i *to = (__m512i *)(dst - before);
		const uint8_t *ahead = next;

		for (int64_t left = before + bytes; left >= 64; left -= 64) {
			if (fetches)
				engine_fetch(ahead);
			_mm512_stream_si512(to++, _mm512_load_si512(from++));
			ahead += 64;
		}
		if (fetches) {
			if (bytes % 64)
				engine_fetch(next + bytes - 1);
			next += bytes;
		}
		dst = BEYOND(dst, rows->dst_strides[0]);
		src = BEYOND(src, rows->src_strides[0]);
	}
}

TARGET static void stream_lines(uint8_t *dst, const uint8_t *src, const struct engine_tile *rows,
				const uint8_t *next)
{
	if (next)
		stream_lines_beside(dst, src, rows, next, true);
	else
		stream_lines_beside(dst, src, rows, NULL, false);
}

/* --- columns that go on into each other ------------------------------------------------------- */

typedef int32_t lanes __attribute__((vector_size(64)));

/* Lane k of the line is lane place + k of columns, which have so many lanes each. */
INLINE __m512i line_of_columns(const __m512i *columns, int place, int num_rows)
{
	const lanes numbers = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	const int begin = place % num_rows, left = num_rows - begin;
	const __m512i *first = &columns[place / num_rows];
	const lanes of_two = numbers + begin + ((numbers >= left) & (16 - num_rows));
	__m512i line = _mm512_permutex2var_epi32(first[0], (__m512i)of_two, first[1]);

	if (left + num_rows < 16)
		line = _mm512_mask_permutexvar_epi32(line, (__mmask16)(0xffff << (left + num_rows)),
						     (__m512i)(numbers - left - num_rows),
						     first[2]);
	return line;
}

/* 16 columns of 4-byte elements: as many lines as there are rows. */
INLINE void chain_square(uint8_t *dst, const struct square *square, __m512i *before,
			 __m512i places, int num_rows)
{
	const uint8_t *from = square->src;
	__m512i r[16];

	load_whole_rows(r, 0, num_rows, square, &from, true);
	zero_rows(r + num_rows, 16 - num_rows);
	UNROLL
	for (int group = 0; group < 16; group += 4) {
		round_4(r + group, 4);
		round_4(r + group, 4);
	}
	UNROLL
	for (int k = 0; k < 4; k++)
		transpose_lanes(&r[k], &r[4 + k], &r[8 + k], &r[12 + k]);
	UNROLL
	for (int n = 0; n < num_rows; n++) {
		__m512i line = line_of_columns(r, 16 * n, num_rows);

		_mm512_stream_si512((__m512i *)(dst + 64 * n),
				    _mm512_permutex2var_epi8(*before, places, line));
		*before = line;
	}
}

INLINE void chain_rows(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,
		       uint8_t *line, int64_t filled, int num_rows)
{
	const __m512i places = places_from(64 - filled);
	__m512i before = _mm512_loadu_si512(line);

	for (int64_t c = 0; c < tile->extents[0]; c += 16) {
		const struct square square = square_at(dst, src, NULL, tile, c, 0, 4);

		chain_square(dst, &square, &before, places, num_rows);
		dst += 64 * num_rows;
	}
	_mm512_storeu_si512(line, before);
}

/* The registers of a square are known by number only where the number of rows is. */
#define CHAIN_CASE(num_rows)									\
	case num_rows:										\
		chain_rows(dst, src, tile, line, filled, num_rows);				\
		break

TARGET static void chain_4(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,
			   uint8_t *line, int64_t filled)
{
	switch (tile->extents[1]) {
	CHAIN_CASE(9);
	CHAIN_CASE(10);
	CHAIN_CASE(11);
	CHAIN_CASE(12);
	CHAIN_CASE(13);
	CHAIN_CASE(14);
	CHAIN_CASE(15);
	}
}

/*
 * Whether squares do without packing although rows crowd each other: where loads across lines are
 * quick and few of a square's rows meet in a set, what is gone from there in the meantime costs
 * less. Lanes come back to the same lines.
 */
TARGET static bool is_crowd_small(const struct engine_tile *tile, int64_t size)
{
	const int64_t meeting = 64 / size / engine_count_row_sets(tile->src_strides[1], size);

	return engine_loads_across() &&
	       meeting <= (are_columns_for_lanes(tile->dst_strides[0], size) ? 8 : 16);
}

/*
 * Rows that crowd each other have lines that two squares ask for, if they begin within lines: these
 * are gone before the second one does. Of larger elements squares have few rows, whose lines find
 * room in their sets.
 */
static bool is_better_packed(const struct engine_tile *tile, const uint8_t *src, int64_t size,
			     bool is_far)
{
	const int64_t stride = tile->src_strides[1];

	(void)is_far;
	if (size > 4)
		return false;
	if (stride % LINE_BYTES)
		return engine_is_crowded(stride, size) && !is_crowd_small(tile, size);
	return (uintptr_t)src % LINE_BYTES && stride % (ENGINE_SETS_BYTES / 2) == 0;
}

const struct engine_transpose_kernels engine_transpose_avx512 = {
	.transpose = {
		match_1, match_2, match_4, match_8, transpose_16, transpose_32,
		transpose_64,
	},
	.stage = { [2] = stage_4 },
	.is_better_packed = is_better_packed,
	.stream_transpose = {
		stream_transpose_1, stream_transpose_2, stream_transpose_4, stream_transpose_8,
		stream_transpose_16, stream_transpose_32, stream_transpose_64,
	},
	.stream_beside = { [2] = stream_beside_4, stream_beside_8, stream_beside_16 },
	.stream_packing = { engine_stream_packing_1_avx512, engine_stream_packing_2_avx512 },
	.transpose_rows = engine_rows_avx512,
	.most_steps = 2,
	.join_transpose = { join_1, join_2, join_4, join_8, join_rows },
	.join_tall = { [2] = engine_join_tall_4_avx512 },
	.join_packed = { engine_join_packed_1_avx512, engine_join_packed_2_avx512 },
	.join_short = { [2] = engine_join_short_4_avx2 },
	.stream_lines = stream_lines,
	.chain_transpose = { [2] = chain_4 },
	.pack_rows = engine_pack_rows_avx512,
	.loads_lines = true,
};

#endif /* __x86_64__ */
