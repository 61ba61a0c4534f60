// SPDX-License-Identifier: MIT
/*
 * Which devices the driver takes, and what it says of those that it refuses: while it is not bound,
 * the device is told to give another value for one of its registers (TEST_READ).
 */
#include "../../driver/tessera_hw.h"

#include "tessera_test.h"

#define SIZE	TEST_PAGE_SIZE

FIXTURE(probe) {
	int log;
	bool can_lie;
	char bus[NAME_MAX];
};

/* The registers of a device without a driver give what they are told to, or, with 0, what is so. */
static void set_read(struct __test_metadata *_metadata, const char *bus, __u32 read, __u32 value)
{
	volatile __u32 *registers = test_registers_map(_metadata, bus);

	ASSERT_NE(NULL, registers);
	registers[TESSERA_REG_TEST_VALUE / 4] = value;
	registers[TESSERA_REG_TEST_READ / 4] = read;
	ASSERT_EQ(read, registers[TESSERA_REG_TEST_READ / 4]);
	ASSERT_EQ(0, munmap((void *)registers, TEST_REGISTERS_SIZE));
}

FIXTURE_SETUP(probe)
{
	int fd = test_open(_metadata);

	test_bus_name(_metadata, fd, self->bus);
	self->can_lie = !test_write_debugfs(_metadata, fd, "test_read", 0);
	close(fd);
	ASSERT_EQ(0, test_driver_write("unbind", self->bus));
	self->log = test_log_open(_metadata);
}

/* Whatever the test did, the device is driven when it ends, as the others want it */
FIXTURE_TEARDOWN(probe)
{
	test_driver_write("unbind", self->bus);
	if (self->can_lie)
		set_read(_metadata, self->bus, 0, 0);
	EXPECT_EQ(0, test_driver_write("bind", self->bus));
	close(self->log);
}

/* The device does a job, by a file of its own. */
static void expect_job(struct __test_metadata *_metadata, const char *bus)
{
	int fd = test_open(_metadata);
	struct test_buffer buffer = test_buffer_create(_metadata, fd, SIZE);
	struct test_job job;

	test_job_increment(&job, buffer.handle);
	EXPECT_EQ(1, test_run_job(_metadata, fd, &job));
	EXPECT_EQ(1, *(__u32 *)buffer.map);
	test_buffer_destroy(_metadata, fd, &buffer);
	close(fd);
}

static void expect_no_file(struct __test_metadata *_metadata, const char *bus, const char *file)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/kernel/debug/accel/%s/buffers", bus);
	EXPECT_EQ(0, access(path, F_OK));
	snprintf(path, sizeof(path), "/sys/kernel/debug/accel/%s/%s", bus, file);
	EXPECT_EQ(-1, access(path, F_OK));
	EXPECT_EQ(ENOENT, errno);
}

static void expect_no_counters(struct __test_metadata *_metadata, const char *bus)
{
	int fd = test_open(_metadata);
	struct test_buffer buffer = test_buffer_create(_metadata, fd, SIZE);
	struct drm_tessera_submit submit;
	struct test_job job;

	EXPECT_EQ(0, test_info(_metadata, fd).clock_khz);
	test_job_increment(&job, buffer.handle);
	submit = test_submission(&job.job, 1);
	submit.flags = DRM_TESSERA_SUBMIT_COUNTERS;
	EXPECT_EQ(-EOPNOTSUPP, test_submit(fd, &submit));
	test_buffer_destroy(_metadata, fd, &buffer);
	close(fd);
	expect_no_file(_metadata, bus, "counters");
	expect_job(_metadata, bus);
}

static void expect_no_on_chip_memory(struct __test_metadata *_metadata, const char *bus)
{
	struct drm_tessera_bo_create create = { .size = SIZE, .flags = DRM_TESSERA_BO_SRAM };
	int fd = test_open(_metadata);

	EXPECT_EQ(0, test_info(_metadata, fd).sram_size);
	EXPECT_EQ(-EINVAL, test_ioctl(fd, DRM_IOCTL_TESSERA_BO_CREATE, &create));
	close(fd);
	expect_job(_metadata, bus);
}

static void expect_no_test_registers(struct __test_metadata *_metadata, const char *bus)
{
	expect_no_file(_metadata, bus, "test_hang");
	expect_job(_metadata, bus);
}

