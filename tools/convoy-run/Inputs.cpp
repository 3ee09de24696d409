// Makes the input tensors of a run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-run/Inputs.h"

#include "tools/support/Error.h"
#include "tools/support/Picture.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

namespace convoy::tools {

namespace {

bool endsWith(const std::string &text, const char *end) {
  size_t size = strlen(end);
  return text.size() >= size && text.compare(text.size() - size, size, end) == 0;
}

/// Where the height, the width and the channels of pictures are in a shape; -1: no such dimension.
struct PictureAxes {
  int height, width, channels;
};

PictureAxes pictureAxes(const Value &value) {
  auto isChannels = [&](int axis) { return value.dims[axis] == 1 || value.dims[axis] == 3; };
  int rank = int(value.dims.size());
  if (rank == 4 && isChannels(1))
    return {2, 3, 1};
  if (rank == 4 && isChannels(3))
    return {1, 2, 3};
  if (rank == 3 && value.batched())
    return {1, 2, -1};
  if (rank == 3 && isChannels(0))
    return {1, 2, 0};
  if (rank == 3 && isChannels(2))
    return {0, 1, 2};
  if (rank == 2 && !value.batched())
    return {0, 1, -1};
  throw Error("input '" + value.name + "' is " + value.describe() +
              ", which has no place for a picture of 1 or 3 channels");
}

/// Bilinear, pixel centres at half coordinates, edges repeated.
double sample(const Picture &picture, double y, double x, int64_t channel) {
  auto inside = [](double v, int64_t size) { return std::clamp(v, 0.0, double(size - 1)); };
  y = inside(y, picture.height);
  x = inside(x, picture.width);
  auto y0 = int64_t(y), x0 = int64_t(x);
  int64_t y1 = std::min(y0 + 1, picture.height - 1), x1 = std::min(x0 + 1, picture.width - 1);
  double fy = y - double(y0), fx = x - double(x0);
  double top = picture.at(y0, x0, channel) * (1 - fx) + picture.at(y0, x1, channel) * fx;
  double bottom = picture.at(y1, x0, channel) * (1 - fx) + picture.at(y1, x1, channel) * fx;
  return top * (1 - fy) + bottom * fy;
}

Tensor pictureTensor(const std::string &path, const Value &value, const InputOptions &options) {
  PictureAxes axes = pictureAxes(value);
  int64_t height = value.dims[axes.height], width = value.dims[axes.width];
  int64_t channels = axes.channels < 0 ? 1 : value.dims[axes.channels];
  Picture picture = withChannels(readPicture(path), channels);
  if ((picture.height != height || picture.width != width) && !options.resize)
    throw Error(path + format(": the picture has %lldx%lld pixels, input '%s' wants %lldx%lld "
                              "(--resize scales it)",
                              (long long)picture.width, (long long)picture.height,
                              value.name.c_str(), (long long)width, (long long)height));
  auto ofChannel = [&](const std::vector<double> &list, const char *option, double otherwise,
                       int64_t channel) {
    if (list.size() > 1 && int64_t(list.size()) != channels)
      throw Error(format("%s has %zu values, input '%s' has %lld channels", option, list.size(),
                         value.name.c_str(), (long long)channels));
    return list.empty() ? otherwise : list.size() == 1 ? list[0] : list[channel];
  };

  Tensor tensor;
  tensor.type = value.type;
  std::vector<int64_t> dims = value.dims;
  if (value.batched())
    dims[0] = 1;
  tensor.resize(dims);
  double scaleY = double(picture.height) / double(height);
  double scaleX = double(picture.width) / double(width);
  bool channelsLast = axes.channels > axes.height;
  for (int64_t c = 0; c < channels; ++c) {
    double mean = ofChannel(options.mean, "--mean", 0, c);
    double std = ofChannel(options.std, "--std", 1, c);
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < width; ++x) {
        double pixel = sample(picture, (double(y) + 0.5) * scaleY - 0.5,
                              (double(x) + 0.5) * scaleX - 0.5, c);
        int64_t index =
            channelsLast ? (y * width + x) * channels + c : (c * height + y) * width + x;
        tensor.set(index, (pixel - mean) / std);
      }
  }
  return tensor;
}

/// Bytes as they are in memory; the batch follows from their number.
Tensor rawTensor(const std::string &path, const Value &value) {
  Tensor tensor;
  tensor.type = value.type;
  std::vector<uint8_t> file = readFile(path);
  std::vector<int64_t> dims = value.dims;
  if (value.batched())
    dims[0] = 1;
  tensor.resize(dims);
  size_t image = tensor.bytes.size();
  if (value.batched() && image > 0 && file.size() > image && file.size() % image == 0) {
    dims[0] = int64_t(file.size() / image);
    tensor.resize(dims);
  }
  if (file.size() != tensor.bytes.size())
    throw Error(path + format(": %zu bytes, input '%s' is %s and wants %zu", file.size(),
                              value.name.c_str(), value.describe().c_str(), image) +
                (value.batched() ? " for each image" : ""));
  tensor.bytes = std::move(file);
  return tensor;
}

Tensor fileTensor(const std::string &path, const Value &value, const InputOptions &options) {
  if (isPictureName(path))
    return pictureTensor(path, value, options);
  if (endsWith(path, ".npy")) {
    Tensor tensor = readNpy(path);
    // .npy has no bf16: numpy users keep such data as f32.
    if (value.type == CONVOY_TYPE_BF16 && tensor.type == CONVOY_TYPE_F32) {
      Tensor narrow;
      narrow.type = CONVOY_TYPE_BF16;
      narrow.resize(tensor.dims);
      for (int64_t i = 0; i < tensor.size(); ++i)
        narrow.set(i, tensor.at(i));
      return narrow;
    }
    return tensor;
  }
  if (endsWith(path, ".pb"))
    return readTensorProto(path);
  if (endsWith(path, ".bin") || endsWith(path, ".raw"))
    return rawTensor(path, value);
  throw Error(path + ": the name must end in .npy, .pb, .bin, .raw, .png, .pgm or .ppm");
}

/// splitmix64: the same numbers on every machine.
uint64_t nextRandom(uint64_t &state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

Tensor generated(const Value &value, const InputOptions &options, size_t index, int64_t batch) {
  Tensor tensor;
  tensor.type = value.type;
  std::vector<int64_t> dims = value.dims;
  if (value.batched())
    dims[0] = batch;
  tensor.resize(dims);
  uint64_t state = options.seed * 1000003 + index;
  bool isReal = isFloat(value.type);
  // Small numbers fit every integer type, also where they are indices.
  int64_t range = value.type == CONVOY_TYPE_BOOL                                     ? 2
                  : value.type == CONVOY_TYPE_U8 || value.type == CONVOY_TYPE_I8 ? 128
                                                                                     : 10;
  int64_t count = tensor.size();
  for (int64_t i = 0; i < count; ++i) {
    double element = 0;
    if (options.fill == Fill::Random) {
      uint64_t bits = nextRandom(state);
      element = isReal ? std::ldexp(double(bits >> 40), -23) - 1 : double(bits % range);
    } else if (options.fill == Fill::Arange) {
      element = isReal ? double(i) / double(count) : double(i % range);
    }
    tensor.set(i, element);
  }
  return tensor;
}

/// Appends along dimension 0.
void stack(Tensor &onto, const Tensor &more, const Value &value, const std::string &path) {
  bool fits = onto.type == more.type && onto.dims.size() == more.dims.size() && value.batched() &&
              std::equal(onto.dims.begin() + 1, onto.dims.end(), more.dims.begin() + 1);
  if (!fits)
    throw Error(path + ": " + describe(more.type, more.dims) + " cannot follow " +
                describe(onto.type, onto.dims) + " as further images of input '" + value.name +
                "', " + value.describe());
  onto.bytes.insert(onto.bytes.end(), more.bytes.begin(), more.bytes.end());
  onto.dims[0] += more.dims[0];
}

bool fits(const Tensor &tensor, const Value &value) {
  bool same = tensor.type == value.type && tensor.dims.size() == value.dims.size();
  for (size_t d = 0; same && d < value.dims.size(); ++d)
    same = value.dims[d] < 0 || value.dims[d] == tensor.dims[d];
  return same;
}

/// For each file the index of its input.
std::vector<size_t> assignFiles(const std::vector<InputOptions::File> &files,
                                const std::vector<Value> &values) {
  std::vector<size_t> result(files.size());
  std::vector<bool> taken(values.size());
  for (size_t f = 0; f < files.size(); ++f) {
    if (files[f].name.empty())
      continue;
    size_t i = 0;
    std::string names;
    for (; i < values.size() && values[i].name != files[f].name; ++i)
      names += (i ? ", '" : "'") + values[i].name + "'";
    if (i == values.size())
      throw Error("the model has no input '" + files[f].name + "'; it has " + names);
    result[f] = i;
    taken[i] = true;
  }
  for (size_t f = 0; f < files.size(); ++f) {
    if (!files[f].name.empty())
      continue;
    // With a single input, further files are further images.
    size_t i = std::find(taken.begin(), taken.end(), false) - taken.begin();
    if (i == values.size() && values.size() == 1)
      i = 0;
    if (i == values.size())
      throw Error(files[f].path + format(": the model has only %zu inputs", values.size()));
    result[f] = i;
    taken[i] = true;
  }
  return result;
}

std::string baseName(const std::string &path) { return path.substr(path.rfind('/') + 1); }

Inputs makeForProfile(const Session &session, size_t profile, const InputOptions &options) {
  std::vector<Value> values = session.inputs(profile);
  Inputs inputs;
  inputs.profile = profile;
  inputs.tensors.resize(values.size());
  inputs.sources.resize(values.size());
  std::vector<size_t> owner = assignFiles(options.files, values);
  int64_t batch = options.batch;
  for (size_t f = 0; f < options.files.size(); ++f) {
    const std::string &path = options.files[f].path;
    size_t i = owner[f];
    Tensor tensor = fileTensor(path, values[i], options);
    int64_t images = values[i].batched() && !tensor.dims.empty() ? tensor.dims[0] : 1;
    if (inputs.sources[i].empty()) {
      inputs.tensors[i] = std::move(tensor);
      inputs.sources[i] = path;
    } else {
      stack(inputs.tensors[i], tensor, values[i], path);
    }
    if (i == owner[0])
      for (int64_t image = 0; image < images; ++image)
        inputs.images.push_back(baseName(path) + (images > 1 ? format(" %d", int(image)) : ""));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    Tensor &tensor = inputs.tensors[i];
    if (inputs.sources[i].empty() || !values[i].batched() || tensor.dims.empty())
      continue;
    // --batch repeats a single image.
    if (options.batch > 1 && tensor.dims[0] == 1) {
      Tensor image = tensor;
      for (int64_t b = 1; b < options.batch; ++b)
        stack(tensor, image, values[i], inputs.sources[i]);
      inputs.images.clear();
    }
    if (options.batch && tensor.dims[0] != options.batch)
      throw Error(inputs.sources[i] + format(": %lld images, but --batch is %lld",
                                             (long long)tensor.dims[0], (long long)options.batch));
    batch = std::max(batch, tensor.dims[0]);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (!inputs.sources[i].empty())
      continue;
    inputs.tensors[i] = generated(values[i], options, i, std::max<int64_t>(batch, 1));
    inputs.sources[i] = "input '" + values[i].name + "'";
  }
  return inputs;
}

Inputs firstThatFits(const Session &session, const InputOptions &options,
                     const std::function<Inputs(size_t profile)> &make) {
  if (!options.profile.empty())
    return make(session.findProfile(options.profile));
  size_t count = session.numProfiles();
  // With a single profile it is the runtime that says what does not fit.
  if (count == 1)
    return make(0);
  std::string reasons;
  for (size_t profile = 0; profile < count; ++profile) {
    std::string reason;
    try {
      Inputs inputs = make(profile);
      std::vector<Value> values = session.inputs(profile);
      size_t i = 0;
      while (i < values.size() && fits(inputs.tensors[i], values[i]))
        ++i;
      if (i == values.size())
        return inputs;
      reason = inputs.sources[i] + ": " + describe(inputs.tensors[i].type, inputs.tensors[i].dims) +
               ", input '" + values[i].name + "' is " + values[i].describe();
    } catch (const Error &error) {
      reason = error.what();
    }
    reasons += (profile ? "; " : ": ") + session.profileText(profile) + ": " + reason;
  }
  throw Error("the inputs fit none of the model's profiles" + reasons);
}

} // namespace

Inputs makeInputs(const Session &session, const InputOptions &options) {
  return firstThatFits(session, options,
                       [&](size_t profile) { return makeForProfile(session, profile, options); });
}

Inputs loadTestInputs(const Session &session, const InputOptions &options,
                      const std::string &folder) {
  return firstThatFits(session, options, [&](size_t profile) {
    Inputs inputs;
    inputs.profile = profile;
    for (size_t i = 0, count = session.inputs(profile).size(); i < count; ++i) {
      inputs.sources.push_back(folder + format("/input_%zu.pb", i));
      inputs.tensors.push_back(readTensorProto(inputs.sources.back()));
    }
    return inputs;
  });
}

} // namespace convoy::tools
