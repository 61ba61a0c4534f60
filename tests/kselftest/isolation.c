// SPDX-License-Identifier: MIT
/*
 * What a process must not see: others' buffers, and memory that others gave back. All of that is
 * full of bytes of 0x80 and more, and the process that looks for them has none of its own: its
 * jobs move bytes and do not compute, so wherever it finds one, it is another's.
 *
 *	isolation [--seed N] [--count N]
 */
#include "random_test.h"

#include "reference/random.h"

#define SIZE		(16 * TEST_PAGE_SIZE)
#define OWN_BUFFERS	4
#define BATCH		32	/* jobs of a submission */
#define VICTIMS		3
#define VICTIM_BUFFERS	8

static __u64 first_seed;
static __u64 num_jobs = 4000;

/* A byte that only they have who keep a secret */
static __u8 secret(__u32 seed, __u64 position)
{
	return 0x80 | test_pattern(seed, position);
}

static void plant(void *memory, __u64 size, __u32 seed)
{
	__u8 *byte = memory;
	__u64 i;

	for (i = 0; i < size; i++)
		byte[i] = secret(seed, i);
}

static bool is_intact(const void *memory, __u64 size, __u32 seed)
{
	const __u8 *byte = memory;
	__u64 i;

	for (i = 0; i < size && byte[i] == secret(seed, i); i++)
		;
	return i == size;
}

/* The position of the first byte that is another's, or the size */
static __u64 find_secret(const void *memory, __u64 size)
{
	const __u8 *byte = memory;
	__u64 i;

	for (i = 0; i < size && byte[i] < 0x80; i++)
		;
	return i;
}

/*
 * Other processes, which fill buffers with what is theirs, run jobs on them, and in the end look
 * whether it is still all there
 */

struct victim {
	pid_t process;
	int ready[2];
	int over[2];
};

static void be_victim(struct __test_metadata *_metadata, const struct victim *victim, __u32 seed)
{
	struct test_buffer buffers[VICTIM_BUFFERS];
	int fd = test_open(_metadata), k;
	struct test_job job;
	char byte = 0;

	for (k = 0; k < VICTIM_BUFFERS; k++) {
		buffers[k] = test_buffer_create(_metadata, fd, SIZE);
		plant(buffers[k].map, SIZE, seed);
	}
	ASSERT_EQ(1, write(victim->ready[1], &byte, 1));
	/* The device has them in its hands now and then, until the other is done */
	ASSERT_EQ(0, fcntl(victim->over[0], F_SETFL, O_NONBLOCK));
	while (read(victim->over[0], &byte, 1) < 0) {
		test_job_copy(&job, buffers[1].handle, buffers[0].handle, SIZE / 4);
		ASSERT_EQ(1, test_run_job(_metadata, fd, &job));
		sched_yield();
	}
	for (k = 0; k < VICTIM_BUFFERS; k++)
		ASSERT_TRUE(is_intact(buffers[k].map, SIZE, seed))
			TH_LOG("buffer %d of another process was changed", k);
	close(fd);
}

static void start_victim(struct __test_metadata *_metadata, struct victim *victim, __u32 seed)
{
	char byte;

	ASSERT_EQ(0, pipe(victim->ready));
	ASSERT_EQ(0, pipe(victim->over));
	victim->process = fork();
	ASSERT_GE(victim->process, 0);
	if (!victim->process) {
		be_victim(_metadata, victim, seed);
		_exit(0);
	}
	ASSERT_EQ(1, read(victim->ready[0], &byte, 1));
}

static void end_victim(struct __test_metadata *_metadata, struct victim *victim)
{
	ASSERT_EQ(1, write(victim->over[1], "", 1));
	test_join(_metadata, victim->process);
	close(victim->over[0]);
	close(victim->over[1]);
	close(victim->ready[0]);
	close(victim->ready[1]);
}

/*
 * Jobs that reach as far as they can
 */

FIXTURE(isolation) {
	int fd;
	struct random random;
	struct test_buffer buffers[OWN_BUFFERS];
	struct test_buffer indices;
	struct test_job jobs[BATCH];
	struct drm_tessera_job array[BATCH];
	__u64 num_run;
	__u64 num_refused;
};

FIXTURE_SETUP(isolation)
{
	__u32 k;

	self->fd = test_open(_metadata);
	self->random.state = first_seed;
	for (k = 0; k < OWN_BUFFERS; k++)
		self->buffers[k] = test_buffer_create(_metadata, self->fd, SIZE);
	self->indices = test_buffer_create(_metadata, self->fd, SIZE);
}

