// SPDX-License-Identifier: MIT
/*
 * Every kernel at every size: moves and casts of two loops, each from 0 to 130 points, of every
 * element size, by every instruction set that the CPU has. Each buffer lies between two pages that
 * cannot be accessed, and begins behind the first, or a byte after that, or ends at the second: the
 * nine ways of placing two buffers take turns, so that each size of a loop meets all of them.
 *
 * These are some millions of jobs. The engine is compiled for them as it is in the library, without
 * sanitizers: it is the pages that tell of a byte too far.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "engine/isa.h"
#include "engine_test.h"

#define MAX_EXTENT	130
#define ARENA_BYTES	(2 << 20)
#define UNTOUCHED	0xa5

/* Memory between two pages that cannot be accessed. */
struct arena {
	uint8_t *bytes;
};

enum { DST, SRC, EXPECTED, NUM_ARENAS };

static struct arena arenas[NUM_ARENAS];

static int make_arenas(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	(void)state;
	for (int a = 0; a < NUM_ARENAS; a++) {
		uint8_t *mapping = mmap(NULL, ARENA_BYTES + 2 * page, PROT_NONE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (mapping == MAP_FAILED ||
		    mprotect(mapping + page, ARENA_BYTES, PROT_READ | PROT_WRITE))
			return -1;
		arenas[a].bytes = mapping + page;
	}
	for (uint32_t i = 0; i < ARENA_BYTES; i++)
		arenas[SRC].bytes[i] = (uint8_t)((i * 2654435761u) >> 13);
	return 0;
}

enum placement { AT_THE_FRONT, A_BYTE_LATER, AT_THE_END, NUM_PLACEMENTS };

static uint8_t *place(const struct arena *arena, uint64_t size, enum placement placement)
{
	return placement == AT_THE_END ? arena->bytes + ARENA_BYTES - size :
					 arena->bytes + (placement == A_BYTE_LATER);
}

/* Two loops over two operands: strides in elements, which are placed so that none is below 0. */
struct shape {
	int64_t dst_strides[2];
	int64_t src_strides[2];
};

typedef struct shape make_shape(int64_t n, int64_t m);

/* An operand of a job of n x m points, as it lies in memory. */
struct extent {
	uint64_t size;
	int64_t offset;
};

static struct extent extent_of(const int64_t *strides, int64_t n, int64_t m, int64_t size)
{
	const int64_t counts[2] = { n, m };
	struct extent extent = { .size = (uint64_t)size };

	if (!n || !m)
		return (struct extent){ 0 };
	for (int d = 0; d < 2; d++) {
		int64_t reach = strides[d] * (counts[d] - 1) * size;

		extent.size += (uint64_t)(reach < 0 ? -reach : reach);
		extent.offset -= reach < 0 ? reach : 0;
	}
	return extent;
}

/* One job and where its operands are. */
struct trial {
	int64_t extents[2];
	struct shape shape;
	uint32_t dtypes[2];
	struct extent extent[2];
	uint8_t *bases[2];
	struct engine_job job;
};

static void prepare(struct trial *trial, make_shape *shape, int64_t n, int64_t m, uint64_t turn)
{
	const enum placement placements[2] = { turn % 3, turn / 3 % 3 };
	struct engine_job *job = &trial->job;

	trial->extents[0] = n;
	trial->extents[1] = m;
	trial->shape = shape(n, m);
	job->rank = 2;
	for (int k = DST; k <= SRC; k++) {
		const int64_t *strides = k ? trial->shape.src_strides : trial->shape.dst_strides;
		const int64_t size = engine_dtype_size(trial->dtypes[k]);
		struct drm_tessera_affine *address = &job->operands[k].spec.address;

		trial->extent[k] = extent_of(strides, n, m, size);
		trial->bases[k] = place(&arenas[k], trial->extent[k].size, placements[k]);
		set_buffer(job, (uint32_t)k, trial->bases[k], trial->extent[k].size);
		job->operands[k].spec.dtype = trial->dtypes[k];
		address->offset = trial->extent[k].offset;
		for (int d = 0; d < 2; d++) {
			address->strides[d] = strides[d] * size;
			job->extents[d] = (uint64_t)trial->extents[d];
		}
	}
}

/* Fills in what is expected, an element at a time. */
typedef void expect_function(const struct trial *trial, uint8_t *dst, const uint8_t *src);

#define FOR_EACH_POINT(trial, ...)								\
	for (int64_t j_ = 0; j_ < (trial)->extents[0]; j_++)					\
		for (int64_t i_ = 0; i_ < (trial)->extents[1]; i_++) {				\
			int64_t to = j_ * (trial)->shape.dst_strides[0] +			\
				     i_ * (trial)->shape.dst_strides[1];			\
			int64_t from = j_ * (trial)->shape.src_strides[0] +			\
				       i_ * (trial)->shape.src_strides[1];			\
												\
			__VA_ARGS__;								\
		}

#define DEFINE_EXPECT_MOVE(size)								\
static void expect_move_##size(const struct trial *trial, uint8_t *dst, const uint8_t *src)	\
{												\
	FOR_EACH_POINT(trial, memcpy(dst + to * (size), src + from * (size), size))		\
}

DEFINE_EXPECT_MOVE(1)
DEFINE_EXPECT_MOVE(2)
DEFINE_EXPECT_MOVE(4)
DEFINE_EXPECT_MOVE(8)
DEFINE_EXPECT_MOVE(16)

/* Runs the job and compares all of the destination, with what lies between its elements. */
static void check(struct trial *trial, const char *isa)
{
	const uint64_t size = trial->extent[DST].size;
	struct engine_fault fault = { .text = "" };

	memset(trial->bases[DST], UNTOUCHED, size);
	if (try_job(&trial->job, NULL, &fault))
		fail_msg("%s, %" PRId64 " x %" PRId64 ": %s", isa, trial->extents[0],
			 trial->extents[1], fault.text);
	if (memcmp(trial->bases[DST], arenas[EXPECTED].bytes, size))
		fail_msg("%s, %" PRId64 " x %" PRId64 " of %s to %s: wrong bytes", isa,
			 trial->extents[0], trial->extents[1],
			 engine_dtype_name(trial->dtypes[SRC]),
			 engine_dtype_name(trial->dtypes[DST]));
}

static void check_on_every_isa(struct trial *trial, expect_function *expect)
{
	const struct engine_isa *isa;

	memset(arenas[EXPECTED].bytes, UNTOUCHED, trial->extent[DST].size);
	expect(trial, arenas[EXPECTED].bytes + trial->extent[DST].offset,
	       trial->bases[SRC] + trial->extent[SRC].offset);
	for (uint32_t k = 0; (isa = engine_isa_at(k)); k++) {
		if (!isa->is_available())
			continue;
		setenv(ENGINE_ISA_VARIABLE, isa->name, 1);
		check(trial, isa->name);
	}
}

/* All sizes. The trial has its types, and its program if any. */
static void check_sizes(struct trial *trial, make_shape *shape, expect_function *expect)
{
	trial->job.num_operands = 2;
	for (int64_t n = 0; n <= MAX_EXTENT; n++) {
		for (int64_t m = 0; m <= MAX_EXTENT; m++) {
			prepare(trial, shape, n, m, (uint64_t)(n + 4 * m));
			check_on_every_isa(trial, expect);
		}
	}
	unsetenv(ENGINE_ISA_VARIABLE);
}

/* Moves of every element size. */
static void check_moves(make_shape *shape)
{
	static const struct {
		uint32_t dtype;
		expect_function *expect;
	} sizes[] = {
		{ DRM_TESSERA_DTYPE_RAW8, expect_move_1 },
		{ DRM_TESSERA_DTYPE_RAW16, expect_move_2 },
		{ DRM_TESSERA_DTYPE_RAW32, expect_move_4 },
		{ DRM_TESSERA_DTYPE_RAW64, expect_move_8 },
		{ DRM_TESSERA_DTYPE_RAW128, expect_move_16 },
	};

	for (size_t s = 0; s < COUNT(sizes); s++) {
		static struct trial trial;

		trial = (struct trial){ .dtypes = { sizes[s].dtype, sizes[s].dtype } };
		check_sizes(&trial, shape, sizes[s].expect);
	}
}

static struct shape runs(int64_t n, int64_t m)
{
	(void)n;
	return (struct shape){ { m + 3, 1 }, { m + 1, 1 } };
}

static void runs_at_every_size(void **state)
{
	(void)state;
	check_moves(runs);
}

static struct shape runs_backward(int64_t n, int64_t m)
{
	(void)n;
	return (struct shape){ { m, 1 }, { -m - 2, 1 } };
}

static void runs_in_backward_order_at_every_size(void **state)
{
	(void)state;
	check_moves(runs_backward);
}

static struct shape fills(int64_t n, int64_t m)
{
	(void)n;
	return (struct shape){ { m + 1, 1 }, { 1, 0 } };
}

static void broadcasts_at_every_size(void **state)
{
	(void)state;
	check_moves(fills);
}

static struct shape repeated_rows(int64_t n, int64_t m)
{
	(void)n;
	return (struct shape){ { m, 1 }, { 0, 1 } };
}

static void repeated_rows_at_every_size(void **state)
{
	(void)state;
	check_moves(repeated_rows);
}

static struct shape every_third(int64_t n, int64_t m)
{
	(void)n;
	return (struct shape){ { m, 1 }, { 3 * m, 3 } };
}

static void strided_sources_at_every_size(void **state)
{
	(void)state;
	check_moves(every_third);
}

static struct shape reversed(int64_t n, int64_t m)
{
	(void)n;
	return (struct shape){ { m + 1, 1 }, { m + 2, -1 } };
}

static void reversed_sources_at_every_size(void **state)
{
	(void)state;
	check_moves(reversed);
}

static struct shape to_every_second(int64_t n, int64_t m)
{
	(void)n;
	return (struct shape){ { 2 * m + 1, 2 }, { m, 1 } };
}

static void strided_destinations_at_every_size(void **state)
{
	(void)state;
	check_moves(to_every_second);
}

/* With few columns or rows these interleave, or take apart. */
static struct shape transposed(int64_t n, int64_t m)
{
	return (struct shape){ { m, 1 }, { 1, n } };
}

static void transposes_at_every_size(void **state)
{
	(void)state;
	check_moves(transposed);
}

static struct shape transposed_with_gaps(int64_t n, int64_t m)
{
	return (struct shape){ { m + 5, 1 }, { 1, n + 3 } };
}

static void transposes_with_gaps_at_every_size(void **state)
{
	(void)state;
	check_moves(transposed_with_gaps);
}

static struct shape transposed_backward(int64_t n, int64_t m)
{
	return (struct shape){ { m, 1 }, { -1, -n } };
}

static void transposes_of_reversed_sources_at_every_size(void **state)
{
	(void)state;
	check_moves(transposed_backward);
}

/* Casts: the values are whole, so that what is expected needs no rounding. */
#define DEFINE_EXPECT_CAST(name, result, source, ...)						\
static void expect_##name(const struct trial *trial, uint8_t *dst, const uint8_t *src)		\
{												\
	FOR_EACH_POINT(trial, {									\
		source value;									\
		result converted;								\
												\
		memcpy(&value, src + from * (int64_t)sizeof(value), sizeof(value));		\
		converted = (result)(__VA_ARGS__);						\
		memcpy(dst + to * (int64_t)sizeof(converted), &converted, sizeof(converted));	\
	})											\
}

DEFINE_EXPECT_CAST(u8_to_f32, float, uint8_t, value)
DEFINE_EXPECT_CAST(i32_to_u8, uint8_t, int32_t, value < 0 ? 0 : value > 255 ? 255 : value)
DEFINE_EXPECT_CAST(i16_to_i32, int32_t, int16_t, value)
DEFINE_EXPECT_CAST(i32_to_f32, float, int32_t, value)
/* the upper half of what f32 is */
DEFINE_EXPECT_CAST(u8_to_bf16, uint16_t, uint8_t, ({
	float wide = value;
	uint32_t bits;

	memcpy(&bits, &wide, sizeof(bits));
	bits >> 16;
}))
DEFINE_EXPECT_CAST(u8_to_f64, double, uint8_t, value)

static void check_cast(uint32_t to, uint32_t from, uint8_t flags, expect_function *expect)
{
	make_shape *const shapes[] = { runs, transposed, transposed_with_gaps, every_third };
	static struct trial trial;

	for (size_t s = 0; s < COUNT(shapes); s++) {
		trial = (struct trial){ .dtypes = { to, from } };
		add_instruction(&trial.job, DRM_TESSERA_OP_CAST, to)->flags = flags;
		check_sizes(&trial, shapes[s], expect);
	}
}

static void casts_to_wider_types_at_every_size(void **state)
{
	(void)state;
	check_cast(DRM_TESSERA_DTYPE_F32, DRM_TESSERA_DTYPE_U8, 0, expect_u8_to_f32);
	check_cast(DRM_TESSERA_DTYPE_I32, DRM_TESSERA_DTYPE_I16, 0, expect_i16_to_i32);
	check_cast(DRM_TESSERA_DTYPE_BF16, DRM_TESSERA_DTYPE_U8, 0, expect_u8_to_bf16);
}

static void casts_in_two_steps_at_every_size(void **state)
{
	(void)state;
	check_cast(DRM_TESSERA_DTYPE_F64, DRM_TESSERA_DTYPE_U8, 0, expect_u8_to_f64);
}

static void casts_to_narrower_types_at_every_size(void **state)
{
	(void)state;
	check_cast(DRM_TESSERA_DTYPE_U8, DRM_TESSERA_DTYPE_I32, DRM_TESSERA_INSTRUCTION_SATURATE,
		   expect_i32_to_u8);
}

static void casts_between_types_of_one_size_at_every_size(void **state)
{
	(void)state;
	check_cast(DRM_TESSERA_DTYPE_F32, DRM_TESSERA_DTYPE_I32, 0, expect_i32_to_f32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_at_every_size),
		cmocka_unit_test(runs_in_backward_order_at_every_size),
		cmocka_unit_test(broadcasts_at_every_size),
		cmocka_unit_test(repeated_rows_at_every_size),
		cmocka_unit_test(strided_sources_at_every_size),
		cmocka_unit_test(reversed_sources_at_every_size),
		cmocka_unit_test(strided_destinations_at_every_size),
		cmocka_unit_test(transposes_at_every_size),
		cmocka_unit_test(transposes_with_gaps_at_every_size),
		cmocka_unit_test(transposes_of_reversed_sources_at_every_size),
		cmocka_unit_test(casts_to_wider_types_at_every_size),
		cmocka_unit_test(casts_in_two_steps_at_every_size),
		cmocka_unit_test(casts_to_narrower_types_at_every_size),
		cmocka_unit_test(casts_between_types_of_one_size_at_every_size),
	};

	return cmocka_run_group_tests(tests, make_arenas, NULL);
}
