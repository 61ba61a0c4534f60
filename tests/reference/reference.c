// SPDX-License-Identifier: MIT
/*
 * The point-by-point reference. Numbers of every type become exact ones: a sign and a fixed-point
 * magnitude wide enough for any product of two doubles. They are computed with as at school and
 * rounded by looking at the digits. Nothing is fast here, and nothing is clever.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"

/* Element types: what the engine has in its own table, here once more. */
struct type {
	uint32_t dtype;
	bool is_float;
	bool is_signed;
	int bits;
	int fraction_bits;	/* floats: digits after the hidden one */
	int least_exponent;	/* floats: of the smallest normal number */
};

static const struct type types[] = {
	{ DRM_TESSERA_DTYPE_U8, false, false, 8, 0, 0 },
	{ DRM_TESSERA_DTYPE_U16, false, false, 16, 0, 0 },
	{ DRM_TESSERA_DTYPE_U32, false, false, 32, 0, 0 },
	{ DRM_TESSERA_DTYPE_U64, false, false, 64, 0, 0 },
	{ DRM_TESSERA_DTYPE_I8, false, true, 8, 0, 0 },
	{ DRM_TESSERA_DTYPE_I16, false, true, 16, 0, 0 },
	{ DRM_TESSERA_DTYPE_I32, false, true, 32, 0, 0 },
	{ DRM_TESSERA_DTYPE_I64, false, true, 64, 0, 0 },
	{ DRM_TESSERA_DTYPE_F16, true, true, 16, 10, -14 },
	{ DRM_TESSERA_DTYPE_BF16, true, true, 16, 7, -126 },
	{ DRM_TESSERA_DTYPE_F32, true, true, 32, 23, -126 },
	{ DRM_TESSERA_DTYPE_F64, true, true, 64, 52, -1022 },
	{ DRM_TESSERA_DTYPE_RAW8, false, false, 8, 0, 0 },
	{ DRM_TESSERA_DTYPE_RAW16, false, false, 16, 0, 0 },
	{ DRM_TESSERA_DTYPE_RAW32, false, false, 32, 0, 0 },
	{ DRM_TESSERA_DTYPE_RAW64, false, false, 64, 0, 0 },
	{ DRM_TESSERA_DTYPE_RAW128, false, false, 128, 0, 0 },
};

static const struct type *type_of(uint32_t dtype)
{
	for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++)
		if (types[t].dtype == dtype)
			return &types[t];
	abort();
}

/*
 * Exact numbers: words[w] counts 2^(64 * w - POINT). The least product of doubles is 2^-2148, the
 * greatest sum of one and a double less than 2^2050.
 */
#define POINT	2176
#define WORDS	68

enum kind { FINITE, INFINITE, NOT_A_NUMBER };

struct number {
	enum kind kind;
	bool is_negative;	/* zeros have signs */
	uint64_t words[WORDS];
};

static uint64_t low_bits(uint64_t value, int bits)
{
	return bits >= 64 ? value : value & ((1ull << bits) - 1);
}

static bool digit(const struct number *number, int place)
{
	int bit = place + POINT;

	return bit >= 0 && bit < 64 * WORDS && (number->words[bit / 64] >> (bit % 64) & 1);
}

static bool is_zero(const struct number *number)
{
	for (int w = 0; w < WORDS; w++)
		if (number->words[w])
			return false;
	return true;
}

/* Whether a digit below the place is not 0. */
static bool has_digits_below(const struct number *number, int place)
{
	int bit = place + POINT;

	for (int w = 0; w < WORDS && 64 * w < bit; w++)
		if (low_bits(number->words[w], bit - 64 * w))
			return true;
	return false;
}

/* The place of the first digit that is not 0, of a number that is not 0. */
static int first_digit(const struct number *number)
{
	int w = WORDS - 1;

	while (!number->words[w])
		w--;
	return 64 * w + 63 - __builtin_clzll(number->words[w]) - POINT;
}

/* digits * 2^place */
static struct number finite_number(bool is_negative, unsigned __int128 digits, int place)
{
	struct number number = { .kind = FINITE, .is_negative = is_negative };

	for (int bit = 0; bit < 128; bit++)
		if (digits >> bit & 1)
			number.words[(place + bit + POINT) / 64] |=
				1ull << ((place + bit + POINT) % 64);
	return number;
}

static struct number special(enum kind kind, bool is_negative)
{
	struct number number = { .kind = kind, .is_negative = is_negative };

