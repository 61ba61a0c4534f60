// SPDX-License-Identifier: MIT
/*
 * Addresses of operands, indirect ones included. This is the one place where indices are read, and
 * where what they lead to is checked.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "access.h"
#include "dtype.h"
#include "fault.h"

/* A stream over the loops of a box that have more than one point. */
static void place_stream(struct engine_stream *stream, const struct engine_stream *whole,
			 const struct engine_box *box)
{
	uint32_t rank = 0;

	stream->offset = whole->offset;
	for (uint32_t d = 0; d < box->rank; d++) {
		stream->offset += whole->strides[d] * box->dims[d].lowest;
		if (box->dims[d].lowest < box->dims[d].highest)
			stream->strides[rank++] = whole->strides[d];
	}
}

static void stand_still(struct engine_stream *stream, uint32_t rank)
{
	stream->offset = 0;
	for (uint32_t d = 0; d < rank; d++)
		stream->strides[d] = 0;
}

void engine_access_init(struct engine_access *access, const struct engine_plan *plan,
			const struct engine_box *box, uint32_t loads)
{
	struct engine_nest *nest = &access->nest;

	nest->rank = 0;
	nest->num_streams = plan->num_operands;
	nest->index_mask = 0;
	for (uint32_t d = 0; d < box->rank; d++) {
		const struct engine_interval *dim = &box->dims[d];

		if (dim->lowest < dim->highest)
			nest->extents[nest->rank++] = dim->highest - dim->lowest + 1;
	}
	for (uint32_t k = 0; k < plan->num_operands; k++) {
		const struct engine_plan_operand *operand = &plan->operands[k];

		access->index_streams[k] = ENGINE_NO_STREAM;
		if (!(loads >> k & 1)) {
			access->bases[k] = (uint8_t *)operand->fill;
			stand_still(&nest->streams[k], nest->rank);
			continue;
		}
		access->bases[k] = operand->base;
		place_stream(&nest->streams[k], &operand->address, box);
		if (!operand->is_indirect)
			continue;
		place_stream(&nest->streams[nest->num_streams], &operand->index_address, box);
		nest->index_mask |= 1u << nest->num_streams;
		access->index_streams[k] = nest->num_streams++;
	}
	engine_nest_canonicalize(nest);
}

/* Where the elements of an indirect operand are, along a row. */
struct indirection {
	const uint8_t *indices;		/* of the next point; read once each */
	int64_t index_step;
	int64_t offset;			/* of the next point, without what its index adds */
	int64_t step;
	int64_t stride;
	int64_t lowest, highest;	/* offsets that stay inside the buffer */
	uint64_t limit;			/* of indices; 0: none */
	uint8_t *base;
	__int128 index;			/* where resolving stopped, what was read there */
};

/*
 * Resolves up to count points, and stops before one that is refused or whose numbers are too large
 * to tell with 64 bits. Returns how many were resolved. Indices are read through a volatile
 * pointer: others may write to them meanwhile, and what was checked must be what is used.
 */
#define DEFINE_RESOLVE(type)									\
static int64_t resolve_##type(struct indirection *in, int64_t count, uint8_t **addresses)	\
{												\
	struct __attribute__((packed, may_alias)) unaligned {					\
		type value;									\
	};											\
												\
	for (int64_t i = 0; i < count; i++) {							\
		type index = ((const volatile struct unaligned *)in->indices)->value;		\
		int64_t place;									\
												\
		if ((in->limit && (uint64_t)index >= in->limit) ||				\
		    __builtin_mul_overflow(index, in->stride, &place) ||			\
		    __builtin_add_overflow(place, in->offset, &place) ||			\
		    place < in->lowest || place > in->highest) {				\
			in->index = index;							\
			return i;								\
		}										\
		addresses[i] = in->base + place;						\
		in->indices += in->index_step;							\
		in->offset += in->step;								\
	}											\
	return count;										\
}

DEFINE_RESOLVE(uint8_t)
DEFINE_RESOLVE(uint16_t)
DEFINE_RESOLVE(uint32_t)
DEFINE_RESOLVE(uint64_t)
DEFINE_RESOLVE(int8_t)
DEFINE_RESOLVE(int16_t)
DEFINE_RESOLVE(int32_t)
DEFINE_RESOLVE(int64_t)

typedef int64_t resolve_function(struct indirection *in, int64_t count, uint8_t **addresses);

static resolve_function *const resolve_functions[] = {
	[ENGINE_U8] = resolve_uint8_t,
	[ENGINE_U16] = resolve_uint16_t,
	[ENGINE_U32] = resolve_uint32_t,
	[ENGINE_U64] = resolve_uint64_t,
	[ENGINE_I8] = resolve_int8_t,
	[ENGINE_I16] = resolve_int16_t,
	[ENGINE_I32] = resolve_int32_t,
	[ENGINE_I64] = resolve_int64_t,
};

