// SPDX-License-Identifier: MIT
/*
 * Random chains of views on strided memory and in layouts that split axes, against a model that has
 * the address of every element in a list and knows of no strides.
 */
#include "accel_test.h"
#include "seed.h"

#define MAX_ELEMENTS	4096
#define MAX_RANK	6
#define NUM_CHAINS	4000

static struct accel_error error;
static struct random random_state;
static uint64_t seed;

/* The byte at which each element is, in row-major order of the shape. */
struct model {
	size_t size;			/* bytes of an element */
	uint32_t rank;
	int64_t shape[ACCEL_MAX_DIMS];
	int64_t count;
	int64_t bytes[MAX_ELEMENTS];
};

/* A tensor, its model, and what made it. */
struct subject {
	struct accel_tensor *tensor;
	struct model model;
	char history[2048];
};

static int64_t pick(int64_t first, int64_t last)
{
	return random_between(&random_state, first, last);
}

static int64_t product(uint32_t rank, const int64_t *shape)
{
	int64_t count = 1;

	for (uint32_t d = 0; d < rank; d++)
		count *= shape[d];
	return count;
}

/* Also of a tensor without elements no axis is longer than what is kept of one. */
static bool is_too_large(const struct model *model)
{
	for (uint32_t d = 0; d < model->rank; d++)
		if (model->shape[d] > MAX_ELEMENTS)
			return true;
	return product(model->rank, model->shape) > MAX_ELEMENTS;
}

/* The index of element number n, and the number of an index. */
static void unravel(uint32_t rank, const int64_t *shape, int64_t n, int64_t *index)
{
	for (uint32_t d = rank; d--;) {
		index[d] = n % shape[d];
		n /= shape[d];
	}
}

static int64_t ravel(uint32_t rank, const int64_t *shape, const int64_t *index)
{
	int64_t n = 0;

	for (uint32_t d = 0; d < rank; d++)
		n = n * shape[d] + index[d];
	return n;
}

__attribute__((format(printf, 2, 3)))
static void note(struct subject *subject, const char *format, ...)
{
	size_t length = strlen(subject->history);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(subject->history + length, sizeof(subject->history) - length, format, arguments);
	va_end(arguments);
}

static void note_list(struct subject *subject, uint32_t count, const int64_t *values)
{
	for (uint32_t k = 0; k < count; k++)
		note(subject, "%s%lld", k ? "," : "(", (long long)values[k]);
	note(subject, count ? ")" : "()");
}

#define fail_subject(subject, ...) do {							\
	fprintf(stderr, "%s\n", (subject)->history);					\
	fprintf(stderr, "--seed %llu\n", (unsigned long long)seed);			\
	fail_msg(__VA_ARGS__);								\
} while (0)

/* Comparing --------------------------------------------------------------------------------- */

static void check_elements(const struct subject *subject)
{
	const struct model *model = &subject->model;
	int64_t index[ACCEL_MAX_DIMS], element;

	if (accel_tensor_rank(subject->tensor) != model->rank ||
	    memcmp(accel_tensor_shape(subject->tensor), model->shape,
		   model->rank * sizeof(model->shape[0])) ||
	    accel_tensor_num_elements(subject->tensor) != model->count)
		fail_subject(subject, "the shape is another");
	for (int64_t n = 0; n < model->count; n++) {
		unravel(model->rank, model->shape, n, index);
		expect_ok(accel_tensor_element(subject->tensor, index, &element, &error));
		if (element * (int64_t)model->size != model->bytes[n])
			fail_subject(subject, "element %lld is at byte %lld, expected %lld",
				     (long long)n, (long long)element * (int64_t)model->size,
				     (long long)model->bytes[n]);
	}
}

