// SPDX-License-Identifier: MIT
/*
 * Tensors: a shape over a buffer, in strides or in a layout, proved to stay inside of the buffer
 * when it is made. Views are view.c's. Moves no data.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "layout/notation.h"
#include "tensor/tensor.h"

static int count_elements(const struct accel_tensor *tensor, int64_t *num_elements,
			  struct accel_error *error)
{
	*num_elements = 1;
	for (uint32_t i = 0; i < tensor->rank; i++) {
		if (tensor->shape[i] < 0)
			return accel_error_set(error, -EINVAL,
				"tensor: extent %u is %" PRId64 ", expected 0 or more",
				i, tensor->shape[i]);
	}
	for (uint32_t i = 0; i < tensor->rank; i++) {
		if (!tensor->shape[i]) {
			*num_elements = 0;
			return 0;
		}
	}
	for (uint32_t i = 0; i < tensor->rank; i++) {
		if (__builtin_mul_overflow(*num_elements, tensor->shape[i], num_elements))
			return accel_error_set(error, -EOVERFLOW,
				"tensor: the number of elements does not fit 63 bits");
	}
	return 0;
}

/* A tensor without a base. */
static int new_tensor(enum accel_dtype dtype, uint32_t rank, const int64_t *shape,
		      struct accel_tensor **result, struct accel_error *error)
{
	struct accel_tensor *tensor;
	int ret;

	*result = NULL;
	if (!accel_dtype_size(dtype))
		return accel_error_set(error, -EINVAL, "tensor: no element type has the number %u",
				       (unsigned int)dtype);
	if (rank > ACCEL_MAX_DIMS)
		return accel_error_set(error, -EINVAL, "tensor: %u axes, expected at most %u",
				       rank, ACCEL_MAX_DIMS);
	tensor = calloc(1, sizeof(*tensor));
	if (!tensor)
		return accel_error_set(error, -ENOMEM, "tensor: out of memory");
	atomic_init(&tensor->refs, 1);
	tensor->dtype = dtype;
	tensor->rank = rank;
	if (rank)
		memcpy(tensor->shape, shape, rank * sizeof(shape[0]));
	ret = count_elements(tensor, &tensor->num_elements, error);
	if (ret) {
		free(tensor);
		return ret;
	}
	*result = tensor;
	return 0;
}

struct accel_tensor *tensor_copy(const struct accel_tensor *tensor, struct accel_error *error)
{
	struct accel_tensor *copy = malloc(sizeof(*copy));

	if (!copy) {
		accel_error_set(error, -ENOMEM, "tensor: out of memory");
		return NULL;
	}
	*copy = *tensor;
	atomic_init(&copy->refs, 1);
	tensor_base_ref(copy->base);
	copy->layout = NULL;
	return copy;
}

int tensor_settle(struct accel_tensor *tensor, struct accel_error *error)
{
	const struct tensor_base *base = tensor->base;
	int ret = count_elements(tensor, &tensor->num_elements, error);

	if (ret)
		return ret;
	/* an empty tensor is anywhere, and may have been made outside of its buffer */
	tensor->offset = base->linear == TENSOR_NO_AXIS ? 0 : tensor->origin[base->linear];
	if (!tensor->num_elements || !base->linear)
		return 0;
	return placement_element(&base->placement, tensor->origin, &tensor->offset, error);
}

/* Buffers ----------------------------------------------------------------------------------- */

/* Where a tensor's memory comes from: a new buffer on device, one that is there, or, bare, none. */
struct source {
	struct accel_device *device;
	bool is_sram;			/* the new buffer is in the memory of pe */
	uint32_t pe;
	struct accel_buffer *buffer;
};

/* Elements from the start of memory to the end of the last; their bytes fit 63 bits. */
static int get_buffer(const struct source *source, enum accel_dtype dtype, int64_t num_elements,
		      struct accel_buffer **buffer, struct accel_error *error)
{
	int64_t size = num_elements * (int64_t)accel_dtype_size(dtype);

	*buffer = NULL;
	/* an empty tensor has a buffer as well, so that nobody has to ask */
	if (source->is_sram)
		return accel_buffer_create_sram(source->device, source->pe,
						size ? (uint64_t)size : 1, buffer, error);
	if (source->device)
		return accel_buffer_create(source->device, size ? (uint64_t)size : 1, buffer,
					   error);
	if (source->buffer && (uint64_t)size > accel_buffer_size(source->buffer))
		return accel_error_set(error, -ERANGE,
				       "tensor: it reaches byte %" PRId64 " of a buffer of %" PRIu64
				       " bytes", size - 1, accel_buffer_size(source->buffer));
	if (source->buffer)
		*buffer = accel_buffer_ref(source->buffer);
	return 0;
}

