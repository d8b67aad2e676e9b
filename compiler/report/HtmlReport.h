//===- HtmlReport.h - A compilation as one page -----------------*- C++ -*-===//
#pragma once

#include "compiler/report/NetGraph.h"
#include "compiler/report/Report.h"
#include "frontends/prototxt/text/PrototxtFile.h"

namespace brew::compiler {

/// What a page shows beside the figures.
struct PageContents {
  NetGraph layers, steps; ///< the net before and after fusion
  /// Of each kernel of the manifest: CUDA, or the functions that the CPU's are
  /// compiled from.
  std::vector<std::string> kernelTexts;
};

/// A function of a module and those that it calls, as text.
std::string functionText(mlir::ModuleOp module, llvm::StringRef symbol);

/// One HTML page without outside references: graphs, kernels with their
/// prototxt's lines, memory over time and times by the roofline. `source` is
/// what was compiled.
void printHtmlReport(const ReportSubject &subject, const PageContents &contents,
                     const prototxt::SourceText &source, llvm::raw_ostream &os);

} // namespace brew::compiler
