/* SPDX-License-Identifier: MIT */
/*
 * Runs, fills and pairs with vectors of any size, written once: the file of an instruction set
 * defines what is listed here, includes this one, and has their kernels. It owns how a row of bytes
 * is cut into vectors; where rows are is the framework's. A row's last vector overlaps the one
 * before it, so that no byte outside of the row is touched and no row needs a loop over bytes.
 *
 *	VECTOR_BYTES		16, 32 or 64
 *	TARGET			the attribute of functions that use the instruction set, or nothing
 *	stream_vector(to, v)	stores a vector around the caches; to is aligned to VECTOR_BYTES
 */
#include <string.h>

#include "arithmetic.h"
#include "place.h"

#define VECTOR_TYPE(size) __attribute__((vector_size(size), aligned(1), may_alias))

typedef uint8_t unit_1;
typedef uint16_t __attribute__((aligned(1), may_alias)) unit_2;
typedef uint32_t __attribute__((aligned(1), may_alias)) unit_4;
typedef uint64_t __attribute__((aligned(1), may_alias)) unit_8;
typedef uint8_t VECTOR_TYPE(16) unit_16;
typedef uint8_t VECTOR_TYPE(32) unit_32;
typedef uint8_t VECTOR_TYPE(64) unit_64;
typedef uint8_t VECTOR_TYPE(VECTOR_BYTES) vector;

#define INLINE	static inline __attribute__((always_inline)) TARGET

INLINE void fetch(const uint8_t *src, int64_t ahead)
{
	engine_fetch(BEYOND(src, ahead));
}

/* Copies size to 2 * size bytes by two units that overlap. */
#define DEFINE_COPY_TWO(size)									\
INLINE void copy_two_##size(uint8_t *dst, const uint8_t *src, int64_t bytes)			\
{												\
	unit_##size first = *(const unit_##size *)src;						\
	unit_##size last = *(const unit_##size *)(src + bytes - size);				\
												\
	*(unit_##size *)dst = first;								\
	*(unit_##size *)(dst + bytes - size) = last;						\
}												\
												\
static TARGET void copy_rows_##size(uint8_t *dst, const uint8_t *src,				\
				    const struct engine_tile *tile, int64_t bytes)		\
{												\
	const int64_t dst_stride = tile->dst_strides[0], src_stride = tile->src_strides[0];	\
	const int64_t ahead = tile->ahead;							\
												\
	for (int64_t j = 0; j < tile->extents[0]; j++) {					\
		if (ahead) {									\
			fetch(src, ahead);							\
			fetch(src + bytes - 1, ahead);						\
		}										\
		copy_two_##size(dst, src, bytes);						\
		dst += dst_stride;								\
		src += src_stride;								\
	}											\
}

DEFINE_COPY_TWO(1)
DEFINE_COPY_TWO(2)
DEFINE_COPY_TWO(4)
DEFINE_COPY_TWO(8)
DEFINE_COPY_TWO(16)
DEFINE_COPY_TWO(32)
DEFINE_COPY_TWO(64)

/* Less than 128 bytes. */
static __attribute__((noinline)) TARGET void copy_short(uint8_t *dst, const uint8_t *src,
							int64_t bytes)
{
	if (bytes >= 64)
		copy_two_64(dst, src, bytes);
	else if (bytes >= 32)
		copy_two_32(dst, src, bytes);
	else if (bytes >= 16)
		copy_two_16(dst, src, bytes);
	else if (bytes >= 8)
		copy_two_8(dst, src, bytes);
	else if (bytes >= 4)
		copy_two_4(dst, src, bytes);
	else if (bytes >= 2)
		copy_two_2(dst, src, bytes);
	else if (bytes)
		*dst = *src;
}

/* Copies a line or more. */
INLINE void copy_long(uint8_t *dst, const uint8_t *src, int64_t bytes, int64_t ahead)
{
	vector last = *(const vector *)(src + bytes - VECTOR_BYTES);
	int64_t i = 0;

	for (; i + LINE_BYTES * 4 <= bytes; i += LINE_BYTES * 4) {
		vector v[LINE_BYTES * 4 / VECTOR_BYTES];

		for (int k = 0; ahead && k < 4; k++)
			fetch(src + i + k * LINE_BYTES, ahead);
		for (int k = 0; k < LINE_BYTES * 4 / VECTOR_BYTES; k++)
			v[k] = *(const vector *)(src + i + k * VECTOR_BYTES);
		for (int k = 0; k < LINE_BYTES * 4 / VECTOR_BYTES; k++)
			*(vector *)(dst + i + k * VECTOR_BYTES) = v[k];
	}
	for (; i + VECTOR_BYTES <= bytes; i += VECTOR_BYTES) {
		if (ahead && i % LINE_BYTES == 0)
			fetch(src + i, ahead);
		*(vector *)(dst + i) = *(const vector *)(src + i);
	}
	if (i < bytes)
		*(vector *)(dst + bytes - VECTOR_BYTES) = last;
}

/* Rows of size to 2 * size bytes: so many from either end, by vectors in registers. */
#define DEFINE_COPY_ROWS(size)									\
static TARGET void copy_rows_##size(uint8_t *dst, const uint8_t *src,				\
				    const struct engine_tile *tile, int64_t bytes)		\
{												\
	const int64_t dst_stride = tile->dst_strides[0], src_stride = tile->src_strides[0];	\
	const int64_t ahead = tile->ahead, rest = bytes - (size);				\
												\
	for (int64_t j = 0; j < tile->extents[0]; j++) {					\
		vector first[(size) / VECTOR_BYTES], last[(size) / VECTOR_BYTES];		\
												\
		for (int64_t i = 0; ahead && i < bytes; i += LINE_BYTES)			\
			fetch(src + i, ahead);							\
		for (int k = 0; k < (size) / VECTOR_BYTES; k++) {				\
			first[k] = *(const vector *)(src + k * VECTOR_BYTES);			\
			last[k] = *(const vector *)(src + rest + k * VECTOR_BYTES);		\
		}										\
		for (int k = 0; k < (size) / VECTOR_BYTES; k++) {				\
			*(vector *)(dst + k * VECTOR_BYTES) = first[k];				\
			*(vector *)(dst + rest + k * VECTOR_BYTES) = last[k];			\
		}										\
		dst += dst_stride;								\
		src += src_stride;								\
	}											\
}