/* A base without axes; its placement's num_elements is what memory has room for. */
static int create_base(struct accel_tensor *tensor, const struct source *source,
		       int64_t num_elements, struct accel_error *error)
{
	int64_t size = (int64_t)accel_dtype_size(tensor->dtype);
	struct accel_buffer *buffer;
	int ret;

	ret = get_buffer(source, tensor->dtype, num_elements, &buffer, error);
	if (ret)
		return ret;
	tensor->base = tensor_base_new(buffer, tensor->dtype, error);
	accel_buffer_unref(buffer);
	if (!tensor->base)
		return -ENOMEM;
	tensor->base->placement.num_elements = buffer ?
		(int64_t)(accel_buffer_size(buffer) / (uint64_t)size) : num_elements;
	return 0;
}

/* Strides ----------------------------------------------------------------------------------- */

int tensor_row_major(uint32_t rank, const int64_t *shape, int64_t *strides,
		     struct accel_error *error)
{
	int64_t stride = 1;

	for (uint32_t i = rank; i--;) {
		strides[i] = stride;
		if (__builtin_mul_overflow(stride, shape[i] ? shape[i] : 1, &stride))
			return accel_error_set(error, -EOVERFLOW,
				"tensor: the strides of this shape do not fit 63 bits");
	}
	return 0;
}

/* The lowest and the highest element, of a tensor that has elements. */
static int find_extremes(const struct accel_tensor *tensor, const int64_t *strides, int64_t offset,
			 int64_t *lowest, int64_t *highest, struct accel_error *error)
{
	*lowest = offset;
	*highest = offset;
	for (uint32_t i = 0; i < tensor->rank; i++) {
		int64_t *extreme = strides[i] < 0 ? lowest : highest;
		int64_t reach;

		if (__builtin_mul_overflow(tensor->shape[i] - 1, strides[i], &reach) ||
		    __builtin_add_overflow(*extreme, reach, extreme))
			return accel_error_set(error, -EOVERFLOW,
				"tensor: extent %" PRId64 " with stride %" PRId64
				" on axis %u does not fit 64 bits",
				tensor->shape[i], strides[i], i);
	}
	return 0;
}

/* Elements from the start of memory to the end of the last. Their bytes fit 63 bits. */
static int measure(const struct accel_tensor *tensor, const int64_t *strides, int64_t offset,
		   int64_t *num_elements, struct accel_error *error)
{
	int64_t size = (int64_t)accel_dtype_size(tensor->dtype);
	int64_t lowest, highest, bytes;
	int ret;

	*num_elements = 0;
	if (!tensor->num_elements)
		return 0;
	ret = find_extremes(tensor, strides, offset, &lowest, &highest, error);
	if (ret)
		return ret;
	if (lowest < 0)
		return accel_error_set(error, -ERANGE,
				       "tensor: its lowest element is %" PRId64
				       ", below its buffer, expected 0 or more", lowest);
	if (__builtin_mul_overflow(highest, size, &bytes) ||
	    __builtin_add_overflow(bytes, size, &bytes))
		return accel_error_set(error, -EOVERFLOW,
				       "tensor: element %" PRId64 " of %" PRId64
				       " bytes: the address does not fit 63 bits", highest, size);
	*num_elements = highest + 1;
	return 0;
}

/* strides NULL: row-major */
static int set_strides(struct accel_tensor *tensor, const struct source *source,
		       const int64_t *strides, int64_t offset, struct accel_error *error)
{
	int64_t num_elements;
	int ret = 0;

	if (strides && tensor->rank)
		memcpy(tensor->steps[0], strides, tensor->rank * sizeof(strides[0]));
	else
		ret = tensor_row_major(tensor->rank, tensor->shape, tensor->steps[0], error);
	if (!ret)
		ret = measure(tensor, tensor->steps[0], offset, &num_elements, error);
	if (!ret)
		ret = create_base(tensor, source, num_elements, error);
	if (ret)
		return ret;
	tensor_base_add_linear(tensor->base, tensor->base->placement.num_elements);
	tensor->origin[0] = offset;
	return tensor_settle(tensor, error);
}

