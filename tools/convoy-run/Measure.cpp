// Times runs as a whole and launch by launch.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-run/Measure.h"

#include "tools/support/Error.h"
#include "tools/support/Printable.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <numeric>

namespace convoy::tools {

namespace {

/// Calls `run` as the options say; the milliseconds of each counted run, in order.
std::vector<double> repeat(const MeasureOptions &options, int64_t &warmup,
                           const std::function<void(bool counted)> &run) {
  Clock::time_point start = Clock::now();
  warmup = 0;
  while (options.warmup >= 0 ? warmup < options.warmup
                             : warmup < 3 || millisecondsSince(start) < 200) {
    run(false);
    ++warmup;
  }
  std::vector<double> times;
  start = Clock::now();
  while (options.runs > 0 ? int64_t(times.size()) < options.runs
                          : times.size() < 10 || millisecondsSince(start) < options.seconds * 1e3) {
    Clock::time_point begin = Clock::now();
    run(true);
    times.push_back(millisecondsSince(begin));
  }
  return times;
}

double median(std::vector<double> values) {
  auto middle = values.begin() + (values.size() - 1) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

const char *orEmpty(const char *text) { return text ? text : ""; }

} // namespace

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double Times::percentile(double percent) const {
  auto rank = int64_t(std::ceil(percent / 100 * double(sorted.size())));
  return sorted[std::max<int64_t>(rank, 1) - 1];
}

Times benchmark(Session &session, const MeasureOptions &options) {
  Times times;
  times.sorted = repeat(options, times.warmup, [&](bool) { session.run(); });
  std::sort(times.sorted.begin(), times.sorted.end());
  times.mean = std::accumulate(times.sorted.begin(), times.sorted.end(), 0.0) /
               double(times.sorted.size());
  return times;
}

void printBenchmark(const Times &times, const Session &session) {
  printf("\n%zu runs after %lld to warm up, batch %lld, %u thread%s, %s\n", times.sorted.size(),
         (long long)times.warmup, (long long)session.batch(), session.threads(),
         session.threads() == 1 ? "" : "s", convoy_model_target(session.get()));
  printf("  min %.4f ms   median %.4f ms   p99 %.4f ms   %.1f images/s\n", times.min(),
         times.median(), times.percentile(99), 1e3 * double(session.batch()) / times.median());
}

void writeBenchmark(Json &json, const Times &times, const Session &session) {
  json.key("benchmark").open('{');
  json.member("warmup", times.warmup).member("runs", int64_t(times.sorted.size()));
  json.member("min_ms", times.min()).member("median_ms", times.median());
  json.member("mean_ms", times.mean).member("p99_ms", times.percentile(99));
  json.member("max_ms", times.max());
  json.member("images_per_s", 1e3 * double(session.batch()) / times.median());
  json.close();
}

Profile profile(Session &session, const MeasureOptions &options) {
  Profile result;
  result.launches = session.launches();
  result.waves = session.waves();
  result.batch = session.batch();
  session.setProfiling(true);
  std::vector<std::vector<double>> times(result.launches.size());
  int64_t warmup;
  std::vector<double> whole = repeat(options, warmup, [&](bool counted) {
    session.run();
    if (!counted)
      return;
    result.last = session.launchTimes();
    for (size_t i = 0; i < times.size(); ++i)
      times[i].push_back(double(result.last[i]) * 1e-3);
  });
  session.setProfiling(false);
  result.runs = int64_t(whole.size());
  result.run = median(whole) * 1e3;
  for (auto &launch : times)
    result.medians.push_back(median(std::move(launch)));
  return result;
}

void printProfile(const Profile &profile, bool byTime) {
  size_t count = profile.launches.size();
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  if (byTime)
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      double x = profile.medians[a], y = profile.medians[b];
      return x > y || (x == y && a < b);
    });
  double sum = std::accumulate(profile.medians.begin(), profile.medians.end(), 0.0);
  double flops = 0, bytes = 0;

