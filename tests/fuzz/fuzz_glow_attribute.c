// SPDX-License-Identifier: MIT
/*
 * Fuzzes attributes of Glow layouts: the lines are a layout, the name of an attribute and a value
 * for it on each axis. What is set must be read back, and the rest must stay.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <accel.h>

#include "fuzz.h"

#define MAX_TEXT	65536

const char *const fuzz_seeds[] = {
	"N[a=32][ns:data]H*[a=64]\na\n128", "NHWC\nns\ndata", "N[ns:x]\nns\n", "*[a=4]\na\n0",
	"NH\nb\n]", "\na\n1", "[ns:", "9223372036854775808",
	NULL,
};

static void require(int condition)
{
	if (!condition)
		abort();
}

static void check_axis(struct accel_layout *layout, uint32_t axis, const char *name,
		       const char *value)
{
	char *found = malloc(MAX_TEXT);
	struct accel_error error = { 0 };
	struct accel_layout *edited, *removed;

	require(!!found);
	if (accel_layout_set_attribute(layout, axis, name, value, &edited, &error)) {
		require(!edited && error.code < 0 && error.message[0]);
		free(found);
		return;
	}
	require(accel_layout_attribute(edited, axis, name, found, MAX_TEXT, NULL) >= 0);
	/* numbers come back without leading zeros */
	require(!strcmp(name, "a") ? strtoll(found, NULL, 10) == strtoll(value, NULL, 10) :
		!strcmp(found, value));
	require(!accel_layout_set_attribute(edited, axis, name, NULL, &removed, NULL));
	require(accel_layout_attribute(removed, axis, name, found, MAX_TEXT, NULL) == -ENOENT);
	require(accel_layout_rank(removed) == accel_layout_rank(layout));
	accel_layout_unref(removed);
	accel_layout_unref(edited);
	free(found);
}

/* Cuts off the first line of a text and returns it. */
static char *take_line(char **text)
{
	char *line = *text;

	*text += strcspn(*text, "\n");
	if (**text)
		*(*text)++ = '\0';
	return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char prefix[] = "glow:";
	char *text = malloc(sizeof(prefix) + size), *next = text, *notation, *name;
	struct accel_layout *layout;

	require(!!text);
	memcpy(text, prefix, sizeof(prefix) - 1);
	if (size)
		memcpy(text + sizeof(prefix) - 1, data, size);
	text[sizeof(prefix) - 1 + size] = '\0';
	notation = take_line(&next);
	name = take_line(&next);
	if (!accel_layout_parse(notation, NULL, &layout, NULL)) {
		for (uint32_t axis = 0; axis <= accel_layout_rank(layout); axis++)
			check_axis(layout, axis, name, next);
		accel_layout_unref(layout);
	}
	free(text);
	return 0;
}