/* Layouts ----------------------------------------------------------------------------------- */

/* The canonical digits of a layout's placement, and what they are made of. */
struct laid_out {
	struct placement placement;
	uint32_t num_digits;
	struct digit digits[PLACEMENT_MAX_DIGITS * 2];	/* borrows the placement's expressions */
	bool is_linear[ACCEL_MAX_DIMS];			/* the axis has a single stride */
	int64_t strides[ACCEL_MAX_DIMS];		/* if so, this one, otherwise 0 */
};

static bool digit_is_linear(const struct digit *digit)
{
	return digit->num_dims == 1 && digit_is_whole(digit);
}

static bool digit_mentions(const struct placement *placement, const struct digit *digit,
			   uint32_t dim)
{
	char name[4];

	if (digit->expression) {
		placement_variable(placement, dim, name);
		return expression_mentions(digit->expression, name);
	}
	return memchr(digit->dims, (int)dim, digit->num_dims) != NULL;
}

/* The stride of an axis of one value, though it is never stepped along. */
static int64_t idle_stride(const struct placement *placement, uint32_t dim)
{
	for (uint32_t k = placement->num_digits; k--;) {
		const struct digit *digit = &placement->digits[k];

		if (digit->num_dims == 1 && digit->dims[0] == dim && digit->divisor == 1)
			return digit->stride;
	}
	return 0;
}

static int find_stride(struct laid_out *laid_out, uint32_t dim, struct accel_error *error)
{
	bool is_idle = true;

	laid_out->is_linear[dim] = true;
	for (uint32_t k = 0; k < laid_out->num_digits; k++) {
		const struct digit *digit = &laid_out->digits[k];

		if (!digit_mentions(&laid_out->placement, digit, dim))
			continue;
		is_idle = false;
		if (!digit_is_linear(digit))
			laid_out->is_linear[dim] = false;
		/* a diagonal: the axis is there twice */
		else if (__builtin_add_overflow(laid_out->strides[dim], digit->stride,
						&laid_out->strides[dim]))
			return accel_error_set(error, -EOVERFLOW,
					       "tensor: the stride of axis %u does not fit 63 bits",
					       dim);
	}
	if (is_idle)
		laid_out->strides[dim] = idle_stride(&laid_out->placement, dim);
	else if (!laid_out->is_linear[dim])
		laid_out->strides[dim] = 0;
	return 0;
}

/* To be released, also after a failure. */
static int place(const struct accel_tensor *tensor, const struct accel_layout *layout,
		 struct laid_out *laid_out, struct accel_error *error)
{
	static const char letters[] = "ABCDEFGHIJKLMNOP";
	char axes[ACCEL_MAX_DIMS + 1] = "";
	int ret;

	memset(laid_out, 0, sizeof(*laid_out));
	if (strlen(layout->axes) == tensor->rank)
		strcpy(axes, layout->axes);
	else
		memcpy(axes, letters, tensor->rank);
	ret = layout_place(layout, axes, tensor->dtype, tensor->rank, tensor->shape,
			   &laid_out->placement, error);
	if (ret)
		return ret;
	laid_out->num_digits = placement_canonical(&laid_out->placement, laid_out->digits);
	for (uint32_t d = 0; d < tensor->rank && !ret; d++)
		ret = find_stride(laid_out, d, error);
	return ret;
}

/* Adds the axes that have no single stride; base_axis says which each is. */
static void add_axes(struct accel_tensor *tensor, const struct laid_out *laid_out,
		     uint8_t base_axis[ACCEL_MAX_DIMS])
{
	struct placement *placement = &tensor->base->placement;

	for (uint32_t d = 0; d < tensor->rank; d++) {
		if (laid_out->is_linear[d])
			continue;
		base_axis[d] = (uint8_t)placement->rank;
		tensor->steps[placement->rank][d] = 1;
		tensor_base_add_axis(tensor->base, tensor->shape[d], laid_out->placement.axes[d]);
	}
}

