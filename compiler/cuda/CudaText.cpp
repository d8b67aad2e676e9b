//===- CudaText.cpp - Lines of C++ with their indentation -----------------===//
#include "compiler/cuda/CudaText.h"

namespace brew::compiler {

void CudaLines::line(const llvm::Twine &content) {
  text.append(2 * depth, ' ');
  text += content.str();
  text += '\n';
}

void CudaLines::open(const llvm::Twine &content) {
  line(content.isTriviallyEmpty() ? llvm::Twine("{") : content + " {");
  ++depth;
}

void CudaLines::close(const llvm::Twine &rest) {
  --depth;
  line("}" + rest);
}

void CudaLines::comment(const llvm::Twine &content) {
  if (hasComments)
    line("// " + content);
}

} // namespace brew::compiler
