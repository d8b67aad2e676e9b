//===- CudaBody.h - One iteration of a nest as CUDA C++ ---------*- C++ -*-===//
#pragma once

#include "compiler/cuda/CudaText.h"

#include "llvm/ADT/DenseMap.h"

#include <map>

namespace brew::compiler {

/// Where the values of a part are in the text.
struct CudaValues {
  /// [nest][result]: the variable or array that holds it, or nothing.
  std::vector<llvm::SmallVector<CudaCode>> names;
  /// Packs that hold what an argument's accesses read, by address.
  std::map<std::pair<unsigned, std::vector<int64_t>>, CudaCode> packs;
};

/// Writes bodies of a part's nests.
class CudaBody {
public:
  CudaBody(const Part &part, const PartSchedule &schedule, CudaText &text,
           CudaValues &values)
      : part(part), schedule(schedule), text(text), values(values) {}

  /// A linear function of the loops; those that it does not need may be empty.
  CudaCode address(const Linear &linear, llvm::ArrayRef<CudaCode> loops);
  /// The value that an access reads.
  CudaCode load(const Source &source, const CudaCode &address,
                const CudaCode &local);
  CudaCode load(const Access &access, llvm::ArrayRef<CudaCode> loops);
  /// One iteration with the accumulators named `accumulated` (empty where the
  /// body does not read them). Returns the results.
  llvm::SmallVector<CudaCode> iterate(const Nest &nest,
                                      llvm::ArrayRef<CudaCode> loops,
                                      llvm::ArrayRef<CudaCode> accumulated);
  /// Declares a variable that has that value.
  CudaCode variable(mlir::Type type, const CudaCode &value);
  /// Stores a result into its buffers.
  void storeToBuffers(const Output &output, llvm::ArrayRef<CudaCode> loops,
                      const CudaCode &value);
  /// Element `local` of the array that holds a kept result.
  CudaCode kept(unsigned nest, unsigned result, const CudaCode &local);

  static std::pair<unsigned, std::vector<int64_t>>
  packKey(unsigned argument, const Linear &address);

private:
  struct Operand {
    CudaCode code;
    bool isPrimary = true; ///< it needs no parentheses
    CudaCode primary() const {
      return isPrimary ? code : CudaCode::group(code);
    }
  };
  Operand operand(mlir::Value value);
  /// Names `code` unless it is short and read once.
  Operand named(mlir::Value value, const CudaCode &code, bool isPrimary);

  const Part &part;
  const PartSchedule &schedule;
  CudaText &text;
  CudaValues &values;
  llvm::DenseMap<mlir::Value, Operand> operands;
};

} // namespace brew::compiler
