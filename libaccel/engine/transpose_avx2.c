// SPDX-License-Identifier: MIT
/*
 * Transposes by AVX2. Contract in kernels.h. A square has 16 bytes of each of its rows, in lanes of
 * as many registers as there are elements in these: rounds of unpacking transpose both lanes. The
 * squares at the edges overlap those before them; where a tile is narrower than a square its halves
 * do, or it is done lane by lane.
 */
#ifdef __x86_64__
#include <string.h>

#include "kernels.h"
#include "square_avx2.h"

#define PAGE_BYTES	4096

/*
 * 2 * count rows of 16 bytes, which are count elements, become count rows of 32 bytes. Lines of
 * these may be asked for before, but for bytes: 16 at a time are better left alone.
 */
#define DEFINE_SQUARE(bits, count)								\
INLINE void square_##bits(uint8_t *dst, int64_t dst_stride, const uint8_t *src,			\
			  int64_t src_stride, bool owns)					\
{												\
	__m256i r[count];									\
												\
	if (owns && (count) < 16)								\
		engine_own_columns(dst, dst_stride, count, 32);					\
	load_transposed_##bits(r, src, src + (count) * src_stride, src_stride);			\
	UNROLL											\
	for (int k = 0; k < (count); k++) {							\
		if (ARE_FEW(bits)) {								\
			_mm256_storeu_si256((__m256i *)BEYOND(dst, k * dst_stride), r[k]);	\
		} else {									\
			_mm256_storeu_si256((__m256i *)dst, r[k]);				\
			ADVANCE(dst, dst_stride);						\
		}										\
	}											\
}

DEFINE_SQUARE(8, 16)
DEFINE_SQUARE(16, 8)
DEFINE_SQUARE(32, 4)
DEFINE_SQUARE(64, 2)

/* Two elements of 16 bytes, one below the other. */
INLINE void square_128(uint8_t *dst, int64_t dst_stride, const uint8_t *src, int64_t src_stride,
		       bool owns)
{
	(void)dst_stride;
	(void)owns;
	_mm256_storeu_si256((__m256i *)dst, load_lanes(src, src + src_stride));
}

/* The first bytes of a lane, by both ends of what is there: beyond it may be nothing. */
INLINE __m128i load_lane(const uint8_t *from, int64_t bytes)
{
	uint32_t first, last;
	uint64_t low;

	if (bytes >= 16)
		return _mm_loadu_si128((const __m128i *)from);
	if (bytes > 8) {
		const __m128i high = _mm_loadl_epi64((const __m128i *)(from + bytes - 8));

		return _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)from),
					  _mm_srli_epi64(high, (int)(8 * (16 - bytes))));
	}
	if (bytes >= 4) {
		memcpy(&first, from, 4);
		memcpy(&last, from + bytes - 4, 4);
		low = first | (uint64_t)last << 8 * (bytes - 4);
	} else {
		low = from[0] | (uint64_t)from[bytes / 2] << 8 * (bytes / 2) |
		      (uint64_t)from[bytes - 1] << 8 * (bytes - 1);
	}
	return _mm_cvtsi64_si128((int64_t)low);
}

INLINE void store_lane(uint8_t *to, __m128i lane, int64_t bytes)
{
	const uint64_t low = (uint64_t)_mm_cvtsi128_si64(lane);
	const uint64_t high = (uint64_t)_mm_extract_epi64(lane, 1);
	uint64_t last;

	if (bytes >= 16) {
		_mm_storeu_si128((__m128i *)to, lane);
	} else if (bytes > 8) {
		last = low >> 8 * (bytes - 8) | high << 8 * (16 - bytes);
		memcpy(to, &low, 8);
		memcpy(to + bytes - 8, &last, 8);
	} else if (bytes >= 4) {
		last = low >> 8 * (bytes - 4);
		memcpy(to, &low, 4);
		memcpy(to + bytes - 4, &last, 4);
	} else {
		to[0] = (uint8_t)low;
		to[bytes / 2] = (uint8_t)(low >> 8 * (bytes / 2));
		to[bytes - 1] = (uint8_t)(low >> 8 * (bytes - 1));
	}
}

/* Where a square begins that would go beyond the end: some of it has been done before, then. */
INLINE int64_t fit(int64_t at, int64_t count, int64_t extent)
{
	return max(0, min(at, extent - count));
}

