// SPDX-License-Identifier: MIT
/*
 * Large transposes by way of the staging buffer: rows of small elements that are packed, runs of
 * any number of bytes, many loops of odd extents, bases anywhere in a line.
 */
#include "large_test.h"

/* A dense array of a permuted array's elements, or one with gaps between its rows. */
struct permutation {
	uint32_t size_shift;
	uint32_t rank;
	uint64_t extents[6];	/* of the source */
	uint32_t axes[6];	/* axis d of the destination is axis axes[d] of the source */
	int64_t gap;		/* elements between rows of the destination */
	int64_t offsets[2];	/* bytes by which each side is off its memory's beginning */
};

/* Adds a loop for each axis of the destination. */
static struct engine_job *permutation_job(const struct permutation *p)
{
	struct engine_job *job = new_job(1, DRM_TESSERA_DTYPE_CLASS_RAW | p->size_shift);
	const int64_t size = 1ll << p->size_shift;
	struct engine_operand *dst = &job->operands[0], *src = &job->operands[1];
	int64_t src_strides[6], src_stride = size, dst_stride = size;

	job->rank = p->rank;
	for (uint32_t d = p->rank; d-- > 0; src_stride *= (int64_t)p->extents[d])
		src_strides[d] = src_stride;
	for (uint32_t d = p->rank; d-- > 0; ) {
		job->extents[d] = p->extents[p->axes[d]];
		dst->spec.address.strides[d] = dst_stride;
		src->spec.address.strides[d] = src_strides[p->axes[d]];
		dst_stride *= (int64_t)job->extents[d];
		dst_stride += d + 1 == p->rank ? p->gap * size : 0;
	}
	dst->spec.address.offset = p->offsets[0];
	src->spec.address.offset = p->offsets[1];
	set_size(job, 0, (uint64_t)(dst_stride + p->offsets[0]));
	set_size(job, 1, (uint64_t)(src_stride + p->offsets[1]));
	return job;
}

static void check_staged(const struct permutation *p)
{
	check_large(permutation_job(p), " staged", "strides");
}

static void rows_of_small_elements_are_packed(void **state)
{
	(void)state;
	check_staged(&(struct permutation){ 0, 2, { 131, 1031 }, { 1, 0 }, 0, { 0, 0 } });
	check_staged(&(struct permutation){ 1, 2, { 67, 1153 }, { 1, 0 }, 0, { 0, 0 } });
}

/* A block has several of the middle loop, and of each of these all rows. */
static void rows_of_two_loops_are_packed(void **state)
{
	(void)state;
	check_staged(&(struct permutation){ 0, 3, { 67, 5, 517 }, { 2, 1, 0 }, 0, { 0, 0 } });
	check_staged(&(struct permutation){ 1, 3, { 33, 7, 601 }, { 2, 1, 0 }, 0, { 0, 0 } });
}

/* What is side by side in the source is a whole loop and a part of the next: no whole lines. */
static void rows_that_run_on_into_the_next_loop_are_packed(void **state)
{
	(void)state;
	check_staged(&(struct permutation){ 0, 3, { 67, 7, 281 }, { 2, 1, 0 }, 0, { 0, 0 } });
	check_staged(&(struct permutation){ 1, 3, { 33, 15, 137 }, { 2, 1, 0 }, 0, { 0, 0 } });
}

static void runs_of_odd_bytes_begin_at_odd_addresses(void **state)
{
	(void)state;
	check_staged(&(struct permutation){ 0, 2, { 301, 437 }, { 1, 0 }, 0, { 1, 3 } });
	check_staged(&(struct permutation){ 0, 2, { 131, 1031 }, { 1, 0 }, 0, { 63, 1 } });
	check_staged(&(struct permutation){ 1, 2, { 257, 301 }, { 1, 0 }, 0, { 1, 5 } });
	check_staged(&(struct permutation){ 3, 2, { 117, 151 }, { 1, 0 }, 0, { 9, 7 } });
}

static void what_is_between_runs_stays(void **state)
{
	(void)state;
	check_staged(&(struct permutation){ 0, 2, { 301, 437 }, { 1, 0 }, 5, { 1, 3 } });
	check_staged(&(struct permutation){ 1, 3, { 67, 3, 517 }, { 1, 2, 0 }, 1, { 2, 0 } });
}

static void six_loops_of_odd_extents_are_permuted(void **state)
{
	static const uint32_t orders[][6] = {
		{ 5, 4, 3, 2, 1, 0 }, { 1, 0, 3, 2, 5, 4 }, { 0, 5, 2, 4, 3, 1 },
		{ 3, 5, 1, 0, 2, 4 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(orders); i++) {
		struct permutation p = {
			i % 2, 6, { 3, 7, 5, 9, 11, 13 }, .offsets = { (int64_t)i, 1 }
		};

		memcpy(p.axes, orders[i], sizeof(p.axes));
		check_large(permutation_job(&p), "transpose of ", "strides");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_small_elements_are_packed),
		cmocka_unit_test(rows_of_two_loops_are_packed),
		cmocka_unit_test(rows_that_run_on_into_the_next_loop_are_packed),
		cmocka_unit_test(runs_of_odd_bytes_begin_at_odd_addresses),
		cmocka_unit_test(what_is_between_runs_stays),
		cmocka_unit_test(six_loops_of_odd_extents_are_permuted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
