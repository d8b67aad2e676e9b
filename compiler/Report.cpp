//===- Report.cpp - What a compilation tells about its result --------------===//
#include "compiler/Report.h"

#include "dialects/Plan/PlanDialect.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace brew;
using llvm::formatv;
namespace json = llvm::json;

namespace {

struct Figures {
  int64_t kernels = 0, calls = 0, flops = 0, bytes = 0;
};

Figures figuresOf(const plan::Program &program) {
  Figures figures;
  for (const plan::Step &step : program.steps()) {
    ++(step.has_launch() ? figures.kernels : figures.calls);
    figures.flops += step.flops();
    figures.bytes += step.bytes();
  }
  return figures;
}

int64_t arenaSize(const plan::Manifest &manifest, plan::ArenaKind kind) {
  for (const plan::Arena &arena : manifest.arenas())
    if (arena.kind() == kind)
      return arena.size();
  return 0;
}

json::Array dims(mlir::Attribute attribute) {
  json::Array array;
  for (int64_t dim :
       llvm::cast<mlir::DenseI64ArrayAttr>(attribute).asArrayRef())
    array.push_back(dim);
  return array;
}

json::Object blobsOf(planir::ProgramOp program) {
  json::Object blobs;
  if (auto named = program.getBlobsAttr())
    for (mlir::NamedAttribute entry : named)
      blobs[entry.getName().getValue()] = dims(entry.getValue());
  return blobs;
}

json::Object paramsOf(planir::ProgramOp program) {
  json::Object params;
  if (auto named = program.getParamsAttr())
    for (mlir::NamedAttribute entry : named) {
      json::Array shapes;
      for (mlir::Attribute shape : llvm::cast<mlir::ArrayAttr>(entry.getValue()))
        shapes.push_back(dims(shape));
      params[entry.getName().getValue()] = std::move(shapes);
    }
  return params;
}

/// Short text for a number of bytes.
std::string bytesText(int64_t bytes) {
  if (bytes < 10000)
    return formatv("{0} B", bytes);
  if (bytes < 10000000)
    return formatv("{0:F1} kB", bytes / 1e3);
  return formatv("{0:F1} MB", bytes / 1e6);
}

} // namespace

void compiler::printJsonReport(mlir::ModuleOp module,
                               const plan::Manifest &manifest, bool bare,
                               llvm::raw_ostream &os) {
  json::Object root, programs;
  mlir::SymbolTable symbols(module);
  for (const plan::Program &program : manifest.programs()) {
    auto op = symbols.lookup<planir::ProgramOp>(program.name());
    Figures figures = figuresOf(program);
    json::Object memory{
        {"arena_bytes", int64_t(program.memory().arena_bytes())},
        {"lower_bound_bytes", int64_t(program.memory().lower_bound_bytes())},
        {"param_bytes", arenaSize(manifest, plan::PARAMETERS)},
        {"grad_bytes", arenaSize(manifest, plan::GRADIENTS)},
        {"state_bytes", arenaSize(manifest, plan::STATE)},
        {"workspace_bytes", nullptr},
        {"caffe_bytes", int64_t(program.memory().caffe_bytes())}};
    programs[program.name()] = json::Object{
        {"blobs", blobsOf(op)},       {"params", paramsOf(op)},
        {"kernels", figures.kernels}, {"calls", figures.calls},
        {"flops", figures.flops},     {"bytes", figures.bytes},
        {"memory", std::move(memory)}};
    if (bare) {
      root["blobs"] = blobsOf(op);
      root["params"] = paramsOf(op);
    }
  }
  root["net"] = manifest.net_name();
  root["programs"] = std::move(programs);
  os << formatv("{0:2}", json::Value(std::move(root))) << "\n";
}

void compiler::printTextReport(const plan::Manifest &manifest,
                               llvm::raw_ostream &os) {
  os << "net " << manifest.net_name() << "\n";
  os << formatv("{0,-18}{1,9}{2,7}{3,12}{4,12}{5,12}{6,12}\n", "program",
                "kernels", "calls", "MFLOP", "arena", "bound", "Caffe holds");
  for (const plan::Program &program : manifest.programs()) {
    Figures figures = figuresOf(program);
    os << formatv("{0,-18}{1,9}{2,7}{3,12:F1}{4,12}{5,12}{6,12}\n",
                  program.name(), figures.kernels, figures.calls,
                  figures.flops / 1e6, bytesText(program.memory().arena_bytes()),
                  bytesText(program.memory().lower_bound_bytes()),
                  bytesText(program.memory().caffe_bytes()));
  }
  os << formatv("parameters {0}, gradients {1}, solver state {2}\n",
                bytesText(arenaSize(manifest, plan::PARAMETERS)),
                bytesText(arenaSize(manifest, plan::GRADIENTS)),
                bytesText(arenaSize(manifest, plan::STATE)));
}

/// Text with HTML's special characters replaced.
static std::string escaped(llvm::StringRef text) {
  std::string result;
  for (char c : text)
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else
      result += c;
  return result;
}

void compiler::printHtmlReport(const plan::Manifest &manifest,
                               llvm::raw_ostream &os) {
  os << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
     << "<title>" << escaped(manifest.net_name()) << "</title>\n<style>"
     << "body{font-family:sans-serif;margin:2em}table{border-collapse:collapse;"
        "margin-bottom:2em}td,th{border:1px solid #ccc;padding:.2em .6em;"
        "text-align:right}td:first-child,th:first-child{text-align:left}"
     << "</style></head><body>\n<h1>" << escaped(manifest.net_name())
     << "</h1>\n";
  for (const plan::Program &program : manifest.programs()) {
    Figures figures = figuresOf(program);
    os << "<h2>" << escaped(program.name()) << "</h2>\n<p>" << figures.kernels
       << " kernels, " << figures.calls << " vendor calls, "
       << formatv("{0:F1}", figures.flops / 1e6) << " MFLOP; arena "
       << bytesText(program.memory().arena_bytes()) << " (lower bound "
       << bytesText(program.memory().lower_bound_bytes()) << ", Caffe holds "
       << bytesText(program.memory().caffe_bytes())
       << ")</p>\n<table><tr><th>layers</th><th>step</th><th>MFLOP</th>"
          "<th>bytes</th></tr>\n";
    for (const plan::Step &step : program.steps()) {
      std::string layers;
      for (const std::string &layer : step.layers())
        layers += (layers.empty() ? "" : ", ") + layer;
      std::string what = "call";
      if (step.has_launch())
        what = "kernel " +
               manifest.kernels(step.launch().kernel_index()).symbol();
      os << "<tr><td>" << escaped(layers) << (step.backward() ? " (backward)" : "")
         << "</td><td>" << escaped(what) << "</td><td>"
         << formatv("{0:F3}", step.flops() / 1e6) << "</td><td>"
         << bytesText(step.bytes()) << "</td></tr>\n";
    }
    os << "</table>\n";
  }
  os << "</body></html>\n";
}
