// SPDX-License-Identifier: GPL-2.0-only
/*
 * On-chip memory: where buffers are placed, and what is moved when the system sleeps. The memory is
 * the test's own, of a device that has no more than that. It is a part of tessera_sram.c, which
 * includes it.
 */
#include <kunit/test.h>

#define NUM_PES		3
#define PE_SIZE		(4 * PAGE_SIZE)

static int sram_init(struct kunit *test)
{
	struct tessera_device *tdev = kunit_kzalloc(test, sizeof(*tdev), GFP_KERNEL);
	void *memory = kunit_kzalloc(test, NUM_PES * PE_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, tdev);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	mutex_init(&tdev->mapped_lock);
	INIT_LIST_HEAD(&tdev->mapped_buffers);
	tdev->num_queues = NUM_PES;
	tdev->sram_size = PE_SIZE;
	tdev->sram = (void __iomem __force *)memory;
	drm_mm_init(&tdev->sram_mm, 0, NUM_PES * PE_SIZE);
	test->priv = tdev;
	return 0;
}

static void sram_exit(struct kunit *test)
{
	struct tessera_device *tdev = test->priv;
	struct drm_mm_node *node, *next;

	if (!tdev)
		return;
	drm_mm_for_each_node_safe(node, next, &tdev->sram_mm)
		drm_mm_remove_node(node);
	drm_mm_takedown(&tdev->sram_mm);
	mutex_destroy(&tdev->mapped_lock);
}

static struct tessera_bo *create_at(struct kunit *test, size_t size)
{
	struct tessera_device *tdev = test->priv;
	struct tessera_bo *bo = kunit_kzalloc(test, sizeof(*bo), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bo);
	bo->base.base.dev = &tdev->drm;
	bo->base.base.funcs = &tessera_sram_funcs;
	bo->base.base.size = size;
	bo->sram_backup = kunit_kzalloc(test, size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bo->sram_backup);
	return bo;
}

static u8 *contents(struct tessera_bo *bo)
{
	return (u8 __force *)sram_of(bo);
}

static void buffer_is_in_the_part_of_its_pe(struct kunit *test)
{
	u32 pe;

	for (pe = 0; pe < NUM_PES; pe++) {
		struct tessera_bo *bo = create_at(test, PAGE_SIZE);

		KUNIT_ASSERT_EQ(test, 0, place(bo, pe));
		KUNIT_EXPECT_GE(test, bo->sram.start, pe * PE_SIZE);
		KUNIT_EXPECT_LE(test, bo->sram.start + bo->sram.size, (pe + 1) * PE_SIZE);
	}
}

static void full_pe_takes_none_from_others(struct kunit *test)
{
	struct tessera_bo *whole = create_at(test, PE_SIZE);
	struct tessera_bo *more = create_at(test, PAGE_SIZE);

	KUNIT_ASSERT_EQ(test, 0, place(whole, 1));
	KUNIT_EXPECT_EQ(test, -ENOSPC, place(more, 1));
	KUNIT_EXPECT_EQ(test, 0, place(more, 2));
}

static void place_is_cleared_of_what_was_there(struct kunit *test)
{
	struct tessera_device *tdev = test->priv;
	struct tessera_bo *bo = create_at(test, PAGE_SIZE);

	memset((void __force *)tdev->sram, 0x55, NUM_PES * PE_SIZE);
	KUNIT_ASSERT_EQ(test, 0, place(bo, 1));
	KUNIT_EXPECT_PTR_EQ(test, NULL, memchr_inv(contents(bo), 0, PAGE_SIZE));
	KUNIT_EXPECT_PTR_EQ(test, NULL, memchr_inv(contents(bo) + PAGE_SIZE, 0x55, PAGE_SIZE));
}

static void contents_move_out_and_in_again(struct kunit *test)
{
	struct tessera_device *tdev = test->priv;
	struct tessera_bo *bos[NUM_PES];
	u32 pe;

	for (pe = 0; pe < NUM_PES; pe++) {
		bos[pe] = create_at(test, (pe + 1) * PAGE_SIZE);
		KUNIT_ASSERT_EQ(test, 0, place(bos[pe], pe));
		list_add_tail(&bos[pe]->node, &tdev->mapped_buffers);
		memset(contents(bos[pe]), pe + 1, bos[pe]->base.base.size);
	}
	guard(mutex)(&tdev->mapped_lock);
	tessera_sram_move(tdev, true);
	KUNIT_EXPECT_PTR_EQ(test, NULL,
			    memchr_inv((void __force *)tdev->sram, 0, NUM_PES * PE_SIZE));
	memset((void __force *)tdev->sram, 0x55, NUM_PES * PE_SIZE);
	tessera_sram_move(tdev, false);
	for (pe = 0; pe < NUM_PES; pe++) {
		size_t size = bos[pe]->base.base.size;

		KUNIT_EXPECT_PTR_EQ(test, NULL, memchr_inv(contents(bos[pe]), pe + 1, size));
		KUNIT_EXPECT_PTR_EQ(test, NULL, memchr_inv(bos[pe]->sram_backup, 0, size));
	}
}

static struct kunit_case tessera_sram_cases[] = {
	KUNIT_CASE(buffer_is_in_the_part_of_its_pe),
	KUNIT_CASE(full_pe_takes_none_from_others),
	KUNIT_CASE(place_is_cleared_of_what_was_there),
	KUNIT_CASE(contents_move_out_and_in_again),
	{ }
};

static struct kunit_suite tessera_sram_suite = {
	.name = "tessera_sram",
	.init = sram_init,
	.exit = sram_exit,
	.test_cases = tessera_sram_cases,
};

kunit_test_suite(tessera_sram_suite);