static void check_strides(const struct subject *subject)
{
	const int64_t *strides = accel_tensor_strides(subject->tensor);
	const struct model *model = &subject->model;
	int64_t index[ACCEL_MAX_DIMS];

	if (model->count && accel_tensor_offset(subject->tensor) * (int64_t)model->size !=
	    model->bytes[0])
		fail_subject(subject, "the offset is another");
	for (int64_t n = 0; strides && n < model->count; n++) {
		int64_t element = accel_tensor_offset(subject->tensor);

		unravel(model->rank, model->shape, n, index);
		for (uint32_t d = 0; d < model->rank; d++)
			element += index[d] * strides[d];
		if (element * (int64_t)model->size != model->bytes[n])
			fail_subject(subject, "the strides are others");
	}
}

static void check_bounds(const struct subject *subject)
{
	const struct model *model = &subject->model;
	int64_t lowest = model->count ? model->bytes[0] : 0, end = lowest, low, high;

	for (int64_t n = 0; n < model->count; n++) {
		if (model->bytes[n] < lowest)
			lowest = model->bytes[n];
		if (model->bytes[n] + (int64_t)model->size > end)
			end = model->bytes[n] + (int64_t)model->size;
	}
	accel_tensor_bounds(subject->tensor, &low, &high);
	if (low > lowest || high < end || low < 0 ||
	    (uint64_t)high > accel_buffer_size(accel_tensor_buffer(subject->tensor)))
		fail_subject(subject, "bounds %lld to %lld, expected %lld to %lld", (long long)low,
			     (long long)high, (long long)lowest, (long long)end);
	if (accel_tensor_strides(subject->tensor) && (low != lowest || high != end))
		fail_subject(subject, "bounds of strides %lld to %lld, expected %lld to %lld",
			     (long long)low, (long long)high, (long long)lowest, (long long)end);
}

static bool is_dense(const struct model *model)
{
	for (int64_t n = 1; n < model->count; n++) {
		if (model->bytes[n] != model->bytes[0] + n * (int64_t)model->size)
			return false;
	}
	return true;
}

static void check(const struct subject *subject)
{
	check_elements(subject);
	check_strides(subject);
	check_bounds(subject);
	if (accel_tensor_strides(subject->tensor) &&
	    accel_tensor_is_contiguous(subject->tensor) != is_dense(&subject->model))
		fail_subject(subject, "is_contiguous says otherwise");
	if (accel_tensor_is_contiguous(subject->tensor) && !is_dense(&subject->model))
		fail_subject(subject, "is_contiguous, but it is not");
}

/* Whether the model's addresses are those of some strides over a shape of as many elements. */
static bool has_strides(const struct model *model, uint32_t rank, const int64_t *shape)
{
	int64_t strides[ACCEL_MAX_DIMS] = { 0 }, index[ACCEL_MAX_DIMS];

	for (uint32_t d = 0; d < rank; d++) {
		int64_t step[ACCEL_MAX_DIMS] = { 0 };

		step[d] = 1;
		if (shape[d] > 1)
			strides[d] = model->bytes[ravel(rank, shape, step)] - model->bytes[0];
	}
	for (int64_t n = 0; n < model->count; n++) {
		int64_t byte = model->bytes[0];

		unravel(rank, shape, n, index);
		for (uint32_t d = 0; d < rank; d++)
			byte += index[d] * strides[d];
		if (byte != model->bytes[n])
			return false;
	}
	return true;
}

/* Operations -------------------------------------------------------------------------------- */

/* Takes the view in place of the tensor, and the model's next state. */
static void advance(struct subject *subject, struct accel_tensor *view, struct model *next)
{
	accel_tensor_unref(subject->tensor);
	subject->tensor = view;
	next->count = product(next->rank, next->shape);
	subject->model = *next;
	check(subject);
}

static void expect_view(struct subject *subject, int ret)
{
	if (ret)
		fail_subject(subject, "%s", error.message);
}

