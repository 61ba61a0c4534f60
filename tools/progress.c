// SPDX-License-Identifier: MIT
/*
 * How far a command has come.
 */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

void progress_begin(struct progress *progress, const char *what, uint64_t total)
{
	*progress = (struct progress){
		.what = what, .total = total, .shown_ns = now_ns(),
		.is_terminal = isatty(STDERR_FILENO),
	};
}

void progress_show(struct progress *progress, uint64_t done)
{
	int64_t now = now_ns();

	if (now - progress->shown_ns < 1000000000 || done == progress->total)
		return;
	progress->shown_ns = now;
	progress->was_shown = true;
	fprintf(stderr, "%s%s: %u %%%s", progress->is_terminal ? "\r" : "", progress->what,
		(unsigned int)((double)done / (double)progress->total * 100),
		progress->is_terminal ? "" : "\n");
}

void progress_end(struct progress *progress)
{
	/* the line is erased: what follows is the report */
	if (progress->was_shown && progress->is_terminal)
		fputs("\r\033[K", stderr);
}
