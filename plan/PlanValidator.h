//===- PlanValidator.h - Validation of untrusted manifests ------*- C++ -*-===//
//
// A plan may come from anywhere. After validateManifest() has returned, every
// index names an existing entry, every offset and size stays inside its arena
// or file, and the shapes of every call match; later code does not check again.
// Two things are not validated: the bytes fields with Caffe messages, which are
// parsed where they are used, and the machine code of kernel images.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "plan/plan.pb.h"

#include <cstdint>
#include <string>

namespace brew::plan {

/// The part of the file for segments, in bytes from the start of the file.
struct SegmentRange {
  std::uint64_t begin;
  std::uint64_t end;
};

/// Throws Error (1) "NAME: damaged plan: ..." for the first violation.
void validateManifest(const Manifest &manifest, SegmentRange range,
                      const std::string &name);

/// Limits that keep every later product of sizes within 64 bits.
inline constexpr std::uint64_t kMaxBytes = std::uint64_t(1) << 46;
inline constexpr int kMaxRank = 32;
/// CUDA's limits: blocks in a grid's first dimension, threads in a block.
inline constexpr std::uint32_t kMaxBlocks = 0x7fffffff;
inline constexpr std::uint32_t kMaxThreads = 1024;

/// Checks the rules of plan.proto. `where` names the checked entry in errors.
class Validator {
public:
  Validator(const Manifest &manifest, SegmentRange range,
            const std::string &name)
      : manifest(manifest), range(range), name(name) {}
  void run();

private:
  [[noreturn]] void fail(const std::string &where,
                         const std::string &problem) const;
  /// Fails with `problem` unless `condition`.
  void require(bool condition, const std::string &where,
               const char *problem) const {
    if (!condition)
      fail(where, problem);
  }

  // PlanValidator.cpp
  void checkTarget() const;
  void checkSegments() const;
  void checkArenas() const;
  void checkBuffers() const;
  void checkBuffer(const Buffer &buffer, const std::string &where) const;
  void checkParameters() const;
  void checkPersistent() const;
  void checkCompanion(const Buffer &parameter, std::uint32_t index,
                      const std::string &where, const char *message) const;
  void checkInitialValues(std::uint32_t segment, const Buffer &buffer,
                          const std::string &where) const;
  void checkFileDims(const google::protobuf::RepeatedField<std::int64_t> &dims,
                     std::int64_t count, const std::string &where) const;
  void checkKernels() const;
  void checkCpuKernel(const Kernel &kernel, const std::string &where) const;
  void checkCudaKernel(const Kernel &kernel, const std::string &where) const;
  void checkImage(bool present, std::uint32_t segment,
                  const std::string &where) const;

  // PlanValidatorPrograms.cpp
  void checkPrograms() const;
  void checkProgram(int program, const std::string &where) const;
  void checkItemCount(const NamedBuffer &count, const Program &program,
                      int index, const std::string &where) const;
  void checkInputTransform(const DataInput &input, int program,
                           const std::string &where) const;
  void checkImageSizes(const DataInput &input, int program,
                       const std::string &where) const;
  void checkPixelConversion(const DataInput &input, int program,
                            const std::string &where) const;
  void checkLayer(const Layer &layer, int program,
                  const std::string &where) const;
  void checkStep(const Step &step, int program, bool isInLoop,
                 const std::string &where) const;
  void checkCondition(const Check &check, int program,
                      const std::string &where) const;
  /// Returns the buffer at `index`. Fails if the index is not `present`, if the
  /// buffer does not exist or if it belongs to a program other than `program`;
  /// -1 means that it must not belong to any program. `bufferName` names the
  /// buffer in errors.
  const Buffer &buffer(bool present, std::uint32_t index, int program,
                       const std::string &where, const char *bufferName) const;

  // PlanValidatorOperands.cpp
  void checkOperands(const Step &step, int program, bool isInLoop,
                     const std::string &where) const;
  void checkAccess(const Step &step, const std::string &where) const;
  const Buffer &operand(const Step &step, int index) const;
  void checkWritable(const Buffer &buffer, const std::string &where) const;
  void checkOverlaps(const Step &step, int argumentCount,
                     const std::string &where) const;

  // PlanValidatorCalls.cpp: the rules of each kind of step, after the checks of
  // its operands.
  void checkGeneratedAlternative(const Step &step,
                                 const std::string &where) const;
  void checkConvolution(const Step &step, const std::string &where) const;
  void checkInnerProduct(const Step &step, const std::string &where) const;
  void checkCopy(const Step &step, const std::string &where) const;
  void checkAllReduce(const Step &step, const std::string &where) const;
  void checkHost(const Step &step, const std::string &where) const;
  const Kernel &kernel(bool present, std::uint32_t index,
                       const std::string &where) const;
  void checkEpilogue(const Epilogue &epilogue, Direction direction,
                     const std::string &where) const;
  void checkTypes(const Step &step, const std::string &where) const;

  // PlanValidatorLoops.cpp
  void checkLoop(const Step &step, int program, const std::string &where) const;
  void checkMovingOverlaps(const Step &step, std::int64_t iterations,
                           const std::string &where) const;
  void checkWithin(const Operand &operand, const Step &loop,
                   const std::string &where) const;

  const Manifest &manifest;
  SegmentRange range;
  const std::string &name;
};

} // namespace brew::plan
