//===- HtmlReport.h - HTML report of a compilation --------------*- C++ -*-===//
#pragma once

#include "compiler/report/NetGraph.h"
#include "compiler/report/Report.h"
#include "frontends/prototxt/text/PrototxtFile.h"

namespace brew::compiler {

/// Graphs and kernel sources shown in the report.
struct PageContents {
  NetGraph layers, steps; ///< the net before and after fusion
  /// Source of each kernel of the manifest: CUDA C++, or the MLIR functions of
  /// a CPU kernel.
  std::vector<std::string> kernelTexts;
};

/// Returns the MLIR text of a function and of all functions that it calls,
/// directly or indirectly.
std::string functionText(mlir::ModuleOp module, llvm::StringRef symbol);

/// Prints one self-contained HTML page: graphs, kernels with their layers'
/// prototxt text, memory over time, and roofline times. `source` is the
/// compiled prototxt.
void printHtmlReport(const ReportSubject &subject, const PageContents &contents,
                     const prototxt::SourceText &source, llvm::raw_ostream &os);

} // namespace brew::compiler
