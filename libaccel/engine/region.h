/* SPDX-License-Identifier: MIT */
/*
 * Cutting a plan's box into boxes in which each window that matters holds everywhere or nowhere.
 */
#ifndef TESSERA_ENGINE_REGION_H
#define TESSERA_ENGINE_REGION_H

#include "plan.h"

/* loads is as in struct engine_region; box and loads may be looked at during the call. */
typedef int engine_visit(void *context, const struct engine_box *box, uint32_t loads);

/*
 * Calls visit for boxes that together hold each point of box once, until it returns other than 0;
 * returns that.
 */
int engine_visit_regions(const struct engine_plan *plan, const struct engine_box *box,
			 engine_visit *visit, void *context);

#endif /* TESSERA_ENGINE_REGION_H */
