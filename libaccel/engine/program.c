// SPDX-License-Identifier: MIT
/*
 * Instructions over strips of elements: a kernel for each opcode, type and way of rounding or
 * wrapping, made by macros and found in tables. CAST takes two steps, through the widest type of
 * the class (u64, i64 or f64), which holds every value of its class exactly.
 */
#include <stdbool.h>
#include <stddef.h>

#include "dtype.h"
#include "float.h"
#include "plan.h"
#include "program.h"

#define UNUSED	__attribute__((unused))

#define DEFINE_KERNEL(name, field, expression)							\
static void name(union engine_strip *restrict dst,						\
		 UNUSED const union engine_strip *restrict sa,					\
		 UNUSED const union engine_strip *restrict sb,					\
		 UNUSED const union engine_strip *restrict sc, uint32_t count)			\
{												\
	for (uint32_t i = 0; i < count; i++)							\
		dst->field[i] = (expression);							\
}

/*
 * Integers. Sums and products are computed in a wider type (W: of the same sign, for add, sub,
 * mul and fma) and then wrapped by conversion or saturated by comparison.
 */
#define SATURATE_SIGNED(W, value, low, high) \
	({ W exact_ = (value); exact_ < (low) ? (low) : exact_ > (high) ? (high) : exact_; })
#define SATURATE_UNSIGNED(W, value, high) \
	({ W exact_ = (value); exact_ > (high) ? (high) : exact_; })

