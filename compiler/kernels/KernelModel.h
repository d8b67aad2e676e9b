//===- KernelModel.h - Model of a kernel's loop nests and accesses --------===//
//
// The kernel model that the emitters of all targets share. A kernel consists of
// sub-kernels, a sub-kernel of loop nests over one grid. Every access to a
// tensor is a linear function of the loop indices. Schedules rearrange loops by
// rewriting these functions; the bodies stay linalg regions.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Plan/PlanDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>
#include <vector>

namespace brew::compiler {

/// The linear function `constant` + sum over i of `coefs[i]` * loop i.
struct LinearExpr {
  llvm::SmallVector<int64_t> coefs;
  int64_t constant = 0;

  bool operator==(const LinearExpr &other) const {
    return coefs == other.coefs && constant == other.constant;
  }
};

struct Loop {
  int64_t extent;
  bool reduction;
};

/// The source of a tensor's elements.
struct Source {
  enum class Kind {
    Argument, ///< a buffer of the launch
    Result,   ///< result `result` of nest `nest` of the same sub-kernel
    Constant, ///< the same value for all elements
  };
  Kind kind = Kind::Constant;
  unsigned argument = 0;
  unsigned nest = 0, result = 0;
  /// Argument: whether an earlier sub-kernel writes the buffer, and whether it
  /// does so in this stage, so that loads must bypass caches with stale
  /// contents.
  bool writtenBefore = false, writtenThisStage = false;
  mlir::TypedAttr constant;
};

/// The element that a nest reads in each iteration. `address` counts elements
/// from the start of the buffer. `local`, for results of nests, counts from the
/// start of a buffer that contains a single grid point (see Output).
struct Access {
  Source source;
  LinearExpr address;
  LinearExpr local;
};

/// A tensor.extract in a body. Indices that are plain loop indices are part of
/// `address` and have stride 0 in `strides`; the other indices have their
/// stride there.
struct Extract {
  Source source;
  LinearExpr address;
  llvm::SmallVector<int64_t> strides;
  LinearExpr local; ///< as in Access, with strides of its own
  llvm::SmallVector<int64_t> localStrides;
};

/// A result of a nest.
struct Output {
  mlir::Type element;
  LinearExpr address;
  /// Offset in a dense buffer for the `localSize` elements of one grid point.
  LinearExpr local;
  int64_t localSize = 1;
  /// Value before the first iteration; null if the body does not read it.
  std::optional<Access> initial;
  llvm::SmallVector<unsigned> arguments; ///< buffers that store the result
  bool readLater = false;                ///< a later nest of the sub-kernel
                                         ///< reads it
  /// The result's buffer is also an argument that is still read at the same
  /// grid point after this nest has begun.
  bool overwritesLiveInput = false;
  /// Size of the result's temporary buffer for one grid point, and the offset
  /// in that buffer (set by assignTemporaries). The size is 0 if the result is
  /// written directly to `arguments`.
  int64_t temporarySize = 0;
  LinearExpr temporary;
};

struct Nest {
  mlir::linalg::GenericOp op;
  llvm::SmallVector<Loop> loops; ///< the grid loops, other parallel loops, then
                                 ///< reduction loops
  std::vector<std::optional<Access>> inputs; ///< null: defines loop extents
                                             ///< only
  std::vector<Output> outputs;
  /// Results after `outputs`: each iteration of a reduction stores one element
  /// of them. Later nests of the sub-kernel do not read them.
  std::vector<Output> perIterationStores;
  llvm::DenseMap<mlir::Operation *, Extract> extracts;
  /// Index of each of the operation's original loops, if the body uses it.
  llvm::SmallVector<std::optional<LinearExpr>> indices;
  bool reorderable = false; ///< reductions may run in any order

  mlir::Block *body() const { return mlir::linalg::GenericOp(op).getBody(); }
  unsigned reductions() const;
  int64_t iterations() const;
  /// Calls `function` with every linear function of the nest.
  void forEachLinear(llvm::function_ref<void(LinearExpr &)> function);
};

struct SubKernel {
  dialects::plan::KernelOp kernel;
  unsigned grid = 0; ///< number of leading loops that all nests share
  /// The sub-kernel reads results of the other sub-kernels of its stage from
  /// the launch's buffers, so it runs in the last thread block of the stage.
  bool inLastBlock = false;
  /// Stages run one after another; a sub-kernel may read buffers that earlier
  /// stages write.
  unsigned stage = 0;
  std::vector<Nest> nests;
};

struct Kernel {
  dialects::plan::KernelOp op;
  /// Types of the launch's buffers.
  llvm::SmallVector<mlir::RankedTensorType> arguments;
  std::vector<SubKernel> subKernels;
};

/// Builds the model of `op`. Throws Error (Bug) naming the kernel if `op`
/// violates the rules of brew.kernel.
Kernel buildKernel(dialects::plan::KernelOp op);

/// Checks that an element of buffer `argument`, which result `result` of a nest
/// overwrites, is read only by the grid point that overwrites it; throws like
/// buildKernel otherwise. Returns whether the element may be read after writing
/// has begun. Must be called before loops are rearranged.
bool checkInPlaceResult(const Kernel &kernel, unsigned argument,
                        unsigned subKernel, unsigned nest, unsigned result);

/// Returns a copy of `op` with folded bodies. Folding removes index arithmetic
/// left by interchanged loops and so exposes linear accesses. Throws like
/// buildKernel.
mlir::OwningOpRef<dialects::plan::KernelOp>
foldBodies(dialects::plan::KernelOp op);

/// Returns the number of scalar floating-point operations of all iterations.
uint64_t flopsOf(const Kernel &kernel);

/// Elements read from and written to each argument, counted once per stage.
struct ElementTraffic {
  llvm::SmallVector<int64_t> read, written;
};
ElementTraffic elementTraffic(const Kernel &kernel);

/// Returns the bytes of the buffers that the kernel reads plus those it writes,
/// per stage. A buffer overwritten in place counts twice.
uint64_t bytesOf(const Kernel &kernel);

/// Returns the bytes of one element in memory, at least one.
int64_t elementBytes(mlir::Type element);
/// Returns the bytes of `count` consecutive elements; i1 elements take one bit.
int64_t elementBytes(mlir::Type element, int64_t count);

/// Returns the indexing map of a nest's result.
mlir::AffineMap outputMap(mlir::linalg::GenericOp nest, unsigned result);

/// Returns whether a read of dimension `dim` at index `reader` (null: not a
/// loop index) happens at the same grid point as the write by a nest with map
/// `written` and loops `loops`.
bool isSameGridPoint(mlir::AffineMap written, unsigned dim,
                     const SubKernel &subKernel, llvm::ArrayRef<Loop> loops,
                     std::optional<unsigned> reader);

/// Throws Error (Bug) that says why the kernel `op` cannot be emitted.
[[noreturn]] void throwCannotEmit(dialects::plan::KernelOp op,
                                  const std::string &reason);

/// Returns x if output `number` is select(x > accumulated, x, accumulated),
/// otherwise null.
mlir::Value maximumOperand(mlir::linalg::GenericOp nest, unsigned number);

} // namespace brew::compiler
