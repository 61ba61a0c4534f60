// SPDX-License-Identifier: MIT
/*
 * The options of a chain, as they are written. What they mean is chain.c's.
 */
#include <getopt.h>
#include <stddef.h>
#include <string.h>

#include "chain.h"

/* What getopt_long() returns for each kind of option; '?', for a bad one, is none of them. */
enum {
	OPTION_UNPACK = 1,
	OPTION_NO_FUSE,
	OPTION_VERIFY,
	OPTION_COUNTERS,
	OPTION_JSON,
	OPTION_VALUE = 256,		/* and up: by place in values[] */
	OPTION_STEP = 512,		/* and up: by enum chain_step_kind */
};

/* Options with a value that are given once, and where it goes. */
static const struct {
	const char *name;
	size_t offset;
} values[] = {
	{ "in", offsetof(struct chain, in[0]) },
	{ "in2", offsetof(struct chain, in[1]) },
	{ "in3", offsetof(struct chain, in[2]) },
	{ "in4", offsetof(struct chain, in[3]) },
	{ "out", offsetof(struct chain, out) },
	{ "from", offsetof(struct chain, from) },
	{ "to", offsetof(struct chain, to) },
	{ "pad-value", offsetof(struct chain, pad_value) },
	{ "device", offsetof(struct chain, device) },
	{ "priority", offsetof(struct chain, priority) },
	{ "shape", offsetof(struct chain, shape) },
	{ "dtype", offsetof(struct chain, dtype) },
};

#define NUM_VALUES (sizeof(values) / sizeof(values[0]))

static const char *const steps[CHAIN_NUM_KINDS] = {
	[CHAIN_MAP] = "map",
	[CHAIN_SLICE] = "slice",
	[CHAIN_IM2COL] = "im2col",
	[CHAIN_GATHER] = "gather",
	[CHAIN_CAST] = "cast",
	[CHAIN_COMPUTE] = "compute",
};

#define NUM_OTHERS 6	/* the flags, and the zero at the end */

static void list_options(struct option *options)
{
	static const struct option others[NUM_OTHERS] = {
		{ "unpack", optional_argument, NULL, OPTION_UNPACK },
		{ "no-fuse", no_argument, NULL, OPTION_NO_FUSE },
		{ "verify", no_argument, NULL, OPTION_VERIFY },
		{ "counters", no_argument, NULL, OPTION_COUNTERS },
		{ "json", no_argument, NULL, OPTION_JSON },
	};

	for (size_t i = 0; i < NUM_VALUES; i++)
		*options++ = (struct option){
			values[i].name, required_argument, NULL, OPTION_VALUE + (int)i
		};
	for (int kind = 0; kind < CHAIN_NUM_KINDS; kind++)
		*options++ = (struct option){
			steps[kind], required_argument, NULL, OPTION_STEP + kind
		};
	memcpy(options, others, sizeof(others));
}

static int set_once(const struct command *command, const char **value, const char *name,
		    const char *text)
{
	if (*value)
		return command_misuse(command, "--%s is given twice", name);
	*value = text;
	return STATUS_OK;
}

static int take_value(const struct command *command, struct chain *chain, size_t i,
		      const char *text)
{
	return set_once(command, (const char **)((char *)chain + values[i].offset), values[i].name,
			text);
}

static int take_step(const struct command *command, struct chain *chain,
		     enum chain_step_kind kind, const char *text)
{
	if (chain->num_steps == CHAIN_MAX_STEPS)
		return command_misuse(command, "--%s '%s' is one step too many, at most %d",
				      steps[kind], text, CHAIN_MAX_STEPS);
	chain->steps[chain->num_steps++] = (struct chain_step){ kind, text };
	return STATUS_OK;
}

static int take_option(const struct command *command, struct chain *chain, int option,
		       const char *text)
{
	if (option >= OPTION_STEP)
		return take_step(command, chain, (enum chain_step_kind)(option - OPTION_STEP),
				 text);
	if (option >= OPTION_VALUE)
		return take_value(command, chain, (size_t)(option - OPTION_VALUE), text);
	switch (option) {
	case OPTION_UNPACK:
		return set_once(command, &chain->unpack, "unpack", text ? text : "");
	case OPTION_NO_FUSE:
		chain->is_unfused = true;
		return STATUS_OK;
	case OPTION_VERIFY:
		chain->is_verified = true;
		return STATUS_OK;
	case OPTION_COUNTERS:
		chain->is_counted = true;
		return STATUS_OK;
	case OPTION_JSON:
		chain->is_json = true;
		return STATUS_OK;
	default:
		return command_misuse(command, "bad option");
	}
}

int chain_parse(const struct command *command, int argc, char **argv, struct chain *chain)
{
	struct option options[NUM_VALUES + CHAIN_NUM_KINDS + NUM_OTHERS];
	int option, status;

	memset(chain, 0, sizeof(*chain));
	list_options(options);
	optind = 0;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		status = take_option(command, chain, option, optarg);
		if (status)
			return status;
	}
	if (optind < argc)
		return command_misuse(command, "argument '%s', expected options alone",
				      argv[optind]);
	return STATUS_OK;
}
