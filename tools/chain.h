/* SPDX-License-Identifier: MIT */
/*
 * What accel run and accel plan are asked for: inputs, the steps in the order in which they were
 * written, and the output. The options are read here and made into a function.
 */
#ifndef TOOLS_CHAIN_H
#define TOOLS_CHAIN_H

#include <stdbool.h>

#include "command.h"
#include "tensor/npy.h"

#define CHAIN_MAX_INPUTS	ACCEL_MAX_SOURCES	/* --in to --in4 */
#define CHAIN_MAX_STEPS		32

enum chain_step_kind {
	CHAIN_MAP,
	CHAIN_SLICE,
	CHAIN_IM2COL,
	CHAIN_GATHER,
	CHAIN_CAST,
	CHAIN_COMPUTE,
	CHAIN_NUM_KINDS,
};

struct chain_step {
	enum chain_step_kind kind;
	const char *text;		/* the option's value */
};

/* The options as they were given. What was not given is NULL or zero. */
struct chain {
	const char *in[CHAIN_MAX_INPUTS];
	const char *out;
	const char *from;
	const char *to;
	const char *pad_value;
	const char *device;
	const char *priority;
	const char *shape;		/* in place of a file */
	const char *dtype;
	const char *unpack;		/* "" or the shape to unpack to */
	uint32_t num_steps;
	struct chain_step steps[CHAIN_MAX_STEPS];
	bool is_unfused;
	bool is_verified;
	bool is_counted;
	bool is_json;
};

/*
 * Reads the options. Returns STATUS_OK, or STATUS_USAGE after a message. Which of them must be
 * there is the command's to check.
 */
int chain_parse(const struct command *command, int argc, char **argv, struct chain *chain);

/* A file that the chain reads, or with --shape what stands in place of it. */
struct chain_input {
	const char *path;		/* NULL: none */
	int fd;				/* -1: none */
	struct npy_header header;
	char name[ACCEL_NAME_MAX + 1];	/* in the function */
};

#define CHAIN_MAX_FILES		(CHAIN_MAX_INPUTS + CHAIN_MAX_STEPS)

/* The function that the options ask for, and what it is made of. */
struct chain_function {
	struct accel_function *function;
	uint32_t num_inputs;		/* in the order of the function's inputs */
	struct chain_input inputs[CHAIN_MAX_FILES];
	char output[ACCEL_NAME_MAX + 1];
	enum accel_dtype dtype;		/* of the output, which is row-major */
	uint32_t rank;
	int64_t shape[ACCEL_MAX_DIMS];
	/* the text that an error's column is in, or NULL */
	const char *text_at_fault;
};

/*
 * Rows of the result, which lie one behind another: count of an axis, from index[axis] on, at one
 * index of each axis before it.
 */
struct chain_rows {
	uint32_t axis;
	int64_t index[ACCEL_MAX_DIMS];
	int64_t count;
};

/*
 * Opens the files, unless they are open, and builds the function anew; with rows it ends with the
 * slice of these. On failure error has a message, and there is still something to release.
 */
void chain_init(struct chain_function *built);
int chain_build(const struct chain *chain, const struct chain_rows *rows,
		struct chain_function *built, struct accel_error *error);
void chain_release(struct chain_function *built);

/* The options that run and plan share, for their help. */
#define CHAIN_USAGE								\
	"  --in PATH        the input, a .npy file\n"				\
	"  --in2, --in3, --in4 PATH  further inputs, for --compute\n"		\
	"  --from LAYOUT    the layout of the input: NHWC, NCHW16c, stick, ...; without it\n" \
	"                   the input is row-major in its own shape\n"		\
	"  --to LAYOUT      the layout of the output, over the same axes\n"	\
	"  --map MAP        moves each element: '(n,c,h,w) -> (n,c//4,h,w,c%4)'\n"	\
	"  --unpack[=SHAPE] undoes --from, or the maps, and drops their padding; SHAPE is\n" \
	"                   the shape before, where the input's leaves a choice\n"	\
	"  --pad-value V    what padding is filled with, instead of 0\n"		\
	"  --slice SLICE    as in Python: '0:5, ::2, ..., -1'\n"			\
	"  --im2col 'kernel=3,3;stride=1,1;pad=1,1;dilation=1,1;layout=NCHW'\n"	\
	"                   the matrix (N*Ho*Wo, C*Kh*Kw) of windows\n"		\
	"  --gather 'axis=0;index=I.npy'  picks slices by their numbers\n"		\
	"  --cast TYPE      to u8, i8, f16, bf16, f32, ...; integers round and saturate\n" \
	"  --compute TEXT   'y[i,j] = x[i,j] + 7'; names behind the = are the tensor so far,\n" \
	"                   then --in2 and on, in the order in which they appear\n"	\
	"  --no-fuse        a pass for each step\n"

#endif /* TOOLS_CHAIN_H */
