// SPDX-License-Identifier: MIT
/*
 * A nest becomes jobs: by one policy after the other, until one makes few jobs that can be proved.
 * What each step does is in the nest_x.c beside this; here is which policy wins and what goes to
 * the plan.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "layout/sum.h"
#include "lower/nest_attempt.h"

/* Pieces that comparisons make of a nest: more are made only where a table is no help. */
#define FEW_PIECES	16

/* Runs of one attempt; most pieces that are not jobs are empty. */
#define MAX_PIECES	(4 * ACCEL_MAX_JOBS)

/* Boxes that have this many times the points of the nest are a waste, where they are large. */
#define WASTE_FACTOR	16
#define SMALL_BOX	65536

/* A box of which this part or less is visited is better sliced, into as many jobs at most. */
#define IDLE_FACTOR	2
#define MAX_IDLE_SLICES	4

const char *nest_operand_name(uint32_t k)
{
	static const char *const names[NEST_MAX_OPERANDS] = {
		"destination", "source 0", "source 1", "source 2", "source 3",
	};

	return names[k];
}

int nest_choose(struct nest_attempt *attempt, int64_t end, int64_t *value)
{
	struct nest_choices *choices = &attempt->choices;

	choices->has_been_asked = true;
	if (choices->used == choices->count) {
		if (choices->count == NEST_MAX_CHOICES)
			return accel_error_set(&attempt->error, -E2BIG,
					       "more than %d comparisons in indices",
					       NEST_MAX_CHOICES);
		choices->list[choices->count].value = 0;
		choices->list[choices->count].end = end;
		choices->count++;
	}
	*value = choices->list[choices->used++].value;
	return 0;
}

/* Goes to the next combination of answers; false after the last. */
static bool next_choices(struct nest_choices *choices)
{
	choices->count = choices->used;
	choices->used = 0;
	while (choices->count) {
		if (++choices->list[choices->count - 1].value <
		    choices->list[choices->count - 1].end)
			return true;
		choices->count--;
	}
	return false;
}

void nest_note(struct nest_attempt *attempt, const char *format, ...)
{
	char *note = attempt->notes[attempt->num_notes];
	va_list arguments;

	if (attempt->num_notes == NEST_MAX_NOTES)
		return;
	va_start(arguments, format);
	vsnprintf(note, sizeof(attempt->notes[0]), format, arguments);
	va_end(arguments);
	for (uint32_t n = 0; n < attempt->num_notes; n++)
		if (!strcmp(attempt->notes[n], note))
			return;
	attempt->num_notes++;
}

int nest_failed(struct nest_attempt *attempt, int code, const char *what)
{
	if (code == -E2BIG)
		return accel_error_set(&attempt->error, code,
				       "%s: more than %d loops and quotients, or %d conditions",
				       what, NEST_MAX_VARIABLES, NEST_MAX_CONSTRAINTS);
	if (code < 0)
		return accel_error_set(&attempt->error, code, "%s: %s", what,
				       code == -ENOMEM ? "out of memory" :
							 "a number does not fit 64 bits");
	return code;
}

/* Attempts ------------------------------------------------------------------------------------- */

static int run_piece(struct nest_attempt *attempt)
{
	int code = nest_linearize(attempt);

	if (!code)
		code = nest_divide(attempt);
	if (!code)
		code = nest_emit(attempt);
	return code == NEST_EMPTY ? 0 : code;
}

static int run(struct nest_attempt *attempt)
{
	int code;

	do {
		if (attempt->num_pieces++ == MAX_PIECES)
			return accel_error_set(&attempt->error, -E2BIG,
					       "more than %d pieces by comparisons in indices",
					       MAX_PIECES);
		code = run_piece(attempt);
	} while (!code && next_choices(&attempt->choices));
	return code;
}

