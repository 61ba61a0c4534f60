/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Views: what the directory and the translation table say of a buffer, read once and kept until
 * the driver invalidates it, in a form that the engine can work on.
 *
 * A buffer whose pages follow each other in our own memory is used where it lies. One whose pages
 * are scattered over files (a memfd as a rule) that back guest RAM is mapped a second time, page
 * beside page. What is left is kept as a list of pieces, for tessera-job.c to copy from and to.
 *
 * A view is put into the table of views before anything of it is read, so that an invalidation at
 * any time finds it there. It stays usable for jobs that have it, even when dropped; memory
 * regions it refers to stay alive with it (struct TesseraRegions).
 *
 * Behind an IOMMU a view also knows its DMA addresses. An IOMMU that takes some of them back makes
 * it stale: no job touches it then until they have been looked up once more. Systems take back more
 * than they have unmapped, so a view that is found to be what it was is used on. One that is not is
 * revoked for good: jobs that have it end with a fault.
 *
 * What guests may make us spend: a buffer is at most as large as guest RAM, so a view has at most
 * ram_size / 4096 pieces; views that nobody uses go, oldest first, when all together have more
 * than that or than the limits below.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/host-utils.h"
#include "qemu/madvise.h"
#include "tessera.h"
#include "trace.h"

/* Of all devices, in use or not. Linux gives a process 65530; others in it want some, too. */
#define TESSERA_MAX_MAPPINGS	49152
#define TESSERA_MAX_VIEWS	16384

/*
 * Address space for mappings, in times of the guest's RAM: a buffer may name a page often, and a
 * mapping that is used costs page tables.
 */
#define TESSERA_MAX_MAPPED	4

/*
 * To mark memory dirty costs about as much for a page as for a megabyte. Where a job may have
 * stored to more pieces than the first number, what lies between pieces of the buffer that are at
 * most the second apart is marked with them: dirty means that it may have changed.
 */
#define TESSERA_MANY_PIECES	64
#define TESSERA_DIRTY_GAP	(256u << 10)

/* Entries of a translation table that are read at a time, and bytes that are mapped */
#define TESSERA_TABLE_CHUNK	512
#define TESSERA_MAP_CHUNK	(4u << 20)

/* Mappings that the views of all devices have; atomic, for each device has a lock of its own */
static uint64_t tessera_num_mappings;

/* Neighbouring pages in one: memory of one region, without gaps */
struct tessera_piece {
	TesseraMemory *memory;
	uint8_t *host;
	uint64_t offset;		/* in the buffer */
	uint64_t size;
};

/* Neighbouring DMA addresses in one */
struct tessera_extent {
	uint64_t address;
	uint64_t offset;		/* in the buffer */
	uint64_t size;
};

/* Memory regions that views made since the last change of the memory layout refer to */
struct TesseraRegions {
	GHashTable *regions;		/* a set; a reference to each is held */
	unsigned num_users;		/* views, and the device while it is the current one */
	QTAILQ_ENTRY(TesseraRegions) next;
};

struct tessera_mapping {
	void *base;
	size_t size;
	uint64_t copied_bytes;
	QTAILQ_ENTRY(tessera_mapping) next;
};

enum tessera_view_state {
	TESSERA_VIEW_BUILDING,
	TESSERA_VIEW_READY,
	TESSERA_VIEW_FAILED,
};

/*
 * num_users to num_jobs, state, the range of stale addresses and the links belong to the lock; the
 * rest is fixed once READY.
 */
struct TesseraView {
	enum tessera_view_state state;
	uint32_t buffer;
	unsigned num_users;
	bool is_cached;			/* in the table of views */
	bool is_stale;
	bool is_revoked;
	unsigned num_jobs;		/* that are inside */
	uint64_t stale_low;		/* DMA addresses to check, of all that were taken back */
	uint64_t stale_high;
	uint64_t num_revocations;
	bool is_writable;
	bool is_flat;
	uint64_t size;
	void *flat;			/* NULL when size is 0 */
	size_t mapped_size;		/* not 0: flat is a mapping of our own */
	struct tessera_piece *pieces;
	uint64_t num_pieces;
	struct tessera_piece *dirty;	/* NULL, or what is marked dirty for many pieces */
	uint64_t num_dirty;
	struct tessera_extent *extents;	/* behind an IOMMU */
	uint64_t num_extents;
	struct engine_fault fault;	/* FAILED */
	TesseraRegions *regions;
	QTAILQ_ENTRY(TesseraView) next;
	QTAILQ_ENTRY(TesseraView) next_alive;
};

static TesseraRegions *tessera_regions_new(void)
{
	TesseraRegions *regions = g_new0(TesseraRegions, 1);

	regions->regions = g_hash_table_new(NULL, NULL);
	regions->num_users = 1;
	return regions;
}

/*
 * To release a region takes the host's lock; so tessera_serve() does it. With the lock held.
 */
static void tessera_regions_put(TesseraState *s, TesseraRegions *regions)
{
	if (--regions->num_users)
		return;
	QTAILQ_INSERT_TAIL(&s->dead_regions, regions, next);
	tessera_host_kick(s);
}

void tessera_regions_renew(TesseraState *s)
{
	if (!g_hash_table_size(s->regions->regions))
		return;
	tessera_regions_put(s, s->regions);
	s->regions = tessera_regions_new();
}