FIXTURE_TEARDOWN(isolation)
{
	close(self->fd);
}

/* Near a border of a buffer, of the address space, or anywhere */
static __s64 far(struct random *random)
{
	static const __s64 places[] = {
		0, SIZE, -(__s64)SIZE, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 1LL << 30,
		1LL << 40, -(1LL << 40),
	};
	__s64 place = places[random_below(random, sizeof(places) / sizeof(places[0]))];

	if (random_chance(random, 10))
		return random_bits(random);
	return (__u64)place + random_between(random, -64, 64);
}

/* Indices into the buffer, around it, and far from it */
static void fill_indices(FIXTURE_DATA(isolation) *self)
{
	__s64 *index = (__s64 *)self->indices.map;
	__u64 i;

	for (i = 0; i < SIZE / sizeof(*index); i++) {
		if (random_chance(&self->random, 70))
			index[i] = random_below(&self->random, SIZE);
		else
			index[i] = far(&self->random);
	}
}

static void make_operand(FIXTURE_DATA(isolation) *self, struct drm_tessera_operand *operand,
			 __u32 size_shift)
{
	struct random *random = &self->random;

	operand->handle = self->buffers[random_below(random, OWN_BUFFERS)].handle;
	operand->dtype = DRM_TESSERA_DTYPE_CLASS_RAW | size_shift;
	operand->address.offset = random_chance(random, 80) ? random_below(random, SIZE) :
							      far(random);
	operand->address.strides[0] = random_chance(random, 80) ?
				      random_between(random, -32, 32) : far(random);
	if (!random_chance(random, 70))
		return;
	operand->flags = DRM_TESSERA_OPERAND_INDIRECT;
	operand->address.offset = 0;
	operand->address.strides[0] = 0;
	operand->index_handle = self->indices.handle;
	operand->index_dtype = DRM_TESSERA_DTYPE_CLASS_SIGNED | random_below(random, 4);
	operand->index_address.offset = random_below(random, SIZE);
	operand->index_address.strides[0] = random_between(random, -8, 8);
	operand->index_stride = random_chance(random, 80) ? 1 : far(random);
}

static void make_job(FIXTURE_DATA(isolation) *self, struct test_job *test)
{
	__u32 size_shift = random_below(&self->random, 5);

	test_job_init(test, 1, 2);
	test->job.extents[0] = 1 + random_below(&self->random, 256);
	make_operand(self, &test->operands[0], size_shift);
	make_operand(self, &test->operands[1], size_shift);
}

/* One by one, where one of them is refused; all at once as a rule would be none */
static void run_batch(struct __test_metadata *_metadata, FIXTURE_DATA(isolation) *self)
{
	struct drm_tessera_submit submit;
	__u32 count = 0, k;

	for (k = 0; k < BATCH; k++) {
		make_job(self, &self->jobs[k]);
		submit = test_submission(&self->jobs[k].job, 1);
		if (test_submit(self->fd, &submit))
			self->num_refused++;
		else
			self->array[count++] = self->jobs[k].job;
	}
	self->num_run += count;
	if (!count)
		return;
	submit = test_submission(self->array, count);
	test_run(_metadata, self->fd, &submit);
}

static void expect_nothing_found(struct __test_metadata *_metadata,
				 const FIXTURE_DATA(isolation) *self)
{
	__u32 k;

	for (k = 0; k < OWN_BUFFERS; k++)
		ASSERT_EQ(SIZE, find_secret(self->buffers[k].map, SIZE))
			TH_LOG("--seed %llu: buffer %u has a byte of another process", first_seed,
			       k);
}

TEST_F_TIMEOUT(isolation, no_job_reaches_buffers_of_another_process, 600)
{
	struct victim victims[VICTIMS];
	__u64 n;
	__u32 k;

	for (k = 0; k < VICTIMS; k++)
		start_victim(_metadata, &victims[k], k);
	for (n = 0; n < num_jobs; n += BATCH) {
		fill_indices(self);
		run_batch(_metadata, self);
		expect_nothing_found(_metadata, self);
	}
	for (k = 0; k < VICTIMS; k++)
		end_victim(_metadata, &victims[k]);
	ksft_print_msg("%llu jobs run twice, %llu refused\n", self->num_run, self->num_refused);
	EXPECT_NE(0, self->num_run);
	EXPECT_NE(0, self->num_refused);
}

/*
 * Memory that was given back
 */

