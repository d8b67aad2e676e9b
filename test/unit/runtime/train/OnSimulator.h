//===- OnSimulator.h - Test plans for the CUDA simulator --------*- C++ -*-===//
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace brew::test {

/// During its lifetime linearModel() makes plans for the simulator.
class OnSimulator {
public:
  OnSimulator() {
    if (const char *value = std::getenv("BREW_TEST_CUDASIM"))
      before = value;
    setenv("BREW_TEST_CUDASIM", "1", 1);
    setenv("BREW_CUDASIM", CUDASIM_FOLDER, 1);
  }
  ~OnSimulator() {
    if (!before)
      unsetenv("BREW_TEST_CUDASIM");
  }
  OnSimulator(const OnSimulator &) = delete;
  OnSimulator &operator=(const OnSimulator &) = delete;

private:
  std::optional<std::string> before;
};

} // namespace brew::test
