// SPDX-License-Identifier: GPL-2.0-only
/*
 * The watch: which looks, at which times, make of a job one that hangs. The registers are memory,
 * and time goes by where a test says so. It is a part of tessera_queue.c, which includes it.
 */
#include <kunit/test.h>

#define WATCH_TIMEOUT_MS	1000

struct watch {
	struct tessera_device tdev;
	struct tessera_queue queue;
	u32 job_limit_ms;
	u8 regs[TESSERA_QUEUE(1)] __aligned(8);
};

static int watch_init(struct kunit *test)
{
	struct watch *watch = kunit_kzalloc(test, sizeof(*watch), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, watch);
	watch->job_limit_ms = tessera_job_limit_ms;
	tessera_job_limit_ms = 0;
	watch->tdev.regs = (void __iomem __force *)watch->regs;
	watch->queue.tdev = &watch->tdev;
	watch->queue.regs = watch->tdev.regs + TESSERA_QUEUE(0);
	watch->queue.timeout_ms = WATCH_TIMEOUT_MS;
	watch->queue.watched_completed = U64_MAX;
	test->priv = watch;
	return 0;
}

static void watch_exit(struct kunit *test)
{
	struct watch *watch = test->priv;

	if (watch)
		tessera_job_limit_ms = watch->job_limit_ms;
}

/* At the queue's job, which is running, so many jiffies after the last look */
static const char *look(struct kunit *test, unsigned long passed)
{
	struct watch *watch = test->priv;

	return find_hang(&watch->queue, TESSERA_QUEUE_STATUS_BUSY,
			 watch->queue.watch_time + passed);
}

/* So many looks in time, at each of which all is well */
static void look_well(struct kunit *test, int num_looks)
{
	struct watch *watch = test->priv;

	while (num_looks--)
		KUNIT_EXPECT_NULL(test, look(test, watch_period(&watch->queue)));
}

static void job_that_stands_still_hangs(struct kunit *test)
{
	struct watch *watch = test->priv;

	look_well(test, 4);
	KUNIT_EXPECT_STREQ(test, "makes no progress", look(test, watch_period(&watch->queue)));
}

static void job_that_is_not_looked_at_for_long_does_not_hang(struct kunit *test)
{
	look_well(test, 1);
	KUNIT_EXPECT_NULL(test, look(test, 100 * msecs_to_jiffies(WATCH_TIMEOUT_MS)));
}

static void late_look_counts_as_two(struct kunit *test)
{
	struct watch *watch = test->priv;

	look_well(test, 1);
	KUNIT_EXPECT_NULL(test, look(test, 100 * msecs_to_jiffies(WATCH_TIMEOUT_MS)));
	look_well(test, 1);
	KUNIT_EXPECT_STREQ(test, "makes no progress", look(test, watch_period(&watch->queue)));
}

static void looks_close_together_count_for_the_time_between(struct kunit *test)
{
	unsigned long left = msecs_to_jiffies(WATCH_TIMEOUT_MS);

	look_well(test, 1);
	while (--left)
		KUNIT_EXPECT_NULL(test, look(test, 1));
	KUNIT_EXPECT_STREQ(test, "makes no progress", look(test, 1));
}

static void job_that_advances_does_not_hang(struct kunit *test)
{
	struct watch *watch = test->priv;

	look_well(test, 4);
	lo_hi_writeq(BIT_ULL(32), watch->queue.regs + TESSERA_QUEUE_PROGRESS);
	look_well(test, 4);
	KUNIT_EXPECT_STREQ(test, "makes no progress", look(test, watch_period(&watch->queue)));
}

static void queue_that_completes_jobs_does_not_hang(struct kunit *test)
{
	struct watch *watch = test->priv;

	look_well(test, 4);
	watch->queue.completed++;
	look_well(test, 4);
	KUNIT_EXPECT_STREQ(test, "makes no progress", look(test, watch_period(&watch->queue)));
}

static void queue_that_waits_for_others_does_not_hang(struct kunit *test)
{
	struct watch *watch = test->priv;
	int k;

	writel(TESSERA_STATUS_BUSY, watch->tdev.regs + TESSERA_REG_STATUS);
	for (k = 0; k < 100; k++)
		KUNIT_EXPECT_NULL(test, find_hang(&watch->queue, 0, watch->queue.watch_time +
						  watch_period(&watch->queue)));
	look_well(test, 3);
	KUNIT_EXPECT_STREQ(test, "makes no progress", look(test, watch_period(&watch->queue)));
}

static void job_that_advances_for_ever_takes_too_long(struct kunit *test)
{
	struct watch *watch = test->priv;
	u32 k;

	tessera_job_limit_ms = 2 * WATCH_TIMEOUT_MS;
	for (k = 0; k <= 8; k++) {
		const char *fault = look(test, watch_period(&watch->queue));

		if (k < 8)
			KUNIT_EXPECT_NULL(test, fault);
		else
			KUNIT_EXPECT_STREQ(test, "takes too long", fault);
		writel(k + 1, watch->queue.regs + TESSERA_QUEUE_PROGRESS);
	}
}

static void limit_shorter_than_the_timeout_is_met(struct kunit *test)
{
	struct watch *watch = test->priv;

	tessera_job_limit_ms = WATCH_TIMEOUT_MS / 4;
	look_well(test, 4);
	KUNIT_EXPECT_STREQ(test, "takes too long", look(test, watch_period(&watch->queue)));
}

static struct kunit_case tessera_queue_cases[] = {
	KUNIT_CASE(job_that_stands_still_hangs),
	KUNIT_CASE(job_that_is_not_looked_at_for_long_does_not_hang),
	KUNIT_CASE(late_look_counts_as_two),
	KUNIT_CASE(looks_close_together_count_for_the_time_between),
	KUNIT_CASE(job_that_advances_does_not_hang),
	KUNIT_CASE(queue_that_completes_jobs_does_not_hang),
	KUNIT_CASE(queue_that_waits_for_others_does_not_hang),
	KUNIT_CASE(job_that_advances_for_ever_takes_too_long),
	KUNIT_CASE(limit_shorter_than_the_timeout_is_met),
	{ }
};

static struct kunit_suite tessera_queue_suite = {
	.name = "tessera_queue",
	.init = watch_init,
	.exit = watch_exit,
	.test_cases = tessera_queue_cases,
};

kunit_test_suite(tessera_queue_suite);