static void permute(struct subject *subject)
{
	const struct model *model = &subject->model;
	int64_t index[ACCEL_MAX_DIMS], old[ACCEL_MAX_DIMS];
	static struct model next;
	struct accel_tensor *view;
	uint32_t axes[ACCEL_MAX_DIMS];

	for (uint32_t d = 0; d < model->rank; d++) {
		uint32_t other = (uint32_t)pick(0, d);

		axes[d] = axes[other];
		axes[other] = d;
	}
	note(subject, " permute");
	for (uint32_t d = 0; d < model->rank; d++)
		note(subject, " %u", axes[d]);
	expect_view(subject, accel_tensor_permute(subject->tensor, axes, &view, &error));
	next = *model;
	for (uint32_t d = 0; d < model->rank; d++)
		next.shape[d] = model->shape[axes[d]];
	for (int64_t n = 0; n < model->count; n++) {
		unravel(next.rank, next.shape, n, index);
		for (uint32_t d = 0; d < model->rank; d++)
			old[axes[d]] = index[d];
		next.bytes[n] = model->bytes[ravel(model->rank, model->shape, old)];
	}
	advance(subject, view, &next);
}

/* Keeps chosen indices of an axis: all that slices, flips and selections are. */
static void keep(const struct model *model, uint32_t axis, int64_t count, const int64_t *chosen,
		 struct model *next)
{
	int64_t index[ACCEL_MAX_DIMS];

	*next = *model;
	next->shape[axis] = count;
	next->count = product(next->rank, next->shape);
	for (int64_t n = 0; n < next->count; n++) {
		unravel(next->rank, next->shape, n, index);
		index[axis] = chosen[index[axis]];
		next->bytes[n] = model->bytes[ravel(model->rank, model->shape, index)];
	}
}

/* What Python's list(range(extent))[start:stop:step] is; INT64_MIN is left out. */
static int64_t python_slice(int64_t extent, int64_t start, int64_t stop, int64_t step,
			    int64_t *chosen)
{
	int64_t count = 0;

	if (start == INT64_MIN)
		start = step > 0 ? 0 : extent - 1;
	else if (start < 0)
		start += extent;
	if (stop == INT64_MIN)
		stop = step > 0 ? extent : -1;
	else if (stop < 0)
		stop = stop + extent < 0 ? -1 : stop + extent;
	if (start < 0)
		start = step > 0 ? 0 : -1;
	if (start >= extent)
		start = step > 0 ? extent : extent - 1;
	for (int64_t i = start; i >= 0 && i < extent && (step > 0 ? i < stop : i > stop); i += step)
		chosen[count++] = i;
	return count;
}

static int64_t pick_bound(int64_t extent)
{
	return pick(0, 3) ? pick(-extent - 2, extent + 2) : INT64_MIN;
}

static int64_t pick_step(void)
{
	int64_t step = pick(-3, 3);

	return step ? step : 1;
}

static void slice(struct subject *subject)
{
	const struct model *model = &subject->model;
	int64_t start, stop, step, count;
	static int64_t chosen[MAX_ELEMENTS];
	static struct model next;
	struct accel_tensor *view;
	uint32_t axis;

	if (!model->rank)
		return;
	axis = (uint32_t)pick(0, model->rank - 1);
	start = pick_bound(model->shape[axis]);
	stop = pick_bound(model->shape[axis]);
	step = pick_step();
	note(subject, " slice %u %lld:%lld:%lld", axis, (long long)start, (long long)stop,
	     (long long)step);
	expect_view(subject, accel_tensor_slice(subject->tensor, axis, start, stop, step, &view,
						&error));
	count = python_slice(model->shape[axis], start, stop, step, chosen);
	keep(model, axis, count, chosen, &next);
	advance(subject, view, &next);
}

