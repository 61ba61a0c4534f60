/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Buffers: memory, its translation table for the device, import and export. Memory is allocated
 * and pinned when the buffer is created, so that running out of it is told there. Those in on-chip
 * memory have no table, but a place (tessera_sram.c).
 */
#ifndef _TESSERA_GEM_H_
#define _TESSERA_GEM_H_

#include <linux/list.h>
#include <linux/types.h>

#include <drm/drm_gem_shmem_helper.h>
#include <drm/drm_mm.h>

struct dma_buf_attachment;
struct drm_file;
struct sg_table;
struct tessera_device;
struct tessera_hw_buffer;

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
	/** @table: DMA addresses of the pages; of a buffer in on-chip memory NULL */
	__le64 *table;
	/** @table_dma: where the device finds it */
	dma_addr_t table_dma;
	/** @table_size: bytes of it */
	size_t table_size;
	/** @sram: in on-chip memory: its place there, while mapped; in &tessera_device.sram_mm */
	struct drm_mm_node sram;
	/** @sram_backup: in on-chip memory: its contents while they have no place there */
	void *sram_backup;
};

static inline struct tessera_bo *to_tessera_bo(struct drm_gem_object *obj)
{
	return container_of(to_drm_gem_shmem_obj(obj), struct tessera_bo, base);
}

extern const struct drm_gem_object_funcs tessera_sram_funcs;

/* Whether it is one in on-chip memory, or was while there was a device */
static inline bool tessera_bo_is_sram(const struct tessera_bo *bo)
{
	return bo->base.base.funcs == &tessera_sram_funcs;
}

struct drm_gem_object *tessera_gem_create_object(struct drm_device *drm, size_t size);
struct drm_gem_object *tessera_gem_import_sg_table(struct drm_device *drm,
						   struct dma_buf_attachment *attach,
						   struct sg_table *sgt);
int tessera_gem_enter_directory(struct tessera_bo *bo, struct tessera_hw_buffer *entry);
void tessera_gem_unmap_all(struct tessera_device *tdev);
void tessera_gem_free(struct drm_gem_object *obj);

int tessera_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *file);
int tessera_ioctl_bo_mmap_offset(struct drm_device *drm, void *data, struct drm_file *file);
int tessera_ioctl_bo_wait(struct drm_device *drm, void *data, struct drm_file *file);

/* tessera_sram.c */
int tessera_sram_init(struct tessera_device *tdev);
void tessera_sram_move(struct tessera_device *tdev, bool is_out);
struct tessera_bo *tessera_sram_create(struct tessera_device *tdev, u64 size, u32 pe);
void tessera_sram_release(struct tessera_bo *bo);

#endif /* _TESSERA_GEM_H_ */