	return number;
}

static struct number decode_float(const struct type *type, uint64_t bits)
{
	bool is_negative = bits >> (type->bits - 1) & 1;
	uint64_t fraction = low_bits(bits, type->fraction_bits);
	uint64_t exponent = low_bits(bits, type->bits - 1) >> type->fraction_bits;
	int place = type->least_exponent - type->fraction_bits;

	if (exponent == (1ull << (type->bits - 1 - type->fraction_bits)) - 1)
		return special(fraction ? NOT_A_NUMBER : INFINITE, is_negative);
	if (exponent == 0)
		return finite_number(is_negative, fraction, place);
	return finite_number(is_negative, fraction | 1ull << type->fraction_bits,
		      place + (int)exponent - 1);
}

static struct number decode(uint32_t dtype, uint64_t bits)
{
	const struct type *type = type_of(dtype);

	if (type->is_float)
		return decode_float(type, bits);
	bits = low_bits(bits, type->bits);
	if (type->is_signed && bits >> (type->bits - 1))
		return finite_number(true, ((unsigned __int128)1 << type->bits) - bits, 0);
	return finite_number(false, bits, 0);
}

/* -1, 0 or 1 as the magnitude of a is less than, equal to or greater than that of b. */
static int compare_magnitudes(const struct number *a, const struct number *b)
{
	for (int w = WORDS; w-- > 0; )
		if (a->words[w] != b->words[w])
			return a->words[w] < b->words[w] ? -1 : 1;
	return 0;
}

static struct number add_finite(const struct number *a, const struct number *b)
{
	struct number sum = *a;
	const struct number *greater = a, *lesser = b;
	unsigned __int128 carry = 0;

	if (a->is_negative == b->is_negative) {
		for (int w = 0; w < WORDS; w++) {
			carry += (unsigned __int128)a->words[w] + b->words[w];
			sum.words[w] = (uint64_t)carry;
			carry >>= 64;
		}
		return sum;
	}
	if (compare_magnitudes(a, b) == 0)
		return special(FINITE, false);
	if (compare_magnitudes(a, b) < 0) {
		greater = b;
		lesser = a;
	}
	sum.is_negative = greater->is_negative;
	for (int w = 0; w < WORDS; w++) {
		carry = (unsigned __int128)greater->words[w] - lesser->words[w] - (carry & 1);
		sum.words[w] = (uint64_t)carry;
		carry >>= 64;
	}
	return sum;
}

static struct number add(const struct number *a, const struct number *b)
{
	if (a->kind == NOT_A_NUMBER || b->kind == NOT_A_NUMBER)
		return special(NOT_A_NUMBER, false);
	if (a->kind == INFINITE && b->kind == INFINITE && a->is_negative != b->is_negative)
		return special(NOT_A_NUMBER, false);
	if (a->kind == INFINITE)
		return *a;
	if (b->kind == INFINITE)
		return *b;
	return add_finite(a, b);
}

/* All digits of a number that has at most 64, and the place of the last one. */
static uint64_t digits_of(const struct number *number, int *place)
{
	uint64_t digits = 0;
	int first;

	*place = 0;
	if (is_zero(number))
		return 0;
	first = first_digit(number);
	*place = first - 63;
	for (int i = 0; i < 64; i++)
		digits = digits << 1 | digit(number, first - i);
	/* below the last digit of any product's factor there is nothing */
	while (!(digits & 1)) {
		digits >>= 1;
		++*place;
	}
	return digits;
}

static struct number multiply(const struct number *a, const struct number *b)
{
	bool is_negative = a->is_negative != b->is_negative;
	bool a_is_zero = a->kind == FINITE && is_zero(a);
	bool b_is_zero = b->kind == FINITE && is_zero(b);
	uint64_t digits_a, digits_b;
	int place_a, place_b;

	if (a->kind == NOT_A_NUMBER || b->kind == NOT_A_NUMBER)
		return special(NOT_A_NUMBER, false);
	if (a->kind == INFINITE || b->kind == INFINITE)
		return special(a_is_zero || b_is_zero ? NOT_A_NUMBER : INFINITE, is_negative);
	digits_a = digits_of(a, &place_a);
	digits_b = digits_of(b, &place_b);
	return finite_number(is_negative, (unsigned __int128)digits_a * digits_b,
			     place_a + place_b);
}

static struct number negate(struct number number)
{
	number.is_negative = !number.is_negative;
	return number;
}

