// Element types and how shapes are written in messages.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "types.h"

using namespace convoy::rt;

extern "C" const char *convoy_type_string(convoy_type type) {
  switch (static_cast<int>(type)) {
  case CONVOY_TYPE_F32:
    return "f32";
  case CONVOY_TYPE_U8:
    return "u8";
  case CONVOY_TYPE_I8:
    return "i8";
  case CONVOY_TYPE_U16:
    return "u16";
  case CONVOY_TYPE_I16:
    return "i16";
  case CONVOY_TYPE_I32:
    return "i32";
  case CONVOY_TYPE_I64:
    return "i64";
  case CONVOY_TYPE_BOOL:
    return "bool";
  case CONVOY_TYPE_F16:
    return "f16";
  case CONVOY_TYPE_F64:
    return "f64";
  case CONVOY_TYPE_U32:
    return "u32";
  case CONVOY_TYPE_U64:
    return "u64";
  case CONVOY_TYPE_BF16:
    return "bf16";
  }
  return "?";
}

extern "C" size_t convoy_type_size(convoy_type type) {
  switch (static_cast<int>(type)) {
  case CONVOY_TYPE_U8:
  case CONVOY_TYPE_I8:
  case CONVOY_TYPE_BOOL:
    return 1;
  case CONVOY_TYPE_U16:
  case CONVOY_TYPE_I16:
  case CONVOY_TYPE_F16:
  case CONVOY_TYPE_BF16:
    return 2;
  case CONVOY_TYPE_F32:
  case CONVOY_TYPE_I32:
  case CONVOY_TYPE_U32:
    return 4;
  case CONVOY_TYPE_F64:
  case CONVOY_TYPE_I64:
  case CONVOY_TYPE_U64:
    return 8;
  }
  return 0;
}

void convoy::rt::addShape(Text &text, convoy_type type, const int64_t *dims, size_t rank) {
  text.add("%s[", convoy_type_string(type));
  for (size_t i = 0; i < rank; ++i)
    if (dims[i] == -1)
      text.add(i ? ",N" : "N");
    else
      text.add(i ? ",%lld" : "%lld", static_cast<long long>(dims[i]));
  text.add("]");
}
