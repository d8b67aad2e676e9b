//===- CudaBody.h - One iteration of a nest as CUDA C++ ---------*- C++ -*-===//
#pragma once

#include "compiler/cuda/CudaText.h"

#include "llvm/ADT/DenseMap.h"

#include <map>
#include <set>

namespace brew::compiler::cuda {

/// Where the values of a subKernel are in the text.
struct CudaValues {
  /// [nest][result]: the variable or array that holds it, or nothing.
  std::vector<llvm::SmallVector<CudaCode>> names;
  /// Packs that hold what an argument's accesses read, by address; those of
  /// extracts.
  std::map<std::pair<unsigned, std::vector<int64_t>>, CudaCode> packs;
  llvm::DenseMap<mlir::Operation *, CudaCode> extracts;
  /// Results, as nest and number, that are an array: one for each neighbour
  /// that the thread does.
  std::set<std::pair<unsigned, unsigned>> arrays;
  /// Packs in which neighbours' iterations leave what a reduction stores, by
  /// argument.
  std::map<unsigned, CudaCode> perIterationStores;
};

/// Writes bodies of a subKernel's nests.
class CudaBody {
public:
  CudaBody(const SubKernel &subKernel, const SubKernelSchedule &schedule, CudaText &text,
           CudaValues &values)
      : subKernel(subKernel), schedule(schedule), text(text), values(values) {}

  /// A linear function of the loops; those that it does not need may be empty.
  CudaCode address(const LinearExpr &linear, llvm::ArrayRef<CudaCode> loops);
  /// The value that an access reads.
  CudaCode load(const Source &source, const CudaCode &address,
                const CudaCode &local);
  CudaCode load(const Access &access, llvm::ArrayRef<CudaCode> loops);
  /// One iteration with the accumulators named `accumulated` (empty where the
  /// body does not read them). Returns the results, but for what a reduction
  /// stores: that is stored, or left in its packs.
  llvm::SmallVector<CudaCode> iterate(const Nest &nest,
                                      llvm::ArrayRef<CudaCode> loops,
                                      llvm::ArrayRef<CudaCode> accumulated);
  /// Declares what the neighbours of a pack have in common: packs of what the
  /// nest reads, where `loops` has the first neighbour's index. Iterations use
  /// it until forgetPacks.
  void loadPacks(const Nest &nest, const NestSchedule &inner,
                 llvm::ArrayRef<CudaCode> loops);
  void forgetPacks();
  /// Declares packs for what a reduction stores, and stores them.
  void declareStores(const Nest &nest, const NestSchedule &inner);
  void storeStores(const Nest &nest, const NestSchedule &inner,
                   llvm::ArrayRef<CudaCode> loops);
  static std::string packType(mlir::Type element, unsigned pack);
  /// The byte of a buffer of bits that has the one of that address.
  static CudaCode byteOfBit(const CudaCode &buffer, const CudaCode &address);
  /// Declares a variable that has that value.
  CudaCode variable(mlir::Type type, const CudaCode &value);
  /// Stores a result into its buffers.
  void storeToBuffers(const Output &output, llvm::ArrayRef<CudaCode> loops,
                      const CudaCode &value);
  /// Element `local` of the array that holds a kept result.
  CudaCode kept(unsigned nest, unsigned result, const CudaCode &local);

private:
  static std::pair<unsigned, std::vector<int64_t>>
  packKey(unsigned argument, const LinearExpr &address);
  struct Operand {
    CudaCode code;
    bool isPrimary = true; ///< it needs no parentheses
    CudaCode primary() const {
      return isPrimary ? code : CudaCode::group(code);
    }
  };
  Operand operand(mlir::Value value);
  void storeOnTheWay(const Output &store, llvm::ArrayRef<CudaCode> loops,
                     const CudaCode &value);
  /// Code for one operation of a body.
  void add(const Nest &nest, mlir::Operation &op,
           llvm::ArrayRef<CudaCode> loops);
  /// The places in the buffer and in a kept result.
  std::pair<CudaCode, CudaCode> placesOf(mlir::tensor::ExtractOp extract,
                                         const Extract &access,
                                         llvm::ArrayRef<CudaCode> loops);
  /// Adds what the indices of an extract depend on.
  void addIndices(const Nest &nest, mlir::Operation *extract,
                  llvm::ArrayRef<CudaCode> loops);
  /// The neighbour's element of what is read together.
  CudaCode ofPack(unsigned argument, const CudaCode &pack) const;
  void declarePack(CudaCode &pack, unsigned argument, unsigned size,
                   const CudaCode &address);
  /// Names `code` unless it is short and read once.
  Operand named(mlir::Value value, const CudaCode &code, bool isPrimary);

  const SubKernel &subKernel;
  const SubKernelSchedule &schedule;
  CudaText &text;
  CudaValues &values;
  llvm::DenseMap<mlir::Value, Operand> operands;
  llvm::DenseMap<mlir::Value, Operand> common; ///< to the neighbours of a pack
};

} // namespace brew::compiler::cuda
