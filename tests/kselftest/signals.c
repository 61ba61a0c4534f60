// SPDX-License-Identifier: MIT
/*
 * Ioctls that are interrupted by signals: a wait gives way, can be taken up again, and ends when it
 * should; a submission is made once or not at all. The signals come from a timer, and what is
 * waited for is a gate that is opened after the third.
 */
#include "tessera_test.h"

#include <signal.h>
#include <sys/time.h>

#define SIZE	TEST_PAGE_SIZE

static struct test_gate gate;
static volatile sig_atomic_t signals;

static void count_and_open(int number)
{
	int error = errno;

	if (++signals == 3)
		test_gate_signal(&gate);
	errno = error;
}

static void count(int number)
{
	signals++;
}

/* Signals from now on, every two milliseconds */
static void start_signals(struct __test_metadata *_metadata, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	struct itimerval period = { .it_interval.tv_usec = 2000, .it_value.tv_usec = 2000 };

	signals = 0;
	ASSERT_EQ(0, sigaction(SIGALRM, &action, NULL));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &period, NULL));
}

static void stop_signals(struct __test_metadata *_metadata)
{
	struct itimerval never = {};

	ASSERT_EQ(0, setitimer(ITIMER_REAL, &never, NULL));
}

FIXTURE(signals) {
	int fd;
	struct test_buffer destination;
	struct test_buffer source;
	struct test_job job;
};

FIXTURE_SETUP(signals)
{
	self->fd = test_open(_metadata);
	self->destination = test_buffer_create(_metadata, self->fd, SIZE);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
	test_fill(self->source.map, SIZE, 1);
	test_job_copy(&self->job, self->destination.handle, self->source.handle, SIZE / 4);
}

FIXTURE_TEARDOWN(signals)
{
	close(self->fd);
}

TEST_F(signals, interrupted_wait_can_be_taken_up_again)
{
	struct drm_tessera_bo_wait wait = {
		.handle = self->destination.handle,
		.timeout_ns = INT64_MAX,
	};
	int interruptions = 0, ret;

	TEST_GATE_OR_SKIP(self->fd, &gate);
	test_submit_gated(_metadata, self->fd, &self->job, &gate, NULL);
	start_signals(_metadata, count, 0);
	/* not by the handler: on a slow machine three signals come before the wait */
	while ((ret = ioctl(self->fd, DRM_IOCTL_TESSERA_BO_WAIT, &wait)) && errno == EINTR)
		if (++interruptions == 3)
			ASSERT_EQ(0, test_gate_signal(&gate));
	stop_signals(_metadata);
	EXPECT_EQ(0, ret);
	EXPECT_GE(interruptions, 3);
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
}

TEST_F(signals, interrupted_wait_restarts_by_itself_where_the_handler_says_so)
{
	struct drm_tessera_bo_wait wait = {
		.handle = self->destination.handle,
		.timeout_ns = INT64_MAX,
	};

	TEST_GATE_OR_SKIP(self->fd, &gate);
	test_submit_gated(_metadata, self->fd, &self->job, &gate, NULL);
	start_signals(_metadata, count_and_open, SA_RESTART);
	EXPECT_EQ(0, ioctl(self->fd, DRM_IOCTL_TESSERA_BO_WAIT, &wait));
	stop_signals(_metadata);
	EXPECT_GE(signals, 3);
	EXPECT_EQ(SIZE, test_filled(self->destination.map, SIZE, 1));
}

TEST_F(signals, interruptions_do_not_prolong_a_timeout)
{
	struct drm_tessera_bo_wait wait = {
		.handle = self->destination.handle,
		.timeout_ns = test_now_ns() + 50000000,
	};

	TEST_GATE_OR_SKIP(self->fd, &gate);
	test_submit_gated(_metadata, self->fd, &self->job, &gate, NULL);
	start_signals(_metadata, count, 0);
	EXPECT_EQ(-ETIME, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_WAIT, &wait));
	stop_signals(_metadata);
	ASSERT_EQ(0, test_gate_signal(&gate));
}

TEST_F(signals, submissions_under_signals_are_made_exactly_once)
{
	struct test_buffer counter = test_buffer_create(_metadata, self->fd, SIZE);
	struct drm_tessera_submit submit;
	struct test_job add;
	__u32 k;

	test_job_increment(&add, counter.handle);
	submit = test_submission(&add.job, 1);
	start_signals(_metadata, count, 0);
	for (k = 1; k <= 300; k++) {
		ASSERT_EQ(0, test_submit(self->fd, &submit));
		ASSERT_EQ(k, submit.id);
	}
	ASSERT_EQ(0, test_buffer_wait(self->fd, counter.handle, 0, INT64_MAX));
	stop_signals(_metadata);
	EXPECT_EQ(300, *(__u32 *)counter.map);
}

TEST_F(signals, buffers_come_and_go_under_signals)
{
	int k;

	start_signals(_metadata, count, 0);
	for (k = 0; k < 100; k++) {
		struct test_buffer buffer = test_buffer_create(_metadata, self->fd, 1 << 20);

		test_buffer_destroy(_metadata, self->fd, &buffer);
	}
	stop_signals(_metadata);
}

TEST_F(signals, process_that_waits_can_be_killed)
{
	pid_t child;
	int status;

	TEST_GATE_OR_SKIP(self->fd, &gate);
	child = fork();
	ASSERT_GE(child, 0);
	if (!child) {
		test_submit_gated(_metadata, self->fd, &self->job, &gate, NULL);
		signal(SIGALRM, SIG_DFL);
		alarm(1);
		test_buffer_wait(self->fd, self->destination.handle, 0, INT64_MAX);
		_exit(1);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(SIGALRM, WTERMSIG(status));
	ASSERT_EQ(0, test_gate_signal(&gate));
	EXPECT_EQ(0, test_buffer_wait(self->fd, self->destination.handle, 0, INT64_MAX));
}

TEST_HARNESS_MAIN
