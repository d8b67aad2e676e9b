//===- OnSimulator.h - Test plans for the CUDA simulator --------*- C++ -*-===//
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace brew::test {

/// During its lifetime, linearModel() creates plans for the simulator. The
/// simulator's folder stays set.
class OnSimulator {
public:
  OnSimulator() {
    if (const char *value = std::getenv("BREW_TEST_CUDASIM"))
      previous = value;
    setenv("BREW_TEST_CUDASIM", "1", 1);
    setenv("BREW_CUDASIM", CUDASIM_FOLDER, 1);
  }
  ~OnSimulator() {
    if (!previous)
      unsetenv("BREW_TEST_CUDASIM");
  }
  OnSimulator(const OnSimulator &) = delete;
  OnSimulator &operator=(const OnSimulator &) = delete;

private:
  std::optional<std::string> previous;
};

} // namespace brew::test
