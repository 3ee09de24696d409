// Tests of the files that convoy-run reads and writes: .npy, .pb, pictures.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/support/Error.h"
#include "tools/support/Picture.h"
#include "tools/support/Tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

using namespace convoy::tools;

namespace {

class Files : public testing::Test {
protected:
  Files() {
    std::string name = std::filesystem::temp_directory_path() / "convoy-files-XXXXXX";
    folder = mkdtemp(name.data());
  }
  ~Files() override { std::filesystem::remove_all(folder); }

  std::string path(const std::string &name) const { return folder + "/" + name; }

  std::string write(const std::string &name, const std::string &bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

  /// Every shorter version of a file must be refused with an Error.
  template <typename Read> void expectNoPrefixReads(const std::string &file, Read read) const {
    std::vector<uint8_t> whole = readFile(file);
    for (size_t size = 0; size < whole.size(); ++size) {
      write("part", std::string(whole.begin(), whole.begin() + size));
      EXPECT_THROW(read(path("part")), Error) << size << " of " << whole.size() << " bytes";
    }
  }

  std::string folder;
};

Tensor make(convoy_type type, std::vector<int64_t> dims) {
  Tensor tensor;
  tensor.type = type;
  tensor.resize(std::move(dims));
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.set(i, double(i % 2));
  return tensor;
}

constexpr convoy_type allTypes[] = {
    CONVOY_TYPE_F32, CONVOY_TYPE_F64, CONVOY_TYPE_F16, CONVOY_TYPE_I8,  CONVOY_TYPE_U8,
    CONVOY_TYPE_I16, CONVOY_TYPE_U16, CONVOY_TYPE_I32, CONVOY_TYPE_U32, CONVOY_TYPE_I64,
    CONVOY_TYPE_U64, CONVOY_TYPE_BOOL};

TEST_F(Files, NpyRoundTrip) {
  for (convoy_type type : allTypes)
    for (std::vector<int64_t> dims : {std::vector<int64_t>{}, {3}, {2, 3}, {2, 0, 4}, {1, 2, 3, 4}}) {
      Tensor tensor = make(type, dims);
      writeNpy(path("x.npy"), tensor);
      Tensor read = readNpy(path("x.npy"));
      EXPECT_EQ(read.type, type);
      EXPECT_EQ(read.dims, dims);
      EXPECT_EQ(read.bytes, tensor.bytes);
      EXPECT_EQ((std::filesystem::file_size(path("x.npy")) - tensor.bytes.size()) % 64, 0u);
    }
}

TEST_F(Files, NpyHasNoBfloat16) {
  Tensor tensor = make(CONVOY_TYPE_BF16, {2});
  writeNpy(path("x.npy"), tensor);
  Tensor read = readNpy(path("x.npy"));
  EXPECT_EQ(read.type, CONVOY_TYPE_F32);
  EXPECT_EQ(read.at(1), 1);
}

TEST_F(Files, NpyFortranOrder) {
  std::string header = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n";
  // Columns are contiguous: [[1, 3, 5], [2, 4, 6]].
  Tensor read = readNpy(write("x.npy", std::string("\x93NUMPY\1\0", 8) + char(header.size()) +
                                           '\0' + header + "\1\2\3\4\5\6"));
  EXPECT_EQ(read.bytes, (std::vector<uint8_t>{1, 3, 5, 2, 4, 6}));
}

TEST_F(Files, NpyRefusesWhatItCannotRead) {
  auto refused = [&](const std::string &header) {
    std::string file = std::string("\x93NUMPY\1\0", 8) + char(header.size()) + '\0' + header;
    EXPECT_THROW(readNpy(write("x.npy", file + std::string(8, '\0'))), Error) << header;
  };
  refused("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }\n");
  refused("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }\n");
  refused("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }\n");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }\n");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n");
  refused("{'descr': '<f4', 'fortran_order': False, 'shape': (1073741824, 1073741824), }\n");
  refused("{'fortran_order': False, 'shape': (2,), }\n");
  refused("{'descr': '<f4', 'fortran_order': False}\n");
  refused("");
  EXPECT_THROW(readNpy(path("absent.npy")), Error);
}

TEST_F(Files, NpyTruncated) {
  writeNpy(path("x.npy"), make(CONVOY_TYPE_F32, {3}));
  expectNoPrefixReads(path("x.npy"), readNpy);
}

