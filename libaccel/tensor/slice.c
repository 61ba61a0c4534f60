// SPDX-License-Identifier: MIT
/*
 * Slices as Python has them: what bounds mean for an extent, and the text between the brackets.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "tensor/slice.h"

/* A slice as it is written. */
struct bounds {
	bool has_start, has_stop;
	int64_t start, stop, step;
};

/* Counts a bound below 0 from the end, and brings it to lowest .. highest. */
static int64_t clamp(int64_t bound, int64_t extent, int64_t lowest, int64_t highest)
{
	if (bound < 0)
		bound += extent;
	return bound < lowest ? lowest : bound > highest ? highest : bound;
}

static void resolve(int64_t extent, const struct bounds *bounds, struct slice_item *item)
{
	bool is_up = bounds->step > 0;
	int64_t lowest = is_up ? 0 : -1, highest = is_up ? extent : extent - 1;
	int64_t start = is_up ? 0 : extent - 1, stop = is_up ? extent : -1;
	/* without the sign, which the lowest number has no room for */
	uint64_t step = is_up ? (uint64_t)bounds->step : -(uint64_t)bounds->step;
	uint64_t distance;

	if (bounds->has_start)
		start = clamp(bounds->start, extent, lowest, highest);
	if (bounds->has_stop)
		stop = clamp(bounds->stop, extent, lowest, highest);
	*item = (struct slice_item){ .kind = SLICE_RANGE, .step = bounds->step };
	if (is_up ? start >= stop : start <= stop)
		return;
	distance = is_up ? (uint64_t)(stop - start) : (uint64_t)(start - stop);
	item->start = start;
	item->count = (int64_t)((distance - 1) / step + 1);
}

int slice_resolve(int64_t extent, int64_t start, int64_t stop, int64_t step,
		  struct slice_item *item, struct accel_error *error)
{
	struct bounds bounds = {
		.has_start = start != ACCEL_SLICE_END,
		.has_stop = stop != ACCEL_SLICE_END,
		.start = start,
		.stop = stop,
		.step = step == ACCEL_SLICE_END ? 1 : step,
	};

	if (!step)
		return accel_error_set(error, -EINVAL, "slice: step 0, expected another number");
	resolve(extent, &bounds, item);
	return 0;
}

/* Text -------------------------------------------------------------------------------------- */

struct reader {
	const char *text;
	const char *next;
	const char *item;		/* where the current one begins */
	uint32_t rank;
	const int64_t *shape;
	uint32_t axis;			/* that the next range or index is of */
	uint32_t num_after;		/* axes that the items behind the ellipsis take */
	bool has_ellipsis;
	uint32_t num_items;
	struct slice_item *items;
	struct accel_error *error;
};

static int column_of(const struct reader *reader, const char *at)
{
	return (int)(at - reader->text) + 1;
}

static int unexpected(const struct reader *reader, const char *expected)
{
	char found[16] = "the end";
	unsigned char c = (unsigned char)*reader->next;

	if (c && isprint(c))
		snprintf(found, sizeof(found), "'%c'", c);
	else if (c)
		snprintf(found, sizeof(found), "byte 0x%02x", c);
	return accel_error_set_at(reader->error, -EINVAL, column_of(reader, reader->next),
				  "slice: found %s at column %d, expected %s", found,
				  column_of(reader, reader->next), expected);
}

static void skip_blanks(struct reader *reader)
{
	while (*reader->next == ' ' || *reader->next == '\t')
		reader->next++;
}

static bool take(struct reader *reader, const char *word)
{
	size_t length = strlen(word);

	skip_blanks(reader);
	if (strncmp(reader->next, word, length))
		return false;
	reader->next += length;
	return true;
}

/* A number, if one stands next. */
static int read_number(struct reader *reader, bool *is_there, int64_t *value)
{
	const char *start;
	bool is_negative;

	skip_blanks(reader);
	start = reader->next;
	is_negative = *start == '-';
	*is_there = is_negative || *start == '+' || isdigit((unsigned char)*start);
	*value = 0;
	if (!*is_there)
		return 0;
	reader->next += !isdigit((unsigned char)*start);
	if (!isdigit((unsigned char)*reader->next))
		return unexpected(reader, "a digit");
	for (; isdigit((unsigned char)*reader->next); reader->next++) {
		int digit = *reader->next - '0';

		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, is_negative ? -digit : digit, value))
			return accel_error_set_at(reader->error, -EINVAL, column_of(reader, start),
				"slice: the number at column %d does not fit 64 bits",
				column_of(reader, start));
	}
	return 0;
}

static int append(struct reader *reader, struct slice_item item)
{
	if (reader->num_items == SLICE_MAX_ITEMS)
		return accel_error_set_at(reader->error, -EINVAL, column_of(reader, reader->item),
			"slice: more than %d items at column %d", SLICE_MAX_ITEMS,
			column_of(reader, reader->item));
	reader->items[reader->num_items++] = item;
	return 0;
}