static struct nest_attempt *attempt_create(const struct lower_nest *nest,
					   const struct nest_policy *policy)
{
	struct nest_attempt *attempt = malloc(sizeof(*attempt));

	if (!attempt)
		return NULL;
	memset(attempt, 0, offsetof(struct nest_attempt, notes));
	attempt->space.max_constraints = 0;
	attempt->space.constraints = NULL;
	attempt->nest = nest;
	attempt->policy = *policy;
	return attempt;
}

static void attempt_destroy(struct nest_attempt *attempt)
{
	if (!attempt)
		return;
	for (uint32_t t = 0; t < attempt->num_tables; t++)
		free(attempt->tables[t].offsets);
	nest_space_release(&attempt->space);
	free(attempt->tables);
	free(attempt->jobs);
	free(attempt);
}

static uint64_t count_box(const struct accel_plan_job *job)
{
	uint64_t count = 1;

	for (uint32_t d = 0; d < job->rank; d++)
		count *= job->extents[d];
	return count;
}

/* The points that all jobs visit, those at which windows fail too. */
static uint64_t count_visited(const struct nest_attempt *attempt)
{
	uint64_t visited = 0;

	for (uint32_t j = 0; j < attempt->num_jobs; j++)
		if (__builtin_add_overflow(visited, count_box(&attempt->jobs[j].job), &visited))
			return UINT64_MAX;
	return visited;
}

static uint64_t count_points(const struct lower_nest *nest)
{
	uint64_t points = 1;

	for (uint32_t a = 0; a < nest->num_axes; a++)
		if (__builtin_mul_overflow(points, (uint64_t)nest->axes[a].extent, &points))
			return UINT64_MAX;
	return points;
}

static bool is_wasteful(const struct nest_attempt *attempt)
{
	uint64_t visited = count_visited(attempt);

	return visited > SMALL_BOX && visited / WASTE_FACTOR > count_points(attempt->nest);
}

/* What the search for a policy has found so far. */
struct search {
	const struct lower_nest *nest;
	struct nest_attempt *best;	/* NULL: none has succeeded */
	uint32_t unproved;		/* operands of the last that was not proved */
	bool has_choices;		/* indices are not affine: tables or slices */
	struct accel_error error;	/* of the first that failed otherwise */
};

/* Fewer jobs, but no waste; of what is wasted, less. */
static bool is_better(const struct nest_attempt *attempt, const struct nest_attempt *best)
{
	if (!best || is_wasteful(attempt) != is_wasteful(best))
		return !best || is_wasteful(best);
	if (is_wasteful(best))
		return count_visited(attempt) < count_visited(best);
	return attempt->num_jobs < best->num_jobs;
}

/* Tries a policy. Only what no other policy can mend is an error. */
static int try(struct search *search, const struct nest_policy *policy)
{
	struct nest_attempt *attempt = attempt_create(search->nest, policy);
	int code;

	if (!attempt)
		return accel_error_set(&search->error, -ENOMEM, "lowering: out of memory");
	code = run(attempt);
	search->has_choices |= attempt->choices.has_been_asked;
	if (!code && is_better(attempt, search->best)) {
		attempt_destroy(search->best);
		search->best = attempt;
		return 0;
	}
	if (code == NEST_UNPROVED)
		search->unproved = attempt->unproved;
	else if (code && (!search->error.code || code == -ENOMEM))
		search->error = attempt->error;
	attempt_destroy(attempt);
	return code == -ENOMEM ? code : 0;
}

/* Nothing is sliced but where the nest itself makes pieces. */
static bool is_good(const struct nest_attempt *attempt)
{
	return attempt && attempt->num_jobs <= attempt->num_pieces &&
	       attempt->num_jobs <= FEW_PIECES && !is_wasteful(attempt);
}

/* Whether tables are not worth a try. */
static bool is_acceptable(const struct nest_attempt *attempt)
{
	return attempt && !is_wasteful(attempt);
}