static void tessera_regions_free(TesseraRegions *regions)
{
	GHashTableIter iterator;
	gpointer memory;

	g_hash_table_iter_init(&iterator, regions->regions);
	while (g_hash_table_iter_next(&iterator, &memory, NULL))
		tessera_memory_release(memory);
	g_hash_table_unref(regions->regions);
	g_free(regions);
}

void tessera_regions_collect(TesseraState *s)
{
	TesseraRegions *regions;

	qemu_mutex_lock(&s->lock);
	while ((regions = QTAILQ_FIRST(&s->dead_regions))) {
		QTAILQ_REMOVE(&s->dead_regions, regions, next);
		qemu_mutex_unlock(&s->lock);
		tessera_regions_free(regions);
		qemu_mutex_lock(&s->lock);
	}
	qemu_mutex_unlock(&s->lock);
}

void tessera_regions_add(TesseraState *s, TesseraRegions *regions, TesseraMemory *memory)
{
	qemu_mutex_lock(&s->lock);
	if (g_hash_table_add(regions->regions, memory))
		tessera_memory_keep(memory);
	qemu_mutex_unlock(&s->lock);
}

/* The functions from here to tessera_view_take_room() are called with the lock held. */

void tessera_mapping_discard(TesseraState *s, void *base, size_t size, uint64_t copied_bytes)
{
	struct tessera_mapping *mapping = g_new(struct tessera_mapping, 1);

	mapping->base = base;
	mapping->size = size;
	mapping->copied_bytes = copied_bytes;
	QTAILQ_INSERT_TAIL(&s->discarded, mapping, next);
	qemu_cond_signal(&s->work);
}

bool tessera_mapping_unmap_one(TesseraState *s)
{
	struct tessera_mapping *mapping = QTAILQ_FIRST(&s->discarded);

	if (!mapping)
		return false;
	QTAILQ_REMOVE(&s->discarded, mapping, next);
	qemu_mutex_unlock(&s->lock);
	munmap(mapping->base, mapping->size);
	qemu_mutex_lock(&s->lock);
	s->staging_bytes -= mapping->copied_bytes;
	if (mapping->copied_bytes)
		qemu_cond_broadcast(&s->change);
	g_free(mapping);
	return true;
}

static void tessera_view_free(TesseraState *s, TesseraView *view)
{
	if (view->mapped_size)
		tessera_mapping_discard(s, view->flat, view->mapped_size, 0);
	g_free(view->dirty);
	g_free(view->pieces);
	g_free(view->extents);
	g_free(view);
}

static uint64_t tessera_view_mappings(const TesseraView *view)
{
	return view->mapped_size ? view->num_pieces + 1 : 0;
}

/* What it costs of the limit for all views */
static uint64_t tessera_view_pieces(const TesseraView *view)
{
	return view->num_pieces + view->num_extents;
}

static void tessera_view_retire(TesseraState *s, TesseraView *view)
{
	trace_tessera_view_free(view->buffer, view->size);
	s->num_pieces -= tessera_view_pieces(view);
	qatomic_sub(&tessera_num_mappings, tessera_view_mappings(view));
	s->mapped_bytes -= view->mapped_size;
	tessera_regions_put(s, view->regions);
	QTAILQ_REMOVE(&s->alive, view, next_alive);
	tessera_view_free(s, view);
}

static void tessera_view_uncache(TesseraState *s, TesseraView *view)
{
	g_hash_table_remove(s->views, GUINT_TO_POINTER(view->buffer));
	QTAILQ_REMOVE(&s->recent, view, next);
	view->is_cached = false;
}

static void tessera_view_drop_one(TesseraState *s, TesseraView *view)
{
	trace_tessera_view_drop(view->buffer, view->num_users);
	tessera_view_uncache(s, view);
	if (view->num_users)
		s->num_dropped_views++;
	else
		tessera_view_retire(s, view);
}

void tessera_view_drop(TesseraState *s, uint32_t buffer)
{
	TesseraView *view = g_hash_table_lookup(s->views, GUINT_TO_POINTER(buffer));

	if (view)
		tessera_view_drop_one(s, view);
}

void tessera_views_drop_all(TesseraState *s)
{
	TesseraView *view, *next;

	QTAILQ_FOREACH_SAFE(view, &s->recent, next, next)
		tessera_view_drop_one(s, view);
}

static void tessera_view_unuse(TesseraState *s, TesseraView *view)
{
	if (--view->num_users || view->is_cached)
		return;
	if (view->state != TESSERA_VIEW_FAILED)
		s->num_dropped_views--;
	tessera_view_retire(s, view);
}

static bool tessera_view_has_room(TesseraState *s, uint64_t num_mappings, uint64_t bytes)
{
	return qatomic_read(&tessera_num_mappings) + num_mappings <= TESSERA_MAX_MAPPINGS &&
	       s->mapped_bytes + bytes <= TESSERA_MAX_MAPPED * s->ram_size;
}

/*
 * Drops what is not in use, oldest first, until there is room for so many more mappings of so many
 * bytes together. False: there is none.
 */
static bool tessera_view_make_room(TesseraState *s, uint64_t num_mappings, uint64_t bytes)
{
	TesseraView *view, *next;

	QTAILQ_FOREACH_SAFE(view, &s->recent, next, next) {
		if (g_hash_table_size(s->views) <= TESSERA_MAX_VIEWS &&
		    s->num_pieces <= s->ram_size / 4096 &&
		    tessera_view_has_room(s, num_mappings, bytes))
			break;
		if (!view->num_users)
			tessera_view_drop_one(s, view);
	}
	return tessera_view_has_room(s, num_mappings, bytes);
}

