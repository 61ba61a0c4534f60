/* SPDX-License-Identifier: MIT */
/*
 * The processing elements that the CPU stands for.
 */
#ifndef DEVICE_CPU_GRID_H
#define DEVICE_CPU_GRID_H

#include <accel.h>

struct cpu_grid {
	uint32_t num_pes;
	uint32_t columns;	/* in a row */
	uint64_t sram_size;	/* bytes of each */
};

/* "pes=16,columns=4,sram=64K", any of them left out. -EINVAL. */
int cpu_grid_parse(const char *text, struct cpu_grid *grid, struct accel_error *error);

#endif /* DEVICE_CPU_GRID_H */
