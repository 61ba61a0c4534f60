# SPDX-License-Identifier: MIT
#
# The one entry to Tessera: builds the library, the tool and the module, and has qemu/ build the
# emulator. What is built goes to build/, the module to driver/. Sources are known by where they
# lie: a new file is built for being there. How tests are run and counted is tests/check's business,
# how the guest is run qemu/vm's.
#
#   V=1        show the commands
#   CFLAGS=    instead of -O2 -g            KDIR=      build the module against that kernel
#   PREFIX=    where to install             KERNEL=    run that kernel in the guest
#   DESTDIR=   below which to install       QEMU_SRC=  build that QEMU;  QEMU= run that one

# Before options are added here: the first word, if it has no dashes, is the letters of make's own
dry_run := $(findstring n,$(filter-out -%,$(firstword $(MAKEFLAGS))))
MAKEFLAGS += --no-builtin-rules --no-builtin-variables
.DELETE_ON_ERROR:
.SECONDARY:
.DEFAULT_GOAL := all

VERSION := 0.1.0
SOVERSION := 0

CC := cc
CXX := c++
AR := ar
CFLAGS := -O2 -g
LDFLAGS :=
PREFIX := /usr/local
LIBDIR = $(PREFIX)/lib
INCLUDEDIR = $(PREFIX)/include
BINDIR = $(PREFIX)/bin

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-8s%s\n' '$(1)' '$(2)')

# --- what must be there before anything else -----------------------------------------------------

# Which groups of packages a goal needs; a goal that is not here needs none.
needs_all := build
needs_library := build
needs_tool := build
needs_module := build
needs_compdb := build
needs_install := build
needs_modules_install := build
needs_qemu := guest
needs_shell := guest
needs_demo := guest
needs_check := guest test
needs_check-unit := test
needs_check-numpy := test
needs_check-fuzz := build
needs_fuzz := build guest
needs_bench := build guest
needs_check-qtest := guest test
needs_check-kselftest := guest test
needs_check-iommu := guest test
needs_check-migration := guest test
needs_check-traps := guest
needs_check-debug := guest test kernel
needs_lint := build guest test lint
needs_doc := doc

goals := $(or $(MAKECMDGOALS),$(.DEFAULT_GOAL))
groups := $(sort $(foreach goal,$(goals),$(needs_$(goal))))
ifneq ($(groups),)
prerequisites := $(shell tools/prerequisites $(if $(dry_run),--check) $(groups) && echo there)
ifneq ($(prerequisites),there)
$(error what is named above is missing)
endif
endif
# What bench compares with is asked for and not insisted upon.
ifneq ($(filter bench,$(goals)),)
$(shell tools/prerequisites $(if $(dry_run),--check) peers)
endif

# --- flags ---------------------------------------------------------------------------------------

# Asked for once, and only by what compiles.
drm_cflags = $(eval drm_cflags := $(shell pkg-config --cflags libdrm))$(drm_cflags)
drm_libs = $(eval drm_libs := $(shell pkg-config --libs libdrm))$(drm_libs)
cmocka_cflags = $(eval cmocka_cflags := $(shell pkg-config --cflags cmocka))$(cmocka_cflags)
cmocka_libs = $(eval cmocka_libs := $(shell pkg-config --libs cmocka))$(cmocka_libs)

warnings := -Wall -Wextra -Werror
includes = -Iuapi -Ilibaccel/include -Ilibaccel $(drm_cflags)
common_flags = -std=gnu11 $(warnings) $(includes) -D_GNU_SOURCE -pthread -MMD -MP
release_flags = $(common_flags) -fPIC -fvisibility=hidden $(CFLAGS)
sanitize := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
asan_flags = $(common_flags) -Itools -Idriver -Itests -Itests/reference $(sanitize) -O1 -g
libs = $(drm_libs) -lm

# What is built depends on how, and on which sources there are: these files change only when what
# they say does.
define stamp_rule
build/$(1).stamp: FORCE | build/
	@printf '%s\n' '$$($(2))' | cmp -s - $$@ || printf '%s\n' '$$($(2))' > $$@