static int try_all(struct search *search, bool prefers_tables)
{
	static const struct nest_policy policies[] = {
		{ .replaces = true, .narrows = true },
		{ .replaces = true, .narrows = true, .largest_first = true },
		{ .narrows = true },
		{ .replaces = true },
		{ .replaces = false },
	};
	int code = 0;

	for (size_t p = 0; p < sizeof(policies) / sizeof(policies[0]) && !code; p++) {
		struct nest_policy policy = policies[p];

		policy.prefers_tables = prefers_tables;
		code = try(search, &policy);
		if (is_good(search->best))
			break;
	}
	return code;
}

/*
 * Tables for the operands that no policy could prove, and for those that then are not: of their
 * quotients, or else of all of their addresses. At last of all sources, and of all operands: that
 * needs the fewest loops.
 */
static int try_tables(struct search *search)
{
	uint32_t all = (1u << search->nest->num_operands) - 1;
	struct nest_policy policy = { .narrows = true };
	int code = 0;

	while (!code && !search->best && (search->unproved & ~policy.tables)) {
		policy.tables |= search->unproved;
		code = try(search, &policy);
	}
	policy = (struct nest_policy){ .narrows = false };
	while (!code && !search->best && (search->unproved & ~policy.whole_tables)) {
		policy.whole_tables |= search->unproved;
		code = try(search, &policy);
	}
	for (uint32_t first = 0; first < 2 && !code && !is_acceptable(search->best); first++) {
		policy.whole_tables = first ? all : all & ~1u;
		code = try(search, &policy);
	}
	return code;
}

/* Whether half or more of a job's box is visited for nothing. */
static bool is_idle(const struct accel_plan_job *job)
{
	return job->operands[0].window_mask &&
	       count_box(job) / IDLE_FACTOR >=
	       nest_count_points(job, job->operands[0].window_mask);
}

/* What cannot be proved with loops over quotients can be for each of their values. */
static int try_proofs(struct search *search)
{
	const struct nest_policy policy = {
		.replaces = true, .narrows = true, .slices = true, .slices_sums = true,
	};
	int code = try(search, &policy);

	if (!search->best || search->best->num_jobs <= FEW_PIECES)
		return code;
	attempt_destroy(search->best);
	search->best = NULL;
	return code;
}

/* One job with an idle box is given up for a few whose boxes are busy. */
static int try_slices(struct search *search)
{
	const struct nest_policy policy = { .replaces = true, .narrows = true, .slices = true };
	struct nest_attempt *one = search->best;
	bool is_busy;
	int code;

	if (one->num_jobs != 1 || !is_idle(&one->jobs[0].job))
		return 0;
	search->best = NULL;
	code = try(search, &policy);
	is_busy = search->best && search->best->num_jobs <= MAX_IDLE_SLICES;
	for (uint32_t j = 0; is_busy && j < search->best->num_jobs; j++)
		is_busy = !is_idle(&search->best->jobs[j].job);
	if (is_busy) {
		attempt_destroy(one);
		return code;
	}
	attempt_destroy(search->best);
	search->best = one;
	return code;
}

static int find_policy(struct search *search)
{
	int code = try_all(search, false);

	if (!code && !is_good(search->best) && search->has_choices)
		code = try_all(search, true);
	if (!code && !search->best && search->unproved)
		code = try_proofs(search);
	if (!code && !is_acceptable(search->best))
		code = try_tables(search);
	if (!code && search->best)
		code = try_slices(search);
	return code;
}

/* To the plan ---------------------------------------------------------------------------------- */

/* The entries of a table, less their minimum, divided by what they have in common. */
struct compressed {
	int64_t minimum;
	int64_t unit;
	uint64_t limit;			/* the largest entry plus one */
	enum accel_dtype dtype;
};

