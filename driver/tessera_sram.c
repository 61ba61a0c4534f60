// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers in on-chip memory: each is a piece of BAR 2, in the part of the processing element that
 * was asked for. Beside it each has as much system memory, set aside when it is created: its
 * contents move there when the system goes to sleep, and for good when the device goes away.
 */
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include <drm/drm_drv.h>
#include <drm/drm_print.h>
#include <drm/drm_vma_manager.h>

#include "tessera_device.h"
#include "tessera_drv.h"
#include "tessera_gem.h"

/* Contents */

static void __iomem *sram_of(struct tessera_bo *bo)
{
	return to_tessera_device(bo->base.base.dev)->sram + bo->sram.start;
}

/* Moved and not copied: whoever has the device meanwhile finds nothing */
static void move_out(struct tessera_bo *bo)
{
	memcpy_fromio(bo->sram_backup, sram_of(bo), bo->base.base.size);
	memset_io(sram_of(bo), 0, bo->base.base.size);
}

static void move_in(struct tessera_bo *bo)
{
	memcpy_toio(sram_of(bo), bo->sram_backup, bo->base.base.size);
	memset(bo->sram_backup, 0, bo->base.base.size);
	/* Out of the processor's write buffers, before a job looks */
	wmb();
}

/**
 * tessera_sram_move() - move what is in on-chip memory to system memory, or back
 * @tdev: a device at rest, whose &tessera_device.mapped_lock the caller has
 * @is_out: to system memory
 */
void tessera_sram_move(struct tessera_device *tdev, bool is_out)
{
	struct tessera_bo *bo;

	lockdep_assert_held(&tdev->mapped_lock);
	list_for_each_entry(bo, &tdev->mapped_buffers, node)
		if (tessera_bo_is_sram(bo))
			(is_out ? move_out : move_in)(bo);
}

/* Placement */

static int place(struct tessera_bo *bo, u32 pe)
{
	struct tessera_device *tdev = to_tessera_device(bo->base.base.dev);
	size_t size = bo->base.base.size;
	u64 start = pe * tdev->sram_size;
	int ret;

	guard(mutex)(&tdev->mapped_lock);
	ret = drm_mm_insert_node_in_range(&tdev->sram_mm, &bo->sram, size, PAGE_SIZE, 0, start,
					  start + tdev->sram_size, DRM_MM_INSERT_BEST);
	if (ret) {
		drm_dbg(&tdev->drm, "no %zu bytes left in the memory of pe %u\n", size, pe);
		return ret;
	}
	/* What was there is another's */
	memset_io(sram_of(bo), 0, size);
	/* Out of the processor's write buffers, before a job looks */
	wmb();
	return 0;
}

/**
 * tessera_sram_release() - give back the place of a buffer
 * @bo: the buffer, which the device has let go of
 */
void tessera_sram_release(struct tessera_bo *bo)
{
	struct tessera_device *tdev = to_tessera_device(bo->base.base.dev);

	lockdep_assert_held(&tdev->mapped_lock);
	drm_mm_remove_node(&bo->sram);
	tessera_device_put(tdev);
}

/* The device stays awake for as long as the buffer has a place: asleep it has no BAR */
static int map(struct tessera_bo *bo, u32 pe)
{
	struct tessera_device *tdev = to_tessera_device(bo->base.base.dev);
	struct tessera_hw_buffer entry = {
		.size = cpu_to_le64(bo->base.base.size),
		.flags = cpu_to_le32(TESSERA_BUFFER_VALID | TESSERA_BUFFER_WRITABLE |
				     TESSERA_BUFFER_SRAM),
	};
	int cookie, ret;

	if (!tessera_device_enter(tdev, &cookie))
		return -ENODEV;
	ret = place(bo, pe);
	if (ret) {
		tessera_device_exit(tdev, cookie);
		return ret;
	}
	entry.table = cpu_to_le64(bo->sram.start);
	ret = tessera_gem_enter_directory(bo, &entry);
	if (ret) {
		guard(mutex)(&tdev->mapped_lock);
		tessera_sram_release(bo);
	}
	drm_dev_exit(cookie);
	return ret;
}

/* GEM */

