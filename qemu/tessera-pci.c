/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tessera in QEMU: a PCI function with its properties, BARs and capabilities, and the part of the
 * model's host (tessera-host.h) that is not memory: interrupts, time, the main loop.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"
#include "qemu/module.h"
#include "qemu/rcu.h"
#include "qemu/timer.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include "exec/address-spaces.h"
#include "hw/boards.h"
#include "hw/pci/msix.h"
#include "hw/pci/pci.h"
#include "hw/pci/pcie.h"
#include "hw/qdev-properties.h"
#include "hw/resettable.h"
#include "migration/misc.h"
#include "migration/vmstate.h"
#include "system/runstate.h"
#include "tessera-pci.h"

#define TESSERA_MAX_THREADS	64
#define TESSERA_MAX_STOP_WAIT	60000
#define TESSERA_MAX_SRAM_SIZE	(256 * MiB)
#define TESSERA_SRAM_ALIGNMENT	(4 * KiB)
#define TESSERA_MAX_CLOCK	10000000	/* kHz */
#define TESSERA_MAX_BANDWIDTH	100000000	/* 10^6 bytes a second */
#define TESSERA_MAX_LATENCY	1000000		/* ns */
#define TESSERA_MAX_ENERGY	1000000		/* pJ */

void tessera_host_kick(TesseraState *s)
{
	qemu_bh_schedule(tessera_pci(s)->bottom_half);
}

void tessera_host_interrupt(TesseraState *s, unsigned vector)
{
	msix_notify(PCI_DEVICE(tessera_pci(s)), vector);
}

int64_t tessera_host_nanoseconds(void)
{
	return get_clock();
}

void tessera_host_thread_begin(void)
{
	rcu_register_thread();
}

void tessera_host_thread_end(void)
{
	rcu_unregister_thread();
}

static void tessera_bottom_half(void *opaque)
{
	TesseraState *s = opaque;

	tessera_serve(s);
	tessera_iommu_serve(s);
}

static uint64_t tessera_registers_read(void *opaque, hwaddr address, unsigned size)
{
	return tessera_register_read(opaque, address);
}

static void tessera_registers_write(void *opaque, hwaddr address, uint64_t value, unsigned size)
{
	tessera_register_write(opaque, address, value);
}

static const MemoryRegionOps tessera_registers_ops = {
	.read = tessera_registers_read,
	.write = tessera_registers_write,
	.endianness = DEVICE_LITTLE_ENDIAN,
	.valid = { .min_access_size = 4, .max_access_size = 8 },
	.impl = { .min_access_size = 4, .max_access_size = 4 },
};

/*
 * Views hold addresses of RAM in this process: they go when the layout of memory changes. Until
 * commit, a view may still be built from the old layout.
 */
static void tessera_region_del(MemoryListener *listener, MemoryRegionSection *section)
{
	TesseraPCI *t = container_of(listener, TesseraPCI, listener);

	t->is_layout_changed = true;
	tessera_iommu_region_del(&t->model, section);
}

static void tessera_region_add(MemoryListener *listener, MemoryRegionSection *section)
{
	tessera_iommu_region_add(&container_of(listener, TesseraPCI, listener)->model, section);
}

static void tessera_layout_commit(MemoryListener *listener)
{
	TesseraPCI *t = container_of(listener, TesseraPCI, listener);

	if (!t->is_layout_changed)
		return;
	t->is_layout_changed = false;
	tessera_pages_drop_all(&t->model);
	tessera_layout_changed(&t->model);
}

/* Bus reset, function-level reset and removal */
static void tessera_reset_hold(Object *obj, ResetType type)
{
	TesseraPCI *t = TESSERA(obj);

	tessera_reset(&t->model);
	/* Known for certain once the machine is complete, and it is reset then: before any job */
	t->model.has_iommu = pci_device_iommu_address_space(PCI_DEVICE(t)) != &address_space_memory;
}

static bool tessera_is_master(PCIDevice *pdev)
{
	return pci_get_word(pdev->config + PCI_COMMAND) & PCI_COMMAND_MASTER;
}

