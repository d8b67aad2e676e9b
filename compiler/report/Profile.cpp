//===- Profile.cpp - Measured times of a plan's steps ---------------------===//
#include "compiler/report/Profile.h"

#include "frontends/prototxt/text/PrototxtFile.h"
#include "plan/StepDescription.h"
#include "support/Error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace brew::compiler {
namespace {

using nlohmann::json;

/// A step in the trace.
struct TracedStep {
  std::string action; ///< plan::describeAction()
  std::uint64_t bytes, flops;
  std::vector<double> seconds;
};

/// Returns the steps of a trace in their order. Throws json::exception if the
/// events are not those that brew-run writes.
std::vector<TracedStep> stepsOf(const json &trace) {
  std::vector<TracedStep> steps;
  for (const json &event : trace.at("traceEvents")) {
    const auto arguments = event.find("args");
    if (arguments == event.end() || !arguments->contains("step"))
      continue;
    const auto index = arguments->at("step").get<std::size_t>();
    if (index == steps.size()) // the first iteration
      steps.push_back({arguments->at("implementation"), arguments->at("bytes"),
                       arguments->at("flops"), {}});
    constexpr double kMicrosecond = 1e-6;
    if (index < steps.size())
      steps[index].seconds.push_back(event.at("dur").get<double>() *
                                     kMicrosecond);
  }
  return steps;
}

double medianOf(std::vector<double> values) {
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

const plan::Program *findProgram(const plan::Manifest &manifest,
                                 const std::string &name) {
  for (const plan::Program &program : manifest.programs())
    if (program.name() == name)
      return &program;
  return nullptr;
}

} // namespace

MeasuredTimes readProfile(const std::string &path,
                          const plan::Manifest &manifest) {
  const std::string text = prototxt::readTextFile(path);
  std::string programName;
  std::vector<TracedStep> steps;
  try {
    const json trace = json::parse(text);
    programName = trace.at("otherData").at("program");
    steps = stepsOf(trace);
  } catch (const json::exception &) {
    throw badInput(path +
                   ": no trace of 'brew-run time --profile' (a JSON file)");
  }
  const std::string recompile =
      "; measure the plan that brewc makes with the same options";
  const plan::Program *program = findProgram(manifest, programName);
  if (!program)
    throw badInput(path + ": measures a program '" + programName +
                   "', which this plan lacks" + recompile);
  if (steps.size() != static_cast<std::size_t>(program->steps_size()))
    throw badInput(path + ": measures " + std::to_string(steps.size()) +
                   " steps of " + programName + ", which has " +
                   std::to_string(program->steps_size()) + recompile);
  MeasuredTimes times;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const plan::Step &step = program->steps(static_cast<int>(i));
    const std::string action = plan::describeAction(manifest, step);
    if (steps[i].action != action)
      throw badInput(path + ": step " + std::to_string(i) + " of " +
                     programName + " is '" + steps[i].action + "' there and '" +
                     action + "' here" + recompile);
    if (steps[i].bytes != step.bytes() || steps[i].flops != step.flops())
      throw badInput(path + ": step " + std::to_string(i) + " of " +
                     programName + " ('" + action +
                     "') moves or computes other amounts there" + recompile);
    times[&step] = medianOf(std::move(steps[i].seconds));
  }
  return times;
}

} // namespace brew::compiler
