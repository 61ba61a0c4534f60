// SPDX-License-Identifier: MIT
/*
 * Expressions: text, evaluation, simplification, proof, limits.
 */
#include "accel_test.h"
#include "layout/expression.h"

static struct accel_error error;

static const struct accel_named_range ranges[] = {
	{ "i", { 0, 14 } }, { "j", { 0, 4 } }, { "k", { 0, INT64_MAX } }, { "u", { 3, 4 } },
};

static struct accel_expression *parse(const char *text)
{
	struct accel_expression *expression;

	expect_ok(accel_expression_parse(text, &expression, &error));
	return expression;
}

static void expect_print(const struct accel_expression *expression, const char *expected)
{
	char text[512];

	assert_int_equal(accel_expression_print(expression, text, sizeof(text)),
			 strlen(expected));
	assert_string_equal(text, expected);
}

static void expect_simplified(const char *text, const char *expected)
{
	struct accel_expression *expression = parse(text), *simplified;

	expect_ok(accel_expression_simplify(expression, COUNT(ranges), ranges, &simplified,
					    &error));
	expect_print(simplified, expected);
	accel_expression_unref(expression);
	accel_expression_unref(simplified);
}

static void expect_evaluated(const char *text, int64_t expected)
{
	static const struct accel_binding bindings[] = { { "a", -7 }, { "b", 3 } };
	struct accel_expression *expression = parse(text);
	int64_t value;

	expect_ok(accel_expression_evaluate(expression, COUNT(bindings), bindings, &value, &error));
	assert_int_equal(value, expected);
	accel_expression_unref(expression);
}

static void expect_bad(const char *text, int code, int column, const char *message)
{
	struct accel_expression *expression;

	expect_failure(accel_expression_parse(text, &expression, &error), code, message);
	assert_int_equal(error.column, column);
	assert_null(expression);
}

static void expect_answer(const char *a, const char *b, enum accel_answer expected)
{
	struct accel_expression *left = parse(a), *right = parse(b);
	enum accel_answer answer;

	expect_ok(accel_expression_equal(left, right, COUNT(ranges), ranges, &answer, &error));
	assert_int_equal(answer, expected);
	accel_expression_unref(left);
	accel_expression_unref(right);
}

/* Text ------------------------------------------------------------------------------------- */

static void text_prints_as_it_was_written(void **state)
{
	static const char *const texts[] = {
		"4*c_outer + c_inner", "a - (b - c)", "a//4%3", "a//(4*b)", "-x", "-(-x)",
		"min(a, max(b, 3))", "select(a < b and c >= 2 or d == 1, a, -b)", "a*(b + c)%2",
		"(a < b) == c", "-9223372036854775808", "a - -4",
	};
	struct accel_expression *expression;
	size_t k;

	(void)state;
	for (k = 0; k < COUNT(texts); k++) {
		expression = parse(texts[k]);
		expect_print(expression, texts[k]);
		accel_expression_unref(expression);
	}
}

static void print_that_does_not_fit_is_cut(void **state)
{
	struct accel_expression *expression = parse("abc + def");
	char text[6];

	(void)state;
	assert_int_equal(accel_expression_print(expression, text, sizeof(text)), 9);
	assert_string_equal(text, "abc +");
	assert_int_equal(accel_expression_print(expression, NULL, 0), 9);
	accel_expression_unref(expression);
}

static void comparisons_chain_as_in_python(void **state)
{
	struct accel_expression *expression = parse("0 <= i < 4");

	(void)state;
	expect_print(expression, "0 <= i and i < 4");
	accel_expression_unref(expression);
}

static void missing_operand_is_at_the_end(void **state)
{
	(void)state;
	expect_bad("a + ", -EINVAL, 5, "expected a number, a name or \"(\", not the end");
}

static void open_parenthesis_is_told(void **state)
{
	(void)state;
	expect_bad("(a + b", -EINVAL, 7, "expected \")\", not the end");
}

static void keyword_is_no_name(void **state)
{
	(void)state;
	expect_bad("a + lambda", -EINVAL, 5, "expected a number, a name or \"(\", not \"lambda\"");
}

static void single_slash_is_no_operator(void **state)
{
	(void)state;
	expect_bad("a / b", -EINVAL, 3, "\"/\" has no meaning here");
}

static void foreign_byte_is_named(void **state)
{
	(void)state;
	expect_bad("a\x80", -EINVAL, 2, "byte 0x80 has no meaning here");
}

static void min_takes_two(void **state)
{
	(void)state;
	expect_bad("min(a)", -EINVAL, 6, "expected \",\", not \")\"");
}

