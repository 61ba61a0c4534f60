/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files in sysfs. Documentation/driver.rst lists them.
 */
#ifndef _TESSERA_SYSFS_H_
#define _TESSERA_SYSFS_H_

struct tessera_device;

int tessera_sysfs_init(struct tessera_device *tdev);

#endif /* _TESSERA_SYSFS_H_ */
