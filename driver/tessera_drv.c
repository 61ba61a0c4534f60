// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module, the PCI driver and the DRM driver: what is called by others, and in which order.
 */
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/pm_runtime.h>

#include <drm/drm_accel.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_ioctl.h>
#include <drm/tessera_accel.h>

#include "tessera_compat.h"
#include "tessera_device.h"
#include "tessera_drv.h"
#include "tessera_file.h"
#include "tessera_gem.h"
#include "tessera_submit.h"

unsigned int tessera_job_timeout_ms = 10000;
module_param_named(job_timeout_ms, tessera_job_timeout_ms, uint, 0644);
MODULE_PARM_DESC(job_timeout_ms,
		 "Milliseconds without progress until a job is stopped (default 10000, from 100)");

unsigned int tessera_job_limit_ms = 600000;
module_param_named(job_limit_ms, tessera_job_limit_ms, uint, 0644);
MODULE_PARM_DESC(job_limit_ms, "Milliseconds that a job may run (default 600000, 0 for no limit)");

unsigned int tessera_max_buffers = 65536;
module_param_named(max_buffers, tessera_max_buffers, uint, 0444);
MODULE_PARM_DESC(max_buffers, "Buffers that a device can have at a time (default 65536)");

struct workqueue_struct *tessera_free_wq;

static const struct drm_ioctl_desc tessera_ioctls[] = {
#define TESSERA_IOCTL(n, func) \
	DRM_IOCTL_DEF_DRV(TESSERA_##n, tessera_ioctl_##func, 0)

	TESSERA_IOCTL(DEV_QUERY, dev_query),
	TESSERA_IOCTL(BO_CREATE, bo_create),
	TESSERA_IOCTL(BO_MMAP_OFFSET, bo_mmap_offset),
	TESSERA_IOCTL(BO_WAIT, bo_wait),
	TESSERA_IOCTL(SUBMIT, submit),
};

/*
 * Files of an accel node have no master. DRM looks at it all the same in these two, whose numbers
 * are all that it goes by, and so must we.
 */
static bool ioctl_needs_master(unsigned int cmd)
{
	return _IOC_NR(cmd) == _IOC_NR(DRM_IOCTL_GET_UNIQUE) ||
	       _IOC_NR(cmd) == _IOC_NR(DRM_IOCTL_GET_MAGIC);
}

static long tessera_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	return ioctl_needs_master(cmd) ? -EOPNOTSUPP : drm_ioctl(filp, cmd, arg);
}

#ifdef CONFIG_COMPAT
static long tessera_compat_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	return ioctl_needs_master(cmd) ? -EOPNOTSUPP : drm_compat_ioctl(filp, cmd, arg);
}
#endif

static const struct file_operations tessera_fops = {
	.owner = THIS_MODULE,
	.open = accel_open,
	.release = drm_release,
	.unlocked_ioctl = tessera_ioctl,
#ifdef CONFIG_COMPAT
	.compat_ioctl = tessera_compat_ioctl,
#endif
	.poll = drm_poll,
	.read = drm_read,
	.llseek = noop_llseek,
	.mmap = drm_gem_mmap,
	TESSERA_FOPS_UNMAPPED_AREA
	.show_fdinfo = drm_show_fdinfo,
	.fop_flags = FOP_UNSIGNED_OFFSET,
};

/*
 * Driver version:
 * - 0.1 - first interface; it may change until 1.0
 */
static const struct drm_driver tessera_drm_driver = {
	.driver_features = DRIVER_COMPUTE_ACCEL | DRIVER_GEM | DRIVER_SYNCOBJ |
			   DRIVER_SYNCOBJ_TIMELINE,
	.open = tessera_file_open,
	.postclose = tessera_file_close,
	.show_fdinfo = tessera_file_show_fdinfo,
	.ioctls = tessera_ioctls,
	.num_ioctls = ARRAY_SIZE(tessera_ioctls),
	.fops = &tessera_fops,
	.name = TESSERA_NAME,
	.desc = "Tessera tensor layout accelerator",
	TESSERA_DRIVER_DATE
	.major = 0,
	.minor = 1,

	.gem_create_object = tessera_gem_create_object,
	.gem_prime_import_sg_table = tessera_gem_import_sg_table,
};

