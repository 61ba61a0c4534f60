// SPDX-License-Identifier: GPL-2.0-only
/*
 * Translation: what becomes of a job's fields in the descriptor that the device reads, and where
 * descriptors lie. It is a part of tessera_submit.c, which includes it.
 */
#include <kunit/test.h>

/* Memory of a submission that has a device but for what a device does */
struct translation {
	struct tessera_device *tdev;
	struct tessera_submission *submission;
	struct tessera_layout_job *job;
};

#define TRANSLATED_JOBS		600

static int translation_init(struct kunit *test)
{
	struct translation *translation = kunit_kzalloc(test, sizeof(*translation), GFP_KERNEL);
	struct tessera_submission *submission;
	struct tessera_device *tdev;

	KUNIT_ASSERT_NOT_NULL(test, translation);
	tdev = kunit_kzalloc(test, sizeof(*tdev), GFP_KERNEL);
	submission = kunit_kzalloc(test, sizeof(*submission), GFP_KERNEL);
	translation->job = kunit_kzalloc(test, sizeof(*translation->job), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, tdev);
	KUNIT_ASSERT_NOT_NULL(test, submission);
	KUNIT_ASSERT_NOT_NULL(test, translation->job);
	mutex_init(&tdev->mapped_lock);
	INIT_LIST_HEAD(&tdev->mapped_submissions);
	submission->tdev = tdev;
	submission->num_jobs = TRANSLATED_JOBS;
	INIT_LIST_HEAD(&submission->chunks);
	INIT_LIST_HEAD(&submission->mapped_node);
	submission->descriptors = kunit_kcalloc(test, TRANSLATED_JOBS,
						sizeof(*submission->descriptors), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, submission->descriptors);
	translation->tdev = tdev;
	translation->submission = submission;
	test->priv = translation;
	return 0;
}

static void translation_exit(struct kunit *test)
{
	struct translation *translation = test->priv;

	if (!translation)
		return;
	free_chunks(translation->submission);
	mutex_destroy(&translation->tdev->mapped_lock);
}

/* The descriptor of the job, with the memory before it and behind it looked after */
static struct tessera_hw_job *translate(struct kunit *test)
{
	struct translation *translation = test->priv;
	struct tessera_submission *submission = translation->submission;

	KUNIT_ASSERT_EQ(test, 0, encode_job(submission, translation->job));
	KUNIT_ASSERT_EQ(test, 1, submission->num_descriptors);
	return last_chunk(submission)->memory;
}

static struct tessera_hw_operand *hw_operands(struct tessera_hw_job *hw)
{
	return (void *)(hw + 1);
}

static struct tessera_hw_window *hw_windows(struct tessera_hw_job *hw)
{
	return (void *)(hw_operands(hw) + le32_to_cpu(hw->num_operands));
}

static struct tessera_hw_instruction *hw_instructions(struct tessera_hw_job *hw)
{
	return (void *)(hw_windows(hw) + le32_to_cpu(hw->num_windows));
}

static struct tessera_layout_job *job_of(struct kunit *test, u32 num_operands, u32 num_windows,
					 u32 num_instructions)
{
	struct tessera_layout_job *job = ((struct translation *)test->priv)->job;

	job->num_operands = num_operands;
	job->num_windows = num_windows;
	job->num_instructions = num_instructions;
	return job;
}

/* A number that is another for each place in an affine, and negative in every other */
static s64 affine_number(u32 seed, u32 place)
{
	s64 number = ((s64)seed << 40) + place * 0x01020304LL + 1;

	return place % 2 ? -number : number;
}

static void fill_affine(struct drm_tessera_affine *affine, u32 seed)
{
	u32 d;

	affine->offset = affine_number(seed, DRM_TESSERA_MAX_RANK);
	for (d = 0; d < DRM_TESSERA_MAX_RANK; d++)
		affine->strides[d] = affine_number(seed, d);
}

static void expect_affine(struct kunit *test, const struct tessera_hw_affine *hw, u32 seed)
{
	u32 d;

	KUNIT_EXPECT_EQ(test, affine_number(seed, DRM_TESSERA_MAX_RANK),
			(s64)le64_to_cpu(hw->offset));
	for (d = 0; d < DRM_TESSERA_MAX_RANK; d++)
		KUNIT_EXPECT_EQ(test, affine_number(seed, d), (s64)le64_to_cpu(hw->strides[d]));
}

