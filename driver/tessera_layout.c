// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules for layout jobs, in the order in which a job is judged: its form (EINVAL), sums that
 * overflow (EOVERFLOW), stores to read-only buffers (EACCES), addresses outside of buffers
 * (ERANGE). Whether stores meet sources or each other is not asked: that does no harm to others.
 */
#include "tessera_layout.h"

static __printf(3, 4) int refuse(struct tessera_layout_error *error, int code, const char *format,
				 ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return code;
}

/* What most rules say */
#define invalid(error, ...)	refuse(error, -EINVAL, __VA_ARGS__)

static u64 magnitude(s64 value)
{
	return value < 0 ? -(u64)value : (u64)value;
}

/**
 * tessera_dtype_size() - bytes of an element
 * @dtype: any number
 *
 * Return: the size, or 0 if there is no such type.
 */
u32 tessera_dtype_size(u32 dtype)
{
	/* By class, which log2 of the size in bytes there are */
	static const u8 shifts[] = {
		[DRM_TESSERA_DTYPE_CLASS_UNSIGNED >> 4] = BIT(0) | BIT(1) | BIT(2) | BIT(3),
		[DRM_TESSERA_DTYPE_CLASS_SIGNED >> 4] = BIT(0) | BIT(1) | BIT(2) | BIT(3),
		[DRM_TESSERA_DTYPE_CLASS_FLOAT >> 4] = BIT(1) | BIT(2) | BIT(3),
		[DRM_TESSERA_DTYPE_CLASS_BFLOAT >> 4] = BIT(1),
		[DRM_TESSERA_DTYPE_CLASS_RAW >> 4] = BIT(0) | BIT(1) | BIT(2) | BIT(3) | BIT(4),
	};
	u32 shift = dtype & DRM_TESSERA_DTYPE_SHIFT_MASK;

	if (dtype >> 4 >= ARRAY_SIZE(shifts) || !(shifts[dtype >> 4] & BIT(shift)))
		return 0;
	return 1U << shift;
}

static bool dtype_is_raw(u32 dtype)
{
	return (dtype & DRM_TESSERA_DTYPE_CLASS_MASK) == DRM_TESSERA_DTYPE_CLASS_RAW;
}

/**
 * tessera_dtype_is_integer() - whether elements are integers
 * @dtype: any number
 *
 * Return: true for the signed and unsigned types.
 */
bool tessera_dtype_is_integer(u32 dtype)
{
	u32 class = dtype & DRM_TESSERA_DTYPE_CLASS_MASK;

	return tessera_dtype_size(dtype) && (class == DRM_TESSERA_DTYPE_CLASS_UNSIGNED ||
					     class == DRM_TESSERA_DTYPE_CLASS_SIGNED);
}

static bool job_is_empty(const struct tessera_layout_job *job)
{
	u32 d;

	for (d = 0; d < job->rank; d++) {
		if (!job->extents[d])
			return true;
	}
	return false;
}

static bool is_indirect(const struct drm_tessera_operand *operand)
{
	return operand->flags & DRM_TESSERA_OPERAND_INDIRECT;
}

/* Form: what can be said of each field without the others' values */

static bool affine_ends_at_rank(const struct tessera_layout_job *job,
				const struct drm_tessera_affine *affine)
{
	u32 d;

	for (d = job->rank; d < DRM_TESSERA_MAX_RANK; d++) {
		if (affine->strides[d])
			return false;
	}
	return true;
}

static int check_shape(const struct tessera_layout_job *job, struct tessera_layout_error *error)
{
	u32 d;

	if (job->flags)
		return invalid(error, "flags 0x%x, expected 0", job->flags);
	if (job->rank > DRM_TESSERA_MAX_RANK)
		return invalid(error, "rank %u, expected at most %u", job->rank,
			       DRM_TESSERA_MAX_RANK);
	for (d = job->rank; d < DRM_TESSERA_MAX_RANK; d++) {
		if (job->extents[d])
			return invalid(error, "extent %u beyond the rank %u is not 0", d,
				       job->rank);
	}
	return 0;
}

static int check_windows(const struct tessera_layout_job *job, struct tessera_layout_error *error)
{
	u32 w;

	for (w = 0; w < job->num_windows; w++) {
		const struct drm_tessera_window *window = &job->windows[w];

		if (window->limit > S64_MAX)
			return invalid(error, "window %u: limit 0x%llx is over 2^63 - 1", w,
				       window->limit);
		if (!affine_ends_at_rank(job, &window->value))
			return invalid(error, "window %u: stride beyond the rank is not 0", w);
	}
	return 0;
}

