/* SPDX-License-Identifier: MIT */
/*
 * How large the last cache is.
 */
#ifndef TESSERA_ENGINE_CACHE_H
#define TESSERA_ENGINE_CACHE_H

#include <stdint.h>

/* Bytes of the largest cache that a core has a part in; asked for once. */
uint64_t engine_last_level_cache(void);

#endif /* TESSERA_ENGINE_CACHE_H */
