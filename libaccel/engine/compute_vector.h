/* SPDX-License-Identifier: MIT */
/*
 * Kernels of instructions for vectors of 32-bit lanes, whatever their number: 8- and 16-bit types
 * are widened as they are loaded and narrowed as they are stored, f16 and bf16 by way of f32. Types
 * of 64 bits, and u32 where it is harder than i32, are left to the portable kernels. A file
 * that includes this one is an instruction set: it says below what it is called and brings
 *
 *	TARGET, TABLE		attributes of its functions, the name of its table
 *	LANES			in a vector: 8 or 16
 *	integers, floats, mask	vectors of 32-bit lanes, and of conditions
 *	load_x, store_x		of LANES elements; load_u8 and load_i8 differ in how they widen,
 *				store_8 keeps the lowest bits; store_f16 and store_bf16 round, and
 *				take no NaN but the canonical one
 *	store_saturated_x	of four vectors of integers, as u8 or i8
 *	stream_f32		to an address aligned to vectors, around the caches
 *	set, add, ..		integer and float operations, named as they are used here
 *
 * Rounding is to nearest even in all conversions of floats. A kernel works on as many points as
 * strips have room for a multiple of. Sums and products of f16 and bf16 in f32 are rounded twice
 * without harm, as f32 has at least twice their digits and two (S. Figueroa, "When is double
 * rounding innocuous?", 1995), also where they underflow: then the sum is exact, and a product that
 * is not is below half of the least bf16.
 */

#define UNUSED	__attribute__((unused))

#define DEFINE_KERNEL(name, statement)								\
static TARGET void name(UNUSED void *dst, UNUSED const void *a, UNUSED const void *b,		\
			UNUSED const void *c, uint32_t count)					\
{												\
	for (uint32_t first = 0; first < count; first += ENGINE_STRIP_ALIGNMENT)		\
		for (uint32_t i = first; i < first + ENGINE_STRIP_ALIGNMENT; i += LANES) {	\
			statement;								\
		}										\
}

/* Loads and stores at point i. */
#define A(type)		load_##type(a, i)
#define B(type)		load_##type(b, i)
#define C(type)		load_##type(c, i)
#define TO(type, ...)	store_##type(dst, i, __VA_ARGS__)

/* --- integers -------------------------------------------------------------------------------- */

static inline TARGET integers clamp(integers value, int32_t low, int32_t high)
{
	return min_signed(max_signed(value, set(low)), set(high));
}

