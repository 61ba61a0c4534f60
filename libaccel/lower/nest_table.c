// SPDX-License-Identifier: MIT
/*
 * Index tables: the part of an address that no loops can give, listed for each point of the few
 * axes or loops that it depends on. The operand becomes indirect. What type the entries have is
 * decided when the table goes to the plan.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lower/nest_attempt.h"

/* The variables that a table is over, the last fastest. */
struct domain {
	uint32_t count;
	uint32_t variables[NEST_MAX_VARIABLES];
};

static int too_large(struct nest_attempt *attempt, uint32_t k)
{
	return accel_error_set(&attempt->error, -EOVERFLOW,
			       "%s: an offset in its index table does not fit 64 bits",
			       nest_operand_name(k));
}

/* How many entries a table over the domain has. -E2BIG. */
static int count_entries(struct nest_attempt *attempt, uint32_t k, const struct domain *domain,
			 uint64_t *count)
{
	*count = 1;
	for (uint32_t d = 0; d < domain->count; d++) {
		int64_t extent = nest_extent(&attempt->space.variables[domain->variables[d]]);

		if (__builtin_mul_overflow(*count, (uint64_t)extent, count) ||
		    *count > NEST_MAX_TABLE)
			return accel_error_set(&attempt->error, -E2BIG,
				"%s: its address is not affine, and its index table would have "
				"more than %llu entries", nest_operand_name(k),
				(unsigned long long)NEST_MAX_TABLE);
	}
	return 0;
}

/* A table more, with room for its entries; NULL without memory. */
static struct nest_table *add_table(struct nest_attempt *attempt, uint64_t count)
{
	struct nest_table *tables = attempt->tables, *table;

	if (attempt->num_tables == attempt->max_tables) {
		uint32_t max = attempt->max_tables ? 2 * attempt->max_tables : 4;

		tables = realloc(tables, max * sizeof(*tables));
		if (!tables)
			return NULL;
		attempt->tables = tables;
		attempt->max_tables = max;
	}
	table = &tables[attempt->num_tables];
	table->count = count;
	table->before = 0;
	table->behind = 0;
	table->offsets = malloc(count * sizeof(table->offsets[0]));
	if (!table->offsets)
		return NULL;
	attempt->num_tables++;
	return table;
}

/* The next point of the domain; values has an entry for each variable of the space. */
static void advance(const struct nest_space *space, const struct domain *domain, int64_t *values)
{
	for (uint32_t d = domain->count; d-- > 0; ) {
		uint32_t v = domain->variables[d];

		if (values[v] < space->variables[v].range.max) {
			values[v]++;
			return;
		}
		values[v] = space->variables[v].range.min;
	}
}

/* The index of operand k: the number of the entry, in row-major order over the domain. */
static void index_by(struct nest_space *space, uint32_t k, const struct domain *domain,
		     uint64_t count, uint32_t table)
{
	struct nest_form *stream = &space->streams[NEST_MAX_OPERANDS + k];
	int64_t stride = 1;

	nest_form_init(stream, 0);
	for (uint32_t d = domain->count; d-- > 0; ) {
		const struct nest_variable *variable = &space->variables[domain->variables[d]];

		stream->coefficients[domain->variables[d]] = stride;
		stream->constant -= stride * variable->range.min;
		stride *= nest_extent(variable);
	}
	space->targets[NEST_MAX_OPERANDS + k] = (struct interval){ 0, (int64_t)count - 1 };
	space->tables[k] = table;
}

/* What a table lists, at a point. -EOVERFLOW. */
typedef int (*evaluate_function)(const struct nest_attempt *attempt, const void *what,
				 const int64_t *values, int64_t *offset);

/* A table of what operand k adds to its address; why says what it is for. */
static int make_table(struct nest_attempt *attempt, uint32_t k, const struct domain *domain,
		      evaluate_function evaluate, const void *what, const char *why)
{
	struct nest_space *space = &attempt->space;
	int64_t values[NEST_MAX_VARIABLES];
	struct nest_table *table;
	uint64_t count;
	int code;

	code = count_entries(attempt, k, domain, &count);
	if (code)
		return code;
	table = add_table(attempt, count);
	if (!table)
		return accel_error_set(&attempt->error, -ENOMEM, "index table: out of memory");
	for (uint32_t v = 0; v < space->num_variables; v++)
		values[v] = space->variables[v].range.min;
	for (uint64_t i = 0; i < count; i++) {
		if (evaluate(attempt, what, values, &table->offsets[i]))
			return too_large(attempt, k);
		advance(space, domain, values);
	}
	nest_note(attempt, "%s: %s: an index table of %llu entries", nest_operand_name(k), why,
		  (unsigned long long)count);
	index_by(space, k, domain, count, attempt->num_tables);
	return 0;
}

