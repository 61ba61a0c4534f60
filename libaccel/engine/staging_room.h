/* SPDX-License-Identifier: MIT */
/*
 * What large transposes are cut to, and have room for when they run.
 */
#ifndef TESSERA_ENGINE_STAGING_ROOM_H
#define TESSERA_ENGINE_STAGING_ROOM_H

/* Of a block: in all, if its rows are packed, and in a row that is worth packing. */
#define BLOCK_BYTES		65536
#define PACKED_ROW_BYTES	256

/*
 * Of what is side by side in the source, by way of the staging buffer: pieces of rows, or rows that
 * are whole if they are no longer than this.
 */
#define STAGED_SRC_RUN_BYTES	1024
#define SRC_EXCESS(run_bytes)	((run_bytes) / 2)
#define STAGED_WHOLE_ROW_BYTES	(STAGED_SRC_RUN_BYTES + SRC_EXCESS(STAGED_SRC_RUN_BYTES))

/* Of a strip: in all, if it is stored at once, and rows. */
#define DIRECT_BYTES	2048
#define MAX_ROWS	256

/* Of the staging buffer. */
#define STAGED_BYTES	32768

/* Runs of which ends wait: columns of a block that are more than these drive each other out. */
#define NUM_SLOTS	1024

#endif /* TESSERA_ENGINE_STAGING_ROOM_H */
