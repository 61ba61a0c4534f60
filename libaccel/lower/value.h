/* SPDX-License-Identifier: MIT */
/*
 * Values: the right-hand sides of definitions, trees over axes that are names. Knows nothing of
 * functions: which tensors there are, and of which types, is checked when a value is defined.
 */
#ifndef LOWER_VALUE_H
#define LOWER_VALUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <accel.h>

#define VALUE_MAX_DEPTH	256
#define VALUE_MAX_SIZE	4096	/* nodes, shared ones counted each time */

/* The variable that stands for the loaded index in the indices of a gather. */
#define VALUE_INDEX	"_"

enum value_kind {
	VALUE_LOAD,
	VALUE_CONSTANT,
	VALUE_OPERATE,
	VALUE_CHOOSE,		/* a where a condition over the axes holds, else b */
};

struct value_load {
	char tensor[ACCEL_NAME_MAX + 1];
	uint32_t num_indices;
	struct accel_expression *indices[ACCEL_MAX_DIMS];
	struct accel_expression *condition;	/* NULL: always */
	uint64_t padding[2];
	struct accel_value *index;		/* a load of an integer; NULL: no gather */
};

struct value_operate {
	uint8_t opcode;
	uint8_t flags;
	uint8_t predicate;
	struct accel_value *operands[3];
};

struct value_choose {
	struct accel_expression *condition;
	struct accel_value *operands[2];
};

/* Immutable. */
struct accel_value {
	atomic_uint refs;
	enum value_kind kind;
	enum accel_dtype dtype;		/* constants, operations; a load has that of its tensor */
	uint32_t depth;
	uint32_t size;
	union {
		struct value_load load;
		uint64_t bits[2];
		struct value_operate operate;
		struct value_choose choose;
	};
};

/* How many operands an opcode takes; 0: there is no such opcode, or it is CONST. */
unsigned int value_arity(enum accel_opcode opcode);

/* Operands of an operation or a choice. */
unsigned int value_num_operands(const struct accel_value *value);
struct accel_value *value_operand(const struct accel_value *value, unsigned int k);

/* A constant of 16 bytes; the bits beyond the type's size must be 0. */
int value_constant(enum accel_dtype dtype, const uint64_t bits[2], struct accel_value **value,
		   struct accel_error *error);

/*
 * A load with whatever it may have; what is given stays the caller's. condition, padding and index
 * may be NULL. With an index, the variable VALUE_INDEX stands for it in the indices.
 */
int value_load(const char *tensor, uint32_t num_indices, struct accel_expression *const *indices,
	       struct accel_expression *condition, const uint64_t padding[2],
	       struct accel_value *index, struct accel_value **value, struct accel_error *error);

/* a where condition is not 0, else b. */
int value_choose(struct accel_expression *condition, struct accel_value *a, struct accel_value *b,
		 struct accel_value **value, struct accel_error *error);

/* Whether the bits beyond those of an element of the type are 0. */
bool value_bits_fit(enum accel_dtype dtype, const uint64_t bits[2]);

static inline bool dtype_is_raw(enum accel_dtype dtype)
{
	return dtype >= ACCEL_DTYPE_RAW8;
}

static inline bool dtype_is_integer(enum accel_dtype dtype)
{
	return dtype >= ACCEL_DTYPE_U8 && dtype <= ACCEL_DTYPE_I64;
}

#endif /* LOWER_VALUE_H */
