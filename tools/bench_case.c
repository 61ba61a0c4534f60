// SPDX-License-Identifier: MIT
/*
 * The cases of accel bench: loop nests with the strides of their sources. Destinations are dense
 * in the order of the loops. What is measured of a case, and how, is not known here.
 */
#include <math.h>
#include <string.h>

#include "bench.h"

/* Programs --------------------------------------------------------------------------------- */

#define QUANTIZE_SCALE		0x1p-5f
#define QUANTIZE_ZERO_POINT	128.0f

static const struct accel_instruction quantize_instructions[] = {
	{ .opcode = ACCEL_OP_CONST, .dtype = ACCEL_DTYPE_F32, .dst = 1,
	  .immediate = 0x42000000 /* 1 / QUANTIZE_SCALE */ },
	{ .opcode = ACCEL_OP_MUL, .dtype = ACCEL_DTYPE_F32, .dst = 0, .src = { 0, 1 } },
	{ .opcode = ACCEL_OP_CONST, .dtype = ACCEL_DTYPE_F32, .dst = 1,
	  .immediate = 0x43000000 /* QUANTIZE_ZERO_POINT */ },
	{ .opcode = ACCEL_OP_ADD, .dtype = ACCEL_DTYPE_F32, .dst = 0, .src = { 0, 1 } },
	{ .opcode = ACCEL_OP_CAST, .dtype = ACCEL_DTYPE_U8, .dst = 0, .src = { 0 },
	  .flags = ACCEL_INSTRUCTION_SATURATE },
};

static void expect_quantized(const void *source, uint32_t channel, void *destination)
{
	/* two roundings, as in the program: a compiler may not make one of what is volatile */
	volatile float scaled;
	float value, rounded;
	uint8_t result;

	(void)channel;
	memcpy(&value, source, sizeof(value));
	scaled = value / QUANTIZE_SCALE;
	rounded = rintf(scaled + QUANTIZE_ZERO_POINT);
	result = rounded <= 0 ? 0 : rounded >= 255 ? 255 : (uint8_t)rounded;
	memcpy(destination, &result, sizeof(result));
}

static const struct bench_program quantize = {
	.num_instructions = sizeof(quantize_instructions) / sizeof(quantize_instructions[0]),
	.instructions = quantize_instructions,
	.expect = expect_quantized,
	.tolerance = 1,
};

/* Those of ImageNet, in units of 1/255. */
static const float means[BENCH_NUM_CHANNELS] = { 123.675f, 116.28f, 103.53f };
static const float inverse_deviations[BENCH_NUM_CHANNELS] = { 0.0171248f, 0.0175070f, 0.0174292f };

static const struct accel_instruction normalize_instructions[] = {
	{ .opcode = ACCEL_OP_CAST, .dtype = ACCEL_DTYPE_F32, .dst = 0, .src = { 0 } },
	{ .opcode = ACCEL_OP_SUB, .dtype = ACCEL_DTYPE_F32, .dst = 0, .src = { 0, 1 } },
	{ .opcode = ACCEL_OP_MUL, .dtype = ACCEL_DTYPE_F32, .dst = 0, .src = { 0, 2 } },
};

static void expect_normalized(const void *source, uint32_t channel, void *destination)
{
	uint8_t value;
	float result;

	memcpy(&value, source, sizeof(value));
	result = ((float)value - means[channel]) * inverse_deviations[channel];
	memcpy(destination, &result, sizeof(result));
}

static const struct bench_program normalize = {
	.num_instructions = sizeof(normalize_instructions) / sizeof(normalize_instructions[0]),
	.instructions = normalize_instructions,
	.num_parameters = 2,
	.parameter_loop = 1,
	.parameters = { means, inverse_deviations },
	.expect = expect_normalized,
	.tolerance = 1e-5,
};

/* Cases ------------------------------------------------------------------------------------ */

#define SAME(type)	.source_dtype = (type), .destination_dtype = (type)