static void flip(struct subject *subject)
{
	const struct model *model = &subject->model;
	static int64_t chosen[MAX_ELEMENTS];
	static struct model next;
	struct accel_tensor *view;
	uint32_t axis;

	if (!model->rank)
		return;
	axis = (uint32_t)pick(0, model->rank - 1);
	note(subject, " flip %u", axis);
	expect_view(subject, accel_tensor_flip(subject->tensor, axis, &view, &error));
	for (int64_t i = 0; i < model->shape[axis]; i++)
		chosen[i] = model->shape[axis] - 1 - i;
	keep(model, axis, model->shape[axis], chosen, &next);
	advance(subject, view, &next);
}

static void drop_axis(struct model *model, uint32_t axis)
{
	memmove(&model->shape[axis], &model->shape[axis + 1],
		(model->rank - axis - 1) * sizeof(model->shape[0]));
	model->rank--;
}

static void add_axis(struct model *model, uint32_t axis)
{
	memmove(&model->shape[axis + 1], &model->shape[axis],
		(model->rank - axis) * sizeof(model->shape[0]));
	model->shape[axis] = 1;
	model->rank++;
}

static void select_index(struct subject *subject)
{
	const struct model *model = &subject->model;
	static struct model next;
	struct accel_tensor *view;
	int64_t index, chosen;
	uint32_t axis;

	if (model->rank < 2)
		return;
	axis = (uint32_t)pick(0, model->rank - 1);
	if (!model->shape[axis])
		return;
	index = pick(-model->shape[axis], model->shape[axis] - 1);
	note(subject, " select %u %lld", axis, (long long)index);
	expect_view(subject, accel_tensor_select(subject->tensor, axis, index, &view, &error));
	chosen = index < 0 ? index + model->shape[axis] : index;
	keep(model, axis, 1, &chosen, &next);
	drop_axis(&next, axis);
	advance(subject, view, &next);
}

static void squeeze(struct subject *subject)
{
	static struct model next;
	struct accel_tensor *view;

	for (uint32_t axis = 0; axis < subject->model.rank; axis++) {
		if (subject->model.shape[axis] != 1)
			continue;
		note(subject, " squeeze %u", axis);
		expect_view(subject, accel_tensor_squeeze(subject->tensor, axis, &view, &error));
		next = subject->model;
		drop_axis(&next, axis);
		advance(subject, view, &next);
		return;
	}
}

static void unsqueeze(struct subject *subject)
{
	static struct model next;
	struct accel_tensor *view;
	uint32_t axis;

	if (subject->model.rank == MAX_RANK)
		return;
	axis = (uint32_t)pick(0, subject->model.rank);
	note(subject, " unsqueeze %u", axis);
	expect_view(subject, accel_tensor_unsqueeze(subject->tensor, axis, &view, &error));
	next = subject->model;
	add_axis(&next, axis);
	advance(subject, view, &next);
}

static void expand(struct subject *subject)
{
	const struct model *model = &subject->model;
	int64_t index[ACCEL_MAX_DIMS];
	static struct model next;
	struct accel_tensor *view;
	uint32_t num_new;

	num_new = model->rank < MAX_RANK ? (uint32_t)pick(0, 1) : 0;
	next = *model;
	if (num_new)
		add_axis(&next, 0);
	for (uint32_t d = 0; d < next.rank; d++) {
		if (next.shape[d] == 1)
			next.shape[d] = pick(0, 9) ? pick(1, 3) : 0;
	}
	if (is_too_large(&next))
		return;
	note(subject, " expand ");
	note_list(subject, next.rank, next.shape);
	expect_view(subject, accel_tensor_expand(subject->tensor, next.rank, next.shape, &view,
						 &error));
	for (int64_t n = 0; n < product(next.rank, next.shape); n++) {
		unravel(next.rank, next.shape, n, index);
		for (uint32_t d = 0; d < model->rank; d++) {
			if (model->shape[d] == 1)
				index[num_new + d] = 0;
		}
		next.bytes[n] = model->bytes[ravel(model->rank, model->shape, index + num_new)];
	}
	advance(subject, view, &next);
}

