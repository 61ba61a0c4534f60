// SPDX-License-Identifier: MIT
/*
 * Filling in struct engine_fault. What is wrong is said by those who find it.
 */
#include <stdarg.h>
#include <stdio.h>

#include "fault.h"

int engine_fail(struct engine_fault *fault, int error, enum drm_tessera_cause cause,
		uint32_t operand, int64_t offset, const char *format, ...)
{
	va_list arguments;

	if (!fault)
		return -error;
	fault->cause = cause;
	fault->operand = operand;
	fault->offset = offset;
	va_start(arguments, format);
	vsnprintf(fault->text, sizeof(fault->text), format, arguments);
	va_end(arguments);
	return -error;
}

const char *engine_operand_name(uint32_t operand)
{
	static const char *const names[DRM_TESSERA_MAX_OPERANDS] = {
		"destination", "source 0", "source 1", "source 2", "source 3",
	};

	return names[operand];
}