static void tessera_config_write(PCIDevice *pdev, uint32_t address, uint32_t value, int size)
{
	bool was_master = tessera_is_master(pdev);

	pci_default_write_config(pdev, address, value, size);
	if (was_master && !tessera_is_master(pdev))
		tessera_cut_off(&TESSERA(pdev)->model);
	if (pdev->exp.exp_cap)
		pcie_cap_flr_write_config(pdev, address, value, size);
}

/* Nothing goes wrong by an oversight. */
static bool tessera_check_tests(TesseraState *s, Error **errp)
{
	const struct {
		const char *property;
		uint32_t value;
	} tests[] = {
		{ "x-hang", s->tests_at_reset.hang },
		{ "x-skew", s->tests_at_reset.skew },
		{ "x-fault", s->tests_at_reset.fault },
		{ "x-slow", s->tests_at_reset.slow },
		{ "x-corrupt", s->tests_at_reset.corrupt },
		{ "x-drop", s->tests_at_reset.drop },
		{ "x-read", s->tests_at_reset.read },
		{ "x-value", s->tests_at_reset.value },
	};
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		if (s->has_test_registers || !tests[i].value)
			continue;
		error_setg(errp, "property '%s' is %" PRIu32 ", it must be 0 without 'x-test=on'",
			   tests[i].property, tests[i].value);
		return false;
	}
	return true;
}

static bool tessera_check_properties(TesseraState *s, Error **errp)
{
	if (s->num_queues < 1 || s->num_queues > TESSERA_MAX_QUEUES) {
		error_setg(errp, "property 'queues' is %" PRIu32 ", it must be from 1 to %d",
			   s->num_queues, TESSERA_MAX_QUEUES);
		return false;
	}
	if (s->num_threads < 1 || s->num_threads > TESSERA_MAX_THREADS) {
		error_setg(errp, "property 'threads' is %" PRIu32 ", it must be from 1 to %d",
			   s->num_threads, TESSERA_MAX_THREADS);
		return false;
	}
	if (s->stop_wait > TESSERA_MAX_STOP_WAIT) {
		error_setg(errp, "property 'stop-wait' is %" PRIu32 ", it must be from 0 to %d",
			   s->stop_wait, TESSERA_MAX_STOP_WAIT);
		return false;
	}
	if (s->sram_size > TESSERA_MAX_SRAM_SIZE ||
	    !QEMU_IS_ALIGNED(s->sram_size, TESSERA_SRAM_ALIGNMENT)) {
		error_setg(errp, "property 'sram-size' is %" PRIu64
			   ", it must be a multiple of 4096 from 0 to %" PRIu64, s->sram_size,
			   (uint64_t)TESSERA_MAX_SRAM_SIZE);
		return false;
	}
	return tessera_check_tests(s, errp);
}

struct tessera_range {
	const char *property;
	const uint32_t *value;
	uint32_t least;
	uint32_t most;
};