/* For messages: an index of any type as text. */
struct index_text {
	char text[24];
};

static struct index_text print_index(__int128 index)
{
	struct index_text printed;

	if (index < 0)
		snprintf(printed.text, sizeof(printed.text), "%" PRId64, (int64_t)index);
	else
		snprintf(printed.text, sizeof(printed.text), "%" PRIu64, (uint64_t)index);
	return printed;
}

/* As a 64-bit number, or the nearest; wide, so that sums of two have room. */
static __int128 clamp(__int128 value)
{
	return value < INT64_MIN ? INT64_MIN : value > INT64_MAX ? INT64_MAX : value;
}

static int refuse_index(struct engine_run *run, uint32_t k, __int128 index)
{
	return engine_fail(run->fault, ERANGE, DRM_TESSERA_CAUSE_INDEX_LIMIT, k, (int64_t)index,
			   "%s: index is %s, expected at least 0 and less than %" PRIu64,
			   engine_operand_name(k), print_index(index).text,
			   run->plan->operands[k].index_limit);
}

static int refuse_address(struct engine_run *run, uint32_t k, __int128 index, __int128 byte)
{
	int64_t offset = (int64_t)clamp(byte);

	return engine_fail(run->fault, ERANGE, DRM_TESSERA_CAUSE_BOUNDS, k, offset,
			   "%s: index %s leads to byte %" PRId64 " of a buffer of %" PRIu64
			   " bytes",
			   engine_operand_name(k), print_index(index).text, offset,
			   run->plan->operands[k].size);
}

/* An address and its step along a row. */
struct line {
	int64_t offset;
	int64_t step;
};

static struct line line_of(const struct engine_row *row, uint32_t stream)
{
	const struct engine_walk *walk = row->walk;
	int64_t step = 0;

	if (row->loop < walk->nest->rank)
		step = walk->nest->streams[stream].strides[row->loop];
	return (struct line){ walk->offsets[stream] + row->first * step, step };
}

static int64_t clamp_to_64(__int128 value)
{
	return (int64_t)clamp(value);
}

/* One point, exactly: refuses it or finds its address. */
static int resolve_exactly(struct engine_run *run, uint32_t k, const struct indirection *in,
			   const struct engine_interval *around, uint8_t **address)
{
	const struct engine_plan_operand *operand = &run->plan->operands[k];
	const __int128 index = in->index;
	const __int128 place = in->offset + index * in->stride;

	if (operand->index_limit && (index < 0 || index >= operand->index_limit))
		return refuse_index(run, k, index);
	/* these sides of the comparisons cannot overflow, whatever the index */
	if (place < -(__int128)around->lowest)
		return refuse_address(run, k, index, clamp(place) + around->lowest);
	if (place >= (__int128)operand->size - around->highest)
		return refuse_address(run, k, index, clamp(place) + around->highest);
	*address = in->base + (int64_t)place;
	return 0;
}

static int resolve_indirect(struct engine_run *run, uint32_t k, int64_t count, struct line address,
			    struct line index_address, const struct engine_interval *around,
			    uint8_t **addresses)
{
	const struct engine_plan_operand *operand = &run->plan->operands[k];
	resolve_function *resolve = resolve_functions[engine_dtype_type(operand->index_dtype)];
	struct indirection in = {
		.indices = operand->index_base + index_address.offset,
		.index_step = index_address.step,
		.offset = address.offset,
		.step = address.step,
		.stride = operand->index_stride,
		.lowest = clamp_to_64(-(__int128)around->lowest),
		.highest = clamp_to_64((__int128)operand->size - around->highest - 1),
		/* beyond, a negative index could pass for a large one */
		.limit = operand->index_limit < INT64_MAX ? operand->index_limit : INT64_MAX,
		.base = operand->base,
	};
	int64_t done = 0;

	for (;;) {
		int error;

		done += resolve(&in, count - done, addresses + done);
		if (done == count)
			return 0;
		error = resolve_exactly(run, k, &in, around, &addresses[done]);
		if (error)
			return error;
		in.indices += in.index_step;
		in.offset += in.step;
		done++;
	}
}

int engine_resolve(struct engine_run *run, const struct engine_access *access, uint32_t k,
		   const struct engine_row *row, const struct engine_interval *around,
		   uint8_t **addresses)
{
	struct line address = line_of(row, k);
	uint32_t index_stream = access->index_streams[k];

	if (index_stream != ENGINE_NO_STREAM)
		return resolve_indirect(run, k, row->count, address, line_of(row, index_stream),
					around, addresses);
	for (int64_t i = 0; i < row->count; i++)
		addresses[i] = access->bases[k] + address.offset + i * address.step;
	return 0;
}
