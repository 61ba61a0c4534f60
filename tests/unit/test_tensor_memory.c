// SPDX-License-Identifier: MIT
/*
 * Tensors, views and imports without memory: whichever allocation is the first to fail, the call
 * says -ENOMEM, and leaves nothing behind, which is for the leak sanitizer to see.
 */
#include "memory_test.h"
#include "tensor/dlpack.h"
#include "tensor/tensor.h"

static struct accel_device *device;
static struct accel_tensor *tensor;	/* that views are made of */

static int make_tensor(void **state)
{
	static const int64_t shape[] = { 4, 8, 2, 1 };
	struct accel_layout *layout;

	(void)state;
	if (accel_open("cpu", &device, NULL) || accel_layout_parse("NCHW4c", NULL, &layout, NULL))
		return -1;
	if (accel_tensor_create(device, ACCEL_DTYPE_F32, 4, shape, layout, &tensor, NULL))
		return -1;
	accel_layout_unref(layout);
	return 0;
}

static int drop_tensor(void **state)
{
	(void)state;
	accel_tensor_unref(tensor);
	accel_device_unref(device);
	return 0;
}

static const int64_t shape[] = { 3, 8, 2, 2 };

static int create(const char *text, struct accel_error *error)
{
	struct accel_layout *layout = NULL;
	struct accel_tensor *result = NULL, *detached = NULL;
	int code = accel_layout_parse(text, NULL, &layout, error);

	if (!code)
		code = accel_tensor_create(device, ACCEL_DTYPE_F32, 4, shape, layout, &result,
					   error);
	if (!code)
		code = tensor_detach(result, &detached, error);
	accel_tensor_unref(detached);
	accel_tensor_unref(result);
	accel_layout_unref(layout);
	return code;
}

static int import(const char *text, struct accel_error *error)
{
	static float data[96];
	struct DLManagedTensorVersioned managed = {
		.version = { 1, 0 },
		.tensor = {
			.data = data,
			.device = { DLPACK_DEVICE_CPU, 0 },
			.ndim = 4,
			.dtype = { DLPACK_FLOAT, 32, 1 },
			.shape = (int64_t *)shape,
		},
	};
	struct DLManagedTensor legacy = { .tensor = managed.tensor };
	struct accel_tensor *result;
	int code;

	if (*text == 'l')
		code = accel_tensor_from_dlpack(device, &legacy, &result, error);
	else
		code = accel_tensor_from_dlpack_versioned(device, &managed, &result, error);
	accel_tensor_unref(result);
	return code;
}

static int export(const char *text, struct accel_error *error)
{
	struct DLManagedTensorVersioned *versioned = NULL;
	struct DLManagedTensor *legacy = NULL;
	struct accel_tensor *part;
	int code = accel_tensor_select(tensor, 1, 0, &part, error);

	if (!code && *text == 'l')
		code = accel_tensor_to_dlpack(part, &legacy, error);
	else if (!code)
		code = accel_tensor_to_dlpack_versioned(part, &versioned, error);
	if (legacy)
		legacy->deleter(legacy);
	if (versioned)
		versioned->deleter(versioned);
	accel_tensor_unref(part);
	return code;
}

static int save(const char *text, struct accel_error *error)
{
	struct accel_tensor *part, *again = NULL;
	int code = accel_tensor_slice_text(tensor, "0, 0, 0:1", &part, error);

	if (!code)
		code = accel_tensor_save(part, text, error);
	if (!code)
		code = accel_tensor_load(device, text, &again, error);
	accel_tensor_unref(again);
	accel_tensor_unref(part);
	unlink(text);
	return code;
}

/* Views by the name of what makes them. */
static int view(const char *text, struct accel_error *error)
{
	static const int64_t expanded[] = { 4, 8, 2, 5 }, reshaped[] = { 4, 8, -1 };
	static const uint32_t axes[] = { 3, 2, 0, 1 };
	struct accel_tensor *result;
	int code;

	switch (*text) {
	case 'p':
		code = accel_tensor_permute(tensor, axes, &result, error);
		break;
	case 't':
		code = accel_tensor_slice_text(tensor, "1, None", &result, error);
		break;
	case 's':
		code = accel_tensor_slice(tensor, 0, 1, 2, 1, &result, error);
		break;
	case 'i':
		code = accel_tensor_select(tensor, 0, 1, &result, error);
		break;
	case 'q':
		code = accel_tensor_squeeze(tensor, 3, &result, error);
		break;
	case 'u':
		code = accel_tensor_unsqueeze(tensor, 0, &result, error);
		break;
	case 'e':
		code = accel_tensor_expand(tensor, 4, expanded, &result, error);
		break;
	case 'r':
		code = accel_tensor_reshape(tensor, 3, reshaped, &result, error);
		break;
	case 'd':
		code = accel_tensor_diagonal(tensor, 0, 0, 1, &result, error);
		break;
	case 'w':
		code = accel_tensor_unfold(tensor, 1, 2, 1, &result, error);
		break;
	case 'n':
		code = accel_tensor_reinterpret(tensor, ACCEL_DTYPE_RAW32, &result, error);
		break;
	default:
		code = accel_tensor_reinterpret(tensor, ACCEL_DTYPE_U8, &result, error);
	}
	accel_tensor_unref(result);
	return code;
}

static void tensors_are_made_or_nothing_is_left(void **state)
{
	(void)state;
	expect_failures(create, "NCHW");
	expect_failures(create, "NCHW4c");
	expect_failures(create, "(i, j, k, l) -> ((i + j)//3, (i + j)%3, j, k, l)");
}

static void views_are_made_or_nothing_is_left(void **state)
{
	static const char *const names[] = {
		"permute", "text", "slice", "index", "q", "unsqueeze", "expand", "reshape",
		"diagonal", "window", "name", "bytes",
	};

	(void)state;
	for (uint32_t k = 0; k < COUNT(names); k++)
		expect_failures(view, names[k]);
}

static void imports_succeed_or_leave_the_tensor_alone(void **state)
{
	(void)state;
	expect_failures(import, "legacy");
	expect_failures(import, "versioned");
}

static void exports_succeed_or_leave_the_tensor_alone(void **state)
{
	(void)state;
	expect_failures(export, "legacy");
	expect_failures(export, "versioned");
}

static void files_are_written_or_not_begun(void **state)
{
	char path[] = "/tmp/accel-test-XXXXXX";

	(void)state;
	close(mkstemp(path));
	expect_failures(save, path);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tensors_are_made_or_nothing_is_left),
		cmocka_unit_test(views_are_made_or_nothing_is_left),
		cmocka_unit_test(imports_succeed_or_leave_the_tensor_alone),
		cmocka_unit_test(exports_succeed_or_leave_the_tensor_alone),
		cmocka_unit_test(files_are_written_or_not_begun),
	};

	return cmocka_run_group_tests(tests, make_tensor, drop_tensor);
}