/* Adds their digits, over the base's, and leaves room for the linear axis's where there is one. */
static int add_digits(struct placement *placement, const struct laid_out *laid_out,
		      const uint8_t base_axis[ACCEL_MAX_DIMS], struct accel_error *error)
{
	uint32_t capacity = PLACEMENT_MAX_DIGITS;

	for (uint32_t k = 0; k < laid_out->num_digits; k++) {
		struct digit digit = laid_out->digits[k];

		if (digit_is_linear(&digit) && laid_out->is_linear[digit.dims[0]]) {
			/* all of these together are one */
			capacity = PLACEMENT_MAX_DIGITS - 1;
			continue;
		}
		for (uint32_t i = 0; i < digit.num_dims; i++)
			digit.dims[i] = base_axis[digit.dims[i]];
		digit.is_joined = false;
		if (placement->num_digits == PLACEMENT_MAX_DIGITS)
			goto err_full;
		if (digit.expression)
			expression_ref(digit.expression);
		placement->digits[placement->num_digits++] = digit;
	}
	if (placement->num_digits <= capacity)
		return 0;
err_full:
	return accel_error_set(error, -E2BIG, "tensor: the layout has more than %d digits",
			       PLACEMENT_MAX_DIGITS);
}

/* Axes with a stride share the linear axis. Where it has no room, there are none to step along. */
static int map_axes(struct accel_tensor *tensor, const struct laid_out *laid_out, int64_t offset,
		    struct accel_error *error)
{
	uint8_t base_axis[ACCEL_MAX_DIMS] = { 0 };
	struct tensor_base *base = tensor->base;
	int ret;

	add_axes(tensor, laid_out, base_axis);
	ret = add_digits(&base->placement, laid_out, base_axis, error);
	if (ret)
		return ret;
	if (base->placement.rank == ACCEL_MAX_DIMS ||
	    base->placement.num_digits == PLACEMENT_MAX_DIGITS) {
		base->placement.offset = offset;
		return tensor_settle(tensor, error);
	}
	tensor_base_add_linear(base, base->placement.num_elements);
	tensor->origin[base->linear] = offset;
	for (uint32_t d = 0; d < tensor->rank; d++)
		tensor->steps[base->linear][d] = laid_out->strides[d];
	return tensor_settle(tensor, error);
}

/* first is the element of the buffer that the layout starts at. */
static int set_layout(struct accel_tensor *tensor, const struct source *source,
		      struct accel_layout *layout, int64_t first, struct accel_error *error)
{
	int64_t size = (int64_t)accel_dtype_size(tensor->dtype);
	struct laid_out laid_out;
	int64_t num_elements, offset, bytes;
	int ret;

	ret = place(tensor, layout, &laid_out, error);
	if (ret)
		goto out_release;
	if (__builtin_add_overflow(laid_out.placement.num_elements, first, &num_elements) ||
	    __builtin_add_overflow(laid_out.placement.offset, first, &offset) ||
	    __builtin_mul_overflow(num_elements, size, &bytes)) {
		ret = accel_error_set(error, -EOVERFLOW,
				      "tensor: %" PRId64 " elements of %" PRId64 " bytes behind %"
				      PRId64 " others: the address does not fit 63 bits",
				      laid_out.placement.num_elements, size, first);
		goto out_release;
	}
	ret = create_base(tensor, source, num_elements, error);
	if (!ret)
		ret = map_axes(tensor, &laid_out, offset, error);
	if (!ret)
		tensor->layout = accel_layout_ref(layout);
out_release:
	placement_release(&laid_out.placement);
	return ret;
}

/* Making ------------------------------------------------------------------------------------ */

static int create(const struct source *source, enum accel_dtype dtype, uint32_t rank,
		  const int64_t *shape, struct accel_layout *layout, int64_t first,
		  struct accel_tensor **result, struct accel_error *error)
{
	int ret = new_tensor(dtype, rank, shape, result, error);

	if (ret)
		return ret;
	if (layout)
		ret = set_layout(*result, source, layout, first, error);
	else
		ret = set_strides(*result, source, NULL, first, error);
	if (ret) {
		accel_tensor_unref(*result);
		*result = NULL;
	}
	return ret;
}

int tensor_describe(enum accel_dtype dtype, uint32_t rank, const int64_t *shape,
		    struct accel_layout *layout, struct accel_tensor **tensor,
		    struct accel_error *error)
{
	const struct source none = { 0 };

	return create(&none, dtype, rank, shape, layout, 0, tensor, error);
}

ACCEL_API int accel_tensor_create(struct accel_device *device, enum accel_dtype dtype,
				  uint32_t rank, const int64_t *shape, struct accel_layout *layout,
				  struct accel_tensor **tensor, struct accel_error *error)
{
	const struct source source = { .device = device };