/*
 * A tile that is less wide than a square, or less high: what it has of one lane's columns, or rows,
 * and beside it the same of the next. No more than that is stored of either.
 */
#define DEFINE_NARROW_TRANSPOSE(size, bits, rounds)						\
INLINE void lanes_##size(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,	\
			 int64_t next_dst, int64_t next_src, bool is_whole)			\
{												\
	enum { N = 16 / (size) };								\
	const int64_t num_rows = is_whole ? N : min(tile->extents[1], N);			\
	const int64_t num_columns = is_whole ? N : min(tile->extents[0], N);			\
	__m256i r[N];										\
												\
	UNROLL											\
	for (int k = 0; k < N; k++) {								\
		r[k] = _mm256_setzero_si256();							\
		if (k < num_rows)								\
			r[k] = _mm256_inserti128_si256(						\
				_mm256_castsi128_si256(load_lane(src, num_columns * (size))),	\
				load_lane(BEYOND(src, next_src), num_columns * (size)), 1);	\
		ADVANCE(src, tile->src_strides[1]);						\
	}											\
	UNROLL											\
	for (int round = 0; round < (rounds); round++)						\
		round_##bits(r, N);								\
	UNROLL											\
	for (int k = 0; k < N; k++) {								\
		if (k < num_columns) {								\
			store_lane(dst, _mm256_castsi256_si128(r[k]), num_rows * (size));	\
			store_lane(BEYOND(dst, next_dst), _mm256_extracti128_si256(r[k], 1),	\
				   num_rows * (size));						\
		}										\
		ADVANCE(dst, tile->dst_strides[0]);						\
	}											\
}												\
												\
INLINE void narrow_##size(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,	\
			  bool is_whole)							\
{												\
	enum { N = 16 / (size) };								\
	const int64_t rows = tile->extents[1], columns = tile->extents[0];			\
	const int64_t across = columns < N ? 0 : N, down = N - across;				\
												\
	for (int64_t k = 0; k < columns; k += N + across) {					\
		const int64_t c = fit(k, N, columns), next_c = fit(k + across, N, columns);	\
												\
		for (int64_t row = 0; row < rows; row += N + down) {				\
			const int64_t r = fit(row, N, rows), next_r = fit(row + down, N, rows);	\
												\
			lanes_##size(dst + c * tile->dst_strides[0] + r * (size),		\
				     src + c * (size) + r * tile->src_strides[1], tile,		\
				     (next_c - c) * tile->dst_strides[0] +			\
				     (next_r - r) * (size),					\
				     (next_c - c) * (size) +					\
				     (next_r - r) * tile->src_strides[1], is_whole);		\
		}										\
	}											\
}												\
												\
TARGET static void transpose_narrow_##size(uint8_t *dst, const uint8_t *src,			\
					   const struct engine_tile *tile)			\
{												\
	enum { N = 16 / (size) };								\
												\
	if (tile->extents[0] >= N && tile->extents[1] >= N)					\
		narrow_##size(dst, src, tile, true);						\
	else											\
		narrow_##size(dst, src, tile, false);						\
}

DEFINE_NARROW_TRANSPOSE(1, 8, 4)
DEFINE_NARROW_TRANSPOSE(2, 16, 3)
DEFINE_NARROW_TRANSPOSE(4, 32, 2)
DEFINE_NARROW_TRANSPOSE(8, 64, 1)
DEFINE_NARROW_TRANSPOSE(16, 64, 0)

/*
 * More rows than a lane has elements, but fewer than two: the lower half of a square begins where
 * it has to, and has some rows of the upper one once more.
 */
#define DEFINE_SHORT_TRANSPOSE(size, bits)							\
INLINE void short_square_##size(uint8_t *dst, const uint8_t *src,				\
				const struct engine_tile *tile)					\
{												\
	enum { N = 16 / (size) };								\
	const int64_t skipped = tile->extents[1] - N;						\
	__m256i r[N];										\
												\
	load_transposed_##bits(r, src, src + skipped * tile->src_strides[1],			\
			   tile->src_strides[1]);						\
	UNROLL											\
	for (int k = 0; k < N; k++) {								\
		_mm_storeu_si128((__m128i *)dst, _mm256_castsi256_si128(r[k]));			\
		_mm_storeu_si128((__m128i *)BEYOND(dst, skipped * (size)),			\
				 _mm256_extracti128_si256(r[k], 1));				\
		ADVANCE(dst, tile->dst_strides[0]);						\
	}											\
}												\
												\
