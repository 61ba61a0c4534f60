/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job counts: where its buffers are, the network between the processing elements, modelled
 * time, and the sums of each queue. How often memory is accessed and what that costs is the
 * engine's (engine/model.h).
 *
 * Elements stand in rows of grid.columns. What a job reads in the memory of another element, or
 * writes there, goes along the row first, then along the column. Each link carries one job at a
 * time.
 *
 * Modelled time is in cycles, mod 2^64, and has nothing to do with how long the emulation takes.
 * Each queue has its own: a job begins when the one before it has ended. One that comes to an empty
 * queue begins when all jobs have ended that were complete then.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "tessera.h"

QEMU_BUILD_BUG_ON(TESSERA_MAX_QUEUES > ENGINE_MAX_UNITS);

/* What a job has the links carry */
struct tessera_load {
	uint64_t links[TESSERA_MAX_QUEUES][TESSERA_NUM_LINKS];
	uint64_t hops;			/* of all bursts */
	unsigned distance;		/* the longest way, in links */
};

static uint64_t tessera_later(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) > 0 ? a : b;
}

/* Views of SRAM are flat, and those of guest memory lie elsewhere. */
static struct engine_place tessera_place(const TesseraState *s, const void *flat)
{
	uint64_t offset = (uintptr_t)flat - (uintptr_t)s->sram;

	if (!s->sram || !flat || offset >= s->sram_size * s->num_queues)
		return (struct engine_place){ DRM_TESSERA_MEMORY_SYSTEM, 0 };
	return (struct engine_place){ DRM_TESSERA_MEMORY_SRAM, offset };
}

void tessera_count_job(const TesseraState *s, const struct engine_job *job,
		       const void *const *operands, const void *const *indices,
		       struct tessera_tally *tally)
{
	struct engine_placed_job placed = { .job = job, .unit_bytes = s->sram_size };
	uint32_t steps = ENGINE_COUNT_STEPS;
	unsigned i;

	for (i = 0; i < job->num_operands; i++) {
		placed.operands[i] = tessera_place(s, operands[i]);
		placed.indices[i] = tessera_place(s, indices[i]);
	}
	memset(tally->traffic, 0, (1 + s->num_queues) * sizeof(tally->traffic[0]));
	engine_model_job(&s->timing, &placed, &steps, &tally->counters, tally->traffic,
			 1 + s->num_queues);
}

/* The network */

/* The next element on the way, and the link to it */
static unsigned tessera_next_hop(const TesseraState *s, unsigned from, unsigned to,
				 unsigned *direction)
{
	unsigned columns = s->grid.columns;

	if (from % columns != to % columns) {
		*direction = from % columns < to % columns ? TESSERA_LINK_EAST :
							     TESSERA_LINK_WEST;
		return *direction == TESSERA_LINK_EAST ? from + 1 : from - 1;
	}
	*direction = from < to ? TESSERA_LINK_SOUTH : TESSERA_LINK_NORTH;
	return *direction == TESSERA_LINK_SOUTH ? from + columns : from - columns;
}

static void tessera_load_add(const TesseraState *s, struct tessera_load *load, unsigned from,
			     unsigned to, uint64_t bursts)
{
	uint64_t bytes = bursts * s->timing.memories[DRM_TESSERA_MEMORY_SRAM].burst;
	unsigned distance, direction, next;

	if (!bursts)
		return;
	for (distance = 0; from != to; distance++) {
		next = tessera_next_hop(s, from, to, &direction);
		load->links[from][direction] += bytes;
		from = next;
	}
	load->hops += bursts * distance;
	load->distance = MAX(load->distance, distance);
}

/*
 * The job is on the network from start on, when all links that it takes are free: so long waits the
 * whole of it. Cycles of the link that has the most to carry.
 */
static uint64_t tessera_load_carry(TesseraState *s, const struct tessera_load *load,
				   uint64_t start, uint64_t *wait)
{
	uint64_t begin = start, most = 0, cycles;
	unsigned n, link;

	for (n = 0; n < s->num_queues; n++)
		for (link = 0; link < TESSERA_NUM_LINKS; link++)
			if (load->links[n][link])
				begin = tessera_later(begin, s->links[n][link].free);
	for (n = 0; n < s->num_queues; n++) {
		for (link = 0; link < TESSERA_NUM_LINKS; link++) {
			if (!load->links[n][link])
				continue;
			cycles = engine_model_cycles(&s->timing, load->links[n][link],
						     s->grid.bandwidth);
			most = MAX(most, cycles);
			s->links[n][link].bytes += load->links[n][link];
			s->links[n][link].free = begin + cycles;
		}
	}
	*wait = begin - start;
	return most;
}