DEFINE_COPY_ROWS(128)
DEFINE_COPY_ROWS(256)

static TARGET void copy_rows_long(uint8_t *dst, const uint8_t *src,
				  const struct engine_tile *tile, int64_t bytes)
{
	for (int64_t j = 0; j < tile->extents[0]; j++)
		copy_long(dst + j * tile->dst_strides[0], src + j * tile->src_strides[0], bytes,
			  tile->ahead);
}

typedef void rows_function(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,
			   int64_t bytes);

/* By log2 of the bytes of a row, rounded down. */
static rows_function *const rows_functions[] = {
	copy_rows_1, copy_rows_2, copy_rows_4, copy_rows_8, copy_rows_16, copy_rows_32,
	copy_rows_64, copy_rows_128, copy_rows_256, copy_rows_long,
};

static TARGET void copy_rows(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,
			     int64_t bytes)
{
	if (bytes > 0)
		rows_functions[63 - __builtin_clzll(bytes < 512 ? (uint64_t)bytes : 512)](
			dst, src, tile, bytes);
}

/* Rows from which on it pays to ask for what comes next in them. */
#define LONG_ROW_BYTES	8192

/* Stores whole lines, to where they belong, around the caches. */
INLINE void stream_lines(uint8_t *dst, const uint8_t *src, int64_t bytes, int64_t ahead)
{
	const bool fetches_on = !ahead && bytes >= LONG_ROW_BYTES && engine_fetches_on();
	int64_t i = 0;

	for (; i + LINE_BYTES * 2 <= bytes; i += LINE_BYTES * 2) {
		vector v[LINE_BYTES * 2 / VECTOR_BYTES];

		for (int k = 0; ahead && k < 2; k++)
			fetch(src + i + k * LINE_BYTES, ahead);
		for (int k = 0; fetches_on && k < 2; k++)
			engine_fetch_on(src + i + k * LINE_BYTES);
		for (int k = 0; k < LINE_BYTES * 2 / VECTOR_BYTES; k++)
			v[k] = *(const vector *)(src + i + k * VECTOR_BYTES);
		for (int k = 0; k < LINE_BYTES * 2 / VECTOR_BYTES; k++)
			stream_vector(dst + i + k * VECTOR_BYTES, v[k]);
	}
	for (; i < bytes; i += VECTOR_BYTES) {
		if (ahead && i % LINE_BYTES == 0)
			fetch(src + i, ahead);
		stream_vector(dst + i, *(const vector *)(src + i));
	}
}

/* Rows shorter than this are better not streamed if they have parts of lines at their ends. */
#define LEAST_STREAM_BYTES	1024

/* The beginning of a line that the next row goes on with. */
struct line {
	uint8_t bytes[LINE_BYTES] __attribute__((aligned(LINE_BYTES)));
	int64_t filled;
};

/*
 * A row of a line or more. What comes before its first whole line completes the line that the row
 * before has begun, and what comes after its last one begins one, where rows follow each other.
 */
