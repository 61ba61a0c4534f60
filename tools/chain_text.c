// SPDX-License-Identifier: MIT
/*
 * The values of a chain's options as text.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chain_text.h"
#include "error.h"

static bool continues_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The = that defines, and is no part of a comparison; NULL: there is none. */
static const char *find_definition(const char *text)
{
	for (const char *c = text; *c; c++) {
		if (*c != '=')
			continue;
		if (c[1] == '=') {
			c++;
			continue;
		}
		if (c == text || !strchr("<>!=", c[-1]))
			return c;
	}
	return NULL;
}

static void add_name(const char *start, size_t length, uint32_t *count,
		     char names[COMPUTE_MAX_NAMES][ACCEL_NAME_MAX + 1])
{
	/* too many and too long ones are for the library to complain about */
	if (length > ACCEL_NAME_MAX || *count == COMPUTE_MAX_NAMES)
		return;
	for (uint32_t i = 0; i < *count; i++) {
		if (strlen(names[i]) == length && !memcmp(names[i], start, length))
			return;
	}
	memcpy(names[*count], start, length);
	names[(*count)++][length] = '\0';
}

/* The names before a bracket, from text up to end. */
static void find_names(const char *text, const char *end, uint32_t *count,
		       char names[COMPUTE_MAX_NAMES][ACCEL_NAME_MAX + 1])
{
	while (text < end) {
		const char *start = text, *behind;

		if (!isalpha((unsigned char)*text) && *text != '_') {
			text++;
			continue;
		}
		while (text < end && continues_name(*text))
			text++;
		for (behind = text; behind < end && *behind == ' '; )
			behind++;
		if (behind < end && *behind == '[')
			add_name(start, (size_t)(text - start), count, names);
	}
}

void compute_names(const char *text, struct compute_names *names)
{
	const char *definition = find_definition(text);
	const char *end = text + strlen(text);

	memset(names, 0, sizeof(*names));
	if (!definition)
		return;
	find_names(text, definition, &names->num_targets, names->targets);
	if (names->num_targets) {
		strcpy(names->result, names->targets[0]);
		names->num_targets--;
		memmove(names->targets[0], names->targets[1],
			names->num_targets * sizeof(names->targets[0]));
	}
	find_names(definition + 1, end, &names->num_sources, names->sources);
}

const char *chain_numbers(const char *text, int64_t minimum, uint32_t capacity, uint32_t *count,
			  int64_t *numbers)
{
	bool has_parentheses = *text == '(';
	const char *next = text + has_parentheses;

	*count = 0;
	for (;; next++) {
		long long number;
		char *end;

		while (*next == ' ')
			next++;
		/* strtoll() alone would take blanks and a plus sign */
		if (!isdigit((unsigned char)*next) || *count == capacity)
			break;
		errno = 0;
		number = strtoll(next, &end, 10);
		if (errno == ERANGE || number < minimum)
			return next;
		numbers[(*count)++] = number;
		next = end;
		if (*next != ',')
			break;
	}
	if (has_parentheses)
		return *next == ')' ? next + 1 : text;
	return next;
}

static int refuse(const char *option, const char *text, const char *at, const char *expected,
		  struct accel_error *error)
{
	return accel_error_set_at(error, -EINVAL, (int)(at - text) + 1,
				  "%s: expected %s at column %d", option, expected,
				  (int)(at - text) + 1);
}

/* Behind "key=", or NULL. */
static const char *behind_key(const char *text, const char *key)
{
	size_t length = strlen(key);

	return !strncmp(text, key, length) && text[length] == '=' ? text + length + 1 : NULL;
}

/* Keys of two numbers, and where these go. */
struct pair_key {
	const char *name;
	int64_t minimum;
	int64_t *pair;
};

static int parse_pair(const char *text, const struct pair_key *key, const char **next,
		      struct accel_error *error)
{
	const char *start = *next;
	uint32_t count;

	*next = chain_numbers(start, key->minimum, 2, &count, key->pair);
	if (!count || (**next && **next != ';'))
		return refuse("--im2col", text, *next, "one or two numbers in range, then ;",
			      error);
	if (count == 1)
		key->pair[1] = key->pair[0];
	return 0;
}

static int parse_order(const char *text, bool *is_nhwc, const char **next,
		       struct accel_error *error)
{
	*is_nhwc = !strncmp(*next, "NHWC", 4);
	if (!*is_nhwc && strncmp(*next, "NCHW", 4))
		return refuse("--im2col", text, *next, "NCHW or NHWC", error);
	*next += 4;
	if (**next && **next != ';')
		return refuse("--im2col", text, *next, "; or the end", error);
	return 0;
}

int im2col_parse(const char *text, bool is_nhwc, struct accel_im2col *im2col,
		 struct accel_error *error)
{
	const struct pair_key keys[] = {
		{ "kernel", 1, im2col->kernel },
		{ "stride", 1, im2col->stride },
		{ "pad", 0, im2col->pad },
		{ "dilation", 1, im2col->dilation },
	};
	const size_t num_keys = sizeof(keys) / sizeof(keys[0]);
	const char *next = text;
	int ret = 0;

	*im2col = (struct accel_im2col){
		.is_nhwc = is_nhwc, .stride = { 1, 1 }, .dilation = { 1, 1 }
	};
	for (;; next++) {
		const char *value = behind_key(next, "layout");
		size_t k = 0;

		if (value) {
			ret = parse_order(text, &im2col->is_nhwc, &value, error);
		} else {
			while (k < num_keys && !(value = behind_key(next, keys[k].name)))
				k++;
			if (!value)
				return refuse("--im2col", text, next, "kernel=, stride=, pad=, "
					      "dilation= or layout=", error);
			ret = parse_pair(text, &keys[k], &value, error);
		}
		if (ret)
			return ret;
		next = value;
		if (!*next)
			break;
	}
	return im2col->kernel[0] ? 0 :
	       refuse("--im2col", text, next, "kernel= as well", error);
}

int gather_parse(const char *text, uint32_t *axis, const char **path, struct accel_error *error)
{
	const char *value = behind_key(text, "axis");
	const char *end;
	int64_t number;
	uint32_t count;

	if (!value)
		return refuse("--gather", text, text, "axis=", error);
	end = chain_numbers(value, 0, 1, &count, &number);
	if (!count || number >= ACCEL_MAX_DIMS)
		return refuse("--gather", text, value, "the number of an axis", error);
	if (*end != ';' || !(*path = behind_key(end + 1, "index")) || !**path)
		return refuse("--gather", text, end, ";index= and a path", error);
	*axis = (uint32_t)number;
	return 0;
}
