//===- FunctionText.cpp - Text of MLIR functions --------------------------===//
#include "compiler/report/HtmlReport.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace brew::compiler {

std::string functionText(mlir::ModuleOp module, llvm::StringRef symbol) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::SetVector<mlir::Operation *> functions;
  functions.insert(module.lookupSymbol(symbol));
  for (size_t i = 0; i < functions.size(); ++i) {
    mlir::Operation *function = functions[i];
    function->print(os, mlir::OpPrintingFlags().useLocalScope());
    os << "\n";
    function->walk([&](mlir::func::CallOp call) {
      if (mlir::Operation *callee = module.lookupSymbol(call.getCallee()))
        functions.insert(callee);
    });
  }
  return text;
}

} // namespace brew::compiler