static bool affine_is_zero(const struct drm_tessera_affine *affine)
{
	static const struct drm_tessera_affine zero;

	return !memcmp(affine, &zero, sizeof(zero));
}

static int check_index(const struct tessera_layout_job *job, u32 k,
		       struct tessera_layout_error *error)
{
	const struct drm_tessera_operand *operand = &job->operands[k];

	if (!is_indirect(operand)) {
		if (operand->index_handle || operand->index_dtype || operand->index_stride ||
		    operand->index_limit || !affine_is_zero(&operand->index_address))
			return invalid(error, "operand %u: index_x set without INDIRECT", k);
		return 0;
	}
	if (!tessera_dtype_is_integer(operand->index_dtype))
		return invalid(error, "operand %u: index_dtype 0x%x is no integer type", k,
			       operand->index_dtype);
	if (!affine_ends_at_rank(job, &operand->index_address))
		return invalid(error, "operand %u: index stride beyond the rank is not 0", k);
	return 0;
}

/* Whether only the lowest bytes are set */
static bool value_fits(const u64 value[2], u32 bytes)
{
	return bytes >= 16 || (!value[1] && (bytes == 8 || !(value[0] >> (8 * bytes))));
}

static int check_operand(const struct tessera_layout_job *job, u32 k,
			 struct tessera_layout_error *error)
{
	const struct drm_tessera_operand *operand = &job->operands[k];
	u32 size = tessera_dtype_size(operand->dtype);

	if (operand->flags & ~DRM_TESSERA_OPERAND_INDIRECT)
		return invalid(error, "operand %u: unknown flags 0x%x", k, operand->flags);
	if (!size)
		return invalid(error, "operand %u: dtype 0x%x is no type", k, operand->dtype);
	if ((u64)operand->window_mask >> job->num_windows)
		return invalid(error, "operand %u: window_mask 0x%x, of %u windows", k,
			       operand->window_mask, job->num_windows);
	if (!affine_ends_at_rank(job, &operand->address))
		return invalid(error, "operand %u: stride beyond the rank is not 0", k);
	if (!value_fits(operand->fill, k ? size : 0))
		return invalid(error, "operand %u: fill has more than %u bytes", k, k ? size : 0);
	return check_index(job, k, error);
}

/* Programs */

#define INTEGER_FLAGS	DRM_TESSERA_INSTRUCTION_SATURATE

/* What each opcode takes; the flags are those that some dtype allows */
static const struct opcode_rule {
	u8 num_sources;
	u8 flags;
} opcode_rules[] = {
	[DRM_TESSERA_OP_CONST]	 = { 0, 0 },
	[DRM_TESSERA_OP_CAST]	 = { 1, INTEGER_FLAGS | DRM_TESSERA_INSTRUCTION_TRUNCATE },
	[DRM_TESSERA_OP_ADD]	 = { 2, INTEGER_FLAGS },
	[DRM_TESSERA_OP_SUB]	 = { 2, INTEGER_FLAGS },
	[DRM_TESSERA_OP_MUL]	 = { 2, INTEGER_FLAGS },
	[DRM_TESSERA_OP_FMA]	 = { 3, INTEGER_FLAGS },
	[DRM_TESSERA_OP_MIN]	 = { 2, 0 },
	[DRM_TESSERA_OP_MAX]	 = { 2, 0 },
	[DRM_TESSERA_OP_NEG]	 = { 1, INTEGER_FLAGS },
	[DRM_TESSERA_OP_ABS]	 = { 1, INTEGER_FLAGS },
	[DRM_TESSERA_OP_SELECT]	 = { 3, 0 },
	[DRM_TESSERA_OP_COMPARE] = { 2, 0 },
};

static bool predicate_fits(const struct drm_tessera_instruction *instruction)
{
	if (instruction->opcode != DRM_TESSERA_OP_COMPARE)
		return !instruction->predicate;
	return instruction->predicate && instruction->predicate <= DRM_TESSERA_PREDICATE_GE;
}