/* A shape of as many elements, made by moving factors about. */
static uint32_t pick_shape(int64_t count, int64_t *shape)
{
	uint32_t rank = (uint32_t)pick(1, MAX_RANK);

	for (uint32_t d = 0; d < rank; d++)
		shape[d] = 1;
	if (!count)
		shape[pick(0, rank - 1)] = 0;
	for (int64_t factor = 2; count > 1;) {
		if (count % factor) {
			factor++;
			continue;
		}
		count /= factor;
		shape[pick(0, rank - 1)] *= factor;
	}
	return rank;
}

static void reshape(struct subject *subject)
{
	bool is_strided = accel_tensor_strides(subject->tensor);
	int64_t asked[ACCEL_MAX_DIMS];
	static struct model next;
	struct accel_tensor *view;
	int ret;

	next = subject->model;
	next.rank = pick_shape(next.count, next.shape);
	memcpy(asked, next.shape, sizeof(asked));
	if (next.count && pick(0, 1))
		asked[pick(0, next.rank - 1)] = -1;
	note(subject, " reshape ");
	note_list(subject, next.rank, asked);
	ret = accel_tensor_reshape(subject->tensor, next.rank, asked, &view, &error);
	if (ret == -ENOTSUP) {
		assert_null(view);
		/* in strides the answer is exact */
		if (is_strided && has_strides(&subject->model, next.rank, next.shape))
			fail_subject(subject, "%s: but it can be had", error.message);
		note(subject, " (refused)");
		return;
	}
	expect_view(subject, ret);
	advance(subject, view, &next);
}

static void diagonal(struct subject *subject)
{
	const struct model *model = &subject->model;
	int64_t offset, extent = 0, index[ACCEL_MAX_DIMS], old[ACCEL_MAX_DIMS];
	static struct model next;
	struct accel_tensor *view;
	uint32_t a, b, kept = 0;

	if (model->rank < 2)
		return;
	a = (uint32_t)pick(0, model->rank - 1);
	b = (uint32_t)pick(0, model->rank - 2);
	b += b >= a;
	offset = pick(-4, 4);
	note(subject, " diagonal %lld %u %u", (long long)offset, a, b);
	expect_view(subject, accel_tensor_diagonal(subject->tensor, offset, a, b, &view, &error));
	for (int64_t i = 0; i < model->shape[a]; i++)
		extent += i + offset >= 0 && i + offset < model->shape[b];
	next = *model;
	for (uint32_t d = 0; d < model->rank; d++) {
		if (d != a && d != b)
			next.shape[kept++] = model->shape[d];
	}
	next.shape[kept] = extent;
	next.rank = model->rank - 1;
	for (int64_t n = 0; n < product(next.rank, next.shape); n++) {
		uint32_t from = 0;

		unravel(next.rank, next.shape, n, index);
		for (uint32_t d = 0; d < model->rank; d++) {
			if (d != a && d != b)
				old[d] = index[from++];
		}
		old[a] = index[kept] + (offset < 0 ? -offset : 0);
		old[b] = old[a] + offset;
		next.bytes[n] = model->bytes[ravel(model->rank, model->shape, old)];
	}
	advance(subject, view, &next);
}

static void unfold(struct subject *subject)
{
	const struct model *model = &subject->model;
	int64_t size, step, windows = 0, index[ACCEL_MAX_DIMS];
	static struct model next;
	struct accel_tensor *view;
	uint32_t axis;

	if (!model->rank || model->rank == MAX_RANK)
		return;
	axis = (uint32_t)pick(0, model->rank - 1);
	size = pick(0, model->shape[axis] < 4 ? model->shape[axis] : 4);
	step = pick(1, 3);
	for (int64_t start = 0; start + size <= model->shape[axis]; start += step)
		windows++;
	next = *model;
	next.shape[axis] = windows;
	next.shape[next.rank++] = size;
	if (is_too_large(&next))
		return;
	note(subject, " unfold %u %lld %lld", axis, (long long)size, (long long)step);
	expect_view(subject, accel_tensor_unfold(subject->tensor, axis, size, step, &view, &error));
	for (int64_t n = 0; n < product(next.rank, next.shape); n++) {
		unravel(next.rank, next.shape, n, index);
		index[axis] = index[axis] * step + index[model->rank];
		next.bytes[n] = model->bytes[ravel(model->rank, model->shape, index)];
	}
	advance(subject, view, &next);
}

