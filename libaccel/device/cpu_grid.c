// SPDX-License-Identifier: MIT
/*
 * The grid that the CPU stands for: how many processing elements, in which rows, with how much
 * on-chip memory each, as the name that it is opened by says.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/cpu_grid.h"
#include "error.h"

/* As a Tessera of QEMU has them, where nothing else is said. */
#define DEFAULT_PES		4
#define DEFAULT_SRAM_SIZE	(1 << 20)
#define MAX_SRAM_SIZE		(256 << 20)

struct setting {
	const char *name;
	uint64_t minimum;
	uint64_t maximum;
	uint64_t unit;		/* the value is a multiple of it */
};

enum { SETTING_PES, SETTING_COLUMNS, SETTING_SRAM, NUM_SETTINGS };

/* "64K": the number, with K or M behind it for 1,024 or 1,048,576 times as much; -1 if malformed */
static int64_t parse_number(const char *text, size_t length)
{
	char digits[16] = "";
	int64_t factor = 1;

	if (length && text[length - 1] == 'K')
		factor = 1 << 10;
	else if (length && text[length - 1] == 'M')
		factor = 1 << 20;
	length -= factor > 1;
	if (!length || length > 9)
		return -1;
	memcpy(digits, text, length);
	if (strspn(digits, "0123456789") != length)
		return -1;
	return strtoll(digits, NULL, 10) * factor;
}

/* "pes=16" of length characters */
static int parse_setting(const char *text, size_t length, const struct setting *settings,
			 uint64_t *values, struct accel_error *error)
{
	for (int k = 0; k < NUM_SETTINGS; k++) {
		const struct setting *setting = &settings[k];
		size_t name = strlen(setting->name);
		int64_t number;

		if (length <= name || memcmp(text, setting->name, name) || text[name] != '=')
			continue;
		number = parse_number(text + name + 1, length - name - 1);
		if (number < 0 || (uint64_t)number < setting->minimum ||
		    (uint64_t)number > setting->maximum || (uint64_t)number % setting->unit)
			return accel_error_set(error, -EINVAL,
					       "device cpu: %.*s, expected a multiple of %" PRIu64
					       " from %" PRIu64 " to %" PRIu64,
					       (int)length, text, setting->unit, setting->minimum,
					       setting->maximum);
		values[k] = (uint64_t)number;
		return 0;
	}
	return accel_error_set(error, -EINVAL,
			       "device cpu: \"%.*s\", expected pes=, columns= or sram=",
			       (int)length, text);
}

/* As the device has them: the fewest that divide, and are at least as many as there are rows. */
static uint32_t default_columns(uint32_t num_pes)
{
	uint32_t columns = 1;

	while (columns * columns < num_pes || num_pes % columns)
		columns++;
	return columns;
}

int cpu_grid_parse(const char *text, struct cpu_grid *grid, struct accel_error *error)
{
	const struct setting settings[NUM_SETTINGS] = {
		[SETTING_PES] = { "pes", 1, ACCEL_MAX_PES, 1 },
		[SETTING_COLUMNS] = { "columns", 1, ACCEL_MAX_PES, 1 },
		[SETTING_SRAM] = { "sram", 0, MAX_SRAM_SIZE, (uint64_t)sysconf(_SC_PAGESIZE) },
	};
	uint64_t values[NUM_SETTINGS] = { DEFAULT_PES, 0, DEFAULT_SRAM_SIZE };

	while (*text) {
		size_t length = strcspn(text, ",");
		int ret = parse_setting(text, length, settings, values, error);

		if (ret)
			return ret;
		text += length;
		text += *text == ',';
	}
	if (values[SETTING_COLUMNS] && values[SETTING_PES] % values[SETTING_COLUMNS])
		return accel_error_set(error, -EINVAL,
				       "device cpu: columns=%" PRIu64 ", expected to divide pes=%"
				       PRIu64, values[SETTING_COLUMNS], values[SETTING_PES]);
	grid->num_pes = (uint32_t)values[SETTING_PES];
	grid->columns = values[SETTING_COLUMNS] ? (uint32_t)values[SETTING_COLUMNS] :
						  default_columns(grid->num_pes);
	grid->sram_size = values[SETTING_SRAM];
	return 0;
}
