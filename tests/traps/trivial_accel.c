// SPDX-License-Identifier: GPL-2.0-only
/*
 * The least that can be called an accel driver, without a line of its own about ioctls: what goes
 * wrong on its node goes wrong in DRM's core.
 */
#include <linux/module.h>
#include <linux/platform_device.h>

#include <drm/drm_accel.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_ioctl.h>

DEFINE_DRM_ACCEL_FOPS(trivial_fops);

static const struct drm_driver trivial_driver = {
	.driver_features = DRIVER_COMPUTE_ACCEL,
	.fops = &trivial_fops,
	.name = "trivial",
	.desc = "an accel driver that does nothing",
};

static struct platform_device *trivial_device;
static struct drm_device *trivial_drm;

static int __init trivial_init(void)
{
	int ret;

	trivial_device = platform_device_register_simple("trivial", PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(trivial_device))
		return PTR_ERR(trivial_device);
	trivial_drm = drm_dev_alloc(&trivial_driver, &trivial_device->dev);
	ret = PTR_ERR_OR_ZERO(trivial_drm);
	if (ret)
		goto err_device;
	ret = drm_dev_register(trivial_drm, 0);
	if (ret)
		goto err_drm;
	return 0;

err_drm:
	drm_dev_put(trivial_drm);
err_device:
	platform_device_unregister(trivial_device);
	return ret;
}
module_init(trivial_init);

static void __exit trivial_exit(void)
{
	drm_dev_unregister(trivial_drm);
	drm_dev_put(trivial_drm);
	platform_device_unregister(trivial_device);
}
module_exit(trivial_exit);

MODULE_DESCRIPTION("An accel driver that does nothing");
MODULE_LICENSE("GPL");
