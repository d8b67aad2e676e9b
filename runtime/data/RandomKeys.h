//===- RandomKeys.h - Keys of layers that draw random numbers ---*- C++ -*-===//
//
// Kernels compute random bits from a key of two words that changes with every
// run of the program (dialects/Brew/RandomBits.h). The keys of a layer are the
// blocks of a stream of its own, so that they depend on the seed, the program,
// the layer and the number of runs alone.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "caffe/RandomStream.h"
#include "runtime/executor/Executor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime {

class RandomKeys {
public:
  /// The key of `layer`, which `program` reads from `buffer`. Throws Error (1)
  /// if the buffer is no pair of I32.
  void add(const plan::Manifest &manifest, const std::string &program,
           const std::string &layer, std::uint32_t buffer, std::uint64_t seed);

  /// Writes the keys of the next run.
  void feed(Executor &executor);

  /// How many runs have had their keys.
  std::uint64_t runs() const { return count; }
  void seek(std::uint64_t runs) { count = runs; }

  /// The layers, in the order they were added.
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
