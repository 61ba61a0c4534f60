// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which devices are refused: registers as no device of QEMU's has them. It is a part of
 * tessera_device.c, which includes it.
 */
#include <kunit/device.h>
#include <kunit/test.h>

/* One that is good, but for what a test then writes to its registers */
static struct tessera_device *create_device(struct kunit *test)
{
	struct tessera_device *tdev = kunit_kzalloc(test, sizeof(*tdev), GFP_KERNEL);
	void *registers = kunit_kzalloc(test, TESSERA_QUEUE(0), GFP_KERNEL);
	struct device *dev = kunit_device_register(test, "tessera");

	KUNIT_ASSERT_NOT_NULL(test, tdev);
	KUNIT_ASSERT_NOT_NULL(test, registers);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	tdev->drm.dev = dev;
	tdev->regs = (void __iomem __force *)registers;
	writel(TESSERA_ID, tdev->regs + TESSERA_REG_ID);
	writel(TESSERA_VERSION, tdev->regs + TESSERA_REG_VERSION);
	writel(4, tdev->regs + TESSERA_REG_NUM_QUEUES);
	writel(TESSERA_FEATURE_HINTS, tdev->regs + TESSERA_REG_FEATURES);
	return tdev;
}

static int identify_with(struct kunit *test, u32 offset, u32 value)
{
	struct tessera_device *tdev = create_device(test);

	writel(value, tdev->regs + offset);
	return identify(tdev);
}

static void device_of_this_version_is_taken(struct kunit *test)
{
	struct tessera_device *tdev = create_device(test);

	KUNIT_EXPECT_EQ(test, 0, identify(tdev));
	KUNIT_EXPECT_EQ(test, 4, tdev->num_queues);
	KUNIT_EXPECT_EQ(test, TESSERA_VERSION, tdev->hw_version);
}

static void newer_minor_version_is_taken(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, identify_with(test, TESSERA_REG_VERSION, TESSERA_VERSION + 1));
}

static void other_major_version_is_refused(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, -ENODEV, identify_with(test, TESSERA_REG_VERSION,
						     TESSERA_VERSION + (1 << 16)));
}

static void other_id_is_refused(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, -ENODEV, identify_with(test, TESSERA_REG_ID, U32_MAX));
}

static void device_without_queues_is_refused(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, -ENODEV, identify_with(test, TESSERA_REG_NUM_QUEUES, 0));
}

static void most_queues_are_taken(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, identify_with(test, TESSERA_REG_NUM_QUEUES, TESSERA_MAX_QUEUES));
}

static void more_queues_are_refused(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, -ENODEV, identify_with(test, TESSERA_REG_NUM_QUEUES,
						     TESSERA_MAX_QUEUES + 1));
}

static void device_without_hints_is_refused(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, -ENODEV, identify_with(test, TESSERA_REG_FEATURES,
						     ~TESSERA_FEATURE_HINTS));
}

static struct kunit_case tessera_device_cases[] = {
	KUNIT_CASE(device_of_this_version_is_taken),
	KUNIT_CASE(newer_minor_version_is_taken),
	KUNIT_CASE(other_major_version_is_refused),
	KUNIT_CASE(other_id_is_refused),
	KUNIT_CASE(device_without_queues_is_refused),
	KUNIT_CASE(most_queues_are_taken),
	KUNIT_CASE(more_queues_are_refused),
	KUNIT_CASE(device_without_hints_is_refused),
	{ }
};

static struct kunit_suite tessera_device_suite = {
	.name = "tessera_device",
	.test_cases = tessera_device_cases,
};

kunit_test_suite(tessera_device_suite);