static void measure_table(const struct nest_table *table, struct compressed *compressed)
{
	int64_t maximum = table->offsets[0];
	uint64_t unit = 0;

	compressed->minimum = maximum;
	for (uint64_t i = 0; i < table->count; i++) {
		if (table->offsets[i] < compressed->minimum)
			compressed->minimum = table->offsets[i];
		if (table->offsets[i] > maximum)
			maximum = table->offsets[i];
	}
	for (uint64_t i = 0; i < table->count && unit != 1; i++)
		unit = (uint64_t)nest_greatest_divisor((uint64_t)table->offsets[i] -
						       (uint64_t)compressed->minimum, unit);
	compressed->unit = unit ? (int64_t)unit : 1;
	compressed->limit = ((uint64_t)maximum - (uint64_t)compressed->minimum) /
			    (uint64_t)compressed->unit + 1;
	compressed->dtype = compressed->limit <= UINT8_MAX + 1u ? ACCEL_DTYPE_U8 :
			    compressed->limit <= UINT16_MAX + 1u ? ACCEL_DTYPE_U16 :
			    compressed->limit <= (uint64_t)UINT32_MAX + 1 ? ACCEL_DTYPE_U32 :
									    ACCEL_DTYPE_U64;
}

/* Entries are little endian, as the host is. */
static void compress_table(const struct nest_table *table, const struct compressed *compressed,
			   uint8_t *bytes)
{
	size_t size = accel_dtype_size(compressed->dtype);

	for (uint64_t i = 0; i < table->count; i++) {
		uint64_t entry = ((uint64_t)table->offsets[i] - (uint64_t)compressed->minimum) /
				 (uint64_t)compressed->unit;

		memcpy(bytes + (table->before + i) * size, &entry, size);
	}
}

static int add_table(const struct nest_table *table, const struct compressed *compressed,
		     struct accel_plan *plan, uint32_t *slot, struct accel_error *error)
{
	size_t size = accel_dtype_size(compressed->dtype);
	/* No more than a few times NEST_MAX_TABLE: the proof goes no wider than the box. */
	uint64_t count = table->before + table->count + table->behind;
	uint8_t *bytes = calloc(count, size);
	int code;

	if (!bytes)
		return accel_error_set(error, -ENOMEM, "index table: out of memory");
	compress_table(table, compressed, bytes);
	code = plan_add_table(plan, bytes, count * size, slot, error);
	free(bytes);
	return code;
}

/* affine = (affine + bias) * factor */
static int shift_and_scale(struct accel_affine *affine, uint64_t bias, int64_t factor)
{
	if (__builtin_add_overflow(affine->offset, bias, &affine->offset))
		return -EOVERFLOW;
	for (uint32_t d = 0; d < ACCEL_MAX_RANK; d++)
		if (__builtin_mul_overflow(affine->strides[d], factor, &affine->strides[d]))
			return -EOVERFLOW;
	return __builtin_mul_overflow(affine->offset, factor, &affine->offset) ? -EOVERFLOW : 0;
}

/* Makes operand k of each job that reads the table indirect. */
static int use_table(struct nest_attempt *attempt, uint32_t table, uint32_t slot,
		     const struct compressed *compressed, struct accel_error *error)
{
	for (uint32_t j = 0; j < attempt->num_jobs; j++) {
		for (uint32_t k = 0; k < NEST_MAX_OPERANDS; k++) {
			struct accel_plan_operand *operand = &attempt->jobs[j].job.operands[k];

			if (attempt->jobs[j].tables[k] != table + 1)
				continue;
			operand->index_slot = slot;
			operand->index_dtype = compressed->dtype;
			operand->index_stride = compressed->unit;
			operand->index_limit = compressed->limit;
			if (shift_and_scale(&operand->index_address,
					    attempt->tables[table].before,
					    (int64_t)accel_dtype_size(compressed->dtype)) ||
			    __builtin_add_overflow(operand->address.offset, compressed->minimum,
						   &operand->address.offset))
				return accel_error_set(error, -EOVERFLOW,
						       "%s: address does not fit 64 bits",
						       nest_operand_name(k));
		}
	}
	return 0;
}

