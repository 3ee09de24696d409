// Times runs as a whole and launch by launch.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef CONVOY_TOOLS_CONVOY_RUN_MEASURE_H
#define CONVOY_TOOLS_CONVOY_RUN_MEASURE_H

#include "tools/convoy-run/Session.h"
#include "tools/support/Json.h"

#include <chrono>
#include <string>
#include <vector>

namespace convoy::tools {

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point start);

/// How long to measure; -1 and 0 leave it to the defaults.
struct MeasureOptions {
  int64_t warmup = -1; // Runs that are not counted. By default at least 3 and 0.2 s.
  int64_t runs = 0;    // By default at least 10, and as many as fit into `seconds`.
  double seconds = 1;
};

struct Times {
  int64_t warmup = 0;
  std::vector<double> sorted; // Milliseconds of each run.
  double mean = 0;

  double min() const { return sorted.front(); }
  double max() const { return sorted.back(); }
  /// By nearest rank: the smallest time that `percent` of the runs did not exceed.
  double percentile(double percent) const;
  double median() const { return percentile(50); }
};

Times benchmark(Session &session, const MeasureOptions &options);
void printBenchmark(const Times &times, const Session &session);
void writeBenchmark(Json &json, const Times &times, const Session &session);

struct Profile {
  std::vector<convoy_launch_info> launches;
  std::vector<size_t> waves;   // Of each launch.
  std::vector<double> medians; // Microseconds of each launch.
  std::vector<uint64_t> last;  // Nanoseconds of each launch in the last run.
  double run = 0;              // Median of the whole run, microseconds.
  int64_t runs = 0, batch = 1;
};

Profile profile(Session &session, const MeasureOptions &options);
/// `byTime`: slowest first instead of in order.
void printProfile(const Profile &profile, bool byTime);
void writeProfile(Json &json, const Profile &profile);
/// For chrome://tracing and Perfetto: the last run's launches, laid end to end.
std::string chromeTrace(const Profile &profile);

} // namespace convoy::tools

#endif // CONVOY_TOOLS_CONVOY_RUN_MEASURE_H
