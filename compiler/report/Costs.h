//===- Costs.h - What the steps of a plan cost ------------------*- C++ -*-===//
#pragma once

#include "compiler/report/Report.h"
#include "dialects/Target/Roofline.h"
#include "plan/StepDescription.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace brew::compiler {

/// Of some steps together.
struct Costs {
  int64_t kernels = 0, calls = 0, flops = 0, bytes = 0;
  int64_t stages = 0; ///< of the kernels: each has at least one
  int64_t hostCalls = 0, hostCopiedBytes = 0; ///< and bytes copied for them
  AccessBytes accessBytes;               ///< of kernels, where it is known
  double seconds = 0; ///< by the machine's roofline, one after the other
  double recomputeSeconds = 0; ///< of these, for what is computed again

  Costs &operator+=(const Costs &other);
};

/// Of the steps that compute for the same layers, in one direction.
struct LayerCosts {
  std::vector<std::string> layers;
  bool backward = false;
  bool recomputed = false; ///< again, for the backward pass
  Costs costs;

  /// "conv1+relu1"; of more than `most` layers "conv1 and 7 more". With
  /// "(backward)" or "(recomputed)" behind it where that is so.
  std::string label(size_t most) const;
};

/// What a program adds up over the ranks of a data-parallel run.
struct AllReduceCosts {
  struct Start {
    int64_t bytes;
    double ready; ///< seconds of steps before it, by the roofline
  };
  std::vector<Start> starts;
  int64_t buckets = 0;
  int64_t bytes = 0;
  double seconds = 0; ///< that the sums take by the link's rates (Interconnect.h)
  double exposed = 0; ///< of them, after the last step that runs beside them
};

/// What steps of a plan cost on the machine that it is for.
class CostModel {
public:
  explicit CostModel(const ReportSubject &subject);

  Costs of(const plan::Step &step) const;
  Costs of(const plan::Program &program) const;
  /// Sums one after the other, each beside the steps until it is awaited.
  AllReduceCosts allReduceCosts(const plan::Program &program) const;
  /// What is known of the scratch that a program's calls need; nothing for a
  /// GPU.
  std::optional<int64_t> scratchOf(const plan::Program &program) const;
  /// In the order of their first steps.
  std::vector<LayerCosts> byLayer(const plan::Program &program) const;

  dialects::target::Work workOf(const plan::Step &step) const;

  const dialects::target::Roofline roofline;

private:
  int64_t hostCopiedBytes(const plan::HostCall &call) const;

  mlir::ModuleOp module;
  const plan::Manifest &manifest;
  const KernelAccesses &accesses;
  const bool cuda, winograd;
};

/// Bytes of the arena of a kind.
int64_t arenaSize(const plan::Manifest &manifest, plan::ArenaKind kind);

/// Of scratch, which is known only in part.
std::string scratchText(const std::optional<int64_t> &bytes);

/// Short texts of numbers: of bytes, of millions, of a time, of a rate in
/// billions.
std::string bytesText(int64_t bytes);
std::string megaText(int64_t number, int decimals);
std::string timeText(double seconds);
std::string gigaText(double number);

/// Text for JSON and HTML: names are as the prototxt has them, in whatever
/// encoding.
std::string utf8(llvm::StringRef text);

} // namespace brew::compiler
