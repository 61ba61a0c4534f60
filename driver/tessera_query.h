/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DEV_QUERY: what userspace can ask.
 */
#ifndef _TESSERA_QUERY_H_
#define _TESSERA_QUERY_H_

struct drm_device;
struct drm_file;

int tessera_ioctl_dev_query(struct drm_device *drm, void *data, struct drm_file *drm_file);

#endif /* _TESSERA_QUERY_H_ */