static int add_tables(struct nest_attempt *attempt, struct accel_plan *plan,
		      struct accel_error *error)
{
	int code = 0;

	for (uint32_t t = 0; t < attempt->num_tables && !code; t++) {
		struct nest_table *table = &attempt->tables[t];
		struct compressed compressed;
		uint32_t slot;

		measure_table(table, &compressed);
		code = add_table(table, &compressed, plan, &slot, error);
		if (!code)
			code = use_table(attempt, t, slot, &compressed, error);
	}
	return code;
}

static void add_bytes(uint64_t *bytes, uint64_t count, uint64_t size)
{
	if (__builtin_mul_overflow(count, size, &count) ||
	    __builtin_add_overflow(*bytes, count, bytes))
		*bytes = UINT64_MAX;
}

static void count_bytes(struct accel_plan_info *info, const struct accel_plan_job *job)
{
	uint32_t stored = job->operands[0].window_mask;

	for (uint32_t k = 0; k < job->num_operands; k++) {
		const struct accel_plan_operand *operand = &job->operands[k];
		uint64_t points = nest_count_points(job, stored | operand->window_mask);

		add_bytes(k ? &info->bytes_read : &info->bytes_written, points,
			  accel_dtype_size(operand->dtype));
		if (operand->is_indirect)
			add_bytes(&info->bytes_read, points,
				  accel_dtype_size(operand->index_dtype));
	}
}

static int add_to_plan(struct nest_attempt *attempt, struct accel_plan *plan,
		       struct accel_error *error)
{
	int code = add_tables(attempt, plan, error);

	for (uint32_t j = 0; j < attempt->num_jobs && !code; j++) {
		code = plan_add_job(plan, &attempt->jobs[j].job, error);
		if (!code)
			count_bytes(&plan->info, &attempt->jobs[j].job);
	}
	for (uint32_t n = 0; n < attempt->num_notes && !code; n++)
		code = plan_add_note(plan, error, "%s", attempt->notes[n]);
	if (!code && attempt->num_jobs)
		plan->info.passes++;
	return code;
}

/* -------------------------------------------------------------------------------------------- */

static int search_failed(const struct search *search, struct accel_error *error)
{
	if (search->error.code)
		return accel_error_set(error, search->error.code, "%s", search->error.message);
	return accel_error_set(error, -ENOTSUP,
			       "%s: no loops were found that prove its bounds",
			       nest_operand_name((uint32_t)__builtin_ctz(search->unproved)));
}

int lower_nest(const struct lower_nest *nest, struct accel_plan *plan, struct accel_error *error)
{
	struct search search = { .nest = nest };
	int code;

	for (uint32_t a = 0; a < nest->num_axes; a++)
		if (!nest->axes[a].extent)
			return 0;
	code = find_policy(&search);
	if (code || !search.best)
		code = search_failed(&search, error);
	else if (nest->is_divisible && is_wasteful(search.best))
		code = accel_error_set(error, -E2BIG,
				       "loops of %llu points in all for a nest of %llu",
				       (unsigned long long)count_visited(search.best),
				       (unsigned long long)count_points(nest));
	else
		code = add_to_plan(search.best, plan, error);
	attempt_destroy(search.best);
	return code;
}

static void release_address(struct lower_address *address)
{
	for (uint32_t t = 0; t < address->num_terms; t++)
		accel_expression_unref(address->terms[t].value);
	address->num_terms = 0;
}

void lower_nest_release(struct lower_nest *nest)
{
	for (uint32_t k = 0; k < nest->num_operands; k++) {
		struct lower_operand *operand = &nest->operands[k];

		release_address(&operand->address);
		release_address(&operand->index_address);
		for (uint32_t c = 0; c < operand->num_conditions; c++)
			accel_expression_unref(operand->conditions[c].value);
		operand->num_conditions = 0;
	}
	nest->num_operands = 0;
}
