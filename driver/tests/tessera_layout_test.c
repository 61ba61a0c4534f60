// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules for jobs, as the kernel's own compiler has made them: each by a case that breaks it and
 * no other. The cases are in tessera_layout_cases.h.
 */
#include <kunit/test.h>

#include "tessera_layout_cases.h"

static void describe_case(const struct layout_case * const *rule, char *description)
{
	strscpy(description, (*rule)->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(layout, layout_cases, describe_case);

static void layout_rule(struct kunit *test)
{
	const struct layout_case *rule = *(const struct layout_case * const *)test->param_value;
	struct tessera_layout_error error = { };
	struct tessera_layout_job *job;
	int ret;

	job = kunit_kzalloc(test, sizeof(*job), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, job);

	rule->build(job);
	KUNIT_ASSERT_EQ_MSG(test, 0, tessera_layout_check(job, &error), "%s", error.text);

	rule->change(job);
	ret = tessera_layout_check(job, &error);
	KUNIT_EXPECT_EQ_MSG(test, rule->check, ret, "%s", error.text);
	/* What is refused is refused with a reason */
	KUNIT_EXPECT_EQ(test, !ret, !error.text[0]);
}

static struct kunit_case layout_tests[] = {
	KUNIT_CASE_PARAM(layout_rule, layout_gen_params),
	{ }
};

static struct kunit_suite layout_suite = {
	.name = "tessera_layout",
	.test_cases = layout_tests,
};

kunit_test_suite(layout_suite);
