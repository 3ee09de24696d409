// numpy's .npy files.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// "\x93NUMPY", version, header length, and the header: a Python dictionary such as
// {'descr': '<f4', 'fortran_order': False, 'shape': (1, 3, 8, 8), }

#include "tools/support/Error.h"
#include "tools/support/Tensor.h"

#include <cstdlib>
#include <cstring>

namespace convoy::tools {

namespace {

struct NumpyType {
  const char *descr; // Without the byte order.
  convoy_type type;
};

constexpr NumpyType numpyTypes[] = {
    {"f4", CONVOY_TYPE_F32}, {"f8", CONVOY_TYPE_F64}, {"f2", CONVOY_TYPE_F16},
    {"i1", CONVOY_TYPE_I8},  {"u1", CONVOY_TYPE_U8},  {"i2", CONVOY_TYPE_I16},
    {"u2", CONVOY_TYPE_U16}, {"i4", CONVOY_TYPE_I32}, {"u4", CONVOY_TYPE_U32},
    {"i8", CONVOY_TYPE_I64}, {"u8", CONVOY_TYPE_U64}, {"b1", CONVOY_TYPE_BOOL},
};

constexpr char magic[] = "\x93NUMPY";
constexpr size_t magicSize = 6;

/// The text after 'key': in the header.
std::string valueOf(const std::string &path, const std::string &header, const char *key) {
  size_t at = header.find(std::string("'") + key + "'");
  if (at != std::string::npos)
    at = header.find(':', at);
  if (at == std::string::npos)
    throw Error(path + ": the .npy header has no '" + key + "'");
  at = header.find_first_not_of(' ', at + 1);
  return at == std::string::npos ? "" : header.substr(at);
}

std::vector<int64_t> parseShape(const std::string &path, const std::string &text) {
  size_t end = text.find(')');
  if (text.empty() || text[0] != '(' || end == std::string::npos)
    throw Error(path + ": the .npy header has no shape");
  std::vector<int64_t> dims;
  for (size_t at = 1; at < end;) {
    if (strchr(" ,", text[at])) {
      ++at;
      continue;
    }
    char *after = nullptr;
    dims.push_back(strtoll(text.c_str() + at, &after, 10));
    if (after == text.c_str() + at || dims.back() < 0)
      throw Error(path + ": the .npy header has a bad shape " + text.substr(0, end + 1));
    at = after - text.c_str();
  }
  return dims;
}

/// From column-major to row-major order.
void reverseOrder(Tensor &tensor) {
  size_t element = convoy_type_size(tensor.type), rank = tensor.dims.size();
  std::vector<uint8_t> rowMajor(tensor.bytes.size());
  std::vector<int64_t> index(rank, 0);
  for (int64_t to = 0, count = tensor.size(); to < count; ++to) {
    int64_t from = 0;
    for (size_t d = rank; d-- > 0;)
      from = from * tensor.dims[d] + index[d];
    memcpy(&rowMajor[to * element], &tensor.bytes[from * element], element);
    for (size_t d = rank; d-- > 0 && ++index[d] == tensor.dims[d];)
      index[d] = 0;
  }
  tensor.bytes = std::move(rowMajor);
}

} // namespace

Tensor readNpy(const std::string &path) {
  std::vector<uint8_t> file = readFile(path);
  if (file.size() < 12 || memcmp(file.data(), magic, magicSize) != 0)
    throw Error(path + ": not a .npy file");
  int version = file[6];
  // Version 1 has two bytes of header length, later ones four.
  size_t start = version == 1 ? 10 : 12;
  size_t length = file[8] | size_t(file[9]) << 8;
  if (version != 1)
    length |= size_t(file[10]) << 16 | size_t(file[11]) << 24;
  if (version < 1 || version > 3)
    throw Error(path + format(": .npy version %d is unknown", version));
  if (length > file.size() - start)
    throw Error(path + ": the .npy header is truncated");
  std::string header(file.begin() + start, file.begin() + start + length);

  std::string descr = valueOf(path, header, "descr");
  size_t quote = descr.size() > 1 ? descr.find(descr[0], 1) : std::string::npos;
  if (quote == std::string::npos || !strchr("'\"", descr[0]))
    throw Error(path + ": structured .npy arrays are not supported");
  descr = descr.substr(1, quote - 1);
  Tensor tensor;
  bool known = false;
  for (const NumpyType &row : numpyTypes)
    if (descr.size() == 3 && descr.substr(1) == row.descr &&
        (strchr("<|=", descr[0]) || (descr[0] == '>' && row.descr[1] == '1'))) {
      tensor.type = row.type;
      known = true;
    }
  if (!known)
    throw Error(path + ": .npy element type '" + descr + "' is not supported");

  std::vector<int64_t> dims = parseShape(path, valueOf(path, header, "shape"));
  size_t found = file.size() - start - length, needed = byteSize(tensor.type, dims);
  if (found != needed)
    throw Error(path + format(": %zu bytes of data where %s needs %zu", found,
                              describe(tensor.type, dims).c_str(), needed));
  tensor.resize(std::move(dims));
  if (found)
    memcpy(tensor.bytes.data(), file.data() + start + length, found);
  if (valueOf(path, header, "fortran_order").compare(0, 4, "True") == 0)
    reverseOrder(tensor);
  return tensor;
}

void writeNpy(const std::string &path, const Tensor &tensor) {
  if (tensor.type == CONVOY_TYPE_BF16) {
    Tensor wide;
    wide.type = CONVOY_TYPE_F32;
    wide.resize(tensor.dims);
    for (int64_t i = 0; i < tensor.size(); ++i)
      wide.set(i, tensor.at(i));
    return writeNpy(path, wide);
  }
  std::string descr;
  for (const NumpyType &row : numpyTypes)
    if (row.type == tensor.type)
      descr = (convoy_type_size(tensor.type) == 1 ? "|" : "<") + std::string(row.descr);
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (int64_t dim : tensor.dims)
    header += std::to_string(dim) + ", ";
  if (tensor.dims.size() > 1)
    header.resize(header.size() - 2);
  header += "), }";
  // The data start at a multiple of 64; the header ends with a line feed.
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 11, ' ');
  header += '\n';

  std::string file(magic, magicSize);
  file += {1, 0, char(header.size() & 255), char(header.size() >> 8)};
  file += header;
  file.append(reinterpret_cast<const char *>(tensor.bytes.data()), tensor.bytes.size());
  writeFile(path, file.data(), file.size());
}

} // namespace convoy::tools