/* Terms: over the axes, by their expressions ------------------------------------------------- */

/* Those of an address that the mask has. */
struct terms {
	const struct lower_address *address;
	uint32_t mask;
};

static void find_axes(const struct nest_attempt *attempt, const struct terms *terms,
		      struct domain *domain)
{
	const struct lower_address *address = terms->address;

	domain->count = 0;
	for (uint32_t a = 0; a < attempt->nest->num_axes; a++) {
		bool is_there = false;

		for (uint32_t t = 0; t < address->num_terms && !is_there; t++)
			is_there = (terms->mask >> t & 1) &&
				   expression_mentions(address->terms[t].value,
						       attempt->nest->axes[a].name);
		if (is_there && nest_extent(&attempt->space.variables[a]) > 1)
			domain->variables[domain->count++] = a;
	}
}

static int evaluate_terms(const struct nest_attempt *attempt, const void *what,
			  const int64_t *values, int64_t *offset)
{
	const struct terms *terms = what;
	const struct lower_address *address = terms->address;
	const char *names[LOWER_MAX_AXES], *missing;

	for (uint32_t a = 0; a < attempt->nest->num_axes; a++)
		names[a] = attempt->nest->axes[a].name;
	*offset = 0;
	for (uint32_t t = 0; t < address->num_terms; t++) {
		int64_t value;

		if (!(terms->mask >> t & 1))
			continue;
		if (expression_evaluate(address->terms[t].value, attempt->nest->num_axes, names,
					values, &value, &missing) ||
		    __builtin_mul_overflow(value, address->terms[t].stride, &value) ||
		    __builtin_add_overflow(*offset, value, offset))
			return -EOVERFLOW;
	}
	return 0;
}

int nest_table_of_terms(struct nest_attempt *attempt, uint32_t k,
			const struct lower_address *address, uint32_t mask)
{
	const struct terms terms = { address, mask };
	struct domain domain;

	find_axes(attempt, &terms, &domain);
	return make_table(attempt, k, &domain, evaluate_terms, &terms,
			  "its address is not affine");
}

/* Quotients: over the loops, by the forms ----------------------------------------------------- */

static int evaluate_form(const struct nest_space *space, const struct nest_form *form,
			 const int64_t *values, int64_t *result)
{
	*result = form->constant;
	for (uint32_t v = 0; v < space->num_variables; v++) {
		const struct nest_variable *variable = &space->variables[v];
		int64_t value = values[v];

		if (!form->coefficients[v])
			continue;
		if (variable->kind == NEST_QUOTIENT) {
			if (evaluate_form(space, &variable->numerator, values, &value))
				return -EOVERFLOW;
			value = floor_divide(value, variable->divisor);
		}
		if (__builtin_mul_overflow(value, form->coefficients[v], &value) ||
		    __builtin_add_overflow(*result, value, result))
			return -EOVERFLOW;
	}
	return 0;
}

static int evaluate_quotients(const struct nest_attempt *attempt, const void *what,
			      const int64_t *values, int64_t *offset)
{
	return evaluate_form(&attempt->space, what, values, offset);
}

static void mark_loops(const struct nest_space *space, const struct nest_form *form,
		       uint64_t *loops)
{
	for (uint32_t v = 0; v < space->num_variables; v++) {
		if (!form->coefficients[v])
			continue;
		if (space->variables[v].kind == NEST_LOOP)
			*loops |= (uint64_t)1 << v;
		else
			mark_loops(space, &space->variables[v].numerator, loops);
	}
}

/* Takes the quotients of a form out of it. */
static void take_quotients(const struct nest_space *space, struct nest_form *form,
			   struct nest_form *quotients)
{
	nest_form_init(quotients, 0);
	for (uint32_t v = 0; v < space->num_variables; v++) {
		if (!form->coefficients[v] || space->variables[v].kind != NEST_QUOTIENT)
			continue;
		quotients->coefficients[v] = form->coefficients[v];
		form->coefficients[v] = 0;
	}
}

int nest_table_of_quotients(struct nest_attempt *attempt, uint32_t k)
{
	struct nest_space *space = &attempt->space;
	struct domain domain = { 0 };
	struct nest_form quotients;
	uint64_t loops = 0;

	take_quotients(space, &space->streams[k], &quotients);
	mark_loops(space, &quotients, &loops);
	if (!loops)
		return 0;
	for (uint32_t l = 0; l < space->num_loops; l++)
		if (loops >> space->loops[l] & 1)
			domain.variables[domain.count++] = space->loops[l];
	return make_table(attempt, k, &domain, evaluate_quotients, &quotients,
			  "its bounds cannot be proved with windows");
}
