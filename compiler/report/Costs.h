//===- Costs.h - Costs of a plan's steps ------------------------*- C++ -*-===//
#pragma once

#include "compiler/report/Report.h"
#include "dialects/Target/Roofline.h"
#include "plan/StepDescription.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace brew::compiler {

/// Total costs of some steps.
struct Costs {
  int64_t kernels = 0, calls = 0, flops = 0, bytes = 0;
  int64_t stages = 0; ///< sum over the kernels, which have at least one each
  int64_t hostCalls = 0, hostCopiedBytes = 0; ///< host layer steps, and bytes
                                              ///< copied for them
  AccessBytes accessBytes; ///< of the kernels; empty if unknown
  double seconds = 0;      ///< sum of the steps' roofline times
  double rematerializationSeconds =
      0; ///< part of `seconds` that rematerializes values
  /// Sum of the steps' measured times; nullopt if none was measured.
  std::optional<double> measuredSeconds;

  Costs &operator+=(const Costs &other);
  Costs &operator*=(int64_t times);
};

/// Costs of the steps that compute the same layers in one direction.
struct LayerCosts {
  std::vector<std::string> layers;
  bool backward = false;
  bool recomputed = false; ///< computed again for the backward pass
  Costs costs;

  /// Returns "conv1+relu1", or "conv1 and 7 more" for more than `maxLayers`
  /// layers, followed by "(backward)" or "(recomputed)" if it applies.
  std::string label(size_t maxLayers) const;
};

/// All-reduces of a program in a data-parallel run.
struct AllReduceCosts {
  struct Start {
    int64_t bytes;
    double ready; ///< when it can start: roofline seconds of the earlier steps
  };
  std::vector<Start> starts;
  int64_t buckets = 0;
  int64_t bytes = 0;
  double seconds = 0; ///< time by the interconnect model (Interconnect.h)
  double exposed = 0; ///< part of `seconds` that overlaps no other step
};

/// Estimates costs of a plan's steps on its target machine.
class CostModel {
public:
  explicit CostModel(const ReportSubject &subject);

  Costs of(const plan::Step &step) const;
  Costs of(const plan::Program &program) const;
  /// Estimates the all-reduces of a program. They run one after the other, and
  /// each overlaps the steps up to its wait.
  AllReduceCosts allReduceCosts(const plan::Program &program) const;
  /// Returns the known scratch bytes of a program's calls; nullopt for a GPU.
  std::optional<int64_t> scratchOf(const plan::Program &program) const;
  /// Returns one row per set of layers, in the order of their first steps.
  std::vector<LayerCosts> byLayer(const plan::Program &program) const;

  dialects::target::Work workOf(const plan::Step &step) const;

  const dialects::target::Roofline roofline;

private:
  Costs modelledCosts(const plan::Step &step) const;
  int64_t hostCopiedBytes(const plan::Step &step) const;

  mlir::ModuleOp module;
  const plan::Manifest &manifest;
  const KernelAccesses &accesses;
  const MeasuredTimes *measured;
  const bool cuda, winograd;
};

/// Returns the size in bytes of the arena of this kind.
int64_t arenaSize(const plan::Manifest &manifest, plan::ArenaKind kind);

/// Formats known scratch bytes, or "unknown".
std::string scratchText(const std::optional<int64_t> &bytes);

/// Format a number for people: of bytes, in millions, as a time, and in
/// billions.
std::string bytesText(int64_t bytes);
std::string megaText(int64_t number, int decimals);
std::string timeText(double seconds);
std::string gigaText(double number);

/// Replaces invalid UTF-8 for JSON and HTML: names may have any encoding.
std::string utf8(llvm::StringRef text);

} // namespace brew::compiler