static bool tessera_check_timing(const TesseraState *s, Error **errp)
{
	const struct engine_memory_model *dram = &s->timing.memories[DRM_TESSERA_MEMORY_SYSTEM];
	const struct engine_memory_model *sram = &s->timing.memories[DRM_TESSERA_MEMORY_SRAM];
	const struct tessera_range ranges[] = {
		{ "clock", &s->timing.clock_khz, 1000, TESSERA_MAX_CLOCK },
		{ "efficiency", &s->timing.efficiency, 1, 100 },
		{ "dram-bandwidth", &dram->bandwidth, 1, TESSERA_MAX_BANDWIDTH },
		{ "dram-latency", &dram->latency, 0, TESSERA_MAX_LATENCY },
		{ "dram-burst", &dram->burst, ENGINE_MIN_BURST, ENGINE_MAX_BURST },
		{ "dram-energy", &dram->energy, 0, TESSERA_MAX_ENERGY },
		{ "sram-bandwidth", &sram->bandwidth, 1, TESSERA_MAX_BANDWIDTH },
		{ "sram-latency", &sram->latency, 0, TESSERA_MAX_LATENCY },
		{ "sram-burst", &sram->burst, ENGINE_MIN_BURST, ENGINE_MAX_BURST },
		{ "sram-energy", &sram->energy, 0, TESSERA_MAX_ENERGY },
		{ "link-bandwidth", &s->grid.bandwidth, 1, TESSERA_MAX_BANDWIDTH },
		{ "link-latency", &s->grid.latency, 0, TESSERA_MAX_LATENCY },
		{ "link-energy", &s->grid.energy, 0, TESSERA_MAX_ENERGY },
	};
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		if (*ranges[i].value >= ranges[i].least && *ranges[i].value <= ranges[i].most)
			continue;
		error_setg(errp, "property '%s' is %" PRIu32 ", it must be from %" PRIu32
			   " to %" PRIu32, ranges[i].property, *ranges[i].value, ranges[i].least,
			   ranges[i].most);
		return false;
	}
	for (i = 0; i < DRM_TESSERA_NUM_MEMORIES; i++) {
		if (is_power_of_2(s->timing.memories[i].burst))
			continue;
		error_setg(errp, "property '%s' is %" PRIu32 ", it must be a power of two",
			   i == DRM_TESSERA_MEMORY_SYSTEM ? "dram-burst" : "sram-burst",
			   s->timing.memories[i].burst);
		return false;
	}
	return true;
}

/* Without the property, the grid that comes closest to a square, and has more columns than rows */
static bool tessera_check_grid(TesseraState *s, Error **errp)
{
	if (s->grid.columns) {
		if (s->num_queues % s->grid.columns == 0)
			return true;
		error_setg(errp, "property 'grid-columns' is %" PRIu32 ", it must divide the "
			   "number of queues, %" PRIu32, s->grid.columns, s->num_queues);
		return false;
	}
	for (s->grid.columns = 1; s->grid.columns * s->grid.columns < s->num_queues ||
				  s->num_queues % s->grid.columns; s->grid.columns++)
		;
	return true;
}

static bool tessera_init_bars(TesseraPCI *t, Error **errp)
{
	TesseraState *s = &t->model;
	PCIDevice *pdev = PCI_DEVICE(t);

	memory_region_init_io(&t->registers, OBJECT(t), &tessera_registers_ops, s,
			      "tessera-registers", pow2ceil(TESSERA_QUEUE(s->num_queues)));
	pci_register_bar(pdev, TESSERA_BAR_REGISTERS, PCI_BASE_ADDRESS_SPACE_MEMORY,
			 &t->registers);
	if (!s->sram_size)
		return true;
	if (!memory_region_init_ram(&t->sram, OBJECT(t), "tessera-sram",
				    pow2ceil(s->sram_size * s->num_queues), errp))
		return false;
	pci_register_bar(pdev, TESSERA_BAR_SRAM,
			 PCI_BASE_ADDRESS_SPACE_MEMORY | PCI_BASE_ADDRESS_MEM_TYPE_64 |
			 PCI_BASE_ADDRESS_MEM_PREFETCH, &t->sram);
	s->sram_memory = (TesseraMemory *)&t->sram;
	s->sram = memory_region_get_ram_ptr(&t->sram);
	return true;
}

static bool tessera_init_capabilities(TesseraPCI *t, Error **errp)
{
	unsigned num_queues = t->model.num_queues;
	PCIDevice *pdev = PCI_DEVICE(t);
	unsigned vector;

	if (pci_bus_is_express(pci_get_bus(pdev))) {
		if (pcie_endpoint_cap_init(pdev, 0x80) < 0) {
			error_setg(errp, "no room for the PCI Express capability");
			return false;
		}
		pcie_cap_flr_init(pdev);
	}
	if (msix_init_exclusive_bar(pdev, num_queues + 1, TESSERA_BAR_MSIX, errp) < 0)
		return false;
	for (vector = 0; vector <= num_queues; vector++)
		msix_vector_use(pdev, vector);
	return true;
}

/* Migration */

