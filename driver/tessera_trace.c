// SPDX-License-Identifier: GPL-2.0-only
/*
 * The one place where the trace points of tessera_trace.h are made.
 */
#include <drm/gpu_scheduler.h>

#include "tessera_file.h"
#include "tessera_queue.h"
#include "tessera_submit.h"

#ifndef __CHECKER__
#define CREATE_TRACE_POINTS
#include "tessera_trace.h"
#endif
