// SPDX-License-Identifier: MIT
/*
 * Memory that changes while the kernel or the device looks at it: what was judged is what is done,
 * and nothing leads outside of the buffers. An array of a submission lies across two pages, of
 * which the second is missing: when the kernel asks for it, it has read what is in the first, and
 * that is changed then (userfaultfd), before it goes on.
 */
#include "tessera_test.h"

#include <linux/userfaultfd.h>
#include <pthread.h>

#define SIZE		TEST_PAGE_SIZE

FIXTURE(read_once) {
	int fd;
	int faults;			/* -1: the kernel has no userfaultfd */
	struct test_buffer destination;
	struct test_buffer source;
	struct test_buffer other;
	struct test_job job;
	struct drm_tessera_submit submit;
	__u8 *pages;			/* two; the second is missing */
	__u8 second[SIZE];		/* and becomes this, */
	__u64 *where;			/* when here stands */
	__u64 value;			/* this */
	char unbind[NAME_MAX];		/* or, if it is set, the driver lets go of this device */
	pthread_t thread;
};

FIXTURE_SETUP(read_once)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register missing = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	self->fd = test_open(_metadata);
	self->destination = test_buffer_create(_metadata, self->fd, SIZE);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
	self->other = test_buffer_create(_metadata, self->fd, SIZE);
	test_fill(self->source.map, SIZE, 1);
	test_job_copy(&self->job, self->destination.handle, self->source.handle, SIZE / 8);
	self->submit = test_submission(&self->job.job, 1);

	self->pages = mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	ASSERT_NE(MAP_FAILED, self->pages);
	self->faults = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (self->faults < 0)
		return;
	ASSERT_EQ(0, ioctl(self->faults, UFFDIO_API, &api));
	missing.range.start = (uintptr_t)self->pages + SIZE;
	missing.range.len = SIZE;
	ASSERT_EQ(0, ioctl(self->faults, UFFDIO_REGISTER, &missing));
}

FIXTURE_TEARDOWN(read_once)
{
	if (*self->unbind)
		test_driver_write("bind", self->unbind);
	close(self->fd);
}

typedef FIXTURE_DATA(read_once) fixture;

#define FAULTS_OR_SKIP								\
	do {									\
		if (self->faults < 0)						\
			SKIP(return, "the kernel has no userfaultfd");		\
	} while (0)

/* Puts an array of two elements where the first is the last of the first page; returns that */
static void *place(fixture *self, const void *elements, size_t size)
{
	memcpy(self->pages + SIZE - size, elements, size);
	memcpy(self->second, elements + size, size);
	return self->pages + SIZE - size;
}

static void *change(void *argument)
{
	fixture *self = argument;
	struct uffdio_copy copy = {
		.dst = (uintptr_t)self->pages + SIZE,
		.src = (uintptr_t)self->second,
		.len = SIZE,
	};
	struct uffd_msg message;

	if (read(self->faults, &message, sizeof(message)) != sizeof(message))
		return "no fault";
	if (!*self->unbind)
		*self->where = self->value;
	else if (test_driver_write("unbind", self->unbind))
		return "still bound";
	return ioctl(self->faults, UFFDIO_COPY, &copy) ? "no copy" : NULL;
}

/* Submits, with the change when the second page is asked for, and waits for the end */
static void submit_and_change(struct __test_metadata *_metadata, fixture *self, void *where,
			      __u64 value)
{
	void *complaint;

	self->where = where;
	self->value = value;
	ASSERT_EQ(0, pthread_create(&self->thread, NULL, change, self));
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	ASSERT_EQ(0, pthread_join(self->thread, &complaint));
	ASSERT_EQ(NULL, complaint);
	ASSERT_EQ(value, *self->where);
}

static void expect_copied(struct __test_metadata *_metadata, const fixture *self)
{
	EXPECT_EQ(SIZE / 2, test_filled(self->destination.map, SIZE / 2, 1));
	EXPECT_EQ(SIZE / 2, test_constant(self->destination.map + SIZE / 2, SIZE / 2, 0));
	EXPECT_EQ(SIZE, test_constant(self->other.map, SIZE, 0));
}

TEST_F(read_once, address_of_an_operand)
{
	struct drm_tessera_operand *operands;

	FAULTS_OR_SKIP;
	operands = place(self, self->job.operands, sizeof(*operands));
	self->job.job.operands.pointer = (uintptr_t)operands;
	submit_and_change(_metadata, self, &operands[0].address.offset, SIZE);
	expect_copied(_metadata, self);
}

TEST_F(read_once, handle_of_an_operand)
{
	struct drm_tessera_operand *operands;

	FAULTS_OR_SKIP;
	operands = place(self, self->job.operands, sizeof(*operands));
	self->job.job.operands.pointer = (uintptr_t)operands;
	submit_and_change(_metadata, self, &operands[0].handle, self->other.handle);
	expect_copied(_metadata, self);
}

