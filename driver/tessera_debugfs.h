/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files in debugfs: the state of queues and buffers. The device's test registers are in tests/.
 */
#ifndef _TESSERA_DEBUGFS_H_
#define _TESSERA_DEBUGFS_H_

struct tessera_device;

#ifdef CONFIG_DEBUG_FS
void tessera_debugfs_init(struct tessera_device *tdev);
void tessera_test_registers_init(struct tessera_device *tdev);
#else
static inline void tessera_debugfs_init(struct tessera_device *tdev)
{
}
#endif

#endif /* _TESSERA_DEBUGFS_H_ */
