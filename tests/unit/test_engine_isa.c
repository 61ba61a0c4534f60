// SPDX-License-Identifier: MIT
/*
 * Instruction sets: which is chosen, what asks for one, and that none lacks a kernel.
 */

#include "engine/cache.h"
#include "engine/isa.h"
#include "engine/kernels.h"
#include "engine/program.h"
#include "engine_test.h"

static int forget_variable(void **state)
{
	(void)state;
	unsetenv(ENGINE_ISA_VARIABLE);
	return 0;
}

static void sets_are_listed_from_the_simplest_on(void **state)
{
	(void)state;
	assert_ptr_equal(engine_isa_at(0), &engine_isa_portable);
#ifdef __x86_64__
	assert_ptr_equal(engine_isa_at(1), &engine_isa_avx2);
	assert_ptr_equal(engine_isa_at(2), &engine_isa_avx512);
	assert_null(engine_isa_at(3));
#else
	assert_null(engine_isa_at(1));
#endif
	assert_null(engine_isa_at(UINT32_MAX));
}

static void best_set_is_chosen_when_nobody_asks(void **state)
{
	const struct engine_isa *best = NULL, *isa;

	(void)state;
	for (uint32_t k = 0; (isa = engine_isa_at(k)); k++)
		if (isa->is_available())
			best = isa;
	assert_ptr_equal(engine_isa_choose(), best);
}

static void each_set_is_chosen_by_its_name(void **state)
{
	const struct engine_isa *isa;

	(void)state;
	for (uint32_t k = 0; (isa = engine_isa_at(k)); k++) {
		setenv(ENGINE_ISA_VARIABLE, isa->name, 1);
		assert_ptr_equal(engine_isa_choose(), isa->is_available() ? isa : NULL);
	}
}

static void variable_is_read_anew_each_time(void **state)
{
	const struct engine_isa *best = engine_isa_choose();

	(void)state;
	setenv(ENGINE_ISA_VARIABLE, "portable", 1);
	assert_ptr_equal(engine_isa_choose(), &engine_isa_portable);
	unsetenv(ENGINE_ISA_VARIABLE);
	assert_ptr_equal(engine_isa_choose(), best);
}

static void check_refused(const char *name)
{
	uint8_t from[1] = { 1 }, to[1] = { 2 };
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);
	struct engine_fault fault = { .text = "" };
	char expected[160];

	SET_BUFFER(job, 0, to);
	SET_BUFFER(job, 1, from);
	setenv(ENGINE_ISA_VARIABLE, name, 1);
	assert_null(engine_isa_choose());
	assert_int_equal(try_job(job, NULL, &fault), -EINVAL);
	assert_int_equal(fault.cause, DRM_TESSERA_CAUSE_DESCRIPTOR);
	snprintf(expected, sizeof(expected), "ACCEL_ISA is \"%s\", expected portable, avx2 or "
		 "avx512, as this CPU has them", name);
	assert_string_equal(fault.text, expected);
	assert_int_equal(to[0], 2);
	free(job);
}

static void unknown_name_is_refused_when_a_plan_is_made(void **state)
{
	(void)state;
	check_refused("sse9");
}

static void empty_name_is_refused(void **state)
{
	(void)state;
	check_refused("");
}

static void beginning_of_a_name_is_refused(void **state)
{
	(void)state;
	check_refused("avx5");
}

static void plan_keeps_the_set_that_it_was_made_with(void **state)
{
	uint8_t from[3] = { 1, 2, 3 }, to[3] = { 0 };
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_U8);
	struct engine_fault fault = { .text = "" };
	struct engine_plan *plan;

	(void)state;
	SET_BUFFER(job, 0, to);
	SET_BUFFER(job, 1, from);
	add_loop(job, 3, 1, 1);
	setenv(ENGINE_ISA_VARIABLE, "portable", 1);
	assert_int_equal(engine_plan_create(job, &plan, &fault), 0);
	setenv(ENGINE_ISA_VARIABLE, "none", 1);
	assert_int_equal(engine_plan_run(plan, NULL, &fault), 0);
	assert_memory_equal(to, from, sizeof(to));
	engine_plan_destroy(plan);
	free(job);
}

