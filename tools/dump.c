// SPDX-License-Identifier: MIT
/*
 * accel dump: what a device coredump says of the job that had to be stopped. The file is not
 * trusted: nothing of it is looked at that was not found to be there.
 */
#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../driver/tessera_hw.h"
#include "command.h"

/* More than any dump has: of the counts in it, the ring's is the only large one */
#define MAX_SIZE	(64 << 10)

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* A dump, and where its parts are; as it is in the file, little endian */
struct dump {
	struct drm_tessera_dump_header header;
	const struct drm_tessera_dump_register *registers;
	const struct drm_tessera_dump_entry *entries;
	const struct drm_tessera_dump_buffer *buffers;
	const struct tessera_hw_job *job;
	const struct tessera_hw_operand *operands;
	const struct tessera_hw_window *windows;
	const struct tessera_hw_instruction *program;
};

__attribute__((format(printf, 1, 2)))
static int fail(const char *format, ...)
{
	struct accel_error error = { .code = -EINVAL };
	va_list args;

	va_start(args, format);
	vsnprintf(error.message, sizeof(error.message), format, args);
	va_end(args);
	return command_fail(&dump_command, STATUS_USAGE, &error);
}

/* The next count elements, or NULL where there are not so many left */
static const void *take(const uint8_t **next, size_t *left, uint32_t count, size_t size)
{
	const uint8_t *part = *next;

	if (count > *left / size)
		return NULL;
	*next += count * size;
	*left -= count * size;
	return part;
}

/* The loops count no more than arrays have; the rest is printed as it is */
static bool find_job(struct dump *dump, const uint8_t *next, size_t left)
{
	const struct tessera_hw_job *job = take(&next, &left, 1, sizeof(*job));

	if (!job || le32toh(job->rank) > DRM_TESSERA_MAX_RANK)
		return false;
	dump->job = job;
	dump->operands = take(&next, &left, le32toh(job->num_operands), sizeof(*dump->operands));
	dump->windows = take(&next, &left, le32toh(job->num_windows), sizeof(*dump->windows));
	dump->program = take(&next, &left, le32toh(job->num_instructions), sizeof(*dump->program));
	return dump->operands && dump->windows && dump->program && !left;
}

static int find_parts(const char *path, const uint8_t *file, size_t size, struct dump *dump)
{
	struct drm_tessera_dump_header *header = &dump->header;
	const uint8_t *next = file;
	size_t left = size;

	memset(dump, 0, sizeof(*dump));
	if (size < sizeof(*header))
		return fail("%s: %zu bytes, expected a device coredump", path, size);
	memcpy(header, take(&next, &left, 1, sizeof(*header)), sizeof(*header));
	if (le64toh(header->magic) != DRM_TESSERA_DUMP_MAGIC)
		return fail("%s: is no coredump of a Tessera", path);
	if (le32toh(header->version) != DRM_TESSERA_DUMP_VERSION)
		return fail("%s: version %u, expected %u", path, le32toh(header->version),
			    DRM_TESSERA_DUMP_VERSION);
	if (le32toh(header->size) != size)
		return fail("%s: %zu bytes, expected %u", path, size, le32toh(header->size));
	dump->registers = take(&next, &left, le32toh(header->num_registers),
			       sizeof(*dump->registers));
	dump->entries = take(&next, &left, le32toh(header->num_entries), sizeof(*dump->entries));
	dump->buffers = take(&next, &left, le32toh(header->num_buffers), sizeof(*dump->buffers));
	if (!dump->registers || !dump->entries || !dump->buffers ||
	    left != le32toh(header->descriptor_size))
		return fail("%s: its counts ask for other than its %zu bytes", path, size);
	if (!find_job(dump, next, left))
		return fail("%s: its descriptor of %zu bytes is malformed", path, left);
	return STATUS_OK;
}

