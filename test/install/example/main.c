/* Classifies pictures with a compiled model, in C.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *   classify-c MODEL.cvy IMAGES.bin
 *
 * The images are float32 in the model's input layout, one after another. Prints for each the index
 * of the largest output. */
#include <convoy/convoy.h>

#include <stdio.h>
#include <stdlib.h>

static int failed(const char *what, convoy_status status) {
  if (status == CONVOY_OK)
    return 0;
  fprintf(stderr, "%s: %s: %s\n", what, convoy_status_string(status), convoy_last_error());
  return 1;
}

static float *read_images(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0)
    return NULL;
  *bytes = (size_t)ftell(file);
  rewind(file);
  float *images = malloc(*bytes);
  if (images && fread(images, 1, *bytes, file) != *bytes) {
    free(images);
    images = NULL;
  }
  fclose(file);
  return images;
}

static int classify(convoy_context *context, const convoy_value_info *input, float *images,
                    size_t bytes) {
  int64_t dims[8];
  if (input->rank > 8 || bytes % input->bytes != 0) {
    fprintf(stderr, "images of %zu bytes are no multiple of %zu\n", bytes, input->bytes);
    return 1;
  }
  for (size_t i = 0; i < input->rank; ++i)
    dims[i] = input->dims[i] < 0 ? (int64_t)(bytes / input->bytes) : input->dims[i];

  convoy_tensor tensor = {images, bytes, CONVOY_TYPE_F32, input->rank, dims};
  convoy_tensor scores;
  if (failed("input", convoy_context_set_input(context, 0, &tensor)) ||
      failed("run", convoy_context_run(context)) ||
      failed("output", convoy_context_output(context, 0, &scores)))
    return 1;

  const float *score = scores.data;
  int64_t batch = scores.dims[0], classes = scores.dims[1];
  for (int64_t image = 0; image < batch; ++image, score += classes) {
    int64_t best = 0;
    for (int64_t i = 1; i < classes; ++i)
      if (score[i] > score[best])
        best = i;
    printf("%lld\n", (long long)best);
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s MODEL.cvy IMAGES.bin\n", argv[0]);
    return 2;
  }
  convoy_model *model = NULL;
  convoy_context *context = NULL;
  convoy_value_info input;
  size_t bytes;
  int status = 1;
  float *images = read_images(argv[2], &bytes);
  if (!images)
    fprintf(stderr, "cannot read %s\n", argv[2]);
  else if (!failed(argv[1], convoy_model_load(argv[1], NULL, &model)) &&
           !failed("input", convoy_model_input(model, 0, &input)) &&
           !failed("context", convoy_context_create(model, NULL, &context)))
    status = classify(context, &input, images, bytes);
  convoy_context_destroy(context);
  convoy_model_destroy(model);
  free(images);
  return status;
}