static void counts_and_extents_are_translated(struct kunit *test)
{
	struct tessera_layout_job *job = job_of(test, 3, 2, 1);
	struct tessera_hw_job *hw;
	u32 d;

	job->rank = 8;
	for (d = 0; d < DRM_TESSERA_MAX_RANK; d++)
		job->extents[d] = BIT_ULL(40) + d;
	hw = translate(test);
	KUNIT_EXPECT_EQ(test, 8, le32_to_cpu(hw->rank));
	KUNIT_EXPECT_EQ(test, 3, le32_to_cpu(hw->num_operands));
	KUNIT_EXPECT_EQ(test, 2, le32_to_cpu(hw->num_windows));
	KUNIT_EXPECT_EQ(test, 1, le32_to_cpu(hw->num_instructions));
	for (d = 0; d < DRM_TESSERA_MAX_RANK; d++)
		KUNIT_EXPECT_EQ(test, BIT_ULL(40) + d, le64_to_cpu(hw->extents[d]));
}

static void operand_is_of_the_buffer_and_not_of_the_handle(struct kunit *test)
{
	struct tessera_layout_job *job = job_of(test, 2, 0, 0);
	struct tessera_hw_operand *hw;

	job->operands[1].handle = 7;
	job->operands[1].index_handle = 9;
	job->buffers[1].id = 70;
	job->index_buffers[1].id = 90;
	hw = &hw_operands(translate(test))[1];
	KUNIT_EXPECT_EQ(test, 70, le32_to_cpu(hw->buffer));
	KUNIT_EXPECT_EQ(test, 90, le32_to_cpu(hw->index_buffer));
}

static void operand_is_translated(struct kunit *test)
{
	struct tessera_layout_job *job = job_of(test, DRM_TESSERA_MAX_OPERANDS, 0, 0);
	struct drm_tessera_operand *operand = &job->operands[DRM_TESSERA_MAX_OPERANDS - 1];
	struct tessera_hw_operand *hw;

	operand->flags = DRM_TESSERA_OPERAND_INDIRECT;
	operand->dtype = DRM_TESSERA_DTYPE_RAW128;
	operand->window_mask = 0x80000001;
	operand->index_dtype = DRM_TESSERA_DTYPE_I16;
	operand->fill[0] = 0x0123456789abcdefULL;
	operand->fill[1] = 0xfedcba9876543210ULL;
	operand->index_stride = -3;
	operand->index_limit = BIT_ULL(63) - 1;
	fill_affine(&operand->address, 1);
	fill_affine(&operand->index_address, 2);
	hw = &hw_operands(translate(test))[DRM_TESSERA_MAX_OPERANDS - 1];
	KUNIT_EXPECT_EQ(test, DRM_TESSERA_OPERAND_INDIRECT, le32_to_cpu(hw->flags));
	KUNIT_EXPECT_EQ(test, DRM_TESSERA_DTYPE_RAW128, le32_to_cpu(hw->dtype));
	KUNIT_EXPECT_EQ(test, 0x80000001, le32_to_cpu(hw->window_mask));
	KUNIT_EXPECT_EQ(test, DRM_TESSERA_DTYPE_I16, le32_to_cpu(hw->index_dtype));
	KUNIT_EXPECT_EQ(test, 0x0123456789abcdefULL, le64_to_cpu(hw->fill[0]));
	KUNIT_EXPECT_EQ(test, 0xfedcba9876543210ULL, le64_to_cpu(hw->fill[1]));
	KUNIT_EXPECT_EQ(test, -3, (s64)le64_to_cpu(hw->index_stride));
	KUNIT_EXPECT_EQ(test, BIT_ULL(63) - 1, le64_to_cpu(hw->index_limit));
	expect_affine(test, &hw->address, 1);
	expect_affine(test, &hw->index_address, 2);
}

static void windows_stand_behind_the_operands(struct kunit *test)
{
	struct tessera_layout_job *job = job_of(test, 2, DRM_TESSERA_MAX_WINDOWS, 0);
	struct tessera_hw_window *hw;
	u32 w;

	for (w = 0; w < DRM_TESSERA_MAX_WINDOWS; w++) {
		fill_affine(&job->windows[w].value, w);
		job->windows[w].limit = w + 100;
	}
	hw = hw_windows(translate(test));
	for (w = 0; w < DRM_TESSERA_MAX_WINDOWS; w++) {
		expect_affine(test, &hw[w].value, w);
		KUNIT_EXPECT_EQ(test, w + 100, le64_to_cpu(hw[w].limit));
	}
}

