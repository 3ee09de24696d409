// convoy-inspect: shows what a compiled model holds.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-inspect/Report.h"
#include "tools/support/Error.h"
#include "tools/support/Options.h"
#include "tools/support/Tensor.h"

#include <cstdio>
#include <cstring>

using namespace convoy::tools;

namespace {

uint64_t headerField(const std::vector<uint8_t> &file, size_t offset) {
  uint64_t value;
  memcpy(&value, &file[offset], sizeof value);
  return value;
}

/// Lets the runtime check the file, checksum and bounds of everything included, then reads it.
/// Variants for other machines are no error here.
Opened open(const std::string &path, const std::vector<uint8_t> &file) {
  Opened opened = {path, {}, nullptr, "", ""};
  convoy_status status = convoy_artifact_check(file.data(), file.size(), &opened.info);
  convoy_model *model = nullptr;
  if (status == CONVOY_OK)
    status = convoy_model_load_memory(file.data(), file.size(), nullptr, &model);
  if (status == CONVOY_OK)
    opened.target = convoy_model_target(model);
  else if (status == CONVOY_UNSUPPORTED_MACHINE)
    opened.problem = convoy_last_error();
  else
    throw Error(path + ": " + convoy_last_error());
  convoy_model_destroy(model);

  // Where the metadata are: see runtime/schema/artifact.fbs.
  uint64_t offset = headerField(file, 24), size = headerField(file, 32);
  if (offset > file.size() || size > file.size() - offset)
    throw Error(path + ": the metadata lie outside of the file");
  flatbuffers::Verifier verifier(&file[offset], size);
  if (!convoy::schema::VerifyArtifactBuffer(verifier))
    throw Error(path + ": the metadata are damaged");
  opened.artifact = convoy::schema::GetArtifact(&file[offset]);
  return opened;
}

int body(int argc, char **argv) {
  std::string path;
  bool json = false, brief = false;
  ReportOptions report;
  Options options("convoy-inspect MODEL.cvy [options]",
                  "Shows what a compiled model holds: inputs, outputs, variants and what they need,\n"
                  "launches, memory plan, sizes. The whole file is checked first.");
  options.section("Options");
  options.flag("brief", "leave out the tables of launches and memory", brief);
  options.flag("kernels", "also list the kernels in the code", report.code);
  options.flag("json", "print everything as JSON", json);
  options.positional([&](const std::string &word) {
    if (!path.empty())
      throw UsageError("more than one model: '" + path + "' and '" + word + "'");
    path = word;
  });
  options.parse(argc, argv);
  if (path.empty())
    throw UsageError("no model given");
  report.launches = report.memory = !brief;

  std::vector<uint8_t> file = readFile(path);
  Opened opened = open(path, file);
  if (json)
    fputs(jsonReport(opened).c_str(), stdout);
  else
    printReport(opened, report);
  return 0;
}

} // namespace

int main(int argc, char **argv) { return runTool("convoy-inspect", body, argc, argv); }