static int tessera_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct tessera_device *tdev;
	int ret;

	tdev = devm_drm_dev_alloc(&pdev->dev, &tessera_drm_driver, struct tessera_device, drm);
	if (IS_ERR(tdev))
		return PTR_ERR(tdev);
	pci_set_drvdata(pdev, tdev);
	ret = tessera_device_init(tdev);
	if (!ret && IS_ENABLED(CONFIG_DEBUG_FS))
		tessera_debugfs_init(tdev);
	ret = ret ?: drm_dev_register(&tdev->drm, 0);
	if (ret)
		return ret;
	pm_runtime_set_autosuspend_delay(&pdev->dev, TESSERA_AUTOSUSPEND_MS);
	pm_runtime_use_autosuspend(&pdev->dev);
	pm_runtime_allow(&pdev->dev);
	/* The PCI core has woken the device for the probe, and does so for the removal */
	tessera_device_put(tdev);
	return 0;
}

static void tessera_remove(struct pci_dev *pdev)
{
	struct tessera_device *tdev = pci_get_drvdata(pdev);

	pm_runtime_get_sync(&pdev->dev);
	pm_runtime_forbid(&pdev->dev);
	drm_dev_unplug(&tdev->drm);
	tessera_device_unplug(tdev);
	tessera_submission_unmap_all(tdev);
	tessera_gem_unmap_all(tdev);
}

/* Of the system, or of this device alone, which then has nothing to do and no on-chip buffer */
static int tessera_suspend(struct device *dev)
{
	struct tessera_device *tdev = dev_get_drvdata(dev);

	tessera_device_pause(tdev, TESSERA_DRAIN_TIMEOUT_US);
	guard(mutex)(&tdev->mapped_lock);
	tessera_sram_move(tdev, true);
	return 0;
}

static int tessera_resume(struct device *dev)
{
	struct tessera_device *tdev = dev_get_drvdata(dev);

	scoped_guard(mutex, &tdev->mapped_lock)
		tessera_sram_move(tdev, false);
	tessera_device_resume(tdev);
	return 0;
}

static const struct dev_pm_ops tessera_pm_ops = {
	SYSTEM_SLEEP_PM_OPS(tessera_suspend, tessera_resume)
	RUNTIME_PM_OPS(tessera_suspend, tessera_resume, NULL)
};

static void tessera_reset_prepare(struct pci_dev *pdev)
{
	struct tessera_device *tdev = pci_get_drvdata(pdev);

	tessera_device_pause(tdev, 0);
	/* Nobody reaches on-chip memory until the BAR answers again: page faults wait, too */
	mutex_lock(&tdev->mapped_lock);
	unmap_mapping_range(tdev->drm.anon_inode->i_mapping, 0, 0, 1);
}

static void tessera_reset_done(struct pci_dev *pdev)
{
	struct tessera_device *tdev = pci_get_drvdata(pdev);

	mutex_unlock(&tdev->mapped_lock);
	tessera_device_resume(tdev);
}

static const struct pci_error_handlers tessera_error_handlers = {
	.reset_prepare = tessera_reset_prepare,
	.reset_done = tessera_reset_done,
};

static const struct pci_device_id tessera_ids[] = {
	{ PCI_DEVICE(TESSERA_PCI_VENDOR_ID, TESSERA_PCI_DEVICE_ID) },
	{ }
};
MODULE_DEVICE_TABLE(pci, tessera_ids);

static struct pci_driver tessera_pci_driver = {
	.name = TESSERA_NAME,
	.id_table = tessera_ids,
	.probe = tessera_probe,
	.remove = tessera_remove,
	/* A kernel that is shut down, or that starts another: the device must leave memory alone */
	.shutdown = tessera_remove,
	.err_handler = &tessera_error_handlers,
	.dev_groups = tessera_dev_groups,
	.driver.pm = pm_ptr(&tessera_pm_ops),
};

static int __init tessera_init(void)
{
	int ret;

	tessera_free_wq = alloc_workqueue(TESSERA_NAME "-free", WQ_UNBOUND, 0);
	if (!tessera_free_wq)
		return -ENOMEM;
	tessera_sysfs_init();
	ret = pci_register_driver(&tessera_pci_driver);
	if (ret)
		destroy_workqueue(tessera_free_wq);
	return ret;
}
module_init(tessera_init);

static void __exit tessera_exit(void)
{
	pci_unregister_driver(&tessera_pci_driver);
	destroy_workqueue(tessera_free_wq);
}
module_exit(tessera_exit);

TESSERA_IMPORT_NS_DMA_BUF();
MODULE_DESCRIPTION("Driver for the Tessera tensor layout accelerator");
MODULE_LICENSE("GPL");
