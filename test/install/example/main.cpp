// Classifies pictures with a compiled model, in C++: the same as main.c.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <convoy/convoy.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>

static void classify(const char *modelPath, const char *imagesPath) {
  std::ifstream file(imagesPath, std::ios::binary);
  std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  std::vector<float> images(bytes.size() / sizeof(float));
  if (!bytes.empty())
    std::memcpy(images.data(), bytes.data(), images.size() * sizeof(float));

  convoy::Model model(modelPath);
  convoy_value_info info = model.input(0);
  std::vector<int64_t> dims(info.dims, info.dims + info.rank);
  if (dims[0] < 0)
    dims[0] = static_cast<int64_t>(bytes.size() / info.bytes);

  convoy::Context context(model);
  context.setInput(0, images.data(), dims);
  context.run();

  convoy::Span<const float> scores = context.output<float>(0);
  size_t classes = scores.size() / static_cast<size_t>(context.batch());
  for (const float *image = scores.begin(); image != scores.end(); image += classes)
    std::cout << std::max_element(image, image + classes) - image << '\n';
}

int main(int argc, char **argv) {
  if (argc != 3) {
    std::cerr << "usage: " << argv[0] << " MODEL.cvy IMAGES.bin\n";
    return 2;
  }
  try {
    classify(argv[1], argv[2]);
  } catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