/* The digits from the place up, rounded there to nearest even or toward zero. At most 2^64. */
static unsigned __int128 round_at(const struct number *number, int place, bool toward_zero)
{
	unsigned __int128 digits = 0;

	for (int i = 64; i >= 0; i--)
		digits = digits << 1 | digit(number, place + i);
	if (!toward_zero && digit(number, place - 1) &&
	    (has_digits_below(number, place - 1) || (digits & 1)))
		digits++;
	return digits;
}

static uint64_t encode_float(const struct type *type, const struct number *number)
{
	uint64_t sign = (uint64_t)number->is_negative << (type->bits - 1);
	uint64_t infinity = low_bits(UINT64_MAX, type->bits - 1) >> type->fraction_bits
			    << type->fraction_bits;
	int exponent = type->least_exponent;
	uint64_t digits;

	if (number->kind == NOT_A_NUMBER)
		return infinity | 1ull << (type->fraction_bits - 1);
	if (number->kind == INFINITE)
		return sign | infinity;
	if (is_zero(number))
		return sign;
	if (first_digit(number) > exponent)
		exponent = first_digit(number);
	if (exponent > -type->least_exponent + 1)
		return sign | infinity;
	digits = (uint64_t)round_at(number, exponent - type->fraction_bits, false);
	/* a hidden digit that is there adds 1 to the exponent field; a carry one more */
	digits += (uint64_t)(exponent - type->least_exponent) << type->fraction_bits;
	return sign | (digits < infinity ? digits : infinity);
}

static uint64_t encode_integer(const struct type *type, const struct number *number, uint32_t flags)
{
	bool saturates = flags & DRM_TESSERA_INSTRUCTION_SATURATE;
	bool is_negative = number->is_negative;
	uint64_t greatest = low_bits(UINT64_MAX, type->bits - type->is_signed);
	uint64_t least = type->is_signed ? greatest + 1 : 0;
	unsigned __int128 magnitude;
	bool is_huge;

	if (number->kind == NOT_A_NUMBER)
		return 0;
	if (number->kind == INFINITE) {
		if (!saturates)
			return 0;
		return low_bits(is_negative ? least : greatest, type->bits);
	}
	magnitude = round_at(number, 0, flags & DRM_TESSERA_INSTRUCTION_TRUNCATE);
	is_huge = !is_zero(number) && first_digit(number) >= 64;
	if (saturates && is_negative && (is_huge || magnitude > least))
		return low_bits(least, type->bits);
	if (saturates && !is_negative && (is_huge || magnitude > greatest))
		return greatest;
	return low_bits(is_negative ? -(uint64_t)magnitude : (uint64_t)magnitude, type->bits);
}

static uint64_t encode(uint32_t dtype, const struct number *number, uint32_t flags)
{
	const struct type *type = type_of(dtype);

	return type->is_float ? encode_float(type, number) : encode_integer(type, number, flags);
}

/* -1, 0, 1 for less, equal, greater; zeros are equal. Not for what is not a number. */
static int compare(const struct number *a, const struct number *b)
{
	int order;

	if (a->kind == FINITE && b->kind == FINITE && is_zero(a) && is_zero(b))
		return 0;
	if (a->is_negative != b->is_negative)
		return a->is_negative ? -1 : 1;
	if (a->kind == INFINITE || b->kind == INFINITE)
		order = (a->kind == INFINITE) - (b->kind == INFINITE);
	else
		order = compare_magnitudes(a, b);
	return a->is_negative ? -order : order;
}

static uint64_t lesser_or_greater(const struct drm_tessera_instruction *instruction,
				  uint64_t bits_a, uint64_t bits_b)
{
	struct number a = decode(instruction->dtype, bits_a);
	struct number b = decode(instruction->dtype, bits_b);
	int order;

	if (a.kind == NOT_A_NUMBER)
		return encode(instruction->dtype, &a, 0);
	if (b.kind == NOT_A_NUMBER)
		return encode(instruction->dtype, &b, 0);
	order = compare(&a, &b);
	if (!order)
		order = (int)b.is_negative - (int)a.is_negative;
	if (instruction->opcode == DRM_TESSERA_OP_MAX)
		order = -order;
	return order <= 0 ? bits_a : bits_b;
}