static int check_instruction_form(u32 n, const struct drm_tessera_instruction *instruction,
				  struct tessera_layout_error *error)
{
	const u64 immediate[2] = { instruction->immediate, 0 };
	u32 size = tessera_dtype_size(instruction->dtype);

	if (!instruction->opcode || instruction->opcode >= ARRAY_SIZE(opcode_rules))
		return invalid(error, "instruction %u: opcode %u does not exist", n,
			       instruction->opcode);
	if (!size || dtype_is_raw(instruction->dtype))
		return invalid(error, "instruction %u: dtype 0x%x, expected a number's", n,
			       instruction->dtype);
	if (instruction->flags & ~opcode_rules[instruction->opcode].flags)
		return invalid(error, "instruction %u: flags 0x%x not for opcode %u", n,
			       instruction->flags, instruction->opcode);
	if (instruction->flags && !tessera_dtype_is_integer(instruction->dtype))
		return invalid(error, "instruction %u: flags 0x%x, but dtype is a float", n,
			       instruction->flags);
	if (!predicate_fits(instruction))
		return invalid(error, "instruction %u: predicate %u not for opcode %u", n,
			       instruction->predicate, instruction->opcode);
	if (!value_fits(immediate, instruction->opcode == DRM_TESSERA_OP_CONST ? size : 0))
		return invalid(error, "instruction %u: immediate has too many bits", n);
	if (instruction->dst >= DRM_TESSERA_NUM_REGISTERS)
		return invalid(error, "instruction %u: dst %u, expected less than %u", n,
			       instruction->dst, DRM_TESSERA_NUM_REGISTERS);
	return 0;
}

/* The type that an instruction asks of its source s, or 0 for any */
static u32 wanted_dtype(const struct drm_tessera_instruction *instruction, u32 s)
{
	if (instruction->opcode == DRM_TESSERA_OP_CAST)
		return 0;
	if (instruction->opcode == DRM_TESSERA_OP_SELECT && s == 0)
		return DRM_TESSERA_DTYPE_U8;
	return instruction->dtype;
}

static int check_instruction_sources(u32 n, const struct drm_tessera_instruction *instruction,
				     const u8 *types, struct tessera_layout_error *error)
{
	u32 s;

	for (s = 0; s < ARRAY_SIZE(instruction->src); s++) {
		u32 r = instruction->src[s];
		u32 wanted = wanted_dtype(instruction, s);

		if (s >= opcode_rules[instruction->opcode].num_sources) {
			if (r)
				return invalid(error,
					       "instruction %u: src[%u] is not used and not 0", n,
					       s);
			continue;
		}
		if (r >= DRM_TESSERA_NUM_REGISTERS || !types[r])
			return invalid(error, "instruction %u: src[%u], register %u, holds nothing",
				       n, s, r);
		if (wanted && types[r] != wanted)
			return invalid(error,
				       "instruction %u: src[%u] has type 0x%x, expected 0x%x", n,
				       s, types[r], wanted);
	}
	if ((instruction->flags & DRM_TESSERA_INSTRUCTION_TRUNCATE) &&
	    tessera_dtype_is_integer(types[instruction->src[0]]))
		return invalid(error, "instruction %u: TRUNCATE of an integer", n);
	return 0;
}

static int check_program(const struct tessera_layout_job *job, struct tessera_layout_error *error)
{
	u8 types[DRM_TESSERA_NUM_REGISTERS] = { };
	u32 n, k;
	int ret;

	for (k = 0; k < job->num_operands; k++) {
		if (dtype_is_raw(job->operands[k].dtype))
			return invalid(error, "operand %u: raw elements with a program", k);
		if (k)
			types[k - 1] = job->operands[k].dtype;
	}
	for (n = 0; n < job->num_instructions; n++) {
		const struct drm_tessera_instruction *instruction = &job->program[n];

		ret = check_instruction_form(n, instruction, error) ?:
		      check_instruction_sources(n, instruction, types, error);
		if (ret)
			return ret;
		types[instruction->dst] = instruction->opcode == DRM_TESSERA_OP_COMPARE ?
					  DRM_TESSERA_DTYPE_U8 : instruction->dtype;
	}
	if (types[0] != job->operands[0].dtype)
		return invalid(error, "register 0 ends with type 0x%x, destination 0x%x", types[0],
			       job->operands[0].dtype);
	return 0;
}

