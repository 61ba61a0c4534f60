// SPDX-License-Identifier: MIT
/*
 * Plans as values, and tasks: plans bound to buffers, run again and again without an allocation.
 */
#include "accel_test.h"
#include "allocation_test.h"

static struct accel_error error;

/* A source (2,3), its transpose in NCHW terms, and the plan from one to the other. */
struct fixture {
	struct accel_device *device;
	struct accel_buffer *buffer;
	struct accel_tensor *src, *dst;
	struct accel_plan *plan;
	uint8_t *memory;
};

#define DST_OFFSET	64

static const int64_t shape[] = { 2, 3 };
static const int64_t transposed[] = { 1, 2 };

/* The source at offset, the destination DST_OFFSET behind it, in the fixture's buffer. */
static void place(struct fixture *fixture, int64_t offset, struct accel_tensor **src,
		  struct accel_tensor **dst)
{
	expect_ok(accel_tensor_from_buffer(fixture->buffer, ACCEL_DTYPE_U8, 2, shape, NULL, offset,
					   src, &error));
	expect_ok(accel_tensor_from_buffer(fixture->buffer, ACCEL_DTYPE_U8, 2, shape, transposed,
					   offset + DST_OFFSET, dst, &error));
	memcpy(fixture->memory + offset, "abcdef", 6);
	memset(fixture->memory + offset + DST_OFFSET, '.', 6);
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	void *memory;

	expect_ok(accel_open("cpu", &fixture->device, &error));
	expect_ok(accel_buffer_create(fixture->device, 4096, &fixture->buffer, &error));
	expect_ok(accel_buffer_map(fixture->buffer, &memory, &error));
	fixture->memory = memory;
	place(fixture, 0, &fixture->src, &fixture->dst);
	expect_ok(accel_plan_create_copy(fixture->dst, fixture->src, &fixture->plan, &error));
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	accel_plan_unref(fixture->plan);
	accel_tensor_unref(fixture->src);
	accel_tensor_unref(fixture->dst);
	accel_buffer_unref(fixture->buffer);
	accel_device_unref(fixture->device);
	free(fixture);
	return 0;
}

static struct accel_task *create(struct fixture *fixture)
{
	struct accel_tensor *tensors[] = { fixture->src, fixture->dst };
	struct accel_task *task;

	expect_ok(accel_task_create(fixture->plan, 2, tensors, &task, &error));
	return task;
}

/* Plans ---------------------------------------------------------------------------------------- */

static void plans_of_the_same_copy_are_equal(void **state)
{
	struct fixture *fixture = *state;
	struct accel_plan *other;

	expect_ok(accel_plan_create_copy(fixture->dst, fixture->src, &other, &error));
	assert_true(accel_plan_equal(fixture->plan, other));
	assert_true(accel_plan_equal(fixture->plan, fixture->plan));
	assert_int_equal(accel_plan_hash(fixture->plan), accel_plan_hash(other));
	accel_plan_unref(other);
}

static void plans_of_other_copies_differ(void **state)
{
	struct fixture *fixture = *state;
	struct accel_plan *back, *same;

	expect_ok(accel_plan_create_copy(fixture->src, fixture->dst, &back, &error));
	expect_ok(accel_plan_create_copy(fixture->src, fixture->src, &same, &error));
	assert_false(accel_plan_equal(fixture->plan, back));
	assert_false(accel_plan_equal(fixture->plan, same));
	assert_false(accel_plan_equal(back, same));
	accel_plan_unref(back);
	accel_plan_unref(same);
}

static void plan_tells_its_slots_and_jobs(void **state)
{
	struct fixture *fixture = *state;
	enum accel_slot_kind kind;
	struct accel_plan_info info;
	const char *name;
	uint32_t input;

	accel_plan_info(fixture->plan, &info);
	assert_int_equal(info.num_inputs, 1);
	assert_int_equal(info.num_outputs, 1);
	assert_int_equal(info.num_jobs, 1);
	assert_int_equal(info.bytes_read, 6);
	assert_int_equal(info.bytes_written, 6);
	assert_int_equal(accel_plan_slot(fixture->plan, 0, &kind, &name), 0);
	assert_int_equal(kind, ACCEL_SLOT_INPUT);
	assert_string_equal(name, "source");
	assert_int_equal(accel_plan_slot(fixture->plan, 1, &kind, &name), 0);
	assert_int_equal(kind, ACCEL_SLOT_OUTPUT);
	assert_int_equal(accel_plan_slot(fixture->plan, 2, &kind, &name), -ENOENT);
	assert_non_null(accel_plan_job(fixture->plan, 0));
	assert_null(accel_plan_job(fixture->plan, 1));
	assert_null(accel_plan_note(fixture->plan, info.num_notes));
	assert_int_equal(accel_plan_alias(fixture->plan, 0, &input), -ENOENT);
	assert_int_equal(accel_plan_alias(fixture->plan, 1, &input), -ENOENT);
}

