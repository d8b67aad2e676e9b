//===- CublasLt.cpp - Simulated cuBLASLt ----------------------------------===//
//
// The functions of cuBLASLt that Brew uses: products of column-major matrices
// with the epilogues of inner products. Rejects calls that the real library
// rejects, and features that are not implemented here.
//
//===----------------------------------------------------------------------===//
#include "../driver/Driver.h"
#include "../engine/Engine.h"
#include "Gemm.h"
#include "Numbers.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>

namespace cudasim {

namespace {

enum Status : int {
  Ok = 0,
  NotInitialised = 1,
  BadValue = 7,
  ExecutionFailed = 13,
  NotSupported = 15
};

enum Compute : int { Compute32F = 68, Compute64F = 70, ComputeTf32 = 77 };

enum Epilogue : int {
  Default = 1,
  Relu = 2,
  Bias = 4,
  ReluBias = 6,
  BiasGradientA = 256,
  BiasGradientB = 512
};

std::optional<Type> typeOf(int number) {
  switch (number) {
  case 0:
    return Type::F32;
  case 1:
    return Type::F64;
  case 2:
    return Type::F16;
  case 14:
    return Type::BF16;
  default:
    return std::nullopt;
  }
}

/// Column-major: element (i, j) at i + j * leading.
struct Layout {
  Type type;
  std::uint64_t rows, columns;
  std::int64_t leading;
};

struct Operation {
  int compute, scale;
  std::int32_t transposeA = 0, transposeB = 0, epilogue = Default;
  void *bias = nullptr;
  std::int32_t biasType = -1; // -1: the type of the result
};

struct Preference {
  std::uint64_t workspace = 0;
  std::uint32_t reductions = 7;
  std::uint32_t alignments[4] = {256, 256, 256, 256}; // of A, B, C and D
};

struct Algorithm {
  std::uint64_t magic, workspace;
  std::uint32_t alignments[4];
  std::uint64_t unused[4];
};
constexpr std::uint64_t kMagic = 0x6272657773696d31;

struct HeuristicResult {
  Algorithm algorithm;
  std::size_t workspaceSize;
  int state;
  float wavesCount;
  int reserved[4];
};

/// The first algorithm needs scratch, the second does not, so that tests cover
/// both.
constexpr std::uint64_t kWorkspaces[] = {4096, 0};

template <class T>
int setAttribute(T &attribute, const void *value, std::size_t size) {
  if (!value || size != sizeof(T))
    return BadValue;
  std::memcpy(&attribute, value, size);
  return Ok;
}

/// An enqueued product.
struct Product {
  Operation operation;
  Layout aLayout, bLayout, cLayout, dLayout;
  const void *a, *b, *c;
  void *d;
  double alpha, beta;
  void *workspace;
  std::uint64_t workspaceBytes;

  std::int64_t depth() const {
    return static_cast<std::int64_t>(operation.transposeA ? aLayout.rows
                                                          : aLayout.columns);
  }
  Type biasType() const {
    return operation.biasType < 0 ? dLayout.type : *typeOf(operation.biasType);
  }
  template <class T> T loadA(std::int64_t i, std::int64_t p) const {
    return load<T>(aLayout, a, operation.transposeA ? p : i,
                   operation.transposeA ? i : p);
  }
  template <class T> T loadB(std::int64_t p, std::int64_t j) const {
    return load<T>(bLayout, b, operation.transposeB ? j : p,
                   operation.transposeB ? p : j);
  }
  template <class T>
  T load(const Layout &layout, const void *data, std::int64_t i,
         std::int64_t j) const {
    T value = loadNumber<T>(layout.type, data, i + j * layout.leading);
    if (operation.compute == ComputeTf32)
      return roundToTf32(static_cast<float>(value));
    return value;
  }