static void tessera_machine_changed(void *opaque, bool is_running, RunState state)
{
	TesseraPCI *t = opaque;

	if (is_running)
		tessera_resume(&t->model);
	else
		tessera_pause(&t->model);
}

/*
 * Views are mappings of RAM beside QEMU's own. Who wants to see each first access to a page, by
 * userfaultfd, watches the latter only.
 */
static int tessera_migration_begins(NotifierWithReturn *notifier, MigrationEvent *event,
				    Error **errp)
{
	if (event->type != MIG_EVENT_PRECOPY_SETUP ||
	    (!migrate_postcopy_ram() && !migrate_background_snapshot()))
		return 0;
	error_setg(errp, "tessera cannot be migrated with the capability '%s'",
		   migrate_postcopy_ram() ? "postcopy-ram" : "background-snapshot");
	return -ENOTSUP;
}

static int tessera_pre_save(void *opaque)
{
	TesseraPCI *t = opaque;

	tessera_save(&t->model, &t->saved);
	return 0;
}

static int tessera_post_load(void *opaque, int version)
{
	TesseraPCI *t = opaque;
	char text[256];

	if (!tessera_load(&t->model, &t->saved, text, sizeof(text))) {
		error_report("tessera: saved state is refused: %s", text);
		return -EINVAL;
	}
	tessera_pages_drop_all(&t->model);
	return 0;
}

static const VMStateDescription tessera_tests_vmstate = {
	.name = TYPE_TESSERA "/tests",
	.version_id = 1,
	.minimum_version_id = 1,
	.fields = (const VMStateField[]) {
		VMSTATE_UINT32(hang, struct tessera_tests),
		VMSTATE_UINT32(skew, struct tessera_tests),
		VMSTATE_UINT32(fault, struct tessera_tests),
		VMSTATE_UINT32(slow, struct tessera_tests),
		VMSTATE_UINT32(corrupt, struct tessera_tests),
		VMSTATE_UINT32(drop, struct tessera_tests),
		VMSTATE_UINT32(read, struct tessera_tests),
		VMSTATE_UINT32(value, struct tessera_tests),
		VMSTATE_END_OF_LIST()
	},
};

static const VMStateDescription tessera_queue_vmstate = {
	.name = TYPE_TESSERA "/queue",
	.version_id = 1,
	.minimum_version_id = 1,
	.fields = (const VMStateField[]) {
		VMSTATE_UINT64(ring, struct tessera_saved_queue),
		VMSTATE_UINT64(completion, struct tessera_saved_queue),
		VMSTATE_UINT64(results, struct tessera_saved_queue),
		VMSTATE_UINT64(hints, struct tessera_saved_queue),
		VMSTATE_UINT64(raised, struct tessera_saved_queue),
		VMSTATE_UINT64(progress, struct tessera_saved_queue),
		VMSTATE_UINT32(ring_shift, struct tessera_saved_queue),
		VMSTATE_UINT32(tail, struct tessera_saved_queue),
		VMSTATE_UINT32(head, struct tessera_saved_queue),
		VMSTATE_UINT32(error, struct tessera_saved_queue),
		VMSTATE_UINT32(num_doorbells, struct tessera_saved_queue),
		VMSTATE_UINT32(num_interrupts, struct tessera_saved_queue),
		VMSTATE_STRUCT(tests, struct tessera_saved_queue, 1, tessera_tests_vmstate,
			       struct tessera_tests),
		VMSTATE_UINT64_ARRAY(totals, struct tessera_saved_queue, TESSERA_NUM_COUNTERS),
		VMSTATE_UINT64(time, struct tessera_saved_queue),
		VMSTATE_UINT64_ARRAY(links, struct tessera_saved_queue, 2 * TESSERA_NUM_LINKS),
		VMSTATE_UINT32(flags, struct tessera_saved_queue),
		VMSTATE_END_OF_LIST()
	},
};

