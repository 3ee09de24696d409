// convoy-run: runs a compiled model, compares it with expected outputs, times it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-run/Compare.h"
#include "tools/convoy-run/Inputs.h"
#include "tools/convoy-run/Measure.h"
#include "tools/convoy-run/Print.h"
#include "tools/convoy-run/Session.h"
#include "tools/support/Error.h"
#include "tools/support/Options.h"
#include "tools/support/Printable.h"

#include <cstdio>
#include <filesystem>

using namespace convoy::tools;

namespace {

struct Settings {
  std::string model, target, labels, testData, json, trace;
  InputOptions input;
  std::vector<std::string> outputs; // DIR or NAME=FILE.
  int64_t top = 0;
  uint32_t threads = 0;
  double tolerance = 1e-4, absoluteTolerance = 0;
  bool benchmark = false, profile = false, byTime = false;
  MeasureOptions measure;
};

std::vector<double> numberList(const std::string &option, const std::string &text) {
  std::vector<double> list;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    list.push_back(Options::number(option, text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return list;
}

void addInputOptions(Options &options, Settings &settings) {
  InputOptions &input = settings.input;
  options.section("Inputs");
  options.value("input", "[NAME=]FILE",
                "by the file's ending:\n"
                "  .npy        numpy array\n"
                "  .pb         serialized onnx.TensorProto\n"
                "  .bin .raw   the tensor's bytes\n"
                "  .png .pgm .ppm   picture with pixels from 0 to 255\n"
                "Without NAME, inputs are taken in the model's order; convoy-inspect shows it.\n"
                "More files for one input are further images of the batch. Inputs without a\n"
                "file are generated.",
                [&](const std::string &text) {
                  // A '=' further back belongs to the path.
                  size_t equals = text.find('=');
                  if (equals == std::string::npos || text.rfind('/', equals) == 0)
                    input.files.push_back({"", text});
                  else
                    input.files.push_back({text.substr(0, equals), text.substr(equals + 1)});
                });
  options.value("fill", "KIND",
                "of generated inputs: random (default; floats in [-1, 1)), zeros,\n"
                "arange (i / n for floats)",
                [&](const std::string &kind) {
                  if (kind == "random")
                    input.fill = Fill::Random;
                  else if (kind == "zeros")
                    input.fill = Fill::Zeros;
                  else if (kind == "arange")
                    input.fill = Fill::Arange;
                  else
                    throw UsageError("--fill wants random, zeros or arange, not '" + kind + "'");
                });
  options.value("seed", "N", "of random inputs (default 0)", [&](const std::string &text) {
    input.seed = uint64_t(Options::integer("seed", text, 0, INT64_MAX));
  });
  options.value("batch", "N", "images in a run: of generated inputs, or copies of a single image",
                [&](const std::string &text) {
                  input.batch = Options::integer("batch", text, 1, 1 << 24);
                });
  options.flag("resize", "scale pictures to the input's size", input.resize);
  options.value("mean", "M[,M,M]", "subtract this from pixels, one for all channels or for each",
                [&](const std::string &text) { input.mean = numberList("mean", text); });
  options.value("std", "S[,S,S]", "then divide pixels by this", [&](const std::string &text) {
    input.std = numberList("std", text);
    for (double divisor : input.std)
      if (divisor == 0)
        throw UsageError("--std must not be 0");
  });
}

void addResultOptions(Options &options, Settings &settings) {
  options.section("Results");
  options.value("output", "DIR|NAME=FILE",
                "write all outputs to DIR/NAME.npy, or one to FILE (.npy, or .bin for its bytes)",
                [&](const std::string &text) { settings.outputs.push_back(text); });
  options.value("labels", "FILE", "names of classes, one a line; shows the best instead of numbers",
                [&](const std::string &text) { settings.labels = text; });
  options.value("top", "K", "show the K largest elements of the first output (default 5)",
                [&](const std::string &text) {
                  settings.top = Options::integer("top", text, 1, INT32_MAX);
                });
  options.value("test-data", "DIR",
                "compare with ONNX test data: DIR, or each DIR/test_data_set_N, holds\n"
                "input_0.pb, ..., output_0.pb, ... in the model's order",
                [&](const std::string &text) { settings.testData = text; });
  options.value("tolerance", "T",
                "largest error allowed, relative to an output's largest magnitude\n"
                "(default 1e-4; integers must be equal)",
                [&](const std::string &text) {
                  settings.tolerance = Options::number("tolerance", text);
                });
  options.value("absolute-tolerance", "T",
                "errors up to this are allowed too (default 0): for expected outputs that are\n"
                "themselves no better, such as small values of a logistic function",
                [&](const std::string &text) {
                  settings.absoluteTolerance = Options::number("absolute-tolerance", text);
                });
}

void addRunOptions(Options &options, Settings &settings) {
  options.section("Running");
  options.value("device", "NAME", "cpu (default)", [](const std::string &name) {
    if (name != "cpu")
      throw UsageError("--device wants cpu, not '" + name + "'");
  });
  options.value("target", "NAME", "run the variant for this target, e.g. x86-avx2, not the best",
                [&](const std::string &name) { settings.target = name; });
  options.value("use-profile", "NAME",
                "of a model with several sets of input shapes, the one to run, by its name or\n"
                "number (default: the first that the inputs fit; convoy-inspect lists them)",
                [&](const std::string &name) { settings.input.profile = name; });
  options.value("threads", "N", "threads of a run (default: as many as the process may use)",
                [&](const std::string &text) {
                  settings.threads = uint32_t(Options::integer("threads", text, 1, 4096));
                });
}

void addMeasureOptions(Options &options, Settings &settings) {
  options.section("Measuring");
  options.flag("benchmark", "time runs: minimum, median, 99th percentile", settings.benchmark);
  options.flag("profile", "time each launch, as a table", settings.profile);
  options.value("sort", "ORDER", "of the table: launch (default) or time",
                [&](const std::string &order) {
                  if (order != "launch" && order != "time")
                    throw UsageError("--sort wants launch or time, not '" + order + "'");
                  settings.byTime = order == "time";
                });
  options.value("trace", "FILE",
                "write the launches of a run, laid end to end, for chrome://tracing or Perfetto",
                [&](const std::string &path) { settings.trace = path; });
  options.value("json", "FILE", "write all measurements as JSON; - is standard output",
                [&](const std::string &path) { settings.json = path; });
  options.value("warmup", "N", "runs that are not counted (default: at least 3, and 0.2 s)",
                [&](const std::string &text) {
                  settings.measure.warmup = Options::integer("warmup", text, 0, INT32_MAX);
                });
  options.value("runs", "N", "runs that are counted (default: at least 10, and --seconds)",
                [&](const std::string &text) {
                  settings.measure.runs = Options::integer("runs", text, 1, INT32_MAX);
                });
  options.value("seconds", "S", "how long to measure (default 1)", [&](const std::string &text) {
    settings.measure.seconds = Options::number("seconds", text);
  });
}

Settings parse(int argc, char **argv) {
  Settings settings;
  Options options("convoy-run MODEL.cvy [--input [NAME=]FILE]... [options]",
                  "Runs a compiled model and shows its outputs.",
                  "Examples:\n"
                  "  convoy-run net.cvy --input cat.png --resize --labels names.txt --top 3\n"
                  "  convoy-run net.cvy --input x=x.npy --output results\n"
                  "  convoy-run net.cvy --test-data net/test_data_set_0 --threads 2\n"
                  "  convoy-run net.cvy --threads 1 --benchmark --profile --json times.json\n\n"
                  "Exit status: 0, 1 for an error or outputs that differ from --test-data,\n"
                  "2 for a wrong command line.");
  addInputOptions(options, settings);
  addResultOptions(options, settings);
  addRunOptions(options, settings);
  addMeasureOptions(options, settings);
  options.positional([&](const std::string &word) {
    if (!settings.model.empty())
      throw UsageError("more than one model: '" + settings.model + "' and '" + word + "'");
    settings.model = word;
  });
  options.parse(argc, argv);
  if (settings.model.empty())
    throw UsageError("no model given");
  if (!settings.testData.empty() && (!settings.input.files.empty() || settings.input.batch))
    throw UsageError("--test-data brings its own inputs: --input and --batch do not go with it");
  return settings;
}

/// A tensor's name as a file name.
std::string fileName(const std::string &name) {
  std::string result = name;
  for (char &c : result)
    if (c == '/' || c == '\\' || c == '\0')
      c = '_';
  return result.empty() || result[0] == '.' ? "_" + result : result;
}

void writeTensor(const std::string &path, const Tensor &tensor) {
  if (path.size() > 4 && path.compare(path.size() - 4, 4, ".bin") == 0)
    writeFile(path, tensor.bytes.data(), tensor.bytes.size());
  else if (path.size() > 4 && path.compare(path.size() - 4, 4, ".npy") == 0)
    writeNpy(path, tensor);
  else
    throw Error("--output " + path + ": the name must end in .npy or .bin");
}

/// Writes as the --output options say; `subfolder` keeps several data sets apart.
void writeOutputs(const Settings &settings, const std::vector<Value> &values,
                  const std::vector<Tensor> &tensors, const std::string &subfolder = "") {
  for (const std::string &output : settings.outputs) {
    size_t equals = output.find('=');
    if (equals == std::string::npos) {
      std::filesystem::path folder = std::filesystem::path(output) / subfolder;
      std::error_code error;
      std::filesystem::create_directories(folder, error);
      if (error)
        throw Error(folder.string() + ": " + error.message());
      for (size_t i = 0; i < values.size(); ++i)
        writeNpy(folder / (fileName(values[i].name) + ".npy"), tensors[i]);
      continue;
    }
    size_t i = 0;
    while (i < values.size() && values[i].name != output.substr(0, equals))
      ++i;
    if (i == values.size())
      throw Error("the model has no output '" + output.substr(0, equals) + "'");
    writeTensor(output.substr(equals + 1), tensors[i]);
  }
}

/// The number of outputs that are not as expected.
int runTestData(Session &session, const Settings &settings, FILE *out) {
  int passed = 0, failed = 0;
  std::vector<std::string> sets = testDataSets(settings.testData);
  for (const std::string &folder : sets) {
    Inputs inputs = loadTestInputs(session, settings.input, folder);
    session.start(inputs.profile, settings.threads);
    session.setInputs(inputs.tensors, inputs.sources);
    session.run();
    std::vector<Value> values = session.outputs(inputs.profile);
    std::vector<Tensor> found = session.results();
    writeOutputs(settings, values, found,
                 sets.size() > 1 ? std::filesystem::path(folder).filename().string() : "");
    for (size_t i = 0; i < values.size(); ++i) {
      std::string path = folder + format("/output_%zu.pb", i);
      Comparison result = compare(found[i], readTensorProto(path), settings.tolerance,
                                  settings.absoluteTolerance);
      (result.passed ? passed : failed) += 1;
      fprintf(out, "%s %s: '%s' %s\n", result.passed ? "ok    " : "FAILED",
             printable(path).c_str(), printable(values[i].name).c_str(), result.text.c_str());
    }
  }
  fprintf(out, "%d passed, %d failed\n", passed, failed);
  return failed;
}

void showResults(Session &session, const Settings &settings, const Inputs &inputs) {
  std::vector<Value> values = session.outputs(inputs.profile);
  std::vector<Tensor> tensors = session.results();
  writeOutputs(settings, values, tensors);
  if (!settings.labels.empty() || settings.top) {
    std::vector<std::string> labels;
    if (!settings.labels.empty())
      labels = readLabels(settings.labels);
    if (tensors.empty())
      throw Error("the model has no outputs");
    printTop(tensors[0], labels, settings.top ? settings.top : 5, inputs.images);
    return;
  }
  for (size_t i = 0; i < values.size(); ++i)
    printSummary(values[i].name, tensors[i]);
}

int body(int argc, char **argv) {
  Settings settings = parse(argc, argv);
  // JSON on standard output stands there alone.
  bool quiet = settings.json == "-";
  bool measuring = settings.benchmark || settings.profile || !settings.trace.empty();
  if (!settings.json.empty() && !measuring)
    throw UsageError("--json writes measurements: it needs --benchmark or --profile");

  Clock::time_point start = Clock::now();
  Session session(settings.model, settings.target);
  double loadTime = millisecondsSince(start);

  int failed = 0;
  if (!settings.testData.empty()) {
    failed = runTestData(session, settings, quiet ? stderr : stdout);
    if (!measuring)
      return failed ? 1 : 0;
  }
  Inputs inputs = settings.testData.empty()
                      ? makeInputs(session, settings.input)
                      : loadTestInputs(session, settings.input,
                                       testDataSets(settings.testData).front());
  start = Clock::now();
  session.start(inputs.profile, settings.threads);
  session.setInputs(inputs.tensors, inputs.sources);
  double startTime = millisecondsSince(start);
  start = Clock::now();
  session.run();
  double firstRun = millisecondsSince(start);
  if (settings.testData.empty() && (!measuring || settings.top || !settings.labels.empty() ||
                                    !settings.outputs.empty()) && !quiet)
    showResults(session, settings, inputs);
  if (!measuring)
    return 0;

  Json json;
  json.open('{').member("model", settings.model);
  json.member("name", convoy_model_name(session.get()));
  json.member("target", convoy_model_target(session.get()));
  json.member("use_profile", convoy_model_profile_name(session.get(), inputs.profile));
  json.member("threads", session.threads()).member("batch", session.batch());
  json.member("load_ms", loadTime).member("start_ms", startTime);
  json.member("first_run_ms", firstRun);
  if (settings.benchmark) {
    Times times = benchmark(session, settings.measure);
    writeBenchmark(json, times, session);
    if (!quiet) {
      printBenchmark(times, session);
      printf("  loading %.3f ms   starting %.3f ms   first run %.3f ms\n", loadTime, startTime,
             firstRun);
    }
  }
  if (settings.profile || !settings.trace.empty()) {
    Profile measured = profile(session, settings.measure);
    writeProfile(json, measured);
    if (settings.profile && !quiet)
      printProfile(measured, settings.byTime);
    if (!settings.trace.empty()) {
      std::string trace = chromeTrace(measured);
      writeFile(settings.trace, trace.data(), trace.size());
    }
  }
  json.close();
  if (!settings.json.empty())
    writeFile(settings.json, json.text().data(), json.text().size());
  return failed ? 1 : 0;
}

} // namespace

int main(int argc, char **argv) { return runTool("convoy-run", body, argc, argv); }