TEST_F(read_once, extent_of_a_job)
{
	struct drm_tessera_operand *operands;

	FAULTS_OR_SKIP;
	operands = place(self, self->job.operands, sizeof(*operands));
	self->job.job.operands.pointer = (uintptr_t)operands;
	submit_and_change(_metadata, self, &self->job.job.extents[0], SIZE);
	expect_copied(_metadata, self);
}

/* The stride and the count of the array of operands, as one number */
TEST_F(read_once, count_of_an_array)
{
	struct drm_tessera_operand *operands;

	FAULTS_OR_SKIP;
	operands = place(self, self->job.operands, sizeof(*operands));
	self->job.job.operands.pointer = (uintptr_t)operands;
	submit_and_change(_metadata, self, &self->job.job.operands, 1ULL << 40);
	expect_copied(_metadata, self);
}

TEST_F(read_once, window)
{
	struct drm_tessera_window *windows;

	FAULTS_OR_SKIP;
	self->job.job.extents[0] = SIZE / 4;
	self->job.operands[0].window_mask = 3;
	self->job.windows[0].value.strides[0] = 1;
	self->job.windows[0].limit = SIZE / 8;
	self->job.windows[1] = self->job.windows[0];
	self->job.windows[1].limit = SIZE / 4;
	windows = place(self, self->job.windows, sizeof(*windows));
	self->job.job.windows = TEST_ARRAY(windows, 2);
	submit_and_change(_metadata, self, &windows[0].limit, SIZE / 4);
	expect_copied(_metadata, self);
}

/* r1 = 0; r0 = r0 + r1 */
TEST_F(read_once, instruction)
{
	struct drm_tessera_instruction *program;

	FAULTS_OR_SKIP;
	test_job_increment(&self->job, self->destination.handle);
	self->job.program[0].immediate = 0;
	self->job.job.extents[0] = SIZE / 8;
	self->job.operands[1].handle = self->source.handle;
	program = place(self, self->job.program, sizeof(*program));
	self->job.job.program.pointer = (uintptr_t)program;
	submit_and_change(_metadata, self, &program[0].immediate, 1);
	expect_copied(_metadata, self);
}

TEST_F(read_once, job_of_a_submission)
{
	struct drm_tessera_job jobs[2] = { self->job.job, self->job.job };
	struct drm_tessera_job *placed;

	FAULTS_OR_SKIP;
	placed = place(self, jobs, sizeof(jobs[0]));
	self->submit.jobs = TEST_ARRAY(placed, 2);
	submit_and_change(_metadata, self, &placed[0].extents[0], SIZE);
	expect_copied(_metadata, self);
}

TEST_F(read_once, device_that_is_unbound_gets_no_submission)
{
	struct drm_tessera_job jobs[] = { self->job.job, self->job.job };
	void *complaint;

	FAULTS_OR_SKIP;
	test_bus_name(_metadata, self->fd, self->unbind);
	self->submit.jobs = test_array(place(self, jobs, sizeof(*jobs)), sizeof(*jobs), 2);
	ASSERT_EQ(0, pthread_create(&self->thread, NULL, change, self));
	EXPECT_EQ(-ENODEV, test_submit(self->fd, &self->submit));
	ASSERT_EQ(0, pthread_join(self->thread, &complaint));
	EXPECT_EQ(NULL, complaint);
	EXPECT_EQ(SIZE, test_constant(self->destination.map, SIZE, 0));
}

TEST_F(read_once, syncobj_to_wait_for)
{
	struct drm_syncobj_create create = { .flags = DRM_SYNCOBJ_CREATE_SIGNALED };
	struct drm_tessera_sync syncs[2] = {}, *placed;

	FAULTS_OR_SKIP;
	ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_SYNCOBJ_CREATE, &create));
	syncs[0].handle = syncs[1].handle = create.handle;
	placed = place(self, syncs, sizeof(syncs[0]));
	self->submit.in_syncs = TEST_ARRAY(placed, 2);
	submit_and_change(_metadata, self, &placed[0].handle, TEST_NO_HANDLE);
	expect_copied(_metadata, self);
}

/*
 * Indices are read by the device as the job runs. Here a thread changes one all the time: each is
 * checked as it was read.
 */

#define SUBMISSIONS	100
#define NEIGHBOURS	16

struct flipper {
	volatile __u32 *index;
	bool is_over;
};

static void *flip(void *argument)
{
	struct flipper *flipper = argument;

	while (!__atomic_load_n(&flipper->is_over, __ATOMIC_RELAXED)) {
		*flipper->index = 1;
		*flipper->index = 0;
	}
	return NULL;
}