/* What the lengths of the rest depend on comes first. SRAM is RAM, which QEMU carries over. */
static const VMStateDescription tessera_vmstate = {
	.name = TYPE_TESSERA,
	.version_id = 1,
	.minimum_version_id = 1,
	.pre_save = tessera_pre_save,
	.post_load = tessera_post_load,
	.fields = (const VMStateField[]) {
		VMSTATE_UINT32_EQUAL(model.num_queues, TesseraPCI,
				     "property 'queues' of tessera is not what it was"),
		VMSTATE_UINT64_EQUAL(model.sram_size, TesseraPCI,
				     "property 'sram-size' of tessera is not what it was"),
		VMSTATE_PCI_DEVICE(parent, TesseraPCI),
		VMSTATE_MSIX(parent, TesseraPCI),
		VMSTATE_UINT32(saved.features, TesseraPCI),
		VMSTATE_UINT32(saved.clock, TesseraPCI),
		VMSTATE_UINT32(saved.grid_columns, TesseraPCI),
		VMSTATE_UINT64(saved.time, TesseraPCI),
		VMSTATE_UINT64(saved.buffers, TesseraPCI),
		VMSTATE_UINT64_ARRAY(saved.pending_vectors, TesseraPCI, 2),
		VMSTATE_UINT32(saved.num_buffers, TesseraPCI),
		VMSTATE_STRUCT(saved.tests, TesseraPCI, 1, tessera_tests_vmstate,
			       struct tessera_tests),
		VMSTATE_STRUCT_VARRAY_UINT32(saved.queues, TesseraPCI, model.num_queues, 1,
					     tessera_queue_vmstate, struct tessera_saved_queue),
		VMSTATE_END_OF_LIST()
	},
};

static void tessera_realize(PCIDevice *pdev, Error **errp)
{
	TesseraPCI *t = TESSERA(pdev);

	if (!tessera_check_properties(&t->model, errp) ||
	    !tessera_check_timing(&t->model, errp) || !tessera_check_grid(&t->model, errp))
		return;
	if (!tessera_init_bars(t, errp) || !tessera_init_capabilities(t, errp))
		return;

	qemu_mutex_init(&t->pages_lock);
	QTAILQ_INIT(&t->questions);
	t->bottom_half = qemu_bh_new_guarded(tessera_bottom_half, &t->model,
					     &DEVICE(t)->mem_reentrancy_guard);
	t->model.ram_size = current_machine->maxram_size;
	tessera_init(&t->model);
	t->listener = (MemoryListener) {
		.name = "tessera",
		.region_add = tessera_region_add,
		.region_del = tessera_region_del,
		.commit = tessera_layout_commit,
	};
	memory_listener_register(&t->listener, pci_get_address_space(pdev));
	t->stops = qdev_add_vm_change_state_handler(DEVICE(t), tessera_machine_changed, t);
	migration_add_notifier(&t->migration, tessera_migration_begins);
	/* Plugged into a machine that runs, or else heard of when it does */
	if (runstate_is_running())
		tessera_resume(&t->model);
}

static void tessera_exit(PCIDevice *pdev)
{
	TesseraPCI *t = TESSERA(pdev);

	migration_remove_notifier(&t->migration);
	qemu_del_vm_change_state_handler(t->stops);
	tessera_reset_hold(OBJECT(t), RESET_TYPE_COLD);
	memory_listener_unregister(&t->listener);
	tessera_cleanup(&t->model);
	qemu_bh_delete(t->bottom_half);
	qemu_mutex_destroy(&t->pages_lock);
	msix_uninit_exclusive_bar(pdev);
	if (pdev->exp.exp_cap)
		pcie_cap_exit(pdev);
}

/* The default is engine_model_default's, set when the object is made */
#define TESSERA_TIMING(name, member)								\
	DEFINE_PROP_UNSIGNED_NODEFAULT(name, TesseraPCI, model.timing.member, qdev_prop_uint32,	\
				       uint32_t)
#define TESSERA_MEMORY(name, member)								\
	TESSERA_TIMING(name "-bandwidth", member.bandwidth),					\
	TESSERA_TIMING(name "-latency", member.latency),					\
	TESSERA_TIMING(name "-burst", member.burst),						\
	TESSERA_TIMING(name "-energy", member.energy)