static const struct bench_case cases[] = {
	{
		.letter = "a", .name = "nchw-nhwc-f32-small", .floor = 0.60,
		.what = "NCHW -> NHWC f32 (1,64,56,56), in cache",
		SAME(ACCEL_DTYPE_F32), .source_elements = 64 * 3136,
		.loops = { { 56, 56 }, { 56, 1 }, { 64, 3136 } },
	}, {
		.letter = "b", .name = "nchw-nhwc-f32", .floor = 0.72,
		.what = "NCHW -> NHWC f32 (32,64,112,112)",
		SAME(ACCEL_DTYPE_F32), .source_elements = 32 * 802816,
		.loops = { { 32, 802816 }, { 112, 112 }, { 112, 1 }, { 64, 12544 } },
	}, {
		.letter = "c", .name = "nhwc-nchw16c-f32", .floor = 0.75,
		.what = "NHWC -> NCHW16c f32 (32,64,112,112)",
		SAME(ACCEL_DTYPE_F32), .source_elements = 32 * 802816,
		.loops = { { 32, 802816 }, { 4, 16 }, { 112, 7168 }, { 112, 64 }, { 16, 1 } },
	}, {
		.letter = "d", .name = "transpose-f32", .floor = 0.60,
		.what = "transpose f32 4096 x 4096",
		SAME(ACCEL_DTYPE_F32), .source_elements = 4096 * 4096,
		.loops = { { 4096, 1 }, { 4096, 4096 } },
	}, {
		.letter = "e", .name = "hwc-chw-u8", .floor = 0.50,
		.what = "HWC -> CHW u8 (8,16,128,128,3)",
		SAME(ACCEL_DTYPE_U8), .source_elements = 8 * 16 * 49152,
		.loops = { { 8, 16 * 49152 }, { 16, 49152 }, { 3, 1 }, { 128, 384 }, { 128, 3 } },
	}, {
		.letter = "f", .name = "sticks-f16", .floor = 0.70,
		.what = "f16 (64,1000,1500) -> sticks [1000,24,64,64], padded",
		SAME(ACCEL_DTYPE_F16), .source_elements = 64 * 1000 * 1500,
		.loops = { { 1000, 1500 }, { 24, 64 }, { 64, 1500000 }, { 64, 1 } },
		.windows = { { .coefficients = { 0, 64, 0, 1 }, .limit = 1500 } },
	}, {
		.letter = "g1", .name = "transpose-u8", .floor = 0.45,
		.what = "transpose u8 8192 x 8192",
		SAME(ACCEL_DTYPE_U8), .source_elements = 8192 * 8192,
		.loops = { { 8192, 1 }, { 8192, 8192 } },
	}, {
		.letter = "g2", .name = "transpose-u16", .floor = 0.45,
		.what = "transpose u16 8192 x 8192",
		SAME(ACCEL_DTYPE_U16), .source_elements = 8192 * 8192,
		.loops = { { 8192, 1 }, { 8192, 8192 } },
	}, {
		.letter = "g3", .name = "transpose-f64", .floor = 0.45,
		.what = "transpose f64 4096 x 4096",
		SAME(ACCEL_DTYPE_F64), .source_elements = 4096 * 4096,
		.loops = { { 4096, 1 }, { 4096, 4096 } },
	}, {
		.letter = "h1", .name = "nhwc-nchw4c-f32", .floor = 0.70,
		.what = "NHWC -> NCHW4c f32 (16,64,64,128)",
		SAME(ACCEL_DTYPE_F32), .source_elements = 16 * 524288,
		.loops = { { 16, 524288 }, { 32, 4 }, { 64, 8192 }, { 64, 128 }, { 4, 1 } },
	}, {
		.letter = "h2", .name = "nchw4c-nhwc-f32", .floor = 0.70,
		.what = "NCHW4c -> NHWC f32 (16,64,64,128)",
		SAME(ACCEL_DTYPE_F32), .source_elements = 16 * 524288,
		.loops = { { 16, 524288 }, { 64, 256 }, { 64, 4 }, { 32, 16384 }, { 4, 1 } },
	}, {
		.letter = "i1", .name = "im2col-planes-f32", .floor = 0.60, .is_by_writes = true,
		.what = "im2col 3x3 pad 1, f32 (8,64,56,56) -> (N, C*3*3, H*W)",
		SAME(ACCEL_DTYPE_F32), .source_elements = 8 * 200704, .source_offset = -57,
		.loops = { { 8, 200704 }, { 64, 3136 }, { 3, 56 }, { 3, 1 }, { 56, 56 },
			   { 56, 1 } },
		.windows = {
			{ .bias = -1, .coefficients = { 0, 0, 1, 0, 1, 0 }, .limit = 56 },
			{ .bias = -1, .coefficients = { 0, 0, 0, 1, 0, 1 }, .limit = 56 },
		},
	}, {
		.letter = "i2", .name = "im2col-rows-f32", .floor = 0.60, .is_by_writes = true,
		.what = "im2col 3x3 pad 1, f32 (8,64,56,56) -> (N*H*W, C*3*3)",
		SAME(ACCEL_DTYPE_F32), .source_elements = 8 * 200704, .source_offset = -57,
		.loops = { { 8, 200704 }, { 56, 56 }, { 56, 1 }, { 64, 3136 }, { 3, 56 },
			   { 3, 1 } },
		.windows = {
			{ .bias = -1, .coefficients = { 0, 1, 0, 0, 1, 0 }, .limit = 56 },
			{ .bias = -1, .coefficients = { 0, 0, 1, 0, 0, 1 }, .limit = 56 },
		},
	}, {
		.letter = "j", .name = "slice-f32", .floor = 0.60,
		.what = "slice [:, ::2, 3:-5] of f32 (512,512,512)",
		SAME(ACCEL_DTYPE_F32), .source_elements = 512 * 262144, .source_offset = 3,
		.loops = { { 512, 262144 }, { 256, 1024 }, { 504, 1 } },
	}, {
		.letter = "k", .name = "gather-rows", .floor = 0.50,
		.what = "gather of 1M rows of 256 B",
		SAME(ACCEL_DTYPE_F32), .source_elements = (uint64_t)64 << 20,
		.loops = { { 1 << 20, 64 }, { 64, 1 } },
		.num_rows = 1 << 20,
	}, {
		.letter = "l1", .name = "quantize-u8", .floor = 0.50,
		.what = "NCHW f32 -> NHWC u8 (32,3,224,224), quantized",
		.source_dtype = ACCEL_DTYPE_F32, .destination_dtype = ACCEL_DTYPE_U8,
		.source_elements = 32 * 150528,
		.loops = { { 32, 150528 }, { 224, 224 }, { 224, 1 }, { 3, 50176 } },
		.program = &quantize,
	}, {
		.letter = "l2", .name = "normalize-f32", .floor = 0.50,
		.what = "NHWC u8 -> NCHW f32 (32,3,224,224), normalized",
		.source_dtype = ACCEL_DTYPE_U8, .destination_dtype = ACCEL_DTYPE_F32,
		.source_elements = 32 * 150528,
		.loops = { { 32, 150528 }, { 3, 1 }, { 224, 672 }, { 224, 3 } },
		.program = &normalize,
	}, {
		.letter = "m", .name = "permute6-f32", .floor = 0.60,
		.what = "permutation (5,0,3,1,4,2) of f32 (16,24,16,20,16,24)",
		SAME(ACCEL_DTYPE_F32), .source_elements = 47185920,
		.loops = { { 24, 1 }, { 16, 2949120 }, { 20, 384 }, { 24, 122880 }, { 16, 24 },
			   { 16, 7680 } },
	}, {
		.letter = "n1", .name = "copy-in-order", .pages = BENCH_PAGES_IN_ORDER,
		.what = "copy of 64 MiB, pages in order",
		SAME(ACCEL_DTYPE_F32), .source_elements = 16 << 20,
		.loops = { { 16 << 20, 1 } },
	}, {
		.letter = "n2", .name = "copy-scattered", .pages = BENCH_PAGES_SCATTERED,
		.what = "copy of 64 MiB, pages scattered",
		SAME(ACCEL_DTYPE_F32), .source_elements = 16 << 20,
		.loops = { { 16 << 20, 1 } },
	}, {
		.letter = "n3", .name = "transpose-in-order", .pages = BENCH_PAGES_IN_ORDER,
		.what = "transpose f32 4096 x 4096, pages in order",
		SAME(ACCEL_DTYPE_F32), .source_elements = 4096 * 4096,
		.loops = { { 4096, 1 }, { 4096, 4096 } },
	}, {
		.letter = "n4", .name = "transpose-scattered", .pages = BENCH_PAGES_SCATTERED,
		.what = "transpose f32 4096 x 4096, pages scattered",
		SAME(ACCEL_DTYPE_F32), .source_elements = 4096 * 4096,
		.loops = { { 4096, 1 }, { 4096, 4096 } },
	},
};