TEST_F(read_once, index_that_changes_leads_nowhere)
{
	struct drm_tessera_operand *destination = &self->job.operands[0];
	struct test_buffer neighbours[NEIGHBOURS];
	struct flipper flipper = { .index = (volatile __u32 *)self->other.map };
	pthread_t thread;
	int k, status;

	for (k = 0; k < NEIGHBOURS; k++) {
		neighbours[k] = test_buffer_create(_metadata, self->fd, SIZE);
		test_fill(neighbours[k].map, SIZE, 100 + k);
	}
	destination->flags = DRM_TESSERA_OPERAND_INDIRECT;
	destination->index_handle = self->other.handle;
	destination->index_dtype = DRM_TESSERA_DTYPE_U32;
	destination->index_stride = SIZE;
	ASSERT_EQ(0, pthread_create(&thread, NULL, flip, &flipper));
	for (k = 0; k < SUBMISSIONS; k++) {
		status = test_run_job(_metadata, self->fd, &self->job);
		ASSERT_TRUE(status == 1 || status == -EIO);
	}
	__atomic_store_n(&flipper.is_over, true, __ATOMIC_RELAXED);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	for (k = 0; k < NEIGHBOURS; k++)
		EXPECT_EQ(SIZE, test_filled(neighbours[k].map, SIZE, 100 + k));
	EXPECT_EQ(SIZE, test_filled(self->source.map, SIZE, 1));
}

/*
 * Buffers whose handles are closed when the kernel has looked them up: only the submission has them
 * then, and may have ended before SUBMIT has let go of their locks.
 */

#define ROUNDS		20
#define NUM_CLOSED	128

struct closer {
	fixture *self;
	__u32 handles[NUM_CLOSED];
};

static void *close_handles(void *argument)
{
	struct closer *closer = argument;
	struct uffdio_copy copy = {
		.dst = (uintptr_t)closer->self->pages + SIZE,
		.src = (uintptr_t)closer->self->second,
		.len = SIZE,
	};
	struct uffd_msg message;
	__u32 k;

	if (read(closer->self->faults, &message, sizeof(message)) != sizeof(message))
		return "no fault";
	for (k = 0; k < NUM_CLOSED; k++)
		if (test_handle_close(closer->self->fd, closer->handles[k]))
			return "no such handle";
	return ioctl(closer->self->faults, UFFDIO_COPY, &copy) ? "no copy" : NULL;
}

/* Jobs that do nothing, and so have ended at once, on two buffers each */
static void make_empty_jobs(struct __test_metadata *_metadata, struct closer *closer,
			    struct test_job *jobs, struct drm_tessera_job *array)
{
	__u32 k;

	for (k = 0; k < NUM_CLOSED; k++) {
		struct drm_tessera_bo_create create = { .size = SIZE };

		ASSERT_EQ(0, test_ioctl(closer->self->fd, DRM_IOCTL_TESSERA_BO_CREATE, &create));
		closer->handles[k] = create.handle;
	}
	for (k = 0; k < NUM_CLOSED / 2; k++) {
		test_job_copy(&jobs[k], closer->handles[2 * k], closer->handles[2 * k + 1], 0);
		array[k] = jobs[k].job;
	}
}

TEST_F(read_once, buffers_closed_meanwhile_stay_until_the_end)
{
	static struct test_job jobs[NUM_CLOSED / 2];
	struct drm_tessera_job array[NUM_CLOSED / 2];
	struct drm_tessera_sync syncs[2] = {};
	struct closer closer = { .self = self };
	struct drm_tessera_submit submit = test_submission(array, NUM_CLOSED / 2);
	void *complaint;
	int round;

	FAULTS_OR_SKIP;
	syncs[0].handle = syncs[1].handle = test_syncobj_create(_metadata, self->fd);
	for (round = 0; round < ROUNDS; round++) {
		make_empty_jobs(_metadata, &closer, jobs, array);
		submit.out_syncs = TEST_ARRAY((struct drm_tessera_sync *)
					      place(self, syncs, sizeof(syncs[0])), 2);
		ASSERT_EQ(0, pthread_create(&self->thread, NULL, close_handles, &closer));
		ASSERT_EQ(0, test_submit(self->fd, &submit));
		ASSERT_EQ(0, pthread_join(self->thread, &complaint));
		ASSERT_EQ(NULL, complaint);
		ASSERT_EQ(0, test_syncobj_wait(self->fd, syncs[0].handle, 0, INT64_MAX));
		ASSERT_EQ(0, madvise(self->pages + SIZE, SIZE, MADV_DONTNEED));
	}
}

TEST_HARNESS_MAIN