  printf("\nMedians of %lld runs, batch %lld\n", (long long)profile.runs,
         (long long)profile.batch);
  printf("%5s %5s %11s %7s %9s %8s  %-14s %-24s %s\n", "#", "wave", "time us", "share", "GFLOP/s",
         "GB/s", "op", "strategy", "name");
  auto row = [&](const std::string &number, const std::string &wave, double time, double share,
                 double itsFlops, double itsBytes, const char *op, const char *strategy,
                 const char *name) {
    double rate = time > 0 ? 1e-3 / time : 0; // Per microsecond to 1e9 per second.
    printf("%5s %5s %11.2f %6.1f%% %9.1f %8.1f  %-14s %-24s %s\n", number.c_str(), wave.c_str(),
           time, share * 100, itsFlops * rate, itsBytes * rate, printable(op).c_str(),
           printable(strategy).c_str(), printable(name).c_str());
  };
  std::map<std::string, double> byStrategy;
  for (size_t i : order) {
    const convoy_launch_info &launch = profile.launches[i];
    double itsFlops = double(launch.flops) * double(profile.batch);
    double itsBytes = double(launch.bytes) * double(profile.batch);
    double time = profile.medians[i];
    row(std::to_string(i), std::to_string(profile.waves[i]), time, sum > 0 ? time / sum : 0, itsFlops, itsBytes, orEmpty(launch.op),
        orEmpty(launch.strategy), orEmpty(launch.name));
    byStrategy[std::string(orEmpty(launch.op)) + " " + orEmpty(launch.strategy)] += time;
    flops += itsFlops;
    bytes += itsBytes;
  }
  row("sum", "", sum, 1, flops, bytes, "", "", "");
  printf("The whole run took %.2f us: %.2f us are between launches and in measuring them.\n",
         profile.run, profile.run - sum);

  std::vector<std::pair<double, std::string>> kinds;
  for (auto &[name, time] : byStrategy)
    kinds.push_back({time, name});
  std::sort(kinds.rbegin(), kinds.rend());
  puts("\nBy op and strategy");
  for (auto &[time, name] : kinds)
    printf("%17.2f %6.1f%%  %s\n", time, sum > 0 ? time / sum * 100 : 0, printable(name).c_str());
}

void writeProfile(Json &json, const Profile &profile) {
  json.key("profile").open('{');
  json.member("runs", profile.runs).member("run_us", profile.run);
  json.key("launches").open('[');
  for (size_t i = 0; i < profile.launches.size(); ++i) {
    const convoy_launch_info &launch = profile.launches[i];
    json.open('{').member("name", launch.name).member("op", launch.op);
    json.member("strategy", launch.strategy).member("kernel", launch.kernel);
    json.member("wave", int64_t(profile.waves[i]));
    json.member("tiles", launch.tiles).member("batched", launch.batched != 0);
    json.member("flops", launch.flops).member("bytes", launch.bytes);
    json.member("median_us", profile.medians[i]).close();
  }
  json.close().close();
}

std::string chromeTrace(const Profile &profile) {
  Json json;
  json.open('{').member("displayTimeUnit", "ns").key("traceEvents").open('[');
  double start = 0;
  for (size_t i = 0; i < profile.launches.size(); ++i) {
    const convoy_launch_info &launch = profile.launches[i];
    double duration = double(profile.last[i]) * 1e-3;
    json.open('{').member("name", launch.name).member("cat", launch.op).member("ph", "X");
    json.member("ts", start).member("dur", duration).member("pid", 1).member("tid", 1);
    json.key("args").open('{').member("launch", int64_t(i)).member("strategy", launch.strategy);
    json.member("kernel", launch.kernel).member("tiles", launch.tiles);
    double rate = duration > 0 ? 1e-3 * double(profile.batch) / duration : 0;
    json.member("GFLOP/s", double(launch.flops) * rate);
    json.member("GB/s", double(launch.bytes) * rate).close().close();
    start += duration;
  }
  json.close().close();
  return json.text();
}

} // namespace convoy::tools
