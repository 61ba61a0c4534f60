// SPDX-License-Identifier: MIT
/*
 * The device alone: the driver, in a build for tests (CONFIG_DRM_ACCEL_TESSERA_TEST), hands jobs on
 * without looking at them (unchecked=1), and each that breaks a rule is found by the device: it
 * stores nothing, and the record of the fault says what it was. The rules of bounds have a case
 * each, next to one that is just within; all others are tried by random jobs.
 *
 *	unchecked [--seed N] [--count N]
 *
 * TESSERA_TEST_MODULE is that build (default: build/test-modules/stock/driver/tessera.ko); without
 * it there is nothing to try.
 */
#include "random_test.h"

#define SIZE		TEST_PAGE_SIZE
#define NEIGHBOURS	4

static __u64 first_seed;
static __u64 num_jobs = 500;

static const char *unchecked_module(void)
{
	const char *path = getenv("TESSERA_TEST_MODULE");

	return path ? path : "build/test-modules/stock/driver/tessera.ko";
}

static void reload(struct __test_metadata *_metadata, const char *module, const char *parameters)
{
	setenv("TESSERA_MODULE", module, 1);
	test_module_reload(_metadata, parameters);
}

FIXTURE(unchecked) {
	bool is_there;
	char usual_module[PATH_MAX];
	int fd;
	struct test_buffer destination;
	struct test_buffer source;
	struct test_buffer indices;
	struct test_buffer neighbours[NEIGHBOURS];
	struct test_job job;
	struct drm_tessera_submit submit;
	struct drm_tessera_submit_result result;
	struct drm_tessera_job_result job_result;
};

/* Two loops, of 8 rows and 16 columns of u32, from the start of a page to that of another */
FIXTURE_SETUP(unchecked)
{
	struct test_job *job = &self->job;
	__u32 k;

	snprintf(self->usual_module, sizeof(self->usual_module), "%s", test_module_path());
	self->is_there = !access(unchecked_module(), R_OK);
	if (!self->is_there)
		return;
	reload(_metadata, unchecked_module(), "unchecked=1");
	self->fd = test_open(_metadata);
	self->neighbours[0] = test_buffer_create(_metadata, self->fd, SIZE);
	self->destination = test_buffer_create(_metadata, self->fd, SIZE);
	self->neighbours[1] = test_buffer_create(_metadata, self->fd, SIZE);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
	self->neighbours[2] = test_buffer_create(_metadata, self->fd, SIZE);
	self->indices = test_buffer_create(_metadata, self->fd, SIZE);
	self->neighbours[3] = test_buffer_create(_metadata, self->fd, SIZE);
	test_fill(self->source.map, SIZE, 1);
	for (k = 0; k < NEIGHBOURS; k++)
		test_fill(self->neighbours[k].map, SIZE, 2 + k);
	test_job_init(job, 2, 2);
	job->job.extents[0] = 8;
	job->job.extents[1] = 16;
	job->operands[0].handle = self->destination.handle;
	job->operands[1].handle = self->source.handle;
	for (k = 0; k < 2; k++) {
		job->operands[k].dtype = DRM_TESSERA_DTYPE_U32;
		job->operands[k].address.strides[0] = 64;
		job->operands[k].address.strides[1] = 4;
	}
	self->submit = test_submission(&job->job, 1);
}

FIXTURE_TEARDOWN(unchecked)
{
	__u32 k;

	if (!self->is_there)
		return;
	/* A mapping keeps the module */
	for (k = 0; k < NEIGHBOURS; k++)
		munmap(self->neighbours[k].map, SIZE);
	munmap(self->destination.map, SIZE);
	munmap(self->source.map, SIZE);
	munmap(self->indices.map, SIZE);
	close(self->fd);
	reload(_metadata, self->usual_module, "");
}

#define UNCHECKED_OR_SKIP							\
	do {									\
		if (!self->is_there)						\
			SKIP(return, "there is no %s", unchecked_module());	\
	} while (0)

#define EXPECT_RUNS	EXPECT_EQ(1, test_run(_metadata, self->fd, &self->submit))

