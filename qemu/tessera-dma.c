/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest memory for worker threads: RAM and nothing else. Everything else that an address may lead
 * to, MMIO above all, is refused before it is touched: it would take the BQL, which workers never
 * do (see tessera-host.h), and no guest has a reason to point the device there. The device's own
 * SRAM is refused too: it is named by a flag of a buffer, not by address.
 */
#include "qemu/osdep.h"
#include "qemu/units.h"
#include "exec/memory.h"
#include "exec/ramblock.h"
#include "tessera-pci.h"

#define TESSERA_DIRTY_CHUNK	(2 * MiB)

bool tessera_dma_translate(TesseraState *s, uint64_t address, bool is_write,
			   struct tessera_span *span)
{
	TesseraPCI *t = tessera_pci(s);
	AddressSpace *as = pci_get_address_space(PCI_DEVICE(t));
	hwaddr size = UINT64_MAX - address;	/* so that no span wraps around */
	hwaddr offset;
	MemoryRegion *mr;

	if (!size)
		return false;
	mr = address_space_translate(as, address, &offset, &size, is_write,
				     MEMTXATTRS_UNSPECIFIED);
	if (mr == &t->sram || !memory_access_is_direct(mr, is_write, MEMTXATTRS_UNSPECIFIED))
		return false;
	span->memory = (TesseraMemory *)mr;
	span->host = (uint8_t *)memory_region_get_ram_ptr(mr) + offset;
	span->address = address;
	span->size = size;
	return true;
}

/*
 * There is no call to mark memory dirty that also throws away what TCG translated from it, other
 * than the end of a mapping; so one is ended that began with the reference taken here. In parts,
 * because TCG locks all the pages of a range that have translations at once.
 */
void tessera_dma_mark_dirty(TesseraState *s, TesseraMemory *memory, uint8_t *host, uint64_t size)
{
	AddressSpace *as = pci_get_address_space(PCI_DEVICE(tessera_pci(s)));
	uint64_t part;

	for (; size; host += part, size -= part) {
		part = MIN(size, TESSERA_DIRTY_CHUNK);
		memory_region_ref(tessera_memory_region(memory));
		address_space_unmap(as, host, part, true, part);
	}
}

bool tessera_dma_find(TesseraState *s, uint64_t address, uint64_t size, unsigned access,
		      TesseraRegions *regions, struct tessera_spans *spans)
{
	if (s->has_iommu)
		return tessera_iommu_find(s, address, size, access, regions, spans);
	spans->count = 0;
	spans->next = 0;
	spans->has_ended = false;
	RCU_READ_LOCK_GUARD();
	if (!tessera_dma_translate(s, address, access & TESSERA_ACCESS_WRITE, &spans->spans[0]))
		return false;
	tessera_regions_add(s, regions, spans->spans[0].memory);
	spans->count = 1;
	return true;
}

/* Finds RAM to be touched until tessera_dma_leave(). */
static bool tessera_dma_enter(TesseraState *s, uint64_t address, bool is_write,
			      struct tessera_span *span)
{
	if (s->has_iommu)
		return tessera_page_enter(s, address, is_write, span);
	rcu_read_lock();
	if (tessera_dma_translate(s, address, is_write, span))
		return true;
	rcu_read_unlock();
	return false;
}

static void tessera_dma_leave(TesseraState *s)
{
	if (s->has_iommu)
		tessera_page_leave(s);
	else
		rcu_read_unlock();
}

static bool tessera_dma_copy(TesseraState *s, uint64_t address, void *data, uint64_t size,
			     bool is_write)
{
	struct tessera_span span;

	while (size) {
		if (!tessera_dma_enter(s, address, is_write, &span))
			return false;
		span.size = MIN(span.size, size);
		if (is_write) {
			memcpy(span.host, data, span.size);
			tessera_dma_mark_dirty(s, span.memory, span.host, span.size);
		} else {
			memcpy(data, span.host, span.size);
		}
		tessera_dma_leave(s);
		address += span.size;
		data = (uint8_t *)data + span.size;
		size -= span.size;
	}
	return true;
}

bool tessera_dma_read(TesseraState *s, uint64_t address, void *data, uint64_t size)
{
	return tessera_dma_copy(s, address, data, size, false);
}

bool tessera_dma_write(TesseraState *s, uint64_t address, const void *data, uint64_t size)
{
	return tessera_dma_copy(s, address, (void *)data, size, true);
}

bool tessera_dma_read_words(TesseraState *s, uint64_t address, uint64_t *words, unsigned count)
{
	struct tessera_span span;
	bool is_whole;
	unsigned i;

	if (!tessera_dma_enter(s, address, false, &span))
		return false;
	is_whole = span.size >= count * sizeof(words[0]);
	for (i = 0; i < count && is_whole; i++)
		words[i] = le64_to_cpu(qatomic_read((uint64_t *)span.host + i));
	tessera_dma_leave(s);
	return is_whole;
}

bool tessera_dma_write_word(TesseraState *s, uint64_t address, uint64_t value)
{
	struct tessera_span span;
	bool is_whole;

	if (!tessera_dma_enter(s, address, true, &span))
		return false;
	is_whole = span.size >= sizeof(value);
	if (is_whole) {
		/* Pairs with the guest's read of the word: who sees it sees the results as well */
		smp_wmb();
		qatomic_set((uint64_t *)span.host, cpu_to_le64(value));
		tessera_dma_mark_dirty(s, span.memory, span.host, sizeof(value));
	}
	tessera_dma_leave(s);
	return is_whole;
}

void tessera_memory_keep(TesseraMemory *memory)
{
	memory_region_ref(tessera_memory_region(memory));
}

void tessera_memory_release(TesseraMemory *memory)
{
	memory_region_unref(tessera_memory_region(memory));
}

bool tessera_memory_file(TesseraMemory *memory, const uint8_t *host, int *fd, off_t *offset)
{
	MemoryRegion *mr = tessera_memory_region(memory);
	RAMBlock *block = mr->ram_block;

	*fd = qemu_ram_get_fd(block);
	*offset = block->fd_offset + (host - (uint8_t *)memory_region_get_ram_ptr(mr));
	return *fd >= 0 && qemu_ram_is_shared(block) &&
	       qemu_ram_pagesize(block) == qemu_real_host_page_size();
}
