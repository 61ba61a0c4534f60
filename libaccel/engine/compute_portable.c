// SPDX-License-Identifier: MIT
/*
 * Portable kernels of instructions, and the complete table of them: a kernel for each opcode, type
 * and way of rounding or wrapping, made by macros. CAST takes two of them, through the widest type
 * of the class (u64, i64 or f64), which holds every value of its class exactly.
 */
#include <stdbool.h>
#include <stddef.h>

#include "dtype.h"
#include "float.h"
#include "program.h"

/* Elements of a strip, which is bytes to everybody else, and may begin at any of them. */
#define DEFINE_ELEMENT(name, type) \
typedef __attribute__((may_alias, aligned(1))) type element_##name;

DEFINE_ELEMENT(u8, uint8_t)
DEFINE_ELEMENT(u16, uint16_t)
DEFINE_ELEMENT(u32, uint32_t)
DEFINE_ELEMENT(u64, uint64_t)
DEFINE_ELEMENT(i8, int8_t)
DEFINE_ELEMENT(i16, int16_t)
DEFINE_ELEMENT(i32, int32_t)
DEFINE_ELEMENT(i64, int64_t)
DEFINE_ELEMENT(f32, float)
DEFINE_ELEMENT(f64, double)

#define UNUSED	__attribute__((unused))

/* Element i of a source. */
#define A(field)	(((const element_##field *)a)[i])
#define B(field)	(((const element_##field *)b)[i])
#define C(field)	(((const element_##field *)c)[i])

#define DEFINE_KERNEL(name, field, expression)							\
static void name(void *restrict dst, UNUSED const void *restrict a,				\
		 UNUSED const void *restrict b, UNUSED const void *restrict c, uint32_t count)	\
{												\
	element_##field *restrict results = dst;						\
												\
	for (uint32_t i = 0; i < count; i++)							\
		results[i] = (expression);							\
}

/*
 * Integers. Sums and products are computed in a wider type (W: of the same sign, for add, sub,
 * mul and fma) and then wrapped by conversion or saturated by comparison.
 */
#define SATURATE_SIGNED(W, value, low, high) \
	({ W exact_ = (value); exact_ < (low) ? (low) : exact_ > (high) ? (high) : exact_; })
#define SATURATE_UNSIGNED(W, value, high) \
	({ W exact_ = (value); exact_ > (high) ? (high) : exact_; })