/* The device says so, and neither the destination nor what lies around has changed */
#define EXPECT_FAULT(cause_, operand_, offset_)						\
	do {										\
		__u8 before[SIZE];							\
		__u32 k_;								\
											\
		memcpy(before, self->destination.map, SIZE);				\
		ASSERT_EQ(-EIO, test_run(_metadata, self->fd, &self->submit));		\
		ASSERT_EQ(0, test_query_result(self->fd, self->submit.id, &self->result, \
					       &self->job_result, 1));			\
		EXPECT_EQ(DRM_TESSERA_CAUSE_##cause_, self->job_result.cause);		\
		EXPECT_EQ(operand_, self->job_result.operand);				\
		EXPECT_EQ(offset_, self->job_result.offset);				\
		EXPECT_EQ(0, memcmp(before, self->destination.map, SIZE));		\
		for (k_ = 0; k_ < NEIGHBOURS; k_++)					\
			EXPECT_EQ(SIZE, test_filled(self->neighbours[k_].map, SIZE, 2 + k_)); \
	} while (0)

/* Bytes from the first of a job to its last, as the fixture makes it */
#define SPAN	(7 * 64 + 15 * 4 + 4)

TEST_F(unchecked, address_past_the_end)
{
	UNCHECKED_OR_SKIP;
	self->job.operands[0].address.offset = SIZE - SPAN;
	EXPECT_RUNS;
	self->job.operands[0].address.offset++;
	EXPECT_FAULT(BOUNDS, 0, SIZE);
}

TEST_F(unchecked, address_below_zero)
{
	UNCHECKED_OR_SKIP;
	self->job.operands[0].address.offset = -1;
	EXPECT_FAULT(BOUNDS, 0, -1);
}

TEST_F(unchecked, source_past_the_end)
{
	UNCHECKED_OR_SKIP;
	self->job.operands[1].address.offset = SIZE - SPAN + 1;
	EXPECT_FAULT(BOUNDS, 1, SIZE);
}

TEST_F(unchecked, source_below_zero)
{
	UNCHECKED_OR_SKIP;
	self->job.operands[1].address.offset = -4;
	EXPECT_FAULT(BOUNDS, 1, -4);
}

TEST_F(unchecked, negative_stride_down_to_zero_and_below)
{
	UNCHECKED_OR_SKIP;
	self->job.operands[0].address.offset = 7 * 64;
	self->job.operands[0].address.strides[0] = -64;
	EXPECT_RUNS;
	self->job.operands[0].address.offset -= 4;
	EXPECT_FAULT(BOUNDS, 0, -4);
}

TEST_F(unchecked, negative_and_positive_stride_each_at_its_end)
{
	UNCHECKED_OR_SKIP;
	self->job.operands[1].address.strides[0] = -64;
	self->job.operands[1].address.offset = SIZE - 64;
	EXPECT_RUNS;
	self->job.operands[1].address.offset += 4;
	EXPECT_FAULT(BOUNDS, 1, SIZE + 3);
}

TEST_F(unchecked, extent_one_too_many)
{
	UNCHECKED_OR_SKIP;
	self->job.job.extents[0] = SIZE / 64;
	EXPECT_RUNS;
	self->job.job.extents[0]++;
	EXPECT_FAULT(BOUNDS, 0, SIZE + 63);
}

TEST_F(unchecked, element_that_begins_inside_and_ends_outside)
{
	UNCHECKED_OR_SKIP;
	self->job.job.rank = 0;
	memset(self->job.job.extents, 0, sizeof(self->job.job.extents));
	memset(self->job.operands[0].address.strides, 0, 2 * sizeof(__s64));
	memset(self->job.operands[1].address.strides, 0, 2 * sizeof(__s64));
	self->job.operands[0].address.offset = SIZE - 4;
	EXPECT_RUNS;
	self->job.operands[0].address.offset = SIZE - 2;
	EXPECT_FAULT(BOUNDS, 0, SIZE + 1);
}

TEST_F(unchecked, empty_job_reaches_nothing)
{
	UNCHECKED_OR_SKIP;
	self->job.job.extents[1] = 0;
	self->job.operands[0].address.offset = 1LL << 40;
	EXPECT_RUNS;
}

TEST_F(unchecked, window_that_leaves_a_row_too_many)
{
	UNCHECKED_OR_SKIP;
	self->job.job.extents[0] = SIZE / 64 + 8;
	self->job.job.windows.count = 1;
	self->job.windows[0].value.strides[0] = 1;
	self->job.windows[0].limit = SIZE / 64;
	self->job.operands[0].window_mask = 1;
	self->job.operands[1].window_mask = 1;
	EXPECT_RUNS;
	self->job.windows[0].limit++;
	EXPECT_FAULT(BOUNDS, 0, SIZE + 63);
}

TEST_F(unchecked, window_that_leaves_a_row_too_many_at_the_start)
{
	UNCHECKED_OR_SKIP;
	self->job.job.windows.count = 1;
	self->job.windows[0].value.strides[0] = 1;
	self->job.windows[0].value.offset = -2;
	self->job.windows[0].limit = 100;
	self->job.operands[0].window_mask = 1;
	self->job.operands[0].address.offset = -2 * 64;
	EXPECT_RUNS;
	self->job.windows[0].value.offset++;
	EXPECT_FAULT(BOUNDS, 0, -64);
}

TEST_F(unchecked, window_of_another_operand_protects_nothing)
{
	UNCHECKED_OR_SKIP;
	self->job.job.extents[0] = SIZE / 64 + 1;
	self->job.job.windows.count = 1;
	self->job.windows[0].value.strides[0] = 1;
	self->job.windows[0].limit = 1;
	self->job.operands[0].window_mask = 1;
	EXPECT_FAULT(BOUNDS, 1, SIZE + 63);
}

/* Rows and columns as one number, as in padding: the address is what the window allows */
TEST_F(unchecked, window_on_a_sum_of_loops)
{
	UNCHECKED_OR_SKIP;
	self->job.job.extents[0] = SIZE / 64 + 4;
	self->job.job.windows.count = 1;
	self->job.windows[0].value.strides[0] = 16;
	self->job.windows[0].value.strides[1] = 1;
	self->job.windows[0].limit = SIZE / 4;
	self->job.operands[0].window_mask = 1;
	self->job.operands[1].window_mask = 1;
	EXPECT_RUNS;
	self->job.windows[0].limit++;
	EXPECT_FAULT(BOUNDS, 0, SIZE + 3);
}

TEST_F(unchecked, window_that_holds_nowhere_reaches_nothing)
{
	UNCHECKED_OR_SKIP;
	self->job.job.windows.count = 1;
	self->job.operands[0].window_mask = 1;
	self->job.operands[0].address.offset = 1LL << 40;
	EXPECT_RUNS;
}

/* The source is gathered by indices, one for each row */
static void make_indirect(FIXTURE_DATA(unchecked) *self)
{
	struct drm_tessera_operand *source = &self->job.operands[1];

	source->flags = DRM_TESSERA_OPERAND_INDIRECT;
	source->address.strides[0] = 0;
	source->index_handle = self->indices.handle;
	source->index_dtype = DRM_TESSERA_DTYPE_I32;
	source->index_address.strides[0] = 4;
	source->index_stride = 64;
}

TEST_F(unchecked, index_address_past_the_end)
{
	UNCHECKED_OR_SKIP;
	make_indirect(self);
	self->job.operands[1].index_address.offset = SIZE - 8 * 4;
	EXPECT_RUNS;
	self->job.operands[1].index_address.offset++;
	EXPECT_FAULT(INDEX_BOUNDS, 1, SIZE);
}

TEST_F(unchecked, index_address_below_zero)
{
	UNCHECKED_OR_SKIP;
	make_indirect(self);
	self->job.operands[1].index_address.offset = -4;
	EXPECT_FAULT(INDEX_BOUNDS, 1, -4);
}

TEST_F(unchecked, address_of_an_indirect_operand_with_its_index)
{
	UNCHECKED_OR_SKIP;
	make_indirect(self);
	self->job.operands[1].address.offset = SIZE - 64;
	EXPECT_RUNS;
	((__s32 *)self->indices.map)[0] = 1;
	EXPECT_FAULT(BOUNDS, 1, SIZE + 63);
}

TEST_F(unchecked, product_of_extents_past_63_bits)
{
	UNCHECKED_OR_SKIP;
	self->job.job.extents[0] = 1ULL << 62;
	memset(self->job.operands[0].address.strides, 0, 2 * sizeof(__s64));
	memset(self->job.operands[1].address.strides, 0, 2 * sizeof(__s64));
	EXPECT_FAULT(DESCRIPTOR, 0, 0);
}

TEST_F(unchecked, address_past_63_bits)
{
	UNCHECKED_OR_SKIP;
	self->job.operands[1].address.strides[0] = INT64_MAX;
	EXPECT_FAULT(DESCRIPTOR, 1, 0);
}

/* A sum that would be back inside if it wrapped around */
TEST_F(unchecked, address_that_wraps_around)
{
	UNCHECKED_OR_SKIP;
	self->job.operands[0].address.offset = INT64_MIN;
	self->job.operands[0].address.strides[0] = INT64_MIN;
	self->job.job.extents[0] = 2;
	EXPECT_FAULT(DESCRIPTOR, 0, 0);
}

TEST_F(unchecked, value_of_a_window_past_63_bits)
{
	UNCHECKED_OR_SKIP;
	self->job.job.windows.count = 1;
	self->job.windows[0].value.strides[0] = INT64_MAX;
	self->job.windows[0].limit = 1;
	self->job.operands[0].window_mask = 1;
	EXPECT_FAULT(DESCRIPTOR, 0, 0);
}

/*
 * Jobs that are good but for one thing, and good ones between them
 */

static bool is_right_cause(const struct random_job *random, __u32 cause)
{
	if (random->outcome == RANDOM_JOB_SUCCEEDS)
		return cause == DRM_TESSERA_CAUSE_NONE;
	if (random->error == ERANGE)
		return cause == DRM_TESSERA_CAUSE_BOUNDS ||
		       cause == DRM_TESSERA_CAUSE_INDEX_BOUNDS;
	return cause == DRM_TESSERA_CAUSE_DESCRIPTOR;
}

static void check_random_job(struct __test_metadata *_metadata, FIXTURE_DATA(unchecked) *self,
			     const struct random_job *random)
{
	struct test_buffer buffers[RANDOM_JOB_MAX_BUFFERS];
	bool is_good = random->outcome == RANDOM_JOB_SUCCEEDS;
	char text[256];
	__u32 k;

	for (k = 0; k < random->num_buffers; k++) {
		buffers[k] = test_buffer_create(_metadata, self->fd, random->buffers[k].size);
		memcpy(buffers[k].map, random->buffers[k].initial, random->buffers[k].size);
	}
	test_job_random(&self->job, random, buffers);
	ASSERT_EQ(is_good ? 1 : -EIO, test_run(_metadata, self->fd, &self->submit))
		TH_LOG("%s, expected errno %d", random->description, random->error);
	ASSERT_EQ(0, test_query_result(self->fd, self->submit.id, &self->result, &self->job_result,
				       1));
	ASSERT_TRUE(is_right_cause(random, self->job_result.cause))
		TH_LOG("%s: cause %u", random->description, self->job_result.cause);
	for (k = 0; k < random->num_buffers; k++) {
		ASSERT_TRUE(random_job_check(random, k, buffers[k].map, text, sizeof(text)))
			TH_LOG("%s", text);
		test_buffer_destroy(_metadata, self->fd, &buffers[k]);
	}
}

TEST_F_TIMEOUT(unchecked, every_broken_job_faults, 600)
{
	const struct random_job_options options = {
		.max_points = 1024,
		.max_buffer_bytes = 64 << 10,
		.size_multiple = TEST_PAGE_SIZE,
		.with_refused = true,
	};
	__u64 outcomes[3] = {}, seed;

	UNCHECKED_OR_SKIP;
	for (seed = first_seed; outcomes[RANDOM_JOB_REFUSED] < num_jobs; seed++) {
		struct random_job *random = random_job_create(seed, &options);

		/* Most of the good ones are left out: random.c has them */
		if (random->outcome == RANDOM_JOB_REFUSED || seed % 8 == 0) {
			outcomes[random->outcome]++;
			check_random_job(_metadata, self, random);
			if (!__test_passed(_metadata))
				TH_LOG("--seed %llu --count 1", seed);
		}
		random_job_destroy(random);
	}
	ksft_print_msg("%llu broken jobs found by the device, %llu good ones done\n",
		       outcomes[RANDOM_JOB_REFUSED], outcomes[RANDOM_JOB_SUCCEEDS]);
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
