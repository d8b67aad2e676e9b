//===- Page.h - The pieces of an HTML report --------------------*- C++ -*-===//
#pragma once

#include "compiler/report/Costs.h"
#include "compiler/report/HtmlReport.h"

#include <map>
#include <string>

namespace brew::compiler {

// What stands in every page: page.css and page.js.
extern const char *const kPageStyle;
extern const char *const kPageScript;

/// Text as UTF-8 with HTML's special characters replaced.
std::string escaped(llvm::StringRef text);

/// What page.js draws, as JSON that may stand in a script element.
std::string pageData(const ReportSubject &subject, const PageContents &contents,
                     const CostModel &model);

/// The kernels that the kernel nodes of a program's graph have become, by their
/// nodes, and the times of nodes that are steps.
struct StepMatch {
  std::map<size_t, int> kernels;    ///< node to kernel of the manifest
  std::map<size_t, double> seconds; ///< node to time by the roofline
};
StepMatch matchSteps(const ProgramGraph &graph, const plan::Manifest &manifest,
                     const plan::Program &program, const CostModel &model);

/// The prototxt's lines of layers.
class LayerLines {
public:
  LayerLines(const NetGraph &layers, const prototxt::SourceText &source);

  struct Excerpt {
    std::string location; ///< FILE:LINE
    std::string text;  ///< empty where the file cannot be read any more
  };
  /// Of a layer of a program; null if nobody knows.
  const Excerpt *find(const std::string &program, const std::string &layer) const;

private:
  std::map<std::pair<std::string, std::string>, Excerpt> lines;
};

} // namespace brew::compiler
