/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Owns nothing: QEMU's build writes the functions of trace-events beside it. */
#include "trace/trace-hw_misc_tessera.h"