/* Groups of elements that are one of the wider type; false where they are not side by side. */
static bool widen(const struct model *model, int64_t factor, struct model *next)
{
	int64_t wide = factor * (int64_t)model->size;

	*next = *model;
	next->size = (size_t)wide;
	next->shape[model->rank - 1] /= factor;
	for (int64_t n = 0; n < model->count; n++) {
		int64_t first = model->bytes[n - n % factor];

		if (model->bytes[n] != first + n % factor * (int64_t)model->size || first % wide)
			return false;
		next->bytes[n / factor] = first;
	}
	return true;
}

static void narrow(const struct model *model, int64_t factor, struct model *next)
{
	int64_t size = (int64_t)model->size / factor;

	*next = *model;
	next->size = (size_t)size;
	next->shape[model->rank - 1] *= factor;
	for (int64_t n = 0; n < model->count * factor; n++)
		next->bytes[n] = model->bytes[n / factor] + n % factor * size;
}

static void reinterpret(struct subject *subject)
{
	static const enum accel_dtype dtypes[] = {
		ACCEL_DTYPE_U8, ACCEL_DTYPE_BF16, ACCEL_DTYPE_F32, ACCEL_DTYPE_RAW64,
		ACCEL_DTYPE_RAW128,
	};
	enum accel_dtype dtype = dtypes[pick(0, COUNT(dtypes) - 1)];
	const int64_t *strides = accel_tensor_strides(subject->tensor);
	const struct model *model = &subject->model;
	size_t size = accel_dtype_size(dtype);
	static struct model next;
	struct accel_tensor *view;
	bool is_there = true;
	int64_t last;
	int ret;

	if (!model->rank)
		return;
	last = model->shape[model->rank - 1];
	if (size < model->size && (model->count * 16 > MAX_ELEMENTS || last * 16 > MAX_ELEMENTS))
		return;
	note(subject, " as %s", accel_dtype_name(dtype));
	ret = accel_tensor_reinterpret(subject->tensor, dtype, &view, &error);
	if (size > model->size && last % (int64_t)(size / model->size)) {
		assert_int_equal(ret, -EINVAL);
		return;
	}
	if (size > model->size)
		is_there = widen(model, (int64_t)(size / model->size), &next);
	else
		narrow(model, (int64_t)(model->size / size), &next);
	if (ret) {
		assert_true(ret == -ENOTSUP || ret == -EINVAL);
		assert_null(view);
		note(subject, " (refused)");
		/* in strides the answer is exact, but for narrower elements of a last axis apart */
		if (is_there && strides && (size > model->size || strides[model->rank - 1] == 1))
			fail_subject(subject, "%s: but it can be had", error.message);
		return;
	}
	if (!is_there)
		fail_subject(subject, "the elements are not side by side");
	advance(subject, view, &next);
}

