// SPDX-License-Identifier: MIT
/*
 * From counts to cycles and energy. All sums are mod 2^64.
 */
#include <string.h>

#include "arithmetic.h"
#include "model.h"

/*
 * System memory and the bandwidths are those of an accelerator with 100 GB/s of DRAM. The energies
 * are orders of magnitude: M. Horowitz, Computing's Energy Problem, ISSCC 2014, has 1.3 to 2.6 nJ
 * for 8 bytes of DRAM, 100 pJ for 8 bytes of a memory of 1 MiB.
 */
const struct engine_model engine_model_default = {
	.clock_khz = 1000000,
	.efficiency = 90,
	.memories = {
		[DRM_TESSERA_MEMORY_SYSTEM] = { .bandwidth = 100000, .burst = 64, .energy = 160 },
		[DRM_TESSERA_MEMORY_SRAM] = { .bandwidth = 125000, .burst = 16, .energy = 12 },
	},
};

static unsigned __int128 divide_up_wide(unsigned __int128 value, uint64_t divisor)
{
	return (value + divisor - 1) / divisor;
}

uint64_t engine_model_cycles(const struct engine_model *model, uint64_t bytes, uint32_t bandwidth)
{
	return (uint64_t)divide_up_wide((unsigned __int128)bytes * model->clock_khz,
					1000ull * bandwidth);
}

uint64_t engine_model_latency(const struct engine_model *model, uint32_t latency)
{
	return (uint64_t)divide_up_wide((unsigned __int128)latency * model->clock_khz, 1000000);
}

/* Of one operand in one memory. */
static uint64_t cycles_of(const struct engine_model *model,
			  const struct engine_memory_model *memory, uint64_t bytes, uint64_t bursts)
{
	uint64_t used = (uint64_t)divide_up_wide(
		(unsigned __int128)bytes * model->clock_khz * 100,
		1000ull * memory->bandwidth * model->efficiency);
	uint64_t touched = engine_model_cycles(model, bursts * memory->burst, memory->bandwidth);

	return (used > touched ? used : touched) + engine_model_latency(model, memory->latency);
}

/* A job on the way through its operands. */
struct accounting {
	const struct engine_model *model;
	const struct engine_placed_job *placed;
	uint32_t *steps;
	struct drm_tessera_job_counters *counters;
	struct engine_traffic *traffic;
	uint32_t num_traffics;
};

static void account(const struct accounting *accounting, enum drm_tessera_memory memory,
		    uint32_t traffic, bool is_write, uint64_t bytes, uint64_t bursts)
{
	const struct engine_memory_model *model = &accounting->model->memories[memory];
	struct drm_tessera_memory_counters *counters = &accounting->counters->memory[memory];
	uint64_t cycles = cycles_of(accounting->model, model, bytes, bursts);

	if (is_write) {
		counters->bytes_written += bytes;
		counters->bursts_written += bursts;
		counters->cycles_written += cycles;
		accounting->traffic[traffic].bursts_written += bursts;
	} else {
		counters->bytes_read += bytes;
		counters->bursts_read += bursts;
		counters->cycles_read += cycles;
		accounting->traffic[traffic].bursts_read += bursts;
	}
	accounting->traffic[traffic].cycles += cycles;
	accounting->counters->energy_pj += bursts * model->burst * model->energy;
}

/* What is counted, and where its buffer is. */
struct counted {
	struct engine_count_stream stream;
	const struct engine_place *place;
	bool is_write;
};

/* Returns false when it took too many steps. */
static bool account_in(const struct accounting *accounting, const struct counted *counted,
		       uint32_t traffic, uint64_t *accesses)
{
	const struct engine_count_stream *stream = &counted->stream;
	enum drm_tessera_memory memory = counted->place->memory;
	struct engine_count count;

	if (!engine_count(stream, accounting->model->memories[memory].burst, accounting->steps,
			  &count))
		return false;
	*accesses += count.accesses;
	if (count.accesses && traffic < accounting->num_traffics)
		account(accounting, memory, traffic, counted->is_write,
			count.accesses * stream->element_bytes, count.bursts);
	return true;
}

/* The addresses that a stream can have, windows or not; false: none. */
static bool find_range(const struct engine_count_stream *stream, struct engine_interval *range)
{
	struct engine_box box;

	for (uint32_t d = 0; d < stream->job->rank; d++)
		if (!stream->job->extents[d])
			return false;
	engine_box_init(&box, stream->job->rank, stream->job->extents);
	*range = engine_affine_range(stream->address, &box);
	return true;
}

