// SPDX-License-Identifier: MIT
/*
 * A DMA address that the IOMMU does not know: the device's record of the fault and the kernel's log
 * of the IOMMU both tell of it, and nothing else happens. The device is told the address behind the
 * driver's back, in its registers, for which the kernel must be started with iomem=relaxed.
 *
 * Without an IOMMU there is nothing to try.
 */
#include "../../driver/tessera_hw.h"

#include "tessera_test.h"

#define SIZE		TEST_PAGE_SIZE
/* In the first pages, which neither buffers nor memory of the driver get */
#define NOT_MAPPED	0x10000U

FIXTURE(iommu) {
	int fd;
	int kmsg;
	bool is_there;
	volatile __u32 *registers;
	struct test_buffer destination;
	struct test_buffer source;
	struct test_job job;
	struct drm_tessera_submit submit;
};

/* In the log, faults between these two lines are what a test wants (tests/kselftest/run). */
#define BEGIN	"tessera: faults of the IOMMU are provoked: begin"
#define END	"tessera: faults of the IOMMU are provoked: end"

FIXTURE_SETUP(iommu)
{
	char path[PATH_MAX], bus[NAME_MAX];

	self->fd = test_open(_metadata);
	test_sysfs_path(_metadata, self->fd, "iommu_group", path);
	self->is_there = !access(path, F_OK);
	if (!self->is_there)
		return;
	/* A device that sleeps has no registers */
	test_sysfs_path(_metadata, self->fd, "power/control", path);
	ASSERT_EQ(0, test_write_file(path, "on"));
	test_bus_name(_metadata, self->fd, bus);
	self->registers = test_registers_map(_metadata, bus);
	ASSERT_NE(NULL, self->registers) TH_LOG("is the kernel started with iomem=relaxed?");
	ASSERT_EQ(TESSERA_ID, self->registers[TESSERA_REG_ID / 4]);
	self->kmsg = open("/dev/kmsg", O_RDONLY | O_CLOEXEC);
	ASSERT_GE(self->kmsg, 0);
	lseek(self->kmsg, 0, SEEK_END);
	self->destination = test_buffer_create(_metadata, self->fd, SIZE);
	self->source = test_buffer_create(_metadata, self->fd, SIZE);
	memset(self->source.map, 5, SIZE);
	test_job_copy(&self->job, self->destination.handle, self->source.handle, SIZE / 4);
	self->submit = test_submission(&self->job.job, 1);
}

FIXTURE_TEARDOWN(iommu)
{
	char path[PATH_MAX];

	if (self->is_there) {
		test_sysfs_path(_metadata, self->fd, "power/control", path);
		test_write_file(path, "auto");
		close(self->kmsg);
	}
	close(self->fd);
}

static void set_directory(FIXTURE_DATA(iommu) *self, __u64 address)
{
	self->registers[TESSERA_REG_BUFFERS / 4] = address;
	self->registers[TESSERA_REG_BUFFERS / 4 + 1] = address >> 32;
}

static __u64 directory(FIXTURE_DATA(iommu) *self)
{
	return self->registers[TESSERA_REG_BUFFERS / 4] |
	       (__u64)self->registers[TESSERA_REG_BUFFERS / 4 + 1] << 32;
}

/* Waits for the line in which the kernel tells of it: as VT-d's driver says it, or virtio's. */
static void wait_for_line(FIXTURE_DATA(iommu) *self)
{
	char line[1024], address[32];
	ssize_t length;

	snprintf(address, sizeof(address), " 0x%x", NOT_MAPPED);
	do {
		length = read(self->kmsg, line, sizeof(line) - 1);
		line[length > 0 ? length : 0] = '\0';
	} while (!strstr(line, "fault") || !strstr(line, address));
}

TEST_F(iommu, address_that_is_not_mapped_is_recorded_by_both)
{
	struct drm_tessera_submit_result result;
	struct drm_tessera_job_result job_result;
	__u64 usual;

	if (!self->is_there)
		SKIP(return, "the device is behind no IOMMU");
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	memset(self->destination.map, 0xee, SIZE);
	usual = directory(self);
	ASSERT_EQ(0, test_write_file("/dev/kmsg", BEGIN));
	set_directory(self, NOT_MAPPED);
	EXPECT_EQ(-EIO, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(0, test_query_result(self->fd, self->submit.id, &result, &job_result, 1));
	EXPECT_EQ(DRM_TESSERA_CAUSE_BUFFER, job_result.cause);
	EXPECT_EQ(SIZE, test_constant(self->destination.map, SIZE, 0xee));
	wait_for_line(self);
	EXPECT_EQ(0, test_write_file("/dev/kmsg", END));
	set_directory(self, usual);
	ASSERT_EQ(1, test_run(_metadata, self->fd, &self->submit));
	EXPECT_EQ(0, memcmp(self->destination.map, self->source.map, SIZE));
}

TEST_HARNESS_MAIN