/* False: there is no room, or another device has just taken it. */
static bool tessera_view_take_room(TesseraState *s, uint64_t num_mappings, uint64_t bytes)
{
	if (!tessera_view_make_room(s, num_mappings, bytes))
		return false;
	if (qatomic_add_fetch(&tessera_num_mappings, num_mappings) > TESSERA_MAX_MAPPINGS) {
		qatomic_sub(&tessera_num_mappings, num_mappings);
		return false;
	}
	s->mapped_bytes += bytes;
	return true;
}

/* Building: without the lock, by the thread that made the view. */

/* Appends size bytes at host, joined to the last piece where they continue it. */
static bool tessera_view_append(TesseraView *view, uint64_t *room, TesseraMemory *memory,
				uint8_t *host, uint64_t size)
{
	struct tessera_piece *last = view->num_pieces ? &view->pieces[view->num_pieces - 1] : NULL;
	struct tessera_piece *pieces;

	if (last && last->memory == memory && last->host + last->size == host) {
		last->size += size;
		return true;
	}
	if (view->num_pieces == *room) {
		*room = *room ? *room * 2 : 1;
		pieces = g_try_renew(struct tessera_piece, view->pieces, *room);
		if (!pieces)
			return false;
		view->pieces = pieces;
		last = view->num_pieces ? &pieces[view->num_pieces - 1] : NULL;
	}
	view->pieces[view->num_pieces++] = (struct tessera_piece) {
		.memory = memory,
		.host = host,
		.offset = last ? last->offset + last->size : 0,
		.size = size,
	};
	return true;
}

/* The same for DMA addresses */
static bool tessera_view_append_extent(TesseraView *view, uint64_t *room, uint64_t address,
				       uint64_t offset, uint64_t size)
{
	struct tessera_extent *last, *extents;

	last = view->num_extents ? &view->extents[view->num_extents - 1] : NULL;
	if (last && last->address + last->size == address) {
		last->size += size;
		return true;
	}
	if (view->num_extents == *room) {
		*room = *room ? *room * 2 : 1;
		extents = g_try_renew(struct tessera_extent, view->extents, *room);
		if (!extents)
			return false;
		view->extents = extents;
	}
	view->extents[view->num_extents++] = (struct tessera_extent) {
		.address = address,
		.offset = offset,
		.size = size,
	};
	return true;
}

static unsigned tessera_view_access(const TesseraView *view)
{
	return TESSERA_ACCESS_READ | (view->is_writable ? TESSERA_ACCESS_WRITE : 0);
}

/* Reading a table: what it goes by */
struct tessera_reading {
	TesseraQueue *queue;
	TesseraView *view;
	uint32_t page_shift;
	uint64_t num_pieces;		/* for which there is room */
	uint64_t num_extents;
	struct tessera_spans spans;	/* RAM found last, tried first */
	struct engine_fault *fault;
};

static const struct tessera_span *tessera_spans_next(struct tessera_spans *spans, uint64_t address)
{
	const struct tessera_span *span;

	for (; spans->next < spans->count; spans->next++) {
		span = &spans->spans[spans->next];
		if (address - span->address < span->size)
			return span;
	}
	return NULL;
}

static bool tessera_reading_is_canceled(const struct tessera_reading *reading)
{
	if (!tessera_queue_is_canceled(reading->queue))
		return false;
	tessera_fault_set(reading->fault, DRM_TESSERA_CAUSE_CANCELED, 0, 0,
			  "stopped while reading a translation table");
	return true;
}

static bool tessera_reading_find(struct tessera_reading *reading, uint64_t address, uint64_t size,
				 uint64_t offset)
{
	uint64_t mask = (1ull << reading->page_shift) - 1;
	TesseraView *view = reading->view;
	struct tessera_spans *spans = &reading->spans;

	if (tessera_reading_is_canceled(reading))
		return false;
	if (!spans->has_ended &&
	    tessera_dma_find(reading->queue->device, address, size, tessera_view_access(view),
			     view->regions, spans))
		return true;
	tessera_fault_set(reading->fault, DRM_TESSERA_CAUSE_TRANSLATION, 0, offset & ~mask,
			  "page 0x%" PRIx64 " of buffer %" PRIu32 " is not %sRAM", address & ~mask,
			  view->buffer, view->is_writable ? "writable " : "");
	return false;
}

/* Pages whose addresses follow each other, of which size bytes belong to the buffer. */
static bool tessera_reading_add(struct tessera_reading *reading, uint64_t address, uint64_t offset,
				uint64_t size)
{
	TesseraView *view = reading->view;
	const struct tessera_span *span;
	uint64_t skip, part;

	if (reading->queue->device->has_iommu &&
	    !tessera_view_append_extent(view, &reading->num_extents, address, offset, size))
		goto err_memory;
	for (; size; address += part, offset += part, size -= part) {
		span = tessera_spans_next(&reading->spans, address);
		if (!span) {
			if (!tessera_reading_find(reading, address, size, offset))
				return false;
			span = reading->spans.spans;
		}
		skip = address - span->address;
		part = MIN(size, span->size - skip);
		if (!tessera_view_append(view, &reading->num_pieces, span->memory,
					 span->host + skip, part))
			goto err_memory;
	}
	return true;

err_memory:
	tessera_fault_set(reading->fault, DRM_TESSERA_CAUSE_MEMORY, 0, 0,
			  "no memory for the pages of buffer %" PRIu32, view->buffer);
	return false;
}

