//===- Page.h - Components of the HTML report -------------------*- C++ -*-===//
#pragma once

#include "compiler/report/Costs.h"
#include "compiler/report/HtmlReport.h"

#include <map>
#include <string>

namespace brew::compiler {

// Contents of page.css, support/page/ and page.js.
extern const char *const kPageStyle;
extern const char *const kSharedPageScript;
extern const char *const kPageScript;

/// Returns `text` as UTF-8 with HTML's special characters escaped.
std::string escaped(llvm::StringRef text);

/// Returns the number with three significant digits and a unit with the prefix
/// that suits it, for example "371 GFLOP", "8.39 MB" or "2.5 µs". `unit` is
/// "B", "FLOP" or "s".
std::string withUnit(double number, llvm::StringRef unit);
inline std::string sizeText(int64_t bytes) {
  return withUnit(static_cast<double>(bytes), "B");
}
inline std::string operationsText(int64_t flops) {
  return withUnit(static_cast<double>(flops), "FLOP");
}
inline std::string secondsText(double seconds) {
  return withUnit(seconds, "s");
}

/// Returns "2.5 µs by the roofline, 3 µs measured", or without the measured
/// time.
std::string stepTimeText(const Costs &costs);

/// Returns the data of page.js as JSON that is safe inside a script element.
std::string pageData(const ReportSubject &subject, const PageContents &contents,
                     const CostModel &model);

/// Maps nodes of a program's graph to kernels and step times.
struct StepMatch {
  std::map<size_t, int> kernels; ///< node to index in the manifest
  std::map<size_t, Costs> costs; ///< node to costs
};
StepMatch matchSteps(const ProgramGraph &graph, const plan::Manifest &manifest,
                     const plan::Program &program, const CostModel &model);

/// Prototxt text of each layer.
class LayerLines {
public:
  LayerLines(const NetGraph &layers, const prototxt::SourceText &source);

  struct Excerpt {
    std::string location; ///< FILE:LINE
    std::string text;     ///< empty if the file is no longer readable
  };
  /// Returns the text of a program's layer; null if unknown.
  const Excerpt *find(const std::string &program,
                      const std::string &layer) const;

private:
  std::map<std::pair<std::string, std::string>, Excerpt> lines;
};

} // namespace brew::compiler