static uint64_t answer(uint32_t predicate, const struct number *a, const struct number *b)
{
	int order;

	if (a->kind == NOT_A_NUMBER || b->kind == NOT_A_NUMBER)
		return predicate == DRM_TESSERA_PREDICATE_NE;
	order = compare(a, b);
	switch (predicate) {
	case DRM_TESSERA_PREDICATE_EQ:
		return order == 0;
	case DRM_TESSERA_PREDICATE_NE:
		return order != 0;
	case DRM_TESSERA_PREDICATE_LT:
		return order < 0;
	case DRM_TESSERA_PREDICATE_LE:
		return order <= 0;
	case DRM_TESSERA_PREDICATE_GT:
		return order > 0;
	case DRM_TESSERA_PREDICATE_GE:
		return order >= 0;
	}
	abort();
}

/* NEG and ABS of a float touch the sign bit alone. */
static uint64_t change_sign(const struct drm_tessera_instruction *instruction, uint64_t bits)
{
	const struct type *type = type_of(instruction->dtype);
	struct number number = decode(instruction->dtype, bits);
	uint64_t sign = 1ull << (type->bits - 1);

	if (type->is_float)
		return instruction->opcode == DRM_TESSERA_OP_NEG ? bits ^ sign : bits & ~sign;
	if (instruction->opcode == DRM_TESSERA_OP_NEG || number.is_negative)
		number = negate(number);
	return encode(instruction->dtype, &number, instruction->flags);
}

static uint64_t compute(const struct drm_tessera_instruction *instruction, uint32_t dtype_a,
			uint64_t bits_a, uint64_t bits_b, uint64_t bits_c)
{
	struct number a = decode(dtype_a, bits_a);
	struct number b = decode(instruction->dtype, bits_b);
	struct number c = decode(instruction->dtype, bits_c);
	struct number result;

	switch (instruction->opcode) {
	case DRM_TESSERA_OP_CAST:
		result = a;
		break;
	case DRM_TESSERA_OP_ADD:
		result = add(&a, &b);
		break;
	case DRM_TESSERA_OP_SUB:
		b = negate(b);
		result = add(&a, &b);
		break;
	case DRM_TESSERA_OP_MUL:
		result = multiply(&a, &b);
		break;
	case DRM_TESSERA_OP_FMA:
		result = multiply(&a, &b);
		result = add(&result, &c);
		break;
	case DRM_TESSERA_OP_COMPARE:
		return answer(instruction->predicate, &a, &b);
	default:
		abort();
	}
	return encode(instruction->dtype, &result, instruction->flags);
}

uint64_t reference_instruction(const struct drm_tessera_instruction *instruction, uint32_t dtype_a,
			       uint64_t a, uint64_t b, uint64_t c)
{
	switch (instruction->opcode) {
	case DRM_TESSERA_OP_CONST:
		return instruction->immediate;
	case DRM_TESSERA_OP_SELECT:
		return (uint8_t)a ? b : c;
	case DRM_TESSERA_OP_MIN:
	case DRM_TESSERA_OP_MAX:
		return lesser_or_greater(instruction, a, b);
	case DRM_TESSERA_OP_NEG:
	case DRM_TESSERA_OP_ABS:
		return change_sign(instruction, a);
	case DRM_TESSERA_OP_CAST:
		return compute(instruction, dtype_a, a, 0, 0);
	default:
		return compute(instruction, instruction->dtype, a, b, c);
	}
}

uint64_t reference_program(const struct engine_job *job, const uint64_t v[DRM_TESSERA_MAX_SOURCES])
{
	uint64_t registers[DRM_TESSERA_NUM_REGISTERS] = { 0 };
	uint32_t dtypes[DRM_TESSERA_NUM_REGISTERS] = { 0 };

	for (uint32_t k = 0; k + 1 < job->num_operands; k++) {
		registers[k] = v[k];
		dtypes[k] = job->operands[k + 1].spec.dtype;
	}
	for (uint32_t n = 0; n < job->num_instructions; n++) {
		const struct drm_tessera_instruction *instruction = &job->program[n];

		registers[instruction->dst] =
			reference_instruction(instruction, dtypes[instruction->src[0]],
					      registers[instruction->src[0]],
					      registers[instruction->src[1]],
					      registers[instruction->src[2]]);
		dtypes[instruction->dst] = instruction->opcode == DRM_TESSERA_OP_COMPARE ?
					   DRM_TESSERA_DTYPE_U8 : instruction->dtype;
	}
	return registers[0];
}

/* A point of the box; the last loop is the fastest. */
struct point {
	uint64_t i[DRM_TESSERA_MAX_RANK];
};

