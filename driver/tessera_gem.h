/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Buffers: memory, its translation table for the device, import and export. Memory is allocated
 * and pinned when the buffer is created, so that running out of it is told there.
 */
#ifndef _TESSERA_GEM_H_
#define _TESSERA_GEM_H_

#include <linux/list.h>
#include <linux/types.h>

#include <drm/drm_gem_shmem_helper.h>

struct dma_buf_attachment;
struct drm_file;
struct sg_table;
struct tessera_device;

/**
 * struct tessera_bo - a buffer
 */
struct tessera_bo {
	/** @base: the GEM object; first, for the helpers free it */
	struct drm_gem_shmem_object base;
	/** @node: in &tessera_device.mapped_buffers while mapped for the device */
	struct list_head node;
	/** @id: its entry in the directory */
	u32 id;
	/** @page_shift: log2 of the bytes that an entry of @table stands for */
	u32 page_shift;
	/** @is_read_only: imported from a file that may not be written */
	bool is_read_only;
	/** @attach: imported: the attachment, while mapped */
	struct dma_buf_attachment *attach;
	/** @table: DMA addresses of the pages */
	__le64 *table;
	/** @table_dma: where the device finds it */
	dma_addr_t table_dma;
	/** @table_size: bytes of it */
	size_t table_size;
};

static inline struct tessera_bo *to_tessera_bo(struct drm_gem_object *obj)
{
	return container_of(to_drm_gem_shmem_obj(obj), struct tessera_bo, base);
}

struct drm_gem_object *tessera_gem_create_object(struct drm_device *drm, size_t size);
struct drm_gem_object *tessera_gem_import_sg_table(struct drm_device *drm,
						   struct dma_buf_attachment *attach,
						   struct sg_table *sgt);
void tessera_gem_unmap_all(struct tessera_device *tdev);

int tessera_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *file);
int tessera_ioctl_bo_mmap_offset(struct drm_device *drm, void *data, struct drm_file *file);
int tessera_ioctl_bo_wait(struct drm_device *drm, void *data, struct drm_file *file);

#endif /* _TESSERA_GEM_H_ */