/* A text of items, each applied to the model as it is written. */
static void slice_text(struct subject *subject)
{
	static int64_t chosen[MAX_ELEMENTS];
	static struct model next, after;
	char text[256] = "", *end = text;
	uint32_t axis = 0, left, ellipsis;
	struct accel_tensor *view;

	next = subject->model;
	left = next.rank;
	ellipsis = (uint32_t)pick(0, 2 * next.rank + 1);
	if (!next.rank)
		return;
	while (left) {
		uint32_t kind = (uint32_t)pick(0, 5);

		if (kind == 0 && next.rank < MAX_RANK) {
			end += sprintf(end, "%s", pick(0, 1) ? "None, " : " newaxis,");
			add_axis(&next, axis++);
			continue;
		}
		if (ellipsis == left) {
			uint32_t skipped = (uint32_t)pick(0, left);

			end += sprintf(end, "..., ");
			axis += skipped;
			left -= skipped;
			ellipsis = MAX_RANK * 2 + 2;
			continue;
		}
		if (kind < 3 && next.shape[axis]) {
			int64_t index = pick(-next.shape[axis], next.shape[axis] - 1);

			end += sprintf(end, "%lld,", (long long)index);
			index += index < 0 ? next.shape[axis] : 0;
			keep(&next, axis, 1, &index, &after);
			next = after;
			drop_axis(&next, axis);
		} else {
			int64_t start = pick_bound(next.shape[axis]);
			int64_t stop = pick_bound(next.shape[axis]), step = pick_step();

			if (start != INT64_MIN)
				end += sprintf(end, "%lld ", (long long)start);
			*end++ = ':';
			if (stop != INT64_MIN)
				end += sprintf(end, " %lld", (long long)stop);
			if (step != 1)
				end += sprintf(end, ":%+lld", (long long)step);
			end += sprintf(end, " , ");
			keep(&next, axis, python_slice(next.shape[axis], start, stop, step, chosen),
			     chosen, &after);
			next = after;
			axis++;
		}
		left--;
	}
	note(subject, " [%s]", text);
	expect_view(subject, accel_tensor_slice_text(subject->tensor, text, &view, &error));
	advance(subject, view, &next);
}

static void (*const operations[])(struct subject *subject) = {
	permute, slice, slice, flip, select_index, squeeze, unsqueeze, expand, reshape, reshape,
	diagonal, unfold, reinterpret, slice_text,
};

/* Bases ------------------------------------------------------------------------------------- */

static void make_strided(struct accel_device *device, struct subject *subject)
{
	int64_t strides[ACCEL_MAX_DIMS], index[ACCEL_MAX_DIMS], offset = 0;
	struct model *model = &subject->model;
	struct accel_buffer *buffer;

	model->size = 4;
	model->rank = (uint32_t)pick(0, 4);
	for (uint32_t d = 0; d < model->rank; d++) {
		model->shape[d] = pick(0, 14) ? pick(1, 6) : 0;
		strides[d] = pick(-6, 6) * (pick(0, 1) ? 1 : 4);
		if (strides[d] < 0 && model->shape[d])
			offset -= strides[d] * (model->shape[d] - 1);
	}
	if (pick(0, 1) && model->rank) {
		/* dense, so that more can be done with it */
		offset = 0;
		for (uint32_t d = model->rank, stride = 1; d--; stride *= model->shape[d])
			strides[d] = stride;
	}
	offset += pick(0, 3) * pick(1, 4);
	model->count = product(model->rank, model->shape);
	for (int64_t n = 0; n < model->count; n++) {
		int64_t element = offset;

		unravel(model->rank, model->shape, n, index);
		for (uint32_t d = 0; d < model->rank; d++)
			element += index[d] * strides[d];
		model->bytes[n] = element * 4;
	}
	note(subject, "strided ");
	note_list(subject, model->rank, model->shape);
	note_list(subject, model->rank, strides);
	note(subject, "@%lld", (long long)offset);
	expect_ok(accel_buffer_create(device, 65536, &buffer, &error));
	expect_ok(accel_tensor_from_buffer(buffer, ACCEL_DTYPE_F32, model->rank, model->shape,
					   strides, offset, &subject->tensor, &error));
	accel_buffer_unref(buffer);
}