static const char *register_name(uint32_t offset)
{
	static const struct {
		uint32_t offset;
		const char *name;
	} names[] = {
		{ TESSERA_REG_ID, "ID" },
		{ TESSERA_REG_VERSION, "VERSION" },
		{ TESSERA_REG_NUM_QUEUES, "NUM_QUEUES" },
		{ TESSERA_REG_FEATURES, "FEATURES" },
		{ TESSERA_REG_CONTROL, "CONTROL" },
		{ TESSERA_REG_STATUS, "STATUS" },
		{ TESSERA_REG_NUM_BUFFERS, "NUM_BUFFERS" },
		{ TESSERA_QUEUE(0) + TESSERA_QUEUE_CONTROL, "queue CONTROL" },
		{ TESSERA_QUEUE(0) + TESSERA_QUEUE_STATUS, "queue STATUS" },
		{ TESSERA_QUEUE(0) + TESSERA_QUEUE_RING_SHIFT, "queue RING_SHIFT" },
		{ TESSERA_QUEUE(0) + TESSERA_QUEUE_TAIL, "queue TAIL" },
		{ TESSERA_QUEUE(0) + TESSERA_QUEUE_HEAD, "queue HEAD" },
		{ TESSERA_QUEUE(0) + TESSERA_QUEUE_PROGRESS, "queue PROGRESS, lower half" },
		{ TESSERA_QUEUE(0) + TESSERA_QUEUE_PROGRESS + 4, "queue PROGRESS, upper half" },
		{ TESSERA_QUEUE(0) + TESSERA_QUEUE_NUM_DOORBELLS, "queue NUM_DOORBELLS" },
		{ TESSERA_QUEUE(0) + TESSERA_QUEUE_NUM_INTERRUPTS, "queue NUM_INTERRUPTS" },
	};

	if (offset >= TESSERA_QUEUE(1))
		offset = TESSERA_QUEUE(0) + (offset - TESSERA_QUEUE(0)) % TESSERA_QUEUE(0);
	for (size_t n = 0; n < ARRAY_SIZE(names); n++) {
		if (names[n].offset == offset)
			return names[n].name;
	}
	return "?";
}

static void print_header(const struct drm_tessera_dump_header *header)
{
	uint32_t cause = le32toh(header->cause);

	printf("job %u of %u, in submission %" PRIu64 " of ", le32toh(header->job),
	       le32toh(header->num_jobs), (uint64_t)le64toh(header->id));
	/* A process may call itself anything */
	for (size_t k = 0; k < sizeof(header->comm) && header->comm[k]; k++)
		putchar(isprint(header->comm[k]) ? header->comm[k] : '?');
	printf("[%u]\n", le32toh(header->pid));
	printf("stopped on queue %u, cause %u%s\n", le32toh(header->queue), cause,
	       cause == DRM_TESSERA_CAUSE_TIMEOUT ? ": no progress, or too long" :
	       cause == DRM_TESSERA_CAUSE_DESCRIPTOR ? ": the queue stopped" : "");
	printf("handed over up to %" PRIu64 ", seen completed %" PRIu64 ", completed %" PRIu64 "\n",
	       (uint64_t)le64toh(header->sequence), (uint64_t)le64toh(header->completed),
	       (uint64_t)le64toh(header->completion));
}

static void print_state(const struct dump *dump)
{
	uint32_t n;

	printf("\nregisters\n");
	for (n = 0; n < le32toh(dump->header.num_registers); n++)
		printf("  0x%05x  0x%08x  %s\n", le32toh(dump->registers[n].offset),
		       le32toh(dump->registers[n].value),
		       register_name(le32toh(dump->registers[n].offset)));
	printf("\nring, from the job on\n");
	for (n = 0; n < le32toh(dump->header.num_entries); n++)
		printf("  sequence %" PRIu64 ", descriptor of %u bytes%s\n",
		       (uint64_t)le64toh(dump->entries[n].sequence),
		       le32toh(dump->entries[n].descriptor_size),
		       le32toh(dump->entries[n].flags) & TESSERA_RING_INTERRUPT ?
		       ", interrupt" : "");
	printf("\nbuffers of the job\n");
	for (n = 0; n < le32toh(dump->header.num_buffers); n++) {
		const struct drm_tessera_dump_buffer *buffer = &dump->buffers[n];

		printf("  buffer %u: %" PRIu64 " bytes in pages of 2^%u%s%s%s\n",
		       le32toh(buffer->id), (uint64_t)le64toh(buffer->size),
		       le32toh(buffer->page_shift),
		       le32toh(buffer->flags) & TESSERA_BUFFER_VALID ? "" : ", not valid",
		       le32toh(buffer->flags) & TESSERA_BUFFER_WRITABLE ? ", writable" : "",
		       buffer->is_imported ? ", imported" : "");
	}
}

static void print_affine(const struct tessera_hw_affine *affine, uint32_t rank)
{
	printf("%" PRId64, (int64_t)le64toh(affine->offset));
	for (uint32_t d = 0; d < rank; d++) {
		if (affine->strides[d])
			printf(" + i%u * %" PRId64, d, (int64_t)le64toh(affine->strides[d]));
	}
}

/* A descriptor that should not be may hold any number */
static const char *dtype_name(uint32_t dtype)
{
	const char *name = accel_dtype_name(dtype);

	return name ? name : "no type";
}

static const char *opcode_name(uint8_t opcode)
{
	static const char *const names[] = {
		[DRM_TESSERA_OP_CONST] = "const", [DRM_TESSERA_OP_CAST] = "cast",
		[DRM_TESSERA_OP_ADD] = "add", [DRM_TESSERA_OP_SUB] = "sub",
		[DRM_TESSERA_OP_MUL] = "mul", [DRM_TESSERA_OP_FMA] = "fma",
		[DRM_TESSERA_OP_MIN] = "min", [DRM_TESSERA_OP_MAX] = "max",
		[DRM_TESSERA_OP_NEG] = "neg", [DRM_TESSERA_OP_ABS] = "abs",
		[DRM_TESSERA_OP_SELECT] = "select", [DRM_TESSERA_OP_COMPARE] = "compare",
	};

	if (opcode >= sizeof(names) / sizeof(names[0]) || !names[opcode])
		return "no opcode";
	return names[opcode];
}

