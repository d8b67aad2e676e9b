//===- BodyEmitter.h - One iteration of a nest as CUDA C++ ---------*- C++ -*-===//
#pragma once

#include "compiler/cuda/KernelSource.h"

#include "llvm/ADT/DenseMap.h"

#include <map>
#include <set>

namespace brew::compiler::cuda {

/// Where the values of a subKernel are in the text.
struct EmittedValues {
  /// [nest][result]: the variable or array that holds it, or nothing.
  std::vector<llvm::SmallVector<Code>> names;
  /// Packs that hold what an argument's accesses read, by address; those of
  /// extracts.
  std::map<std::pair<unsigned, std::vector<int64_t>>, Code> packs;
  llvm::DenseMap<mlir::Operation *, Code> extracts;
  /// Results, as nest and number, that are an array: one for each neighbour
  /// that the thread does.
  std::set<std::pair<unsigned, unsigned>> arrays;
  /// Packs in which neighbours' iterations leave what a reduction stores, by
  /// argument.
  std::map<unsigned, Code> perIterationStores;
};

/// Writes bodies of a subKernel's nests.
class BodyEmitter {
public:
  BodyEmitter(const SubKernel &subKernel, const SubKernelSchedule &schedule, KernelSource &text,
           EmittedValues &values)
      : subKernel(subKernel), schedule(schedule), text(text), values(values) {}

  /// A linear function of the loops; those that it does not need may be empty.
  Code address(const LinearExpr &linear, llvm::ArrayRef<Code> loops);
  /// The value that an access reads.
  Code load(const Source &source, const Code &address,
                const Code &local);
  Code load(const Access &access, llvm::ArrayRef<Code> loops);
  /// One iteration with the accumulators named `accumulated` (empty where the
  /// body does not read them). Returns the results, but for what a reduction
  /// stores: that is stored, or left in its packs.
  llvm::SmallVector<Code> iterate(const Nest &nest,
                                      llvm::ArrayRef<Code> loops,
                                      llvm::ArrayRef<Code> accumulated);
  /// Declares what the neighbours of a pack have in common: packs of what the
  /// nest reads, where `loops` has the first neighbour's index. Iterations use
  /// it until forgetPacks.
  void loadPacks(const Nest &nest, const NestSchedule &inner,
                 llvm::ArrayRef<Code> loops);
  void forgetPacks();
  /// Declares packs for what a reduction stores, and stores them.
  void declareStorePacks(const Nest &nest, const NestSchedule &inner);
  void flushStorePacks(const Nest &nest, const NestSchedule &inner,
                   llvm::ArrayRef<Code> loops);
  static std::string packType(mlir::Type element, unsigned pack);
  /// The byte of a buffer of bits that has the one of that address.
  static Code byteOfBit(const Code &buffer, const Code &address);
  /// Declares a variable that has that value.
  Code variable(mlir::Type type, const Code &value);
  /// Stores a result into its buffers.
  void storeToBuffers(const Output &output, llvm::ArrayRef<Code> loops,
                      const Code &value);
  /// Element `local` of the array that holds a kept result.
  Code localValue(unsigned nest, unsigned result, const Code &local);

private:
  static std::pair<unsigned, std::vector<int64_t>>
  packKey(unsigned argument, const LinearExpr &address);
  struct Operand {
    Code code;
    bool isPrimary = true; ///< it needs no parentheses
    Code primary() const {
      return isPrimary ? code : Code::group(code);
    }
  };
  Operand operand(mlir::Value value);
  void storePerIteration(const Output &store, llvm::ArrayRef<Code> loops,
                     const Code &value);
  /// Code for one operation of a body.
  void emitOperation(const Nest &nest, mlir::Operation &op,
           llvm::ArrayRef<Code> loops);
  /// The places in the buffer and in a kept result.
  std::pair<Code, Code> offsetsOf(mlir::tensor::ExtractOp extract,
                                         const Extract &access,
                                         llvm::ArrayRef<Code> loops);
  /// Adds what the indices of an extract depend on.
  void emitIndices(const Nest &nest, mlir::Operation *extract,
                  llvm::ArrayRef<Code> loops);
  /// The neighbour's element of what is read together.
  Code packElement(unsigned argument, const Code &pack) const;
  void declarePack(Code &pack, unsigned argument, unsigned size,
                   const Code &address);
  /// Names `code` unless it is short and read once.
  Operand named(mlir::Value value, const Code &code, bool isPrimary);

  const SubKernel &subKernel;
  const SubKernelSchedule &schedule;
  KernelSource &text;
  EmittedValues &values;
  llvm::DenseMap<mlir::Value, Operand> operands;
  llvm::DenseMap<mlir::Value, Operand> common; ///< to the neighbours of a pack
};

} // namespace brew::compiler::cuda
