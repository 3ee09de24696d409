// That the header is C11 and the shared library exports what it declares.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "convoy/convoy.h"
#include "convoy/kernel_abi.h"

const char *useTheApiFromC(const void *data, size_t size, float *x, float *y);

/* Runs the tests' model once. NULL, or what went wrong. */
const char *useTheApiFromC(const void *data, size_t size, float *x, float *y) {
  convoy_model *model = NULL;
  convoy_context *context = NULL;
  const convoy_load_options load = {0};
  const convoy_context_options options = {.threads = 1};
  const int64_t xDims[] = {1, 24, 10}, yDims[] = {1, 10};
  const convoy_tensor input = {x, 240 * sizeof *x, CONVOY_TYPE_F32, 3, xDims};
  const convoy_tensor output = {y, 10 * sizeof *y, CONVOY_TYPE_F32, 2, yDims};
  const char *problem = NULL;
  if (convoy_model_load_memory(data, size, &load, &model) != CONVOY_OK ||
      convoy_context_create(model, &options, &context) != CONVOY_OK ||
      convoy_context_set_input(context, 0, &input) != CONVOY_OK ||
      convoy_context_set_output_by_name(context, "y", &output) != CONVOY_OK ||
      convoy_context_run(context) != CONVOY_OK)
    problem = convoy_last_error();
  convoy_context_destroy(context);
  convoy_model_destroy(model);
  return problem;
}