	return create(&source, dtype, rank, shape, layout, 0, tensor, error);
}

ACCEL_API int accel_tensor_create_sram(struct accel_device *device, uint32_t pe,
				       enum accel_dtype dtype, uint32_t rank,
				       const int64_t *shape, struct accel_layout *layout,
				       struct accel_tensor **tensor, struct accel_error *error)
{
	const struct source source = { .device = device, .is_sram = true, .pe = pe };

	return create(&source, dtype, rank, shape, layout, 0, tensor, error);
}

ACCEL_API int accel_tensor_from_layout(struct accel_buffer *buffer, enum accel_dtype dtype,
				       uint32_t rank, const int64_t *shape,
				       struct accel_layout *layout, uint64_t offset_bytes,
				       struct accel_tensor **tensor, struct accel_error *error)
{
	const struct source source = { .buffer = buffer };
	uint64_t size = accel_dtype_size(dtype);

	*tensor = NULL;
	if (size && offset_bytes % size)
		return accel_error_set(error, -EINVAL,
				       "tensor: it begins at byte %" PRIu64
				       ", expected a multiple of %" PRIu64 " for %s",
				       offset_bytes, size, accel_dtype_name(dtype));
	if (offset_bytes > accel_buffer_size(buffer))
		return accel_error_set(error, -ERANGE,
				       "tensor: it begins at byte %" PRIu64 " of a buffer of %"
				       PRIu64 " bytes", offset_bytes, accel_buffer_size(buffer));
	return create(&source, dtype, rank, shape, layout,
		      size ? (int64_t)(offset_bytes / size) : 0, tensor, error);
}

ACCEL_API int accel_tensor_from_buffer(struct accel_buffer *buffer, enum accel_dtype dtype,
				       uint32_t rank, const int64_t *shape,
				       const int64_t *strides, int64_t offset,
				       struct accel_tensor **tensor, struct accel_error *error)
{
	const struct source source = { .buffer = buffer };
	int ret = new_tensor(dtype, rank, shape, tensor, error);

	if (ret)
		return ret;
	ret = set_strides(*tensor, &source, strides, offset, error);
	if (ret) {
		accel_tensor_unref(*tensor);
		*tensor = NULL;
	}
	return ret;
}

/* A copy with a base of its own, in the buffer or in none. */
static int rebase(const struct accel_tensor *tensor, struct accel_buffer *buffer,
		  struct accel_tensor **result, struct accel_error *error)
{
	struct tensor_base *base = tensor_base_copy(tensor->base, buffer, error);

	*result = NULL;
	if (!base)
		return -ENOMEM;
	*result = tensor_copy(tensor, error);
	if (!*result) {
		tensor_base_unref(base);
		return -ENOMEM;
	}
	tensor_base_unref((*result)->base);
	(*result)->base = base;
	return 0;
}

int tensor_detach(const struct accel_tensor *tensor, struct accel_tensor **result,
		  struct accel_error *error)
{
	int ret = rebase(tensor, NULL, result, error);

	if (!ret && tensor->layout)
		(*result)->layout = accel_layout_ref(tensor->layout);
	return ret;
}

int tensor_attach(const struct accel_tensor *tensor, struct accel_buffer *buffer, int64_t first,
		  struct accel_tensor **result, struct accel_error *error)
{
	int ret = rebase(tensor, buffer, result, error);

	if (ret)
		return ret;
	/* a strided tensor's place is on its one axis of the base alone */
	if (!(*result)->base->linear)
		(*result)->origin[0] -= first;
	else
		(*result)->base->placement.offset -= first;
	ret = tensor_settle(*result, error);
	if (ret) {
		accel_tensor_unref(*result);
		*result = NULL;
	}
	return ret;
}

ACCEL_API struct accel_tensor *accel_tensor_ref(struct accel_tensor *tensor)
{
	atomic_fetch_add_explicit(&tensor->refs, 1, memory_order_relaxed);
	return tensor;
}

ACCEL_API void accel_tensor_unref(struct accel_tensor *tensor)
{
	/* acq_rel: whoever frees sees what all others did to the object before they let go */
	if (!tensor || atomic_fetch_sub_explicit(&tensor->refs, 1, memory_order_acq_rel) != 1)
		return;
	accel_layout_unref(tensor->layout);
	tensor_base_unref(tensor->base);
	free(tensor);
}
