// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers. Their memory is that of the shmem helpers; what is added is the translation table that
 * the device reads, of the largest pages that the memory allows. Those in on-chip memory are in
 * tessera_sram.c.
 */
#include <linux/cleanup.h>
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_print.h>
#include <drm/drm_utils.h>
#include <drm/tessera_accel.h>

#include "tessera_compat.h"
#include "tessera_device.h"
#include "tessera_gem.h"

/* Translation tables */

/*
 * The largest page that all of the memory is made of: what follows on without a gap is one run,
 * and each run has to begin on a page in the buffer as well as in memory. 0: there is too little.
 */
static u32 largest_page_shift(struct sg_table *sgt, u64 size)
{
	dma_addr_t expected = 0;
	u64 bits = BIT_ULL(TESSERA_PAGE_MAX_SHIFT) | roundup_pow_of_two(size);
	u64 offset = 0;
	struct scatterlist *sg;
	int i;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		if (!offset || sg_dma_address(sg) != expected)
			bits |= sg_dma_address(sg) | offset;
		expected = sg_dma_address(sg) + sg_dma_len(sg);
		offset += sg_dma_len(sg);
	}
	return offset < size ? 0 : __ffs64(bits);
}

static void fill_table(struct tessera_bo *bo, struct sg_table *sgt)
{
	u64 page_size = 1ULL << bo->page_shift;
	u64 offset = 0, next = 0;
	struct scatterlist *sg;
	int i;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		u64 end = offset + sg_dma_len(sg);

		for (; next < end && next < bo->base.base.size; next += page_size)
			bo->table[next >> bo->page_shift] =
				cpu_to_le64(sg_dma_address(sg) + (next - offset));
		offset = end;
	}
}

static void free_table(struct tessera_bo *bo)
{
	dma_free_coherent(bo->base.base.dev->dev, bo->table_size, bo->table, bo->table_dma);
	bo->table = NULL;
}

/**
 * tessera_gem_enter_directory() - let the device use a buffer
 * @bo: the buffer, which gets a number
 * @entry: what the device is told of it
 *
 * Return: 0 or an error.
 */
int tessera_gem_enter_directory(struct tessera_bo *bo, struct tessera_hw_buffer *entry)
{
	struct tessera_device *tdev = to_tessera_device(bo->base.base.dev);
	int id = ida_alloc_max(&tdev->buffer_ids, tdev->num_buffers - 1, GFP_KERNEL);

	if (id < 0)
		return id;
	bo->id = id;
	guard(mutex)(&tdev->mapped_lock);
	tessera_device_set_buffer(tdev, bo->id, entry);
	list_add_tail(&bo->node, &tdev->mapped_buffers);
	return 0;
}

static int map_bo(struct tessera_bo *bo, struct sg_table *sgt)
{
	struct drm_gem_object *obj = &bo->base.base;
	struct tessera_hw_buffer entry = { };
	int ret;

	bo->page_shift = largest_page_shift(sgt, obj->size);
	if (bo->page_shift < TESSERA_PAGE_MIN_SHIFT) {
		drm_dbg(obj->dev, "memory in pieces of %u bytes, expected %zu in whole pages\n",
			1U << bo->page_shift, obj->size);
		return -EINVAL;
	}
	bo->table_size = DIV_ROUND_UP_ULL(obj->size, 1ULL << bo->page_shift) * sizeof(*bo->table);
	bo->table = dma_alloc_coherent(obj->dev->dev, bo->table_size, &bo->table_dma,
				       GFP_KERNEL | __GFP_NOWARN);
	if (!bo->table)
		return -ENOMEM;
	fill_table(bo, sgt);

	entry.table = cpu_to_le64(bo->table_dma);
	entry.size = cpu_to_le64(obj->size);
	entry.page_shift = cpu_to_le32(bo->page_shift);
	entry.flags = cpu_to_le32(TESSERA_BUFFER_VALID |
				  (bo->is_read_only ? 0 : TESSERA_BUFFER_WRITABLE));
	ret = tessera_gem_enter_directory(bo, &entry);
	if (ret)
		free_table(bo);
	return ret;
}

/* The helpers would do it when the object is freed, but then there may be no device any more. */
static void unmap_pages(struct tessera_bo *bo)
{
	struct drm_gem_shmem_object *shmem = &bo->base;
	struct sg_table *sgt = shmem->sgt;

	shmem->sgt = NULL;
	if (bo->attach) {
		dma_buf_unmap_attachment_unlocked(bo->attach, sgt, DMA_BIDIRECTIONAL);
		return;
	}
	dma_unmap_sgtable(shmem->base.dev->dev, sgt, DMA_BIDIRECTIONAL, 0);
	sg_free_table(sgt);
	kfree(sgt);
}

