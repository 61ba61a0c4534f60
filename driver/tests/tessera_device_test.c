// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device with a BAR as no device of QEMU's has it; which registers are refused is tested in the
 * guest. It is a part of tessera_device.c, which includes it.
 */
#include <kunit/test.h>

static void device_without_room_for_a_queue_is_refused(struct kunit *test)
{
	struct tessera_device *tdev = kunit_kzalloc(test, sizeof(*tdev), GFP_KERNEL);
	struct pci_dev *pdev = kunit_kzalloc(test, sizeof(*pdev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tdev);
	KUNIT_ASSERT_NOT_NULL(test, pdev);
	pdev->dev.init_name = "tessera";
	pdev->resource[TESSERA_BAR_REGISTERS] = DEFINE_RES_MEM(0, TESSERA_QUEUE(1) - 1);
	tdev->drm.dev = &pdev->dev;
	KUNIT_EXPECT_EQ(test, -ENODEV, map_registers(tdev));
	/* Which is not even enabled */
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&pdev->enable_cnt));
}

static struct kunit_case tessera_device_cases[] = {
	KUNIT_CASE(device_without_room_for_a_queue_is_refused),
	{ }
};

static struct kunit_suite tessera_device_suite = {
	.name = "tessera_device",
	.test_cases = tessera_device_cases,
};

kunit_test_suite(tessera_device_suite);
