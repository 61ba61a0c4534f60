/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels that the driver is built for, Linux 6.12 and newer. The rest
 * of the driver has no knowledge of versions.
 */
#ifndef _TESSERA_COMPAT_H_
#define _TESSERA_COMPAT_H_

#include <linux/dma-fence.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <linux/workqueue.h>

#include <drm/drm_accel.h>
#include <drm/drm_device.h>
#include <drm/drm_drv.h>
#include <drm/drm_gem.h>
#include <drm/drm_managed.h>
#include <drm/gpu_scheduler.h>

/* Linux 7.0 allocates by type. */
#ifndef kzalloc_obj
#define kzalloc_obj(object, flags)	kzalloc(sizeof(object), flags)
#define kmalloc_obj(object, flags)	kmalloc(sizeof(object), flags)
#endif

/* Linux 6.13 takes the namespace as a string. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#define TESSERA_IMPORT_NS_DMA_BUF()	MODULE_IMPORT_NS("DMA_BUF")
#else
#define TESSERA_IMPORT_NS_DMA_BUF()	MODULE_IMPORT_NS(DMA_BUF)
#endif

/* Linux 6.14 has no date any more, and wants to be told that it is known which memory is active. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0)
#define TESSERA_DRIVER_DATE
#define TESSERA_MEMORY_STATUS	(DRM_GEM_OBJECT_RESIDENT | DRM_GEM_OBJECT_ACTIVE)
#else
#define TESSERA_DRIVER_DATE	.date = "20261120",
#define TESSERA_MEMORY_STATUS	DRM_GEM_OBJECT_RESIDENT
#endif

/* Linux 6.18 wants to be told that a workqueue is bound to processors. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
#define TESSERA_WQ_PERCPU	WQ_PERCPU
#else
#define TESSERA_WQ_PERCPU	0
#endif

/* Linux 6.15 takes a structure. The driver has its own watch, so the scheduler gets no timeout. */
static inline int tessera_sched_init(struct drm_gpu_scheduler *sched,
				     const struct drm_sched_backend_ops *ops,
				     struct workqueue_struct *submit_wq, u32 credits,
				     const char *name, struct device *dev)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
	const struct drm_sched_init_args args = {
		.ops = ops,
		.submit_wq = submit_wq,
		.num_rqs = DRM_SCHED_PRIORITY_COUNT,
		.credit_limit = credits,
		.timeout = MAX_SCHEDULE_TIMEOUT,
		.name = name,
		.dev = dev,
	};

	return drm_sched_init(sched, &args);
#else
	return drm_sched_init(sched, ops, submit_wq, DRM_SCHED_PRIORITY_COUNT, credits, 0,
			      MAX_SCHEDULE_TIMEOUT, NULL, NULL, name, dev);
#endif
}

/*
 * Linux 6.17 wants to know the client, for its trace events, and so do stable kernels of 6.12 from
 * some version on. The function's type tells.
 */
typedef int (*tessera_job_init_t)(struct drm_sched_job *job, struct drm_sched_entity *entity,
				  u32 credits, void *owner);
typedef int (*tessera_job_init_client_t)(struct drm_sched_job *job,
					 struct drm_sched_entity *entity, u32 credits, void *owner,
					 u64 client_id);

static inline int tessera_job_init(tessera_job_init_t init, struct drm_sched_job *job,
				   struct drm_sched_entity *entity, u32 credits, void *owner,
				   u64 client_id)
{
	return init(job, entity, credits, owner);
}

static inline int tessera_job_init_client(tessera_job_init_client_t init, struct drm_sched_job *job,
					  struct drm_sched_entity *entity, u32 credits,
					  void *owner, u64 client_id)
{
	return init(job, entity, credits, owner, client_id);
}

#define tessera_sched_job_init(job, entity, credits, owner, client_id)		\
	(__builtin_choose_expr(__same_type(&drm_sched_job_init, tessera_job_init_client_t),	\
			       tessera_job_init_client, tessera_job_init)		\
	 (&drm_sched_job_init, job, entity, credits, owner, client_id))

/* Linux 6.17 tells by the function and no more by the operations that numbers have 64 bits. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define TESSERA_FENCE_OPS_64BIT
#define tessera_fence_init	dma_fence_init64
#else
#define TESSERA_FENCE_OPS_64BIT	.use_64bit_seqno = true,
#define tessera_fence_init	dma_fence_init
#endif

/* Linux 7.2 looks for an aligned address, so that huge pages can be mapped. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 2, 0)
#define TESSERA_FOPS_UNMAPPED_AREA	.get_unmapped_area = drm_gem_get_unmapped_area,
#else
#define TESSERA_FOPS_UNMAPPED_AREA
#endif

/*
 * Buffers come from a tmpfs mount of the device's own that gives huge pages. Since Linux 7.2 DRM
 * can keep that mount and creates buffers there. Before, each is moved there when it is new.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 2, 0)
static inline int tessera_huge_mount_create(struct drm_device *drm, struct vfsmount **mount)
{
	return drm_gem_huge_mnt_create(drm, "within_size");
}

static inline void tessera_huge_mount_move(struct vfsmount *mount, struct drm_gem_object *obj)
{
}
#else
static inline void tessera_huge_mount_free(struct drm_device *drm, void *mount)
{
	kern_unmount(mount);
}

static inline int tessera_huge_mount_create(struct drm_device *drm, struct vfsmount **mount)
{
	char options[] = "huge=within_size";
	/* Always built in, so that there is no module whose reference would have to be put */
	struct file_system_type *type = get_fs_type("tmpfs");
	struct vfsmount *huge;

	if (!type)
		return -EOPNOTSUPP;
	huge = vfs_kern_mount(type, SB_KERNMOUNT, type->name, options);
	if (IS_ERR(huge))
		return PTR_ERR(huge);
	*mount = huge;
	return drmm_add_action_or_reset(drm, tessera_huge_mount_free, *mount);
}

/* Only for an object that has no pages yet */
static inline void tessera_huge_mount_move(struct vfsmount *mount, struct drm_gem_object *obj)
{
	struct file *filp;

	if (!mount)
		return;
	filp = shmem_file_setup_with_mnt(mount, "drm mm object", obj->size, VM_NORESERVE);
	if (IS_ERR(filp))
		return;
	mapping_set_gfp_mask(filp->f_mapping, mapping_gfp_mask(obj->filp->f_mapping));
	fput(obj->filp);
	obj->filp = filp;
}
#endif

#endif /* _TESSERA_COMPAT_H_ */
