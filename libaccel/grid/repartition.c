// SPDX-License-Identifier: MIT
/*
 * Repartitions: what each PE has to copy from which, as jobs on its queue, and how many bytes that
 * takes over which link.
 */
#include <errno.h>
#include <stdlib.h>

#include "device/submission.h"
#include "error.h"
#include "grid/batch.h"
#include "grid/distribution.h"
#include "lower/copy.h"

#define NUM_DIRECTIONS	4
/* Places that elements come from and go to: the PEs, then system memory. */
#define MAX_PLACES	(ACCEL_MAX_PES + 1)

/* The jobs of a queue, while they are collected. */
struct job_list {
	size_t count;
	struct accel_job **jobs;
};

struct accel_repartition {
	atomic_uint refs;
	struct accel_distribution *dst, *src;
	struct accel_device_info device;
	struct batch batch;			/* by queue */
	struct accel_repartition_info info;
	uint64_t bytes[MAX_PLACES][MAX_PLACES];	/* from, to */
	uint64_t links[ACCEL_MAX_PES][NUM_DIRECTIONS];
};

static int no_memory(struct accel_error *error)
{
	return accel_error_set(error, -ENOMEM, "repartition: out of memory");
}

/* Jobs ----------------------------------------------------------------------------------------- */

/* A repartition while it is made. */
struct maker {
	struct accel_repartition *repartition;
	struct job_list lists[ACCEL_MAX_PES];	/* by queue */
	struct accel_error *error;
};

static int add_job(struct job_list *list, struct accel_job *job, struct accel_error *error)
{
	size_t count = list->count;
	void *grown = list->jobs;

	if (!(count & (count - 1)))
		grown = reallocarray(grown, count ? 2 * count : 1, sizeof(job));
	if (!grown)
		return no_memory(error);
	list->jobs = grown;
	list->jobs[list->count++] = accel_job_ref(job);
	return 0;
}

/* The queue of the PE that gets elements; for system memory, that of the one that has them. */
static uint32_t choose_queue(uint32_t from, uint32_t to)
{
	if (to != ACCEL_PE_NONE)
		return to;
	return from != ACCEL_PE_NONE ? from : 0;
}

static uint32_t place_of(uint32_t pe)
{
	return pe == ACCEL_PE_NONE ? ACCEL_MAX_PES : pe;
}

/* Copies what two pieces have in common. */
static int add_copy(struct maker *maker, const struct piece *to, const struct piece *from,
		    const struct piece *common)
{
	struct accel_repartition *repartition = maker->repartition;
	uint32_t source = distribution_pe(repartition->src, from);
	uint32_t target = distribution_pe(repartition->dst, to);
	struct job_list *list = &maker->lists[choose_queue(source, target)];
	struct accel_tensor *dst, *src = NULL;
	struct plan_binding binding = { 0 };
	int ret;

	ret = distribution_view(repartition->dst, to, common, &dst, maker->error);
	if (!ret)
		ret = distribution_view(repartition->src, from, common, &src, maker->error);
	if (!ret)
		ret = copy_bind(dst, src, false, &binding, maker->error);
	for (uint32_t k = 0; !ret && k < binding.num_jobs; k++)
		ret = add_job(list, binding.jobs[k], maker->error);
	if (!ret) {
		repartition->info.num_jobs += binding.num_jobs;
		repartition->bytes[place_of(source)][place_of(target)] +=
			(uint64_t)accel_tensor_num_elements(dst) *
			accel_dtype_size(accel_tensor_dtype(dst));
	}
	plan_binding_release(&binding);
	accel_tensor_unref(src);
	accel_tensor_unref(dst);
	if (!ret && repartition->info.num_jobs > ACCEL_REPARTITION_MAX_JOBS)
		return accel_error_set(maker->error, -E2BIG,
				       "repartition: it needs more than %d jobs",
				       ACCEL_REPARTITION_MAX_JOBS);
	return ret;
}