static void no_set_lacks_a_kernel_of_copies(void **state)
{
	const struct engine_isa *isa;

	(void)state;
	for (uint32_t k = 0; (isa = engine_isa_at(k)); k++) {
		for (uint32_t shift = 0; shift < ENGINE_NUM_SIZES; shift++) {
			assert_non_null(isa->copy->run[shift]);
			assert_non_null(isa->copy->stream_run[shift]);
			assert_non_null(isa->copy->broadcast[shift]);
			assert_non_null(isa->copy->stream_broadcast[shift]);
			assert_non_null(isa->copy->strided[shift]);
			assert_non_null(isa->copy->pairs[shift]);
		}
		assert_non_null(isa->copy->end_streams);
	}
}

static void no_set_lacks_a_kernel_of_transposes(void **state)
{
	const struct engine_isa *isa;

	(void)state;
	for (uint32_t k = 0; (isa = engine_isa_at(k)); k++)
		for (uint32_t shift = 0; shift < ENGINE_NUM_SIZES; shift++)
			assert_non_null(isa->transpose->transpose[shift]);
}

static void sets_fall_back_to_the_portable_one_in_the_end(void **state)
{
	const struct engine_isa *isa;

	(void)state;
	for (uint32_t k = 0; (isa = engine_isa_at(k)); k++) {
		const struct engine_compute_kernels *kernels = isa->compute;

		while (kernels->simpler)
			kernels = kernels->simpler;
		assert_ptr_equal(kernels, &engine_compute_portable);
	}
}

static void portable_set_has_a_kernel_for_every_instruction(void **state)
{
	const struct engine_compute_kernels *kernels = &engine_compute_portable;

	(void)state;
	for (int type = 0; type < ENGINE_NUM_TYPES; type++) {
		for (int opcode = DRM_TESSERA_OP_ADD; opcode <= DRM_TESSERA_OP_ABS; opcode++)
			assert_non_null(kernels->arithmetic[opcode][type]);
		for (int p = DRM_TESSERA_PREDICATE_EQ; p <= DRM_TESSERA_PREDICATE_GE; p++)
			assert_non_null(kernels->comparing[p][type]);
		assert_non_null(kernels->widening[type]);
		for (int wide = 0; wide < ENGINE_NUM_WIDE; wide++)
			assert_non_null(kernels->narrowing[wide][0][type]);
	}
}

static void last_level_cache_has_a_size_and_keeps_it(void **state)
{
	uint64_t bytes = engine_last_level_cache();

	(void)state;
	assert_true(bytes >= 64 << 10);
	assert_int_equal(engine_last_level_cache(), bytes);
}

/* Neither the sum of all caches of a CPU nor one that dozens of cores share. */
static void no_core_is_taken_to_have_hundreds_of_megabytes_of_cache(void **state)
{
	(void)state;
	assert_true(engine_last_level_cache() <= 32 << 20);
}

int main(void)
{
#define TEST(name)	cmocka_unit_test_setup_teardown(name, forget_variable, forget_variable)
	const struct CMUnitTest tests[] = {
		TEST(sets_are_listed_from_the_simplest_on),
		TEST(best_set_is_chosen_when_nobody_asks),
		TEST(each_set_is_chosen_by_its_name),
		TEST(variable_is_read_anew_each_time),
		TEST(unknown_name_is_refused_when_a_plan_is_made),
		TEST(empty_name_is_refused),
		TEST(beginning_of_a_name_is_refused),
		TEST(plan_keeps_the_set_that_it_was_made_with),
		TEST(no_set_lacks_a_kernel_of_copies),
		TEST(no_set_lacks_a_kernel_of_transposes),
		TEST(sets_fall_back_to_the_portable_one_in_the_end),
		TEST(portable_set_has_a_kernel_for_every_instruction),
		TEST(last_level_cache_has_a_size_and_keeps_it),
		TEST(no_core_is_taken_to_have_hundreds_of_megabytes_of_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
