// Links objects to a shared object, in process.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "targets/x86/LinkObjects.h"

#include "lld/Common/Driver.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

using namespace mlir;

FailureOr<std::vector<char>> convoy::linkSharedObject(ArrayRef<ArrayRef<char>> objects,
                                                      Location loc) {
  namespace fs = llvm::sys::fs;
  // lld reads and writes files only. The folder goes on every path out of here.
  SmallString<128> folder;
  if (std::error_code error = fs::createUniqueDirectory("convoy-link", folder))
    return emitError(loc) << "cannot create a temporary folder (TMPDIR says where): "
                          << error.message();
  llvm::scope_exit cleanup([&] { fs::remove_directories(folder); });
  auto pathOf = [&](const Twine &name) {
    SmallString<128> path = folder;
    llvm::sys::path::append(path, name);
    return std::string(path);
  };

  std::string output = pathOf("kernels.so");
  // No segment may be writable: the runtime maps one flat image, read and execute only.
  std::vector<std::string> args{"ld.lld",
                                "-shared",
                                "-nostdlib",
                                "--no-undefined",
                                "-Bsymbolic",
                                "-z",
                                "noexecstack",
                                "-z",
                                "norelro",
                                "-z",
                                "rodynamic",
                                "--hash-style=gnu",
                                "--build-id=none",
                                "--threads=1",
                                "-soname=kernels",
                                "-o",
                                output};
  for (auto [i, object] : llvm::enumerate(objects)) {
    std::string path = pathOf("part" + Twine(i) + ".o");
    std::error_code error;
    llvm::raw_fd_ostream stream(path, error);
    if (!error) {
      stream.write(object.data(), object.size());
      stream.close();
      error = stream.error();
      stream.clear_error();
    }
    if (error)
      return emitError(loc) << "cannot write " << path << ": " << error.message();
    args.push_back(path);
  }
  std::vector<const char *> argv;
  for (const std::string &arg : args)
    argv.push_back(arg.c_str());

  std::string messages;
  llvm::raw_string_ostream stream(messages);
  lld::Result result = lld::lldMain(argv, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return emitError(loc) << "linking the kernels failed: " << StringRef(messages).rtrim();
  auto buffer = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  if (!buffer)
    return emitError(loc) << "cannot read " << output << ": " << buffer.getError().message();
  StringRef bytes = (*buffer)->getBuffer();
  return std::vector<char>(bytes.begin(), bytes.end());
}