static void print_operand(const struct tessera_hw_operand *operand, uint32_t k, uint32_t rank)
{
	uint32_t dtype = le32toh(operand->dtype), index_dtype = le32toh(operand->index_dtype);

	printf("  operand %u%s: dtype 0x%02x (%s), buffer %u, at ", k, k ? "" : " (destination)",
	       dtype, dtype_name(dtype), le32toh(operand->buffer));
	print_affine(&operand->address, rank);
	if (le32toh(operand->flags) & DRM_TESSERA_OPERAND_INDIRECT) {
		printf("\n    + index * %" PRId64 ": dtype 0x%02x (%s), buffer %u, limit %" PRIu64
		       ", at ", (int64_t)le64toh(operand->index_stride), index_dtype,
		       dtype_name(index_dtype), le32toh(operand->index_buffer),
		       (uint64_t)le64toh(operand->index_limit));
		print_affine(&operand->index_address, rank);
	}
	if (operand->window_mask)
		printf("\n    windows 0x%x, fill 0x%" PRIx64 " 0x%" PRIx64,
		       le32toh(operand->window_mask), (uint64_t)le64toh(operand->fill[0]),
		       (uint64_t)le64toh(operand->fill[1]));
	putchar('\n');
}

static void print_job(const struct dump *dump)
{
	uint32_t rank = le32toh(dump->job->rank);
	uint32_t n;

	printf("\njob of rank %u:", rank);
	for (n = 0; n < rank; n++)
		printf(" i%u < %" PRIu64, n, (uint64_t)le64toh(dump->job->extents[n]));
	putchar('\n');
	for (n = 0; n < le32toh(dump->job->num_operands); n++)
		print_operand(&dump->operands[n], n, rank);
	for (n = 0; n < le32toh(dump->job->num_windows); n++) {
		printf("  window %u: 0 <= ", n);
		print_affine(&dump->windows[n].value, rank);
		printf(" < %" PRIu64 "\n", (uint64_t)le64toh(dump->windows[n].limit));
	}
	for (n = 0; n < le32toh(dump->job->num_instructions); n++) {
		const struct tessera_hw_instruction *i = &dump->program[n];

		printf("  instruction %u: r%u = opcode %u (%s) of r%u, r%u, r%u, "
		       "dtype 0x%02x (%s), flags 0x%x, predicate %u, immediate 0x%" PRIx64 "\n",
		       n, i->dst, i->opcode, opcode_name(i->opcode), i->src[0], i->src[1],
		       i->src[2], i->dtype, dtype_name(i->dtype), i->flags, i->predicate,
		       (uint64_t)le64toh(i->immediate));
	}
}

/* Reads the whole file; the kernel's does not tell its size beforehand. */
static int read_file(const char *path, uint8_t *file, size_t *size)
{
	FILE *stream = fopen(path, "rb");

	if (!stream)
		return fail("%s: %s", path, strerror(errno));
	errno = 0;
	*size = fread(file, 1, MAX_SIZE, stream);
	if (ferror(stream)) {
		fclose(stream);
		return fail("%s: %s", path, strerror(errno));
	}
	fclose(stream);
	return STATUS_OK;
}

static int dump_file(const char *path)
{
	/* As its structures need to be aligned */
	uint8_t *file = malloc(MAX_SIZE);
	struct dump dump;
	size_t size = 0;
	int status;

	if (!file)
		return fail("%s: %s", path, strerror(ENOMEM));
	status = read_file(path, file, &size);
	if (status == STATUS_OK)
		status = find_parts(path, file, size, &dump);
	if (status == STATUS_OK) {
		print_header(&dump.header);
		print_state(&dump);
		print_job(&dump);
	}
	free(file);
	return status;
}

static int run_dump(int argc, char **argv)
{
	static const struct option options[] = { { 0 } };

	optind = 0;
	if (getopt_long(argc, argv, "", options, NULL) != -1)
		return command_misuse(&dump_command, "bad option");
	if (optind != argc - 1)
		return command_misuse(&dump_command, "%d files, expected one", argc - optind);
	return dump_file(argv[optind]);
}

const struct command dump_command = {
	.name = "dump",
	.summary = "why a job was stopped: a device coredump, for a person",
	.usage =
		"usage: accel dump FILE\n"
		"\n"
		"Shows a device coredump: the job that hung, its queue and its buffers. The\n"
		"kernel has it in /sys/class/devcoredump/devcdN/data, for five minutes or until\n"
		"something is written to that file.\n",
	.run = run_dump,
};
