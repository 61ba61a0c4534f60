/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Behind an IOMMU: asking it where DMA addresses lead, and hearing of it when they no longer do.
 * What is made of the answers for buffers is tessera-view.c's.
 *
 * It is asked with the BQL held and no other way: what it cannot translate it reports by an
 * interrupt, under a lock of its own that is taken within the BQL as well. Workers, who must not
 * wait for the BQL, leave what they ask to the main loop and wait for the answer; a reset, which
 * waits for them with the BQL held, sends them away without one.
 *
 * Answers for memory that is read and written in passing (rings, descriptors, tables, results) are
 * kept in a table by page. Such memory is touched with the table locked, so that it is not once an
 * invalidation has emptied the table of it.
 *
 * An invalidation comes with the BQL held, too. When it returns nothing is read or written by what
 * it has invalidated: it waits for jobs to stop where they are, which they do as soon as for a
 * reset, and for nothing else.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"
#include "qapi/error.h"
#include "exec/memory.h"
#include "tessera-pci.h"
#include "trace.h"

/* An IOMMU as a region of the device's address space, in as many sections */
struct tessera_iommu {
	TesseraState *device;
	MemoryRegion *mr;
	uint64_t address;		/* of the region in the address space */
	unsigned num_sections;
	IOMMUNotifier notifier;
	QLIST_ENTRY(tessera_iommu) next;
};

/* What is asked of the IOMMU. is_waiting and is_done belong to the lock. */
struct tessera_question {
	uint64_t address;
	uint64_t size;
	unsigned access;
	TesseraRegions *regions;	/* NULL: the current ones */
	struct tessera_span *kept;	/* NULL, or where in the table of pages the answer goes */
	struct tessera_spans *spans;
	bool is_waiting;
	bool is_done;
	QTAILQ_ENTRY(tessera_question) next;
};

/* Asking: with the BQL */

/* As much as lies in one piece for all of access. False: nothing, and the IOMMU has said so. */
static bool tessera_question_step(TesseraState *s, const struct tessera_question *question,
				  uint64_t address, struct tessera_span *span)
{
	bool is_write = question->access & TESSERA_ACCESS_WRITE;
	struct tessera_span read;

	if (tessera_pci(s)->is_cut_off || !tessera_dma_translate(s, address, is_write, span))
		return false;
	if (question->access != (TESSERA_ACCESS_READ | TESSERA_ACCESS_WRITE))
		return true;
	if (!tessera_dma_translate(s, address, false, &read) || read.host != span->host)
		return false;
	span->size = MIN(span->size, read.size);
	return true;
}

static void tessera_question_answer(TesseraState *s, struct tessera_question *question)
{
	struct tessera_spans *spans = question->spans;
	struct tessera_span span, *last = NULL;
	uint64_t offset = 0;
	unsigned steps;

	for (steps = 0; steps < TESSERA_MAX_SPANS && offset < question->size; steps++) {
		RCU_READ_LOCK_GUARD();
		if (!tessera_question_step(s, question, question->address + offset, &span)) {
			spans->has_ended = true;
			break;
		}
		/* Asking may change the layout of memory, and with it what is current */
		tessera_regions_add(s, question->regions ?: s->regions, span.memory);
		offset += MIN(span.size, question->size - offset);
		if (last && last->memory == span.memory && last->host + last->size == span.host) {
			last->size += span.size;
		} else {
			last = &spans->spans[spans->count++];
			*last = span;
		}
	}
	if (!question->kept || !spans->count)
		return;
	qemu_mutex_lock(&tessera_pci(s)->pages_lock);
	*question->kept = spans->spans[0];
	qemu_mutex_unlock(&tessera_pci(s)->pages_lock);
}

bool tessera_host_answer(TesseraState *s)
{
	struct tessera_question *question = QTAILQ_FIRST(&tessera_pci(s)->questions);

	if (!question)
		return false;
	QTAILQ_REMOVE(&tessera_pci(s)->questions, question, next);
	question->is_waiting = false;
	qemu_mutex_unlock(&s->lock);
	tessera_question_answer(s, question);
	qemu_mutex_lock(&s->lock);
	question->is_done = true;
	qemu_cond_broadcast(&s->change);
	return true;
}

void tessera_iommu_serve(TesseraState *s)
{
	qemu_mutex_lock(&s->lock);
	tessera_host_answer(s);
	/* One at a time: processors want the BQL, too */
	if (!QTAILQ_EMPTY(&tessera_pci(s)->questions))
		tessera_host_kick(s);
	qemu_mutex_unlock(&s->lock);
}

/* Asking: with or without the BQL */

static void tessera_question_ask(TesseraState *s, struct tessera_question *question)
{
	question->spans->count = 0;
	question->spans->next = 0;
	question->spans->has_ended = false;
	if (bql_locked()) {
		tessera_question_answer(s, question);
		return;
	}
	qemu_mutex_lock(&s->lock);
	question->is_waiting = true;
	QTAILQ_INSERT_TAIL(&tessera_pci(s)->questions, question, next);
	tessera_host_kick(s);
	qemu_cond_broadcast(&s->change);
	while (!question->is_done &&
	       !(question->is_waiting && (s->is_resetting || s->is_waited_for)))
		qemu_cond_wait(&s->change, &s->lock);
	if (question->is_waiting)
		QTAILQ_REMOVE(&tessera_pci(s)->questions, question, next);
	qemu_mutex_unlock(&s->lock);
}

