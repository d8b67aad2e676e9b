//===- NanCheck.h - Search for the first NaN or Inf -------------*- C++ -*-===//
//
// Each iteration only checks the loss and the gradients of the parameters,
// before the update: that is cheap, and an earlier value that is not finite
// nearly always reaches them. If they are not finite, the iteration is repeated
// with the same records, random numbers and state, and all values that a step
// reads or writes are checked after each step.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/cpu/Threads.h"
#include "runtime/session/Session.h"
#include "runtime/train/watch/FiniteScan.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace brew::runtime {

/// Searches the training program for values that are not finite.
class NanCheck {
public:
  /// `session` must outlive this object.
  explicit NanCheck(Session &session);

  /// Saves the state needed to repeat an iteration. Call it before the
  /// iteration feeds its first batch.
  void begin();

  /// Returns whether the loss or a gradient is not finite. Call it after the
  /// passes of an iteration, with the mean loss and summed gradients. With a
  /// loss scale (f16), ignores such gradients as long as the update can halve
  /// the scale.
  bool foundNonFinite(double loss) const;

  struct Finding {
    /// The value that is not finite, and where: a sentence without a full stop.
    std::string text;
    /// A parameter was not finite before the iteration.
    bool inParameters;
    /// Orders findings by time; kNotReproduced if it did not occur again.
    std::uint64_t order;
  };
  static constexpr std::uint64_t kNotReproduced = ~std::uint64_t(0);
  /// Repeats the iteration's `passes` batches and returns the first value that
  /// is not finite. Then restores readers, random numbers and state to those
  /// before the iteration. All ranks must call it and run all steps, since some
  /// may be all-reduces.
  Finding find(int passes);
  /// Returns a description of the first parameter that is not finite, or
  /// nullopt. Call it before a snapshot.
  std::optional<std::string> badParameter() const;

private:
  bool areGradientsFinite() const;
  std::optional<std::string> scan(std::uint32_t buffer,
                                  const plan::Step *step = nullptr) const;
  /// Searches the values that the iterations of a loop wrote to its buffers, in
  /// the order in which they were written. Carried values, which iterations
  /// overwrite, are not searched.
  std::optional<std::string> scanIterations(const plan::Step &loop) const;
  std::optional<std::string> scanParameters() const;
  std::optional<std::string> scanInputs() const;
  std::optional<std::pair<std::string, int>> scanPass(bool needsFinding);
  std::string describe(std::uint32_t buffer, const plan::Step *step) const;
  const plan::Layer *layerOf(const std::string &name) const;
  std::string nameBeforeSplit(std::string blob) const;
  std::string blobOf(const std::string &value, const plan::Step &step) const;
  std::string describeLayers(const plan::Step &step) const;
  std::string locationOf(const std::string &layer) const;
  double readScalar(std::uint32_t buffer) const;
  void rewind();

  Session &session;
  Executor &executor;
  const plan::Manifest &manifest;
  int trainProgram, clipProgram;
  const plan::Program &program;
  Threads threads;
  std::vector<std::uint32_t> gradients; ///< buffers
  /// With f16, the buffers of the loss scale and of the number of gradients
  /// that are not finite.
  std::optional<std::uint32_t> lossScale, nonFiniteCount;

  // Saved before the iteration.
  std::vector<caffe::ReaderCursor> cursors;
  /// State that passes change besides gradients: statistics, persistent state.
  std::vector<std::pair<std::uint32_t, std::vector<std::byte>>> state;
};

} // namespace brew::runtime