static bool first_point(const struct engine_job *job, struct point *point)
{
	memset(point, 0, sizeof(*point));
	for (uint32_t d = 0; d < job->rank; d++)
		if (!job->extents[d])
			return false;
	return true;
}

static bool next_point(const struct engine_job *job, struct point *point)
{
	for (uint32_t d = job->rank; d-- > 0; ) {
		if (++point->i[d] < job->extents[d])
			return true;
		point->i[d] = 0;
	}
	return false;
}

static __int128 value_at(const struct engine_job *job, const struct drm_tessera_affine *affine,
			 const struct point *point)
{
	__int128 value = affine->offset;

	for (uint32_t d = 0; d < job->rank; d++)
		value += (__int128)affine->strides[d] * point->i[d];
	return value;
}

static bool windows_hold(const struct engine_job *job, uint32_t mask, const struct point *point)
{
	for (uint32_t w = 0; w < job->num_windows; w++) {
		__int128 value = value_at(job, &job->windows[w].value, point);

		if ((mask >> w & 1) && (value < 0 || value >= job->windows[w].limit))
			return false;
	}
	return true;
}

static uint32_t size_of(uint32_t dtype)
{
	return (uint32_t)type_of(dtype)->bits / 8;
}

static int stop(struct reference_fault *fault, enum drm_tessera_cause cause, uint32_t operand,
		__int128 offset)
{
	if (fault)
		*fault = (struct reference_fault){ cause, operand, (int64_t)offset };
	return -ERANGE;
}

/* Whether size bytes at the address are in the buffer; if not, *byte is one outside. */
static bool is_inside(const struct engine_buffer *buffer, __int128 address, uint32_t size,
		      __int128 *byte)
{
	*byte = address < 0 ? address : address + size - 1;
	return address >= 0 && address + size <= buffer->size;
}

static int read_index(const struct engine_job *job, uint32_t k, const struct point *point,
		      __int128 *index, struct reference_fault *fault)
{
	const struct engine_operand *operand = &job->operands[k];
	const struct drm_tessera_operand *spec = &operand->spec;
	const struct type *type = type_of(spec->index_dtype);
	__int128 address = value_at(job, &spec->index_address, point);
	__int128 byte;
	uint64_t bits = 0;

	if (!is_inside(&operand->index_buffer, address, size_of(spec->index_dtype), &byte))
		return stop(fault, DRM_TESSERA_CAUSE_INDEX_BOUNDS, k, byte);
	memcpy(&bits, (uint8_t *)operand->index_buffer.base + (int64_t)address,
	       size_of(spec->index_dtype));
	*index = bits;
	if (type->is_signed && bits >> (type->bits - 1))
		*index -= (__int128)1 << type->bits;
	if (spec->index_limit && (*index < 0 || *index >= spec->index_limit))
		return stop(fault, DRM_TESSERA_CAUSE_INDEX_LIMIT, k, *index);
	return 0;
}

/* Where operand k's element is, checked. */
static int locate(const struct engine_job *job, uint32_t k, const struct point *point,
		  uint8_t **element, struct reference_fault *fault)
{
	const struct engine_operand *operand = &job->operands[k];
	__int128 address = value_at(job, &operand->spec.address, point);
	__int128 index, byte;
	int error;

	if (operand->spec.flags & DRM_TESSERA_OPERAND_INDIRECT) {
		error = read_index(job, k, point, &index, fault);
		if (error)
			return error;
		address += index * operand->spec.index_stride;
	}
	if (!is_inside(&operand->buffer, address, size_of(operand->spec.dtype), &byte))
		return stop(fault, DRM_TESSERA_CAUSE_BOUNDS, k, byte);
	*element = (uint8_t *)operand->buffer.base + (int64_t)address;
	return 0;
}

struct element {
	uint8_t bytes[16];
};

static int load(const struct engine_job *job, uint32_t k, const struct point *point,
		struct element *value, struct reference_fault *fault)
{
	const struct drm_tessera_operand *spec = &job->operands[k].spec;
	uint8_t *element;
	int error;

	memcpy(value->bytes, spec->fill, sizeof(value->bytes));
	if (!windows_hold(job, spec->window_mask, point))
		return 0;
	error = locate(job, k, point, &element, fault);
	if (!error)
		memcpy(value->bytes, element, size_of(spec->dtype));
	return error;
}

