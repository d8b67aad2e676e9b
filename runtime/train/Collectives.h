//===- Collectives.h - Collective operations of training --------*- C++ -*-===//
#pragma once

#include "caffe/RankSeed.h"
#include "runtime/comm/Stragglers.h"
#include "support/Error.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace brew::runtime {

class Session;

/// The operations in which all ranks of a training run take part. All ranks
/// must call the same operations in the same order. A run on one rank has an
/// implementation that sends nothing: its own values are the results.
class Collectives {
public:
  /// `session` must outlive the result.
  static std::unique_ptr<Collectives> create(Session &session);
  virtual ~Collectives() = default;

  virtual int rank() const = 0;
  virtual int count() const = 0; ///< of ranks
  bool isRoot() const { return rank() == 0; }
  bool isAlone() const { return count() == 1; }

  /// Returns the bitwise OR over all ranks. If `countsWaits` is false, the time
  /// that ranks wait here does not count towards stragglers.
  virtual std::uint32_t allReduceOr(std::uint32_t bits,
                                    bool countsWaits = true) = 0;
  /// Returns the texts of all ranks, by rank.
  virtual std::vector<std::string> gatherTexts(const std::string &own) = 0;
  /// Throws Error (1) on all ranks unless the values are equal on all ranks.
  /// Each entry is a description ("plan") and a value.
  virtual void checkAllEqual(
      const std::vector<std::pair<std::string, std::string>> &values) = 0;
  /// Returns an error that all ranks are about to throw.
  virtual Error collectiveError(Error error) = 0;
  /// Returns this rank's seed, with the common seed of rank 0.
  virtual caffe::RankSeed shareSeed(const caffe::RankSeed &own) = 0;
  /// Returns rank 0's value.
  virtual double broadcastFromRoot(double own) = 0;
  /// Copies the content of a buffer from rank 0 to all ranks.
  virtual void broadcastBuffer(std::uint32_t buffer) = 0;

  /// Selects whether steps of the training program all-reduce the gradients.
  virtual void setReducesInSteps(bool inSteps) = 0;
  /// All-reduces the gradients with a program, unless the steps did it.
  virtual void allReduceGradients() = 0;

  /// Reports that this rank is alive. Call it if much time passes between two
  /// operations.
  virtual void reportProgress() = 0;
  /// Returns the rank that the others have waited for since the last call,
  /// `seconds` ago, or nullopt if the waits were short.
  virtual std::optional<comm::Straggler> takeStraggler(double seconds) = 0;
};

} // namespace brew::runtime
