// SPDX-License-Identifier: MIT
/*
 * What jobs did to memory, by the device's counters, as text and as JSON.
 */
#include <inttypes.h>
#include <stdio.h>

#include "counters.h"

static const char *const memories[] = { "system", "sram" };

double counters_us(uint64_t cycles, uint32_t clock_khz)
{
	return 1e3 * (double)cycles / clock_khz;
}

void counters_print(const struct accel_job_counters *counters, uint32_t clock_khz)
{
	if (counters->uncounted)
		printf("counters: %" PRIu64 " job%s with windows too involved to be counted\n",
		       counters->uncounted, counters->uncounted == 1 ? "" : "s");
	printf("counters: %" PRIu64 " points, %" PRIu64 " loads and stores left out by windows\n",
	       counters->points, counters->windows_failed);
	for (size_t m = 0; m < sizeof(memories) / sizeof(memories[0]); m++) {
		const struct accel_memory_counters *memory = &counters->memory[m];

		if (!memory->bursts_read && !memory->bursts_written)
			continue;
		printf("%s memory: %" PRIu64 " bytes read in %" PRIu64 " bursts, %.1f us; %" PRIu64
		       " written in %" PRIu64 ", %.1f us\n", memories[m], memory->bytes_read,
		       memory->bursts_read, counters_us(memory->cycles_read, clock_khz),
		       memory->bytes_written, memory->bursts_written,
		       counters_us(memory->cycles_written, clock_khz));
	}
	if (counters->noc_bytes)
		printf("network: %" PRIu64 " bytes over %" PRIu64 " links, %.1f us and %.1f us "
		       "until they were free\n", counters->noc_bytes, counters->noc_hops,
		       counters_us(counters->noc_cycles, clock_khz),
		       counters_us(counters->noc_wait_cycles, clock_khz));
	printf("model: %.1f us, %.3f uJ\n", counters_us(counters->cycles, clock_khz),
	       (double)counters->energy_pj / 1e6);
}

void counters_write(struct json *json, const char *key, const struct accel_job_counters *counters,
		    uint32_t clock_khz)
{
	json_begin_object(json, key);
	json_unsigned(json, "clock_khz", clock_khz);
	json_unsigned(json, "points", counters->points);
	json_unsigned(json, "windows_failed", counters->windows_failed);
	for (size_t m = 0; m < sizeof(memories) / sizeof(memories[0]); m++) {
		json_begin_object(json, memories[m]);
		json_unsigned(json, "bytes_read", counters->memory[m].bytes_read);
		json_unsigned(json, "bytes_written", counters->memory[m].bytes_written);
		json_unsigned(json, "bursts_read", counters->memory[m].bursts_read);
		json_unsigned(json, "bursts_written", counters->memory[m].bursts_written);
		json_unsigned(json, "cycles_read", counters->memory[m].cycles_read);
		json_unsigned(json, "cycles_written", counters->memory[m].cycles_written);
		json_end_object(json);
	}
	json_unsigned(json, "noc_bytes", counters->noc_bytes);
	json_unsigned(json, "noc_hops", counters->noc_hops);
	json_unsigned(json, "noc_cycles", counters->noc_cycles);
	json_unsigned(json, "noc_wait_cycles", counters->noc_wait_cycles);
	json_unsigned(json, "cycles", counters->cycles);
	json_unsigned(json, "energy_pj", counters->energy_pj);
	json_unsigned(json, "uncounted", counters->uncounted);
	json_end_object(json);
}