static int run_point(const struct engine_job *job, const struct point *point,
		     struct reference_fault *fault)
{
	const struct drm_tessera_operand *dst = &job->operands[0].spec;
	struct element values[DRM_TESSERA_MAX_SOURCES] = { 0 };
	uint64_t v[DRM_TESSERA_MAX_SOURCES] = { 0 };
	uint8_t *element;
	int error;

	if (!windows_hold(job, dst->window_mask, point))
		return 0;
	for (uint32_t k = 1; k < job->num_operands; k++) {
		error = load(job, k, point, &values[k - 1], fault);
		if (error)
			return error;
		memcpy(&v[k - 1], values[k - 1].bytes, sizeof(v[k - 1]));
		v[k - 1] = low_bits(v[k - 1], 8 * (int)size_of(job->operands[k].spec.dtype));
	}
	if (job->num_instructions) {
		v[0] = reference_program(job, v);
		memcpy(values[0].bytes, &v[0], sizeof(v[0]));
	}
	error = locate(job, 0, point, &element, fault);
	if (!error)
		memcpy(element, values[0].bytes, size_of(dst->dtype));
	return error;
}

int reference_run(const struct engine_job *job, struct reference_fault *fault)
{
	struct point point;
	int error;

	if (!first_point(job, &point))
		return 0;
	do {
		error = run_point(job, &point, fault);
	} while (!error && next_point(job, &point));
	return error;
}

void reference_mark_stores(const struct engine_job *job, uint8_t *marks)
{
	const struct engine_operand *dst = &job->operands[0];
	struct point point;
	uint8_t *element;

	if (!first_point(job, &point))
		return;
	do {
		if (windows_hold(job, dst->spec.window_mask, &point) &&
		    !locate(job, 0, &point, &element, NULL))
			memset(marks + (element - (uint8_t *)dst->buffer.base), 1,
			       size_of(dst->spec.dtype));
	} while (next_point(job, &point));
}

static const struct drm_tessera_affine *affine_of(const struct engine_job *job, uint32_t operand,
						  bool of_index, uint32_t *size)
{
	const struct drm_tessera_operand *spec = &job->operands[operand].spec;

	*size = size_of(of_index ? spec->index_dtype : spec->dtype);
	return of_index ? &spec->index_address : &spec->address;
}

struct reference_bounds reference_bounds_exact(const struct engine_job *job, uint32_t operand,
					       bool of_index)
{
	uint32_t size;
	const struct drm_tessera_affine *affine = affine_of(job, operand, of_index, &size);
	struct reference_bounds bounds = { 0, -1 };
	bool is_first = true;
	struct point point;

	if (!first_point(job, &point))
		return bounds;
	do {
		__int128 address = value_at(job, affine, &point);

		if (!windows_hold(job, job->operands[operand].spec.window_mask, &point))
			continue;
		if (is_first || address < bounds.lowest)
			bounds.lowest = address;
		if (is_first || address + size - 1 > bounds.highest)
			bounds.highest = address + size - 1;
		is_first = false;
	} while (next_point(job, &point));
	return bounds;
}

/* The rule of the header, step by step, on numbers wide enough. */
struct rule {
	uint32_t rank;
	__int128 first[DRM_TESSERA_MAX_RANK];
	__int128 last[DRM_TESSERA_MAX_RANK];
};

struct wide_affine {
	__int128 offset;
	__int128 strides[DRM_TESSERA_MAX_RANK];
};

static struct wide_affine widen(const struct drm_tessera_affine *affine)
{
	struct wide_affine wide = { .offset = affine->offset };

	for (int d = 0; d < DRM_TESSERA_MAX_RANK; d++)
		wide.strides[d] = affine->strides[d];
	return wide;
}

static struct reference_bounds range(const struct rule *rule, const struct wide_affine *affine)
{
	struct reference_bounds bounds = { affine->offset, affine->offset };

	for (uint32_t d = 0; d < rule->rank; d++) {
		__int128 at_first = affine->strides[d] * rule->first[d];
		__int128 at_last = affine->strides[d] * rule->last[d];

		bounds.lowest += at_first < at_last ? at_first : at_last;
		bounds.highest += at_first < at_last ? at_last : at_first;
	}
	return bounds;
}

/* Whether the window can hold with i_d = value and the others within their bounds. */
static bool allows(const struct rule *rule, const struct drm_tessera_window *window, uint32_t d,
		   __int128 value)
{
	struct wide_affine wide = widen(&window->value);
	struct rule fixed = *rule;
	struct reference_bounds bounds;

	fixed.first[d] = fixed.last[d] = value;
	bounds = range(&fixed, &wide);
	return bounds.highest >= 0 && bounds.lowest < (__int128)window->limit;
}

