// SPDX-License-Identifier: MIT
/*
 * The JSON writer. Knows nothing of what is written.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "json.h"

/* Bytes of the well-formed UTF-8 character at p, or 0 (RFC 3629, section 4). */
static size_t utf8_length(const unsigned char *p)
{
	static const struct {
		unsigned char first_low, first_high, second_low, second_high;
		size_t length;
	} forms[] = {
		{ 0x20, 0x7f, 0, 0, 1 },
		{ 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 },
		{ 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 },
		{ 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	for (size_t f = 0; f < sizeof(forms) / sizeof(forms[0]); f++) {
		if (p[0] < forms[f].first_low || p[0] > forms[f].first_high)
			continue;
		if (forms[f].length > 1 &&
		    (p[1] < forms[f].second_low || p[1] > forms[f].second_high))
			return 0;
		for (size_t i = 2; i < forms[f].length; i++) {
			if (p[i] < 0x80 || p[i] > 0xbf)
				return 0;
		}
		return forms[f].length;
	}
	return 0;
}

static void write_text(struct json *json, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	fputc('"', json->stream);
	while (*p) {
		size_t length = utf8_length(p);

		if (*p == '"' || *p == '\\')
			fprintf(json->stream, "\\%c", *p);
		else if (*p < 0x20)
			fprintf(json->stream, "\\u%04x", *p);
		else if (!length)
			fputs("\\ufffd", json->stream);
		else
			fwrite(p, 1, length, json->stream);
		p += length ? length : 1;
	}
	fputc('"', json->stream);
}

/* What comes before a value: the comma, the new line, the key. */
static void begin_value(struct json *json, const char *key)
{
	if (json->has_value)
		fputs(json->is_inline ? ", " : ",", json->stream);
	if (json->depth && !json->is_inline)
		fprintf(json->stream, "\n%*s", (int)(2 * json->depth), "");
	if (key) {
		write_text(json, key);
		fputs(": ", json->stream);
	}
	json->has_value = true;
}

static void begin_group(struct json *json, const char *key, char bracket)
{
	begin_value(json, key);
	fputc(bracket, json->stream);
	json->depth++;
	json->has_value = false;
}

static void end_group(struct json *json, char bracket)
{
	json->depth--;
	if (json->has_value && !json->is_inline)
		fprintf(json->stream, "\n%*s", (int)(2 * json->depth), "");
	fputc(bracket, json->stream);
	json->has_value = true;
	if (!json->depth)
		fputc('\n', json->stream);
}

void json_begin_object(struct json *json, const char *key)
{
	begin_group(json, key, '{');
}

void json_end_object(struct json *json)
{
	end_group(json, '}');
}

void json_begin_array(struct json *json, const char *key)
{
	begin_group(json, key, '[');
}

void json_end_array(struct json *json)
{
	end_group(json, ']');
}

void json_string(struct json *json, const char *key, const char *text)
{
	begin_value(json, key);
	if (text)
		write_text(json, text);
	else
		fputs("null", json->stream);
}

void json_unsigned(struct json *json, const char *key, uint64_t value)
{
	begin_value(json, key);
	fprintf(json->stream, "%" PRIu64, value);
}

void json_signed(struct json *json, const char *key, int64_t value)
{
	begin_value(json, key);
	fprintf(json->stream, "%" PRId64, value);
}

void json_number(struct json *json, const char *key, double value)
{
	begin_value(json, key);
	if (isfinite(value))
		fprintf(json->stream, "%.6f", value);
	else
		fputs("null", json->stream);
}

void json_bool(struct json *json, const char *key, bool value)
{
	begin_value(json, key);
	fputs(value ? "true" : "false", json->stream);
}

void json_integers(struct json *json, const char *key, const int64_t *values, size_t count)
{
	begin_group(json, key, '[');
	json->is_inline = true;
	for (size_t i = 0; i < count; i++) {
		begin_value(json, NULL);
		fprintf(json->stream, "%" PRId64, values[i]);
	}
	end_group(json, ']');
	json->is_inline = false;
}
