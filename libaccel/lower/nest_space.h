/* SPDX-License-Identifier: MIT */
/*
 * What a nest is while it is lowered: affine forms over integer variables. A variable is a loop,
 * or a quotient that is to become loops. Every substitution is made in all forms at once. Knows
 * neither expressions nor jobs.
 */
#ifndef LOWER_NEST_SPACE_H
#define LOWER_NEST_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "layout/interval.h"
#include "lower/nest.h"

#define NEST_MAX_VARIABLES	48
#define NEST_MAX_OPERANDS	(1 + ACCEL_MAX_SOURCES)
/* The addresses of the operands, then those of their indices. */
#define NEST_MAX_STREAMS	(2 * NEST_MAX_OPERANDS)
#define NEST_MAX_CONSTRAINTS	(NEST_MAX_OPERANDS * LOWER_MAX_CONDITIONS + 64)

/* What functions here return besides 0 and -errno: no point is left, so that nothing is to do. */
#define NEST_EMPTY		1

/* constant + the sum of coefficients[v] * variable v */
struct nest_form {
	int64_t constant;
	int64_t coefficients[NEST_MAX_VARIABLES];
};

enum nest_variable_kind {
	NEST_UNUSED = 0,	/* no form has a coefficient for it */
	NEST_LOOP,
	NEST_QUOTIENT,		/* numerator // divisor */
};

struct nest_variable {
	enum nest_variable_kind kind;
	struct interval range;
	uint32_t axis;				/* loops: the nest's axis that it comes from */
	struct nest_form numerator;
	int64_t divisor;			/* at least 2 */
	uint32_t owner;				/* operand in whose table it goes, or NEST_SHARED */
	const struct accel_expression *origin;	/* what is divided so, for notes; borrowed */
};

#define NEST_SHARED		UINT32_MAX

/* 0 <= value < limit, for the operands in the mask. For all: other points are not visited. */
struct nest_constraint {
	struct nest_form value;
	int64_t limit;
	uint32_t operands;
};

struct nest_space {
	uint32_t num_operands;
	uint32_t num_variables;			/* used ones are below */
	uint32_t num_loops;
	uint32_t loops[NEST_MAX_VARIABLES];	/* outermost first */
	uint32_t num_constraints;
	uint32_t max_constraints;		/* that constraints has room for */
	struct nest_constraint *constraints;
	uint32_t never_loaded;			/* sources whose conditions hold nowhere */
	struct interval targets[NEST_MAX_STREAMS];	/* where the streams are known to stay */
	uint32_t tables[NEST_MAX_OPERANDS];	/* 1 + the one that the index stream reads, or 0 */
	struct nest_form streams[NEST_MAX_STREAMS];
	struct nest_variable variables[NEST_MAX_VARIABLES];
};

/* The mask of all operands. */
uint32_t nest_all_operands(const struct nest_space *space);

/* Forms. -EOVERFLOW when a number does not fit. */
void nest_form_init(struct nest_form *form, int64_t constant);
int nest_form_add(struct nest_form *form, const struct nest_form *other, int64_t factor);
int nest_form_add_constant(struct nest_form *form, int64_t value);
bool nest_form_equal(const struct nest_form *a, const struct nest_form *b);

/* The values of a form over the ranges of the variables; an end that does not fit is infinite. */
struct interval nest_form_range(const struct nest_space *space, const struct nest_form *form);

/* The same, where the constraints of these operands hold. */
struct interval nest_form_range_within(const struct nest_space *space,
				       const struct nest_form *form, uint32_t operands);

static inline int64_t nest_extent(const struct nest_variable *variable)
{
	return variable->range.max - variable->range.min + 1;
}

/* Empties a space that was emptied before, or is zero. */
void nest_space_init(struct nest_space *space, uint32_t num_operands);

/* A copy, or NULL: no memory. */
struct nest_space *nest_space_copy(const struct nest_space *space);

/* Frees what a space refers to, not itself. */
void nest_space_release(struct nest_space *space);

/* A variable's number goes to *v. -E2BIG. A loop stands at place in the order of loops. */
int nest_add_loop(struct nest_space *space, struct interval range, uint32_t axis, uint32_t place,
		  uint32_t *v);
int nest_add_quotient(struct nest_space *space, const struct nest_form *numerator,
		      int64_t divisor, uint32_t *v);

/* floor(range / divisor), for a divisor of at least 1; an infinite end stays infinite. */
struct interval nest_quotient_range(struct interval range, int64_t divisor);

/* Narrows the ranges of quotients to those of their numerators. */
void nest_refresh_quotients(struct nest_space *space);

/* The greatest common divisor, or 1 where that does not fit. */
int64_t nest_greatest_divisor(uint64_t a, uint64_t b);

/* The place of a loop in the order of loops. */
uint32_t nest_loop_place(const struct nest_space *space, uint32_t v);

/* Makes a loop of a quotient, at place. */
void nest_quotient_to_loop(struct nest_space *space, uint32_t v, uint32_t place);

/* Puts the replacement for v, in which v may stand again, into all forms. */
int nest_substitute(struct nest_space *space, uint32_t v, const struct nest_form *replacement);

/* The same, and the variable is gone. */
int nest_eliminate(struct nest_space *space, uint32_t v, const struct nest_form *replacement);

/* v = value */
int nest_fix(struct nest_space *space, uint32_t v, int64_t value);

/*
 * Adds a constraint. One that holds everywhere is not added; one for all operands narrows the
 * ranges of variables. NEST_EMPTY if it is for all and holds nowhere; for a source that goes to
 * never_loaded. -E2BIG, -ENOMEM.
 */
int nest_constrain(struct nest_space *space, const struct nest_form *value, int64_t limit,
		   uint32_t operands);

/* Looks at all constraints again, as nest_constrain() does, until nothing changes. */
int nest_tighten(struct nest_space *space);

/* Every loop begins at 0 then, and none has only one value. */
int nest_normalize_loops(struct nest_space *space);

#endif /* LOWER_NEST_SPACE_H */