/* So many entries of the table, of which size bytes belong to the buffer. */
static bool tessera_reading_chunk(struct tessera_reading *reading, const uint64_t *chunk,
				  uint64_t count, uint64_t offset, uint64_t size)
{
	uint64_t page_size = 1ull << reading->page_shift;
	uint64_t page, end, address, next, bytes;

	for (page = 0; page < count; page = end) {
		address = le64_to_cpu(chunk[page]);
		if (address & (page_size - 1)) {
			tessera_fault_set(reading->fault, DRM_TESSERA_CAUSE_TRANSLATION, 0,
					  offset + page * page_size, "page 0x%" PRIx64
					  " of buffer %" PRIu32 " is not aligned to its size",
					  address, reading->view->buffer);
			return false;
		}
		for (end = page + 1, next = address + page_size; end < count && next;
		     end++, next += page_size)
			if (le64_to_cpu(chunk[end]) != next)
				break;
		bytes = MIN(end * page_size, size) - page * page_size;
		if (!tessera_reading_add(reading, address, offset + page * page_size, bytes))
			return false;
	}
	return true;
}

static bool tessera_view_read_table(TesseraQueue *q, TesseraView *view,
				    const struct tessera_hw_buffer *entry,
				    struct engine_fault *fault)
{
	g_autofree struct tessera_reading *reading = g_new0(struct tessera_reading, 1);
	uint32_t shift = le32_to_cpu(entry->page_shift);
	uint64_t page_size = 1ull << shift;
	uint64_t num_pages = (view->size >> shift) + !!(view->size & (page_size - 1));
	uint64_t table = le64_to_cpu(entry->table);
	uint64_t chunk[TESSERA_TABLE_CHUNK];
	uint64_t page, count, offset;

	reading->queue = q;
	reading->view = view;
	reading->page_shift = shift;
	reading->fault = fault;
	for (page = 0; page < num_pages; page += count) {
		count = MIN(num_pages - page, TESSERA_TABLE_CHUNK);
		offset = page << shift;
		if (tessera_reading_is_canceled(reading))
			return false;
		/* A fault names the page; of a table that ends in nowhere, the chunk's first */
		if (!tessera_dma_read(q->device, table + page * sizeof(uint64_t), chunk,
				      count * sizeof(uint64_t))) {
			tessera_fault_set(fault, DRM_TESSERA_CAUSE_TRANSLATION, 0, offset,
					  "the table of buffer %" PRIu32 " is not in RAM",
					  view->buffer);
			return false;
		}
		qatomic_set(&q->progress, q->progress + 1);
		if (!tessera_reading_chunk(reading, chunk, count, offset, view->size - offset))
			return false;
	}
	return true;
}

/* Pages of a file that all who map it share */
static bool tessera_piece_file(const struct tessera_piece *piece, int *fd, off_t *offset)
{
	size_t page_size = qemu_real_host_page_size();

	return QEMU_IS_ALIGNED((uintptr_t)piece->host, page_size) &&
	       QEMU_IS_ALIGNED(piece->offset, page_size) &&
	       tessera_memory_file(piece->memory, piece->host, fd, offset);
}

/* In parts, so that it is stopped as soon as a job: memory that was never touched is zeroed here */
static bool tessera_view_map_piece(TesseraQueue *q, const TesseraView *view,
				   const struct tessera_piece *piece, uint8_t *base)
{
	uint64_t size = ROUND_UP(piece->size, qemu_real_host_page_size()), done, part;
	int protection = PROT_READ | (view->is_writable ? PROT_WRITE : 0);
	off_t offset;
	int fd;

	if (!tessera_piece_file(piece, &fd, &offset))
		return false;
	for (done = 0; done < size; done += part) {
		part = MIN(size - done, TESSERA_MAP_CHUNK);
		if (tessera_queue_is_canceled(q) ||
		    mmap(base + piece->offset + done, part, protection,
			 MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, offset + done) == MAP_FAILED)
			return false;
	}
	return true;
}

static bool tessera_view_map_pieces(TesseraQueue *q, const TesseraView *view, uint8_t *base)
{
	const struct tessera_piece *piece = view->pieces;

	for (; piece < view->pieces + view->num_pieces; piece++)
		if (!tessera_view_map_piece(q, view, piece, base))
			return false;
	return true;
}

/* Maps the pieces side by side. False: that cannot be had, and the view stays in pieces. */
static bool tessera_view_map(TesseraQueue *q, TesseraView *view)
{
	TesseraState *s = q->device;
	size_t size = ROUND_UP(view->size, qemu_real_host_page_size());
	uint64_t num_mappings = view->num_pieces + 1, i;
	bool has_room;
	off_t offset;
	void *base;
	int fd;

	for (i = 0; i < view->num_pieces; i++)
		if (!tessera_piece_file(&view->pieces[i], &fd, &offset))
			return false;
	qemu_mutex_lock(&s->lock);
	has_room = tessera_view_take_room(s, num_mappings, size);
	qemu_mutex_unlock(&s->lock);
	if (!has_room)
		return false;
	base = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		goto err_room;
	if (!tessera_view_map_pieces(q, view, base))
		goto err_unmap;
	qemu_madvise(base, size, QEMU_MADV_DONTDUMP);
	qemu_madvise(base, size, QEMU_MADV_DONTFORK);
	view->flat = base;
	view->mapped_size = size;
	return true;

err_unmap:
	qemu_mutex_lock(&s->lock);
	tessera_mapping_discard(s, base, size, 0);
	qemu_mutex_unlock(&s->lock);
err_room:
	qemu_mutex_lock(&s->lock);
	qatomic_sub(&tessera_num_mappings, num_mappings);
	s->mapped_bytes -= size;
	qemu_mutex_unlock(&s->lock);
	return false;
}

