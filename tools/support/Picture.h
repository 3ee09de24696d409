// Pictures as network inputs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CONVOY_TOOLS_SUPPORT_PICTURE_H
#define CONVOY_TOOLS_SUPPORT_PICTURE_H

#include <cstdint>
#include <string>
#include <vector>

namespace convoy::tools {

/// Rows of pixels, channels interleaved: grey (1) or red, green, blue (3), 8 bits each.
struct Picture {
  int64_t height = 0, width = 0, channels = 0;
  std::vector<uint8_t> pixels;

  double at(int64_t y, int64_t x, int64_t channel) const {
    return pixels[(y * width + x) * channels + channel];
  }
};

/// Whether the file's name says that it is a picture.
bool isPictureName(const std::string &path);

/// PGM and PPM (binary, 8 bits) and, where libpng was there at build time, PNG of any kind; an
/// alpha channel is dropped.
Picture readPicture(const std::string &path);

/// Turns color into grey, or repeats grey as red, green and blue.
Picture withChannels(const Picture &picture, int64_t channels);

} // namespace convoy::tools

#endif // CONVOY_TOOLS_SUPPORT_PICTURE_H
