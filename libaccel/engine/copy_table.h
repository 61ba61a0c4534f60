/* SPDX-License-Identifier: MIT */
/*
 * The table of an instruction set's kernels of copies. Its file includes copy_rows.h before this,
 * has defined what that needs, and
 *
 *	TABLE			the name of the table
 *	end_stores()		what makes streaming stores seen by others
 *	DEFINE_STRIDED(size)	copy_strided_##size(), where it has better than an element at a time
 *	STREAM_BORDERED		its kernel of rows with borders, where it has one, and
 *	BORDERED_FAR_BYTES	how long rows are to be for it that lie apart in the source
 */
#ifndef DEFINE_STRIDED
#define DEFINE_STRIDED(size)									\
static TARGET void copy_strided_##size(uint8_t *dst, const uint8_t *src,			\
				       const struct engine_tile *tile)				\
{												\
	copy_elements_##size(dst, src, tile);							\
}
#endif

#ifndef STREAM_BORDERED
#define STREAM_BORDERED		NULL
#define BORDERED_FAR_BYTES	0
#endif

DEFINE_STRIDED(1)
DEFINE_STRIDED(2)
DEFINE_STRIDED(4)
DEFINE_STRIDED(8)
DEFINE_STRIDED(16)
DEFINE_STRIDED(32)
DEFINE_STRIDED(64)

static void end_streams(void)
{
	end_stores();
}

const struct engine_copy_kernels TABLE = {
	.run = FOR_EACH_SIZE(copy_run),
	.stream_run = FOR_EACH_SIZE(stream_run),
	.broadcast = FOR_EACH_SIZE(copy_broadcast),
	.stream_broadcast = FOR_EACH_SIZE(stream_broadcast),
	.strided = FOR_EACH_SIZE(copy_strided),
	.pairs = FOR_EACH_SIZE(copy_pairs),
	.runs = copy_runs,
	.stream_bordered = STREAM_BORDERED,
	.bordered_far_bytes = BORDERED_FAR_BYTES,
	.end_streams = end_streams,
};