static const struct {
	const char *notation;
	uint32_t rank;
} layouts[] = {
	{ "NCHW4c", 4 }, { "NCHW16c", 4 }, { "OIHW4o2i", 4 }, { "NHWC", 4 }, { "stick", 3 },
	{ "stick:pad=all;order=1,0", 2 }, { "xla:{1,0:T(4,8)}", 2 }, { "xla:{0,1:T(2,4)(2,1)}", 2 },
	{ "(i, j) -> ((i + j)//3, (i + j)%3, j)", 2 }, { "(i, j) -> (i, i + j)", 2 },
	{ "(i, j, k) -> ((i*3 + j)//4, k, (i*3 + j)%4)", 3 }, { "(i) -> (i//8, i%8)", 1 },
	{ "glow:N[a=32]HW[a=64]C", 4 }, { "tile:outer=NCHW;tile=1,4,2,2;inner=NCHW", 4 },
	{ "onednn:aBcd8b", 4 }, { "pack:inner_dims_pos=0,1;inner_tiles=4,8", 2 },
};

static void make_laid_out(struct accel_device *device, struct subject *subject)
{
	struct model *model = &subject->model;
	int64_t index[ACCEL_MAX_DIMS], element, first = pick(0, 2) * 32;
	struct accel_layout_description description;
	struct accel_layout *layout;
	struct accel_buffer *buffer;
	uint32_t which = (uint32_t)pick(0, COUNT(layouts) - 1);

	model->size = 4;
	model->rank = layouts[which].rank;
	for (uint32_t d = 0; d < model->rank; d++)
		model->shape[d] = pick(0, 14) ? pick(1, model->rank > 2 ? 9 : 40) : 0;
	if (pick(0, 1))
		model->shape[pick(0, model->rank - 1)] = 16;
	/* the fused map has its extents written into it */
	if (which == 10)
		model->shape[1] = 3;
	model->count = product(model->rank, model->shape);
	if (model->count > MAX_ELEMENTS)
		model->shape[0] = 1;
	if (product(model->rank, model->shape) > MAX_ELEMENTS)
		model->shape[1] = 1;
	model->count = product(model->rank, model->shape);
	note(subject, "%s of ", layouts[which].notation);
	note_list(subject, model->rank, model->shape);
	note(subject, "@%lld", (long long)first);
	expect_ok(accel_layout_parse(layouts[which].notation, NULL, &layout, &error));
	expect_ok(accel_layout_describe(layout, ACCEL_DTYPE_F32, model->rank, model->shape,
					&description, &error));
	expect_ok(accel_buffer_create(device, (uint64_t)(description.bytes + first + 1), &buffer,
				      &error));
	expect_ok(accel_tensor_from_layout(buffer, ACCEL_DTYPE_F32, model->rank, model->shape,
					   layout, (uint64_t)first, &subject->tensor, &error));
	for (int64_t n = 0; n < model->count; n++) {
		unravel(model->rank, model->shape, n, index);
		expect_ok(accel_layout_element(layout, ACCEL_DTYPE_F32, model->rank, model->shape,
					       index, &element, &error));
		model->bytes[n] = element * 4 + first;
	}
	accel_layout_unref(layout);
	accel_buffer_unref(buffer);
}

static void run_chains(struct accel_device *device,
		       void (*make)(struct accel_device *device, struct subject *subject))
{
	static struct subject subject;

	for (int k = 0; k < NUM_CHAINS; k++) {
		int64_t length = pick(1, 8);

		memset(&subject, 0, sizeof(subject));
		make(device, &subject);
		check(&subject);
		while (length--)
			operations[pick(0, COUNT(operations) - 1)](&subject);
		accel_tensor_unref(subject.tensor);
	}
}

static void chains_of_views_on_strides_are_as_the_model(void **state)
{
	random_state.state = seed;
	run_chains(*state, make_strided);
}

static void chains_of_views_in_layouts_are_as_the_model(void **state)
{
	random_state.state = seed + 1;
	run_chains(*state, make_laid_out);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_of_views_on_strides_are_as_the_model),
		cmocka_unit_test(chains_of_views_in_layouts_are_as_the_model),
	};

	seed = seed_from_arguments(argc, argv);
	return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