  void checkMemory() const;
  template <class T> void run() const;
};

void checkMatrix(const Layout &layout, const void *data, const char *purpose) {
  std::uint64_t elements =
      (layout.columns - 1) * static_cast<std::uint64_t>(layout.leading) +
      layout.rows;
  cudasim_require_range(data, elements * byteSize(layout.type), purpose);
}

void Product::checkMemory() const {
  checkMatrix(aLayout, a, "cublasLtMatmul, operand A");
  checkMatrix(bLayout, b, "cublasLtMatmul, operand B");
  if (beta != 0)
    checkMatrix(cLayout, c, "cublasLtMatmul, operand C");
  checkMatrix(dLayout, d, "cublasLtMatmul, result");
  if (operation.bias)
    cudasim_require_range(
        operation.bias,
        (operation.epilogue == BiasGradientB ? dLayout.columns : dLayout.rows) *
            byteSize(biasType()),
        "cublasLtMatmul, bias");
  if (workspaceBytes)
    cudasim_require_range(workspace, workspaceBytes,
                          "cublasLtMatmul, workspace");
}

template <class T> void Product::run() const {
  const auto m = static_cast<std::int64_t>(dLayout.rows);
  const auto n = static_cast<std::int64_t>(dLayout.columns);
  const std::int64_t k = depth();
  // The contents of scratch are undefined afterwards.
  std::memset(workspace, 0xff, workspaceBytes);
  const int epilogue = operation.epilogue;
  const Type biasElement = biasType();
  if (epilogue == BiasGradientA)
    for (std::int64_t i = 0; i < m; ++i) {
      T sum = 0;
      for (std::int64_t p = 0; p < k; ++p)
        sum += loadA<T>(i, p);
      storeNumber(biasElement, operation.bias, i, sum);
    }
  if (epilogue == BiasGradientB)
    for (std::int64_t j = 0; j < n; ++j) {
      T sum = 0;
      for (std::int64_t p = 0; p < k; ++p)
        sum += loadB<T>(p, j);
      storeNumber(biasElement, operation.bias, j, sum);
    }
  gemm<T>(
      m, n, k, [&](std::int64_t i, std::int64_t p) { return loadA<T>(i, p); },
      [&](std::int64_t p, std::int64_t j) { return loadB<T>(p, j); },
      [&](std::int64_t i, std::int64_t j, T sum) {
        T value = static_cast<T>(alpha) * sum;
        if (beta != 0)
          value += static_cast<T>(beta) *
                   loadNumber<T>(cLayout.type, c, i + j * cLayout.leading);
        if (epilogue == Bias || epilogue == ReluBias)
          value += loadNumber<T>(biasElement, operation.bias, i);
        // The comparison propagates NaNs.
        if ((epilogue == Relu || epilogue == ReluBias) && value < 0)
          value = 0;
        storeNumber(dLayout.type, d, i + j * dLayout.leading, value);
      });
}

/// Returns Ok if the library supports the product.
Status check(const Operation &operation, const Layout &a, const Layout &b,
             const Layout &c, const Layout &d) {
  for (const Layout *layout : {&a, &b, &c, &d})
    if (layout->rows == 0 || layout->columns == 0 ||
        layout->leading < static_cast<std::int64_t>(layout->rows))
      return BadValue;
  std::uint64_t m = operation.transposeA ? a.columns : a.rows;
  std::uint64_t k = operation.transposeA ? a.rows : a.columns;
  std::uint64_t kOfB = operation.transposeB ? b.columns : b.rows;
  std::uint64_t n = operation.transposeB ? b.rows : b.columns;
  if (k != kOfB || d.rows != m || d.columns != n || c.rows != m ||
      c.columns != n || a.type != b.type || c.type != d.type)
    return BadValue;
  bool isF64 = a.type == Type::F64;
  if (isF64 != (operation.compute == Compute64F) ||
      isF64 != (d.type == Type::F64) || isF64 != (operation.scale == 1))
    return NotSupported;
  if (operation.compute == ComputeTf32 && a.type != Type::F32)
    return NotSupported;
  // A result has the type of the operands, or f32.
  if (d.type != a.type && d.type != Type::F32)
    return NotSupported;
  switch (operation.epilogue) {
  case Default:
  case Relu:
    return Ok;
  case Bias:
  case ReluBias:
  case BiasGradientA:
  case BiasGradientB:
    if (std::getenv("CUDASIM_NO_BIAS"))
      return NotSupported;
    break;
  default:
    return NotSupported;
  }
  if (operation.biasType >= 0) {
    std::optional<Type> type = typeOf(operation.biasType);
    if (!type || (*type != d.type && *type != Type::F32) || isF64)
      return NotSupported;
  }
  return Ok;
}

/// Reports operands that are less aligned than the preference promised to the
/// heuristic. A bias must be aligned like the result.
void checkAlignments(const Algorithm &algorithm,
                     std::initializer_list<const void *> operands,
                     const void *bias) {
  int index = 0;
  auto check = [&](const void *data, std::uint32_t alignment) {
    if (reinterpret_cast<std::uintptr_t>(data) % alignment)
      reportLaunchFinding(
          "cublasLtMatmul: an operand is not aligned as promised");
  };
  for (const void *data : operands)
    check(data, algorithm.alignments[index++]);
  check(bias, algorithm.alignments[3]);
}

} // namespace

CUDASIM_API int cublasLtCreate(void **handle) {
  // The library allocates memory on the device.
  if (checkContext() != Success || cudasim_require_no_capture() != Success)
    return NotInitialised;
  *handle = new int(0);
  return Ok;
}

CUDASIM_API int cublasLtDestroy(void *handle) {
  delete static_cast<int *>(handle);
  return Ok;
}

CUDASIM_API std::size_t cublasLtGetVersion() { return 130100; }

CUDASIM_API const char *cublasLtGetStatusString(int status) {
  switch (status) {
  case Ok:
    return "success";
  case NotInitialised:
    return "the library was not initialized";
  case BadValue:
    return "an unsupported value or parameter was passed to the function";
  case ExecutionFailed:
    return "the function failed to launch on the GPU";
  case NotSupported:
    return "the functionality requested is not supported";
  default:
    return "unknown status";
  }
}

CUDASIM_API int cublasLtMatmulDescCreate(Operation **operation, int compute,
                                         int scale) {
  if (compute != Compute32F && compute != Compute64F && compute != ComputeTf32)
    return NotSupported;
  *operation = new Operation;
  (*operation)->compute = compute;
  (*operation)->scale = scale;
  return Ok;
}

CUDASIM_API int cublasLtMatmulDescDestroy(Operation *operation) {
  delete operation;
  return Ok;
}

CUDASIM_API int cublasLtMatmulDescSetAttribute(Operation *operation,
                                               int attribute, const void *value,
                                               std::size_t size) {
  switch (attribute) {
  case 3: // TRANSA
    return setAttribute(operation->transposeA, value, size);
  case 4: // TRANSB
    return setAttribute(operation->transposeB, value, size);
  case 7: // EPILOGUE
    return setAttribute(operation->epilogue, value, size);
  case 8: // BIAS_POINTER
    return setAttribute(operation->bias, value, size);
  case 26: // BIAS_DATA_TYPE
    return setAttribute(operation->biasType, value, size);
  default:
    return NotSupported;
  }
}

CUDASIM_API int cublasLtMatrixLayoutCreate(Layout **layout, int type,
                                           std::uint64_t rows,
                                           std::uint64_t columns,
                                           std::int64_t leading) {
  std::optional<Type> elementType = typeOf(type);
  if (!elementType)
    return NotSupported;
  *layout = new Layout{*elementType, rows, columns, leading};
  return Ok;
}

CUDASIM_API int cublasLtMatrixLayoutDestroy(Layout *layout) {
  delete layout;
  return Ok;
}

CUDASIM_API int cublasLtMatmulPreferenceCreate(Preference **preference) {
  *preference = new Preference;
  return Ok;
}

CUDASIM_API int cublasLtMatmulPreferenceDestroy(Preference *preference) {
  delete preference;
  return Ok;
}

CUDASIM_API int cublasLtMatmulPreferenceSetAttribute(Preference *preference,
                                                     int attribute,
                                                     const void *value,
                                                     std::size_t size) {
  switch (attribute) {
  case 1: // MAX_WORKSPACE_BYTES
    return setAttribute(preference->workspace, value, size);
  case 3: // REDUCTION_SCHEME_MASK
    return setAttribute(preference->reductions, value, size);
  case 5: // MIN_ALIGNMENT_A_BYTES, then B, C and D
  case 6:
  case 7:
  case 8:
    return setAttribute(preference->alignments[attribute - 5], value, size);
  default:
    return NotSupported;
  }
}

CUDASIM_API int
cublasLtMatmulAlgoGetHeuristic(void *handle, Operation *operation, Layout *a,
                               Layout *b, Layout *c, Layout *d,
                               Preference *preference, int maximumCount,
                               HeuristicResult *results, int *count) {
  *count = 0;
  if (!handle)
    return NotInitialised;
  if (maximumCount < 1)
    return BadValue;
  if (Status failed = check(*operation, *a, *b, *c, *d))
    return failed;
  for (std::uint64_t workspace : kWorkspaces) {
    if (workspace > preference->workspace || *count == maximumCount)
      continue;
    results[*count] = {};
    results[*count].algorithm = {kMagic, workspace, {}, {}};
    std::copy_n(preference->alignments, 4,
                results[*count].algorithm.alignments);
    results[*count].workspaceSize = workspace;
    results[*count].wavesCount = 1;
    ++*count;
  }
  return *count ? Ok : NotSupported;
}

CUDASIM_API int cublasLtMatmul(void *handle, Operation *operation,
                               const void *alpha, const void *a,
                               Layout *aLayout, const void *b, Layout *bLayout,
                               const void *beta, const void *c, Layout *cLayout,
                               void *d, Layout *dLayout,
                               const Algorithm *algorithm, void *workspace,
                               std::size_t workspaceBytes, Stream *stream) {
  if (!handle)
    return NotInitialised;
  if (Status failed = check(*operation, *aLayout, *bLayout, *cLayout, *dLayout))
    return failed;
  std::uint64_t neededBytes = algorithm ? algorithm->workspace : 0;
  if ((algorithm && algorithm->magic != kMagic) ||
      workspaceBytes < neededBytes ||
      (operation->epilogue >= Bias && !operation->bias))
    return BadValue;
  if (neededBytes && reinterpret_cast<std::uintptr_t>(workspace) % 256)
    reportLaunchFinding(
        "cublasLtMatmul: the workspace is not aligned to 256 bytes");
  if (algorithm)
    checkAlignments(*algorithm, {a, b, c, d},
                    operation->epilogue >= Bias ? operation->bias : nullptr);
  Type scale = *typeOf(operation->scale);
  auto *product = new Product{*operation,
                              *aLayout,
                              *bLayout,
                              *cLayout,
                              *dLayout,
                              a,
                              b,
                              c,
                              d,
                              loadNumber<double>(scale, alpha, 0),
                              loadNumber<double>(scale, beta, 0),
                              workspace,
                              neededBytes};
  int failed = cudasim_enqueue(
      stream,
      [](void *state) {
        auto *product = static_cast<Product *>(state);
        product->checkMemory();
        if (product->operation.compute == Compute64F)
          product->run<double>();
        else
          product->run<float>();
      },
      [](void *state) { delete static_cast<Product *>(state); }, product);
  return failed ? ExecutionFailed : Ok;
}

} // namespace cudasim