static void number_beyond_64_bits_is_refused(void **state)
{
	(void)state;
	expect_bad("a + 9223372036854775808", -EOVERFLOW, 5,
		   "number is larger than 9223372036854775807");
}

static void constant_that_overflows_is_refused(void **state)
{
	(void)state;
	expect_bad("a + 9223372036854775807*2", -EOVERFLOW, 24, "the value does not fit 64 bits");
}

static void division_by_the_constant_0_is_refused(void **state)
{
	(void)state;
	expect_bad("a//(2 - 2)", -EDOM, 2, "division by 0");
}

static void long_name_is_refused(void **state)
{
	(void)state;
	expect_bad("abcdefghijklmnopqrstuvwxyzabcdef", -EINVAL, 1,
		   "name is 32 characters long, expected 31 at most");
}

/* Limits ----------------------------------------------------------------------------------- */

static void expect_too_big(const char *piece, size_t repeats)
{
	size_t length = strlen(piece), k;
	char *text = malloc(length * repeats + 1);
	struct accel_expression *expression;

	assert_non_null(text);
	for (k = 0; k < repeats; k++)
		memcpy(text + k * length, piece, length);
	text[length * repeats] = '\0';
	assert_int_equal(accel_expression_parse(text, &expression, &error), -E2BIG);
	free(text);
}

static void a_million_parentheses_are_refused(void **state)
{
	(void)state;
	expect_too_big("(", 1000000);
}

static void a_million_terms_are_refused(void **state)
{
	(void)state;
	expect_too_big("a+", 1000000);
}

static void a_million_calls_are_refused(void **state)
{
	(void)state;
	expect_too_big("min(1,", 1000000);
}

static void a_million_signs_are_one(void **state)
{
	char *text = malloc(1000003);
	struct accel_expression *expression;

	(void)state;
	assert_non_null(text);
	memset(text, '-', 1000001);
	strcpy(text + 1000001, "a");
	expect_ok(accel_expression_parse(text, &expression, &error));
	expect_print(expression, "-a");
	accel_expression_unref(expression);
	free(text);
}

/* Terms that no rule joins; they would be too deep as an expression. */
static void a_sum_of_many_parts_is_refused(void **state)
{
	char *text = malloc(100000);
	struct accel_expression *expression, *result;
	size_t length = 0;
	int k;

	(void)state;
	assert_non_null(text);
	length += sprintf(text, "(0");
	for (k = 0; k < 1400; k++)
		length += sprintf(text + length, "%smax(k//%d, k%%%d)%%2",
				  k % 100 ? " + " : ") + (", k + 2, k + 3);
	strcpy(text + length, ")");
	memmove(text + 1, text, length + 2);
	text[0] = '(';
	strcat(text, ")%2");
	expression = parse(text);
	expect_failure(accel_expression_simplify(expression, COUNT(ranges), ranges, &result,
						 &error), -E2BIG,
		       "expression: more than 256 operations inside of one another, or 16384");
	accel_expression_unref(expression);
	free(text);
}

/* y = y * y, again and again: small in memory, endless when walked. */
static void shared_operands_count_each_time(void **state)
{
	struct accel_expression *expression, *square;
	int code = 0, k;

	(void)state;
	expect_ok(accel_expression_variable("y", &expression, &error));
	for (k = 0; k < 100 && !code; k++) {
		code = accel_expression_binary(ACCEL_EXPRESSION_MULTIPLY, expression, expression,
					       &square, &error);
		if (!code) {
			accel_expression_unref(expression);
			expression = square;
		}
	}
	assert_int_equal(code, -E2BIG);
	assert_in_range(k, 10, 20);
	accel_expression_unref(expression);
}

/* Building --------------------------------------------------------------------------------- */

static void builders_share_operands(void **state)
{
	struct accel_expression *a, *four, *quotient, *sum, *select;

	(void)state;
	expect_ok(accel_expression_variable("a", &a, &error));
	expect_ok(accel_expression_constant(4, &four, &error));
	expect_ok(accel_expression_binary(ACCEL_EXPRESSION_FLOOR_DIVIDE, a, four, &quotient,
					  &error));
	expect_ok(accel_expression_binary(ACCEL_EXPRESSION_ADD, quotient, a, &sum, &error));
	expect_ok(accel_expression_select(a, sum, four, &select, &error));
	accel_expression_unref(a);
	accel_expression_unref(four);
	accel_expression_unref(quotient);
	accel_expression_unref(sum);
	expect_print(select, "select(a, a//4 + a, 4)");
	assert_int_equal(accel_expression_kind(select), ACCEL_EXPRESSION_SELECT);
	assert_string_equal(accel_expression_name(accel_expression_operand(select, 0)), "a");
	assert_null(accel_expression_operand(select, 3));
	accel_expression_unref(select);
}