TARGET static void transpose_short_##size(uint8_t *dst, const uint8_t *src,			\
					  const struct engine_tile *tile)			\
{												\
	enum { N = 16 / (size) };								\
												\
	for (int64_t k = 0; k < tile->extents[0]; k += N) {					\
		const int64_t c = fit(k, N, tile->extents[0]);					\
												\
		short_square_##size(dst + c * tile->dst_strides[0], src + c * (size), tile);	\
	}											\
}

DEFINE_SHORT_TRANSPOSE(1, 8)
DEFINE_SHORT_TRANSPOSE(2, 16)
DEFINE_SHORT_TRANSPOSE(4, 32)
DEFINE_SHORT_TRANSPOSE(8, 64)

static bool is_short(const struct engine_tile *tile, int64_t size)
{
	return tile->extents[0] >= 16 / size && tile->extents[1] > 16 / size &&
	       tile->extents[1] < 32 / size;
}

/*
 * Rows of 9 to 15 bytes that go on into each other: with each but the last come bytes of the next.
 * Those of larger elements are deinterleaved.
 */
INLINE void thin_square(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,
			bool is_last)
{
	const int64_t columns = tile->extents[0];
	const uint8_t *lower = src + 16 * columns;
	__m256i r[16];

	UNROLL
	for (int k = 0; k < 16; k++) {
		if (is_last && k == 15)
			r[k] = _mm256_inserti128_si256(
				_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)src)),
				load_lane(lower, columns), 1);
		else
			r[k] = load_lanes(src, lower);
		ADVANCE(src, columns);
		ADVANCE(lower, columns);
	}
	UNROLL
	for (int round = 0; round < 4; round++)
		round_8(r, 16);
	UNROLL
	for (int k = 0; k < 16; k++) {
		if (k == columns)
			return;
		_mm256_storeu_si256((__m256i *)dst, r[k]);
		ADVANCE(dst, tile->dst_strides[0]);
	}
}

TARGET static void transpose_thin(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile)
{
	const int64_t last = tile->extents[1] - 32;

	for (int64_t r = 0; r < last; r += 32)
		thin_square(dst + r, src + r * tile->extents[0], tile, false);
	thin_square(dst + last, src + last * tile->extents[0], tile, true);
}

static bool is_thin(const struct engine_tile *tile)
{
	return tile->extents[0] > 8 && tile->extents[0] < 16 && tile->extents[1] >= 32 &&
	       tile->src_strides[1] == tile->extents[0];
}

/*
 * Whether what comes next in rows is asked for. Rows that begin within lines and follow each other
 * closely take half as long again so, and bytes, of whose squares each has 32 rows, a little more.
 */
static bool is_worth_fetching(const struct engine_tile *tile, int64_t size)
{
	const int64_t stride = tile->src_strides[1];

	return tile->ahead && size > 1 &&
	       (stride % LINE_BYTES == 0 || magnitude(stride) >= PAGE_BYTES);
}

/*
 * Squares side by side, with as few instructions between them as can be: the CPU looks so many
 * ahead for loads that it can begin, and these wait for other caches than the first.
 */
#define DEFINE_ALONG(size, bits)								\
INLINE void along_##size(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,	\
			 int64_t columns, bool owns)						\
{												\
	enum { COLUMNS = 16 / (size) };								\
	const int64_t dst_stride = tile->dst_strides[0], src_stride = tile->src_strides[1];	\
	int64_t left;										\
												\
	for (left = columns; left >= COLUMNS; left -= COLUMNS) {				\
		square_##bits(dst, dst_stride, src, src_stride, owns);				\
		dst = BEYOND(dst, COLUMNS * dst_stride);					\
		src = BEYOND(src, 16);								\
	}											\
	if (left)										\
		square_##bits(BEYOND(dst, (left - COLUMNS) * dst_stride), dst_stride,		\
			      BEYOND(src, (left - COLUMNS) * (size)), src_stride, owns);	\
}

DEFINE_ALONG(1, 8)
DEFINE_ALONG(2, 16)
DEFINE_ALONG(4, 32)
DEFINE_ALONG(8, 64)
DEFINE_ALONG(16, 128)