const struct bench_case *bench_case(size_t k)
{
	return k < sizeof(cases) / sizeof(cases[0]) ? &cases[k] : NULL;
}

bool bench_is_named(const char *letter, const char *name, const char *given)
{
	return !strcmp(letter, given) || !strcmp(name, given) ||
	       (strlen(given) == 1 && letter[0] == given[0]);
}

uint32_t bench_case_rank(const struct bench_case *bench)
{
	uint32_t rank = 0;

	while (bench->loops[rank].extent)
		rank++;
	return rank;
}

uint64_t bench_case_points(const struct bench_case *bench)
{
	uint64_t points = 1;

	for (const struct bench_loop *loop = bench->loops; loop->extent; loop++)
		points *= loop->extent;
	return points;
}

uint64_t bench_case_bytes(const struct bench_case *bench)
{
	uint64_t points = bench_case_points(bench);
	uint64_t read = points < bench->source_elements ? points : bench->source_elements;
	uint64_t written_bytes = points * accel_dtype_size(bench->destination_dtype);

	if (bench->is_by_writes)
		return written_bytes;
	return written_bytes + read * accel_dtype_size(bench->source_dtype) +
	       bench->num_rows * sizeof(int64_t);
}

int64_t bench_case_row(const struct bench_case *bench, uint64_t k)
{
	/* the finalizer of MurmurHash3: neighbours become unrelated */
	k *= 0xff51afd7ed558ccd;
	k ^= k >> 33;
	k *= 0xc4ceb9fe1a85ec53;
	k ^= k >> 33;
	return (int64_t)(k % bench->num_rows);
}
