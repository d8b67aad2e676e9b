//===- PlanBuilder.h - Hand-written plans -----------------------*- C++ -*-===//
//
// Assembles small plans for tests, without the compiler and, for tests of
// invalid plans, without the writer's checks.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "plan/PlanFile.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace brew::test {

using Dims = std::vector<std::int64_t>;

/// Returns the strides of `dims` in memory order `order` (outermost first):
/// {0, 2, 3, 1} is NHWC for Caffe's N, C, H, W.
Dims stridesFor(const Dims &dims, const std::vector<int> &order);
/// Returns row-major strides.
Dims denseStrides(const Dims &dims);

/// The window of a convolution, with one number for each spatial dimension in
/// each list. Defaults: strides and dilations of 1, no padding.
struct WindowGeometry {
  Dims kernel, stride = {}, pad = {}, dilation = {};
};
/// Returns the window with equal padding at both ends.
plan::Window windowOf(const WindowGeometry &geometry);

/// Appends an operand to a step.
void addOperand(plan::Step &step, std::uint32_t buffer,
                plan::Operand::Access access);
/// Appends the operands of a convolution or an inner product. Their accesses
/// follow from the direction and the epilogue, which must be set.
void addCallOperands(plan::Step &step, std::uint32_t x, std::uint32_t w,
                     std::uint32_t y, std::optional<std::uint32_t> b = {});
/// Appends a step that copies `source` to `target`.
void addCopy(plan::Program &program, std::uint32_t source,
             std::uint32_t target);

class PlanBuilder {
public:
  /// Starts a plan for the CPU, or for the CUDA simulator if BREW_TEST_CUDASIM
  /// is set.
  PlanBuilder();

  plan::Manifest manifest;
  std::vector<std::string> segments;

  /// Returns the index of the arena of a kind, which is created on first use.
  std::uint32_t arena(plan::ArenaKind kind);
  /// Adds a buffer at the end of its arena and returns its index. Strides are
  /// dense by default.
  std::uint32_t buffer(const std::string &name, const Dims &dims,
                       const Dims &strides = {},
                       plan::DataType type = plan::F32,
                       plan::ArenaKind kind = plan::TRANSIENT);
  /// Adds a segment and returns its index.
  std::uint32_t segment(plan::Segment::Kind kind, const std::string &bytes);
  /// Adds a kernel of TestKernels.c and returns its index.
  std::uint32_t kernel(const std::string &symbol, std::uint32_t arguments,
                       std::int64_t domain, std::int64_t grain = 1);
  plan::Program &program(const std::string &name);
  /// Appends a launch whose arguments are buffers that the kernel reads, then
  /// buffers that it accesses with `access`.
  void launch(plan::Program &program, std::uint32_t kernel,
              const std::vector<std::uint32_t> &read,
              const std::vector<std::uint32_t> &written,
              plan::Operand::Access access = plan::Operand::WRITE);

  /// Returns the plan, serialized by the compiler's writer, which rejects
  /// invalid plans.
  std::string bytes() const;
  std::shared_ptr<const plan::PlanFile> build() const;

private:
  int kernelImage = -1;
};

/// Returns a small but complete training plan, in which every list has entries
/// and every kind of step occurs.
PlanBuilder completePlan();

/// Serializes `manifest` and `segments` without checks. Segments have fixed
/// offsets (see `fixedOffsets`), so that tests can damage the manifest.
std::string assemble(const plan::Manifest &manifest,
                     const std::vector<std::string> &segments);
/// Sets offsets and sizes of the segments as assemble() does.
void fixedOffsets(plan::Manifest &manifest,
                  const std::vector<std::string> &segments);

/// Returns the text of the Error that loading `bytes` throws, or "" if it
/// loads. Aborts if the error has another status than BadInput.
std::string loadError(const std::string &bytes);

std::string readFile(const std::string &path);

} // namespace brew::test
