// SPDX-License-Identifier: MIT
/*
 * Portable kernels of copies: vectors of 16 bytes, as every 64-bit CPU has them and the compiler
 * knows. Their contract is in kernels.h, their rows in copy_rows.h.
 */
#include "kernels.h"

#define VECTOR_BYTES	16
#define TARGET
#define TABLE		engine_copy_portable
/* Streaming stores are no part of the language: they are ordinary ones, and nothing is to end. */
#define stream_vector(to, v)	(*(vector *)(to) = (v))
#define end_stores()

#include "copy_rows.h"
#include "copy_table.h"