bool tessera_iommu_find(TesseraState *s, uint64_t address, uint64_t size, unsigned access,
			TesseraRegions *regions, struct tessera_spans *spans)
{
	struct tessera_question question = {
		.address = address,
		.size = size,
		.access = access,
		.regions = regions,
		.spans = spans,
	};

	tessera_question_ask(s, &question);
	return spans->count;
}

/* The table of pages */

static struct tessera_span *tessera_page_place(TesseraState *s, uint64_t address, bool is_write)
{
	return &tessera_pci(s)->pages[is_write][address / 4096 % TESSERA_NUM_PAGES];
}

/* Apart, for the compiler clears what is on the stack each time a function is called */
static bool __attribute__((noinline)) tessera_page_fill(TesseraState *s, uint64_t address,
							 bool is_write)
{
	struct tessera_spans spans;
	struct tessera_question question = {
		.address = address,
		.size = 1,
		.access = is_write ? TESSERA_ACCESS_WRITE : TESSERA_ACCESS_READ,
		.kept = tessera_page_place(s, address, is_write),
		.spans = &spans,
	};

	tessera_question_ask(s, &question);
	return spans.count;
}

bool tessera_page_enter(TesseraState *s, uint64_t address, bool is_write,
			struct tessera_span *span)
{
	struct tessera_span *page = tessera_page_place(s, address, is_write);
	uint64_t skip;

	for (;;) {
		qemu_mutex_lock(&tessera_pci(s)->pages_lock);
		skip = address - page->address;
		if (skip < page->size)
			break;
		qemu_mutex_unlock(&tessera_pci(s)->pages_lock);
		if (!tessera_page_fill(s, address, is_write))
			return false;
	}
	*span = (struct tessera_span) {
		.memory = page->memory,
		.host = page->host + skip,
		.address = address,
		.size = page->size - skip,
	};
	return true;
}

void tessera_page_leave(TesseraState *s)
{
	qemu_mutex_unlock(&tessera_pci(s)->pages_lock);
}

static void tessera_pages_drop(TesseraState *s, uint64_t low, uint64_t high)
{
	struct tessera_span *page = &tessera_pci(s)->pages[0][0];
	unsigned i;

	qemu_mutex_lock(&tessera_pci(s)->pages_lock);
	for (i = 0; i < 2 * TESSERA_NUM_PAGES; i++, page++)
		if (page->size && page->address <= high &&
		    page->address + (page->size - 1) >= low)
			page->size = 0;
	qemu_mutex_unlock(&tessera_pci(s)->pages_lock);
}

void tessera_pages_drop_all(TesseraState *s)
{
	tessera_pages_drop(s, 0, UINT64_MAX);
}

/* Invalidation: with the BQL */

static void tessera_iommu_notify(IOMMUNotifier *notifier, IOMMUTLBEntry *entry)
{
	struct tessera_iommu *iommu = container_of(notifier, struct tessera_iommu, notifier);
	uint64_t low = iommu->address + entry->iova;
	uint64_t high = low + entry->addr_mask;

	trace_tessera_iommu_invalidate(low, high);
	tessera_pages_drop(iommu->device, low, high);
	tessera_views_revoke(iommu->device, low, high);
}

static struct tessera_iommu *tessera_iommu_lookup(TesseraState *s, MemoryRegion *mr)
{
	struct tessera_iommu *iommu;

	QLIST_FOREACH(iommu, &tessera_pci(s)->iommus, next)
		if (iommu->mr == mr)
			return iommu;
	return NULL;
}

/* The whole region, whatever its sections: what is told of it may go beyond one. */
static struct tessera_iommu *tessera_iommu_new(TesseraState *s, MemoryRegionSection *section)
{
	IOMMUMemoryRegion *region = IOMMU_MEMORY_REGION(section->mr);
	struct tessera_iommu *iommu = g_new0(struct tessera_iommu, 1);
	Error *error = NULL;

	iommu->device = s;
	iommu->mr = section->mr;
	iommu->address = section->offset_within_address_space - section->offset_within_region;
	iommu_notifier_init(&iommu->notifier, tessera_iommu_notify, IOMMU_NOTIFIER_UNMAP, 0,
			    HWADDR_MAX,
			    memory_region_iommu_attrs_to_index(region, MEMTXATTRS_UNSPECIFIED));
	if (memory_region_register_iommu_notifier(section->mr, &iommu->notifier, &error)) {
		error_reportf_err(error, "tessera is cut off from memory: ");
		tessera_pci(s)->is_cut_off = true;
		g_free(iommu);
		return NULL;
	}
	QLIST_INSERT_HEAD(&tessera_pci(s)->iommus, iommu, next);
	return iommu;
}

void tessera_iommu_region_add(TesseraState *s, MemoryRegionSection *section)
{
	struct tessera_iommu *iommu;

	if (!memory_region_is_iommu(section->mr))
		return;
	iommu = tessera_iommu_lookup(s, section->mr) ?: tessera_iommu_new(s, section);
	if (iommu)
		iommu->num_sections++;
}

void tessera_iommu_region_del(TesseraState *s, MemoryRegionSection *section)
{
	struct tessera_iommu *iommu = tessera_iommu_lookup(s, section->mr);

	if (!iommu || --iommu->num_sections)
		return;
	QLIST_REMOVE(iommu, next);
	memory_region_unregister_iommu_notifier(iommu->mr, &iommu->notifier);
	g_free(iommu);
}
