/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A parameter of a module that is built for tests: jobs go to the device as they come, which then
 * has to find alone all that is wrong with them. Counts and handles are looked after all the same.
 */
#ifndef _TESSERA_UNCHECKED_H_
#define _TESSERA_UNCHECKED_H_

#include <linux/moduleparam.h>

#ifdef CONFIG_DRM_ACCEL_TESSERA_TEST
static bool tessera_unchecked;
module_param_named(unchecked, tessera_unchecked, bool, 0600);
MODULE_PARM_DESC(unchecked, "Leave the checking of jobs to the device (default N)");
#else
static const bool tessera_unchecked;
#endif

#endif /* _TESSERA_UNCHECKED_H_ */