static void builder_refuses_a_name_that_is_none(void **state)
{
	struct accel_expression *expression;

	(void)state;
	expect_failure(accel_expression_variable("2a", &expression, &error), -EINVAL,
		       "\"2a\" is no name: expected a letter or _, then letters, digits and _, "
		       "31 characters at most, and no keyword");
	assert_null(expression);
}

static void builder_refuses_a_kind_of_three_operands(void **state)
{
	struct accel_expression *a = parse("a"), *expression;

	(void)state;
	expect_failure(accel_expression_binary(ACCEL_EXPRESSION_SELECT, a, a, &expression, &error),
		       -EINVAL, "kind 17 of expression does not take two operands");
	accel_expression_unref(a);
}

/* Evaluation ------------------------------------------------------------------------------- */

static void division_rounds_down(void **state)
{
	(void)state;
	expect_evaluated("a//4", -2);
	expect_evaluated("a%4", 1);
	expect_evaluated("a//-4", 1);
	expect_evaluated("a%-4", -3);
	expect_evaluated("7//-4", -2);
	expect_evaluated("7%-4", -1);
	expect_evaluated("-9223372036854775808%-1", 0);
}

static void logic_looks_no_further_than_needed(void **state)
{
	(void)state;
	expect_evaluated("b == 4 and a//(b - 3) > 1", 0);
	expect_evaluated("b == 3 or a//(b - 3) > 1", 1);
	expect_evaluated("select(b > 3, a//(b - 3), 5)", 5);
}

static void expect_no_value(const char *text, int code, const char *message)
{
	static const struct accel_binding bindings[] = { { "b", INT64_MAX }, { "z", 0 } };
	struct accel_expression *expression = parse(text);
	int64_t value;

	expect_failure(accel_expression_evaluate(expression, COUNT(bindings), bindings, &value,
						 &error), code, message);
	accel_expression_unref(expression);
}

static void value_beyond_64_bits_is_an_error(void **state)
{
	(void)state;
	expect_no_value("b + 1", -EOVERFLOW, "expression: a value does not fit 64 bits");
	expect_no_value("(-b - 1)//-1", -EOVERFLOW, "expression: a value does not fit 64 bits");
}

static void division_by_0_is_an_error(void **state)
{
	(void)state;
	expect_no_value("b//z", -EDOM, "expression: division by 0");
}

static void variable_without_a_value_is_an_error(void **state)
{
	(void)state;
	expect_no_value("b + c", -ENOENT, "variable c has no value");
}

/* Simplification --------------------------------------------------------------------------- */

static void ranges_resolve_divisions(void **state)
{
	(void)state;
	expect_simplified("(4*i + j)//4", "i");
	expect_simplified("(4*i + j)%4", "j");
	expect_simplified("(8*i + j)//4", "2*i");
	expect_simplified("(6*i + j)//4", "(6*i + j)//4");
	expect_simplified("(16*i + 4*k + j)//16", "i + k//4");
	expect_simplified("i//20", "0");
	expect_simplified("i%14", "i");
	expect_simplified("(i + 6)//4", "(i + 2)//4 + 1");
	expect_simplified("i//4//2", "i//8");
	expect_simplified("i%8//4", "i//4%2");
	expect_simplified("i%8%4", "i%4");
	expect_simplified("u//2 + i*u", "3*i + 1");
}

static void quotient_and_remainder_join(void **state)
{
	(void)state;
	expect_simplified("4*(k//4) + k%4", "k");
	expect_simplified("8*(k//8) + 4*(k//4%2) + k%4", "k");
	expect_simplified("k - 4*(k//4)", "k%4");
	expect_simplified("4*(k%5) + k//5", "4*(k%5) + k//5");
	expect_simplified("(k + 2)//4*4 + (k + 2)%4", "k + 2");
}

static void symbols_resolve_divisions(void **state)
{
	(void)state;
	expect_simplified("(N*i + N*j)//N", "i + j");
	expect_simplified("(M*N*i + N)%N", "0");
	expect_simplified("(N - 1)//N", "0");
	expect_simplified("-1//N", "-1");
	expect_simplified("i + k//N*N - k", "N*(k//N) + i - k");
}