INLINE void stream_row(struct line *line, uint8_t *dst, const uint8_t *src, int64_t bytes,
		       int64_t ahead, bool goes_on)
{
	int64_t head = (int64_t)(-(uintptr_t)dst % LINE_BYTES);
	int64_t whole = (bytes - head) / LINE_BYTES * LINE_BYTES;
	int64_t tail = bytes - head - whole;

	if (line->filled) {
		copy_short(line->bytes + line->filled, src, head);
		stream_lines(dst - line->filled, line->bytes, LINE_BYTES, 0);
	} else {
		copy_short(dst, src, head);
	}
	stream_lines(dst + head, src + head, whole, ahead);
	copy_short(goes_on ? line->bytes : dst + head + whole, src + head + whole, tail);
	line->filled = goes_on ? tail : 0;
}

static TARGET void stream_rows(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,
			       int64_t bytes)
{
	struct line line;

	/* alone: string instructions, which set all of it to zero, wait for streaming stores */
	line.filled = 0;
	if (((uint64_t)(uintptr_t)dst | (uint64_t)tile->dst_strides[0] | (uint64_t)bytes) %
	    LINE_BYTES == 0) {
		for (int64_t j = 0; j < tile->extents[0]; j++)
			stream_lines(dst + j * tile->dst_strides[0],
				     src + j * tile->src_strides[0], bytes, tile->ahead);
		return;
	}
	if (bytes < LEAST_STREAM_BYTES) {
		copy_rows(dst, src, tile, bytes);
		return;
	}
	for (int64_t j = 0; j < tile->extents[0]; j++)
		stream_row(&line, dst + j * tile->dst_strides[0], src + j * tile->src_strides[0],
			   bytes, tile->ahead,
			   tile->dst_strides[0] == bytes && j + 1 < tile->extents[0]);
}

/* An element over and over, for two lines: any whole line of a row of it is in there. */
struct pattern {
	uint8_t bytes[2 * LINE_BYTES] __attribute__((aligned(LINE_BYTES)));
};

INLINE void fill_row(uint8_t *dst, const struct pattern *pattern, int64_t bytes)
{
	const vector *lines = (const vector *)pattern->bytes;
	int64_t i = 0;

	for (; i + LINE_BYTES <= bytes; i += LINE_BYTES)
		for (int k = 0; k < LINE_BYTES / VECTOR_BYTES; k++)
			*(vector *)(dst + i + k * VECTOR_BYTES) = lines[k];
	copy_short(dst + i, pattern->bytes, bytes - i);
}

INLINE void stream_fill_row(uint8_t *dst, const struct pattern *pattern, int64_t bytes)
{
	int64_t head = (int64_t)(-(uintptr_t)dst % LINE_BYTES);
	const vector *lines = (const vector *)(pattern->bytes + head);
	int64_t i;

	if (bytes < 4 * LINE_BYTES) {
		fill_row(dst, pattern, bytes);
		return;
	}
	copy_short(dst, pattern->bytes, head);
	for (i = head; i + LINE_BYTES <= bytes; i += LINE_BYTES)
		for (int k = 0; k < LINE_BYTES / VECTOR_BYTES; k++)
			stream_vector(dst + i + k * VECTOR_BYTES, lines[k]);
	copy_short(dst + i, pattern->bytes + head, bytes - i);
}

/* As many fetches as memory has under way at a time. */
#define AHEAD_BYTES	8192
#define MOST_AHEAD	64
/* Of a longer run the CPU fetches the rest by itself. */
#define FETCHED_BYTES	512

