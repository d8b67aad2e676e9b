//===- NanCheck.h - The first NaN or Inf of a training run ------*- C++ -*-===//
//
// Each iteration looks only at what is cheap and sufficient: the loss and the
// gradients of the parameters, which whatever goes wrong before them nearly
// always reaches, and before the update that would carry it into the
// parameters. Where they are not finite, the iteration is computed again, with
// the same records, random numbers and state, and after each of its steps all
// that the step has read or written is looked at.
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

class NanCheck {
public:
  /// Watches the training program of `session`, which outlives it.
  explicit NanCheck(Session &session);

  /// Before an iteration feeds its first batch: keeps what is needed to compute
  /// it again.
  void begin();

  /// After the passes of an iteration, whose loss is `loss` and whose gradients
  /// are summed: whether something is not finite. With a scale of losses (f16)
  /// such gradients are the scale's to handle, as long as it can be halved.
  bool foundNonFinite(double loss) const;

  struct Finding {
    std::string text; ///< what is not finite, where: a sentence without its end
    /// It was there before the iteration, in a parameter.
    bool inParameters;
    /// Orders findings by the time at which they arise; kNotReproduced if it did not
    /// arise again.
    std::uint64_t order;
  };
  static constexpr std::uint64_t kNotReproduced = ~std::uint64_t(0);
  /// Computes the iteration's `passes` batches again and tells what is not
  /// finite first. Then readers, random numbers and state are those from before
  /// the iteration. On several ranks all make the call, and all steps: some may
  /// be sums over ranks.
  Finding find(int passes);
  /// The first parameter that is not finite; before its snapshot is written.
  std::optional<std::string> badParameter() const;

private:
  bool gradientsFinite() const;
  std::optional<std::string> scan(std::uint32_t buffer,
                                    const plan::Step *step = nullptr) const;
  std::optional<std::string> scanParameters() const;
  std::optional<std::string> scanInputs() const;
  std::optional<std::pair<std::string, int>> scanPass(bool wanted);
  bool isWrittenBefore(std::uint32_t buffer, int step) const;
  std::uint32_t laterNameOf(std::uint32_t buffer, int step) const;
  std::string describe(std::uint32_t buffer, const plan::Step *step) const;
  const plan::Layer *layerOf(const std::string &name) const;
  std::string unsplit(std::string blob) const;
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
  /// Of f16: the scale of losses, and how many gradients were not finite.
  std::optional<std::uint32_t> scale, nonFinite;

  // From before the iteration.
  std::vector<caffe::ReaderCursor> cursors;
  /// What its passes change beside gradients: statistics, carried state.
  std::vector<std::pair<std::uint32_t, std::vector<std::byte>>> state;
};

} // namespace brew::runtime
