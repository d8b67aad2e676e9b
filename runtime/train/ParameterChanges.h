//===- ParameterChanges.h - Changes of parameters by hooks ------*- C++ -*-===//
#pragma once

#include "formats/WeightFile.h"
#include "runtime/session/Session.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace brew::runtime {

/// A change of parameters that all ranks carry out alike between two
/// iterations.
struct ParameterChange {
  enum Kind {
    ClipToRange, ///< to [low, high]
    ClipToNorm,  ///< each tensor to an L2 norm of at most `high`
    Scale,       ///< by `high`
    Freeze,      ///< updates no longer change them
    Unfreeze,
    Reinitialise, ///< by `filler` ("": their own), and clear their history
    Load          ///< from weight files
  };
  Kind kind = Scale;
  /// The pattern of the parameters (TensorPattern.h); of Load: the files.
  std::string target;
  double low = 0, high = 0;
  std::string filler;     ///< as in FillerText.h
  std::uint64_t seed = 0; ///< of Reinitialise

  bool once = false; ///< made once in a training

  /// Returns whether the run probably makes such a change often.
  bool isRoutine() const {
    return !once &&
           (kind == ClipToRange || kind == ClipToNorm || kind == Scale);
  }
  /// Returns the action of a hook that makes this change: scale "ip1.*" by 0.5.
  std::string actionText() const;
};

/// What rank 0's hooks ask of all ranks, apart from tests and snapshots.
struct SharedChanges {
  std::vector<ParameterChange> changes;
  std::string restore; ///< the state to restore after the changes; "": none

  /// Returns bytes from which unpack() reads the changes.
  std::string pack() const;
  /// Throws Error (70) if `packed` is not a result of pack().
  static SharedChanges unpack(const std::string &packed);
};

/// The changes of the parameters of a session by hooks, on every rank.
class ParameterChanges {
public:
  /// `session` must outlive this object.
  explicit ParameterChanges(Session &session) : session(session) {}

  /// Carries out a change, and notes it for the other ranks. Throws Error if
  /// its target or filler does not suit the net, or if a file cannot be loaded.
  void apply(const ParameterChange &change);
  /// Remembers the values of frozen parameters and of their history. Call it
  /// before an iteration; again before its update if the caller may have
  /// written parameters meanwhile.
  void rememberFrozen();
  /// Gives them the remembered values. Call it after each update.
  void restoreFrozen();
  /// Unfreezes all parameters, and forgets what take() would return.
  void reset();
  bool hasNew() const { return !added.empty(); }
  /// Returns the changes since the last call, in order.
  std::vector<ParameterChange> take();

private:
  struct Frozen {
    const plan::Parameter *parameter;
    /// The remembered values of the parameter's buffer and of those of its
    /// history; empty: none.
    std::vector<std::pair<std::uint32_t, formats::Blob>> values;
  };
  void applyTo(const plan::Parameter &parameter, const ParameterChange &change);
  void changeValues(const plan::Parameter &parameter,
                    const ParameterChange &change);
  void reinitialise(const plan::Parameter &parameter,
                    const ParameterChange &change);
  void freeze(const plan::Parameter &parameter);
  void unfreeze(const plan::Parameter &parameter);

  Session &session;
  std::vector<Frozen> frozen;
  std::vector<ParameterChange> added;
};

} // namespace brew::runtime