static int tessera_piece_compare(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)((const struct tessera_piece *)a)->host;
	uintptr_t y = (uintptr_t)((const struct tessera_piece *)b)->host;

	return (x > y) - (x < y);
}

/*
 * The pieces in the order of memory, joined. Without memory for them it goes slower. Not of a view
 * that is copied to: what is stored there is marked piece by piece as it is copied.
 */
static void tessera_view_join_dirty(TesseraView *view)
{
	struct tessera_piece *last, *next;
	uint64_t i;

	if (!view->is_writable || !view->is_flat || view->num_pieces <= TESSERA_MANY_PIECES)
		return;
	view->dirty = g_try_new(struct tessera_piece, view->num_pieces);
	if (!view->dirty)
		return;
	memcpy(view->dirty, view->pieces, view->num_pieces * sizeof(view->dirty[0]));
	qsort(view->dirty, view->num_pieces, sizeof(view->dirty[0]), tessera_piece_compare);
	for (i = 1, last = view->dirty; i < view->num_pieces; i++) {
		next = &view->dirty[i];
		/* Pieces of one region that name a page twice overlap */
		if (last->memory == next->memory && next->host - last->host <= last->size +
		    TESSERA_DIRTY_GAP)
			last->size = MAX(last->size, next->host - last->host + next->size);
		else
			*++last = *next;
	}
	view->num_dirty = last - view->dirty + 1;
	view->dirty = g_renew(struct tessera_piece, view->dirty, view->num_dirty);
}

/* What of an entry can be wrong by itself. NULL: nothing */
static const char *tessera_entry_error(TesseraState *s, const struct tessera_hw_buffer *entry)
{
	uint32_t flags = le32_to_cpu(entry->flags);
	uint32_t shift = le32_to_cpu(entry->page_shift);
	uint64_t table = le64_to_cpu(entry->table);
	uint64_t size = le64_to_cpu(entry->size);
	uint64_t sram_size = s->sram_size * s->num_queues;

	if (!(flags & TESSERA_BUFFER_VALID))
		return "it is not valid";
	if (flags & ~(TESSERA_BUFFER_VALID | TESSERA_BUFFER_WRITABLE | TESSERA_BUFFER_SRAM))
		return "it has unknown flags";
	if (entry->reserved)
		return "its reserved member is not zero";
	if (size > INT64_MAX)
		return "its size is over 2^63 - 1";
	if (flags & TESSERA_BUFFER_SRAM) {
		if (shift)
			return "it has a page size, in SRAM";
		if (size > sram_size || table > sram_size - size)
			return "it reaches outside the SRAM";
		return NULL;
	}
	if (shift < TESSERA_PAGE_MIN_SHIFT || shift > TESSERA_PAGE_MAX_SHIFT)
		return "its page size is not from 4 KiB to 1 GiB";
	if (table & 7)
		return "its table is not aligned to 8 bytes";
	return NULL;
}

static bool tessera_view_build_sram(TesseraState *s, TesseraView *view, uint64_t offset)
{
	uint64_t room = 0;

	if (!view->size)
		return true;
	/* The region is the device's own and needs no reference */
	return tessera_view_append(view, &room, s->sram_memory, s->sram + offset, view->size);
}

static bool tessera_view_build(TesseraQueue *q, TesseraView *view, uint64_t directory,
			       uint32_t num_buffers, struct engine_fault *fault)
{
	TesseraState *s = q->device;
	struct tessera_hw_buffer entry;
	const char *error;
	uint64_t address;

	if (view->buffer >= num_buffers) {
		tessera_fault_set(fault, DRM_TESSERA_CAUSE_BUFFER, 0, 0, "buffer %" PRIu32
				  " is not one of the %" PRIu32 " in the directory",
				  view->buffer, num_buffers);
		return false;
	}
	if (uadd64_overflow(directory, (uint64_t)view->buffer * sizeof(entry), &address) ||
	    !tessera_dma_read(s, address, &entry, sizeof(entry))) {
		tessera_fault_set(fault, DRM_TESSERA_CAUSE_BUFFER, 0, 0, "the entry of buffer %"
				  PRIu32 " is not in RAM", view->buffer);
		return false;
	}
	error = tessera_entry_error(s, &entry);
	if (error) {
		tessera_fault_set(fault, DRM_TESSERA_CAUSE_BUFFER, 0, 0, "the entry of buffer %"
				  PRIu32 ": %s", view->buffer, error);
		return false;
	}
	view->size = le64_to_cpu(entry.size);
	view->is_writable = le32_to_cpu(entry.flags) & TESSERA_BUFFER_WRITABLE;
	if (le32_to_cpu(entry.flags) & TESSERA_BUFFER_SRAM) {
		if (!tessera_view_build_sram(s, view, le64_to_cpu(entry.table))) {
			tessera_fault_set(fault, DRM_TESSERA_CAUSE_MEMORY, 0, 0,
					  "no memory for buffer %" PRIu32, view->buffer);
			return false;
		}
	} else {
		/* Only a buffer that names a page twice is larger than guest RAM */
		if (view->size > s->ram_size) {
			tessera_fault_set(fault, DRM_TESSERA_CAUSE_MEMORY, 0, 0, "buffer %" PRIu32
					  " has %" PRIu64 " bytes, more than there is RAM",
					  view->buffer, view->size);
			return false;
		}
		if (!tessera_view_read_table(q, view, &entry, fault))
			return false;
	}
	if (view->num_pieces <= 1) {
		view->flat = view->num_pieces ? view->pieces[0].host : NULL;
		view->is_flat = true;
	} else {
		view->is_flat = tessera_view_map(q, view);
		/* Not because there is no room, and the next job is to have it mapped */
		if (tessera_queue_is_canceled(q)) {
			tessera_fault_set(fault, DRM_TESSERA_CAUSE_CANCELED, 0, 0,
					  "stopped while mapping a buffer");
			return false;
		}
		tessera_view_join_dirty(view);
	}
	trace_tessera_view_create(view->buffer, view->size, view->num_pieces, view->is_flat);
	return true;
}

