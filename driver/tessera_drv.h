/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What belongs to the module and to no device: its name, its parameters, and the workqueue on
 * which files are freed.
 */
#ifndef _TESSERA_DRV_H_
#define _TESSERA_DRV_H_

#include <linux/workqueue.h>

#define TESSERA_NAME		"tessera"

extern unsigned int tessera_job_timeout_ms;
extern unsigned int tessera_job_limit_ms;
extern unsigned int tessera_max_buffers;

extern struct workqueue_struct *tessera_free_wq;

#endif /* _TESSERA_DRV_H_ */
