/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tessera as a device of QEMU: what the files that are the model's host in QEMU (tessera-host.h)
 * give each other. The PCI function is in tessera-pci.c, access to guest memory in tessera-dma.c,
 * what an IOMMU says in tessera-iommu.c.
 */
#ifndef HW_MISC_TESSERA_PCI_H
#define HW_MISC_TESSERA_PCI_H

#include "hw/pci/pci_device.h"
#include "tessera.h"

#define TYPE_TESSERA "tessera"
OBJECT_DECLARE_SIMPLE_TYPE(TesseraPCI, TESSERA)

/* Places for pages of guest memory, for reading and as many for writing */
#define TESSERA_NUM_PAGES	512

struct TesseraPCI {
	PCIDevice parent;
	TesseraState model;
	MemoryRegion registers;
	MemoryRegion sram;
	QEMUBH *bottom_half;
	MemoryListener listener;
	VMChangeStateEntry *stops;
	NotifierWithReturn migration;
	struct tessera_saved saved;	/* while it is written or read */
	bool is_layout_changed;		/* within one change of the memory layout; BQL */
	QLIST_HEAD(, tessera_iommu) iommus;	/* BQL */
	bool is_cut_off;		/* the IOMMU would not tell of changes; BQL */

	/*
	 * Protects pages, what was translated of memory that is not in views, and is held while
	 * that is touched. Nothing is waited for under it.
	 */
	QemuMutex pages_lock;
	struct tessera_span pages[2][TESSERA_NUM_PAGES];	/* by is_write; empty with size 0 */

	QTAILQ_HEAD(, tessera_question) questions;	/* to the IOMMU; the model's lock */
};

static inline TesseraPCI *tessera_pci(TesseraState *s)
{
	return container_of(s, TesseraPCI, model);
}

/* A region of memory is QEMU's. */
static inline MemoryRegion *tessera_memory_region(TesseraMemory *memory)
{
	return (MemoryRegion *)memory;
}

/*
 * tessera-dma.c: finds RAM at address, as much as lies in one piece there. To be called in an RCU
 * read section, after which the span is good as long as a reference to its memory is held; behind
 * an IOMMU with the BQL. False: no RAM, or not writable where that is asked for.
 */
bool tessera_dma_translate(TesseraState *s, uint64_t address, bool is_write,
			   struct tessera_span *span);

/*
 * tessera-iommu.c: behind an IOMMU. find is tessera_dma_find(). enter finds a page to be touched,
 * until leave. serve answers workers, in the main loop.
 */
bool tessera_iommu_find(TesseraState *s, uint64_t address, uint64_t size, unsigned access,
			TesseraRegions *regions, struct tessera_spans *spans);
bool tessera_page_enter(TesseraState *s, uint64_t address, bool is_write,
			struct tessera_span *span);
void tessera_page_leave(TesseraState *s);
void tessera_pages_drop_all(TesseraState *s);
void tessera_iommu_serve(TesseraState *s);
/* With the BQL: the layout of memory changes. */
void tessera_iommu_region_add(TesseraState *s, MemoryRegionSection *section);
void tessera_iommu_region_del(TesseraState *s, MemoryRegionSection *section);

#endif /* HW_MISC_TESSERA_PCI_H */