/* All that goes from one PE's part to another's. */
static int add_pair(struct maker *maker, uint32_t to, uint32_t from)
{
	const struct partition *dst = &maker->repartition->dst->partition;
	const struct partition *src = &maker->repartition->src->partition;
	int ret = 0;

	for (size_t t = dst->starts[to]; t < dst->starts[to + 1]; t++) {
		for (size_t f = src->starts[from]; f < src->starts[from + 1] && !ret; f++) {
			struct piece common;

			if (piece_intersect(&dst->pieces[t], &src->pieces[f], dst->rank, &common))
				ret = add_copy(maker, &dst->pieces[t], &src->pieces[f], &common);
		}
	}
	return ret;
}

static int add_pairs(struct maker *maker)
{
	uint32_t num_targets = maker->repartition->dst->partition.num_pes;
	uint32_t num_sources = maker->repartition->src->partition.num_pes;
	int ret = 0;

	for (uint32_t to = 0; to < num_targets; to++) {
		for (uint32_t k = 0; k < num_sources && !ret; k++)
			ret = add_pair(maker, to, (to + 1 + k) % num_sources);
	}
	return ret;
}

/* Submissions ---------------------------------------------------------------------------------- */

static int add_submissions(struct maker *maker)
{
	struct accel_repartition *repartition = maker->repartition;
	size_t max_jobs = repartition->device.max_jobs;
	int ret = 0;

	for (uint32_t queue = 0; queue < ACCEL_MAX_PES; queue++) {
		const struct job_list *list = &maker->lists[queue];

		for (size_t first = 0; first < list->count && !ret; first += max_jobs) {
			size_t left = list->count - first;

			ret = batch_add(&repartition->batch, repartition->dst->device, queue,
					&list->jobs[first], left < max_jobs ? left : max_jobs,
					maker->error);
		}
	}
	repartition->info.num_submissions = (uint32_t)repartition->batch.count;
	return ret;
}

static void release_lists(struct maker *maker)
{
	for (uint32_t queue = 0; queue < ACCEL_MAX_PES; queue++) {
		for (size_t k = 0; k < maker->lists[queue].count; k++)
			accel_job_unref(maker->lists[queue].jobs[k]);
		free(maker->lists[queue].jobs);
	}
}

/* Links ---------------------------------------------------------------------------------------- */

/* The bytes go along the row, then along the column. */
static void add_route(struct accel_repartition *repartition, uint32_t from, uint32_t to,
		      uint64_t bytes)
{
	uint32_t columns = repartition->device.grid_columns;

	while (from != to) {
		enum accel_direction direction;
		uint32_t next;

		if (from % columns != to % columns) {
			bool is_east = from % columns < to % columns;

			direction = is_east ? ACCEL_DIRECTION_EAST : ACCEL_DIRECTION_WEST;
			next = is_east ? from + 1 : from - 1;
		} else {
			bool is_south = from < to;

			direction = is_south ? ACCEL_DIRECTION_SOUTH : ACCEL_DIRECTION_NORTH;
			next = is_south ? from + columns : from - columns;
		}
		/* a device whose last row is not full has places without a PE */
		if (from < ACCEL_MAX_PES)
			repartition->links[from][direction] += bytes;
		repartition->info.link_bytes += bytes;
		from = next;
	}
}

static void count_bytes(struct accel_repartition *repartition)
{
	struct accel_repartition_info *info = &repartition->info;

	for (uint32_t from = 0; from < MAX_PLACES; from++) {
		for (uint32_t to = 0; to < MAX_PLACES; to++) {
			uint64_t bytes = repartition->bytes[from][to];

			info->bytes += bytes;
			if (from == to || from == ACCEL_MAX_PES || to == ACCEL_MAX_PES)
				continue;
			info->network_bytes += bytes;
			if (repartition->device.grid_columns && bytes)
				add_route(repartition, from, to, bytes);
		}
	}
	for (uint32_t pe = 0; pe < ACCEL_MAX_PES; pe++) {
		for (uint32_t k = 0; k < NUM_DIRECTIONS; k++) {
			if (repartition->links[pe][k] > info->max_link_bytes)
				info->max_link_bytes = repartition->links[pe][k];
		}
	}
}

/* The object ----------------------------------------------------------------------------------- */

static int check(const struct accel_distribution *dst, const struct accel_distribution *src,
		 struct accel_error *error)
{
	if (dst->device != src->device)
		return accel_error_set(error, -EXDEV,
				       "repartition: the distributions are on different devices");
	return copy_check(dst->tensor, src->tensor, error);
}