static int check_move(const struct tessera_layout_job *job, struct tessera_layout_error *error)
{
	u32 to = job->operands[0].dtype;
	u32 from = job->operands[1].dtype;

	if (job->num_operands != 2)
		return invalid(error, "%u operands without a program, expected 2",
			       job->num_operands);
	if (tessera_dtype_size(to) != tessera_dtype_size(from))
		return invalid(error, "elements of type 0x%x and 0x%x differ in size", to, from);
	return 0;
}

static int check_form(const struct tessera_layout_job *job, struct tessera_layout_error *error)
{
	u32 k;
	int ret;

	ret = check_shape(job, error) ?: check_windows(job, error);
	if (ret)
		return ret;
	if (!job->num_operands)
		return invalid(error, "no operands, expected a destination");
	for (k = 0; k < job->num_operands; k++) {
		ret = check_operand(job, k, error);
		if (ret)
			return ret;
	}
	return job->num_instructions ? check_program(job, error) : check_move(job, error);
}

/* Sums: every one must fit 64 bits, or nothing that follows means anything */

/* All the points of a job: an interval for each loop */
static void fill_box(const struct tessera_layout_job *job, struct tessera_interval *box)
{
	u32 d;

	for (d = 0; d < job->rank; d++)
		box[d] = (struct tessera_interval){ 0, (s64)(job->extents[d] - 1) };
}

/* Whether all partial sums, in any order, over a box that begins at 0 fit */
static bool affine_fits(const struct tessera_layout_job *job,
			const struct drm_tessera_affine *affine, const struct tessera_interval *box)
{
	u64 total = magnitude(affine->offset);
	u64 term;
	u32 d;

	for (d = 0; d < job->rank; d++) {
		if (check_mul_overflow(magnitude(affine->strides[d]), (u64)box[d].highest, &term) ||
		    check_add_overflow(total, term, &total))
			return false;
	}
	return total <= S64_MAX;
}

static int check_sums(const struct tessera_layout_job *job, struct tessera_layout_error *error)
{
	struct tessera_interval box[DRM_TESSERA_MAX_RANK];
	u64 points = 1;
	u32 d, k, w;

	for (d = 0; d < job->rank; d++) {
		if (check_mul_overflow(points, job->extents[d], &points) || points > S64_MAX)
			return refuse(error, -EOVERFLOW, "2^63 points or more");
	}
	fill_box(job, box);
	for (w = 0; w < job->num_windows; w++) {
		if (!affine_fits(job, &job->windows[w].value, box))
			return refuse(error, -EOVERFLOW, "window %u: value exceeds 64 bits", w);
	}
	for (k = 0; k < job->num_operands; k++) {
		if (!affine_fits(job, &job->operands[k].address, box) ||
		    !affine_fits(job, &job->operands[k].index_address, box))
			return refuse(error, -EOVERFLOW, "operand %u: address exceeds 64 bits", k);
	}
	return 0;
}

/* Bounds: the proof that the UAPI header documents, step by step */

static s64 floor_divide(s64 numerator, s64 denominator)
{
	s64 quotient = numerator / denominator;

	return quotient - (numerator % denominator && (numerator ^ denominator) < 0);
}

/* Nothing that is divided here is S64_MIN */
static s64 ceiling_divide(s64 numerator, s64 denominator)
{
	return -floor_divide(-numerator, denominator);
}

static struct tessera_interval reversed(struct tessera_interval interval)
{
	return (struct tessera_interval){ interval.highest, interval.lowest };
}

/* factor * interval. False when it does not fit. */
static bool scale(struct tessera_interval interval, s64 factor, struct tessera_interval *scaled)
{
	if (factor < 0)
		interval = reversed(interval);
	return !check_mul_overflow(interval.lowest, factor, &scaled->lowest) &&
	       !check_mul_overflow(interval.highest, factor, &scaled->highest);
}

static bool add(struct tessera_interval *sum, struct tessera_interval term)
{
	return !check_add_overflow(sum->lowest, term.lowest, &sum->lowest) &&
	       !check_add_overflow(sum->highest, term.highest, &sum->highest);
}

/* Tightens x to where factor * x lies in the range. Returns whether anything is left. */
static bool tighten(struct tessera_interval *x, s64 factor, struct tessera_interval range)
{
	if (factor < 0)
		range = reversed(range);
	x->lowest = max(x->lowest, ceiling_divide(range.lowest, factor));
	x->highest = min(x->highest, floor_divide(range.highest, factor));
	return x->lowest <= x->highest;
}

