/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the rules for layout jobs use of the kernel's headers, for tests and fuzzing in userspace.
 */
#ifndef _TESSERA_USERSPACE_H_
#define _TESSERA_USERSPACE_H_

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <linux/types.h>

/* The kernel's build checks formats */
#define __printf(...)
#define ARRAY_SIZE(a)			(sizeof(a) / sizeof((a)[0]))
#define BIT(n)				(1UL << (n))
#define min(a, b)	({ __typeof__(a) _a = (a), _b = (b); _a < _b ? _a : _b; })
#define max(a, b)	({ __typeof__(a) _a = (a), _b = (b); _a > _b ? _a : _b; })
#define S64_MAX				INT64_MAX
#define S64_MIN				INT64_MIN
#define U64_MAX				UINT64_MAX
#define check_add_overflow(a, b, d)	__builtin_add_overflow(a, b, d)
#define check_sub_overflow(a, b, d)	__builtin_sub_overflow(a, b, d)
#define check_mul_overflow(a, b, d)	__builtin_mul_overflow(a, b, d)

typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

#endif /* _TESSERA_USERSPACE_H_ */
