# SPDX-License-Identifier: MIT
#
# Mends system/physmem.c of QEMU 10.0, whose CPUs find sections of memory by numbers that their TLBs
# have kept. Where memory is mapped anew meanwhile (a BAR moves, a device is pulled out), versions
# before 10.0.4 may look in a table that has been freed (QEMU's issue 3040), and those since then in
# the new table by a number of the old one: the access ends in another device, or QEMU in an
# assertion. Here a CPU holds the view of memory that its TLB was filled from until it is flushed.

/^typedef struct CPUAddressSpace/,/^}/ {
	s/^ *AddressSpace \*as;$/&\n    FlatView *view;/
}
s/= cpu->cpu_ases\[asidx\]\.memory_dispatch;$/= flatview_to_dispatch(cpu->cpu_ases[asidx].view);/
s/= address_space_to_dispatch(cpu->cpu_ases\[asidx\]\.as);$/= flatview_to_dispatch(cpu->cpu_ases[asidx].view);/
s/\*d = cpuas->memory_dispatch;$/*d = flatview_to_dispatch(cpuas->view);/
s/\*d = address_space_to_dispatch(cpuas->as);$/*d = flatview_to_dispatch(cpuas->view);/
s/^\( *\)memory_listener_unregister(&cpuas->tcg_as_listener);$/&\n\1g_clear_pointer(\&cpuas->view, flatview_unref);/
/^static void tcg_commit_cpu(/ {
	i\
static void hold_view(CPUAddressSpace *cpuas)\
{\
    FlatView *old_view = cpuas->view;\
\
    cpuas->view = address_space_get_flatview(cpuas->as);\
    if (old_view) {\
        flatview_unref(old_view);\
    }\
}\

}
/^static void tcg_commit_cpu(/,/^}/ {
	s/^ *tlb_flush(cpu);$/    hold_view(data.host_ptr);\n&/
}
