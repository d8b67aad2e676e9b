//===- plan.hpp - Plans: opening and inspecting -----------------*- C++ -*-===//
//
// Part of brew.hpp, which documents the rules common to all calls.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <brew/plan.h>
#include <brew/support.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace brew::api {

class Plan {
public:
  explicit Plan(const std::string &path) {
    brew_plan *opened = nullptr;
    const brew_status status = brew_plan_open(path.c_str(), &opened);
    plan.reset(opened);
    detail::check(status, brew_plan_message(opened));
  }
  /// Opens bytes in memory, which are copied unless `borrow` is set (see
  /// brew.h).
  Plan(const void *bytes, std::size_t size, const std::string &name,
       bool borrow = false) {
    brew_plan *opened = nullptr;
    const brew_status status =
        brew_plan_open_memory(bytes, size, name.c_str(), borrow, &opened);
    plan.reset(opened);
    detail::check(status, brew_plan_message(opened));
  }

  const brew_plan *get() const { return plan.get(); }

  /// Describes the whole plan as JSON.
  const char *describe() const {
    const char *json = nullptr;
    detail::check(brew_plan_describe(get(), &json),
                  "the plan cannot be described");
    return json;
  }
  brew_plan_info info() const {
    auto info = makeStruct<brew_plan_info>();
    detail::check(brew_plan_get_info(get(), &info), "no open plan");
    return info;
  }
  int programs() const {
    return static_cast<int>(brew_plan_program_count(get()));
  }
  brew_program_info programInfo(int program) const {
    auto info = makeStruct<brew_program_info>();
    detail::check(brew_plan_get_program(get(), program, &info),
                  "the plan has no program of this number");
    return info;
  }
  /// Returns the transform that the plan records for an input, if any. Its
  /// pointers are valid as long as the plan.
  std::optional<brew_input_transform>
  inputTransform(int program, const std::string &input) const {
    auto transform = makeStruct<brew_input_transform>();
    int found = 0;
    detail::check(brew_plan_get_input_transform(get(), program, input.c_str(),
                                                &transform, &found),
                  "the plan has no program of this number");
    return found ? std::optional(transform) : std::nullopt;
  }
  brew_step_info step(int program, std::size_t index) const {
    auto info = makeStruct<brew_step_info>();
    detail::check(brew_plan_get_step(get(), program, index, &info),
                  "the program has no step of this number");
    return info;
  }
  /// Returns the number of a program, or -1.
  int findProgram(const std::string &name) const {
    return brew_plan_find_program(get(), name.c_str());
  }
  /// Returns the number of a program; throws if there is no such program.
  int program(const std::string &name) const {
    const int found = findProgram(name);
    if (found < 0)
      throw Error(BREW_USAGE,
                  "the plan has no program '" + name + "'; it has: " + names());
    return found;
  }
  /// The names of all programs, separated by commas.
  std::string names() const {
    std::string list;
    for (int i = 0; i < programs(); ++i)
      list += (i ? ", " : "") + std::string(programInfo(i).name);
    return list;
  }

private:
  detail::UniqueHandle<brew_plan, brew_plan_destroy> plan;
};

} // namespace brew::api
