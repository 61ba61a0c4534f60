/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Device coredumps: what is kept of a job that had to be stopped. uapi/drm/tessera_accel.h says
 * what is in one.
 */
#ifndef _TESSERA_DUMP_H_
#define _TESSERA_DUMP_H_

#include <drm/tessera_accel.h>

struct tessera_device;
struct tessera_queue;
struct tessera_submission;

void tessera_dump_init(struct tessera_device *tdev);
void tessera_dump_take(struct tessera_queue *queue, struct tessera_submission *submission,
		       enum drm_tessera_cause cause);

#endif /* _TESSERA_DUMP_H_ */
