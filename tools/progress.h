/* SPDX-License-Identifier: MIT */
/*
 * How far a command has come, told on standard error when it takes longer than a second.
 */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what;
	uint64_t total;
	int64_t shown_ns;	/* when something was last shown, or it began */
	bool is_terminal;
	bool was_shown;
};

void progress_begin(struct progress *progress, const char *what, uint64_t total);

/* Shows done of total, at most once a second: on a terminal in place, otherwise line by line. */
void progress_show(struct progress *progress, uint64_t done);
void progress_end(struct progress *progress);

#endif /* TOOLS_PROGRESS_H */
