// Makes a failing graph small.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/convoy-fuzz/Shrink.h"

#include <algorithm>

using namespace convoy::fuzz;

namespace {

// Where generate() draws the number of its steps.
constexpr size_t kStepCount = 1;

class Shrinker {
public:
  Shrinker(const GeneratorOptions &options, const Try &attempt, size_t maxTries)
      : options(options), attempt(attempt), maxTries(maxTries) {}

  Shrunk run(const std::vector<uint32_t> &choices);

private:
  bool isLeft() const { return best.tries < maxTries; }
  bool fails(const Graph &graph);
  bool accept(std::vector<uint32_t> choices);
  bool dropSteps();
  bool lowerNumbers();
  bool simplifyGraph();
  bool dropOutputs();
  bool cutNode(size_t node);

  const GeneratorOptions &options;
  const Try &attempt;
  size_t maxTries;
  std::vector<uint32_t> current;
  std::vector<Choices::Span> spans;
  Shrunk best;
  bool first = true;
};

} // namespace

// Whether the graph fails as the best one does; it is the best one then.
bool Shrinker::fails(const Graph &graph) {
  if (!first && !isLeft())
    return false;
  if (graph.nodes.empty() || graph.outputs.empty())
    return false;
  ++best.tries;
  Verdict verdict = attempt(toCase(graph));
  if (verdict.failure.empty() || (!first && verdict.failure != best.verdict.failure))
    return false;
  first = false;
  best.graph = graph;
  best.verdict = verdict;
  return true;
}

bool Shrinker::accept(std::vector<uint32_t> candidate) {
  Choices choices(std::move(candidate));
  Graph graph = generate(choices, options);
  // No step may make the list longer, or larger at its first difference: shrinking ends.
  std::vector<uint32_t> record = choices.record();
  if (!current.empty() &&
      (record.size() > current.size() || (record.size() == current.size() && record >= current)))
    return false;
  if (!fails(graph))
    return false;
  current = std::move(record);
  spans = choices.spans();
  return true;
}

// Leaves out runs of steps, long ones first.
bool Shrinker::dropSteps() {
  bool any = false;
  for (size_t length = std::max<size_t>(1, spans.size() / 2); length > 0; length /= 2)
    for (size_t last = spans.size(); last >= length && isLeft();) {
      size_t begin = last - length;
      std::vector<uint32_t> candidate = current;
      candidate.erase(candidate.begin() + spans[begin].begin,
                      candidate.begin() + spans[last - 1].end);
      candidate[kStepCount] -=
          static_cast<uint32_t>(std::min<size_t>(length, candidate[kStepCount]));
      if (accept(std::move(candidate))) {
        any = true;
        last = std::min(begin, spans.size());
      } else {
        --last;
      }
    }
  return any;
}

bool Shrinker::lowerNumbers() {
  bool any = false;
  // Many at once, then each.
  for (size_t length : {16, 4, 1})
    for (size_t i = 0; i < current.size() && isLeft(); i += length) {
      size_t end = std::min(i + length, current.size());
      if (std::all_of(current.begin() + i, current.begin() + end,
                      [](uint32_t n) { return n == 0; }))
        continue;
      std::vector<uint32_t> candidate = current;
      std::fill(candidate.begin() + i, candidate.begin() + end, 0);
      if (accept(candidate)) {
        any = true;
        continue;
      }
      if (length != 1)
        continue;
      for (uint32_t smaller : {current[i] / 2, current[i] - 1}) {
        if (i >= current.size() || smaller >= current[i] || current[i] > 64)
          break;
        candidate = current;
        candidate[i] = smaller;
        if (accept(candidate)) {
          any = true;
          break;
        }
      }
    }
  return any;
}

// Keeps one output if one is enough, else drops as many as can be.
bool Shrinker::dropOutputs() {
  if (best.graph.outputs.size() == 1)
    return false;
  for (int output : std::vector<int>(best.graph.outputs)) {
    Graph graph = best.graph;
    graph.outputs = {output};
    graph.dropUnused();
    if (fails(graph))
      return true;
  }
  for (size_t i = 0; i < best.graph.outputs.size(); ++i) {
    Graph graph = best.graph;
    graph.outputs.erase(graph.outputs.begin() + i);
    graph.dropUnused();
    if (fails(graph))
      return true;
  }
  return false;
}

// The results of a node become inputs, with data in their range.
bool Shrinker::cutNode(size_t node) {
  Graph graph = best.graph;
  for (int output : graph.nodes[node].outputs) {
    Choices choices(std::vector<uint32_t>{7});
    Builder builder(choices);
    Value &value = graph.values[output];
    Range range = value.range;
    // The range that a constant was made with serves data; what is computed can have no elements.
    range.error = 0;
    builder.input(value.type(), value.dims(), range);
    value.tensor = builder.graph.values[0].tensor;
    value.kind = Value::Input;
  }
  std::vector<int> cut = graph.nodes[node].outputs;
  graph.nodes.erase(graph.nodes.begin() + node);
  graph.outputs.erase(
      std::remove_if(graph.outputs.begin(), graph.outputs.end(),
                     [&](int output) { return std::count(cut.begin(), cut.end(), output); }),
      graph.outputs.end());
  graph.dropUnused();
  return fails(graph);
}

bool Shrinker::simplifyGraph() {
  bool any = dropOutputs();
  for (size_t node = best.graph.nodes.size(); node-- > 0 && isLeft();)
    if (node < best.graph.nodes.size() && best.graph.nodes.size() > 1)
      any |= cutNode(node);
  return any;
}

Shrunk Shrinker::run(const std::vector<uint32_t> &choices) {
  if (!accept(choices))
    return std::move(best);
  while (isLeft()) {
    bool any = dropSteps();
    any |= lowerNumbers();
    if (!any)
      break;
  }
  // The graph's own steps find what is left even where the choices have used up all tries.
  maxTries += 100;
  while (isLeft() && simplifyGraph()) {
  }
  return std::move(best);
}

Shrunk convoy::fuzz::shrink(const std::vector<uint32_t> &choices, const GeneratorOptions &options,
                            const Try &attempt, size_t maxTries) {
  return Shrinker(options, attempt, maxTries).run(choices);
}
