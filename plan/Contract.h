//===- Contract.h - What the compiler and the runtime agree on --*- C++ -*-===//
//
// The facts beside plan.proto that a plan's writer and its reader both build
// on: alignments, where solver scalars and history lie, the programs' names,
// the state of the losses' scale, the solvers. No library is needed for it.
// Enumerations of the dialects that mirror plan.proto's are checked against
// them in compiler/manifest/EnumChecks.cpp.
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

/// Of segments in the file, of arenas in memory and of buffers in arenas (but
/// those that are a subview of a joined blob).
inline constexpr std::uint64_t kAlignment = 64;
/// The widest access of generated CUDA code. Arenas begin at a multiple of it;
/// of a buffer's offset the compiler has to know.
inline constexpr std::uint64_t kKernelAccessBytes = 16;
static_assert(kAlignment % kKernelAccessBytes == 0,
              "a buffer begins where a widest access may");

constexpr std::uint64_t alignUp(std::uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

//===----------------------------------------------------------------------===//
// Arguments of CUDA kernels, in bytes
//===----------------------------------------------------------------------===//

/// Of one: an address, or the number behind them that says which stages run.
inline constexpr std::uint64_t kArgumentBytes = 8;
/// What every driver and NVRTC of CUDA 12 passes to a kernel, and what those of
/// CUDA kLargeArgumentLimitVersion (12010: 12.1) and later pass, on sm_70 and later.
inline constexpr std::uint64_t kArgumentLimit = 4096;
inline constexpr std::uint64_t kLargeArgumentLimit = 32764;
inline constexpr int kLargeArgumentLimitVersion = 12010;

/// Bytes that a kernel with so many buffers and stages is passed.
constexpr std::uint64_t argumentBytes(std::uint64_t buffers,
                                      std::uint32_t stages) {
  return (buffers + (stages > 1 ? 1 : 0)) * kArgumentBytes;
}
/// Most stages of a kernel.
inline constexpr std::uint32_t kMaxStages = 32;

//===----------------------------------------------------------------------===//
// Arenas
//===----------------------------------------------------------------------===//

/// Slots of the SCALARS arena (SolverScalar; the last are unused).
inline constexpr unsigned kScalarCount = 16;

/// Byte at which a slot of the SCALARS arena lies; that of kScalarCount is the
/// arena's size.
constexpr std::uint64_t scalarOffset(unsigned slot) {
  return slot * kAlignment;
}

/// Byte of the STATE arena at which slot `slot` of the history of the parameter
/// at `offset` of PARAMETERS lies. The sums of iter_size follow the last slot
/// that the solver's rule has, like one more.
constexpr std::uint64_t stateOffset(std::uint64_t slot,
                                    std::uint64_t parameterBytes,
                                    std::uint64_t offset) {
  return slot * parameterBytes + offset;
}

//===----------------------------------------------------------------------===//
// Programs, by name; plan.proto says what each does
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

/// Of test net `net`, counted from 0.
inline std::string testName(int net) { return kTestPrefix + std::to_string(net); }

/// Number of the test net of such a name, or -1.
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
// Scale of the losses (f16): names in Manifest.persistent, each one F32
//===----------------------------------------------------------------------===//

namespace loss_scale {
/// The scale, a power of two; 0 before the first update: the plan's own.
inline constexpr char kValue[] = "loss_scale.value";
/// Good iterations since the scale last changed.
inline constexpr char kGoodIterations[] = "loss_scale.good";
/// Gradients of this iteration that are not finite.
inline constexpr char kNonFiniteGradients[] = "loss_scale.non_finite";

inline constexpr double kMaxScale = 1 << 24;

/// Whether `value` can be a scale: a power of two from 1 to kMaxScale.
inline bool isValid(double value) {
  int exponent = 0;
  return std::frexp(value, &exponent) == 0.5 && value >= 1 && value <= kMaxScale;
}
} // namespace loss_scale

//===----------------------------------------------------------------------===//
// Solvers
//===----------------------------------------------------------------------===//

/// SolverParameter.type, at the positions of its older form SolverType.
inline constexpr const char *kSolverTypes[] = {"SGD",     "Nesterov", "AdaGrad",
                                               "RMSProp", "AdaDelta", "Adam"};
inline constexpr std::size_t kSolverTypeCount =
    sizeof kSolverTypes / sizeof *kSolverTypes;

/// SolverParameter.regularization_type.
inline constexpr const char *kRegularizations[] = {"L1", "L2"};

} // namespace brew::plan