endef
release_stamp = $(CC) $(release_flags) $(LDFLAGS)
asan_stamp = $(CC) $(asan_flags)
kselftest_stamp = $(CC) $(kselftest_flags)
qemu_stamp = $(QEMU_SRC) $(emulator_sources)
sources_stamp = $(library_sources) $(tool_sources) $(asan_sources)
$(eval $(call stamp_rule,release,release_stamp))
$(eval $(call stamp_rule,asan,asan_stamp))
$(eval $(call stamp_rule,kselftest,kselftest_stamp))
$(eval $(call stamp_rule,qemu,qemu_stamp))
$(eval $(call stamp_rule,sources,sources_stamp))

# --- the library and the tool --------------------------------------------------------------------

library_sources := $(sort $(wildcard libaccel/*/*.c))
library_objects := $(library_sources:%.c=build/release/%.o)
tool_sources := $(sort $(wildcard tools/*.c))
tool_objects := $(tool_sources:%.c=build/release/%.o)

static_library := build/libaccel/libaccel.a
soname := libaccel.so.$(SOVERSION)
shared_library := build/libaccel/libaccel.so.$(VERSION)
shared_links := build/libaccel/$(soname) build/libaccel/libaccel.so
tool := build/tools/accel

##:all: the library, the tool and the module (the default)
all: library tool module

library: $(static_library) $(shared_links) build/libaccel/accel.pc

tool: $(tool)

# The engine is what data goes through, in the library and in the device.
build/release/libaccel/engine/%.o: private CFLAGS += -O3

build/release/%.o: %.c build/release.stamp
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(release_flags) -c -o $@ $<

$(static_library): $(library_objects) build/sources.stamp
	$(call say,AR,$@)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)$(AR) rcs $@ $(library_objects)

$(shared_library): $(library_objects) libaccel/libaccel.map build/sources.stamp
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -pthread -Wl,-soname,$(soname) -Wl,--no-undefined \
		-Wl,--version-script=libaccel/libaccel.map $(CFLAGS) $(LDFLAGS) -o $@ \
		$(library_objects) $(libs)

$(shared_links): $(shared_library)
	@ln -sf $(notdir $<) $@

build/libaccel/accel.pc: libaccel/accel.pc.in build/install.stamp
	@mkdir -p $(@D)
	@sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
		-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(VERSION)|' $< > $@

install_stamp = $(PREFIX) $(LIBDIR) $(INCLUDEDIR) $(VERSION)
$(eval $(call stamp_rule,install,install_stamp))

# Linked statically, so that it runs from here, and in the guest, without being installed.
$(tool): $(tool_objects) $(static_library)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -pthread $(CFLAGS) $(LDFLAGS) -o $@ $^ $(libs)

# --- the module ----------------------------------------------------------------------------------

module := driver/tessera.ko
module_sources := $(sort $(filter-out driver/%.mod.c driver/.%,$(wildcard driver/*.[ch])) \
		  driver/Kbuild $(wildcard driver/tests/*.[ch] uapi/drm/*.h))

module: $(module)

build/kdir.stamp: FORCE | build/
	@kdir=$$(qemu/fetch kdir) && { echo "$$kdir" | cmp -s - $@ || echo "$$kdir" > $@; }

$(module): $(module_sources) build/kdir.stamp
	$(call say,MODULE,$@)
	$(Q)$(MAKE) --no-print-directory $(if $(filter 1,$(V)),V=1,-s) \
		-C "$$(cat build/kdir.stamp)" M=$(CURDIR)/driver modules
	@touch $@

# The same for tests, each built from a copy: for the stock kernel with what only tests may ask of
# it, for the debug kernel with KUnit's tests besides. Of the driver as well that kernel says y.
test_modules := build/test-modules
test_module_flags := CONFIG_DRM_ACCEL_TESSERA=m CONFIG_DRM_ACCEL_TESSERA_TEST=y
$(test_modules)/debug/driver/tessera.ko: private \
	test_module_flags += CONFIG_DRM_ACCEL_TESSERA_KUNIT_TEST=y

build/kdir-stock.stamp: build/kdir.stamp
	@cp -p $< $@

build/kdir-debug.stamp: FORCE | build/
	@kdir=$$(qemu/kernel)/kdir && \
		{ echo "$$kdir" | cmp -s - $@ || echo "$$kdir" > $@; }

$(test_modules)/%/driver/tessera.ko: $(module_sources) build/kdir-%.stamp
	$(call say,MODULE,$@)
	@mkdir -p $(test_modules)/$*
	@cp -u --parents --preserve=timestamps $(module_sources) $(test_modules)/$*
	$(Q)$(MAKE) --no-print-directory $(if $(filter 1,$(V)),V=1,-s) \
		-C "$$(cat build/kdir-$*.stamp)" M=$(CURDIR)/$(@D) $(test_module_flags) modules
	@touch $@

# A driver that shows what is wrong in DRM's core; see Documentation/upstream.rst.
trap := build/traps/trivial_accel.ko

$(trap): tests/traps/trivial_accel.c tests/traps/Kbuild build/kdir.stamp
	$(call say,MODULE,$@)
	@mkdir -p $(@D)
	@cp tests/traps/trivial_accel.c tests/traps/Kbuild $(@D)
	$(Q)$(MAKE) --no-print-directory $(if $(filter 1,$(V)),V=1,-s) \
		-C "$$(cat build/kdir.stamp)" M=$(CURDIR)/$(@D) modules
	@touch $@

# --- the emulator and the guest ------------------------------------------------------------------

emulator := build/qemu/qemu-system-x86_64
qtests := $(patsubst tests/qtest/%.c,build/qemu/%,$(wildcard tests/qtest/*-test.c))
emulator_sources := $(wildcard qemu/*.c qemu/*.h qemu/Kconfig qemu/meson.build qemu/trace-events \
		    qemu/*.sed uapi/drm/*.h libaccel/engine/*.[ch]) qemu/build qemu/devices.mak \
		    driver/tessera_hw.h $(wildcard tests/qtest/*.[ch])

##:qemu: the emulator with the device, and the device's tests
qemu: $(emulator)

build/qemu.done: $(emulator_sources) build/qemu.stamp
	$(call say,QEMU,$(emulator))
	$(Q)qemu/build
	@touch $@

$(emulator) $(qtests): build/qemu.done

# With QEMU= there is no emulator to build.
guest: $(if $(QEMU),,build/qemu.done) module tool

##:demo: a tensor through library, driver and device and back, in the guest
demo: guest
	$(call say,VM,build/tools/accel demo)
	$(Q)qemu/vm -- build/tools/accel demo

##:shell: a shell in the guest, with the module loaded
shell: guest
	$(Q)qemu/vm --interactive -- $${SHELL:-/bin/bash}

# --- tests ---------------------------------------------------------------------------------------

unit_programs := $(patsubst tests/unit/%.c,build/unit/%,$(sort $(wildcard tests/unit/test_*.c)))
asan_sources := $(library_sources) $(filter-out tools/accel.c,$(tool_sources)) \
		$(wildcard tests/reference/*.c) $(wildcard driver/tessera_layout.c)
asan_objects := $(asan_sources:%.c=build/asan/%.o)
asan_library := build/asan/libaccel.a

kselftest_sources := $(sort $(wildcard tests/kselftest/*.c))
kselftest_programs := $(kselftest_sources:tests/kselftest/%.c=build/kselftest/%) \
		      $(patsubst tests/fuzz/%.c,build/kselftest/%,$(wildcard tests/fuzz/ioctl.c)) \
		      build/kselftest/chains
kselftest_headers = $(eval kselftest_headers := $(shell qemu/fetch kselftest))$(kselftest_headers)
kselftest_flags = $(common_flags) -isystem $(kselftest_headers) -Itests $(CFLAGS)
reference_objects := $(patsubst %.c,build/release/%.o,$(wildcard tests/reference/*.c))

build/asan/%.o: %.c build/asan.stamp
	$(call say,CC,$< (sanitized))
	@mkdir -p $(@D)
	$(Q)$(CC) $(asan_flags) -c -o $@ $<

build/asan/tests/unit/%.o: private includes += -Itests/unit $(cmocka_cflags)

$(asan_library): $(asan_objects) build/sources.stamp
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $(asan_objects)

build/unit/%: build/asan/tests/unit/%.o $(asan_library)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -pthread $(sanitize) -o $@ $^ $(cmocka_libs) $(libs)

# Tests of so many jobs that they take the engine as the library has it, without sanitizers.
quick_programs := $(addprefix build/unit/,test_engine_chains test_engine_jobs test_engine_sizes)

build/release/tests/unit/%.o: private includes += -Itests -Itests/reference -Itests/unit \
	$(cmocka_cflags)

$(quick_programs): build/unit/%: build/release/tests/unit/%.o $(reference_objects) \
		   $(static_library)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -pthread $(CFLAGS) $(LDFLAGS) -o $@ $^ $(cmocka_libs) $(libs)

# Each target with the driver that runs it a number of times; with clang, libFuzzer takes its place.
fuzz_programs := $(patsubst tests/fuzz/%.c,build/fuzz/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))

build/fuzz/%: build/asan/tests/fuzz/%.o build/asan/tests/fuzz/driver.o $(asan_library)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -pthread $(sanitize) -o $@ $^ $(libs)

build/release/tests/reference/%.o: private includes += -Itests -Itests/reference

define kselftest_program
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(kselftest_flags) -MF $@.d -o $@ $< $(reference_objects) $(static_library) \
		$(libs)
endef

build/kselftest/%: tests/kselftest/%.c $(reference_objects) $(static_library) build/kselftest.stamp
	$(kselftest_program)

build/kselftest/%: tests/fuzz/%.c $(reference_objects) $(static_library) build/kselftest.stamp
	$(kselftest_program)

build/kselftest/chains: tests/numpy/in_guest $(shared_links)
	@mkdir -p $(@D)
	$(Q)install -m 755 $< $@

tests: $(shared_links) $(unit_programs) $(fuzz_programs) $(kselftest_programs) build/qemu.done \
	$(test_modules)/stock/driver/tessera.ko

##:check: every test: unit, fuzz, numpy, qtest, kselftest, traps; ends with "N passed, N failed"
check: tests guest $(trap)
	$(Q)tests/check unit fuzz numpy qtest kselftest traps

##:check-unit: the tests of library, tool and validation, on the host, sanitized
check-unit: $(unit_programs)
	$(Q)tests/check unit

##:check-fuzz: a fixed number of runs of each fuzz target
check-fuzz: $(fuzz_programs)
	$(Q)tests/check fuzz

FUZZ_COUNT := 1000000
##:fuzz: FUZZ_COUNT= runs of each fuzz target, from other seeds each time, the device's included
fuzz: $(fuzz_programs) build/qemu.done
	$(Q)for program in $(fuzz_programs); do \
		echo $$program && $$program --count $(FUZZ_COUNT) || exit; done
	$(Q)QTEST_QEMU_BINARY=$(emulator) build/qemu/tessera-fuzz-test --count $(FUZZ_COUNT)

##:check-numpy: the library against NumPy, on the host
check-numpy: $(shared_links)
	$(Q)tests/check numpy

##:check-qtest: the tests of the device alone
check-qtest: build/qemu.done
	$(Q)tests/check qtest

##:check-kselftest: the tests of driver and library, in the guest
check-kselftest: guest $(kselftest_programs) $(test_modules)/stock/driver/tessera.ko
	$(Q)tests/check kselftest

##:check-iommu: those of them in which memory matters, behind each kind of virtual IOMMU
check-iommu: guest $(kselftest_programs) $(test_modules)/stock/driver/tessera.ko
	$(Q)tests/check iommu

##:check-debug: the same and KUnit, on a kernel of its own that finds leaks, races and the like
check-debug: guest $(kselftest_programs) $(test_modules)/debug/driver/tessera.ko
	$(Q)tests/check debug

##:check-migration: a guest that is migrated while the device is at work
check-migration: guest $(kselftest_programs)
	$(Q)tests/check migration

##:check-traps: two faults of DRM's core, each shown in a guest that falls into it
check-traps: build/qemu.done $(trap)
	$(Q)tests/check traps

bench_programs := $(patsubst tests/bench/%.c,build/bench/%,$(sort $(wildcard tests/bench/*.c)))

build/bench/%: build/release/tests/bench/%.o $(static_library)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -pthread $(CFLAGS) $(LDFLAGS) -o $@ $^ $(libs)

build/bench/bench_submit: build/release/tools/bench_debugfs.o

# Other libraries that accel bench --peers runs, as far as they are installed: at their best on this
# machine, which is why they are not built with CFLAGS.
eigen := /usr/include/eigen3
peers := $(if $(wildcard /usr/include/oneapi/dnnl/dnnl.hpp),build/bench/peer_onednn) \
	$(if $(wildcard $(eigen)/unsupported/Eigen/CXX11/Tensor),build/bench/peer_eigen) \
	$(if $(wildcard /usr/lib/python3/dist-packages/numpy),build/bench/peer_numpy)
peer_flags := -std=c++17 -O3 -march=native -DNDEBUG -Wall -Wextra
build/bench/peer_onednn: private peer_flags += -fopenmp
build/bench/peer_onednn: private peer_libs := -ldnnl
# its own code warns with gcc
build/bench/peer_eigen: private peer_flags += -isystem $(eigen) -Wno-maybe-uninitialized

build/bench/peer_numpy: tests/bench/peer_numpy
	@mkdir -p $(@D)
	$(Q)install -m 755 $< $@

build/bench/peer_%: tests/bench/peer_%.cc tests/bench/peer.h
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) $(peer_flags) -pthread -o $@ $< $(peer_libs)

##:bench: what takes how long, beside memcpy in the same run
bench: $(bench_programs) $(peers) guest
	$(Q)tests/bench/run $(bench_programs)

##:lint: style, warnings, sparse, licences: what is checked without running it
lint: all
	$(Q)tests/lint

# --- the rest ------------------------------------------------------------------------------------

##:install: the library, its headers and the tool
install: library tool
	$(call say,INSTALL,$(DESTDIR)$(PREFIX))
	$(Q)install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)/drm $(DESTDIR)$(BINDIR)
	$(Q)install -m 644 libaccel/include/accel.h $(DESTDIR)$(INCLUDEDIR)
	$(Q)install -m 644 uapi/drm/tessera_accel.h $(DESTDIR)$(INCLUDEDIR)/drm
	$(Q)install -m 644 $(static_library) $(DESTDIR)$(LIBDIR)
	$(Q)install -m 755 $(shared_library) $(DESTDIR)$(LIBDIR)
	$(Q)cp -P $(shared_links) $(DESTDIR)$(LIBDIR)
	$(Q)install -m 644 build/libaccel/accel.pc $(DESTDIR)$(LIBDIR)/pkgconfig
	$(Q)install -m 755 $(tool) $(DESTDIR)$(BINDIR)
	$(if $(DESTDIR),,$(Q)! [ -w /etc/ld.so.cache ] || PATH=$$PATH:/usr/sbin:/sbin ldconfig)

##:modules_install: the module, for the kernel that it was built for, below DESTDIR; the udev rule
modules_install: module
	$(call say,INSTALL,$(DESTDIR)/lib/modules)
	$(Q)$(MAKE) --no-print-directory $(if $(filter 1,$(V)),V=1,-s) \
		-C "$$(cat build/kdir.stamp)" M=$(CURDIR)/driver INSTALL_MOD_PATH=$(DESTDIR) \
		CONFIG_MODULE_SIG_ALL= modules_install
	$(Q)install -D -m 644 driver/60-tessera.rules \
		$(DESTDIR)/lib/udev/rules.d/60-tessera.rules

##:install-dkms: the module's sources below DESTDIR, for dkms add tessera/VERSION
install-dkms:
	$(call say,INSTALL,$(DESTDIR)/usr/src/tessera-$(VERSION))
	$(Q)install -d $(DESTDIR)/usr/src/tessera-$(VERSION)
	$(Q)cp --parents $(module_sources) driver/Kconfig $(DESTDIR)/usr/src/tessera-$(VERSION)
	$(Q)sed 's|@VERSION@|$(VERSION)|' driver/dkms.conf.in \
		> $(DESTDIR)/usr/src/tessera-$(VERSION)/dkms.conf
	$(Q)install -D -m 644 driver/60-tessera.rules \
		$(DESTDIR)/lib/udev/rules.d/60-tessera.rules

##:uninstall: what install put there
uninstall:
	$(Q)rm -f $(addprefix $(DESTDIR)$(LIBDIR)/,libaccel.a pkgconfig/accel.pc \
		$(notdir $(shared_library) $(shared_links))) $(DESTDIR)$(BINDIR)/accel \
		$(DESTDIR)$(INCLUDEDIR)/accel.h $(DESTDIR)$(INCLUDEDIR)/drm/tessera_accel.h

##:doc: the documentation as HTML, in build/doc
doc:
	$(call say,SPHINX,build/doc)
	$(Q)sphinx-build -q -W -b html Documentation build/doc

# For editors and analysers; the module's are made by the kernel's own build.
compdb_sources = $(library_sources) $(tool_sources) $(wildcard tests/unit/*.c tests/reference/*.c)
compdb_entry = {"directory": "$(CURDIR)", "file": "$(1)", \
"command": "$(CC) $(asan_flags) -Itests/unit $(cmocka_cflags) -c $(1)"}

##:compdb: compile_commands.json
compdb:
	$(call say,GEN,compile_commands.json)
	@printf '[\n' > compile_commands.json
	@$(foreach source,$(filter-out $(lastword $(compdb_sources)),$(compdb_sources)),\
		printf '%s,\n' '$(call compdb_entry,$(source))' >> compile_commands.json;)
	@printf '%s\n]\n' '$(call compdb_entry,$(lastword $(compdb_sources)))' \
		>> compile_commands.json

##:clean: what was built here; the cache stays
clean:
	$(Q)rm -rf build compile_commands.json
	$(Q)cd driver && rm -rf *.o *.ko *.mod *.mod.c .*.o .*.cmd .*.d .tmp_* Module.symvers \
		modules.order tests/*.o tests/.*.o tests/.*.cmd tests/.*.d

##:help: this
help:
	@sed -n 's/^##:\([a-z-]*\): /\1\t/p' Makefile | \
		awk -F'\t' '{ printf "  make %-16s %s\n", $$1, $$2 }'
	@sed -n 's/^#   /  /p' Makefile | head -n 5

build/:
	@mkdir -p $@

FORCE:

.PHONY: all library tool module qemu guest demo shell tests check check-unit check-qtest \
	check-kselftest check-iommu check-debug check-migration check-traps check-fuzz fuzz bench \
	lint install modules_install install-dkms uninstall doc compdb clean help FORCE

objects := $(library_objects) $(tool_objects) $(asan_objects) $(reference_objects)
-include $(objects:.o=.d) $(unit_programs:build/unit/%=build/asan/tests/unit/%.d) \
	$(fuzz_programs:build/fuzz/%=build/asan/tests/fuzz/%.d) build/asan/tests/fuzz/driver.d \
	$(bench_programs:build/bench/%=build/release/tests/bench/%.d) \
	$(kselftest_programs:=.d) \
	$(quick_programs:build/unit/%=build/release/tests/unit/%.d)