static int make(struct accel_repartition *repartition, struct accel_error *error)
{
	struct maker *maker = calloc(1, sizeof(*maker));
	int ret;

	if (!maker)
		return no_memory(error);
	maker->repartition = repartition;
	maker->error = error;
	ret = add_pairs(maker);
	if (!ret)
		ret = add_submissions(maker);
	release_lists(maker);
	free(maker);
	if (!ret)
		count_bytes(repartition);
	return ret;
}

ACCEL_API int accel_repartition_create(struct accel_distribution *dst,
				       struct accel_distribution *src,
				       struct accel_repartition **result,
				       struct accel_error *error)
{
	struct accel_repartition *repartition;
	int ret = check(dst, src, error);

	*result = NULL;
	if (ret)
		return ret;
	repartition = calloc(1, sizeof(*repartition));
	if (!repartition)
		return no_memory(error);
	atomic_init(&repartition->refs, 1);
	repartition->batch.name = "repartition";
	repartition->dst = accel_distribution_ref(dst);
	repartition->src = accel_distribution_ref(src);
	accel_device_info(dst->device, &repartition->device);
	ret = make(repartition, error);
	if (ret) {
		accel_repartition_unref(repartition);
		return ret;
	}
	*result = repartition;
	return 0;
}

ACCEL_API struct accel_repartition *accel_repartition_ref(struct accel_repartition *repartition)
{
	atomic_fetch_add_explicit(&repartition->refs, 1, memory_order_relaxed);
	return repartition;
}

ACCEL_API void accel_repartition_unref(struct accel_repartition *repartition)
{
	/* acq_rel: whoever frees sees what all others did to the object before they let go */
	if (!repartition ||
	    atomic_fetch_sub_explicit(&repartition->refs, 1, memory_order_acq_rel) != 1)
		return;
	batch_release(&repartition->batch);
	accel_distribution_unref(repartition->src);
	accel_distribution_unref(repartition->dst);
	free(repartition);
}

/* Running -------------------------------------------------------------------------------------- */

ACCEL_API int accel_repartition_submit(struct accel_repartition *repartition,
				       struct accel_fence *const *in_fences,
				       size_t num_in_fences, struct accel_error *error)
{
	struct batch *batch = &repartition->batch;
	int ret = batch_begin(batch, error);

	while (!ret && batch->num_submitted < batch->count)
		ret = batch_submit_next(batch, in_fences, num_in_fences, error);
	return ret;
}

ACCEL_API int accel_repartition_wait(struct accel_repartition *repartition, int64_t timeout_ns,
				     struct accel_error *error)
{
	return batch_wait(&repartition->batch, timeout_ns, error);
}

ACCEL_API int accel_repartition_fence(struct accel_repartition *repartition, uint32_t pe,
				      struct accel_fence **fence, struct accel_error *error)
{
	const struct batch *batch = &repartition->batch;

	*fence = NULL;
	for (size_t k = batch->num_submitted; k--;) {
		if (batch->entries[k].queue == pe)
			return submission_fence(batch->entries[k].submission, fence, error);
	}
	return accel_error_set(error, -ENOENT,
			       "repartition: nothing was submitted to the queue of PE %u", pe);
}

/* Questions ------------------------------------------------------------------------------------ */

ACCEL_API void accel_repartition_info(const struct accel_repartition *repartition,
				      struct accel_repartition_info *info)
{
	*info = repartition->info;
}

ACCEL_API uint64_t accel_repartition_bytes(const struct accel_repartition *repartition,
					   uint32_t from, uint32_t to)
{
	if ((from >= ACCEL_MAX_PES && from != ACCEL_PE_NONE) ||
	    (to >= ACCEL_MAX_PES && to != ACCEL_PE_NONE))
		return 0;
	return repartition->bytes[place_of(from)][place_of(to)];
}

ACCEL_API uint64_t accel_repartition_link_bytes(const struct accel_repartition *repartition,
						uint32_t pe, enum accel_direction direction)
{
	if (pe >= ACCEL_MAX_PES || (unsigned int)direction >= NUM_DIRECTIONS)
		return 0;
	return repartition->links[pe][direction];
}
