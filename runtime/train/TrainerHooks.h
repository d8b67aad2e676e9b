//===- TrainerHooks.h - Hooks of a training run -----------------*- C++ -*-===//
#pragma once

#include "runtime/train/Collectives.h"
#include "runtime/train/hooks/Hooks.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace brew::runtime {

/// The hooks of a training run. Rank 0 has them, and sends their requests to
/// the other ranks.
class TrainerHooks {
public:
  /// The arguments must outlive this object.
  TrainerHooks(std::unique_ptr<TrainerAccess> access, Collectives &ranks,
               ParameterChanges &changes, int testNets,
               std::vector<std::string> folders);
  ~TrainerHooks();

  /// Returns the hooks. Throws Error (2) on ranks other than 0.
  Hooks &get();
  /// Returns null on ranks other than 0.
  Hooks *ifRoot() { return hooks.get(); }
  /// Returns the metrics whose best values hooks of this rank track.
  std::vector<BestMetric *> bestMetrics() const;

  /// Call this when training starts or resumes after `iteration` iterations. A
  /// reason to stop remains: a hook may go back and another one stop.
  void startAt(int iteration);
  /// Call this on all ranks when a call starts to train.
  void beginCall();

  /// Call this before each iteration, the next one after `iteration`.
  void beforeIteration(int iteration) {
    if (hooks)
      hooks->beforeIteration(iteration);
  }
  /// Runs the hooks of a trigger on rank 0. Stores the reason if one requests a
  /// stop; returns the other requests. `net`: of a trigger of one test net.
  HookRequests run(HookTrigger trigger, int iteration, int net = -1);
  /// Returns whether a hook of any rank may request a stop.
  bool mayStop() const;
  bool hasStopReason() const { return stopReason.has_value(); }
  /// Returns and clears the reason to end training, if a hook has requested a
  /// stop since the last call.
  std::optional<std::string> takeStopReason();

  /// The requests of rank 0 that all ranks carry out.
  class Shared {
  public:
    bool wantsSnapshot() const { return bits & kSnapshot; }
    bool wantsTests() const { return bits & ~(kSnapshot | kChanges); }
    bool wantsTest(int net) const { return bits & testBit(net); }
    /// Returns the path of the state to restore, or "".
    const std::string &restore() const { return statePath; }

  private:
    friend class TrainerHooks;
    static constexpr std::uint32_t kSnapshot = 1, kChanges = 2;
    /// All nets from kMaxNamedTestNets on have one bit.
    static std::uint32_t testBit(int net) {
      return 4u << std::min(net, kMaxNamedTestNets);
    }
    std::uint32_t bits = 0;
    std::string statePath;
  };
  /// Shares requests of rank 0's run() with all ranks, which must all call it.
  /// The other ranks change parameters as rank 0's hooks did.
  Shared share(const HookRequests &own);
  /// Waits for background hooks.
  void finish();

private:
  std::uint32_t ownBits() const;
  void requireProgress(const std::string &statePath);
  std::string shareChanges(const HookRequests &own);
  /// Returns the bits of all ranks; on one rank, also of hooks added since.
  std::uint32_t bits() const { return ranks.isAlone() ? ownBits() : anywhere; }

  std::unique_ptr<TrainerAccess> access;
  Collectives &ranks;
  ParameterChanges &changes;
  std::unique_ptr<Hooks> hooks; ///< null on ranks other than 0
  std::optional<std::string> stopReason;
  /// Iteration, state and solver at the last restore, as one text.
  std::string lastRestore;
  static constexpr std::uint32_t kHasLines = 1, kMayStop = 2;
  std::uint32_t anywhere = 0; ///< these bits of all ranks, in this call
};

} // namespace brew::runtime