/* Down the rows of a strip of the source, so that the destination is written along its lines. */
#define DEFINE_STRIP(size)									\
INLINE void strip_##size(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,	\
			 int64_t columns, bool asks)						\
{												\
	enum { ROWS = 32 / (size) };								\
	const int64_t rows = tile->extents[1], src_stride = tile->src_strides[1];		\
	const bool fetches = asks && is_worth_fetching(tile, size);				\
	const bool owns = asks && engine_stores_wait();						\
												\
	for (int64_t left = rows; left > 0; left -= ROWS) {					\
		if (left < ROWS) {								\
			if (engine_is_last_one(rows - left, rows, size)) {			\
				engine_copy_one(dst, tile->dst_strides[0], src, size, columns,	\
						size);						\
				return;								\
			}									\
			dst = BEYOND(dst, (left - ROWS) * (size));				\
			src = BEYOND(src, (left - ROWS) * src_stride);				\
		}										\
		if (fetches)									\
			engine_fetch_after(src, src_stride, ROWS, tile->ahead);			\
		along_##size(dst, src, tile, columns, owns);					\
		dst = BEYOND(dst, 32);								\
		src = BEYOND(src, ROWS * src_stride);						\
	}											\
}

DEFINE_STRIP(1)
DEFINE_STRIP(2)
DEFINE_STRIP(4)
DEFINE_STRIP(8)
DEFINE_STRIP(16)

/*
 * Whether rows and columns go through the same few sets of the first cache, side by side: then
 * lines of both drive each other out, and loads wait for stores to other pages.
 */
static bool do_sides_meet(const uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,
			  int64_t sets)
{
	const uint64_t strides = (uint64_t)tile->dst_strides[0] - (uint64_t)tile->src_strides[1];

	return engine_is_back((int64_t)strides, 1, 8) &&
	       engine_is_back((int64_t)((uintptr_t)dst - (uintptr_t)src), sets, 512);
}

/* How many columns there are until one is back in the sets in which the first one begins. */
static int64_t count_column_sets(const struct engine_tile *tile)
{
	return engine_rows_until_back(tile->dst_strides[0], 16, 16);
}

/*
 * Whether a strip of rows that do not crowd each other is better as wide as a square, where columns
 * have room in their sets for so many bytes of a row. The rows' lines are still there for the next
 * strip then. But the longer rows are the more of them a strip should have, unless they are cut
 * anywhere, and whole lines if they begin with these.
 */
static bool are_squares_better(int64_t stride, int64_t size, int64_t room)
{
	const uint64_t quarters_of_page = stride % 16 ? 3 : 1;

	if (room < LINE_BYTES)
		return true;
	if (stride % LINE_BYTES == 0)
		return false;
	if (room == LINE_BYTES)
		return magnitude(stride) < PAGE_BYTES;
	return room == 2 * LINE_BYTES && size > 1 &&
	       magnitude(stride) < quarters_of_page * PAGE_BYTES / 4 + LINE_BYTES;
}

/*
 * How many columns a strip has: as many lines of the destination are under way then as find room in
 * the sets of the first cache in which they begin, of which columns that begin within lines have
 * two each. Where rows crowd each other theirs are gone before the next strip comes, so they are
 * read whole. What has been packed does not come from afar, and the fewer lines are under way the
 * better; and where both sides have the same sets, unless rows stay in them.
 */
static int64_t choose_strip(const uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,
			    int64_t size)
{
	const int64_t line = LINE_BYTES / size, square = max(1, 16 / size);
	const int64_t sets = count_column_sets(tile), room = ENGINE_SET_LINES * sets * size;
	const int64_t stride = tile->src_strides[1];
	int64_t columns = min(ENGINE_SET_LINES, line) * sets;

	if (!tile->ahead && sets <= 4)
		return square;
	if (sets <= 16 && size <= 8 && do_sides_meet(dst, src, tile, sets) &&
	    !engine_is_back(stride, 16, 0))
		return square;
	if (engine_is_crowded(stride, size))
		columns = max(columns, line);
	else if (are_squares_better(stride, size, room))
		columns = square;
	else if (room <= 2 * LINE_BYTES && size > 1 && size < 16 &&
		 tile->dst_strides[0] % LINE_BYTES)
		columns /= 2;
	return max(square, min(columns, 4 * line));
}

/*
 * Rows are packed where a strip loads each of their lines more than once, and they are gone from
 * the first cache in between: where a square has more rows than find room in their sets, and where
 * columns crowd each other as well, so that strips are narrow. Of rows that begin with lines these
 * have to be narrower than lines, and larger elements to be near.
 */