/* After the device has let go of it. Removal may have been here before. */
static void unmap_bo(struct tessera_bo *bo)
{
	struct tessera_device *tdev = to_tessera_device(bo->base.base.dev);

	lockdep_assert_held(&tdev->mapped_lock);
	if (list_empty(&bo->node))
		return;
	list_del_init(&bo->node);
	ida_free(&tdev->buffer_ids, bo->id);
	if (tessera_bo_is_sram(bo)) {
		tessera_sram_release(bo);
	} else {
		free_table(bo);
		unmap_pages(bo);
	}
}

/**
 * tessera_gem_unmap_all() - take all buffers from a device that goes away
 * @tdev: the device, which no longer touches memory
 *
 * Their memory stays for those who have it mapped or imported, and what was in the device's goes
 * where they find it; that of a device that was pulled out is gone.
 */
void tessera_gem_unmap_all(struct tessera_device *tdev)
{
	struct tessera_bo *bo, *next;

	guard(mutex)(&tdev->mapped_lock);
	/* Nobody writes while it moves: page faults wait, and then find the memory that is left */
	unmap_mapping_range(tdev->drm.anon_inode->i_mapping, 0, 0, 1);
	if (pci_device_is_present(to_pci_dev(tdev->drm.dev)))
		tessera_sram_move(tdev, true);
	list_for_each_entry_safe(bo, next, &tdev->mapped_buffers, node)
		unmap_bo(bo);
	if (tdev->sram)
		drm_mm_takedown(&tdev->sram_mm);
}

/* GEM */

/**
 * tessera_gem_free() - &drm_gem_object_funcs.free
 * @obj: the buffer
 */
void tessera_gem_free(struct drm_gem_object *obj)
{
	struct tessera_device *tdev = to_tessera_device(obj->dev);
	struct tessera_bo *bo = to_tessera_bo(obj);

	if (!list_empty(&bo->node)) {
		tessera_device_clear_buffer(tdev, bo->id);
		scoped_guard(mutex, &tdev->mapped_lock)
			unmap_bo(bo);
	}
	vfree(bo->sram_backup);
	drm_gem_shmem_free(&bo->base);
}

static int tessera_gem_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	if (to_tessera_bo(obj)->is_read_only) {
		if (vma->vm_flags & VM_WRITE)
			return -EACCES;
		vm_flags_clear(vma, VM_MAYWRITE);
	}
	return drm_gem_shmem_object_mmap(obj, vma);
}

static const struct drm_gem_object_funcs tessera_gem_funcs = {
	.free = tessera_gem_free,
	.print_info = drm_gem_shmem_object_print_info,
	.pin = drm_gem_shmem_object_pin,
	.unpin = drm_gem_shmem_object_unpin,
	.get_sg_table = drm_gem_shmem_object_get_sg_table,
	.vmap = drm_gem_shmem_object_vmap,
	.vunmap = drm_gem_shmem_object_vunmap,
	.mmap = tessera_gem_mmap,
	.vm_ops = &drm_gem_shmem_vm_ops,
};

/**
 * tessera_gem_create_object() - &drm_driver.gem_create_object
 * @drm: the device
 * @size: bytes
 *
 * Return: an object for the shmem helpers to fill in, or -ENOMEM.
 */
struct drm_gem_object *tessera_gem_create_object(struct drm_device *drm, size_t size)
{
	struct tessera_bo *bo;

	bo = kzalloc_obj(*bo, GFP_KERNEL);
	if (!bo)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&bo->node);
	bo->base.base.funcs = &tessera_gem_funcs;
	return &bo->base.base;
}

/**
 * tessera_gem_import_sg_table() - &drm_driver.gem_prime_import_sg_table
 * @drm: the device
 * @attach: the attachment
 * @sgt: its memory
 *
 * Return: the object or an error.
 */
struct drm_gem_object *tessera_gem_import_sg_table(struct drm_device *drm,
						   struct dma_buf_attachment *attach,
						   struct sg_table *sgt)
{
	struct drm_gem_object *obj;
	struct tessera_bo *bo;
	int cookie, ret;

	if (!drm_dev_enter(drm, &cookie))
		return ERR_PTR(-ENODEV);
	obj = drm_gem_shmem_prime_import_sg_table(drm, attach, sgt);
	if (IS_ERR(obj))
		goto out_exit;
	bo = to_tessera_bo(obj);
	bo->attach = attach;
	bo->is_read_only = !(attach->dmabuf->file->f_mode & FMODE_WRITE);
	ret = map_bo(bo, sgt);
	if (ret) {
		/* The attachment is not the object's yet: its memory stays the caller's */
		bo->base.sgt = NULL;
		drm_gem_object_put(obj);
		obj = ERR_PTR(ret);
	}
out_exit:
	drm_dev_exit(cookie);
	return obj;
}

/* Ioctls */