/* Tasks ---------------------------------------------------------------------------------------- */

static void task_runs_as_often_as_it_is_submitted(void **state)
{
	struct fixture *fixture = *state;
	struct accel_task *task = create(fixture);

	expect_ok(accel_task_submit(task, NULL, 0, &error));
	expect_ok(accel_task_wait(task, -1, &error));
	assert_memory_equal(fixture->memory + DST_OFFSET, "adbecf", 6);
	memcpy(fixture->memory, "123456", 6);
	expect_ok(accel_task_submit(task, NULL, 0, &error));
	expect_ok(accel_task_wait(task, -1, &error));
	assert_memory_equal(fixture->memory + DST_OFFSET, "142536", 6);
	accel_task_unref(task);
}

static void plan_is_bound_to_tensors_at_another_offset(void **state)
{
	struct fixture *fixture = *state;
	struct accel_tensor *tensors[2];
	struct accel_task *task;

	place(fixture, 1000, &tensors[0], &tensors[1]);
	expect_ok(accel_task_create(fixture->plan, 2, tensors, &task, &error));
	expect_ok(accel_task_submit(task, NULL, 0, &error));
	expect_ok(accel_task_wait(task, -1, &error));
	assert_memory_equal(fixture->memory + 1000 + DST_OFFSET, "adbecf", 6);
	assert_memory_equal(fixture->memory + DST_OFFSET, "......", 6);
	accel_task_unref(task);
	accel_tensor_unref(tensors[0]);
	accel_tensor_unref(tensors[1]);
}

static void task_outlives_its_plan_and_tensors(void **state)
{
	struct fixture *fixture = *state;
	struct accel_tensor *tensors[2];
	struct accel_plan *plan;
	struct accel_task *task;

	place(fixture, 1000, &tensors[0], &tensors[1]);
	expect_ok(accel_plan_create_copy(tensors[1], tensors[0], &plan, &error));
	expect_ok(accel_task_create(plan, 2, tensors, &task, &error));
	accel_plan_unref(plan);
	accel_tensor_unref(tensors[0]);
	accel_tensor_unref(tensors[1]);
	assert_ptr_equal(accel_task_ref(task), task);
	accel_task_unref(task);
	expect_ok(accel_task_submit(task, NULL, 0, &error));
	expect_ok(accel_task_wait(task, -1, &error));
	assert_memory_equal(fixture->memory + 1000 + DST_OFFSET, "adbecf", 6);
	accel_task_unref(task);
}

static void submit_and_wait_allocate_nothing(void **state)
{
	struct accel_task *task = create(*state);
	struct fixture *fixture = *state;

	num_allocations = 0;
	num_left = 0;
	assert_int_equal(accel_task_submit(task, NULL, 0, &error), 0);
	assert_int_equal(accel_task_wait(task, -1, &error), 0);
	num_left = -1;
	assert_int_equal(num_allocations, 0);
	assert_memory_equal(fixture->memory + DST_OFFSET, "adbecf", 6);
	accel_task_unref(task);
}

static void task_gives_a_fence_of_its_last_run(void **state)
{
	struct accel_task *task = create(*state);
	struct accel_fence_result result;
	struct accel_fence *fence;

	expect_ok(accel_task_submit(task, NULL, 0, &error));
	expect_ok(accel_task_fence(task, &fence, &error));
	expect_ok(accel_fence_wait(fence, -1, &error));
	expect_ok(accel_fence_result(fence, &result, &error));
	assert_int_equal(result.num_jobs, 1);
	assert_int_equal(result.num_failed, 0);
	accel_fence_unref(fence);
	accel_task_unref(task);
}

static void task_shows_its_jobs(void **state)
{
	struct accel_task *task = create(*state);

	assert_int_equal(accel_job_extents(accel_task_job(task, 0), NULL), 2);
	assert_null(accel_task_job(task, 1));
	accel_task_unref(task);
}