// Field 1 (dims) is 08, field 2 (data_type) 10, field 9 (raw_data) 4a.
TEST_F(Files, TensorProtoRawData) {
  std::string file = std::string("\x08\x02\x08\x01\x10\x02\x4a\x02\x05\xff\x42\x01", 12) + "x";
  Tensor read = readTensorProto(write("x.pb", file));
  EXPECT_EQ(read.type, CONVOY_TYPE_U8);
  EXPECT_EQ(read.dims, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(read.bytes, (std::vector<uint8_t>{5, 255}));
  // Shorter ones lack the name (legal, so stop before it), the data or a dimension.
  write("y.pb", file.substr(0, 10));
  expectNoPrefixReads(path("y.pb"), readTensorProto);
}

TEST_F(Files, TensorProtoTypedData) {
  // Packed dims (0a), packed float_data (22): 1.0, -2.0.
  Tensor floats = readTensorProto(
      write("x.pb", std::string("\x0a\x01\x02\x10\x01\x22\x08\0\0\x80\x3f\0\0\0\xc0", 15)));
  EXPECT_EQ(floats.at(0), 1);
  EXPECT_EQ(floats.at(1), -2);
  // Not packed float_data (25), as proto2 writers have it.
  Tensor single =
      readTensorProto(write("x.pb", std::string("\x08\x01\x10\x01\x25\0\0\x80\x3f", 9)));
  EXPECT_EQ(single.at(0), 1);
  // int64_data (3a) with -1 in ten bytes.
  Tensor ints = readTensorProto(write(
      "x.pb", std::string("\x08\x01\x10\x07\x3a\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 16)));
  EXPECT_EQ(ints.at(0), -1);
  // f16 bits in int32_data (2a): 1.5 is 0x3e00.
  Tensor half = readTensorProto(write("x.pb", std::string("\x08\x01\x10\x0a\x2a\x02\x80\x7c", 8)));
  EXPECT_EQ(half.at(0), 1.5);
  // double_data (52): 0.5.
  Tensor wide = readTensorProto(
      write("x.pb", std::string("\x08\x01\x10\x0b\x52\x08\0\0\0\0\0\0\xe0\x3f", 14)));
  EXPECT_EQ(wide.at(0), 0.5);
  // A scalar has no dims.
  Tensor scalar = readTensorProto(write("x.pb", std::string("\x10\x06\x2a\x01\x07", 5)));
  EXPECT_TRUE(scalar.dims.empty());
  EXPECT_EQ(scalar.at(0), 7);
}

TEST_F(Files, TensorProtoRefusesWhatItCannotRead) {
  auto refused = [&](std::string file) {
    EXPECT_THROW(readTensorProto(write("x.pb", file)), Error);
  };
  refused("");
  refused("hello, this is no protobuf");
  refused(std::string("\x08\x01\x10\x08\x32\x01x", 7));                // Strings.
  refused(std::string("\x08\x01\x10\x63\x4a\x01\0", 7));               // Type 99.
  refused(std::string("\x08\x01\x10\x02\x70\x01", 6));                 // External data.
  refused(std::string("\x08\x03\x10\x02\x4a\x02\0\0", 8));             // Two bytes for three.
  refused(std::string("\x08\x03\x10\x02\x4a\x7f\0\0", 8));             // Past the end.
  refused(std::string("\x08\xff\xff\xff\xff\x7f\x10\x02", 8));         // Larger than memory.
  refused(std::string("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x02", 13)); // -1.
}

TEST_F(Files, Pictures) {
  Picture grey = readPicture(write("x.pgm", std::string("P5\n# a comment\n2 1\n15\n\x00\x0f", 24)));
  EXPECT_EQ(grey.width, 2);
  EXPECT_EQ(grey.height, 1);
  EXPECT_EQ(grey.channels, 1);
  EXPECT_EQ(grey.pixels, (std::vector<uint8_t>{0, 255}));

  Picture color = readPicture(write("x.ppm", std::string("P6 1 1 255\n\x01\x02\x03", 14)));
  EXPECT_EQ(color.channels, 3);
  EXPECT_EQ(color.pixels, (std::vector<uint8_t>{1, 2, 3}));
  EXPECT_EQ(withChannels(grey, 3).pixels, (std::vector<uint8_t>{0, 0, 0, 255, 255, 255}));
  EXPECT_EQ(withChannels(color, 1).pixels, (std::vector<uint8_t>{2}));

  expectNoPrefixReads(path("x.pgm"), readPicture);
  EXPECT_THROW(readPicture(write("x.pgm", "P5 99999 99999 255\n")), Error);
  EXPECT_THROW(readPicture(write("x.pgm", "P5 2 2 65535\n12345678")), Error);
  EXPECT_THROW(readPicture(write("x.pgm", "P2 1 1 255\n7")), Error);
  EXPECT_THROW(readPicture(write("x.pgm", "P5 0 1 255\n")), Error);
  EXPECT_THROW(readPicture(write("x.png", "not a PNG")), Error);
}

#ifdef CONVOY_HAVE_PNG
TEST_F(Files, Png) {
  std::string digit = CONVOY_SOURCE_DIR "/models/digits/digit-7.png";
  Picture picture = readPicture(digit);
  EXPECT_EQ(picture.width, 8);
  EXPECT_EQ(picture.height, 8);
  EXPECT_EQ(picture.channels, 1);
  // The test data hold the same pixels as floats, the 7 as the eighth image.
  Tensor images = readTensorProto(CONVOY_SOURCE_DIR "/models/digits/test_data_set_0/input_0.pb");
  ASSERT_EQ(images.dims, (std::vector<int64_t>{10, 1, 8, 8}));
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(picture.pixels[i], images.at(7 * 64 + i));
  expectNoPrefixReads(digit, [](const std::string &path) {
    std::filesystem::rename(path, path + ".png");
    return readPicture(path + ".png");
  });
}
#endif

TEST(TensorElements, EveryHalf) {
  Tensor tensor;
  tensor.type = CONVOY_TYPE_F16;
  tensor.resize({1});
  for (unsigned bits = 0; bits < 65536; ++bits) {
    uint16_t half = uint16_t(bits), back;
    memcpy(tensor.bytes.data(), &half, 2);
    double value = tensor.at(0);
    tensor.set(0, value);
    memcpy(&back, tensor.bytes.data(), 2);
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(tensor.at(0)));
    else
      EXPECT_EQ(back, half) << value;
  }
}

TEST(TensorElements, Rounding) {
  auto rounded = [](convoy_type type, double value) {
    Tensor tensor;
    tensor.type = type;
    tensor.resize({1});
    tensor.set(0, value);
    return tensor.at(0);
  };
  EXPECT_EQ(rounded(CONVOY_TYPE_F16, 65519), 65504);
  EXPECT_EQ(rounded(CONVOY_TYPE_F16, 65520), INFINITY);
  EXPECT_EQ(rounded(CONVOY_TYPE_F16, 1 + 1.0 / 2048), 1);         // Halfway: to even.
  EXPECT_EQ(rounded(CONVOY_TYPE_F16, 1 + 3.0 / 2048), 1 + 2.0 / 1024);
  EXPECT_EQ(rounded(CONVOY_TYPE_BF16, 1 + 1.0 / 256), 1);         // Halfway: to even.
  EXPECT_EQ(rounded(CONVOY_TYPE_BF16, 1 + 3.0 / 256), 1 + 2.0 / 128);
  EXPECT_TRUE(std::isnan(rounded(CONVOY_TYPE_BF16, NAN)));
  EXPECT_EQ(rounded(CONVOY_TYPE_U8, -3), 0);
  EXPECT_EQ(rounded(CONVOY_TYPE_U8, 300), 255);
  EXPECT_EQ(rounded(CONVOY_TYPE_I8, 2.5), 2);
  EXPECT_EQ(rounded(CONVOY_TYPE_I8, NAN), 0);
  EXPECT_EQ(rounded(CONVOY_TYPE_I64, 1e30), 9223372036854775807.0);
  EXPECT_EQ(rounded(CONVOY_TYPE_BOOL, 0.25), 1);
}

TEST_F(Files, WritingLeavesNoParts) {
  EXPECT_THROW(writeFile(path("absent/x.npy"), "x", 1), Error);
  std::filesystem::create_directory(path("taken"));
  EXPECT_THROW(writeFile(path("taken"), "x", 1), Error);
  writeFile("/dev/null", "x", 1);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  size_t entries = 0;
  for (auto &entry : std::filesystem::directory_iterator(folder))
    entries += !entry.path().empty();
  EXPECT_EQ(entries, 1u);
}

} // namespace
