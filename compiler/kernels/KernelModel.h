//===- KernelModel.h - What a kernel's nests read and write -----*- C++ -*-===//
//
// A kernel as the emitters of all targets see it: subKernels, nests, loops, and
// every access to a tensor as a linear function of the loop indices. Schedules
// rearrange loops by rewriting those functions; the bodies stay linalg regions.
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

/// constant + the sum of coefs[i] * loop i.
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

/// Where the elements of a tensor come from.
struct Source {
  enum class Kind {
    Argument, ///< a buffer of the launch
    Result,   ///< result `result` of nest `nest` of the same subKernel
    Constant, ///< one value everywhere
  };
  Kind kind = Kind::Constant;
  unsigned argument = 0;
  unsigned nest = 0, result = 0;
  /// Of an argument: an earlier subKernel writes it, of this stage or of one before;
  /// one of this stage, so that no cache may hold what was there.
  bool writtenBefore = false, writtenThisStage = false;
  mlir::TypedAttr constant;
};

/// The element that a nest reads at each iteration. `address` counts elements
/// from the start of the buffer; `local`, for results of nests, from the start
/// of one that holds a single grid point (see Output).
struct Access {
  Source source;
  LinearExpr address;
  LinearExpr local;
};

/// A tensor.extract of a body. Indices that are plain loop indices are part of
/// `address`; the others have their stride in `strides`, which is 0 for the
/// former.
struct Extract {
  Source source;
  LinearExpr address;
  llvm::SmallVector<int64_t> strides;
  LinearExpr local; ///< like Access, with strides of its own
  llvm::SmallVector<int64_t> localStrides;
};

/// A result of a nest.
struct Output {
  mlir::Type element;
  LinearExpr address;
  /// Place within a dense buffer that holds one grid point's elements, of
  /// which there are `localSize`.
  LinearExpr local;
  int64_t localSize = 1;
  /// Value before the first iteration; null if the body does not read it.
  std::optional<Access> initial;
  llvm::SmallVector<unsigned> arguments; ///< buffers it is stored to
  bool readLater = false;                ///< by a later nest of the subKernel
  /// It shares its buffer with an argument that is still read at the same
  /// grid point once this nest has begun.
  bool overwritesLiveInput = false;
  /// Elements of the buffer that holds it at a grid point, and its place there
  /// (set by assignTemporaries); 0 if it is written to `arguments` directly.
  int64_t temporarySize = 0;
  LinearExpr temporary;
};

struct Nest {
  mlir::linalg::GenericOp op;
  llvm::SmallVector<Loop> loops; ///< the subKernel's grid, other parallel ones,
                                 ///< then reductions
  std::vector<std::optional<Access>> inputs; ///< null: shows extents only
  std::vector<Output> outputs;
  /// Results behind these of which each iteration of a reduction stores an
  /// element. Later nests of the subKernel do not read them.
  std::vector<Output> perIterationStores;
  llvm::DenseMap<mlir::Operation *, Extract> extracts;
  /// Index of each of the operation's own loops, where its body asks for it.
  llvm::SmallVector<std::optional<LinearExpr>> indices;
  bool reorderable = false; ///< reductions give the same in any order

  mlir::Block *body() const { return mlir::linalg::GenericOp(op).getBody(); }
  unsigned reductions() const;
  int64_t iterations() const;
  /// Calls `function` with every LinearExpr of the nest.
  void forEachLinear(llvm::function_ref<void(LinearExpr &)> function);
};

struct SubKernel {
  dialects::plan::KernelOp kernel;
  unsigned grid = 0; ///< leading loops that all nests share
  /// It reads, from the launch's buffers, what the subKernels before it in its stage
  /// compute.
  bool inLastBlock = false;
  /// It reads, from there, what the subKernels of earlier stages compute.
  unsigned stage = 0;
  std::vector<Nest> nests;
};

struct Kernel {
  dialects::plan::KernelOp op;
  /// Types of the launch's buffers.
  llvm::SmallVector<mlir::RankedTensorType> arguments;
  std::vector<SubKernel> subKernels;
};

/// Reads `op`; checks that it keeps the rules of brew.kernel. Throws Error
/// (Bug) naming the kernel if it does not.
Kernel buildKernel(dialects::plan::KernelOp op);

/// Checks that only the grid point that overwrites an element of buffer
/// `argument`, which result `result` of a nest shares, reads it; throws like
/// buildKernel if not. Returns whether it may do so once writing has begun.
/// Loops must still be those of the operations.
bool checkInPlaceResult(const Kernel &kernel, unsigned argument,
                           unsigned subKernel, unsigned nest, unsigned result);

/// A copy of `op` with its bodies folded. They may hold index arithmetic that
/// interchanged loops have left behind; folded, it shows which accesses are
/// linear. Throws like buildKernel.
mlir::OwningOpRef<dialects::plan::KernelOp>
foldBodies(dialects::plan::KernelOp op);

/// Scalar floating-point operations of all iterations.
uint64_t flopsOf(const Kernel &kernel);

/// Elements of each argument that a kernel reads and that it writes, each
/// counted once for each stage.
struct ElementTraffic {
  llvm::SmallVector<int64_t> read, written;
};
ElementTraffic elementTraffic(const Kernel &kernel);

/// Size of the launch's buffers that it reads and of those that it writes, for
/// each stage; one that it overwrites in place counts twice.
uint64_t bytesOf(const Kernel &kernel);

/// Bytes of one element in memory, at least one.
int64_t elementBytes(mlir::Type element);
/// Bytes of so many neighbouring elements; those of i1 are bits.
int64_t elementBytes(mlir::Type element, int64_t count);

/// The indexing map of a nest's result.
mlir::AffineMap outputMap(mlir::linalg::GenericOp nest, unsigned result);

/// Whether reading dimension `dim` of a tensor at loop `reader` (null: at
/// something that is no loop index) stays at the grid point at which a nest
/// with map `written` and loops `loops` writes it.
bool isSameGridPoint(mlir::AffineMap written, unsigned dim, const SubKernel &subKernel,
                  llvm::ArrayRef<Loop> loops, std::optional<unsigned> reader);

/// Throws the Error (Bug) that kernel `op` cannot be emitted.
[[noreturn]] void throwCannotEmit(dialects::plan::KernelOp op,
                         const std::string &reason);

/// If `value` (yielded for output `number`) is select(x > accumulated, x,
/// accumulated), x; else null.
mlir::Value maximumOperand(mlir::linalg::GenericOp nest, unsigned number);

} // namespace brew::compiler
