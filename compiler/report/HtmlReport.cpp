//===- HtmlReport.cpp - HTML report of a compilation ----------------------===//
#include "compiler/report/HtmlReport.h"

#include "compiler/report/Page.h"
#include "support/NumberText.h"

#include "llvm/ADT/StringExtras.h"

namespace brew::compiler {

std::string escaped(llvm::StringRef text) {
  std::string result;
  for (char c : utf8(text))
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    case '\'':
      result += "&#39;";
      break;
    default:
      result += c;
    }
  return result;
}

std::string withUnit(double number, llvm::StringRef unit) {
  static constexpr const char *kSmall[] = {"", "m", "µ", "n"};
  static constexpr const char *kLarge[] = {"", "k", "M", "G", "T", "P"};
  int prefix = 0;
  if (unit == "s") {
    // Thresholds round as the text does: 0.9996 ms is "1 ms".
    for (; number != 0 && number < .9995 && prefix < 3; ++prefix)
      number *= 1e3;
  } else {
    for (; number >= 999.5 && prefix < 5; ++prefix)
      number /= 1e3;
  }
  const int decimals = number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
  std::string text = fixedText(number, decimals);
  if (decimals)
    text = llvm::StringRef(text).rtrim('0').rtrim('.').str();
  return text + " " + (unit == "s" ? kSmall : kLarge)[prefix] + unit.str();
}

namespace {

constexpr int kLargestBuffers = 20;

class HtmlPage {
public:
  HtmlPage(const ReportSubject &subject, const PageContents &contents,
           const prototxt::SourceText &source, llvm::raw_ostream &os)
      : manifest(subject.manifest), subject(subject), contents(contents),
        model(subject), lines(contents.layers, source), os(os) {}

  void print();

private:
  void printHead();
  void printPrograms();
  void printDrawings();
  void printTimes(int index);
  void printBuffers();
  void printKernels();
  void printAction(const plan::Step &step);
  void printKernel(int index, const plan::Program *program,
                   const plan::Step *step);
  void printCell(const std::string &text, double value) {
    os << "<td class=\"n\" data-value=\"" << shortestText(value) << "\">"
       << escaped(text) << "</td>";
  }
  /// Prints a share and its bar, which fills the cell for `maximum`.
  void printShare(double share, double maximum) {
    os << "<td class=\"n share\" data-value=\"" << shortestText(share)
       << "\"><meter min=\"0\" max=\"" << shortestText(maximum) << "\" value=\""
       << shortestText(share) << "\"></meter><span>"
       << fixedText(100 * share, 1) << "%</span></td>";
  }
  std::string ratesText() const;