static bool is_better_packed(const struct engine_tile *tile, const uint8_t *src, int64_t size,
			     bool is_far)
{
	const int64_t stride = tile->src_strides[1], rows = 32 / size;
	const int64_t row_sets = engine_count_row_sets(stride, size);
	const int64_t room = ENGINE_SET_LINES * count_column_sets(tile) * size;

	(void)src;
	if (row_sets > ENGINE_MOST_ROW_SETS || (is_far && size > 4))
		return false;
	if (rows > ENGINE_SET_LINES * row_sets)
		return true;
	if (stride % LINE_BYTES == 0)
		return room < LINE_BYTES && (size <= 2 || !is_far);
	return room <= LINE_BYTES ||
	       (room == 2 * LINE_BYTES && size > 1 && row_sets <= max(1, 8 / size));
}

/*
 * Strip by strip. One that is as wide as a square has no loop along its rows. The tile is a copy,
 * which stores to bytes do not change.
 */
#define DEFINE_TRANSPOSE(size)									\
INLINE void squares_##size(uint8_t *dst, const uint8_t *src, const struct engine_tile *whole,	\
			   bool asks)								\
{												\
	enum { ROWS = 32 / (size), COLUMNS = 16 / (size) };					\
	const struct engine_tile copy = *whole, *const tile = &copy;				\
	const int64_t dst_stride = tile->dst_strides[0];					\
	const int64_t rows = tile->extents[1], columns = tile->extents[0];			\
	const int64_t width = asks ? choose_strip(dst, src, tile, size) :			\
			      (size) <= 2 ? COLUMNS : columns;					\
												\
	if (rows < ROWS || columns < COLUMNS) {							\
		transpose_narrow_##size(dst, src, whole);					\
		return;										\
	}											\
	for (int64_t first = 0; first < columns; first += width) {				\
		const int64_t count = min(width, columns - first);				\
		uint8_t *to = dst + first * dst_stride;						\
		const uint8_t *from = src + first * (size);					\
												\
		if (engine_is_last_one(first, columns, size))					\
			engine_copy_one(to, size, from, tile->src_strides[1], rows, size);	\
		else if (count == COLUMNS)							\
			strip_##size(to, from, tile, COLUMNS, asks);				\
		else										\
			strip_##size(to, from, tile, count, asks);				\
	}											\
}												\
												\
TARGET static void transpose_##size(uint8_t *dst, const uint8_t *src,				\
				    const struct engine_tile *tile)				\
{												\
	squares_##size(dst, src, tile, true);							\
}												\
												\
TARGET static void stage_##size(uint8_t *dst, const uint8_t *src,				\
				const struct engine_tile *tile)					\
{												\
	squares_##size(dst, src, tile, false);							\
}

DEFINE_TRANSPOSE(1)
DEFINE_TRANSPOSE(2)
DEFINE_TRANSPOSE(4)
DEFINE_TRANSPOSE(8)
DEFINE_TRANSPOSE(16)

/* Whether there are such as kernels for skewed columns take. */
static bool has_long_columns(const struct engine_tile *tile)
{
	return tile->extents[0] >= 4 && tile->extents[1] >= 64;
}

/* Whether columns of 8-byte elements begin at several places of a vector, and are not short. */
static bool is_skewed(const uint8_t *dst, const struct engine_tile *tile)
{
	const uint64_t places = (uintptr_t)dst | (uint64_t)tile->dst_strides[0];

	return places % 8 == 0 && tile->dst_strides[0] % ENGINE_SKEWED_BYTES &&
	       has_long_columns(tile);
}

/*
 * Where columns crowd each other in few sets, and rows that are pages apart drift through these:
 * every other way takes lines of the source several times, from afar.
 */
static bool is_worth_skewing(const uint8_t *dst, const struct engine_tile *tile)
{
	const int64_t dst_stride = tile->dst_strides[0], src_stride = tile->src_strides[1];

	return is_skewed(dst, tile) && magnitude(src_stride) > PAGE_BYTES - LINE_BYTES &&
	       (engine_is_back(dst_stride, 1, 16) ||
		(engine_is_back(dst_stride, 2, 16) && engine_is_back(src_stride, 2, 16)));
}

