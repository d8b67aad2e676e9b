//===- HookFuzz.cpp - Fuzz entry: hooks, their conditions and schedules ---===//
//
// Reads each line of the input as a hook and as a condition, and the full input
// as a schedule of values.
//
//===----------------------------------------------------------------------===//
#include "Fuzz.h"
#include "runtime/train/hooks/Criterion.h"
#include "runtime/train/hooks/HookLine.h"
#include "runtime/train/hooks/ValueSchedule.h"

#include <set>
#include <sstream>

using namespace brew;
using namespace brew::runtime;

namespace {

/// A test net with two outputs.
plan::Manifest manifestWithTest() {
  plan::Manifest manifest;
  for (int count : {1, 4}) {
    plan::Buffer &buffer = *manifest.add_buffers();
    buffer.add_dims(count);
  }
  plan::Program &program = *manifest.add_programs();
  program.set_name(plan::programs::testName(0));
  for (int i : {0, 1}) {
    plan::Output &output = *program.add_outputs();
    output.set_blob(i ? "top[k]" : "loss");
    output.set_buffer_index(static_cast<std::uint32_t>(i));
    output.set_loss_weight(i ? 0 : 1);
  }
  return manifest;
}

/// Checks that a text is accepted, or rejected with a location inside it.
template <typename Read>
void attemptText(const std::string &text, Read &&read) {
  try {
    read();
  } catch (const TextError &problem) {
    if (problem.offset > text.size() || problem.text.empty())
      std::abort();
    markedText("text", text, problem);
  }
}

void evaluateCriterion(const std::string &text, const plan::Manifest &manifest,
                       const std::set<std::string> &hooks) {
  attemptText(text, [&] {
    Criterion criterion(text, {manifest, 1, &hooks}, true);
    MetricValues values;
    ExternalFlags flags;
    flags.raise("a");
    for (int i = 0; i < 3; ++i) {
      criterion.holds(values, &flags);
      values.update(event::TestDone{i, 0, {}, {{"loss", i * .5, 1}}});
      values.setHook("a", i);
      criterion.reason(values);
    }
    criterion.restart();
  });
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data,
                                      std::size_t size) {
  static const plan::Manifest manifest = manifestWithTest();
  static const std::set<std::string> hooks = {"a", "mean"};
  std::istringstream lines{std::string(fuzz::textOf(data, size))};
  for (std::string line; std::getline(lines, line);) {
    attemptText(line, [&] {
      const HookLine hook = readHookLine(line);
      for (std::uint64_t now : {1, 7, 1000})
        if (hook.schedule.isDue(now - 1, now) && !hook.schedule.lastDue(now))
          std::abort();
      if (!hook.criterion.empty())
        evaluateCriterion(hook.criterion, manifest, hooks);
    });
    evaluateCriterion(line, manifest, hooks);
  }
  const std::string file = fuzz::fileOf(data, size);
  fuzz::attempt([&] {
    const ValueSchedule schedule(file, {}, size % 2 == 1,
                                 [](const std::string &) {});
    for (int iteration : {0, 5, 1 << 30})
      schedule.at(iteration);
  });
  return 0;
}