#define DEFINE_COPY_UNITS(size)									\
static TARGET void copy_units_##size(uint8_t *const *dst, uint8_t *const *src, int64_t count,	\
				     int64_t num_known)						\
{												\
	for (int64_t i = 0; i < count; i++) {							\
		if (i + MOST_AHEAD < num_known)							\
			fetch(src[i + MOST_AHEAD], 0);						\
		*(unit_##size *)dst[i] = *(const unit_##size *)src[i];				\
	}											\
}

DEFINE_COPY_UNITS(1)
DEFINE_COPY_UNITS(2)
DEFINE_COPY_UNITS(4)
DEFINE_COPY_UNITS(8)
DEFINE_COPY_UNITS(16)
DEFINE_COPY_UNITS(32)
DEFINE_COPY_UNITS(64)

typedef void units_function(uint8_t *const *dst, uint8_t *const *src, int64_t count,
			    int64_t num_known);

static units_function *const units_functions[] = {
	copy_units_1, copy_units_2, copy_units_4, copy_units_8, copy_units_16, copy_units_32,
	copy_units_64,
};

/* One run of a kind that copy_units() has none for. */
INLINE void copy_one(uint8_t *dst, const uint8_t *src, int64_t bytes, bool streams)
{
	if (streams && ((uintptr_t)dst | (uint64_t)bytes) % LINE_BYTES == 0)
		stream_lines(dst, src, bytes, 0);
	else if (bytes < 2 * LINE_BYTES)
		copy_short(dst, src, bytes);
	else
		copy_long(dst, src, bytes, 0);
}

static TARGET void copy_runs(uint8_t *const *dst, uint8_t *const *src, int64_t count,
			     int64_t num_known, int64_t bytes, bool streams)
{
	int64_t ahead = AHEAD_BYTES / bytes;

	if (!streams && bytes <= LINE_BYTES && (bytes & (bytes - 1)) == 0) {
		units_functions[__builtin_ctzll((uint64_t)bytes)](dst, src, count, num_known);
		return;
	}
	ahead = ahead < 1 ? 1 : ahead > MOST_AHEAD ? MOST_AHEAD : ahead;
	for (int64_t i = 0; i < count; i++) {
		if (i + ahead < num_known) {
			for (int64_t b = 0; b < bytes && b < FETCHED_BYTES; b += LINE_BYTES)
				fetch(src[i + ahead], b);
			fetch(src[i + ahead], bytes - 1);
		}
		copy_one(dst[i], src[i], bytes, streams);
	}
}

#define DEFINE_ROW_KERNELS(size)								\
static TARGET void copy_run_##size(uint8_t *dst, const uint8_t *src,				\
				   const struct engine_tile *tile)				\
{												\
	copy_rows(dst, src, tile, tile->extents[1] * size);					\
}												\
												\
static TARGET void stream_run_##size(uint8_t *dst, const uint8_t *src,				\
				     const struct engine_tile *tile)				\
{												\
	stream_rows(dst, src, tile, tile->extents[1] * size);					\
}												\
												\
INLINE void broadcast_##size(uint8_t *dst, const uint8_t *src, const struct engine_tile *tile,	\
			     bool streams)							\
{												\
	const int64_t bytes = tile->extents[1] * size;						\
	struct pattern pattern;									\
												\
	for (int64_t j = 0; j < tile->extents[0]; j++) {					\
		uint8_t *to = dst + j * tile->dst_strides[0];					\
		unit_##size element = *(const unit_##size *)(src + j * tile->src_strides[0]);	\
		bool is_short = bytes < 2 * LINE_BYTES;						\
		int64_t count = is_short ? bytes : 2 * LINE_BYTES;				\
		uint8_t *filled = is_short ? to : pattern.bytes;				\
												\
		for (int64_t i = 0; (is_short || !j || tile->src_strides[0]) && i < count;	\
		     i += size)									\
			*(unit_##size *)(filled + i) = element;					\
		if (is_short)									\
			continue;								\
		if (streams)									\
			stream_fill_row(to, &pattern, bytes);					\
		else										\
			fill_row(to, &pattern, bytes);						\
	}											\
}												\
												\
static TARGET void copy_broadcast_##size(uint8_t *dst, const uint8_t *src,			\
					 const struct engine_tile *tile)			\
{												\
	broadcast_##size(dst, src, tile, false);						\
}												\
												\
static TARGET void stream_broadcast_##size(uint8_t *dst, const uint8_t *src,			\
					   const struct engine_tile *tile)			\
{												\
	broadcast_##size(dst, src, tile, true);							\
}												\
												\
INLINE void copy_elements_##size(uint8_t *dst, const uint8_t *src,				\
				 const struct engine_tile *tile)				\
{												\
	for (int64_t j = 0; j < tile->extents[0]; j++) {					\
		uint8_t *to = dst + j * tile->dst_strides[0];					\
		const uint8_t *from = src + j * tile->src_strides[0];				\
												\
		for (int64_t i = 0; i < tile->extents[1]; i++) {				\
			*(unit_##size *)to = *(const unit_##size *)from;			\
			to += tile->dst_strides[1];						\
			from += tile->src_strides[1];						\
		}										\
	}											\
}												\
												\
static TARGET void copy_pairs_##size(uint8_t *const *dst, uint8_t *const *src, int64_t count)	\
{												\
	for (int64_t i = 0; i < count; i++)							\
		*(unit_##size *)dst[i] = *(const unit_##size *)src[i];				\
}

DEFINE_ROW_KERNELS(1)
DEFINE_ROW_KERNELS(2)
DEFINE_ROW_KERNELS(4)
DEFINE_ROW_KERNELS(8)
DEFINE_ROW_KERNELS(16)
DEFINE_ROW_KERNELS(32)
DEFINE_ROW_KERNELS(64)

#define FOR_EACH_SIZE(name) {									\
	name##_1, name##_2, name##_4, name##_8, name##_16, name##_32, name##_64			\
}
