//===- JsonReport.cpp - JSON report ---------------------------------------===//
#include "compiler/report/Costs.h"

#include "dialects/Plan/PlanDialect.h"
#include "formats/caffe.pb.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/SymbolTable.h"

#include "llvm/ADT/STLExtras.h"

#include <google/protobuf/text_format.h>
#include <nlohmann/json.hpp>

using namespace brew;
using namespace brew::compiler;
using nlohmann::json;

static json dims(mlir::Attribute attribute) {
  json array = json::array();
  for (int64_t dim :
       llvm::cast<mlir::DenseI64ArrayAttr>(attribute).asArrayRef())
    array.push_back(dim);
  return array;
}

static json blobsOf(dialects::plan::ProgramOp program) {
  json blobs = json::object();
  if (auto named = program.getBlobsAttr())
    for (mlir::NamedAttribute entry : named)
      blobs[utf8(entry.getName().getValue())] = dims(entry.getValue());
  return blobs;
}

static json paramsOf(dialects::plan::ProgramOp program) {
  json params = json::object();
  if (auto named = program.getParamsAttr())
    for (mlir::NamedAttribute entry : named) {
      json shapes = json::array();
      for (mlir::Attribute shape :
           llvm::cast<mlir::ArrayAttr>(entry.getValue()))
        shapes.push_back(dims(shape));
      params[utf8(entry.getName().getValue())] = std::move(shapes);
    }
  return params;
}

/// Returns the fillers of each layer's own parameters as prototxt texts, by the
/// parameter's index.
static json fillersOf(const plan::Manifest &manifest) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  json fillers = json::object();
  for (const plan::Parameter &parameter : manifest.parameters()) {
    brew::caffe::FillerParameter filler;
    std::string text;
    if (filler.ParseFromString(parameter.filler()))
      printer.PrintToString(filler, &text);
    fillers[utf8(parameter.layer())][std::to_string(parameter.index())] =
        utf8(text);
  }
  return fillers;
}

static json accessBytesOf(const AccessBytes &bytes) {
  json widths = json::object();
  for (auto [width, moved] : bytes)
    widths[std::to_string(width)] = moved;
  return widths;
}

static json kernelsOf(const ReportSubject &subject) {
  json rows = json::array();
  for (auto [i, accesses] : llvm::enumerate(subject.accesses)) {
    const plan::Kernel &kernel = subject.manifest.kernels(static_cast<int>(i));
    AccessBytes all;
    json tensors = json::array();
    for (const TensorAccess &access : accesses) {
      all += access.bytes;
      tensors.push_back({{"argument", access.name},
                         {"writes", access.writes},
                         {"access_bytes", accessBytesOf(access.bytes)}});
    }
    rows.push_back({{"name", kernel.symbol()},
                    {"bytes", kernel.bytes()},
                    {"access_bytes", accessBytesOf(all)},
                    {"tensors", std::move(tensors)}});
  }
  return rows;
}

/// Statistics common to programs and layers.
static json statisticsOf(const Costs &costs) {
  json statistics = {{"kernels", costs.kernels},
                     {"calls", costs.calls},
                     {"stages", costs.stages},
                     {"flops", costs.flops},
                     {"bytes", costs.bytes},
                     {"host_calls", costs.hostCalls},
                     {"roofline_seconds", costs.seconds}};
  if (costs.measuredSeconds)
    statistics["measured_seconds"] = *costs.measuredSeconds;
  return statistics;
}

static json layersOf(const plan::Program &program, const CostModel &model) {
  json rows = json::array();
  const double total = model.of(program).seconds;
  for (const LayerCosts &layer : model.byLayer(program)) {
    json row = statisticsOf(layer.costs);
    row["layers"] = json::array();
    for (const std::string &name : layer.layers)
      row["layers"].push_back(utf8(name));
    row["backward"] = layer.backward;
    row["recomputed"] = layer.recomputed;
    row["share"] = layer.costs.seconds / total;
    rows.push_back(std::move(row));
  }
  return rows;
}

static json memoryOf(const plan::Manifest &manifest,
                     const plan::Program &program,
                     const std::optional<int64_t> &scratch) {
  return {{"arena_bytes", program.memory().arena_bytes()},
          {"lower_bound_bytes", program.memory().lower_bound_bytes()},
          {"param_bytes", arenaSize(manifest, plan::PARAMETERS)},
          {"grad_bytes", arenaSize(manifest, plan::GRADIENTS)},
          {"state_bytes", arenaSize(manifest, plan::STATE)},
          {"workspace_bytes", scratch ? json(*scratch) : json()},
          {"caffe_bytes", program.memory().caffe_bytes()}};
}

void compiler::printJsonReport(const ReportSubject &subject,
                               llvm::raw_ostream &os) {
  const plan::Manifest &manifest = subject.manifest;
  const CostModel model(subject);
  json root, programs = json::object();
  mlir::SymbolTable symbols(subject.module);
  for (const plan::Program &program : manifest.programs()) {
    auto op = symbols.lookup<dialects::plan::ProgramOp>(program.name());
    const Costs costs = model.of(program);
    json entry = statisticsOf(costs);
    if (!subject.accesses.empty())
      entry["access_bytes"] = accessBytesOf(costs.accessBytes);
    entry["host_copied_bytes"] = costs.hostCopiedBytes;
    entry["recompute_seconds"] = costs.rematerializationSeconds;
    if (const AllReduceCosts allReduces = model.allReduceCosts(program);
        allReduces.buckets) {
      entry["all_reduce"] = {{"buckets", allReduces.buckets},
                             {"bytes", allReduces.bytes},
                             {"model_seconds", allReduces.seconds},
                             {"exposed_seconds", allReduces.exposed},
                             {"starts", json::array()}};
      for (const AllReduceCosts::Start &start : allReduces.starts)
        entry["all_reduce"]["starts"].push_back(
            {{"bytes", start.bytes}, {"ready_seconds", start.ready}});
    }
    entry["blobs"] = blobsOf(op);
    entry["params"] = paramsOf(op);
    entry["layers"] = layersOf(program, model);
    entry["memory"] = memoryOf(manifest, program, model.scratchOf(program));
    if (subject.singlePhase) {
      root["blobs"] = entry["blobs"];
      root["params"] = entry["params"];
      root["fillers"] = fillersOf(manifest);
    }
    programs[program.name()] = std::move(entry);
  }
  root["net"] = utf8(manifest.net_name());
  root["roofline"] = {
      {"bytes_per_second", model.roofline.bytesPerSecond},
      {"flops_per_second", model.roofline.flopsPerSecond},
      {"product_flops_per_second", model.roofline.productFlopsPerSecond},
      {"launch_seconds", model.roofline.launchSeconds}};
  if (!subject.accesses.empty())
    root["kernels"] = kernelsOf(subject);
  root["programs"] = std::move(programs);
  os << root.dump(2) << "\n";
}