static struct tessera_bo *create_bo(struct tessera_device *tdev, u64 size)
{
	struct drm_gem_shmem_object *shmem;
	struct sg_table *sgt;
	int ret;

	shmem = drm_gem_shmem_create(&tdev->drm, size);
	if (IS_ERR(shmem))
		return ERR_CAST(shmem);
	tessera_huge_mount_move(tdev->huge_mount, &shmem->base);
	sgt = drm_gem_shmem_get_pages_sgt(shmem);
	if (IS_ERR(sgt)) {
		ret = PTR_ERR(sgt);
		goto err_put;
	}
	ret = map_bo(to_tessera_bo(&shmem->base), sgt);
	if (ret)
		goto err_put;
	return to_tessera_bo(&shmem->base);

err_put:
	drm_gem_object_put(&shmem->base);
	return ERR_PTR(ret);
}

/**
 * tessera_ioctl_bo_create() - DRM_IOCTL_TESSERA_BO_CREATE
 * @drm: the device
 * @data: &struct drm_tessera_bo_create
 * @file: the file
 *
 * Return: 0 or an error.
 */
int tessera_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct tessera_device *tdev = to_tessera_device(drm);
	struct drm_tessera_bo_create *args = data;
	bool is_sram = args->flags & DRM_TESSERA_BO_SRAM;
	u64 max_size = is_sram ? tdev->sram_size : tdev->max_bo_size;
	u32 num_pes = is_sram ? tdev->num_queues : 1;
	struct tessera_bo *bo;
	int cookie, ret;

	if ((args->flags & ~DRM_TESSERA_BO_SRAM) || args->reserved || !args->size ||
	    args->size > max_size || args->pe >= num_pes) {
		drm_dbg(drm, "flags 0x%x, 0x%x, size %llu of 1 to %llu, pe %u of %u\n",
			args->flags, args->reserved, args->size, max_size, args->pe, num_pes);
		return -EINVAL;
	}
	if (!drm_dev_enter(drm, &cookie))
		return -ENODEV;
	bo = is_sram ? tessera_sram_create(tdev, args->size, args->pe) :
		       create_bo(tdev, args->size);
	if (IS_ERR(bo)) {
		ret = PTR_ERR(bo);
		goto out_exit;
	}
	args->size = bo->base.base.size;
	ret = drm_gem_handle_create(file, &bo->base.base, &args->handle);
	/* The handle has a reference of its own */
	drm_gem_object_put(&bo->base.base);
out_exit:
	drm_dev_exit(cookie);
	return ret;
}

/**
 * tessera_ioctl_bo_mmap_offset() - DRM_IOCTL_TESSERA_BO_MMAP_OFFSET
 * @drm: the device
 * @data: &struct drm_tessera_bo_mmap_offset
 * @file: the file
 *
 * Return: 0 or an error.
 */
int tessera_ioctl_bo_mmap_offset(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_tessera_bo_mmap_offset *args = data;
	struct drm_gem_object *obj;

	if (args->flags) {
		drm_dbg(drm, "flags 0x%x, expected 0\n", args->flags);
		return -EINVAL;
	}
	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;
	args->offset = drm_vma_node_offset_addr(&obj->vma_node);
	drm_gem_object_put(obj);
	return 0;
}

/**
 * tessera_ioctl_bo_wait() - DRM_IOCTL_TESSERA_BO_WAIT
 * @drm: the device
 * @data: &struct drm_tessera_bo_wait
 * @file: the file
 *
 * Touches no hardware, and so does not keep the device from going away: the fences then signal.
 *
 * Return: 0, -ETIME, -ERESTARTSYS, for the timeout is absolute, or an error.
 */
int tessera_ioctl_bo_wait(struct drm_device *drm, void *data, struct drm_file *file)
{
	const struct drm_tessera_bo_wait *args = data;
	bool is_for_write = args->flags & DRM_TESSERA_BO_WAIT_WRITE;
	struct drm_gem_object *obj;
	long ret;

	if (args->flags & ~DRM_TESSERA_BO_WAIT_WRITE) {
		drm_dbg(drm, "unknown flags 0x%x\n", args->flags);
		return -EINVAL;
	}
	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;
	/* Jiffies may lag behind the clock that the timeout is told by: it has to pass on that */
	do {
		ret = dma_resv_wait_timeout(obj->resv, dma_resv_usage_rw(is_for_write), true,
					    drm_timeout_abs_to_jiffies(args->timeout_ns));
	} while (!ret && args->timeout_ns > ktime_to_ns(ktime_get()));
	drm_gem_object_put(obj);
	if (!ret)
		return -ETIME;
	return ret < 0 ? ret : 0;
}

#if IS_ENABLED(CONFIG_DRM_ACCEL_TESSERA_KUNIT_TEST)
#include "tests/tessera_gem_test.c"
#endif