/* The table has no view of this buffer: makes one, used by the caller. Lock held, and given up. */
static TesseraView *tessera_view_create(TesseraQueue *q, uint32_t buffer,
					struct engine_fault *fault)
{
	TesseraState *s = q->device;
	TesseraView *view = g_new0(TesseraView, 1);
	uint64_t directory = s->buffers;
	uint32_t num_buffers = s->num_buffers;
	bool is_built;

	view->buffer = buffer;
	view->num_users = 1;
	view->is_cached = true;
	view->regions = s->regions;
	view->regions->num_users++;
	g_hash_table_insert(s->views, GUINT_TO_POINTER(buffer), view);
	QTAILQ_INSERT_TAIL(&s->recent, view, next);
	QTAILQ_INSERT_TAIL(&s->alive, view, next_alive);
	qemu_mutex_unlock(&s->lock);

	is_built = tessera_view_build(q, view, directory, num_buffers, fault);

	qemu_mutex_lock(&s->lock);
	s->num_pieces += tessera_view_pieces(view);
	if (is_built) {
		view->state = TESSERA_VIEW_READY;
		tessera_view_make_room(s, 0, 0);
	} else {
		/* Not kept, so that the next job looks again */
		view->fault = *fault;
		if (view->is_cached)
			tessera_view_uncache(s, view);
		else
			s->num_dropped_views--;
		view->state = TESSERA_VIEW_FAILED;
		tessera_view_unuse(s, view);
		view = NULL;
	}
	qemu_cond_broadcast(&s->change);
	return view;
}

int tessera_view_get(TesseraQueue *q, uint32_t buffer, TesseraView **out,
		     struct engine_fault *fault)
{
	TesseraState *s = q->device;
	TesseraView *view;

	qemu_mutex_lock(&s->lock);
	while ((view = g_hash_table_lookup(s->views, GUINT_TO_POINTER(buffer)))) {
		view->num_users++;
		while (view->state == TESSERA_VIEW_BUILDING && !tessera_queue_is_canceled(q))
			qemu_cond_wait(&s->change, &s->lock);
		if (view->state == TESSERA_VIEW_READY)
			break;
		if (view->state == TESSERA_VIEW_BUILDING)
			tessera_fault_set(fault, DRM_TESSERA_CAUSE_CANCELED, 0, 0,
					  "stopped while another job looked up the buffer");
		else
			*fault = view->fault;
		tessera_view_unuse(s, view);
		view = NULL;
		/* If it was the other that was stopped, this job looks for itself */
		if (fault->cause != DRM_TESSERA_CAUSE_CANCELED || tessera_queue_is_canceled(q))
			goto out;
	}
	if (!view) {
		view = tessera_view_create(q, buffer, fault);
	} else if (view->is_cached) {
		QTAILQ_REMOVE(&s->recent, view, next);
		QTAILQ_INSERT_TAIL(&s->recent, view, next);
	}
out:
	qemu_mutex_unlock(&s->lock);
	*out = view;
	return view ? 0 : -1;
}

TesseraView *tessera_view_get_ready(TesseraState *s, uint32_t buffer)
{
	TesseraView *view;

	qemu_mutex_lock(&s->lock);
	view = g_hash_table_lookup(s->views, GUINT_TO_POINTER(buffer));
	if (view && view->state == TESSERA_VIEW_READY && view->is_flat && !view->is_stale)
		view->num_users++;
	else
		view = NULL;
	qemu_mutex_unlock(&s->lock);
	return view;
}

void tessera_view_put(TesseraState *s, TesseraView *view)
{
	qemu_mutex_lock(&s->lock);
	tessera_view_unuse(s, view);
	qemu_mutex_unlock(&s->lock);
}

uint64_t tessera_view_size(const TesseraView *view)
{
	return view->size;
}

bool tessera_view_is_writable(const TesseraView *view)
{
	return view->is_writable;
}

bool tessera_view_is_flat(const TesseraView *view)
{
	return view->is_flat;
}

void *tessera_view_flat(const TesseraView *view)
{
	return view->flat;
}