/* A process that has so many bytes of buffers and as many of its own, all secret, and ends */
static void leave_secrets(struct __test_metadata *_metadata, __u64 size)
{
	pid_t child = fork();

	ASSERT_GE(child, 0);
	if (!child) {
		int fd = test_open(_metadata);
		void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		__u64 n;

		ASSERT_NE(MAP_FAILED, memory);
		memset(memory, 0xee, size);
		for (n = 0; n < size; n += SIZE) {
			struct test_buffer buffer = test_buffer_create(_metadata, fd, SIZE);

			memset(buffer.map, 0xee, SIZE);
		}
		_exit(0);
	}
	test_join(_metadata, child);
}

/* By the device: what it has cached of a buffer would be seen here */
static void expect_empty(struct __test_metadata *_metadata, FIXTURE_DATA(isolation) *self,
			 __u32 handle, __u64 size)
{
	struct test_job job;

	test_job_copy(&job, self->buffers[0].handle, handle, size / 4);
	memset(self->buffers[0].map, 1, size);
	ASSERT_EQ(1, test_run_job(_metadata, self->fd, &job));
	ASSERT_EQ(size, test_constant(self->buffers[0].map, size, 0))
		TH_LOG("a new buffer is not empty");
}

TEST_F(isolation, new_buffers_hold_nothing_of_processes_that_are_gone)
{
	const __u64 total = 32 << 20;
	__u64 n;

	leave_secrets(_metadata, total);
	for (n = 0; n < total; n += SIZE) {
		struct drm_tessera_bo_create create = { .size = SIZE };

		ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_CREATE, &create));
		expect_empty(_metadata, self, create.handle, SIZE);
	}
}

TEST_F(isolation, rest_of_the_last_page_holds_nothing)
{
	const __u64 total = 4 << 20;
	__u64 n;

	leave_secrets(_metadata, total);
	for (n = 0; n < total; n += TEST_PAGE_SIZE) {
		struct drm_tessera_bo_create create = { .size = 1 };

		ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_CREATE, &create));
		ASSERT_EQ(TEST_PAGE_SIZE, create.size);
		expect_empty(_metadata, self, create.handle, TEST_PAGE_SIZE);
	}
}

/* The numbers that buffers have for the device are used again; what it knows of the old must go */
TEST_F(isolation, buffer_in_place_of_a_closed_one_is_another)
{
	int stranger = test_open(_metadata), round;

	for (round = 0; round < 200; round++) {
		struct test_buffer theirs = test_buffer_create(_metadata, stranger, SIZE);
		struct drm_tessera_bo_create create = { .size = SIZE };
		struct test_job job;

		plant(theirs.map, SIZE, round);
		/* So that the device has seen it */
		test_job_copy(&job, theirs.handle, theirs.handle, SIZE / 8);
		job.operands[0].address.offset = SIZE / 2;
		ASSERT_EQ(1, test_run_job(_metadata, stranger, &job));
		test_buffer_destroy(_metadata, stranger, &theirs);

		ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_CREATE, &create));
		expect_empty(_metadata, self, create.handle, SIZE);
		ASSERT_EQ(0, test_handle_close(self->fd, create.handle));
	}
	close(stranger);
}

/* The other way round: what a job of ours wrote must not land in a page that is another's by now */
TEST_F(isolation, job_on_a_closed_buffer_does_not_write_to_its_successor)
{
	int stranger = test_open(_metadata), round;

	memset(self->buffers[0].map, 0x11, SIZE);
	for (round = 0; round < 200; round++) {
		struct drm_tessera_bo_create create = { .size = SIZE };
		struct test_buffer theirs;
		struct test_job job;

		ASSERT_EQ(0, test_ioctl(self->fd, DRM_IOCTL_TESSERA_BO_CREATE, &create));
		test_job_copy(&job, create.handle, self->buffers[0].handle, SIZE / 4);
		ASSERT_EQ(0, test_submit_job(self->fd, &job));
		ASSERT_EQ(0, test_handle_close(self->fd, create.handle));
		theirs = test_buffer_create(_metadata, stranger, SIZE);
		plant(theirs.map, SIZE, round);
		ASSERT_EQ(0, test_buffer_wait(self->fd, self->buffers[0].handle,
					      DRM_TESSERA_BO_WAIT_WRITE, INT64_MAX));
		ASSERT_TRUE(is_intact(theirs.map, SIZE, round));
		test_buffer_destroy(_metadata, stranger, &theirs);
	}
	close(stranger);
}

int main(int argc, char **argv)
{
	const struct test_option options[] = {
		{ "--seed", &first_seed },
		{ "--count", &num_jobs },
		{}
	};

	return test_run_random(argc, argv, options);
}