/* The values over a box. False when a number does not fit. */
static bool affine_values(const struct tessera_layout_job *job,
			  const struct drm_tessera_affine *affine,
			  const struct tessera_interval *box, struct tessera_interval *values)
{
	struct tessera_interval term;
	u32 d;

	*values = (struct tessera_interval){ affine->offset, affine->offset };
	for (d = 0; d < job->rank; d++) {
		if (!scale(box[d], affine->strides[d], &term) || !add(values, term))
			return false;
	}
	return true;
}

static bool is_below(struct tessera_interval a, struct tessera_interval b)
{
	return a.highest < b.lowest;
}

/*
 * Tightens each dimension in turn to where the window can hold, as the others then are: its value,
 * which fits, is in range. Returns whether anything is left.
 */
static bool tighten_by_window(const struct tessera_layout_job *job,
			      const struct drm_tessera_window *window, struct tessera_interval *box)
{
	const struct tessera_interval range = { 0, (s64)window->limit - 1 };
	struct tessera_interval values, term, rest;
	u32 d;

	affine_values(job, &window->value, box, &values);
	for (d = 0; d < job->rank; d++) {
		struct tessera_interval before = box[d];
		s64 factor = window->value.strides[d];

		if (is_below(values, range) || is_below(range, values))
			return false;
		if (values.lowest >= range.lowest && values.highest <= range.highest)
			return true;
		if (!factor || before.lowest == before.highest)
			continue;
		scale(before, factor, &term);
		rest.lowest = range.lowest - (values.highest - term.highest);
		/* Where this does not fit, the end of the range is out of reach */
		if (check_sub_overflow(range.highest, values.lowest - term.lowest, &rest.highest))
			rest.highest = S64_MAX;
		if (!tighten(&box[d], factor, rest))
			return false;
		values.lowest -= term.lowest;
		values.highest -= term.highest;
		scale(box[d], factor, &term);
		add(&values, term);
	}
	return !is_below(values, range) && !is_below(range, values);
}

/* Step 1. Returns false when the box gets empty. */
static bool tighten_box(const struct tessera_layout_job *job, u32 window_mask,
			struct tessera_interval *box)
{
	u32 w, round;

	fill_box(job, box);
	for (round = 0; round < 2; round++) {
		for (w = 0; w < job->num_windows; w++) {
			if ((window_mask & BIT(w)) &&
			    !tighten_by_window(job, &job->windows[w], box))
				return false;
		}
	}
	return true;
}

/* What step 2 takes from window to window: the interval is that of address plus that of taken. */
struct proof {
	struct drm_tessera_affine address;
	struct tessera_interval taken;
	struct tessera_interval interval;
};

/* address -= quotient * value. False when a number does not fit. */
static bool take_multiple(const struct tessera_layout_job *job,
			  const struct drm_tessera_affine *value, s64 quotient,
			  struct drm_tessera_affine *address)
{
	s64 product;
	u32 d;

	if (check_mul_overflow(quotient, value->offset, &product) ||
	    check_sub_overflow(address->offset, product, &address->offset))
		return false;
	for (d = 0; d < job->rank; d++) {
		if (check_mul_overflow(quotient, value->strides[d], &product) ||
		    check_sub_overflow(address->strides[d], product, &address->strides[d]))
			return false;
	}
	return true;
}

static u32 leading_dim(const struct tessera_layout_job *job, const struct tessera_interval *box,
		       const struct drm_tessera_affine *address,
		       const struct drm_tessera_affine *value)
{
	u32 leading = job->rank;
	u32 d;

	for (d = 0; d < job->rank; d++) {
		if (!value->strides[d] || box[d].lowest == box[d].highest)
			continue;
		if (leading == job->rank ||
		    magnitude(address->strides[d]) > magnitude(address->strides[leading]))
			leading = d;
	}
	return leading;
}

static u64 width(struct tessera_interval interval)
{
	return (u64)interval.highest - (u64)interval.lowest;
}

static void prove_with_window(const struct tessera_layout_job *job,
			      const struct tessera_interval *box,
			      const struct drm_tessera_affine *value,
			      struct tessera_interval value_interval, struct proof *proof)
{
	u32 d = leading_dim(job, box, &proof->address, value);
	struct tessera_interval rest, multiple;
	struct proof next = *proof;
	s64 quotient;