/* The piece that has the byte at offset, which is less than the size of the view. */
static const struct tessera_piece *tessera_view_find(const TesseraView *view, uint64_t offset)
{
	uint64_t low = 0, high = view->num_pieces, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (view->pieces[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	return &view->pieces[low];
}

void tessera_view_for_each(const TesseraView *view, uint64_t low, uint64_t high,
			   bool (*visit)(uint8_t *host, uint64_t offset, uint64_t size,
					 void *opaque),
			   void *opaque)
{
	const struct tessera_piece *piece;
	uint64_t skip, size;

	if (low >= high)
		return;
	for (piece = tessera_view_find(view, low); low < high; piece++, low += size) {
		skip = low - piece->offset;
		size = MIN(piece->size - skip, high - low);
		if (!visit(piece->host + skip, low, size, opaque))
			return;
	}
}

/* Staleness: the functions from here to tessera_views_revoke() are for views behind an IOMMU. */

/* Whether the addresses low to high, found anew, lead where the bytes at offset are. */
static bool tessera_view_is_at(TesseraState *s, const TesseraView *view, uint64_t address,
			       uint64_t offset, uint64_t size)
{
	g_autofree struct tessera_spans *spans = g_new(struct tessera_spans, 1);
	const struct tessera_piece *piece;
	const struct tessera_span *span;
	uint64_t skip, part;

	spans->count = spans->next = 0;
	spans->has_ended = false;
	for (; size; address += part, offset += part, size -= part) {
		span = tessera_spans_next(spans, address);
		if (!span) {
			if (spans->has_ended ||
			    !tessera_dma_find(s, address, size, tessera_view_access(view),
					      view->regions, spans))
				return false;
			span = spans->spans;
		}
		piece = tessera_view_find(view, offset);
		skip = address - span->address;
		if (piece->memory != span->memory ||
		    piece->host + (offset - piece->offset) != span->host + skip)
			return false;
		part = MIN(size, span->size - skip);
		part = MIN(part, piece->size - (offset - piece->offset));
	}
	return true;
}

/* Without the lock. *offset: where in the buffer it is not what it was */
static bool tessera_view_is_good(TesseraState *s, const TesseraView *view, uint64_t low,
				 uint64_t high, uint64_t *offset)
{
	const struct tessera_extent *extent = view->extents;
	uint64_t first, last;

	for (; extent < view->extents + view->num_extents; extent++) {
		first = MAX(low, extent->address);
		last = MIN(high, extent->address + (extent->size - 1));
		*offset = extent->offset + (first - extent->address);
		if (first <= last && !tessera_view_is_at(s, view, first, *offset, last - first + 1))
			return false;
	}
	return true;
}

/*
 * With the lock held, which is given up meanwhile. Afterwards the view is not stale, or revoked, or
 * stale once more.
 */
static void tessera_view_check(TesseraState *s, TesseraView *view)
{
	uint64_t num_revocations = view->num_revocations;
	uint64_t low = view->stale_low, high = view->stale_high, offset;
	bool is_good;

	qemu_mutex_unlock(&s->lock);
	is_good = tessera_view_is_good(s, view, low, high, &offset);
	trace_tessera_view_checked(view->buffer, is_good);
	qemu_mutex_lock(&s->lock);
	if (!is_good && !view->is_revoked) {
		view->is_revoked = true;
		tessera_fault_set(&view->fault, DRM_TESSERA_CAUSE_TRANSLATION, 0, offset,
				  "memory of buffer %" PRIu32 " was taken back by the IOMMU",
				  view->buffer);
		if (view->is_cached)
			tessera_view_drop_one(s, view);
	} else if (view->num_revocations == num_revocations) {
		view->is_stale = false;
	}
}

int tessera_views_enter(TesseraQueue *q, TesseraView *const *views, unsigned count,
			struct engine_fault *fault)
{
	TesseraState *s = q->device;
	TesseraView *view;
	unsigned i = 0;

	qemu_mutex_lock(&s->lock);
	while (i < count) {
		view = views[i];
		if (!view || !view->is_stale) {
			i++;
			continue;
		}
		if (view->is_revoked || tessera_queue_is_canceled(q))
			goto err_stale;
		tessera_view_check(s, view);
		i = 0;
	}
	for (i = 0; i < count; i++)
		if (views[i])
			views[i]->num_jobs++;
	q->is_inside = true;
	qemu_mutex_unlock(&s->lock);
	return -1;

err_stale:
	if (view->is_revoked)
		*fault = view->fault;
	else
		tessera_fault_set(fault, DRM_TESSERA_CAUSE_CANCELED, 0, 0,
				  "stopped while the IOMMU was asked");
	qemu_mutex_unlock(&s->lock);
	return i;
}

void tessera_views_leave(TesseraQueue *q, TesseraView *const *views, unsigned count)
{
	TesseraState *s = q->device;
	unsigned i;

	qemu_mutex_lock(&s->lock);
	for (i = 0; i < count; i++)
		if (views[i])
			views[i]->num_jobs--;
	q->is_inside = false;
	qatomic_and(&q->cancel, ~TESSERA_CANCEL_PAUSE);
	qemu_cond_broadcast(&s->change);
	qemu_mutex_unlock(&s->lock);
}

/* One that is being built may have been told of addresses that are taken back now. */
static bool tessera_view_has(const TesseraView *view, uint64_t low, uint64_t high)
{
	const struct tessera_extent *extent = view->extents;

	if (view->state == TESSERA_VIEW_BUILDING)
		return true;
	for (; extent < view->extents + view->num_extents; extent++)
		if (extent->address <= high && extent->address + (extent->size - 1) >= low)
			return true;
	return false;
}

static void tessera_view_make_stale(TesseraView *view, uint64_t low, uint64_t high)
{
	trace_tessera_view_stale(view->buffer, low, high, view->num_jobs);
	view->stale_low = view->is_stale ? MIN(view->stale_low, low) : low;
	view->stale_high = view->is_stale ? MAX(view->stale_high, high) : high;
	view->is_stale = true;
	view->num_revocations++;
}

static bool tessera_views_are_left(TesseraState *s)
{
	const TesseraView *view;

	QTAILQ_FOREACH(view, &s->alive, next_alive)
		if (view->is_stale && view->num_jobs)
			return false;
	return true;
}

void tessera_views_revoke(TesseraState *s, uint64_t low, uint64_t high)
{
	TesseraView *view;
	unsigned i;

	qemu_mutex_lock(&s->lock);
	QTAILQ_FOREACH(view, &s->alive, next_alive)
		if (tessera_view_has(view, low, high))
			tessera_view_make_stale(view, low, high);
	if (!tessera_views_are_left(s))
		for (i = 0; i < s->num_queues; i++)
			if (s->queues[i].is_inside)
				qatomic_or(&s->queues[i].cancel, TESSERA_CANCEL_PAUSE);
	while (!tessera_views_are_left(s))
		qemu_cond_wait(&s->change, &s->lock);
	qemu_mutex_unlock(&s->lock);
}

void tessera_view_mark_dirty(TesseraState *s, const TesseraView *view, uint64_t low, uint64_t high)
{
	const struct tessera_piece *piece;
	uint64_t skip, size, i;

	if (low >= high)
		return;
	piece = tessera_view_find(view, low);
	if (view->dirty && tessera_view_find(view, high - 1) - piece >= TESSERA_MANY_PIECES) {
		for (i = 0; i < view->num_dirty; i++)
			tessera_dma_mark_dirty(s, view->dirty[i].memory, view->dirty[i].host,
					       view->dirty[i].size);
		return;
	}
	for (; low < high; piece++, low += size) {
		skip = low - piece->offset;
		size = MIN(piece->size - skip, high - low);
		tessera_dma_mark_dirty(s, piece->memory, piece->host + skip, size);
	}
}

/*
 * The pieces of a range in the order of memory, count of them, those at its ends as far as they
 * belong to it. NULL: no memory for them.
 */
static struct tessera_piece *tessera_bytes_pieces(const struct tessera_bytes *range,
						  uint64_t *count)
{
	const struct tessera_piece *first = tessera_view_find(range->view, range->low);
	const struct tessera_piece *last = tessera_view_find(range->view, range->high - 1);
	struct tessera_piece *pieces;

	*count = last - first + 1;
	pieces = g_try_new(struct tessera_piece, *count);
	if (!pieces)
		return NULL;
	memcpy(pieces, first, *count * sizeof(pieces[0]));
	pieces[*count - 1].size = range->high - last->offset;
	pieces[0].host += range->low - first->offset;
	pieces[0].size -= range->low - first->offset;
	qsort(pieces, *count, sizeof(pieces[0]), tessera_piece_compare);
	return pieces;
}

/* Both in the order of memory. Pieces of one may overlap each other. */
static bool tessera_pieces_overlap(const struct tessera_piece *a, uint64_t num_a,
				   const struct tessera_piece *b, uint64_t num_b)
{
	const uint8_t *end_a = NULL, *end_b = NULL;	/* of all that was passed */

	while (num_a || num_b) {
		if (!num_b || (num_a && a->host < b->host)) {
			if (a->host < end_b)
				return true;
			end_a = MAX(end_a, a->host + a->size);
			a++;
			num_a--;
		} else {
			if (b->host < end_a)
				return true;
			end_b = MAX(end_b, b->host + b->size);
			b++;
			num_b--;
		}
	}
	return false;
}

bool tessera_bytes_overlap(const struct tessera_bytes *a, const struct tessera_bytes *b)
{
	g_autofree struct tessera_piece *pieces_a = NULL;
	g_autofree struct tessera_piece *pieces_b = NULL;
	uint64_t num_a, num_b;

	if (a->low >= a->high || b->low >= b->high)
		return false;
	pieces_a = tessera_bytes_pieces(a, &num_a);
	pieces_b = tessera_bytes_pieces(b, &num_b);
	return !pieces_a || !pieces_b || tessera_pieces_overlap(pieces_a, num_a, pieces_b, num_b);
}

void tessera_views_init(TesseraState *s)
{
	s->views = g_hash_table_new(NULL, NULL);
	s->regions = tessera_regions_new();
	QTAILQ_INIT(&s->recent);
	QTAILQ_INIT(&s->alive);
	QTAILQ_INIT(&s->discarded);
	QTAILQ_INIT(&s->dead_regions);
}

/* After the workers have ended. */
void tessera_views_cleanup(TesseraState *s)
{
	qemu_mutex_lock(&s->lock);
	tessera_views_drop_all(s);
	tessera_regions_put(s, s->regions);
	s->regions = NULL;
	while (tessera_mapping_unmap_one(s))
		;
	qemu_mutex_unlock(&s->lock);
	tessera_regions_collect(s);
	g_hash_table_unref(s->views);
}