#define DEFINE_SIGNED(T, U, R, W, low, high)							\
DEFINE_KERNEL(add_##T, T, (R)((U)A(T) + (U)B(T)))						\
DEFINE_KERNEL(sub_##T, T, (R)((U)A(T) - (U)B(T)))						\
DEFINE_KERNEL(mul_##T, T, (R)((U)A(T) * (U)B(T)))						\
DEFINE_KERNEL(fma_##T, T, (R)((U)A(T) * (U)B(T) + (U)C(T)))					\
DEFINE_KERNEL(neg_##T, T, (R)(-(U)A(T)))							\
DEFINE_KERNEL(abs_##T, T, (R)(A(T) < 0 ? -(U)A(T) : (U)A(T)))					\
DEFINE_KERNEL(add_sat_##T, T, (R)SATURATE_SIGNED(W, (W)A(T) + B(T), low, high))			\
DEFINE_KERNEL(sub_sat_##T, T, (R)SATURATE_SIGNED(W, (W)A(T) - B(T), low, high))			\
DEFINE_KERNEL(mul_sat_##T, T, (R)SATURATE_SIGNED(W, (W)A(T) * B(T), low, high))			\
DEFINE_KERNEL(fma_sat_##T, T,									\
	      (R)SATURATE_SIGNED(W, (W)A(T) * B(T) + C(T), low, high))				\
DEFINE_KERNEL(neg_sat_##T, T, (R)(A(T) == (low) ? (high) : -A(T)))				\
DEFINE_KERNEL(abs_sat_##T, T,									\
	      (R)(A(T) == (low) ? (high) : A(T) < 0 ? -A(T) : A(T)))

#define DEFINE_UNSIGNED(T, U, R, W, high)							\
DEFINE_KERNEL(add_##T, T, (R)((U)A(T) + B(T)))							\
DEFINE_KERNEL(sub_##T, T, (R)((U)A(T) - B(T)))							\
DEFINE_KERNEL(mul_##T, T, (R)((U)A(T) * B(T)))							\
DEFINE_KERNEL(fma_##T, T, (R)((U)A(T) * B(T) + C(T)))						\
DEFINE_KERNEL(neg_##T, T, (R)(-(U)A(T)))							\
DEFINE_KERNEL(abs_##T, T, A(T))									\
DEFINE_KERNEL(add_sat_##T, T, (R)SATURATE_UNSIGNED(W, (W)A(T) + B(T), high))			\
DEFINE_KERNEL(sub_sat_##T, T, (R)(A(T) > B(T) ? A(T) - B(T) : 0))				\
DEFINE_KERNEL(mul_sat_##T, T, (R)SATURATE_UNSIGNED(W, (W)A(T) * B(T), high))			\
DEFINE_KERNEL(fma_sat_##T, T,									\
	      (R)SATURATE_UNSIGNED(W, (W)A(T) * B(T) + C(T), high))				\
DEFINE_KERNEL(neg_sat_##T, T, (R)0)

#define abs_sat_u8	abs_u8
#define abs_sat_u16	abs_u16
#define abs_sat_u32	abs_u32
#define abs_sat_u64	abs_u64

/* U is at least as wide as unsigned int: narrower types would be promoted to int and overflow. */
DEFINE_SIGNED(i8, uint32_t, int8_t, int32_t, INT8_MIN, INT8_MAX)
DEFINE_SIGNED(i16, uint32_t, int16_t, int64_t, INT16_MIN, INT16_MAX)
DEFINE_SIGNED(i32, uint32_t, int32_t, int64_t, INT32_MIN, INT32_MAX)
DEFINE_SIGNED(i64, uint64_t, int64_t, __int128, INT64_MIN, INT64_MAX)
DEFINE_UNSIGNED(u8, uint32_t, uint8_t, uint32_t, UINT8_MAX)
DEFINE_UNSIGNED(u16, uint32_t, uint16_t, uint64_t, UINT16_MAX)
DEFINE_UNSIGNED(u32, uint32_t, uint32_t, uint64_t, UINT32_MAX)
DEFINE_UNSIGNED(u64, uint64_t, uint64_t, unsigned __int128, UINT64_MAX)

#define DEFINE_INTEGER_ORDER(T)									\
DEFINE_KERNEL(min_##T, T, A(T) < B(T) ? A(T) : B(T))						\
DEFINE_KERNEL(max_##T, T, A(T) > B(T) ? A(T) : B(T))

#define DEFINE_COMPARISONS(name, a, b)								\
DEFINE_KERNEL(eq_##name, u8, (a) == (b))							\
DEFINE_KERNEL(ne_##name, u8, (a) != (b))							\
DEFINE_KERNEL(lt_##name, u8, (a) < (b))								\
DEFINE_KERNEL(le_##name, u8, (a) <= (b))							\
DEFINE_KERNEL(gt_##name, u8, (a) > (b))								\
DEFINE_KERNEL(ge_##name, u8, (a) >= (b))

#define DEFINE_INTEGER(T)									\
DEFINE_INTEGER_ORDER(T)										\
DEFINE_COMPARISONS(T, A(T), B(T))

DEFINE_INTEGER(u8)
DEFINE_INTEGER(u16)
DEFINE_INTEGER(u32)
DEFINE_INTEGER(u64)
DEFINE_INTEGER(i8)
DEFINE_INTEGER(i16)
DEFINE_INTEGER(i32)
DEFINE_INTEGER(i64)

/*
 * Floats. Sums of f16 are exact in double, as are products of f16 and bf16. Sums of bf16 are not,
 * but double has more than twice its digits and two, so that rounding them twice does no harm (S.
 * Figueroa, "When is double rounding innocuous?", 1995). The products of fma are exact in double
 * for all but f64; the sum is rounded to odd before it is rounded to the type.
 */
#define F16(bits)	engine_f64_of_f16(bits)
#define BF16(bits)	engine_f64_of_bf16(bits)

#define DEFINE_SMALL_FLOAT(name, widen, narrow)							\
DEFINE_KERNEL(add_##name, u16, narrow(widen(A(u16)) + widen(B(u16))))				\
DEFINE_KERNEL(sub_##name, u16, narrow(widen(A(u16)) - widen(B(u16))))				\
DEFINE_KERNEL(mul_##name, u16, narrow(widen(A(u16)) * widen(B(u16))))				\
DEFINE_KERNEL(fma_##name, u16, narrow(engine_add_odd_f64(					\
	      widen(A(u16)) * widen(B(u16)), widen(C(u16)))))					\
DEFINE_COMPARISONS(name, widen(A(u16)), widen(B(u16)))

DEFINE_SMALL_FLOAT(f16, F16, engine_f16_of_f64)
DEFINE_SMALL_FLOAT(bf16, BF16, engine_bf16_of_f64)

DEFINE_KERNEL(add_f32, f32, engine_f32_result(A(f32) + B(f32)))
DEFINE_KERNEL(sub_f32, f32, engine_f32_result(A(f32) - B(f32)))
DEFINE_KERNEL(mul_f32, f32, engine_f32_result(A(f32) * B(f32)))
DEFINE_KERNEL(fma_f32, f32, engine_f32_result((float)engine_add_odd_f64(
	      (double)A(f32) * B(f32), C(f32))))
DEFINE_COMPARISONS(f32, A(f32), B(f32))

DEFINE_KERNEL(add_f64, f64, engine_f64_result(A(f64) + B(f64)))
DEFINE_KERNEL(sub_f64, f64, engine_f64_result(A(f64) - B(f64)))
DEFINE_KERNEL(mul_f64, f64, engine_f64_result(A(f64) * B(f64)))
DEFINE_KERNEL(fma_f64, f64, engine_f64_result(__builtin_fma(A(f64), B(f64), C(f64))))
DEFINE_COMPARISONS(f64, A(f64), B(f64))

/*
 * MIN, MAX, NEG and ABS look at bits. As sign and magnitude, floats are ordered as integers are;
 * a key in two's complement orders -0 below +0.
 */
#define DEFINE_FLOAT_ORDER(name, field, U, S, infinity, nan)					\
static inline S key_##name(U bits)								\
{												\
	S top = (S)bits >> (8 * sizeof(S) - 1);							\
												\
	return (S)(bits ^ ((U)top >> 1));							\
}												\
												\
static inline bool is_nan_##name(U bits)							\
{												\
	return (U)(bits << 1) > (U)((U)(infinity) << 1);					\
}												\
												\
DEFINE_KERNEL(min_##name, field,								\
	      is_nan_##name(A(field)) || is_nan_##name(B(field)) ? (nan) :			\
	      key_##name(A(field)) < key_##name(B(field)) ? A(field) :				\
								      B(field))			\
DEFINE_KERNEL(max_##name, field,								\
	      is_nan_##name(A(field)) || is_nan_##name(B(field)) ? (nan) :			\
	      key_##name(A(field)) > key_##name(B(field)) ? A(field) :				\
								      B(field))			\
DEFINE_KERNEL(neg_##name, field, A(field) ^ (U)((U)1 << (8 * sizeof(U) - 1)))			\
DEFINE_KERNEL(abs_##name, field, A(field) & (U)((U)-1 >> 1))

DEFINE_FLOAT_ORDER(f16, u16, uint16_t, int16_t, 0x7c00, ENGINE_NAN_F16)
DEFINE_FLOAT_ORDER(bf16, u16, uint16_t, int16_t, 0x7f80, ENGINE_NAN_BF16)
DEFINE_FLOAT_ORDER(f32, u32, uint32_t, int32_t, 0x7f800000, ENGINE_NAN_F32)
DEFINE_FLOAT_ORDER(f64, u64, uint64_t, int64_t, 0x7ff0000000000000, ENGINE_NAN_F64)

/* SELECT copies bits: one for each size. */
DEFINE_KERNEL(select_u8, u8, A(u8) ? B(u8) : C(u8))
DEFINE_KERNEL(select_u16, u16, A(u8) ? B(u16) : C(u16))
DEFINE_KERNEL(select_u32, u32, A(u8) ? B(u32) : C(u32))
DEFINE_KERNEL(select_u64, u64, A(u8) ? B(u64) : C(u64))

/* CAST, first step: to the widest type of the class. */
DEFINE_KERNEL(widen_u8, u64, A(u8))
DEFINE_KERNEL(widen_u16, u64, A(u16))
DEFINE_KERNEL(widen_u32, u64, A(u32))
DEFINE_KERNEL(widen_u64, u64, A(u64))
DEFINE_KERNEL(widen_i8, i64, A(i8))
DEFINE_KERNEL(widen_i16, i64, A(i16))
DEFINE_KERNEL(widen_i32, i64, A(i32))
DEFINE_KERNEL(widen_i64, i64, A(i64))
DEFINE_KERNEL(widen_f16, f64, F16(A(u16)))
DEFINE_KERNEL(widen_bf16, f64, BF16(A(u16)))
DEFINE_KERNEL(widen_f32, f64, A(f32))
DEFINE_KERNEL(widen_f64, f64, A(f64))

/* CAST, second step: from there to any type. */
#define SATURATE_F64(T, value, low, high, limit)						\
	({ double whole_ = (value);								\
	   whole_ != whole_ ? 0 : whole_ <= (double)(low) ? (low) :				\
	   whole_ >= (limit) ? (high) : (T)whole_; })

/* limit is the first double above high, which need not be one itself */
#define DEFINE_TO_INTEGER(name, T, low, high, limit)						\
DEFINE_KERNEL(name##_of_u64, name, (T)A(u64))							\
DEFINE_KERNEL(name##_of_i64, name, (T)A(i64))							\
DEFINE_KERNEL(name##_of_f64, name, (T)engine_wrap_f64(engine_round_f64(A(f64))))		\
DEFINE_KERNEL(name##_of_f64_truncate, name,							\
	      (T)engine_wrap_f64(engine_truncate_f64(A(f64))))					\
DEFINE_KERNEL(name##_of_f64_sat, name,								\
	      SATURATE_F64(T, engine_round_f64(A(f64)), low, high, limit))			\
DEFINE_KERNEL(name##_of_f64_truncate_sat, name,							\
	      SATURATE_F64(T, engine_truncate_f64(A(f64)), low, high, limit))			\
DEFINE_KERNEL(name##_of_u64_sat, name, A(u64) > (uint64_t)(high) ? (high) : (T)A(u64))		\
DEFINE_KERNEL(name##_of_i64_sat, name, (T)SATURATE_SIGNED(__int128, A(i64), low, high))

DEFINE_TO_INTEGER(u8, uint8_t, 0, UINT8_MAX, 0x1p8)
DEFINE_TO_INTEGER(u16, uint16_t, 0, UINT16_MAX, 0x1p16)
DEFINE_TO_INTEGER(u32, uint32_t, 0, UINT32_MAX, 0x1p32)
DEFINE_TO_INTEGER(u64, uint64_t, 0, UINT64_MAX, 0x1p64)
DEFINE_TO_INTEGER(i8, int8_t, INT8_MIN, INT8_MAX, 0x1p7)
DEFINE_TO_INTEGER(i16, int16_t, INT16_MIN, INT16_MAX, 0x1p15)
DEFINE_TO_INTEGER(i32, int32_t, INT32_MIN, INT32_MAX, 0x1p31)
DEFINE_TO_INTEGER(i64, int64_t, INT64_MIN, INT64_MAX, 0x1p63)

DEFINE_KERNEL(f16_of_u64, u16, engine_f16_of_f64(engine_odd_f64_of_u64(A(u64))))
DEFINE_KERNEL(f16_of_i64, u16, engine_f16_of_f64(engine_odd_f64_of_i64(A(i64))))
DEFINE_KERNEL(f16_of_f64, u16, engine_f16_of_f64(A(f64)))
DEFINE_KERNEL(bf16_of_u64, u16, engine_bf16_of_f64(engine_odd_f64_of_u64(A(u64))))
DEFINE_KERNEL(bf16_of_i64, u16, engine_bf16_of_f64(engine_odd_f64_of_i64(A(i64))))
DEFINE_KERNEL(bf16_of_f64, u16, engine_bf16_of_f64(A(f64)))
DEFINE_KERNEL(f32_of_u64, f32, (float)engine_odd_f64_of_u64(A(u64)))
DEFINE_KERNEL(f32_of_i64, f32, (float)engine_odd_f64_of_i64(A(i64)))
DEFINE_KERNEL(f32_of_f64, f32, engine_f32_result((float)A(f64)))
DEFINE_KERNEL(f64_of_u64, f64, (double)A(u64))
DEFINE_KERNEL(f64_of_i64, f64, (double)A(i64))
DEFINE_KERNEL(f64_of_f64, f64, engine_f64_result(A(f64)))

/* Tables: a row for each class of instructions, a column for each type. */
#define INTEGERS(name)										\
	[ENGINE_U8] = name##_u8, [ENGINE_U16] = name##_u16,					\
	[ENGINE_U32] = name##_u32, [ENGINE_U64] = name##_u64,					\
	[ENGINE_I8] = name##_i8, [ENGINE_I16] = name##_i16,					\
	[ENGINE_I32] = name##_i32, [ENGINE_I64] = name##_i64
#define FLOATS(name)										\
	[ENGINE_F16] = name##_f16, [ENGINE_BF16] = name##_bf16,					\
	[ENGINE_F32] = name##_f32, [ENGINE_F64] = name##_f64
#define TYPES(name)	{ INTEGERS(name), FLOATS(name) }

#define INTEGERS_OF(source)									\
	[ENGINE_U8] = u8_of_##source, [ENGINE_U16] = u16_of_##source,				\
	[ENGINE_U32] = u32_of_##source, [ENGINE_U64] = u64_of_##source,				\
	[ENGINE_I8] = i8_of_##source, [ENGINE_I16] = i16_of_##source,				\
	[ENGINE_I32] = i32_of_##source, [ENGINE_I64] = i64_of_##source
#define FLOATS_OF(source)									\
	[ENGINE_F16] = f16_of_##source, [ENGINE_BF16] = bf16_of_##source,			\
	[ENGINE_F32] = f32_of_##source, [ENGINE_F64] = f64_of_##source

#define SATURATE	DRM_TESSERA_INSTRUCTION_SATURATE
#define TRUNCATE	DRM_TESSERA_INSTRUCTION_TRUNCATE

const struct engine_compute_kernels engine_compute_portable = {
	.arithmetic = {
		[DRM_TESSERA_OP_ADD] = TYPES(add),
		[DRM_TESSERA_OP_SUB] = TYPES(sub),
		[DRM_TESSERA_OP_MUL] = TYPES(mul),
		[DRM_TESSERA_OP_FMA] = TYPES(fma),
		[DRM_TESSERA_OP_MIN] = TYPES(min),
		[DRM_TESSERA_OP_MAX] = TYPES(max),
		[DRM_TESSERA_OP_NEG] = TYPES(neg),
		[DRM_TESSERA_OP_ABS] = TYPES(abs),
	},
	.saturating = {
		[DRM_TESSERA_OP_ADD] = { INTEGERS(add_sat) },
		[DRM_TESSERA_OP_SUB] = { INTEGERS(sub_sat) },
		[DRM_TESSERA_OP_MUL] = { INTEGERS(mul_sat) },
		[DRM_TESSERA_OP_FMA] = { INTEGERS(fma_sat) },
		[DRM_TESSERA_OP_NEG] = { INTEGERS(neg_sat) },
		[DRM_TESSERA_OP_ABS] = { INTEGERS(abs_sat) },
	},
	.comparing = {
		[DRM_TESSERA_PREDICATE_EQ] = TYPES(eq),
		[DRM_TESSERA_PREDICATE_NE] = TYPES(ne),
		[DRM_TESSERA_PREDICATE_LT] = TYPES(lt),
		[DRM_TESSERA_PREDICATE_LE] = TYPES(le),
		[DRM_TESSERA_PREDICATE_GT] = TYPES(gt),
		[DRM_TESSERA_PREDICATE_GE] = TYPES(ge),
	},
	.selecting = { select_u8, select_u16, select_u32, select_u64 },
	.widening = TYPES(widen),
	.narrowing = {
		[ENGINE_WIDE_U64] = {
			[0] = { INTEGERS_OF(u64), FLOATS_OF(u64) },
			[SATURATE] = { INTEGERS_OF(u64_sat) },
		},
		[ENGINE_WIDE_I64] = {
			[0] = { INTEGERS_OF(i64), FLOATS_OF(i64) },
			[SATURATE] = { INTEGERS_OF(i64_sat) },
		},
		[ENGINE_WIDE_F64] = {
			[0] = { INTEGERS_OF(f64), FLOATS_OF(f64) },
			[SATURATE] = { INTEGERS_OF(f64_sat) },
			[TRUNCATE] = { INTEGERS_OF(f64_truncate) },
			[SATURATE | TRUNCATE] = { INTEGERS_OF(f64_truncate_sat) },
		},
	},
};
