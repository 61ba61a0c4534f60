/* SPDX-License-Identifier: MIT */
/*
 * An attempt to make jobs of a nest, by one policy of several: what the parts of lowering share.
 * Where a decision depends on the point, the attempt is run once for each answer: every run makes
 * the jobs of one piece of the nest. What an attempt makes goes to the plan when it is the best.
 */
#ifndef LOWER_NEST_ATTEMPT_H
#define LOWER_NEST_ATTEMPT_H

#include "lower/nest_space.h"

/* What functions return besides 0, NEST_EMPTY and -errno. */
#define NEST_UNPROVED		2	/* an address was not proved to stay where it is known to */
#define NEST_NOT_AFFINE		3	/* it is for a table */
#define NEST_CHANGED		4	/* a step was taken: look again */

/* An index table has at most this many entries: 64 MiB of 64-bit offsets. */
#define NEST_MAX_TABLE		((uint64_t)8 << 20)

#define NEST_MAX_CHOICES	64
#define NEST_MAX_NOTES		16

/* How quotients become loops, and what goes to tables. */
struct nest_policy {
	bool prefers_tables;	/* what is not quasi-affine is not sliced where a table can do it */
	bool replaces;		/* x // d: x = d*quotient + remainder; else the quotient is added */
	bool largest_first;	/* quotients by the largest divisor first, not the smallest */
	bool narrows;		/* loops are split so that quotients have few values */
	bool slices;		/* a quotient of few values is sliced: a piece for each */
	bool slices_sums;	/* also one of several loops, which leaves windows */
	uint32_t tables;	/* operands whose quotients go to a table */
	uint32_t whole_tables;	/* operands all of whose address goes to a table */
};

/* Answers given so far, and from how many: the next run takes the next combination. */
struct nest_choices {
	bool has_been_asked;
	uint32_t count;
	uint32_t used;
	struct {
		int64_t value;
		int64_t end;
	} list[NEST_MAX_CHOICES];
};

/*
 * What no index reads, but the proof of bounds may take it to: entries before the first and behind
 * the last, as many as that needs.
 */
struct nest_table {
	uint64_t count;
	int64_t *offsets;	/* bytes */
	uint64_t before;
	uint64_t behind;
};

struct nest_job {
	struct accel_plan_job job;
	/* 1 + the table that is the operand's index, or 0; index_address counts entries then */
	uint32_t tables[NEST_MAX_OPERANDS];
};

struct nest_attempt {
	const struct lower_nest *nest;
	struct nest_policy policy;
	struct nest_choices choices;
	struct accel_error error;	/* of the last -errno */
	uint32_t unproved;		/* operands of NEST_UNPROVED */
	uint32_t num_pieces;
	uint32_t num_jobs;
	uint32_t max_jobs;		/* that jobs has room for */
	struct nest_job *jobs;
	uint32_t num_tables;
	uint32_t max_tables;
	struct nest_table *tables;
	uint32_t num_notes;
	char notes[NEST_MAX_NOTES][160];
	struct nest_space space;	/* of the run */
};

/* "the destination", "source 2" */
const char *nest_operand_name(uint32_t k);

/* Chooses one of end answers. -E2BIG. */
int nest_choose(struct nest_attempt *attempt, int64_t end, int64_t *value);

/* Remembers a note, once. */
__attribute__((format(printf, 2, 3)))
void nest_note(struct nest_attempt *attempt, const char *format, ...);

/* For functions of nest_space.h: fills in attempt->error where code is -errno; returns code. */
int nest_failed(struct nest_attempt *attempt, int code, const char *what);

/* Makes the space of the nest's expressions: loops, quotients, constraints and streams. */
int nest_linearize(struct nest_attempt *attempt);

/*
 * numerator // divisor = *whole + numerator' // divisor', where that is simpler; divisor' is 1 and
 * numerator' 0 where only *whole is left.
 */
int nest_reduce_division(const struct nest_space *space, struct nest_form *numerator,
			 int64_t *divisor, struct nest_form *whole);

/* Makes loops of quotients, or tables. */
int nest_divide(struct nest_attempt *attempt);

/*
 * Puts these terms of operand k's address into a table over the axes in them; or the quotients
 * in its stream, over the loops in them.
 */
int nest_table_of_terms(struct nest_attempt *attempt, uint32_t k,
			const struct lower_address *address, uint32_t mask);
int nest_table_of_quotients(struct nest_attempt *attempt, uint32_t k);

/* Makes the jobs of a space without quotients. */
int nest_emit(struct nest_attempt *attempt);

/* How many points of the job the windows in mask hold at, or a bound of it. */
uint64_t nest_count_points(const struct accel_plan_job *job, uint32_t mask);

#endif /* LOWER_NEST_ATTEMPT_H */