/*
 * What a window allows in a dimension is an interval: its ends are looked for by steps that are
 * halved, from the value at which the window is nearest to holding.
 */
static bool tighten(struct rule *rule, const struct drm_tessera_window *window, uint32_t d)
{
	__int128 first = rule->first[d], last = rule->last[d];

	while (first <= last && !allows(rule, window, d, first)) {
		/* halves that do not hold at all are left out whole */
		struct wide_affine wide = widen(&window->value);
		struct rule half = *rule;
		struct reference_bounds bounds;

		half.first[d] = first;
		half.last[d] = first + (last - first) / 2;
		bounds = range(&half, &wide);
		if (bounds.highest < 0 || bounds.lowest >= (__int128)window->limit)
			first = half.last[d] + 1;
		else
			first++;
	}
	while (first <= last && !allows(rule, window, d, last)) {
		struct wide_affine wide = widen(&window->value);
		struct rule half = *rule;
		struct reference_bounds bounds;

		half.first[d] = last - (last - first) / 2;
		half.last[d] = last;
		bounds = range(&half, &wide);
		if (bounds.highest < 0 || bounds.lowest >= (__int128)window->limit)
			last = half.first[d] - 1;
		else
			last--;
	}
	rule->first[d] = first;
	rule->last[d] = last;
	return first <= last;
}

static bool apply_windows(struct rule *rule, const struct engine_job *job, uint32_t mask)
{
	for (int round = 0; round < 2; round++) {
		for (uint32_t w = 0; w < job->num_windows; w++) {
			const struct drm_tessera_window *window = &job->windows[w];
			bool is_constant = true;

			if (!(mask >> w & 1))
				continue;
			for (uint32_t d = 0; d < job->rank; d++) {
				if (!window->value.strides[d])
					continue;
				is_constant = false;
				if (!tighten(rule, window, d))
					return false;
			}
			if (is_constant && (window->value.offset < 0 ||
					    (uint64_t)window->value.offset >= window->limit))
				return false;
		}
	}
	return true;
}

static __int128 absolute(__int128 value)
{
	return value < 0 ? -value : value;
}

static bool fits(__int128 value)
{
	return value >= INT64_MIN && value <= INT64_MAX;
}

static bool interval_fits(const struct reference_bounds *bounds)
{
	return fits(bounds->lowest) && fits(bounds->highest);
}

static struct reference_bounds sum(const struct reference_bounds *a,
				   const struct reference_bounds *b)
{
	return (struct reference_bounds){ a->lowest + b->lowest, a->highest + b->highest };
}

struct reference_bounds reference_bounds_by_rule(const struct engine_job *job, uint32_t operand,
						 bool of_index)
{
	const struct reference_bounds nothing = { 0, -1 };
	uint32_t size, mask = job->operands[operand].spec.window_mask;
	struct wide_affine address = widen(affine_of(job, operand, of_index, &size));
	struct reference_bounds added = { 0, 0 }, bounds;
	struct rule rule = { .rank = job->rank };

	for (uint32_t d = 0; d < job->rank; d++) {
		if (!job->extents[d])
			return nothing;
		rule.last[d] = (__int128)job->extents[d] - 1;
	}
	if (!apply_windows(&rule, job, mask))
		return nothing;
	bounds = range(&rule, &address);
	for (uint32_t w = 0; w < job->num_windows; w++) {
		struct wide_affine value = widen(&job->windows[w].value);
		struct reference_bounds of_value = range(&rule, &value), rest, total, scaled;
		struct wide_affine next = address;
		uint32_t d = job->rank;
		bool all_fit = true;
		__int128 quotient;

		if (!(mask >> w & 1))
			continue;
		if (of_value.lowest < 0)
			of_value.lowest = 0;
		if (of_value.highest > (__int128)job->windows[w].limit - 1)
			of_value.highest = (__int128)job->windows[w].limit - 1;
		if (of_value.lowest > of_value.highest)
			return nothing;
		for (uint32_t e = job->rank; e-- > 0; )
			if (value.strides[e] && rule.first[e] < rule.last[e] &&
			    (d == job->rank ||
			     absolute(address.strides[e]) >= absolute(address.strides[d])))
				d = e;
		if (d == job->rank || address.strides[d] % value.strides[d])
			continue;
		quotient = address.strides[d] / value.strides[d];
		next.offset -= quotient * value.offset;
		all_fit = fits(quotient) && fits(quotient * value.offset) && fits(next.offset);
		for (uint32_t e = 0; e < job->rank; e++) {
			next.strides[e] -= quotient * value.strides[e];
			all_fit = all_fit && fits(quotient * value.strides[e]) &&
				  fits(next.strides[e]);
		}
		if (!all_fit)
			continue;
		scaled.lowest = quotient * (quotient < 0 ? of_value.highest : of_value.lowest);
		scaled.highest = quotient * (quotient < 0 ? of_value.lowest : of_value.highest);
		rest = range(&rule, &next);
		if (!interval_fits(&scaled) || !interval_fits(&rest))
			continue;
		scaled = sum(&added, &scaled);
		total = sum(&rest, &scaled);
		if (!interval_fits(&scaled) || !interval_fits(&total) ||
		    total.highest - total.lowest >= bounds.highest - bounds.lowest)
			continue;
		address = next;
		added = scaled;
		bounds = total;
	}
	bounds.highest += size - 1;
	return bounds;
}