static void comparisons_are_decided_or_normalised(void **state)
{
	(void)state;
	expect_simplified("i < 14", "1");
	expect_simplified("i == 20", "0");
	expect_simplified("4*i >= 14", "i >= 4");
	expect_simplified("4*i == 14", "0");
	expect_simplified("-i > -3", "i < 3");
	expect_simplified("i//4 >= 2", "i >= 8");
	expect_simplified("2*i - 2*k <= 1", "i < k + 1");
	expect_simplified("i >= 0 and k == 3", "k == 3");
	expect_simplified("i < 0 or k == 3 or k == 3", "k == 3");
	expect_simplified("select(i < 20, j, k)", "j");
	expect_simplified("min(i, 13) + max(j, i + 4)", "2*i + 4");
	expect_simplified("N >= 1", "1");
}

static void sums_have_one_form(void **state)
{
	(void)state;
	expect_simplified("i + 3 + j*4 - i", "4*j + 3");
	expect_simplified("3 - i", "3 - i");
	expect_simplified("(i + j)*(i - j)", "i*i - j*j");
	expect_simplified("0*i", "0");
}

static void equality_is_proved_or_refuted(void **state)
{
	(void)state;
	expect_answer("(4*i + j)//4", "i", ACCEL_ANSWER_YES);
	expect_answer("k%8//4", "k//4%2", ACCEL_ANSWER_YES);
	expect_answer("k//8*8 + k%8", "k//2*2 + k%2", ACCEL_ANSWER_YES);
	expect_answer("i", "i + 1", ACCEL_ANSWER_NO);
	expect_answer("j", "4 + i", ACCEL_ANSWER_NO);
	expect_answer("i", "j", ACCEL_ANSWER_UNKNOWN);
}

static void part_that_divides_by_0_is_refused(void **state)
{
	struct accel_expression *expression = parse("select(j, k//(N%1), M%k < 3)"), *result;

	(void)state;
	expect_failure(accel_expression_simplify(expression, COUNT(ranges), ranges, &result,
						 &error), -EDOM, "expression: division by 0");
	assert_null(result);
	accel_expression_unref(expression);
}

static void empty_range_is_refused(void **state)
{
	static const struct accel_named_range empty = { "i", { 3, 3 } };
	struct accel_expression *i = parse("i"), *result;

	(void)state;
	expect_failure(accel_expression_simplify(i, 1, &empty, &result, &error), -EINVAL,
		       "range of i is empty: minimum 3, limit 3");
	accel_expression_unref(i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_prints_as_it_was_written),
		cmocka_unit_test(print_that_does_not_fit_is_cut),
		cmocka_unit_test(comparisons_chain_as_in_python),
		cmocka_unit_test(missing_operand_is_at_the_end),
		cmocka_unit_test(open_parenthesis_is_told),
		cmocka_unit_test(keyword_is_no_name),
		cmocka_unit_test(single_slash_is_no_operator),
		cmocka_unit_test(foreign_byte_is_named),
		cmocka_unit_test(min_takes_two),
		cmocka_unit_test(number_beyond_64_bits_is_refused),
		cmocka_unit_test(constant_that_overflows_is_refused),
		cmocka_unit_test(division_by_the_constant_0_is_refused),
		cmocka_unit_test(long_name_is_refused),
		cmocka_unit_test(a_million_parentheses_are_refused),
		cmocka_unit_test(a_million_terms_are_refused),
		cmocka_unit_test(a_million_calls_are_refused),
		cmocka_unit_test(a_million_signs_are_one),
		cmocka_unit_test(a_sum_of_many_parts_is_refused),
		cmocka_unit_test(shared_operands_count_each_time),
		cmocka_unit_test(builders_share_operands),
		cmocka_unit_test(builder_refuses_a_name_that_is_none),
		cmocka_unit_test(builder_refuses_a_kind_of_three_operands),
		cmocka_unit_test(division_rounds_down),
		cmocka_unit_test(logic_looks_no_further_than_needed),
		cmocka_unit_test(value_beyond_64_bits_is_an_error),
		cmocka_unit_test(division_by_0_is_an_error),
		cmocka_unit_test(variable_without_a_value_is_an_error),
		cmocka_unit_test(ranges_resolve_divisions),
		cmocka_unit_test(quotient_and_remainder_join),
		cmocka_unit_test(symbols_resolve_divisions),
		cmocka_unit_test(comparisons_are_decided_or_normalised),
		cmocka_unit_test(sums_have_one_form),
		cmocka_unit_test(equality_is_proved_or_refuted),
		cmocka_unit_test(part_that_divides_by_0_is_refused),
		cmocka_unit_test(empty_range_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