static void plan_without_jobs_makes_a_task_that_does_nothing(void **state)
{
	static const int64_t empty[] = { 3, 0 };
	struct fixture *fixture = *state;
	struct accel_tensor *tensors[2];
	struct accel_plan *plan;
	struct accel_task *task;

	for (int k = 0; k < 2; k++)
		expect_ok(accel_tensor_create(fixture->device, ACCEL_DTYPE_U8, 2, empty, NULL,
					      &tensors[k], &error));
	expect_ok(accel_plan_create_copy(tensors[1], tensors[0], &plan, &error));
	assert_null(accel_plan_job(plan, 0));
	expect_ok(accel_task_create(plan, 2, tensors, &task, &error));
	expect_ok(accel_task_submit(task, NULL, 0, &error));
	expect_ok(accel_task_wait(task, -1, &error));
	accel_task_unref(task);
	accel_plan_unref(plan);
	accel_tensor_unref(tensors[0]);
	accel_tensor_unref(tensors[1]);
}

/* What is refused ------------------------------------------------------------------------------ */

static void wrong_number_of_tensors_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct accel_tensor *tensors[] = { fixture->src };
	struct accel_task *task;

	expect_failure(accel_task_create(fixture->plan, 1, tensors, &task, &error), -EINVAL,
		       "bind: 1 tensors, expected 1 inputs and 1 outputs");
	assert_null(task);
}

static void missing_tensor_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct accel_tensor *tensors[] = { fixture->src, NULL };
	struct accel_task *task;

	expect_failure(accel_task_create(fixture->plan, 2, tensors, &task, &error), -EINVAL,
		       "bind: output \"destination\" is NULL, expected a tensor");
}

static void tensor_of_another_layout_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct accel_tensor *tensors[] = { fixture->dst, fixture->dst };
	struct accel_task *task;

	expect_failure(accel_task_create(fixture->plan, 2, tensors, &task, &error), -EINVAL,
		       "bind: input \"source\" has another type, shape or layout than the plan was "
		       "made for");
}

static void tensor_of_another_type_is_refused(void **state)
{
	struct fixture *fixture = *state;
	struct accel_tensor *tensors[] = { NULL, fixture->dst };
	struct accel_task *task;

	expect_ok(accel_tensor_from_buffer(fixture->buffer, ACCEL_DTYPE_I8, 2, shape, NULL, 0,
					   &tensors[0], &error));
	expect_failure(accel_task_create(fixture->plan, 2, tensors, &task, &error), -EINVAL,
		       "bind: input \"source\" has another type, shape or layout than the plan was "
		       "made for");
	accel_tensor_unref(tensors[0]);
}

static void wait_before_any_submit_is_refused(void **state)
{
	struct accel_task *task = create(*state);

	assert_int_equal(accel_task_wait(task, -1, &error), -EINVAL);
	accel_task_unref(task);
}

/* Whichever allocation is the first to fail, the call says so and leaves nothing behind. */
static void plan_and_task_survive_without_memory(void **state)
{
	struct fixture *fixture = *state;
	struct accel_tensor *tensors[] = { fixture->src, fixture->dst };
	struct accel_plan *plan;
	struct accel_task *task;
	int ret = -ENOMEM;

	for (long k = 0; ret; k++) {
		plan = NULL;
		num_left = k;
		ret = accel_plan_create_copy(fixture->dst, fixture->src, &plan, &error);
		if (!ret)
			ret = accel_task_create(plan, 2, tensors, &task, &error);
		num_left = -1;
		accel_plan_unref(plan);
		if (ret)
			assert_int_equal(ret, -ENOMEM);
	}
	accel_task_unref(task);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(plans_of_the_same_copy_are_equal),
		TEST(plans_of_other_copies_differ),
		TEST(plan_tells_its_slots_and_jobs),
		TEST(task_runs_as_often_as_it_is_submitted),
		TEST(plan_is_bound_to_tensors_at_another_offset),
		TEST(task_outlives_its_plan_and_tensors),
		TEST(submit_and_wait_allocate_nothing),
		TEST(task_gives_a_fence_of_its_last_run),
		TEST(task_shows_its_jobs),
		TEST(plan_without_jobs_makes_a_task_that_does_nothing),
		TEST(wrong_number_of_tensors_is_refused),
		TEST(missing_tensor_is_refused),
		TEST(tensor_of_another_layout_is_refused),
		TEST(tensor_of_another_type_is_refused),
		TEST(wait_before_any_submit_is_refused),
		TEST(plan_and_task_survive_without_memory),
	};

	return cmocka_run_group_tests_name("task", tests, NULL, NULL);
}
