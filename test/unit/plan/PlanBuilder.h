//===- PlanBuilder.h - Plans made by hand -----------------------*- C++ -*-===//
//
// Assembles small plans for tests, without the compiler and, where a test needs
// a plan that breaks a rule, without the writer's own checks.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "plan/PlanFile.h"

#include <memory>
#include <string>
#include <vector>

namespace brew::test {

using Dims = std::vector<std::int64_t>;

/// Strides of `dims` in memory order `order` (outermost first): {0, 2, 3, 1}
/// makes NHWC of Caffe's N, C, H, W.
Dims stridesFor(const Dims &dims, const std::vector<int> &order);
/// Row-major strides.
Dims denseStrides(const Dims &dims);

class PlanBuilder {
public:
  /// For the CPU; where BREW_TEST_CUDASIM is set, for the CUDA simulator.
  PlanBuilder();

  plan::Manifest manifest;
  std::vector<std::string> segments;

  /// Index of the arena of a kind, made on first use.
  std::uint32_t arena(plan::ArenaKind kind);
  /// A new buffer behind the last one of its arena. Strides default to dense.
  std::uint32_t buffer(const std::string &name, const Dims &dims,
                       const Dims &strides = {},
                       plan::DataType type = plan::F32,
                       plan::ArenaKind kind = plan::TRANSIENT);
  /// A segment with the given content.
  std::uint32_t segment(plan::Segment::Kind kind, const std::string &bytes);
  /// A kernel of TestKernels.c.
  std::uint32_t kernel(const std::string &symbol, std::uint32_t arguments,
                       std::int64_t domain, std::int64_t grain = 1);
  plan::Program &program(const std::string &name);
  void launch(plan::Program &program, std::uint32_t kernel,
              const std::vector<std::uint32_t> &buffers);

  /// The plan through the compiler's writer, which refuses broken ones.
  std::string bytes() const;
  std::shared_ptr<const plan::PlanFile> build() const;

private:
  int kernelImage = -1;
};

/// A complete small training plan in which every list has entries and every
/// kind of step occurs.
PlanBuilder completePlan();

/// `manifest` and `segments` put together as they are. Segments lie at fixed
/// places (see `fixedOffsets`), so that a manifest can be spoilt at will.
std::string assemble(const plan::Manifest &manifest,
                     const std::vector<std::string> &segments);
/// Sets offsets and sizes of the segments to the places assemble() uses.
void fixedOffsets(plan::Manifest &manifest,
                  const std::vector<std::string> &segments);

/// The text of the Error that loading `bytes` throws, or "" if it loads; fails
/// the program when the status is not 1.
std::string loadError(const std::string &bytes);

std::string readFile(const std::string &path);

} // namespace brew::test
