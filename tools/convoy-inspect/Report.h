// What convoy-inspect tells of an artifact, as text and as JSON.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CONVOY_TOOLS_CONVOY_INSPECT_REPORT_H
#define CONVOY_TOOLS_CONVOY_INSPECT_REPORT_H

#include "convoy/convoy.h"
#include "runtime/schema/artifact_generated.h"

#include <string>

namespace convoy::tools {

/// A checked artifact.
struct Opened {
  std::string path;
  convoy_artifact_info info;
  const schema::Artifact *artifact;
  std::string target;  // Of the variant that this machine takes; empty: none.
  std::string problem; // Why none.
};

struct ReportOptions {
  bool launches = true, memory = true, code = false;
};

void printReport(const Opened &opened, const ReportOptions &options);
std::string jsonReport(const Opened &opened);

} // namespace convoy::tools

#endif // CONVOY_TOOLS_CONVOY_INSPECT_REPORT_H