static bool tessera_crosses(const TesseraQueue *q, const struct engine_traffic *traffic)
{
	unsigned n;

	for (n = 0; n < q->device->num_queues; n++)
		if (n != q->index && (traffic[1 + n].bursts_read || traffic[1 + n].bursts_written))
			return true;
	return false;
}

static void tessera_cross(TesseraQueue *q, struct tessera_tally *tally)
{
	TesseraState *s = q->device;
	struct drm_tessera_job_counters *counters = &tally->counters;
	uint32_t burst = s->timing.memories[DRM_TESSERA_MEMORY_SRAM].burst;
	struct tessera_load load = { 0 };
	const struct engine_traffic *traffic;
	uint64_t wait;
	unsigned n;

	for (n = 0; n < s->num_queues; n++) {
		if (n == q->index)
			continue;
		traffic = &tally->traffic[1 + n];
		tessera_load_add(s, &load, n, q->index, traffic->bursts_read);
		tessera_load_add(s, &load, q->index, n, traffic->bursts_written);
		counters->noc_bytes += (traffic->bursts_read + traffic->bursts_written) * burst;
	}
	counters->noc_hops = load.hops;
	counters->noc_cycles = tessera_load_carry(s, &load, q->time, &wait) +
			       load.distance * engine_model_latency(&s->timing, s->grid.latency);
	counters->noc_wait_cycles = wait;
	counters->energy_pj += load.hops * burst * s->grid.energy;
	counters->cycles = MAX(counters->cycles,
			       counters->noc_cycles + counters->noc_wait_cycles);
}

/* Sums */

void tessera_tally_add(TesseraQueue *q, struct tessera_tally *tally)
{
	const uint64_t *counters = (const uint64_t *)&tally->counters;
	unsigned i;

	if (tessera_crosses(q, tally->traffic))
		tessera_cross(q, tally);
	q->time += tally->counters.cycles;
	q->device->time = tessera_later(q->device->time, q->time);
	for (i = 0; i < TESSERA_NUM_COUNTERS; i++)
		q->totals[i] += counters[i];
}

void tessera_time_begin(TesseraQueue *q)
{
	q->time = tessera_later(q->time, q->device->time);
}

void tessera_counters_reset(TesseraState *s)
{
	unsigned n;

	for (n = 0; n < s->num_queues; n++) {
		memset(s->queues[n].totals, 0, sizeof(s->queues[n].totals));
		s->queues[n].time = 0;
	}
	memset(s->links, 0, sizeof(s->links));
	s->time = 0;
}

bool tessera_tally_write(TesseraState *s, uint64_t address, const struct tessera_tally *tally)
{
	const uint64_t *counters = (const uint64_t *)&tally->counters;
	uint64_t words[TESSERA_NUM_COUNTERS];
	unsigned i;

	if (!address)
		return true;
	for (i = 0; i < TESSERA_NUM_COUNTERS; i++)
		words[i] = cpu_to_le64(counters[i]);
	return tessera_dma_write(s, address, words, sizeof(words));
}

bool tessera_counter_find(const TesseraState *s, const TesseraQueue *q, uint64_t offset,
			  uint64_t *value)
{
	uint64_t n;

	if (q) {
		n = (offset - TESSERA_QUEUE_TOTAL(0)) / sizeof(uint64_t);
		if (offset < TESSERA_QUEUE_TOTAL(0) || n >= TESSERA_NUM_COUNTERS)
			return false;
		*value = q->totals[n];
		return true;
	}
	n = (offset - TESSERA_REG_LINK(0, 0)) / sizeof(uint64_t);
	if (offset < TESSERA_REG_LINK(0, 0) || n / TESSERA_NUM_LINKS >= s->num_queues)
		return false;
	*value = s->links[n / TESSERA_NUM_LINKS][n % TESSERA_NUM_LINKS].bytes;
	return true;
}