#define DEFINE_SIGNED(T, U, C, W, low, high)							\
DEFINE_KERNEL(add_##T, T, (C)((U)sa->T[i] + (U)sb->T[i]))					\
DEFINE_KERNEL(sub_##T, T, (C)((U)sa->T[i] - (U)sb->T[i]))					\
DEFINE_KERNEL(mul_##T, T, (C)((U)sa->T[i] * (U)sb->T[i]))					\
DEFINE_KERNEL(fma_##T, T, (C)((U)sa->T[i] * (U)sb->T[i] + (U)sc->T[i]))			\
DEFINE_KERNEL(neg_##T, T, (C)(-(U)sa->T[i]))							\
DEFINE_KERNEL(abs_##T, T, (C)(sa->T[i] < 0 ? -(U)sa->T[i] : (U)sa->T[i]))			\
DEFINE_KERNEL(add_sat_##T, T, (C)SATURATE_SIGNED(W, (W)sa->T[i] + sb->T[i], low, high))	\
DEFINE_KERNEL(sub_sat_##T, T, (C)SATURATE_SIGNED(W, (W)sa->T[i] - sb->T[i], low, high))	\
DEFINE_KERNEL(mul_sat_##T, T, (C)SATURATE_SIGNED(W, (W)sa->T[i] * sb->T[i], low, high))	\
DEFINE_KERNEL(fma_sat_##T, T,									\
	      (C)SATURATE_SIGNED(W, (W)sa->T[i] * sb->T[i] + sc->T[i], low, high))		\
DEFINE_KERNEL(neg_sat_##T, T, (C)(sa->T[i] == (low) ? (high) : -sa->T[i]))			\
DEFINE_KERNEL(abs_sat_##T, T,									\
	      (C)(sa->T[i] == (low) ? (high) : sa->T[i] < 0 ? -sa->T[i] : sa->T[i]))

#define DEFINE_UNSIGNED(T, U, C, W, high)							\
DEFINE_KERNEL(add_##T, T, (C)((U)sa->T[i] + sb->T[i]))						\
DEFINE_KERNEL(sub_##T, T, (C)((U)sa->T[i] - sb->T[i]))						\
DEFINE_KERNEL(mul_##T, T, (C)((U)sa->T[i] * sb->T[i]))						\
DEFINE_KERNEL(fma_##T, T, (C)((U)sa->T[i] * sb->T[i] + sc->T[i]))				\
DEFINE_KERNEL(neg_##T, T, (C)(-(U)sa->T[i]))							\
DEFINE_KERNEL(abs_##T, T, sa->T[i])								\
DEFINE_KERNEL(add_sat_##T, T, (C)SATURATE_UNSIGNED(W, (W)sa->T[i] + sb->T[i], high))		\
DEFINE_KERNEL(sub_sat_##T, T, (C)(sa->T[i] > sb->T[i] ? sa->T[i] - sb->T[i] : 0))		\
DEFINE_KERNEL(mul_sat_##T, T, (C)SATURATE_UNSIGNED(W, (W)sa->T[i] * sb->T[i], high))		\
DEFINE_KERNEL(fma_sat_##T, T,									\
	      (C)SATURATE_UNSIGNED(W, (W)sa->T[i] * sb->T[i] + sc->T[i], high))			\
DEFINE_KERNEL(neg_sat_##T, T, (C)0)

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
DEFINE_KERNEL(min_##T, T, sa->T[i] < sb->T[i] ? sa->T[i] : sb->T[i])				\
DEFINE_KERNEL(max_##T, T, sa->T[i] > sb->T[i] ? sa->T[i] : sb->T[i])

#define DEFINE_COMPARISONS(name, a, b)								\
DEFINE_KERNEL(eq_##name, u8, (a) == (b))							\
DEFINE_KERNEL(ne_##name, u8, (a) != (b))							\
DEFINE_KERNEL(lt_##name, u8, (a) < (b))								\
DEFINE_KERNEL(le_##name, u8, (a) <= (b))							\
DEFINE_KERNEL(gt_##name, u8, (a) > (b))								\
DEFINE_KERNEL(ge_##name, u8, (a) >= (b))

#define DEFINE_INTEGER(T)									\
DEFINE_INTEGER_ORDER(T)										\
DEFINE_COMPARISONS(T, sa->T[i], sb->T[i])

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
DEFINE_KERNEL(add_##name, u16, narrow(widen(sa->u16[i]) + widen(sb->u16[i])))			\
DEFINE_KERNEL(sub_##name, u16, narrow(widen(sa->u16[i]) - widen(sb->u16[i])))			\
DEFINE_KERNEL(mul_##name, u16, narrow(widen(sa->u16[i]) * widen(sb->u16[i])))			\
DEFINE_KERNEL(fma_##name, u16, narrow(engine_add_odd_f64(					\
	      widen(sa->u16[i]) * widen(sb->u16[i]), widen(sc->u16[i]))))			\
DEFINE_COMPARISONS(name, widen(sa->u16[i]), widen(sb->u16[i]))

DEFINE_SMALL_FLOAT(f16, F16, engine_f16_of_f64)
DEFINE_SMALL_FLOAT(bf16, BF16, engine_bf16_of_f64)

DEFINE_KERNEL(add_f32, f32, engine_f32_result(sa->f32[i] + sb->f32[i]))
DEFINE_KERNEL(sub_f32, f32, engine_f32_result(sa->f32[i] - sb->f32[i]))
DEFINE_KERNEL(mul_f32, f32, engine_f32_result(sa->f32[i] * sb->f32[i]))
DEFINE_KERNEL(fma_f32, f32, engine_f32_result((float)engine_add_odd_f64(
	      (double)sa->f32[i] * sb->f32[i], sc->f32[i])))
DEFINE_COMPARISONS(f32, sa->f32[i], sb->f32[i])

DEFINE_KERNEL(add_f64, f64, engine_f64_result(sa->f64[i] + sb->f64[i]))
DEFINE_KERNEL(sub_f64, f64, engine_f64_result(sa->f64[i] - sb->f64[i]))
DEFINE_KERNEL(mul_f64, f64, engine_f64_result(sa->f64[i] * sb->f64[i]))
DEFINE_KERNEL(fma_f64, f64, engine_f64_result(__builtin_fma(sa->f64[i], sb->f64[i], sc->f64[i])))
DEFINE_COMPARISONS(f64, sa->f64[i], sb->f64[i])

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
	      is_nan_##name(sa->field[i]) || is_nan_##name(sb->field[i]) ? (nan) :		\
	      key_##name(sa->field[i]) < key_##name(sb->field[i]) ? sa->field[i] :		\
								      sb->field[i])		\
DEFINE_KERNEL(max_##name, field,								\
	      is_nan_##name(sa->field[i]) || is_nan_##name(sb->field[i]) ? (nan) :		\
	      key_##name(sa->field[i]) > key_##name(sb->field[i]) ? sa->field[i] :		\
								      sb->field[i])		\
DEFINE_KERNEL(neg_##name, field, sa->field[i] ^ (U)((U)1 << (8 * sizeof(U) - 1)))		\
DEFINE_KERNEL(abs_##name, field, sa->field[i] & (U)((U)-1 >> 1))

DEFINE_FLOAT_ORDER(f16, u16, uint16_t, int16_t, 0x7c00, ENGINE_NAN_F16)
DEFINE_FLOAT_ORDER(bf16, u16, uint16_t, int16_t, 0x7f80, ENGINE_NAN_BF16)
DEFINE_FLOAT_ORDER(f32, u32, uint32_t, int32_t, 0x7f800000, ENGINE_NAN_F32)
DEFINE_FLOAT_ORDER(f64, u64, uint64_t, int64_t, 0x7ff0000000000000, ENGINE_NAN_F64)

/* SELECT copies bits: one for each size. */
DEFINE_KERNEL(select_u8, u8, sa->u8[i] ? sb->u8[i] : sc->u8[i])
DEFINE_KERNEL(select_u16, u16, sa->u8[i] ? sb->u16[i] : sc->u16[i])
DEFINE_KERNEL(select_u32, u32, sa->u8[i] ? sb->u32[i] : sc->u32[i])
DEFINE_KERNEL(select_u64, u64, sa->u8[i] ? sb->u64[i] : sc->u64[i])

/* CAST, first step: to the widest type of the class. */
DEFINE_KERNEL(widen_u8, u64, sa->u8[i])
DEFINE_KERNEL(widen_u16, u64, sa->u16[i])
DEFINE_KERNEL(widen_u32, u64, sa->u32[i])
DEFINE_KERNEL(widen_u64, u64, sa->u64[i])
DEFINE_KERNEL(widen_i8, i64, sa->i8[i])
DEFINE_KERNEL(widen_i16, i64, sa->i16[i])
DEFINE_KERNEL(widen_i32, i64, sa->i32[i])
DEFINE_KERNEL(widen_i64, i64, sa->i64[i])
DEFINE_KERNEL(widen_f16, f64, F16(sa->u16[i]))
DEFINE_KERNEL(widen_bf16, f64, BF16(sa->u16[i]))
DEFINE_KERNEL(widen_f32, f64, sa->f32[i])
DEFINE_KERNEL(widen_f64, f64, sa->f64[i])

/* CAST, second step: from there to any type. */
#define SATURATE_F64(T, value, low, high, limit)						\
	({ double whole_ = (value);								\
	   whole_ != whole_ ? 0 : whole_ <= (double)(low) ? (low) :				\
	   whole_ >= (limit) ? (high) : (T)whole_; })

/* limit is the first double above high, which need not be one itself */
#define DEFINE_TO_INTEGER(name, T, low, high, limit)						\
DEFINE_KERNEL(name##_of_u64, name, (T)sa->u64[i])						\
DEFINE_KERNEL(name##_of_i64, name, (T)sa->i64[i])						\
DEFINE_KERNEL(name##_of_f64, name, (T)engine_wrap_f64(engine_round_f64(sa->f64[i])))		\
DEFINE_KERNEL(name##_of_f64_truncate, name,							\
	      (T)engine_wrap_f64(engine_truncate_f64(sa->f64[i])))				\
DEFINE_KERNEL(name##_of_f64_sat, name,								\
	      SATURATE_F64(T, engine_round_f64(sa->f64[i]), low, high, limit))			\
DEFINE_KERNEL(name##_of_f64_truncate_sat, name,							\
	      SATURATE_F64(T, engine_truncate_f64(sa->f64[i]), low, high, limit))		\
DEFINE_KERNEL(name##_of_u64_sat, name, sa->u64[i] > (uint64_t)(high) ? (high) : (T)sa->u64[i])	\
DEFINE_KERNEL(name##_of_i64_sat, name, (T)SATURATE_SIGNED(__int128, sa->i64[i], low, high))

DEFINE_TO_INTEGER(u8, uint8_t, 0, UINT8_MAX, 0x1p8)
DEFINE_TO_INTEGER(u16, uint16_t, 0, UINT16_MAX, 0x1p16)
DEFINE_TO_INTEGER(u32, uint32_t, 0, UINT32_MAX, 0x1p32)
DEFINE_TO_INTEGER(u64, uint64_t, 0, UINT64_MAX, 0x1p64)
DEFINE_TO_INTEGER(i8, int8_t, INT8_MIN, INT8_MAX, 0x1p7)
DEFINE_TO_INTEGER(i16, int16_t, INT16_MIN, INT16_MAX, 0x1p15)
DEFINE_TO_INTEGER(i32, int32_t, INT32_MIN, INT32_MAX, 0x1p31)
DEFINE_TO_INTEGER(i64, int64_t, INT64_MIN, INT64_MAX, 0x1p63)

DEFINE_KERNEL(f16_of_u64, u16, engine_f16_of_f64(engine_odd_f64_of_u64(sa->u64[i])))
DEFINE_KERNEL(f16_of_i64, u16, engine_f16_of_f64(engine_odd_f64_of_i64(sa->i64[i])))
DEFINE_KERNEL(f16_of_f64, u16, engine_f16_of_f64(sa->f64[i]))
DEFINE_KERNEL(bf16_of_u64, u16, engine_bf16_of_f64(engine_odd_f64_of_u64(sa->u64[i])))
DEFINE_KERNEL(bf16_of_i64, u16, engine_bf16_of_f64(engine_odd_f64_of_i64(sa->i64[i])))
DEFINE_KERNEL(bf16_of_f64, u16, engine_bf16_of_f64(sa->f64[i]))
DEFINE_KERNEL(f32_of_u64, f32, (float)engine_odd_f64_of_u64(sa->u64[i]))
DEFINE_KERNEL(f32_of_i64, f32, (float)engine_odd_f64_of_i64(sa->i64[i]))
DEFINE_KERNEL(f32_of_f64, f32, engine_f32_result((float)sa->f64[i]))
DEFINE_KERNEL(f64_of_u64, f64, (double)sa->u64[i])
DEFINE_KERNEL(f64_of_i64, f64, (double)sa->i64[i])
DEFINE_KERNEL(f64_of_f64, f64, engine_f64_result(sa->f64[i]))

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

static engine_strip_kernel *const arithmetic[][ENGINE_NUM_TYPES] = {
	[DRM_TESSERA_OP_ADD] = TYPES(add),
	[DRM_TESSERA_OP_SUB] = TYPES(sub),
	[DRM_TESSERA_OP_MUL] = TYPES(mul),
	[DRM_TESSERA_OP_FMA] = TYPES(fma),
	[DRM_TESSERA_OP_MIN] = TYPES(min),
	[DRM_TESSERA_OP_MAX] = TYPES(max),
	[DRM_TESSERA_OP_NEG] = TYPES(neg),
	[DRM_TESSERA_OP_ABS] = TYPES(abs),
};

static engine_strip_kernel *const saturating[][ENGINE_NUM_TYPES] = {
	[DRM_TESSERA_OP_ADD] = { INTEGERS(add_sat) },
	[DRM_TESSERA_OP_SUB] = { INTEGERS(sub_sat) },
	[DRM_TESSERA_OP_MUL] = { INTEGERS(mul_sat) },
	[DRM_TESSERA_OP_FMA] = { INTEGERS(fma_sat) },
	[DRM_TESSERA_OP_NEG] = { INTEGERS(neg_sat) },
	[DRM_TESSERA_OP_ABS] = { INTEGERS(abs_sat) },
};

static engine_strip_kernel *const comparing[][ENGINE_NUM_TYPES] = {
	[DRM_TESSERA_PREDICATE_EQ] = TYPES(eq),
	[DRM_TESSERA_PREDICATE_NE] = TYPES(ne),
	[DRM_TESSERA_PREDICATE_LT] = TYPES(lt),
	[DRM_TESSERA_PREDICATE_LE] = TYPES(le),
	[DRM_TESSERA_PREDICATE_GT] = TYPES(gt),
	[DRM_TESSERA_PREDICATE_GE] = TYPES(ge),
};

static engine_strip_kernel *const selecting[] = { select_u8, select_u16, select_u32, select_u64 };

static engine_strip_kernel *const widening[ENGINE_NUM_TYPES] = TYPES(widen);

#define INTEGERS_OF(source)									\
	[ENGINE_U8] = u8_of_##source, [ENGINE_U16] = u16_of_##source,				\
	[ENGINE_U32] = u32_of_##source, [ENGINE_U64] = u64_of_##source,				\
	[ENGINE_I8] = i8_of_##source, [ENGINE_I16] = i16_of_##source,				\
	[ENGINE_I32] = i32_of_##source, [ENGINE_I64] = i64_of_##source
#define FLOATS_OF(source)									\
	[ENGINE_F16] = f16_of_##source, [ENGINE_BF16] = bf16_of_##source,			\
	[ENGINE_F32] = f32_of_##source, [ENGINE_F64] = f64_of_##source

enum wide { WIDE_U64, WIDE_I64, WIDE_F64, NUM_WIDE };

/* By class of the source, flags of the instruction and type of the result. */
static engine_strip_kernel *const narrowing[NUM_WIDE][4][ENGINE_NUM_TYPES] = {
	[WIDE_U64] = {
		[0] = { INTEGERS_OF(u64), FLOATS_OF(u64) },
		[DRM_TESSERA_INSTRUCTION_SATURATE] = { INTEGERS_OF(u64_sat) },
	},
	[WIDE_I64] = {
		[0] = { INTEGERS_OF(i64), FLOATS_OF(i64) },
		[DRM_TESSERA_INSTRUCTION_SATURATE] = { INTEGERS_OF(i64_sat) },
	},
	[WIDE_F64] = {
		[0] = { INTEGERS_OF(f64), FLOATS_OF(f64) },
		[DRM_TESSERA_INSTRUCTION_SATURATE] = { INTEGERS_OF(f64_sat) },
		[DRM_TESSERA_INSTRUCTION_TRUNCATE] = { INTEGERS_OF(f64_truncate) },
		[DRM_TESSERA_INSTRUCTION_SATURATE | DRM_TESSERA_INSTRUCTION_TRUNCATE] = {
			INTEGERS_OF(f64_truncate_sat)
		},
	},
};

static enum wide wide_of(enum engine_type type)
{
	return type <= ENGINE_U64 ? WIDE_U64 : type <= ENGINE_I64 ? WIDE_I64 : WIDE_F64;
}

/* Which strip each register owns, which one nobody does, and the type of each register. */
struct assignment {
	uint8_t strips[DRM_TESSERA_NUM_REGISTERS];
	uint8_t spare;
	enum engine_type types[DRM_TESSERA_NUM_REGISTERS];
};

/* CAST's intermediate; never a register's. */
#define WIDE_STRIP	(ENGINE_NUM_STRIPS - 1)

static engine_strip_kernel *find_kernel(const struct drm_tessera_instruction *instruction)
{
	enum engine_type type = engine_dtype_type(instruction->dtype);

	switch (instruction->opcode) {
	case DRM_TESSERA_OP_COMPARE:
		return comparing[instruction->predicate][type];
	case DRM_TESSERA_OP_SELECT:
		return selecting[instruction->dtype & DRM_TESSERA_DTYPE_SHIFT_MASK];
	default:
		return instruction->flags & DRM_TESSERA_INSTRUCTION_SATURATE ?
		       saturating[instruction->opcode][type] :
		       arithmetic[instruction->opcode][type];
	}
}

static void add_step(struct engine_program *program, const struct engine_step *step)
{
	program->steps[program->num_steps++] = *step;
}

static void add_cast(struct engine_program *program,
		     const struct drm_tessera_instruction *instruction, uint8_t dst, uint8_t src,
		     enum engine_type source)
{
	enum engine_type type = engine_dtype_type(instruction->dtype);

	add_step(program, &(struct engine_step){
		.kernel = widening[source], .dst = WIDE_STRIP, .src = { src },
	});
	add_step(program, &(struct engine_step){
		.kernel = narrowing[wide_of(source)][instruction->flags][type],
		.dst = dst, .src = { WIDE_STRIP },
	});
}

static void add_instruction(struct engine_program *program,
			    const struct drm_tessera_instruction *instruction,
			    struct assignment *assignment)
{
	uint8_t *owned = &assignment->strips[instruction->dst];
	uint8_t dst = assignment->spare;
	struct engine_step step = { .dst = dst };

	for (int s = 0; s < 3; s++)
		step.src[s] = assignment->strips[instruction->src[s]];
	if (instruction->opcode == DRM_TESSERA_OP_CONST) {
		step.immediate = instruction->immediate;
		step.immediate_shift = instruction->dtype & DRM_TESSERA_DTYPE_SHIFT_MASK;
		add_step(program, &step);
	} else if (instruction->opcode == DRM_TESSERA_OP_CAST) {
		add_cast(program, instruction, dst, step.src[0],
			 assignment->types[instruction->src[0]]);
	} else {
		step.kernel = find_kernel(instruction);
		add_step(program, &step);
	}
	assignment->spare = *owned;
	*owned = dst;
	assignment->types[instruction->dst] = instruction->opcode == DRM_TESSERA_OP_COMPARE ?
					      ENGINE_U8 : engine_dtype_type(instruction->dtype);
}

void engine_program_init(struct engine_program *program,
			 const struct drm_tessera_instruction *instructions, uint32_t count,
			 const uint32_t *dtypes, uint32_t num_sources)
{
	struct assignment assignment = { .spare = DRM_TESSERA_NUM_REGISTERS };

	for (uint8_t r = 0; r < DRM_TESSERA_NUM_REGISTERS; r++)
		assignment.strips[r] = r;
	for (uint32_t k = 0; k < num_sources; k++)
		assignment.types[k] = engine_dtype_type(dtypes[k]);
	program->num_steps = 0;
	for (uint32_t n = 0; n < count; n++)
		add_instruction(program, &instructions[n], &assignment);
	program->result = assignment.strips[0];
}

static void fill_strip(union engine_strip *strip, const struct engine_step *step, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		memcpy(strip->bytes + ((size_t)i << step->immediate_shift), &step->immediate,
		       (size_t)1 << step->immediate_shift);
}

void engine_program_run(const struct engine_program *program, union engine_strip *strips,
			uint32_t count)
{
	for (uint32_t n = 0; n < program->num_steps; n++) {
		const struct engine_step *step = &program->steps[n];

		if (step->kernel)
			step->kernel(&strips[step->dst], &strips[step->src[0]],
				     &strips[step->src[1]], &strips[step->src[2]], count);
		else
			fill_strip(&strips[step->dst], step, count);
	}
}
