/* SPDX-License-Identifier: MIT */
/*
 * How the engine tells that something is wrong: one call that fills in struct engine_fault.
 */
#ifndef TESSERA_ENGINE_FAULT_H
#define TESSERA_ENGINE_FAULT_H

#include <stdint.h>

#include "engine.h"

/* Fills in *fault unless it is NULL, and returns -error. */
__attribute__((format(printf, 6, 7)))
int engine_fail(struct engine_fault *fault, int error, enum drm_tessera_cause cause,
		uint32_t operand, int64_t offset, const char *format, ...);

/* "destination", "source 0", .. for an operand's number. */
const char *engine_operand_name(uint32_t operand);

#endif /* TESSERA_ENGINE_FAULT_H */