	if (d == job->rank)
		return;
	/* The one quotient of two numbers of 64 bits that has more */
	if (proof->address.strides[d] == S64_MIN && value->strides[d] == -1)
		return;
	quotient = proof->address.strides[d] / value->strides[d];
	if (quotient * value->strides[d] != proof->address.strides[d])
		return;
	if (!take_multiple(job, value, quotient, &next.address) ||
	    !affine_values(job, &next.address, box, &rest) ||
	    !scale(value_interval, quotient, &multiple) || !add(&next.taken, multiple))
		return;
	next.interval = next.taken;
	if (add(&next.interval, rest) && width(next.interval) < width(proof->interval))
		*proof = next;
}

/**
 * tessera_layout_bounds() - the interval in which the rule of the UAPI header finds an address
 * @job: a job whose form is good and whose sums fit
 * @window_mask: the windows that hold wherever the address is used
 * @address: the address of an element
 * @bounds: where the interval goes
 *
 * Return: false when the rule finds that nothing is accessed.
 */
bool tessera_layout_bounds(const struct tessera_layout_job *job, u32 window_mask,
			   const struct drm_tessera_affine *address,
			   struct tessera_interval *bounds)
{
	struct proof proof = { .address = *address };
	struct tessera_interval box[DRM_TESSERA_MAX_RANK];
	u32 w;

	if (!tighten_box(job, window_mask, box))
		return false;
	/* All of these fit: check_sums() */
	affine_values(job, address, box, &proof.interval);
	for (w = 0; w < job->num_windows; w++) {
		const struct drm_tessera_window *window = &job->windows[w];
		struct tessera_interval value;

		if (!(window_mask & BIT(w)))
			continue;
		affine_values(job, &window->value, box, &value);
		value.lowest = max(value.lowest, 0);
		value.highest = min(value.highest, (s64)window->limit - 1);
		if (value.lowest > value.highest)
			return false;
		prove_with_window(job, box, &window->value, value, &proof);
	}
	*bounds = proof.interval;
	return true;
}

/* Whether all bytes of elements in these bounds are in a buffer */
static bool bounds_fit(struct tessera_interval bounds, u32 element_size, u64 buffer_size)
{
	return bounds.lowest >= 0 && buffer_size >= element_size &&
	       (u64)bounds.highest <= buffer_size - element_size;
}

static int check_bounds(const struct tessera_layout_job *job, u32 k,
			struct tessera_layout_error *error)
{
	const struct drm_tessera_operand *operand = &job->operands[k];
	const struct tessera_layout_buffer *buffer = &job->buffers[k];
	const struct drm_tessera_affine *address = &operand->address;
	u32 element_size = tessera_dtype_size(operand->dtype);
	struct tessera_interval bounds;

	/* Where an index is added, the device checks the address, and here the index's is */
	if (is_indirect(operand)) {
		buffer = &job->index_buffers[k];
		address = &operand->index_address;
		element_size = tessera_dtype_size(operand->index_dtype);
	}
	if (!tessera_layout_bounds(job, operand->window_mask, address, &bounds) ||
	    bounds_fit(bounds, element_size, buffer->size))
		return 0;
	return refuse(error, -ERANGE, "operand %u: %u bytes at %s%lld to %lld, of a buffer of %llu",
		      k, element_size, is_indirect(operand) ? "index " : "", bounds.lowest,
		      bounds.highest, buffer->size);
}

/**
 * tessera_layout_check() - judge a job by all rules
 * @job: the job
 * @error: where the reason goes when it is refused
 *
 * Return: 0, -EINVAL, -EOVERFLOW, -EACCES or -ERANGE, as documented in the UAPI header.
 */
int tessera_layout_check(const struct tessera_layout_job *job, struct tessera_layout_error *error)
{
	bool is_empty;
	u32 k;
	int ret;

	ret = check_form(job, error);
	if (ret)
		return ret;
	is_empty = job_is_empty(job);
	ret = is_empty ? 0 : check_sums(job, error);
	if (ret)
		return ret;
	if (!job->buffers[0].is_writable)
		return refuse(error, -EACCES, "operand 0: the destination's buffer is read-only");
	for (k = 0; !is_empty && k < job->num_operands; k++) {
		ret = check_bounds(job, k, error);
		if (ret)
			return ret;
	}
	return 0;
}
