//===- CudaBody.h - One iteration of a nest as CUDA C++ ----------*- C++
//-*-===//
#pragma once

#include "compiler/cuda/CudaText.h"

#include "llvm/ADT/DenseMap.h"

#include <map>

namespace brew::compiler {

/// Where the values of a part are in the text.
struct CudaValues {
  /// [nest][result]: the variable or array that holds it, or nothing.
  std::vector<llvm::SmallVector<std::string>> names;
  /// Packs that hold what an argument's accesses read, by address.
  std::map<std::pair<unsigned, std::vector<int64_t>>, std::string> packs;
};

/// Writes bodies of a part's nests.
class CudaBody {
public:
  CudaBody(const Part &part, const PartSchedule &schedule, CudaText &text,
           CudaValues &values)
      : part(part), schedule(schedule), text(text), values(values) {}

  /// A linear function of the loops' texts; those that it does not need may be
  /// empty.
  std::string address(const Linear &linear, llvm::ArrayRef<std::string> loops);
  /// The value that an access reads.
  std::string load(const Source &source, const std::string &address,
                   const std::string &local);
  std::string load(const Access &access, llvm::ArrayRef<std::string> loops);
  /// One iteration with the accumulators named `accumulated` (empty where the
  /// body does not read them). Returns the texts of the results.
  llvm::SmallVector<std::string>
  iterate(const Nest &nest, llvm::ArrayRef<std::string> loops,
          llvm::ArrayRef<std::string> accumulated);
  /// Stores a result into its buffers.
  void storeToBuffers(const Output &output, llvm::ArrayRef<std::string> loops,
                      const std::string &value);
  /// Element `local` of the array that holds a kept result.
  std::string kept(unsigned nest, unsigned result, const std::string &local);

  static std::pair<unsigned, std::vector<int64_t>>
  packKey(unsigned argument, const Linear &address);

private:
  struct Operand {
    std::string text;
    bool atomic = true;
    std::string primary() const { return atomic ? text : "(" + text + ")"; }
  };
  Operand operand(mlir::Value value);
  /// Names `text` unless it is short and read once.
  Operand named(mlir::Value value, const std::string &text, bool atomic);

  const Part &part;
  const PartSchedule &schedule;
  CudaText &text;
  CudaValues &values;
  llvm::DenseMap<mlir::Value, Operand> operands;
};

} // namespace brew::compiler
