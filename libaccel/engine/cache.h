/* SPDX-License-Identifier: MIT */
/*
 * How much of the last cache there is for a core.
 */
#ifndef TESSERA_ENGINE_CACHE_H
#define TESSERA_ENGINE_CACHE_H

#include <stdint.h>

/* Bytes of the largest cache that a core has a part in, 32 MiB at most; asked for once. */
uint64_t engine_last_level_cache(void);

#endif /* TESSERA_ENGINE_CACHE_H */