static vm_fault_t tessera_sram_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct drm_gem_object *obj = vma->vm_private_data;
	struct tessera_device *tdev = to_tessera_device(obj->dev);
	struct tessera_bo *bo = to_tessera_bo(obj);
	struct pci_dev *pdev = to_pci_dev(obj->dev->dev);
	/* Not counted from where the mapping begins: its first pages may be unmapped */
	u64 offset = (u64)(vmf->pgoff - drm_vma_node_start(&obj->vma_node)) << PAGE_SHIFT;
	u64 bar = pci_resource_start(pdev, TESSERA_BAR_SRAM);

	guard(mutex)(&tdev->mapped_lock);
	/* Pulled out: all mappings end in drm_dev_unplug(), before a fence tells anybody */
	if (drm_mm_node_allocated(&bo->sram) && pdev->error_state != pci_channel_io_perm_failure)
		return vmf_insert_pfn(vma, vmf->address, PHYS_PFN(bar + bo->sram.start + offset));
	return vmf_insert_pfn_prot(vma, vmf->address, vmalloc_to_pfn(bo->sram_backup + offset),
				   vm_get_page_prot(vma->vm_flags));
}

static const struct vm_operations_struct tessera_sram_vm_ops = {
	.fault = tessera_sram_fault,
	.open = drm_gem_vm_open,
	.close = drm_gem_vm_close,
};

static int tessera_sram_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	if (is_cow_mapping(vma->vm_flags))
		return -EINVAL;
	vm_flags_set(vma, VM_PFNMAP | VM_IO | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_page_prot = pgprot_writecombine(vm_get_page_prot(vma->vm_flags));
	vma->vm_page_prot = pgprot_decrypted(vma->vm_page_prot);
	return 0;
}

/* Other devices do not reach it */
static struct dma_buf *tessera_sram_export(struct drm_gem_object *obj, int flags)
{
	return ERR_PTR(-EOPNOTSUPP);
}

const struct drm_gem_object_funcs tessera_sram_funcs = {
	.free = tessera_gem_free,
	.export = tessera_sram_export,
	.mmap = tessera_sram_mmap,
	.vm_ops = &tessera_sram_vm_ops,
};

/**
 * tessera_sram_create() - a buffer in on-chip memory
 * @tdev: the device
 * @size: bytes, at most &tessera_device.sram_size
 * @pe: the processing element
 *
 * Return: the buffer, -ENOSPC when there is no room for it, or another error.
 */
struct tessera_bo *tessera_sram_create(struct tessera_device *tdev, u64 size, u32 pe)
{
	struct drm_gem_shmem_object *shmem = drm_gem_shmem_create(&tdev->drm, size);
	struct tessera_bo *bo;
	int ret;

	if (IS_ERR(shmem))
		return ERR_CAST(shmem);
	shmem->base.funcs = &tessera_sram_funcs;
	bo = to_tessera_bo(&shmem->base);
	bo->sram_backup = __vmalloc(shmem->base.size,
				    GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
	ret = bo->sram_backup ? map(bo, pe) : -ENOMEM;
	if (!ret)
		return bo;
	drm_gem_object_put(&shmem->base);
	return ERR_PTR(ret);
}

/* Bringing up */

/**
 * tessera_sram_init() - map the BAR, if the device has on-chip memory
 * @tdev: a device of which it is known what it has
 *
 * Return: 0 or an error, which is in the log with its reason.
 */
int tessera_sram_init(struct tessera_device *tdev)
{
	struct pci_dev *pdev = to_pci_dev(tdev->drm.dev);
	resource_size_t bar_size = pci_resource_len(pdev, TESSERA_BAR_SRAM);
	u64 size;
	int ret;

	if (!tdev->sram_size)
		return 0;
	if (check_mul_overflow(tdev->sram_size, (u64)tdev->num_queues, &size) || size > bar_size)
		return dev_err_probe(&pdev->dev, -ENODEV,
				     "%pa bytes of on-chip memory, expected %u times %llu\n",
				     &bar_size, tdev->num_queues, tdev->sram_size);
	ret = pcim_request_region(pdev, TESSERA_BAR_SRAM, TESSERA_NAME);
	if (ret)
		return dev_err_probe(&pdev->dev, ret, "no on-chip memory\n");
	tdev->sram = devm_ioremap_wc(&pdev->dev, pci_resource_start(pdev, TESSERA_BAR_SRAM), size);
	if (!tdev->sram)
		return -ENOMEM;
	drm_mm_init(&tdev->sram_mm, 0, size);
	return 0;
}

#if IS_ENABLED(CONFIG_DRM_ACCEL_TESSERA_KUNIT_TEST)
#include "tests/tessera_sram_test.c"
#endif