  const plan::Manifest &manifest;
  const ReportSubject &subject;
  const PageContents &contents;
  const CostModel model;
  const LayerLines lines;
  llvm::raw_ostream &os;
};

std::string HtmlPage::ratesText() const {
  const dialects::target::Roofline &roofline = model.roofline;
  std::string text = withUnit(roofline.bytesPerSecond, "B") + "/s, " +
                     withUnit(roofline.flopsPerSecond, "FLOP") + "/s";
  if (roofline.productFlopsPerSecond != roofline.flopsPerSecond)
    text += " (" + withUnit(roofline.productFlopsPerSecond, "FLOP") +
            "/s in products)";
  return text + ", " + secondsText(roofline.launchSeconds) + " per launch";
}

void HtmlPage::printHead() {
  const std::string net = escaped(manifest.net_name());
  os << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
     << "<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\">\n"
     // Forbid external resources, whatever the names and texts contain.
     << "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
        "'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
     << "<title>" << net << "</title>\n<style>\n"
     << kPageStyle << "</style></head>\n<body>\n<header><h1>" << net
     << "</h1><p>" << escaped(manifest.input_prototxt()) << ", "
     << (subject.cuda ? "for a GPU" : "for a CPU") << ", by "
     << escaped(manifest.producer()) << "</p></header>\n<nav id=\"nav\"></nav>"
     << "\n<main>\n";
}

void HtmlPage::printPrograms() {
  os << "<section><h2>Programs</h2><div class=\"scroll\"><table><thead><tr>"
        "<th>program</th><th class=\"n\">kernels</th><th "
        "class=\"n\">calls</th><th class=\"n\">operations</th><th "
        "class=\"n\">arena</th><th class=\"n\">bound</th><th "
        "class=\"n\">Caffe holds</th><th class=\"n\">scratch</th><th "
        "class=\"n\">roofline</th></tr>"
        "</thead><tbody>\n";
  for (const plan::Program &program : manifest.programs()) {
    const Costs costs = model.of(program);
    const std::optional<int64_t> scratch = model.scratchOf(program);
    os << "<tr><td>" << escaped(program.name()) << "</td>";
    for (const std::string &text :
         {std::to_string(costs.kernels),
          std::to_string(costs.calls + costs.hostCalls),
          operationsText(costs.flops), sizeText(program.memory().arena_bytes()),
          sizeText(program.memory().lower_bound_bytes()),
          sizeText(program.memory().caffe_bytes()),
          scratch ? sizeText(*scratch) : "unknown", secondsText(costs.seconds)})
      os << "<td class=\"n\">" << text << "</td>";
    os << "</tr>\n";
  }
  os << "</tbody></table></div>\n<p>Parameters "
     << sizeText(arenaSize(manifest, plan::PARAMETERS)) << ", gradients "
     << sizeText(arenaSize(manifest, plan::GRADIENTS)) << ", solver state "
     << sizeText(arenaSize(manifest, plan::STATE));
  for (const plan::Program &program : manifest.programs())
    if (const Costs costs = model.of(program); costs.hostCalls)
      os << "; " << escaped(program.name()) << " has " << costs.hostCalls
         << " calls of host layers, which copy "
         << sizeText(costs.hostCopiedBytes);
  os << ".</p></section>\n";
}

/// Prints placeholders that page.js fills.
void HtmlPage::printDrawings() {
  os << "<section><h2>Net</h2>\n<p class=\"note\">Choose a layer to see "
        "its kernels and calls. Forward is on the left, backward beside it. "
        "Drag to move a graph, and zoom with its buttons or Ctrl and the "
        "wheel.</p>\n"
        "<div class=\"panels\">";
  for (llvm::StringRef id : {"before", "after"})
    os << "<figure><figcaption><span id=\"" << id
       << "-title\"></span><span id=\"" << id
       << "-tools\"></span></figcaption><div class=\"graph\" id=\"" << id
       << "\" tabindex=\"0\"></div></figure>";
  os << "</div>\n"
        "<div id=\"chosen\" class=\"chosen\" aria-live=\"polite\"></div>"
        "<noscript><p>The graphs need scripts.</p></noscript></section>\n"
        "<section><h2>Memory over time</h2>\n<p class=\"note\">Each "
        "rectangle is a buffer of the arena, from the step that writes it to "
        "the last that reads it.</p><div class=\"scroll\" id=\"arena\" "
        "tabindex=\"0\"></div><p id=\"buffer\" class=\"note\">&nbsp;</p>"
        "</section>\n<svg id=\"svg\"></svg>\n";
}

void HtmlPage::printTimes(int index) {
  const plan::Program &program = manifest.programs(index);
  const Costs programCosts = model.of(program);
  const double total = programCosts.seconds;
  const std::optional<double> measured = programCosts.measuredSeconds;
  const std::vector<LayerCosts> rows = model.byLayer(program);
  // Bars of shares relative to the largest remain visible in deep nets.
  double longestRow = 0, longestMeasuredRow = 0;
  for (const LayerCosts &row : rows) {
    longestRow = std::max(longestRow, row.costs.seconds);
    longestMeasuredRow =
        std::max(longestMeasuredRow, row.costs.measuredSeconds.value_or(0));
  }
  os << "<div class=\"program\" data-program=\"" << index << "\"><h3>"
     << escaped(program.name()) << ": " << secondsText(total)
     << (measured ? ", measured " + secondsText(*measured) : "")
     << "</h3><div class=\"scroll tall\"><table class=\"sortable\"><thead><tr>"
        "<th>layers</th><th>steps</th><th class=\"n\">bytes</th><th "
        "class=\"n\">operations</th><th class=\"n\">roofline</th><th "
        "class=\"n\">share</th><th>limited by</th>"
     << (measured ? "<th class=\"n\">measured</th><th class=\"n\">share</th>"
                  : "")
     << "</tr></thead><tbody>\n";
  for (const LayerCosts &row : rows) {
    os << "<tr><td title=\"" << escaped(llvm::join(row.layers, ", ")) << "\">"
       << escaped(row.label(3)) << "</td><td>";
    const plan::Step *longest = nullptr;
    for (const plan::Step &step : program.steps()) {
      if (step.backward() != row.backward ||
          step.rematerialized() != row.recomputed ||
          !llvm::equal(step.layers(), row.layers))
        continue;
      os << (longest ? ", " : "");
      printAction(step);
      if (!longest || model.of(step).seconds > model.of(*longest).seconds)
        longest = &step;
    }
    os << "</td>";
    const Costs &costs = row.costs;
    const double share = costs.seconds / total;
    printCell(sizeText(costs.bytes), static_cast<double>(costs.bytes));
    printCell(operationsText(costs.flops), static_cast<double>(costs.flops));
    printCell(secondsText(costs.seconds), costs.seconds);
    printShare(share, longestRow / total);
    os << "<td>";
    switch (model.roofline.boundOf(model.workOf(*longest))) {
    case dialects::target::Roofline::Bound::Memory:
      os << "memory";
      break;
    case dialects::target::Roofline::Bound::Compute:
      os << "arithmetic";
      break;
    case dialects::target::Roofline::Bound::Launch:
      os << "launch";
      break;
    }
    os << "</td>";
    if (measured) {
      const double seconds = costs.measuredSeconds.value_or(0);
      printCell(secondsText(seconds), seconds);
      printShare(seconds / *measured, longestMeasuredRow / *measured);
    }
    os << "</tr>\n";
  }
  os << "</tbody></table></div></div>\n";
}

void HtmlPage::printBuffers() {
  std::vector<const plan::Buffer *> buffers;
  for (const plan::Buffer &buffer : manifest.buffers())
    buffers.push_back(&buffer);
  llvm::stable_sort(buffers, [](const auto *a, const auto *b) {
    return a->size() > b->size();
  });
  if (buffers.size() > kLargestBuffers)
    buffers.resize(kLargestBuffers);
  os << "<section><h2>Largest buffers</h2><div class=\"scroll\"><table "
        "class=\"sortable\"><thead><tr><th>buffer</th><th>shape</th><th "
        "class=\"n\">size</th><th>arena</th><th>program</th><th "
        "class=\"n\">first step</th><th class=\"n\">last step</th></tr>"
        "</thead><tbody>\n";
  for (const plan::Buffer *buffer : buffers) {
    const plan::Arena &arena =
        manifest.arenas(static_cast<int>(buffer->arena_index()));
    os << "<tr><td>" << escaped(buffer->name()) << "</td><td>";
    llvm::interleave(buffer->dims(), os, "x");
    os << " " << plan::DataType_Name(buffer->type()) << "</td>";
    printCell(sizeText(static_cast<int64_t>(buffer->size())),
              static_cast<double>(buffer->size()));
    os << "<td>" << llvm::StringRef(plan::ArenaKind_Name(arena.kind())).lower()
       << "</td><td>"
       << (buffer->has_program_index()
               ? escaped(
                     manifest
                         .programs(static_cast<int>(buffer->program_index()))
                         .name())
               : "all")
       << "</td>";
    for (auto [isSet, step] :
         {std::pair(buffer->has_first_step(), buffer->first_step()),
          std::pair(buffer->has_last_step(), buffer->last_step())}) {
      os << "<td class=\"n\">";
      if (isSet)
        os << step;
      os << "</td>";
    }
    os << "</tr>\n";
  }
  os << "</tbody></table></div></section>\n";
}

void HtmlPage::printKernel(int index, const plan::Program *program,
                           const plan::Step *step) {
  const plan::Kernel &kernel = manifest.kernels(index);
  LayerCosts row;
  if (step)
    row.layers.assign(step->layers().begin(), step->layers().end());
  os << "<details class=\"kernel\" id=\"kernel-" << index
     << "\"><summary><code>" << escaped(kernel.symbol()) << "</code> <span>"
     << escaped(row.layers.empty() ? "" : row.label(3)) << "</span></summary>"
     << "<p>" << (program ? escaped(program->name()) + "; " : "")
     << kernel.argument_count() << " buffers, "
     << sizeText(static_cast<int64_t>(kernel.bytes())) << ", "
     << operationsText(static_cast<int64_t>(kernel.flops()));
  if (subject.cuda)
    os << ", " << kernel.blocks() << " blocks of " << kernel.threads()
       << " threads"
       << (kernel.stages() > 1
               ? " in " + std::to_string(kernel.stages()) + " stages"
               : "");
  if (step)
    os << ", " << stepTimeText(model.of(*step));
  os << "</p>";
  for (const std::string &layer : row.layers)
    if (const LayerLines::Excerpt *found =
            lines.find(program ? program->name() : "", layer)) {
      os << "<p class=\"place\">" << escaped(found->location) << "</p>";
      if (!found->text.empty())
        os << "<pre>" << escaped(found->text) << "</pre>";
    }
  if (index < static_cast<int>(contents.kernelTexts.size()))
    os << "<pre class=\"code\">" << escaped(contents.kernelTexts[index])
       << "</pre>";
  os << "</details>\n";
}

/// Prints the description of a step, with links to its kernels.
void HtmlPage::printAction(const plan::Step &step) {
  if (step.has_launch()) {
    os << "<a href=\"#kernel-" << step.launch().kernel_index() << "\">"
       << escaped(plan::describeAction(manifest, step)) << "</a>";
    return;
  }
  if (!step.has_loop()) {
    os << escaped(plan::describeAction(manifest, step));
    return;
  }
  os << step.loop().iterations() << " times (";
  for (int i = 0; i < step.loop().steps_size(); ++i) {
    os << (i ? ", " : "");
    printAction(step.loop().steps(i));
  }
  os << ")";
}

void HtmlPage::printKernels() {
  os << "<section><h2>Kernels</h2><input id=\"search\" type=\"search\" "
        "placeholder=\"Name of a kernel or layer\" aria-label=\"Search "
        "kernels\">\n";
  std::map<int, std::pair<const plan::Program *, const plan::Step *>> uses;
  for (const plan::Program &program : manifest.programs())
    for (const plan::Step &step : program.steps()) {
      auto addUse = [&](std::uint32_t kernel) {
        uses.try_emplace(static_cast<int>(kernel), &program, &step);
      };
      if (step.has_launch())
        addUse(step.launch().kernel_index());
      if (step.has_generated_alternative())
        addUse(step.generated_alternative().kernel_index());
      for (const plan::Step &nested : step.loop().steps())
        if (nested.has_launch())
          addUse(nested.launch().kernel_index());
    }
  for (int i = 0; i < manifest.kernels_size(); ++i) {
    const auto &[program, step] = uses[i];
    printKernel(i, program, step);
  }
  os << "</section>\n";
}

void HtmlPage::print() {
  printHead();
  printPrograms();
  printDrawings();
  os << "<section><h2>Time by the roofline</h2><p class=\"note\">Each "
        "step takes the longer of moving its bytes and computing, on a machine "
        "of "
     << escaped(ratesText()) << ".</p>\n";
  for (int i = 0; i < manifest.programs_size(); ++i)
    printTimes(i);
  os << "</section>\n";
  printBuffers();
  printKernels();
  os << "</main>\n<script type=\"application/json\" id=\"data\">"
     << pageData(subject, contents, model) << "</script>\n<script>\n"
     << kSharedPageScript << kPageScript << "</script>\n</body></html>\n";
}

} // namespace

void printHtmlReport(const ReportSubject &subject, const PageContents &contents,
                     const prototxt::SourceText &source,
                     llvm::raw_ostream &os) {
  HtmlPage(subject, contents, source, os).print();
}

} // namespace brew::compiler
