//===- TextReport.cpp - Text report ---------------------------------------===//
#include "compiler/report/Costs.h"

#include "plan/Contract.h"
#include "support/NumberText.h"

#include "llvm/Support/FormatVariadic.h"

using namespace brew;
using namespace brew::compiler;
using llvm::formatv;

/// A label of more layers does not fit in a line.
static constexpr size_t kMaxLabelLayers = 2;
static constexpr size_t kMinLabelWidth = 18;

/// Prints a line per set of layers.
static void printLayers(const brew::plan::Program &program,
                        const CostModel &model, llvm::raw_ostream &os) {
  const std::vector<LayerCosts> rows = model.byLayer(program);
  if (rows.empty())
    return;
  const Costs programCosts = model.of(program);
  const double total = programCosts.seconds;
  const std::optional<double> measured = programCosts.measuredSeconds;
  os << "\n" << program.name() << ": " << timeText(total) << " by the roofline";
  if (measured)
    os << ", " << timeText(*measured) << " measured";
  os << "\n";
  size_t width = kMinLabelWidth;
  for (const LayerCosts &row : rows)
    width = std::max(width, row.label(kMaxLabelLayers).size());
  auto pad = [&](std::string text) {
    text.resize(width, ' ');
    return text;
  };
  os << pad("layer")
     << formatv("{0,9}{1,7}{2,12}{3,12}{4,12}{5,8}", "kernels", "calls",
                "bytes", "MFLOP", "roofline", "share");
  if (measured)
    os << formatv("{0,12}{1,8}", "measured", "share");
  os << "\n";
  for (const LayerCosts &row : rows) {
    const Costs &costs = row.costs;
    os << pad(row.label(kMaxLabelLayers))
       << formatv("{0,9}{1,7}{2,12}{3,12}{4,12}{5,8}", costs.kernels,
                  costs.calls + costs.hostCalls, bytesText(costs.bytes),
                  megaText(costs.flops, 1), timeText(costs.seconds),
                  fixedText(100 * costs.seconds / total, 1) + "%");
    if (costs.measuredSeconds)
      os << formatv("{0,12}{1,8}", timeText(*costs.measuredSeconds),
                    fixedText(100 * *costs.measuredSeconds / *measured, 1) +
                        "%");
    os << "\n";
  }
}

void compiler::printTextReport(const ReportSubject &subject,
                               llvm::raw_ostream &os) {
  const plan::Manifest &manifest = subject.manifest;
  const CostModel model(subject);
  os << "net " << manifest.net_name() << "\n";
  os << formatv("{0,-18}{1,9}{2,7}{3,12}{4,12}{5,12}{6,12}{7,12}\n", "program",
                "kernels", "calls", "MFLOP", "arena", "bound", "Caffe holds",
                "scratch");
  for (const brew::plan::Program &program : manifest.programs()) {
    const Costs costs = model.of(program);
    os << formatv("{0,-18}{1,9}{2,7}{3,12}{4,12}{5,12}{6,12}{7,12}\n",
                  program.name(), costs.kernels, costs.calls,
                  megaText(costs.flops, 1),
                  bytesText(program.memory().arena_bytes()),
                  bytesText(program.memory().lower_bound_bytes()),
                  bytesText(program.memory().caffe_bytes()),
                  scratchText(model.scratchOf(program)));
  }
  if (subject.cuda)
    os << "scratch of library calls is known only when the plan is loaded\n";
  for (const brew::plan::Program &program : manifest.programs())
    if (const Costs costs = model.of(program); costs.hostCalls)
      os << formatv("{0}: {1} calls of host layers, which copy {2}\n",
                    program.name(), costs.hostCalls,
                    bytesText(costs.hostCopiedBytes));
  for (const brew::plan::Program &program : manifest.programs())
    if (const Costs costs = model.of(program);
        costs.rematerializationSeconds > 0)
      os << formatv(
          "{0}: rematerialization for the memory limit takes {1} "
          "({2}% more) by the roofline\n",
          program.name(), timeText(costs.rematerializationSeconds),
          fixedText(100 * costs.rematerializationSeconds /
                        (costs.seconds - costs.rematerializationSeconds),
                    1));
  for (const brew::plan::Program &program : manifest.programs())
    if (const AllReduceCosts allReduces = model.allReduceCosts(program);
        allReduces.buckets &&
        program.name() == plan::programs::kForwardBackward)
      os << formatv(
          "{0}: all-reduces of {1} of gradients in {2} {3}: {4} by "
          "the link model, {5}% overlapped with other steps\n",
          program.name(), bytesText(allReduces.bytes), allReduces.buckets,
          allReduces.buckets == 1 ? "bucket" : "buckets",
          timeText(allReduces.seconds),
          fixedText(100 * (1 - allReduces.exposed / allReduces.seconds), 0));
  os << formatv("parameters {0}, gradients {1}, solver state {2}\n",
                bytesText(arenaSize(manifest, plan::PARAMETERS)),
                bytesText(arenaSize(manifest, plan::GRADIENTS)),
                bytesText(arenaSize(manifest, plan::STATE)));
  int64_t arenas = 0;
  for (const brew::plan::Arena &arena : manifest.arenas())
    arenas += static_cast<int64_t>(arena.size());
  os << formatv("memory of a run: {0}, beside the program's code, the scratch "
                "of library calls and batches read ahead\n",
                bytesText(arenas));
  os << formatv("roofline: {0} GB/s, {1} GFLOP/s ({2} in products), {3} per "
                "launch\n",
                gigaText(model.roofline.bytesPerSecond),
                gigaText(model.roofline.flopsPerSecond),
                gigaText(model.roofline.productFlopsPerSecond),
                timeText(model.roofline.launchSeconds));
  for (const brew::plan::Program &program : manifest.programs())
    printLayers(program, model, os);
}
