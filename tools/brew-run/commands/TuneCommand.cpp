//===- TuneCommand.cpp - brew-run tune ------------------------------------===//

#include "Session.h"

#include <cstdio>
#include <memory>

namespace brew::run {
namespace {

/// Returns names like "conv1+relu1", shortened to the width of the column.
std::string layersOf(const brew_step_info &step) {
  constexpr std::size_t kMaxLength = 32;
  std::string text;
  for (std::size_t i = 0; i < step.layer_count; ++i)
    text += (i ? "+" : "") + std::string(step.layers[i]);
  return text.size() > kMaxLength ? text.substr(0, kMaxLength - 3) + "..."
                                  : text;
}

std::string milliseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", seconds * 1e3);
  return text;
}

int tune(const PlanOptions &options) {
  Session session(options);
  std::printf("%-18s %-32s %-26s %10s %10s  %s\n", "program", "layers", "call",
              "first ms", "fastest ms", "implementation");
  std::size_t calls = 0, changed = 0;
  double untunedSeconds = 0, fastestSeconds = 0;
  session.tune([&](const brew_tuned_call &call) {
    const bool isChanged = std::string(call.untuned) != call.fastest;
    ++calls;
    changed += isChanged;
    untunedSeconds += call.untuned_seconds;
    fastestSeconds += call.fastest_seconds;
    std::printf("%-18s %-32s %-26s %10s %10s  %s%s\n",
                session.plan.programInfo(call.program).name,
                layersOf(session.plan.step(call.program, call.step)).c_str(),
                call.kind, milliseconds(call.untuned_seconds).c_str(),
                milliseconds(call.fastest_seconds).c_str(), call.fastest,
                isChanged
                    ? (" (first: " + std::string(call.untuned) + ")").c_str()
                    : "");
    std::fflush(stdout);
  });
  if (calls == 0) {
    std::printf("the plan has no library calls: there is nothing to choose\n");
    return 0;
  }
  char share[32];
  std::snprintf(share, sizeof share, "%.1f",
                untunedSeconds > 0 ? (1 - fastestSeconds / untunedSeconds) * 100
                                   : 0.0);
  std::printf(
      "%zu calls; %zu use another implementation than the default: %s ms "
      "instead of %s (%s %% less); stored in %s\n",
      calls, changed, milliseconds(fastestSeconds).c_str(),
      milliseconds(untunedSeconds).c_str(), share,
      timingCachePath(options).c_str());
  return 0;
}

} // namespace

void addTune(CLI::App &app, Action &action) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App *command = app.add_subcommand(
      "tune", "Benchmark implementations of library calls and store the "
              "fastest");
  addPlanOptions(*command, *options);
  command->callback(
      [options, &action] { action = [options] { return tune(*options); }; });
}

} // namespace brew::run