/*
 * Of a buffer on chip, unit by unit: an access belongs to the unit that it begins in. What is
 * outside of the buffer no window lets happen.
 */
static bool account_on_chip(const struct accounting *accounting, const struct counted *counted,
			    uint64_t buffer_bytes, uint64_t *accesses)
{
	const uint64_t unit_bytes = accounting->placed->unit_bytes;
	const uint64_t start = counted->place->start;
	struct engine_interval range, within;
	struct counted part = *counted;

	if (!find_range(&counted->stream, &range))
		return true;
	range.lowest = max(range.lowest, 0);
	range.highest = min(range.highest, (int64_t)buffer_bytes - 1);
	if (range.lowest > range.highest)
		return true;
	for (uint64_t unit = (start + (uint64_t)range.lowest) / unit_bytes;
	     unit <= (start + (uint64_t)range.highest) / unit_bytes; unit++) {
		within.lowest = (int64_t)(unit * unit_bytes - start);
		within.highest = within.lowest + (int64_t)unit_bytes - 1;
		if (within.lowest > range.lowest || within.highest < range.highest)
			part.stream.within = &within;
		if (!account_in(accounting, &part, (uint32_t)unit + 1, accesses))
			return false;
	}
	return true;
}

static bool account_affine(const struct accounting *accounting, const struct counted *counted,
			   uint64_t buffer_bytes, uint64_t *accesses)
{
	if (counted->place->memory == DRM_TESSERA_MEMORY_SYSTEM)
		return account_in(accounting, counted, 0, accesses);
	return account_on_chip(accounting, counted, buffer_bytes, accesses);
}

/* Where an indirect operand goes only its indices know: each access has a burst of its own. */
static void account_indirect(const struct accounting *accounting, const struct counted *counted,
			     uint64_t accesses)
{
	const struct engine_place *place = counted->place;
	uint64_t traffic = 0;

	if (place->memory == DRM_TESSERA_MEMORY_SRAM)
		traffic = 1 + place->start / accounting->placed->unit_bytes;
	if (accesses && traffic < accounting->num_traffics)
		account(accounting, place->memory, (uint32_t)traffic, counted->is_write,
			accesses * counted->stream.element_bytes, accesses);
}

static bool account_operand(const struct accounting *accounting, uint32_t k, uint64_t *accesses)
{
	const struct engine_operand *operand = &accounting->placed->job->operands[k];
	const struct drm_tessera_operand *spec = &operand->spec;
	struct counted data = {
		.stream = { accounting->placed->job, k, &spec->address,
			    engine_dtype_size(spec->dtype), NULL },
		.place = &accounting->placed->operands[k],
		.is_write = !k,
	};
	struct counted indices = {
		.stream = { accounting->placed->job, k, &spec->index_address,
			    engine_dtype_size(spec->index_dtype), NULL },
		.place = &accounting->placed->indices[k],
	};

	*accesses = 0;
	if (!(spec->flags & DRM_TESSERA_OPERAND_INDIRECT))
		return account_affine(accounting, &data, operand->buffer.size, accesses);
	if (!account_affine(accounting, &indices, operand->index_buffer.size, accesses))
		return false;
	account_indirect(accounting, &data, *accesses);
	return true;
}

static uint64_t num_points(const struct engine_job *job)
{
	uint64_t points = 1;

	for (uint32_t d = 0; d < job->rank; d++)
		points *= job->extents[d];
	return points;
}

void engine_model_job(const struct engine_model *model, const struct engine_placed_job *placed,
		      uint32_t *steps, struct drm_tessera_job_counters *counters,
		      struct engine_traffic *traffic, uint32_t num_traffics)
{
	const struct accounting accounting = { model, placed, steps, counters, traffic,
					       num_traffics };
	uint64_t points = num_points(placed->job);
	uint64_t accesses;

	memset(counters, 0, sizeof(*counters));
	counters->points = points;
	for (uint32_t k = 0; k < placed->job->num_operands; k++) {
		if (!account_operand(&accounting, k, &accesses)) {
			memset(counters, 0, sizeof(*counters));
			memset(traffic, 0, num_traffics * sizeof(*traffic));
			counters->points = points;
			counters->uncounted = 1;
			return;
		}
		counters->windows_failed += points - accesses;
	}
	for (uint32_t n = 0; n < num_traffics; n++)
		if (traffic[n].cycles > counters->cycles)
			counters->cycles = traffic[n].cycles;
}
