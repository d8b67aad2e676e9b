//===- RandomKeys.h - Keys of random number layers --------------*- C++ -*-===//
//
// Kernels compute random bits from a two-word key that changes with every run
// of the program (dialects/Brew/RandomBits.h). Each layer draws its keys from
// its own stream, so that they depend only on the seed, the program, the layer
// and the number of the run.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "caffe/RandomStream.h"
#include "plan/plan.pb.h"
#include "runtime/executor/Executor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime {

/// The keys of all layers of a program that draw random numbers.
class RandomKeys {
public:
  RandomKeys(const plan::Program &program, std::uint64_t seed);

  /// Writes the keys of the next run.
  void feed(Executor &executor);

  /// Returns the number of runs so far.
  std::uint64_t runs() const { return count; }
  /// Continues as after `runs` runs.
  void seek(std::uint64_t runs) { count = runs; }

  /// Returns the layers, in the order of the program.
  std::vector<std::string> layers() const;

private:
  struct Key {
    std::string layer;
    std::uint32_t buffer;
    caffe::RandomStream stream;
  };
  std::vector<Key> keys;
  std::uint64_t count = 0;
};

} // namespace brew::runtime
