//===- InspectCommand.cpp - brew-run inspect ------------------------------===//

#include "Session.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>

namespace brew::run {
namespace {

using nlohmann::json;

struct InspectOptions {
  std::string plan;
  bool json = false;
};

std::string textOf(const json &value) { return value.get<std::string>(); }
unsigned long long numberOf(const json &value) {
  return value.get<unsigned long long>();
}

std::string join(const json &texts, const char *separator) {
  std::string result;
  for (const json &text : texts)
    result += (result.empty() ? "" : separator) + textOf(text);
  return result;
}

/// Returns, for example, "64 x 3 x 5 x 5"; without dimensions, "a scalar".
std::string shapeText(const json &dims) {
  std::string text;
  for (const json &dim : dims)
    text += (text.empty() ? "" : " x ") + std::to_string(dim.get<long long>());
  return text.empty() ? "a scalar" : text;
}

void printTarget(const json &target) {
  std::string description =
      textOf(target["cpu"]) + " (" + textOf(target["triple"]) + ")";
  if (target["kind"] == "CUDA") {
    description = join(target["archs"], ", ");
    if (target["math"] == "TF32")
      description += ", products in TF32";
  }
  std::printf("target: %s %s, %s\n", textOf(target["kind"]).c_str(),
              description.c_str(), textOf(target["precision"]).c_str());
}

void printParameters(const json &parameters) {
  if (!parameters.empty())
    std::printf("\nparameters:\n");
  for (const json &parameter : parameters) {
    std::string sharers;
    for (const json &sharer : parameter["sharers"])
      sharers += ", shared by " + textOf(sharer["layer"]) + "/" +
                 std::to_string(numberOf(sharer["index"]));
    std::printf("  %s/%llu  %s  lr_mult %g, decay_mult %g%s\n",
                textOf(parameter["layer"]).c_str(),
                numberOf(parameter["index"]),
                shapeText(parameter["shape"]).c_str(),
                parameter["lr_mult"].get<double>(),
                parameter["decay_mult"].get<double>(), sharers.c_str());
  }
}

void printSteps(const json &plan, const json &program) {
  int number = 0;
  for (const json &step : program["steps"]) {
    std::string operands;
    for (const json &operand : step["operands"]) {
      const std::string access = textOf(operand["access"]);
      operands += (access == "read"    ? " "
                   : access == "write" ? " ="
                                       : " +=") +
                  textOf(plan["buffers"][numberOf(operand["buffer"])]["name"]);
    }
    if (step.contains("generated"))
      operands += " (or kernel " + textOf(step["generated"]) + ")";
    std::printf("  %4d %s %-24s %s:%s\n", number++,
                step["backward"].get<bool>() ? "<" : ">",
                join(step["layers"], "+").c_str(),
                textOf(step["action"]).c_str(), operands.c_str());
  }
}

void printProgram(const json &plan, const json &program, bool isFirst) {
  const json &memory = program["memory"];
  std::printf("\nprogram %s: %d steps, %llu arena bytes (at least %llu are "
              "needed, Caffe holds %llu)\n",
              textOf(program["name"]).c_str(),
              static_cast<int>(program["steps"].size()),
              numberOf(memory["arena_bytes"]),
              numberOf(memory["lower_bound_bytes"]),
              numberOf(memory["caffe_bytes"]));
  printSteps(plan, program);
  std::printf("  buffers (name, arena, offset, size, first and last step):\n");
  for (const json &buffer : plan["buffers"]) {
    // Buffers that programs share are listed with the first program.
    const bool shared = !buffer.contains("program");
    if (shared ? !isFirst : buffer["program"] != program["name"])
      continue;
    const std::string lifetime =
        buffer.contains("first_step")
            ? std::to_string(numberOf(buffer["first_step"])) + ".." +
                  std::to_string(buffer.contains("last_step")
                                     ? numberOf(buffer["last_step"])
                                     : 0)
            : "always";
    std::printf("    %-28s %-11s %10llu %10llu  %s\n",
                textOf(buffer["name"]).c_str(), textOf(buffer["arena"]).c_str(),
                numberOf(buffer["offset"]), numberOf(buffer["size"]),
                lifetime.c_str());
  }
}

void printText(const json &plan) {
  std::printf("net '%s', written by %s\n", textOf(plan["net"]).c_str(),
              textOf(plan["producer"]).c_str());
  printTarget(plan["target"]);
  std::printf("\nmemory:\n");
  for (const json &arena : plan["arenas"])
    std::printf("  %-11s %12llu bytes\n", textOf(arena["kind"]).c_str(),
                numberOf(arena["size"]));
  printParameters(plan["parameters"]);
  bool first = true;
  for (const json &program : plan["programs"]) {
    printProgram(plan, program, first);
    first = false;
  }
}

int inspect(const InspectOptions &options) {
  // Create no session, so that plans for other machines can be inspected, too.
  const api::Plan plan = openPlan(options.plan);
  if (options.json)
    std::printf("%s\n", plan.describe());
  else
    printText(json::parse(plan.describe()));
  return 0;
}

} // namespace

void addInspect(CLI::App &app, Action &action) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App *command = app.add_subcommand(
      "inspect", "Show a plan's programs, buffers and memory");
  addPlan(*command, options->plan);
  command->add_flag("--json", options->json, "Print JSON");
  command->callback(
      [options, &action] { action = [options] { return inspect(*options); }; });
}

} // namespace brew::run
