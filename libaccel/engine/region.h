/* SPDX-License-Identifier: MIT */
/*
 * Cutting a plan's box into boxes in which each window that matters holds everywhere or nowhere.
 */
#ifndef TESSERA_ENGINE_REGION_H
#define TESSERA_ENGINE_REGION_H

#include "plan.h"

typedef int engine_visit(struct engine_run *run, const struct engine_box *box, uint32_t loads);

/*
 * Calls visit for boxes that together hold each point once at which the destination's windows
 * hold, until it returns other than 0; returns that. Bit k of loads: the windows of operand k hold.
 */
int engine_visit_regions(struct engine_run *run, engine_visit *visit);

#endif /* TESSERA_ENGINE_REGION_H */