/* The extent of the axis that the current item is of. */
static int take_axis(struct reader *reader, int64_t *extent)
{
	if (reader->axis == reader->rank)
		return accel_error_set_at(reader->error, -EINVAL, column_of(reader, reader->item),
			"slice: the item at column %d has no axis: the tensor has %u",
			column_of(reader, reader->item), reader->rank);
	*extent = reader->shape[reader->axis++];
	return 0;
}

static int append_index(struct reader *reader, int64_t index)
{
	int64_t extent;
	int ret = take_axis(reader, &extent);

	if (ret)
		return ret;
	if (index >= extent || index < -extent)
		return accel_error_set_at(reader->error, -ERANGE, column_of(reader, reader->item),
			"slice: index %" PRId64 " at column %d, expected -%" PRId64
			" or more and less than %" PRId64 " on axis %u", index,
			column_of(reader, reader->item), extent, extent, reader->axis - 1);
	return append(reader, (struct slice_item){
		.kind = SLICE_INDEX,
		.start = index < 0 ? index + extent : index,
		.step = 1,
		.count = 1,
	});
}

/* What follows the first colon. */
static int append_range(struct reader *reader, struct bounds *bounds)
{
	struct slice_item item;
	int64_t extent;
	bool has_step = false;
	int ret;

	ret = read_number(reader, &bounds->has_stop, &bounds->stop);
	if (!ret && take(reader, ":"))
		ret = read_number(reader, &has_step, &bounds->step);
	if (!ret)
		ret = take_axis(reader, &extent);
	if (ret)
		return ret;
	if (!has_step)
		bounds->step = 1;
	if (!bounds->step)
		return accel_error_set_at(reader->error, -EINVAL, column_of(reader, reader->item),
			"slice: step 0 at column %d, expected another number",
			column_of(reader, reader->item));
	resolve(extent, bounds, &item);
	return append(reader, item);
}

static const struct slice_item new_axis = { .kind = SLICE_NEW, .step = 1, .count = 1 };

static int append_whole(struct reader *reader)
{
	return append(reader, (struct slice_item){
		.kind = SLICE_RANGE,
		.step = 1,
		.count = reader->shape[reader->axis++],
	});
}

/* Whole axes, but for those that the items behind it take. */
static int append_ellipsis(struct reader *reader)
{
	int ret = 0;

	if (reader->has_ellipsis)
		return accel_error_set_at(reader->error, -EINVAL, column_of(reader, reader->item),
			"slice: a second ellipsis at column %d, expected one",
			column_of(reader, reader->item));
	reader->has_ellipsis = true;
	while (!ret && reader->axis + reader->num_after < reader->rank)
		ret = append_whole(reader);
	return ret;
}

/* How many of the items from here to the end take an axis: all but new axes and ellipses. */
static uint32_t count_axes(const char *text)
{
	uint32_t count = 0;
	bool is_axis = false;

	for (;; text++) {
		if (*text == ',' || !*text) {
			count += is_axis;
			is_axis = false;
		}
		if (!*text)
			return count;
		if (*text == ':' || isdigit((unsigned char)*text))
			is_axis = true;
	}
}

static int read_item(struct reader *reader)
{
	struct bounds bounds = { 0 };
	int ret;

	skip_blanks(reader);
	reader->item = reader->next;
	if (take(reader, "...")) {
		reader->num_after = count_axes(reader->next);
		return append_ellipsis(reader);
	}
	if (take(reader, "None") || take(reader, "newaxis"))
		return append(reader, new_axis);
	ret = read_number(reader, &bounds.has_start, &bounds.start);
	if (ret)
		return ret;
	if (take(reader, ":"))
		return append_range(reader, &bounds);
	if (!bounds.has_start)
		return unexpected(reader, "a number, ':', '...' or None");
	return append_index(reader, bounds.start);
}

int slice_parse(const char *text, uint32_t rank, const int64_t *shape, uint32_t *num_items,
		struct slice_item items[SLICE_MAX_ITEMS], struct accel_error *error)
{
	struct reader reader = {
		.text = text,
		.next = text,
		.rank = rank,
		.shape = shape,
		.items = items,
		.error = error,
	};
	int ret;

	do {
		ret = read_item(&reader);
		if (ret)
			return ret;
		skip_blanks(&reader);
	} while (take(&reader, ",") && (skip_blanks(&reader), *reader.next));
	if (*reader.next)
		return unexpected(&reader, "',' or the end");
	reader.item = reader.next;
	while (!ret && reader.axis < rank)
		ret = append_whole(&reader);
	*num_items = reader.num_items;
	return ret;
}
