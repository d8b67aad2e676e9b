//===- CudaText.h - The text of one kernel, in the making --------*- C++
//-*-===//
#pragma once

#include "compiler/cuda/CudaNames.h"
#include "compiler/cuda/CudaScalars.h"
#include "compiler/cuda/CudaSchedule.h"

#include "llvm/ADT/Twine.h"

namespace brew::compiler {

/// An argument of a kernel function.
struct CudaArgument {
  std::string name;
  mlir::Type element;
  int64_t count = 0;
  bool read = false, written = false;
  /// It may share memory with another argument.
  bool aliased = false;
};

/// Lines of C++ with their indentation.
class CudaLines {
public:
  void line(const llvm::Twine &text);
  /// `text {`, then lines that are indented until close().
  void open(const llvm::Twine &text);
  void close(const llvm::Twine &rest = "");
  /// A comment; nothing where the text is to be free of names.
  void comment(const llvm::Twine &text);
  bool hasComments = true;
  unsigned depth = 1;
  std::string text;
};

/// What the parts of a kernel write into.
struct CudaText {
  CudaText() : scalars(prelude) {}
  CudaText(const CudaText &) = delete;

  CudaPrelude prelude;
  CudaScalars scalars;
  CudaNames names;
  CudaLines lines;
  std::vector<CudaArgument> arguments;
  std::vector<std::string> shared; ///< declarations of shared memory
  unsigned threads = 1;            ///< of a block

  /// C++ types of indices.
  std::string index() const { return prelude.wide ? "long long" : "int"; }
  std::string counter() const {
    return prelude.wide ? "unsigned long long" : "unsigned";
  }
  /// A number as a `counter`.
  std::string count(int64_t value) const {
    return std::to_string(value) + (prelude.wide ? "ull" : "u");
  }
};

/// Appends the statements of `part` to `text`.
void emitCudaPart(const Kernel &kernel, Part &part,
                  const PartSchedule &schedule, CudaText &text);

} // namespace brew::compiler