/* The same, but for the shapes that have kernels of their own. */
#define DEFINE_MATCH(name, size, shift, other)							\
static void match_##name##_##size(uint8_t *dst, const uint8_t *src,				\
				  const struct engine_tile *tile)				\
{												\
	engine_tile_kernel *kernel = (other);							\
												\
	if (is_short(tile, size))								\
		kernel = transpose_short_##size;						\
	if (engine_is_deinterleave(tile, size))							\
		kernel = engine_deinterleave_avx2[shift];					\
	else if (engine_is_interleave(tile, size))						\
		kernel = engine_interleave_avx2[shift];						\
	kernel(dst, src, tile);									\
}

DEFINE_MATCH(transpose, 1, 0, is_thin(tile) ? transpose_thin : transpose_1)
DEFINE_MATCH(transpose, 2, 1, transpose_2)
DEFINE_MATCH(transpose, 4, 2, transpose_4)
DEFINE_MATCH(transpose, 8, 3,
	     is_worth_skewing(dst, tile) ? engine_skewed_8_avx2 : transpose_8)
DEFINE_MATCH(stage, 1, 0, is_thin(tile) ? transpose_thin : stage_1)
DEFINE_MATCH(stage, 2, 1, stage_2)
DEFINE_MATCH(stage, 4, 2, stage_4)
DEFINE_MATCH(stage, 8, 3, stage_8)

static void skewed_transpose_8(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile)
{
	engine_tile_kernel *kernel = is_skewed(dst, tile) ? engine_skewed_8_avx2 :
							    match_transpose_8;

	kernel(dst, src, tile);
}

static void stream_skewed_8(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile)
{
	engine_tile_kernel *kernel = has_long_columns(tile) ? engine_stream_skewed_8_avx2 :
							      transpose_8;

	kernel(dst, src, tile);
}

/* Elements of a register or two. */
#define DEFINE_STRIDED(size)									\
TARGET static void transpose_##size(uint8_t *dst, const uint8_t *src,				\
				    const struct engine_tile *tile)				\
{												\
	for (int64_t c = 0; c < tile->extents[0]; c++) {					\
		uint8_t *to = dst + c * tile->dst_strides[0];					\
		const uint8_t *from = src + c * (size);						\
												\
		for (int64_t r = 0; r < tile->extents[1]; r++) {				\
			memcpy(to, from, size);							\
			to += (size);								\
			from += tile->src_strides[1];						\
		}										\
	}											\
}

DEFINE_STRIDED(32)
DEFINE_STRIDED(64)

INLINE void stream_lines_beside(uint8_t *dst, const uint8_t *src, const struct engine_tile *rows,
				const uint8_t *next, bool fetches)
{
	const int64_t bytes = rows->extents[1];

	for (int64_t r = 0; r < rows->extents[0]; r++) {
		const int64_t before = (int64_t)((uintptr_t)dst % 64);
		const __m256i *from = (const __m256i *)(src - before);
		__m256i *to = (__m256i *)(dst - before);
		const uint8_t *ahead = next;

		for (int64_t left = before + bytes; left >= 64; left -= 64) {
			if (fetches)
				engine_fetch(ahead);
			_mm256_stream_si256(to, _mm256_load_si256(from));
			_mm256_stream_si256(to + 1, _mm256_load_si256(from + 1));
			ahead += 64;
			from += 2;
			to += 2;
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

const struct engine_transpose_kernels engine_transpose_avx2 = {
	.transpose = {
		match_transpose_1, match_transpose_2, match_transpose_4, match_transpose_8,
		transpose_16, transpose_32, transpose_64,
	},
	.skewed_transpose = { [3] = skewed_transpose_8 },
	.stream_skewed = { [3] = stream_skewed_8, [4] = engine_stream_skewed_16_avx2 },
	.stage = { match_stage_1, match_stage_2, match_stage_4, match_stage_8, stage_16 },
	.is_better_packed = is_better_packed,
	.stream_transpose = {
		[1] = engine_stream_2_avx2, engine_stream_4_avx2, engine_stream_8_avx2,
		engine_stream_16_avx2,
	},
	.stream_beside = {
		[1] = engine_stream_beside_2_avx2, engine_stream_beside_4_avx2,
		engine_stream_beside_8_avx2, engine_stream_beside_16_avx2,
	},
	.transpose_rows = engine_rows_avx2,
	.most_steps = 1,
	.join_short = { [2] = engine_join_short_4_avx2 },
	.stream_lines = stream_lines,
	.chain_transpose = { [2] = engine_chain_4_avx2, [4] = engine_chain_16_avx2 },
	.streams_in_turns = true,
};

#endif /* __x86_64__ */
