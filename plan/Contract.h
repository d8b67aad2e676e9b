//===- Contract.h - Conventions of compiler and runtime ---------*- C++ -*-===//
//
// Conventions that plan.proto cannot express and that the writer and the reader
// of a plan share: alignments, offsets of solver scalars and history, names of
// programs, the state of the loss scale, solver types. This header depends on
// the standard library only.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace brew::plan {

//===----------------------------------------------------------------------===//
// Alignment, in bytes
//===----------------------------------------------------------------------===//

/// Alignment of segments in the file, arenas in memory and buffers in arenas.
/// Subviews of concatenated blobs are aligned to their elements only.
inline constexpr std::uint64_t kAlignment = 64;
/// The widest access of generated CUDA code. Arenas begin at a multiple of it;
/// the compiler checks the offsets of buffers.
inline constexpr std::uint64_t kKernelAccessBytes = 16;
static_assert(kAlignment % kKernelAccessBytes == 0,
              "a buffer is aligned for the widest access");

constexpr std::uint64_t alignUp(std::uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

//===----------------------------------------------------------------------===//
// Arguments of CUDA kernels, in bytes
//===----------------------------------------------------------------------===//

/// Size of an argument: the address of a buffer, or the bit mask of stages,
/// which is the last argument.
inline constexpr std::uint64_t kArgumentBytes = 8;
/// Maximum total size of a kernel's arguments. All versions of CUDA 12 support
/// kArgumentLimit. From CUDA kLargeArgumentLimitVersion (12010: 12.1) on,
/// architectures from sm_70 on support kLargeArgumentLimit.
inline constexpr std::uint64_t kArgumentLimit = 4096;
inline constexpr std::uint64_t kLargeArgumentLimit = 32764;
inline constexpr int kLargeArgumentLimitVersion = 12010;

/// Returns the total size of a kernel's arguments.
constexpr std::uint64_t argumentBytes(std::uint64_t buffers,
                                      std::uint32_t stages) {
  return (buffers + (stages > 1 ? 1 : 0)) * kArgumentBytes;
}
/// Maximum number of stages of a kernel: the number of mask bits in use.
inline constexpr std::uint32_t kMaxStages = 32;

//===----------------------------------------------------------------------===//
// Arenas
//===----------------------------------------------------------------------===//

/// Number of slots of the SCALARS arena (SolverScalar; the last are unused).
inline constexpr unsigned kScalarCount = 16;

/// Returns the offset of a slot in the SCALARS arena; for kScalarCount, the
/// size of the arena.
constexpr std::uint64_t scalarOffset(unsigned slot) {
  return slot * kAlignment;
}

/// Returns the offset in the STATE arena of history slot `slot` of the
/// parameter at `offset` of PARAMETERS. The gradients accumulated for
/// iter_size are in one more slot, after the solver's slots.
constexpr std::uint64_t stateOffset(std::uint64_t slot,
                                    std::uint64_t parameterBytes,
                                    std::uint64_t offset) {
  return slot * parameterBytes + offset;
}

//===----------------------------------------------------------------------===//
// Names of programs; plan.proto documents each program
//===----------------------------------------------------------------------===//

namespace programs {
inline constexpr char kForwardBackward[] = "forward_backward";
inline constexpr char kUpdate[] = "update";
inline constexpr char kAccumulate[] = "accumulate";
inline constexpr char kCollect[] = "collect";
inline constexpr char kClip[] = "clip";
inline constexpr char kReduce[] = "reduce";
inline constexpr char kPrepare[] = "prepare";
inline constexpr char kDeploy[] = "deploy";
inline constexpr char kMain[] = "main";
inline constexpr char kTestPrefix[] = "test_";
inline constexpr char kLayerPrefix[] = "layer:";

/// Returns the name of the program of test net `net`, counted from 0.
inline std::string testName(int net) {
  return kTestPrefix + std::to_string(net);
}

/// Returns the name of the program of a single layer (brewc --stepwise).
inline std::string layerName(std::string_view layer) {
  return kLayerPrefix + std::string(layer);
}

/// Returns the number of the test net that the program `name` runs, or -1 if
/// it is not the program of a test net.
inline int testIndex(std::string_view name) {
  constexpr std::string_view prefix = kTestPrefix;
  if (name.substr(0, prefix.size()) != prefix)
    return -1;
  name.remove_prefix(prefix.size());
  int number = 0;
  for (char digit : name) {
    if (digit < '0' || digit > '9' || number > 99999999)
      return -1;
    number = number * 10 + (digit - '0');
  }
  return name.empty() ? -1 : number;
}
} // namespace programs

//===----------------------------------------------------------------------===//
// Loss scale (f16): names in Manifest.persistent, one F32 each
//===----------------------------------------------------------------------===//

namespace loss_scale {
/// The scale, a power of two. Before the first update it is 0, which means the
/// initial scale of the plan.
inline constexpr char kValue[] = "loss_scale.value";
/// Number of iterations with finite gradients since the scale last changed.
inline constexpr char kGoodIterations[] = "loss_scale.good";
/// Number of gradients of this iteration that are not finite.
inline constexpr char kNonFiniteGradients[] = "loss_scale.non_finite";

inline constexpr double kMaxScale = 1 << 24;

/// Returns whether `value` can be a scale: a power of two from 1 to kMaxScale.
inline bool isValid(double value) {
  int exponent = 0;
  return std::frexp(value, &exponent) == 0.5 && value >= 1 &&
         value <= kMaxScale;
}
} // namespace loss_scale

//===----------------------------------------------------------------------===//
// Solvers
//===----------------------------------------------------------------------===//

/// Values of SolverParameter.type, in the order of the older enum SolverType.
inline constexpr const char *kSolverTypes[] = {"SGD",     "Nesterov", "AdaGrad",
                                               "RMSProp", "AdaDelta", "Adam"};
inline constexpr std::size_t kSolverTypeCount =
    sizeof kSolverTypes / sizeof *kSolverTypes;

/// Values of SolverParameter.regularization_type.
inline constexpr const char *kRegularizations[] = {"L1", "L2"};

} // namespace brew::plan