/* Bytes of this process that a point accesses. */
struct access {
	uintptr_t first;
	uintptr_t last;
	uint64_t point;
};

struct accesses {
	struct access *list;
	size_t count;
};

static int by_first(const void *a, const void *b)
{
	const struct access *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* All accesses to operand k where the windows of mask hold, in order of points. */
static int collect(const struct engine_job *job, uint32_t k, uint32_t mask,
		   struct accesses *accesses)
{
	uint32_t size = size_of(job->operands[k].spec.dtype);
	uint64_t number = 0, points = 1;
	struct point point;
	uint8_t *element;

	accesses->count = 0;
	for (uint32_t d = 0; d < job->rank; d++)
		points *= job->extents[d];
	accesses->list = calloc(points + 1, sizeof(accesses->list[0]));
	if (!accesses->list)
		return -ENOMEM;
	if (!first_point(job, &point))
		return 0;
	do {
		number++;
		if (!windows_hold(job, mask, &point) || locate(job, k, &point, &element, NULL))
			continue;
		accesses->list[accesses->count++] = (struct access){
			(uintptr_t)element, (uintptr_t)element + size - 1, number,
		};
	} while (next_point(job, &point));
	return 0;
}

int reference_stores_collide(const struct engine_job *job)
{
	struct accesses stores;
	int result;

	result = collect(job, 0, job->operands[0].spec.window_mask, &stores);
	if (result)
		return result;
	qsort(stores.list, stores.count, sizeof(stores.list[0]), by_first);
	for (size_t i = 1; i < stores.count; i++)
		if (stores.list[i].first <= stores.list[i - 1].last)
			result = 1;
	free(stores.list);
	return result;
}

/*
 * Whether each load is of exactly the bytes that its own point stores. Both are in order of points.
 */
static bool are_in_place(const struct accesses *loads, const struct accesses *stores)
{
	size_t s = 0;

	for (size_t l = 0; l < loads->count; l++) {
		while (s < stores->count && stores->list[s].point < loads->list[l].point)
			s++;
		if (s == stores->count || stores->list[s].first != loads->list[l].first ||
		    stores->list[s].last != loads->list[l].last)
			return false;
	}
	return true;
}

static bool any_meet(const struct accesses *loads, const struct accesses *stores)
{
	size_t s = 0;

	qsort(loads->list, loads->count, sizeof(loads->list[0]), by_first);
	qsort(stores->list, stores->count, sizeof(stores->list[0]), by_first);
	for (size_t l = 0; l < loads->count; l++) {
		while (s < stores->count && stores->list[s].last < loads->list[l].first)
			s++;
		if (s < stores->count && stores->list[s].first <= loads->list[l].last)
			return true;
	}
	return false;
}

int reference_overlaps(const struct engine_job *job, uint32_t operand)
{
	uint32_t dst_mask = job->operands[0].spec.window_mask;
	struct accesses stores, loads;
	int result;

	result = collect(job, 0, dst_mask, &stores);
	if (result)
		return result;
	result = collect(job, operand, dst_mask | job->operands[operand].spec.window_mask, &loads);
	if (!result)
		result = !are_in_place(&loads, &stores) && any_meet(&loads, &stores);
	free(loads.list);
	free(stores.list);
	return result;
}
