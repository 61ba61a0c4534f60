// SPDX-License-Identifier: MIT
/*
 * Output files: they replace what was there whole, and a signal that ends the tool leaves nothing.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "output.h"
#include "tensor/replacement.h"

struct output {
	struct replacement *replacement;
	struct sigaction old_actions[3];
};

static const int ending_signals[3] = { SIGINT, SIGTERM, SIGHUP };

/* What a signal's handler removes: only ever set while no such signal can arrive. */
static char path_to_remove[PATH_MAX];

void output_abandon(void)
{
	unlink(path_to_remove);
}

static void remove_and_end(int number)
{
	output_abandon();
	/* SA_RESETHAND: the default action is back, and ends the process when this returns */
	raise(number);
}

static void block_signals(sigset_t *old_mask)
{
	sigset_t mask;

	sigemptyset(&mask);
	for (int i = 0; i < 3; i++)
		sigaddset(&mask, ending_signals[i]);
	sigprocmask(SIG_BLOCK, &mask, old_mask);
}

static void watch_signals(struct output *output)
{
	struct sigaction action = { .sa_handler = remove_and_end, .sa_flags = SA_RESETHAND };

	/* it fits: both are a path */
	strcpy(path_to_remove, replacement_temporary(output->replacement));
	for (int i = 0; i < 3; i++) {
		sigaction(ending_signals[i], NULL, &output->old_actions[i]);
		/* nohup: what is ignored stays ignored */
		if (output->old_actions[i].sa_handler != SIG_IGN)
			sigaction(ending_signals[i], &action, NULL);
	}
}

static void unwatch_signals(const struct output *output)
{
	for (int i = 0; i < 3; i++)
		sigaction(ending_signals[i], &output->old_actions[i], NULL);
}

int output_create(const char *path, struct output **result, struct accel_error *error)
{
	struct output *output = calloc(1, sizeof(*output));
	sigset_t old_mask;
	int ret;

	*result = NULL;
	if (!output)
		return accel_error_set(error, -ENOMEM, "%s: out of memory", path);
	block_signals(&old_mask);
	ret = replacement_create(path, &output->replacement, error);
	if (!ret)
		watch_signals(output);
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
	if (ret)
		free(output);
	else
		*result = output;
	return ret;
}

int output_write(struct output *output, const void *data, size_t size, struct accel_error *error)
{
	return replacement_write(output->replacement, data, size, error);
}

int output_commit(struct output *output, struct accel_error *error)
{
	sigset_t old_mask;
	int ret;

	block_signals(&old_mask);
	ret = replacement_commit(output->replacement, error);
	unwatch_signals(output);
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
	free(output);
	return ret;
}

void output_discard(struct output *output)
{
	sigset_t old_mask;

	if (!output)
		return;
	block_signals(&old_mask);
	replacement_discard(output->replacement);
	unwatch_signals(output);
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
	free(output);
}