static const Property tessera_properties[] = {
	DEFINE_PROP_UINT32("queues", TesseraPCI, model.num_queues, 4),
	DEFINE_PROP_SIZE("sram-size", TesseraPCI, model.sram_size, 1 * MiB),
	DEFINE_PROP_UINT32("threads", TesseraPCI, model.num_threads, 2),
	DEFINE_PROP_UINT32("stop-wait", TesseraPCI, model.stop_wait, 1000),
	DEFINE_PROP_BOOL("x-test", TesseraPCI, model.has_test_registers, false),
	DEFINE_PROP_UINT32("x-hang", TesseraPCI, model.tests_at_reset.hang, 0),
	DEFINE_PROP_UINT32("x-skew", TesseraPCI, model.tests_at_reset.skew, 0),
	DEFINE_PROP_UINT32("x-fault", TesseraPCI, model.tests_at_reset.fault, 0),
	DEFINE_PROP_UINT32("x-slow", TesseraPCI, model.tests_at_reset.slow, 0),
	DEFINE_PROP_UINT32("x-corrupt", TesseraPCI, model.tests_at_reset.corrupt, 0),
	DEFINE_PROP_UINT32("x-drop", TesseraPCI, model.tests_at_reset.drop, 0),
	DEFINE_PROP_UINT32("x-read", TesseraPCI, model.tests_at_reset.read, 0),
	DEFINE_PROP_UINT32("x-value", TesseraPCI, model.tests_at_reset.value, 0),
	DEFINE_PROP_UINT32("grid-columns", TesseraPCI, model.grid.columns, 0),
	DEFINE_PROP_UINT32("link-bandwidth", TesseraPCI, model.grid.bandwidth, 32000),
	DEFINE_PROP_UINT32("link-latency", TesseraPCI, model.grid.latency, 2),
	DEFINE_PROP_UINT32("link-energy", TesseraPCI, model.grid.energy, 1),
	TESSERA_TIMING("clock", clock_khz),
	TESSERA_TIMING("efficiency", efficiency),
	TESSERA_MEMORY("dram", memories[DRM_TESSERA_MEMORY_SYSTEM]),
	TESSERA_MEMORY("sram", memories[DRM_TESSERA_MEMORY_SRAM]),
};

/*
 * Whether there is an express capability is decided before the bus is known. Properties that have
 * the engine's defaults are set after this.
 */
static void tessera_instance_init(Object *obj)
{
	PCI_DEVICE(obj)->cap_present |= QEMU_PCI_CAP_EXPRESS;
	TESSERA(obj)->model.timing = engine_model_default;
}

static void tessera_class_init(ObjectClass *klass, void *data)
{
	DeviceClass *dc = DEVICE_CLASS(klass);
	PCIDeviceClass *pc = PCI_DEVICE_CLASS(klass);
	ResettableClass *rc = RESETTABLE_CLASS(klass);

	pc->realize = tessera_realize;
	pc->exit = tessera_exit;
	pc->config_write = tessera_config_write;
	pc->vendor_id = TESSERA_PCI_VENDOR_ID;
	pc->device_id = TESSERA_PCI_DEVICE_ID;
	pc->class_id = TESSERA_PCI_CLASS;
	pc->revision = 1;
	rc->phases.hold = tessera_reset_hold;
	dc->desc = "Tessera tensor layout accelerator";
	dc->vmsd = &tessera_vmstate;
	device_class_set_props(dc, tessera_properties);
	set_bit(DEVICE_CATEGORY_MISC, dc->categories);
}

static const TypeInfo tessera_info = {
	.name = TYPE_TESSERA,
	.parent = TYPE_PCI_DEVICE,
	.instance_size = sizeof(TesseraPCI),
	.instance_init = tessera_instance_init,
	.class_init = tessera_class_init,
	.interfaces = (InterfaceInfo[]) {
		{ INTERFACE_PCIE_DEVICE },
		{ INTERFACE_CONVENTIONAL_PCI_DEVICE },
		{ }
	},
};

static void tessera_register_types(void)
{
	type_register_static(&tessera_info);
}

type_init(tessera_register_types);
