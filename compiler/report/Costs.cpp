//===- Costs.cpp - Costs of a plan's steps --------------------------------===//
#include "compiler/report/Costs.h"

#include "plan/Operands.h"

#include "caffe/weights/BufferLayout.h"
#include "compiler/WinogradScratch.h"
#include "dialects/Target/Interconnect.h"
#include "support/NumberText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

#include <map>
#include <tuple>

namespace brew::compiler {

Costs &Costs::operator+=(const Costs &other) {
  kernels += other.kernels;
  calls += other.calls;
  stages += other.stages;
  flops += other.flops;
  bytes += other.bytes;
  hostCalls += other.hostCalls;
  hostCopiedBytes += other.hostCopiedBytes;
  accessBytes += other.accessBytes;
  seconds += other.seconds;
  rematerializationSeconds += other.rematerializationSeconds;
  if (other.measuredSeconds)
    measuredSeconds = measuredSeconds.value_or(0) + *other.measuredSeconds;
  return *this;
}

Costs &Costs::operator*=(int64_t times) {
  for (int64_t *count : {&kernels, &calls, &stages, &flops, &bytes, &hostCalls,
                         &hostCopiedBytes})
    *count *= times;
  for (auto &[width, accessed] : accessBytes)
    accessed *= static_cast<uint64_t>(times);
  seconds *= static_cast<double>(times);
  rematerializationSeconds *= static_cast<double>(times);
  return *this;
}

std::string LayerCosts::label(size_t maxLayers) const {
  std::string text;
  if (layers.empty())
    text = "(internal)";
  else if (layers.size() <= maxLayers)
    text = llvm::join(layers, "+");
  else
    text =
        layers.front() + " and " + std::to_string(layers.size() - 1) + " more";
  return text + (recomputed ? " (recomputed)" : backward ? " (backward)" : "");
}

CostModel::CostModel(const ReportSubject &subject)
    : roofline(dialects::target::Roofline::of(
          subject.module, subject.precision,
          subject.manifest.target().precision() == plan::F64)),
      module(subject.module), manifest(subject.manifest),
      accesses(subject.accesses), measured(subject.measured),
      cuda(subject.cuda), winograd(subject.winograd) {}

std::optional<int64_t>
CostModel::scratchOf(const plan::Program &program) const {
  if (cuda)
    return std::nullopt;
  mlir::ModuleOp plan = module;
  auto op =
      mlir::SymbolTable::lookupNearestSymbolFrom<dialects::plan::ProgramOp>(
          plan, mlir::StringAttr::get(plan.getContext(), program.name()));
  return winograd && op ? winogradScratchBytes(op) : 0;
}

/// Returns the bytes copied for a host layer: on a GPU all its blobs, on a CPU
/// those that are not dense and row-major.
int64_t CostModel::hostCopiedBytes(const plan::Step &step) const {
  int64_t bytes = 0;
  for (const plan::Operand &operand : step.operands()) {
    const plan::Buffer &buffer =
        manifest.buffers(static_cast<int>(operand.buffer_index()));
    if (cuda || !caffe::isDenseRowMajor(buffer, manifest.target().precision()))
      bytes += static_cast<int64_t>(buffer.size());
  }
  return bytes;
}

dialects::target::Work CostModel::workOf(const plan::Step &step) const {
  dialects::target::Work work = {
      static_cast<double>(step.bytes()), static_cast<double>(step.flops()),
      step.has_convolution() || step.has_inner_product()};
  if (step.has_launch())
    work.stages =
        manifest.kernels(static_cast<int>(step.launch().kernel_index()))
            .stages();
  return work;
}

Costs CostModel::of(const plan::Step &step) const {
  Costs costs = modelledCosts(step);
  if (measured)
    if (auto time = measured->find(&step); time != measured->end())
      costs.measuredSeconds = time->second;
  return costs;
}

Costs CostModel::modelledCosts(const plan::Step &step) const {
  Costs costs;
  if (step.has_all_reduce()) // allReduceCosts() estimates these steps
    return costs;
  if (step.has_loop()) {
    for (int i = 0; i < step.loop().steps_size(); ++i) {
      Costs nested = of(step.loop().steps(i));
      costs += nested *= plan::runsOf(step.loop(), i);
    }
    return costs;
  }
  ++(step.has_launch() ? costs.kernels
     : step.has_host() ? costs.hostCalls
                       : costs.calls);
  if (step.has_host())
    costs.hostCopiedBytes = hostCopiedBytes(step);
  costs.flops = static_cast<int64_t>(step.flops());
  costs.bytes = static_cast<int64_t>(step.bytes());
  if (step.has_launch())
    costs.stages = workOf(step).stages;
  costs.seconds = roofline.seconds(workOf(step));
  if (step.rematerialized())
    costs.rematerializationSeconds = costs.seconds;
  if (step.has_launch() && !accesses.empty())
    for (const TensorAccess &access : accesses[step.launch().kernel_index()])
      costs.accessBytes += access.bytes;
  return costs;
}

Costs CostModel::of(const plan::Program &program) const {
  Costs costs;
  for (const plan::Step &step : program.steps())
    costs += of(step);
  return costs;
}

AllReduceCosts CostModel::allReduceCosts(const plan::Program &program) const {
  AllReduceCosts result;
  double now = 0, linkFreeAt = 0, computeSeconds = 0;
  for (const plan::Step &step : program.steps()) {
    if (!step.has_all_reduce()) {
      const double seconds = of(step).seconds;
      now += seconds;
      computeSeconds += seconds;
      continue;
    }
    if (step.all_reduce().kind() != plan::AllReduceCall::START) {
      now = std::max(now, linkFreeAt); // all-reduces finish in order
      continue;
    }
    const double seconds = dialects::target::kAllReduceLatencySeconds +
                           static_cast<double>(step.bytes()) /
                               dialects::target::kAllReduceBytesPerSecond;
    linkFreeAt = std::max(linkFreeAt, now) + seconds;
    if (step.all_reduce().statistic())
      continue; // statistics are not gradients, but steps wait for them
    ++result.buckets;
    result.starts.push_back(
        {static_cast<int64_t>(step.bytes()), computeSeconds});
    result.bytes += static_cast<int64_t>(step.bytes());
    result.seconds += seconds;
  }
  result.exposed = std::max(now - computeSeconds, 0.0);
  return result;
}

std::vector<LayerCosts> CostModel::byLayer(const plan::Program &program) const {
  std::vector<LayerCosts> rows;
  std::map<std::tuple<std::vector<std::string>, bool, bool>, size_t> rowIndices;
  for (const plan::Step &step : program.steps()) {
    std::vector<std::string> layers(step.layers().begin(), step.layers().end());
    auto [entry, isNew] = rowIndices.try_emplace(
        {layers, step.backward(), step.rematerialized()}, rows.size());
    if (isNew)
      rows.push_back(
          {std::move(layers), step.backward(), step.rematerialized(), {}});
    rows[entry->second].costs += of(step);
  }
  return rows;
}

int64_t arenaSize(const plan::Manifest &manifest, plan::ArenaKind kind) {
  for (const plan::Arena &arena : manifest.arenas())
    if (arena.kind() == kind)
      return static_cast<int64_t>(arena.size());
  return 0;
}

std::string scratchText(const std::optional<int64_t> &bytes) {
  return bytes ? bytesText(*bytes) : "unknown";
}

std::string bytesText(int64_t bytes) {
  if (bytes < 10000)
    return std::to_string(bytes) + " B";
  const auto number = static_cast<double>(bytes);
  if (bytes < 10000000)
    return fixedText(number / 1e3, 1) + " kB";
  return fixedText(number / 1e6, 1) + " MB";
}

std::string megaText(int64_t number, int decimals) {
  return fixedText(static_cast<double>(number) / 1e6, decimals);
}

std::string timeText(double seconds) {
  if (seconds < 1e-3)
    return fixedText(seconds * 1e6, 1) + " us";
  return fixedText(seconds * 1e3, 2) + " ms";
}

std::string gigaText(double number) { return fixedText(number / 1e9, 0); }

std::string utf8(llvm::StringRef text) { return llvm::json::fixUTF8(text); }

} // namespace brew::compiler
