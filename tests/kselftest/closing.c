// SPDX-License-Identifier: MIT
/*
 * A file that is closed while the scheduler hands its submissions over. Each of them either runs,
 * once, or is dropped and says so, and none runs behind one that was dropped.
 */
#include "tessera_test.h"

#include <pthread.h>

#define SUBMISSIONS	512
#define SIZE		(SUBMISSIONS * sizeof(__u32))
#define ROUNDS		80
#define STEP_NS		20000LL		/* from 0 to the time that handing them over takes */
#define MOST_NS		30000000000LL	/* on a slow kernel there are fewer rounds */

FIXTURE(closing) {
	int keeper;			/* a file that stays open, and its buffer: */
	struct test_buffer buffer;	/* submission k adds one to element k */
	int dma_buf;
	struct test_gate gate;
	bool is_open;			/* atomic: the gate is to signal */
};

typedef FIXTURE_DATA(closing) fixture;

FIXTURE_SETUP(closing)
{
	self->keeper = test_open(_metadata);
	self->buffer = test_buffer_create(_metadata, self->keeper, SIZE);
	ASSERT_EQ(0, drmPrimeHandleToFD(self->keeper, self->buffer.handle, DRM_CLOEXEC,
					&self->dma_buf));
}

FIXTURE_TEARDOWN(closing)
{
	close(self->keeper);
}

static int stay_on(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	return sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* The scheduler works on the processor on which the gate is signalled. */
static void *signal_gate(void *argument)
{
	fixture *self = argument;
	int error;

	if (stay_on(1))
		return "does not get to CPU 1";
	while (!__atomic_load_n(&self->is_open, __ATOMIC_RELAXED))
		;
	error = test_gate_signal(&self->gate);
	/* vgem has opened it by itself where all that waits took longer than 10 s to submit */
	return error && error != -ETIMEDOUT ? "the gate does not signal" : NULL;
}

/*
 * A file all of whose submissions wait for the gate. Returns it, and the fence of the last one,
 * which is the last to signal, whether they run or not.
 */
static int open_and_submit(struct __test_metadata *_metadata, fixture *self, int *fence)
{
	struct drm_tessera_submit submit;
	struct drm_tessera_sync wait;
	struct test_job add;
	int fd = test_open(_metadata);
	__u32 handle;
	int k;

	ASSERT_TRUE(test_gate_create(_metadata, fd, &self->gate));
	wait = (struct drm_tessera_sync){ .handle = self->gate.syncobj };
	ASSERT_EQ(0, drmPrimeFDToHandle(fd, self->dma_buf, &handle));
	test_job_increment(&add, handle);
	submit = test_submission(&add.job, 1);
	submit.queue = 0;
	submit.in_syncs = TEST_ARRAY(&wait, 1);
	for (k = 0; k < SUBMISSIONS; k++) {
		add.operands[0].address.offset = k * sizeof(__u32);
		add.operands[1].address.offset = k * sizeof(__u32);
		if (k == SUBMISSIONS - 1)
			*fence = test_submit_fence(_metadata, fd, &submit);
		else
			ASSERT_EQ(0, test_submit(fd, &submit));
	}
	return fd;
}

/* Closes a file so long after the gate has opened. Returns how many submissions have run. */
static __u32 close_behind(struct __test_metadata *_metadata, fixture *self, __s64 delay_ns)
{
	const __u32 *elements = (const __u32 *)self->buffer.map;
	__u32 num_run = 0;
	int fd, fence, status;
	pthread_t thread;
	void *complaint;
	__s64 time;

	memset(self->buffer.map, 0, SIZE);
	fd = open_and_submit(_metadata, self, &fence);
	self->is_open = false;
	ASSERT_EQ(0, pthread_create(&thread, NULL, signal_gate, self));
	__atomic_store_n(&self->is_open, true, __ATOMIC_RELAXED);
	time = test_now_ns() + delay_ns;
	while (test_now_ns() < time)
		;
	ASSERT_EQ(0, close(fd));
	ASSERT_EQ(0, pthread_join(thread, &complaint));
	ASSERT_EQ(NULL, complaint);
	status = test_sync_file_wait(_metadata, fence);
	while (num_run < SUBMISSIONS && elements[num_run] == 1)
		num_run++;
	EXPECT_EQ(num_run < SUBMISSIONS ? -ESRCH : 1, status);
	EXPECT_EQ(SIZE - num_run * sizeof(__u32),
		  test_constant(&elements[num_run], SIZE - num_run * sizeof(__u32), 0));
	close(fence);
	close(self->gate.dma_buf);
	close(self->gate.fd);
	return num_run;
}

TEST_F(closing, submissions_run_once_or_are_dropped)
{
	const __s64 end = test_now_ns() + MOST_NS;
	__u32 num_run = 0;
	int round;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "closing while something is handed over takes two CPUs");
	TEST_GATE_OR_SKIP(self->keeper, &self->gate);
	ASSERT_EQ(0, stay_on(0));
	/* The delays are mixed, so that some rounds have some of all */
	for (round = 0; round < ROUNDS && test_now_ns() < end; round++)
		num_run += close_behind(_metadata, self, round * 37 % ROUNDS * STEP_NS);
	TH_LOG("%u of %u have run", num_run, round * SUBMISSIONS);
}

TEST_HARNESS_MAIN
