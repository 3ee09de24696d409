// Pictures as network inputs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/support/Picture.h"

#include "tools/support/Error.h"
#include "tools/support/Tensor.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>

#ifdef CONVOY_HAVE_PNG
#include <png.h>
#endif

namespace convoy::tools {

namespace {

std::string extensionOf(const std::string &path) {
  size_t dot = path.rfind('.');
  std::string extension = dot == std::string::npos ? "" : path.substr(dot);
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return char(tolower(c)); });
  return extension;
}

constexpr int64_t mostPixels = int64_t(1) << 28;

/// The next number of a PGM or PPM header; comments run from '#' to the end of the line.
int64_t headerNumber(const std::string &path, const std::vector<uint8_t> &file, size_t &at) {
  while (at < file.size() && (isspace(file[at]) || file[at] == '#')) {
    if (file[at] == '#')
      while (at < file.size() && file[at] != '\n')
        ++at;
    else
      ++at;
  }
  int64_t number = 0;
  size_t begin = at;
  while (at < file.size() && isdigit(file[at]) && number <= mostPixels)
    number = number * 10 + (file[at++] - '0');
  if (at == begin || number > mostPixels)
    throw Error(path + ": bad PGM or PPM header");
  return number;
}

Picture readNetpbm(const std::string &path) {
  std::vector<uint8_t> file = readFile(path);
  if (file.size() < 2 || file[0] != 'P' || (file[1] != '5' && file[1] != '6'))
    throw Error(path + ": not a binary PGM or PPM file (P5 or P6)");
  Picture picture;
  picture.channels = file[1] == '5' ? 1 : 3;
  size_t at = 2;
  picture.width = headerNumber(path, file, at);
  picture.height = headerNumber(path, file, at);
  int64_t most = headerNumber(path, file, at);
  if (most < 1 || most > 255)
    throw Error(path + format(": only 8-bit pictures are supported, this one goes up to %lld",
                              (long long)most));
  ++at; // One white space stands before the pixels.
  if (picture.width < 1 || picture.height < 1 || picture.width > mostPixels / picture.height)
    throw Error(path + ": bad size in the PGM or PPM header");
  size_t size = picture.width * picture.height * picture.channels;
  if (at > file.size() || file.size() - at < size)
    throw Error(path + ": the picture is truncated");
  picture.pixels.assign(file.begin() + at, file.begin() + at + size);
  for (uint8_t &pixel : picture.pixels)
    pixel = uint8_t(std::min<int64_t>(255, (pixel * 255 + most / 2) / most));
  return picture;
}

#ifdef CONVOY_HAVE_PNG
Picture readPng(const std::string &path) {
  std::vector<uint8_t> file = readFile(path);
  png_image image;
  memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(&image, file.data(), file.size()))
    throw Error(path + ": " + image.message);
  // Asking for no alpha would blend with a background; read it and leave it out instead.
  bool color = image.format & PNG_FORMAT_FLAG_COLOR;
  image.format = color ? PNG_FORMAT_RGBA : PNG_FORMAT_GA;
  Picture picture{image.height, image.width, color ? 3 : 1, {}};
  if (picture.height > mostPixels / picture.width) {
    png_image_free(&image);
    throw Error(path + ": the picture is too large");
  }
  std::vector<uint8_t> withAlpha(PNG_IMAGE_SIZE(image));
  if (!png_image_finish_read(&image, nullptr, withAlpha.data(), 0, nullptr)) {
    std::string message = image.message;
    png_image_free(&image);
    throw Error(path + ": " + message);
  }
  for (size_t i = 0; i < withAlpha.size(); ++i)
    if (int64_t(i % (picture.channels + 1)) != picture.channels)
      picture.pixels.push_back(withAlpha[i]);
  return picture;
}
#else
Picture readPng(const std::string &path) {
  throw Error(path + ": this convoy-run was built without libpng; give it a PGM or PPM file");
}
#endif

} // namespace

bool isPictureName(const std::string &path) {
  std::string extension = extensionOf(path);
  return extension == ".png" || extension == ".pgm" || extension == ".ppm";
}

Picture readPicture(const std::string &path) {
  return extensionOf(path) == ".png" ? readPng(path) : readNetpbm(path);
}

Picture withChannels(const Picture &picture, int64_t channels) {
  if (picture.channels == channels)
    return picture;
  Picture result{picture.height, picture.width, channels, {}};
  size_t count = picture.height * picture.width;
  result.pixels.resize(count * channels);
  for (size_t i = 0; i < count; ++i) {
    const uint8_t *from = &picture.pixels[i * picture.channels];
    // ITU-R BT.601 weights, as most picture libraries have them.
    uint8_t grey = picture.channels == 1
                       ? from[0]
                       : uint8_t(std::lround(0.299 * from[0] + 0.587 * from[1] + 0.114 * from[2]));
    std::fill_n(&result.pixels[i * channels], channels, grey);
  }
  return result;
}

} // namespace convoy::tools