#define DEFINE_COMPARISONS(type, EQ, LT)							\
DEFINE_KERNEL(eq_##type, TO(8, ones(EQ(A(type), B(type)))))					\
DEFINE_KERNEL(ne_##type, TO(8, ones(not_(EQ(A(type), B(type))))))				\
DEFINE_KERNEL(lt_##type, TO(8, ones(LT(A(type), B(type)))))					\
DEFINE_KERNEL(le_##type, TO(8, ones(not_(LT(B(type), A(type))))))				\
DEFINE_KERNEL(gt_##type, TO(8, ones(LT(B(type), A(type)))))					\
DEFINE_KERNEL(ge_##type, TO(8, ones(not_(LT(A(type), B(type))))))

/* What is the same for all: operations that wrap, orders, comparisons. */
#define DEFINE_INTEGER(type, bits, MIN, MAX, LESS)						\
DEFINE_KERNEL(add_##type, TO(bits, add(A(type), B(type))))					\
DEFINE_KERNEL(sub_##type, TO(bits, sub(A(type), B(type))))					\
DEFINE_KERNEL(mul_##type, TO(bits, mul(A(type), B(type))))					\
DEFINE_KERNEL(fma_##type, TO(bits, add(mul(A(type), B(type)), C(type))))			\
DEFINE_KERNEL(neg_##type, TO(bits, sub(set(0), A(type))))					\
DEFINE_KERNEL(min_##type, TO(bits, MIN(A(type), B(type))))					\
DEFINE_KERNEL(max_##type, TO(bits, MAX(A(type), B(type))))					\
DEFINE_COMPARISONS(type, equal, LESS)

/* Of 8 and 16 bits: what they compute is exact in 32 bits, which are a type's that has no sign. */
#define DEFINE_SMALL_UNSIGNED(type, bits, high)							\
DEFINE_INTEGER(type, bits, min_signed, max_signed, less_signed)					\
DEFINE_KERNEL(abs_##type, TO(bits, A(type)))							\
DEFINE_KERNEL(add_sat_##type, TO(bits, min_signed(add(A(type), B(type)), set(high))))		\
DEFINE_KERNEL(sub_sat_##type, TO(bits, max_signed(sub(A(type), B(type)), set(0))))		\
DEFINE_KERNEL(mul_sat_##type, TO(bits, min_unsigned(mul(A(type), B(type)), set(high))))		\
DEFINE_KERNEL(fma_sat_##type,									\
	      TO(bits, min_unsigned(add(mul(A(type), B(type)), C(type)), set(high))))

#define DEFINE_SMALL_SIGNED(type, bits, low, high)						\
DEFINE_INTEGER(type, bits, min_signed, max_signed, less_signed)					\
DEFINE_KERNEL(abs_##type, TO(bits, absolute(A(type))))						\
DEFINE_KERNEL(add_sat_##type, TO(bits, clamp(add(A(type), B(type)), low, high)))		\
DEFINE_KERNEL(sub_sat_##type, TO(bits, clamp(sub(A(type), B(type)), low, high)))		\
DEFINE_KERNEL(mul_sat_##type, TO(bits, clamp(mul(A(type), B(type)), low, high)))		\
DEFINE_KERNEL(fma_sat_##type,									\
	      TO(bits, clamp(add(mul(A(type), B(type)), C(type)), low, high)))			\
DEFINE_KERNEL(neg_sat_##type, TO(bits, min_signed(sub(set(0), A(type)), set(high))))		\
DEFINE_KERNEL(abs_sat_##type, TO(bits, min_signed(absolute(A(type)), set(high))))

DEFINE_SMALL_UNSIGNED(u8, 8, UINT8_MAX)
DEFINE_SMALL_UNSIGNED(u16, 16, UINT16_MAX)
DEFINE_SMALL_SIGNED(i8, 8, INT8_MIN, INT8_MAX)
DEFINE_SMALL_SIGNED(i16, 16, INT16_MIN, INT16_MAX)

/* A sum or difference that overflows by its sign has the wrong sign, and becomes the extreme. */
static inline TARGET integers saturate(integers result, integers overflow, integers a)
{
	integers extreme = xor_(sign_of(a), set(INT32_MAX));

	return choose(less_signed(overflow, set(0)), extreme, result);
}

static inline TARGET integers add_saturated(integers a, integers b)
{
	integers sum = add(a, b);

	return saturate(sum, and_(xor_(a, sum), xor_(b, sum)), a);
}

static inline TARGET integers sub_saturated(integers a, integers b)
{
	integers difference = sub(a, b);

	return saturate(difference, and_(xor_(a, b), xor_(a, difference)), a);
}

DEFINE_INTEGER(i32, 32, min_signed, max_signed, less_signed)
DEFINE_KERNEL(abs_i32, TO(32, absolute(A(i32))))
DEFINE_KERNEL(add_sat_i32, TO(32, add_saturated(A(i32), B(i32))))
DEFINE_KERNEL(sub_sat_i32, TO(32, sub_saturated(A(i32), B(i32))))
DEFINE_KERNEL(neg_sat_i32, TO(32, sub(set(0), max_signed(A(i32), set(-INT32_MAX)))))
DEFINE_KERNEL(abs_sat_i32, TO(32, absolute(max_signed(A(i32), set(-INT32_MAX)))))

DEFINE_INTEGER(u32, 32, min_unsigned, max_unsigned, less_unsigned)
DEFINE_KERNEL(abs_u32, TO(32, A(u32)))
DEFINE_KERNEL(add_sat_u32, TO(32, add(min_unsigned(A(u32), xor_(B(u32), set(-1))), B(u32))))
DEFINE_KERNEL(sub_sat_u32, TO(32, sub(max_unsigned(A(u32), B(u32)), B(u32))))

/* --- floats ---------------------------------------------------------------------------------- */

static inline TARGET floats canonical(floats value)
{
	return choose_float(unordered(value, value), floats_of_bits(set(ENGINE_NAN_F32)), value);
}

/*
 * min_float() and max_float() give b where both are zeros: in one order or the other that is the
 * zero that is wanted, and whatever else is equal has the same bits.
 */
static inline TARGET floats lesser(floats a, floats b)
{
	integers either = or_(bits_of_floats(min_float(a, b)), bits_of_floats(min_float(b, a)));

	return choose_float(unordered(a, b), floats_of_bits(set(ENGINE_NAN_F32)),
			    floats_of_bits(either));
}

static inline TARGET floats greater(floats a, floats b)
{
	integers both = and_(bits_of_floats(max_float(a, b)), bits_of_floats(max_float(b, a)));

	return choose_float(unordered(a, b), floats_of_bits(set(ENGINE_NAN_F32)),
			    floats_of_bits(both));
}

/* LESS_EQUAL and LESS are false with a NaN, so that none can be had by turning another round. */
#define DEFINE_FLOAT(type)									\
DEFINE_KERNEL(add_##type, TO(type, canonical(add_float(A(type), B(type)))))			\
DEFINE_KERNEL(sub_##type, TO(type, canonical(sub_float(A(type), B(type)))))			\
DEFINE_KERNEL(mul_##type, TO(type, canonical(mul_float(A(type), B(type)))))			\
DEFINE_KERNEL(min_##type, TO(type, lesser(A(type), B(type))))					\
DEFINE_KERNEL(max_##type, TO(type, greater(A(type), B(type))))					\
DEFINE_KERNEL(eq_##type, TO(8, ones(equal_float(A(type), B(type)))))				\
DEFINE_KERNEL(ne_##type, TO(8, ones(not_(equal_float(A(type), B(type))))))			\
DEFINE_KERNEL(lt_##type, TO(8, ones(less_float(A(type), B(type)))))				\
DEFINE_KERNEL(le_##type, TO(8, ones(less_equal_float(A(type), B(type)))))			\
DEFINE_KERNEL(gt_##type, TO(8, ones(less_float(B(type), A(type)))))				\
DEFINE_KERNEL(ge_##type, TO(8, ones(less_equal_float(B(type), A(type)))))

DEFINE_FLOAT(f16)
DEFINE_FLOAT(bf16)
DEFINE_FLOAT(f32)

DEFINE_KERNEL(fma_f16, TO(f16, canonical(fma_odd(A(f16), B(f16), C(f16)))))
DEFINE_KERNEL(fma_bf16, TO(bf16, canonical(fma_odd(A(bf16), B(bf16), C(bf16)))))
DEFINE_KERNEL(fma_f32, TO(f32, canonical(fma_float(A(f32), B(f32), C(f32)))))

/* Bits alone: NaNs stay what they are. */
DEFINE_KERNEL(neg_16, TO(16, xor_(A(u16), set(0x8000))))
DEFINE_KERNEL(abs_16, TO(16, and_(A(u16), set(0x7fff))))
DEFINE_KERNEL(neg_f32, TO(32, xor_(A(i32), set(INT32_MIN))))
DEFINE_KERNEL(abs_f32, TO(32, and_(A(i32), set(INT32_MAX))))

DEFINE_KERNEL(select_8, TO(8, choose(equal(A(u8), set(0)), C(u8), B(u8))))
DEFINE_KERNEL(select_16, TO(16, choose(equal(A(u8), set(0)), C(u16), B(u16))))
DEFINE_KERNEL(select_32, TO(32, choose(equal(A(u8), set(0)), C(u32), B(u32))))

/* --- casts ----------------------------------------------------------------------------------- */

/* Integers to integers: the lowest bits, or the nearest that the type has. */
#define DEFINE_FROM_INTEGER(from, NEAREST)							\
DEFINE_KERNEL(from##_to_8, TO(8, A(from)))							\
DEFINE_KERNEL(from##_to_16, TO(16, A(from)))							\
DEFINE_KERNEL(from##_to_32, TO(32, A(from)))							\
DEFINE_KERNEL(from##_to_u8_sat, TO(8, NEAREST(A(from), 0, UINT8_MAX)))				\
DEFINE_KERNEL(from##_to_u16_sat, TO(16, NEAREST(A(from), 0, UINT16_MAX)))			\
DEFINE_KERNEL(from##_to_i8_sat, TO(8, NEAREST(A(from), INT8_MIN, INT8_MAX)))			\
DEFINE_KERNEL(from##_to_i16_sat, TO(16, NEAREST(A(from), INT16_MIN, INT16_MAX)))		\
DEFINE_KERNEL(from##_to_i32_sat, TO(32, NEAREST(A(from), INT32_MIN, INT32_MAX)))

/* No value of a type without sign is below a range. */
#define CLAMP_UNSIGNED(value, low, high)	min_unsigned(value, set(high))

DEFINE_FROM_INTEGER(u8, clamp)
DEFINE_FROM_INTEGER(u16, clamp)
DEFINE_FROM_INTEGER(u32, CLAMP_UNSIGNED)
DEFINE_FROM_INTEGER(i8, clamp)
DEFINE_FROM_INTEGER(i16, clamp)
DEFINE_FROM_INTEGER(i32, clamp)
DEFINE_KERNEL(i8_to_u32_sat, TO(32, max_signed(A(i8), set(0))))
DEFINE_KERNEL(i16_to_u32_sat, TO(32, max_signed(A(i16), set(0))))
DEFINE_KERNEL(i32_to_u32_sat, TO(32, max_signed(A(i32), set(0))))

/*
 * An i32 rounded to odd, so that f32 holds it: of the multiples of 256 above and below one that is
 * none, that which is odd. Adding the odd bit to the one below gives it, whatever the sign.
 */
static inline TARGET integers round_odd(integers value)
{
	integers dropped = and_(value, set(0xff));
	integers sticky = choose(equal(dropped, set(0)), set(0), set(0x100));
	integers kept = or_(sub(value, dropped), sticky);

	return choose(less_signed(absolute(value), set(1 << 24)), value, kept);
}

/* f16 ends where f32 still holds every integer, so that rounding twice does no harm. */
#define DEFINE_TO_FLOAT(from)									\
DEFINE_KERNEL(from##_to_f32, TO(f32, float_of(A(from))))					\
DEFINE_KERNEL(from##_to_f16, TO(f16, float_of(A(from))))					\
DEFINE_KERNEL(from##_to_bf16, TO(bf16, float_of(round_odd(A(from)))))

DEFINE_TO_FLOAT(u8)
DEFINE_TO_FLOAT(u16)
DEFINE_TO_FLOAT(i8)
DEFINE_TO_FLOAT(i16)
DEFINE_TO_FLOAT(i32)

static inline TARGET floats zero_for_nan(floats value)
{
	return choose_float(unordered(value, value), floats_of_bits(set(0)), value);
}

static inline TARGET floats clamp_float(floats value, float low, float high)
{
	return min_float(max_float(zero_for_nan(value), set_float(low)), set_float(high));
}

/* As max_float() gives b where a is a NaN. */
static inline TARGET floats clamp_positive(floats value, float high)
{
	return min_float(max_float(value, set_float(0)), set_float(high));
}

/* What is beyond i32 converts to its lowest value, which is right at that end only. */
#define SATURATE_I32(CONVERT, value)								\
({												\
	floats some_ = zero_for_nan(value);							\
												\
	choose(less_float(some_, set_float(0x1p31f)), CONVERT(some_), set(INT32_MAX));		\
})

#define DEFINE_FROM_FLOAT_BY(from, suffix, CONVERT, WRAP)					\
DEFINE_KERNEL(from##_to_8##suffix, TO(8, WRAP(A(from))))					\
DEFINE_KERNEL(from##_to_16##suffix, TO(16, WRAP(A(from))))					\
DEFINE_KERNEL(from##_to_32##suffix, TO(32, WRAP(A(from))))					\
DEFINE_KERNEL(from##_to_u8_sat##suffix, TO(8, CONVERT(clamp_positive(A(from), 0xff))))		\
DEFINE_KERNEL(from##_to_u16_sat##suffix, TO(16, CONVERT(clamp_positive(A(from), 0xffff))))	\
DEFINE_KERNEL(from##_to_i8_sat##suffix, TO(8, CONVERT(clamp_float(A(from), -0x80, 0x7f))))	\
DEFINE_KERNEL(from##_to_i16_sat##suffix,							\
	      TO(16, CONVERT(clamp_float(A(from), -0x8000, 0x7fff))))				\
DEFINE_KERNEL(from##_to_i32_sat##suffix, TO(32, SATURATE_I32(CONVERT, A(from))))

#define DEFINE_FROM_FLOAT(from)									\
DEFINE_FROM_FLOAT_BY(from, _nearest, nearest, wrap_nearest)					\
DEFINE_FROM_FLOAT_BY(from, _truncated, truncated, wrap_truncated)				\
DEFINE_KERNEL(from##_to_f16, TO(f16, canonical(A(from))))					\
DEFINE_KERNEL(from##_to_bf16, TO(bf16, canonical(A(from))))					\
DEFINE_KERNEL(from##_to_f32, TO(f32, canonical(A(from))))

DEFINE_FROM_FLOAT(f16)
DEFINE_FROM_FLOAT(bf16)
DEFINE_FROM_FLOAT(f32)

/* --- chains ---------------------------------------------------------------------------------- */

/* From a type to f32, two operations there, and to a type: all between stays in vectors. */
#define MUL_ADD(a, b, c)	add_float(rounded(mul_float(a, b)), c)
#define SUB_MUL(a, b, c)	mul_float(sub_float(a, b), c)

#define FLOAT_u8(strip, i)	float_of(load_u8(strip, i))
#define FLOAT_i8(strip, i)	float_of(load_i8(strip, i))
#define FLOAT_f16(strip, i)	load_f16(strip, i)
#define FLOAT_bf16(strip, i)	load_bf16(strip, i)
#define FLOAT_f32(strip, i)	load_f32(strip, i)

/* The value of all points of a uniform strip. */
static inline TARGET floats load_uniform(const void *strip, UNUSED uint32_t i)
{
	float value;

	memcpy(&value, strip, sizeof(value));
	return set_float(value);
}

/* What is below the types is left to the stores, to which a NaN is the lowest integer. */
static inline TARGET integers nearest_u8(floats value)
{
	return nearest(min_float(set_float(UINT8_MAX), value));
}

static inline TARGET integers nearest_i8(floats value)
{
	return nearest(min_float(set_float(INT8_MAX), zero_for_nan(value)));
}

/* Four vectors of results, at point i. */
#define DEFINE_STORE_FOUR_SATURATED(type)							\
static inline TARGET void store_four_##type(void *strip, uint32_t i, const floats *values)	\
{												\
	const integers results[4] = {								\
		nearest_##type(values[0]), nearest_##type(values[1]),				\
		nearest_##type(values[2]), nearest_##type(values[3]),				\
	};											\
												\
	store_saturated_##type(strip, i, results);						\
}

#define DEFINE_STORE_FOUR_FLOATS(name, store)							\
static inline TARGET void name(void *strip, uint32_t i, const floats *values)			\
{												\
	for (uint32_t k = 0; k < 4; k++)							\
		store(strip, i + k * LANES, canonical(values[k]));				\
}

DEFINE_STORE_FOUR_SATURATED(u8)
DEFINE_STORE_FOUR_SATURATED(i8)
DEFINE_STORE_FOUR_FLOATS(store_four_f16, store_f16)
DEFINE_STORE_FOUR_FLOATS(store_four_bf16, store_bf16)
DEFINE_STORE_FOUR_FLOATS(store_four_f32, store_f32)
DEFINE_STORE_FOUR_FLOATS(stream_four_f32, stream_f32)

#define DEFINE_CHAIN_KERNEL(name, OP, from, load, store)					\
static TARGET void name(void *dst, const void *a, const void *b, const void *c, uint32_t count)	\
{												\
	for (uint32_t i = 0; i < count; i += 4 * LANES) {					\
		floats values[4];								\
												\
		for (uint32_t k = 0, at = i; k < 4; k++, at += LANES)				\
			values[k] = OP(FLOAT_##from(a, at), load(b, at), load(c, at));		\
		store(dst, i, values);								\
	}											\
}

_Static_assert(ENGINE_STRIP_ALIGNMENT % (4 * LANES) == 0, "strips are whole blocks of vectors");

#define DEFINE_CHAIN_FROM_TO(name, OP, from, to)						\
DEFINE_CHAIN_KERNEL(name##_##from##_##to, OP, from, load_f32, store_four_##to)			\
DEFINE_CHAIN_KERNEL(uniform_##name##_##from##_##to, OP, from, load_uniform, store_four_##to)

#define DEFINE_CHAIN_FROM(name, OP, from)							\
DEFINE_CHAIN_FROM_TO(name, OP, from, u8)							\
DEFINE_CHAIN_FROM_TO(name, OP, from, i8)							\
DEFINE_CHAIN_FROM_TO(name, OP, from, f16)							\
DEFINE_CHAIN_FROM_TO(name, OP, from, bf16)							\
DEFINE_CHAIN_FROM_TO(name, OP, from, f32)							\
DEFINE_CHAIN_KERNEL(streaming_##name##_##from, OP, from, load_uniform, stream_four_f32)

#define DEFINE_CHAIN(name, OP)									\
DEFINE_CHAIN_FROM(name, OP, u8)									\
DEFINE_CHAIN_FROM(name, OP, i8)									\
DEFINE_CHAIN_FROM(name, OP, f16)								\
DEFINE_CHAIN_FROM(name, OP, bf16)								\
DEFINE_CHAIN_FROM(name, OP, f32)

DEFINE_CHAIN(mul_add, MUL_ADD)
DEFINE_CHAIN(sub_mul, SUB_MUL)
DEFINE_CHAIN(fma, fma_float)

/* --- the table ------------------------------------------------------------------------------- */

#define SMALL_INTEGERS(name)									\
	[ENGINE_U8] = name##_u8, [ENGINE_U16] = name##_u16,					\
	[ENGINE_I8] = name##_i8, [ENGINE_I16] = name##_i16
#define INTEGERS(name)										\
	SMALL_INTEGERS(name), [ENGINE_U32] = name##_u32, [ENGINE_I32] = name##_i32
#define FLOATS(name)										\
	[ENGINE_F16] = name##_f16, [ENGINE_BF16] = name##_bf16, [ENGINE_F32] = name##_f32
#define BITS_OF_FLOATS(name)									\
	[ENGINE_F16] = name##_16, [ENGINE_BF16] = name##_16, [ENGINE_F32] = name##_f32
#define TYPES(name)	{ INTEGERS(name), FLOATS(name) }

#define TO_INTEGERS(name, suffix)								\
	[ENGINE_U8] = name##_to_8##suffix, [ENGINE_I8] = name##_to_8##suffix,			\
	[ENGINE_U16] = name##_to_16##suffix, [ENGINE_I16] = name##_to_16##suffix,		\
	[ENGINE_U32] = name##_to_32##suffix, [ENGINE_I32] = name##_to_32##suffix
#define TO_SATURATED(name, suffix)								\
	[ENGINE_U8] = name##_to_u8_sat##suffix, [ENGINE_I8] = name##_to_i8_sat##suffix,		\
	[ENGINE_U16] = name##_to_u16_sat##suffix, [ENGINE_I16] = name##_to_i16_sat##suffix,	\
	[ENGINE_I32] = name##_to_i32_sat##suffix
#define TO_FLOATS(name)										\
	[ENGINE_F16] = name##_to_f16, [ENGINE_BF16] = name##_to_bf16,				\
	[ENGINE_F32] = name##_to_f32

#define CHAIN_FROM(name)									\
	{ [ENGINE_U8] = name##_u8, [ENGINE_I8] = name##_i8, FLOATS(name) }
#define CHAIN(name)										\
	{											\
		[ENGINE_U8] = CHAIN_FROM(name##_u8), [ENGINE_I8] = CHAIN_FROM(name##_i8),	\
		[ENGINE_F16] = CHAIN_FROM(name##_f16), [ENGINE_BF16] = CHAIN_FROM(name##_bf16),	\
		[ENGINE_F32] = CHAIN_FROM(name##_f32),						\
	}

#define SATURATE	DRM_TESSERA_INSTRUCTION_SATURATE
#define TRUNCATE	DRM_TESSERA_INSTRUCTION_TRUNCATE

const struct engine_compute_kernels TABLE = {
	.simpler = &engine_compute_portable,
	.arithmetic = {
		[DRM_TESSERA_OP_ADD] = TYPES(add),
		[DRM_TESSERA_OP_SUB] = TYPES(sub),
		[DRM_TESSERA_OP_MUL] = TYPES(mul),
		[DRM_TESSERA_OP_FMA] = TYPES(fma),
		[DRM_TESSERA_OP_MIN] = TYPES(min),
		[DRM_TESSERA_OP_MAX] = TYPES(max),
		[DRM_TESSERA_OP_NEG] = { INTEGERS(neg), BITS_OF_FLOATS(neg) },
		[DRM_TESSERA_OP_ABS] = { INTEGERS(abs), BITS_OF_FLOATS(abs) },
	},
	.saturating = {
		[DRM_TESSERA_OP_ADD] = { INTEGERS(add_sat) },
		[DRM_TESSERA_OP_SUB] = { INTEGERS(sub_sat) },
		[DRM_TESSERA_OP_MUL] = { SMALL_INTEGERS(mul_sat) },
		[DRM_TESSERA_OP_FMA] = { SMALL_INTEGERS(fma_sat) },
		[DRM_TESSERA_OP_NEG] = {
			[ENGINE_I8] = neg_sat_i8, [ENGINE_I16] = neg_sat_i16,
			[ENGINE_I32] = neg_sat_i32,
		},
		[DRM_TESSERA_OP_ABS] = {
			[ENGINE_I8] = abs_sat_i8, [ENGINE_I16] = abs_sat_i16,
			[ENGINE_I32] = abs_sat_i32,
		},
	},
	.comparing = {
		[DRM_TESSERA_PREDICATE_EQ] = TYPES(eq),
		[DRM_TESSERA_PREDICATE_NE] = TYPES(ne),
		[DRM_TESSERA_PREDICATE_LT] = TYPES(lt),
		[DRM_TESSERA_PREDICATE_LE] = TYPES(le),
		[DRM_TESSERA_PREDICATE_GT] = TYPES(gt),
		[DRM_TESSERA_PREDICATE_GE] = TYPES(ge),
	},
	.selecting = { select_8, select_16, select_32 },
	.chains = {
		[ENGINE_CHAIN_MUL_ADD] = CHAIN(mul_add),
		[ENGINE_CHAIN_SUB_MUL] = CHAIN(sub_mul),
		[ENGINE_CHAIN_FMA] = CHAIN(fma),
	},
	.uniform_chains = {
		[ENGINE_CHAIN_MUL_ADD] = CHAIN(uniform_mul_add),
		[ENGINE_CHAIN_SUB_MUL] = CHAIN(uniform_sub_mul),
		[ENGINE_CHAIN_FMA] = CHAIN(uniform_fma),
	},
	.streaming_chains = {
		[ENGINE_CHAIN_MUL_ADD] = CHAIN_FROM(streaming_mul_add),
		[ENGINE_CHAIN_SUB_MUL] = CHAIN_FROM(streaming_sub_mul),
		[ENGINE_CHAIN_FMA] = CHAIN_FROM(streaming_fma),
	},
	.casting = {
		[0] = {
			[ENGINE_U8] = { TO_INTEGERS(u8, ), TO_FLOATS(u8) },
			[ENGINE_U16] = { TO_INTEGERS(u16, ), TO_FLOATS(u16) },
			[ENGINE_U32] = { TO_INTEGERS(u32, ) },
			[ENGINE_I8] = { TO_INTEGERS(i8, ), TO_FLOATS(i8) },
			[ENGINE_I16] = { TO_INTEGERS(i16, ), TO_FLOATS(i16) },
			[ENGINE_I32] = { TO_INTEGERS(i32, ), TO_FLOATS(i32) },
			[ENGINE_F16] = { TO_INTEGERS(f16, _nearest), TO_FLOATS(f16) },
			[ENGINE_BF16] = { TO_INTEGERS(bf16, _nearest), TO_FLOATS(bf16) },
			[ENGINE_F32] = { TO_INTEGERS(f32, _nearest), TO_FLOATS(f32) },
		},
		[SATURATE] = {
			[ENGINE_U8] = { TO_SATURATED(u8, ), [ENGINE_U32] = u8_to_32 },
			[ENGINE_U16] = { TO_SATURATED(u16, ), [ENGINE_U32] = u16_to_32 },
			[ENGINE_U32] = { TO_SATURATED(u32, ), [ENGINE_U32] = u32_to_32 },
			[ENGINE_I8] = { TO_SATURATED(i8, ), [ENGINE_U32] = i8_to_u32_sat },
			[ENGINE_I16] = { TO_SATURATED(i16, ), [ENGINE_U32] = i16_to_u32_sat },
			[ENGINE_I32] = { TO_SATURATED(i32, ), [ENGINE_U32] = i32_to_u32_sat },
			[ENGINE_F16] = { TO_SATURATED(f16, _nearest) },
			[ENGINE_BF16] = { TO_SATURATED(bf16, _nearest) },
			[ENGINE_F32] = { TO_SATURATED(f32, _nearest) },
		},
		[TRUNCATE] = {
			[ENGINE_F16] = { TO_INTEGERS(f16, _truncated) },
			[ENGINE_BF16] = { TO_INTEGERS(bf16, _truncated) },
			[ENGINE_F32] = { TO_INTEGERS(f32, _truncated) },
		},
		[SATURATE | TRUNCATE] = {
			[ENGINE_F16] = { TO_SATURATED(f16, _truncated) },
			[ENGINE_BF16] = { TO_SATURATED(bf16, _truncated) },
			[ENGINE_F32] = { TO_SATURATED(f32, _truncated) },
		},
	},
};