/* A device as it is told to be: what is expected of it, or else why it is refused */
FIXTURE_VARIANT(probe) {
	__u32 read;
	__u32 value;
	void (*expect)(struct __test_metadata *_metadata, const char *bus);
	int error;
	const char *said;
	const char *msi;	/* what is written to its file msi_bus, or NULL */
};

#define VALUE(offset)	((offset) | TESSERA_TEST_READ_VALUE)
#define KEPT(offset)	(VALUE(offset) | TESSERA_TEST_READ_KEPT)

#define TAKEN(name, ...)	FIXTURE_VARIANT_ADD(probe, name) { __VA_ARGS__ }
#define REFUSED(name, read, value, ...)	\
	FIXTURE_VARIANT_ADD(probe, name) { read, value, NULL, __VA_ARGS__ }

TAKEN(as_it_is, 0, 0, expect_job);
TAKEN(of_a_newer_minor_version, VALUE(TESSERA_REG_VERSION), TESSERA_VERSION + 1, expect_job);
TAKEN(without_counters, VALUE(TESSERA_REG_CLOCK), 0, expect_no_counters);
TAKEN(without_on_chip_memory, VALUE(TESSERA_REG_SRAM_SIZE), 0, expect_no_on_chip_memory);
TAKEN(without_test_registers, VALUE(TESSERA_REG_FEATURES), TESSERA_FEATURE_HINTS,
      expect_no_test_registers);

REFUSED(of_another_id, VALUE(TESSERA_REG_ID), 0xffffffff, -ENODEV,
	"id 0xffffffff, expected 0x41524554");
REFUSED(of_another_major_version, VALUE(TESSERA_REG_VERSION), 1 << 16 | 2, -ENODEV,
	"version 1.2, expected 0.x");
REFUSED(without_queues, VALUE(TESSERA_REG_NUM_QUEUES), 0, -ENODEV, "0 queues, expected 1 to 64");
REFUSED(with_more_queues_than_there_can_be, VALUE(TESSERA_REG_NUM_QUEUES), 65, -ENODEV,
	"65 queues, expected 1 to 64");
REFUSED(with_more_queues_than_registers, VALUE(TESSERA_REG_NUM_QUEUES), 64, -ENODEV,
	"bytes of registers for 64 queues");
REFUSED(without_hints, VALUE(TESSERA_REG_FEATURES), ~TESSERA_FEATURE_HINTS, -ENODEV,
	"features 0xfffffffd, expected 0x2 among them");
REFUSED(with_more_on_chip_memory_than_its_bar, VALUE(TESSERA_REG_SRAM_SIZE + 4), 1, -ENODEV,
	"bytes of on-chip memory, expected 4 times 4296015872");
REFUSED(with_more_on_chip_memory_than_a_number_holds, VALUE(TESSERA_REG_SRAM_SIZE + 4), ~0U,
	-ENODEV, "bytes of on-chip memory, expected 4 times 18446744069415632896");
REFUSED(whose_reset_does_not_end, KEPT(TESSERA_REG_CONTROL), TESSERA_CONTROL_RESET, -ETIMEDOUT,
	"no end of a reset: control 0x1, expected 0");
REFUSED(whose_queue_cannot_be_enabled, KEPT(TESSERA_QUEUE(1) + TESSERA_QUEUE_STATUS), 0, -EIO,
	"tessera-pe1: status 0x0 when enabled, expected 0x1");
REFUSED(without_interrupts, 0, 0, -EINVAL, "no 5 MSI-X vectors", "0");

static void write_msi_bus(struct __test_metadata *_metadata, const char *bus, const char *text)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/msi_bus", bus);
	ASSERT_EQ(0, test_write_file(path, text));
}

TEST_F(probe, device_is_taken_or_refused)
{
	if (!self->can_lie)
		SKIP(return, "the device has no test registers");
	set_read(_metadata, self->bus, variant->read, variant->value);
	if (variant->msi)
		write_msi_bus(_metadata, self->bus, variant->msi);
	EXPECT_EQ(variant->error, test_driver_write("bind", self->bus));
	if (variant->msi)
		write_msi_bus(_metadata, self->bus, "1");
	if (variant->expect) {
		variant->expect(_metadata, self->bus);
		return;
	}
	EXPECT_EQ(-ENODEV, test_open_driver("/dev/accel", "accel", "tessera"));
	EXPECT_EQ(1, test_log_count(self->log, variant->said));
}

TEST_HARNESS_MAIN
