//===- BodyEmitter.h - Emission of nest bodies as CUDA C++ ------*- C++ -*-===//
#pragma once

#include "compiler/cuda/KernelSource.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <map>
#include <set>

namespace brew::compiler::cuda {

/// A pack of elements that are zero unless their codes equal a number.
struct KeptPack {
  mlir::Type element;
  Code name;
};

/// The code that represents a sub-kernel's values during emission.
struct EmittedValues {
  /// [nest][result]: the variable or array of the result; empty if it has none.
  std::vector<llvm::SmallVector<Code>> names;
  /// Packs with the loaded elements of arguments, by argument and address, and
  /// of extracts.
  std::map<std::pair<unsigned, std::vector<int64_t>>, Code> packs;
  /// Packs that are loaded once for all turns.
  std::map<std::pair<unsigned, std::vector<int64_t>>, Code> hoistedPacks;
  llvm::DenseMap<mlir::Operation *, Code> extracts;
  /// Selects whose elements were selected as a pack, and the operations that
  /// nothing else uses.
  llvm::DenseMap<mlir::Operation *, KeptPack> kept;
  llvm::DenseSet<mlir::Operation *> unused;
  /// Results (nest, number) with an array element per neighbour in the pack.
  std::set<std::pair<unsigned, unsigned>> arrays;
  /// Packs that collect the stores per iteration of neighbours, by argument.
  std::map<unsigned, Code> perIterationStores;
};

/// Emits bodies of a sub-kernel's nests.
class BodyEmitter {
public:
  BodyEmitter(const SubKernel &subKernel, const SubKernelSchedule &schedule,
              KernelSource &text, EmittedValues &values)
      : subKernel(subKernel), schedule(schedule), text(text), values(values) {}

  /// Returns the code of a linear function of the loop indices; unneeded
  /// indices may be empty.
  Code address(const LinearExpr &linear, llvm::ArrayRef<Code> loops);
  /// Return the value that an access reads.
  Code load(const Source &source, const Code &address, const Code &local);
  Code load(const Access &access, llvm::ArrayRef<Code> loops);
  /// Emits one iteration with the accumulators named `accumulated` (empty if
  /// the body does not read them). Returns the results. Stores per iteration
  /// are emitted directly or into their packs.
  llvm::SmallVector<Code> iterate(const Nest &nest, llvm::ArrayRef<Code> loops,
                                  llvm::ArrayRef<Code> accumulated);
  /// Declares the packs that the nest reads, and the index values common to the
  /// neighbours. `loops` contains the first neighbour's index. Iterations use
  /// the packs until forgetPacks().
  void loadPacks(const Nest &nest, const NestSchedule &inner,
                 llvm::ArrayRef<Code> loops);
  void forgetPacks();
  /// Returns whether an access reads a pack that depends on the packed loop
  /// only, and that the sub-kernel does not write.
  bool isInvariant(const Access &access, const NestSchedule &inner) const;
  /// Declares invariant packs of up to `bytes` in total, and subtracts their
  /// size.
  void hoistPacks(const Nest &nest, const NestSchedule &inner,
                  llvm::ArrayRef<Code> loops, int64_t &bytes);
  /// Declare packs for the stores per iteration of a reduction, and store them.
  void declareStorePacks(const Nest &nest, const NestSchedule &inner);
  void flushStorePacks(const Nest &nest, const NestSchedule &inner,
                       llvm::ArrayRef<Code> loops);
  static std::string packType(mlir::Type element, unsigned pack);
  /// Returns the byte of a bit buffer that contains the bit at `address`.
  static Code byteOfBit(const Code &buffer, const Code &address);
  /// Declares a variable with the given value.
  Code variable(mlir::Type type, const Code &value);
  /// Stores a result into its buffers.
  void storeToBuffers(const Output &output, llvm::ArrayRef<Code> loops,
                      const Code &value);
  /// Returns element `local` of a result stored within the grid point.
  Code localValue(unsigned nest, unsigned result, const Code &local);

private:
  static std::pair<unsigned, std::vector<int64_t>>
  packKey(unsigned argument, const LinearExpr &address);
  struct Operand {
    Code code;
    bool isPrimary = true; ///< needs no parentheses
    Code primary() const { return isPrimary ? code : Code::group(code); }
  };
  Operand operand(mlir::Value value);
  void storePerIteration(const Output &store, llvm::ArrayRef<Code> loops,
                         const Code &value);
  /// Emits one operation of a body.
  void emitOperation(const Nest &nest, mlir::Operation &op,
                     llvm::ArrayRef<Code> loops);
  /// Returns the offsets in the buffer and in a result stored within the grid
  /// point.
  std::pair<Code, Code> offsetsOf(mlir::tensor::ExtractOp extract,
                                  const Extract &access,
                                  llvm::ArrayRef<Code> loops);
  /// Emits the operations on which the indices of an extract depend.
  void emitIndices(const Nest &nest, mlir::Operation *extract,
                   llvm::ArrayRef<Code> loops);
  /// Emits the operations on which `values` depend.
  void emitOperands(const Nest &nest, llvm::SmallVector<mlir::Value> values,
                    llvm::ArrayRef<Code> loops);
  /// Emits selects by the codes of elements, such as the positions of maxima,
  /// for all neighbours at once.
  void keepEqual(const Nest &nest, const NestSchedule &inner,
                 llvm::ArrayRef<Code> loops);
  /// Returns the current neighbour's element of a pack.
  Code packElement(unsigned argument, const Code &pack) const;
  void declarePack(Code &pack, unsigned argument, unsigned size,
                   const Code &address);
  /// Assigns `code` to a variable unless it is short and used once.
  Operand assignIfLong(mlir::Value value, const Code &code, bool isPrimary);

  const SubKernel &subKernel;
  const SubKernelSchedule &schedule;
  KernelSource &text;
  EmittedValues &values;
  llvm::DenseMap<mlir::Value, Operand> operands;
  /// Operands common to the neighbours of a pack.
  llvm::DenseMap<mlir::Value, Operand> commonOperands;
};

} // namespace brew::compiler::cuda