static void program_stands_behind_the_windows(struct kunit *test)
{
	struct tessera_layout_job *job = job_of(test, 1, 3, DRM_TESSERA_MAX_INSTRUCTIONS);
	struct tessera_hw_instruction *hw;
	u32 n, s;

	for (n = 0; n < DRM_TESSERA_MAX_INSTRUCTIONS; n++) {
		struct drm_tessera_instruction *instruction = &job->program[n];

		instruction->opcode = n + 1;
		instruction->dtype = n + 20;
		instruction->flags = n + 40;
		instruction->predicate = n + 60;
		instruction->dst = n + 80;
		for (s = 0; s < ARRAY_SIZE(instruction->src); s++)
			instruction->src[s] = n + 100 + 20 * s;
		instruction->immediate = BIT_ULL(63) + n;
	}
	hw = hw_instructions(translate(test));
	for (n = 0; n < DRM_TESSERA_MAX_INSTRUCTIONS; n++, hw++) {
		KUNIT_EXPECT_EQ(test, n + 1, hw->opcode);
		KUNIT_EXPECT_EQ(test, n + 20, hw->dtype);
		KUNIT_EXPECT_EQ(test, n + 40, hw->flags);
		KUNIT_EXPECT_EQ(test, n + 60, hw->predicate);
		KUNIT_EXPECT_EQ(test, n + 80, hw->dst);
		for (s = 0; s < ARRAY_SIZE(hw->src); s++)
			KUNIT_EXPECT_EQ(test, n + 100 + 20 * s, hw->src[s]);
		KUNIT_EXPECT_EQ(test, BIT_ULL(63) + n, le64_to_cpu(hw->immediate));
	}
}

static void descriptor_has_the_size_that_its_counts_ask_for(struct kunit *test)
{
	struct translation *translation = test->priv;

	job_of(test, DRM_TESSERA_MAX_OPERANDS, DRM_TESSERA_MAX_WINDOWS,
	       DRM_TESSERA_MAX_INSTRUCTIONS);
	translate(test);
	KUNIT_EXPECT_EQ(test, TESSERA_MAX_DESCRIPTOR_SIZE,
			translation->submission->descriptors[0].size);
}

static void descriptors_lie_side_by_side(struct kunit *test)
{
	struct translation *translation = test->priv;
	struct tessera_submission *submission = translation->submission;
	const struct tessera_descriptor *descriptors = submission->descriptors;
	u32 n;

	job_of(test, 1, 0, 1);
	for (n = 0; n < 10; n++)
		KUNIT_ASSERT_EQ(test, 0, encode_job(submission, translation->job));
	KUNIT_EXPECT_EQ(test, 10, submission->num_descriptors);
	KUNIT_EXPECT_EQ(test, 0, submission->num_addressed);
	for (n = 1; n < 10; n++)
		KUNIT_EXPECT_EQ(test, descriptors[n - 1].dma + descriptors[n - 1].size,
				descriptors[n].dma);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&submission->chunks));
}

static void chunk_has_room_for_all_jobs_that_are_left(struct kunit *test)
{
	struct translation *translation = test->priv;
	struct tessera_submission *submission = translation->submission;

	submission->num_jobs = 3;
	job_of(test, 1, 0, 1);
	translate(test);
	KUNIT_EXPECT_EQ(test, 3 * submission->descriptors[0].size, last_chunk(submission)->size);
}

static void chunk_is_no_larger_than_the_limit(struct kunit *test)
{
	struct translation *translation = test->priv;

	job_of(test, 2, 0, 0);
	translate(test);
	KUNIT_EXPECT_EQ(test, CHUNK_SIZE, last_chunk(translation->submission)->size);
}

static struct kunit_case translation_tests[] = {
	KUNIT_CASE(counts_and_extents_are_translated),
	KUNIT_CASE(operand_is_of_the_buffer_and_not_of_the_handle),
	KUNIT_CASE(operand_is_translated),
	KUNIT_CASE(windows_stand_behind_the_operands),
	KUNIT_CASE(program_stands_behind_the_windows),
	KUNIT_CASE(descriptor_has_the_size_that_its_counts_ask_for),
	KUNIT_CASE(descriptors_lie_side_by_side),
	KUNIT_CASE(chunk_has_room_for_all_jobs_that_are_left),
	KUNIT_CASE(chunk_is_no_larger_than_the_limit),
	{ }
};

static struct kunit_suite translation_suite = {
	.name = "tessera_translation",
	.init = translation_init,
	.exit = translation_exit,
	.test_cases = translation_tests,
};

kunit_test_suite(translation_suite);
