/* SPDX-License-Identifier: MIT */
/*
 * Writes JSON to a stream, one value after another, with commas, indentation and escapes seen to.
 */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *stream;
	unsigned int depth;
	bool has_value;		/* one was written at this depth: a comma comes first */
	bool is_inline;		/* inside of an array of numbers: all on one line */
};

/* key is NULL inside of an array and for the outermost value. */
void json_begin_object(struct json *json, const char *key);
void json_end_object(struct json *json);
void json_begin_array(struct json *json, const char *key);
void json_end_array(struct json *json);

/* text is UTF-8; bytes that are not come out as U+FFFD. NULL: null. */
void json_string(struct json *json, const char *key, const char *text);
void json_unsigned(struct json *json, const char *key, uint64_t value);
void json_signed(struct json *json, const char *key, int64_t value);

/* With six digits behind the point; what is no number comes out as null. */
void json_number(struct json *json, const char *key, double value);
void json_bool(struct json *json, const char *key, bool value);
void json_integers(struct json *json, const char *key, const int64_t *values, size_t count);

#endif /* TOOLS_JSON_H */
