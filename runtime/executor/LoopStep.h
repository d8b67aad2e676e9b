//===- LoopStep.h - A loop, ready to run ------------------------*- C++ -*-===//
#pragma once

#include "plan/Operands.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace brew::runtime {

/// Repeats steps. Between iterations it moves the arguments of launches. `Step`
/// is the class of the device's steps, `Launch` the class of its launches.
template <typename Step, typename Launch> class LoopStep : public Step {
public:
  explicit LoopStep(const plan::Loop &loop)
      : iterations(loop.iterations()),
        lastIterationSteps(
            static_cast<std::size_t>(plan::lastIterationSteps(loop))) {}

  /// Adds a library call.
  void add(std::unique_ptr<Step> call) { steps.push_back(std::move(call)); }
  /// Adds a launch, whose arguments change by `strides` bytes.
  void add(std::unique_ptr<Launch> launch, std::vector<std::int64_t> strides) {
    moving.push_back({launch.get(), launch->arguments, std::move(strides)});
    steps.push_back(std::move(launch));
  }

  std::uint64_t scratchBytes() const override {
    std::uint64_t bytes = 0;
    for (const std::unique_ptr<Step> &step : steps)
      bytes = std::max(bytes, step->scratchBytes());
    return bytes;
  }
  std::string describe() const override {
    std::string text = "loop of ";
    for (const std::unique_ptr<Step> &step : steps)
      text += (step == steps.front() ? "" : ", ") + step->describe();
    return text;
  }

protected:
  template <typename Context> void runAll(const Context &context) {
    for (const MovingLaunch &moved : moving)
      moved.launch->arguments = moved.first;
    for (std::int64_t i = 1; i < iterations; ++i) {
      for (const std::unique_ptr<Step> &step : steps)
        step->run(context);
      for (const MovingLaunch &moved : moving)
        for (std::size_t argument = 0; argument < moved.strides.size();
             ++argument)
          moved.launch->move(argument, moved.strides[argument]);
    }
    for (std::size_t i = 0; i < lastIterationSteps; ++i)
      steps[i]->run(context);
  }

  std::vector<std::unique_ptr<Step>> steps;

private:
  struct MovingLaunch {
    Launch *launch;
    decltype(Launch::arguments) first; ///< of the first iteration
    std::vector<std::int64_t> strides;
  };

  const std::int64_t iterations;
  const std::size_t lastIterationSteps;
  std::vector<MovingLaunch> moving;
};

/// Adds the steps of `loop` to `target`. `call` creates a library call,
/// `launch` a launch.
template <typename Target, typename MakeCall, typename MakeLaunch>
void addLoopSteps(const plan::Manifest &manifest, const plan::Loop &loop,
                  Target &target, const MakeCall &call,
                  const MakeLaunch &launch) {
  for (const plan::Step &step : loop.steps()) {
    if (!step.has_launch()) {
      target.add(call(step));
      continue;
    }
    const std::vector<std::uint32_t> arguments =
        plan::kernelArguments(manifest, step);
    std::vector<std::int64_t> strides;
    for (std::size_t i = 0; i < arguments.size(); ++i)
      strides.push_back(step.operands(static_cast<int>(i)).loop_stride());
    target.add(launch(step.launch().kernel_index(), arguments),
               std::move(strides));
  }
}

} // namespace brew::runtime
