//===- Report.cpp - What a compilation tells about its result -------------===//
#include "compiler/Report.h"

#include "dialects/Plan/PlanDialect.h"
#include "formats/NumberText.h"
#include "runtime/weights/Layout.h"

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
  int64_t hostCalls = 0, hostCopies = 0; ///< and bytes copied for them
};

/// Bytes that are copied for a host layer: between GPU and host everything that
/// it reads or writes, else what does not lie as its functions want it.
int64_t hostCopies(const plan::Manifest &manifest, const plan::HostCall &call,
                   bool cuda) {
  int64_t bytes = 0;
  auto add = [&](uint32_t index) {
    const plan::Buffer &buffer = manifest.buffers(static_cast<int>(index));
    if (cuda || !runtime::isPlain(buffer, manifest.target().precision()))
      bytes += buffer.size();
  };
  for (uint32_t index : call.bottom_buffer_indices())
    add(index);
  for (uint32_t index : call.top_buffer_indices())
    add(index);
  for (uint32_t index : call.top_gradient_buffer_indices())
    add(index);
  for (const auto &gradient : call.bottom_gradients())
    add(gradient.buffer_index());
  return bytes;
}

Figures figuresOf(const plan::Manifest &manifest, const plan::Program &program,
                  bool cuda) {
  Figures figures;
  for (const plan::Step &step : program.steps()) {
    ++(step.has_launch() ? figures.kernels
       : step.has_host() ? figures.hostCalls
                         : figures.calls);
    if (step.has_host())
      figures.hostCopies += hostCopies(manifest, step.host(), cuda);
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

/// Names are as the prototxt has them, in whatever encoding.
std::string utf8(llvm::StringRef text) { return json::fixUTF8(text); }

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
      blobs[utf8(entry.getName().getValue())] = dims(entry.getValue());
  return blobs;
}

json::Object paramsOf(planir::ProgramOp program) {
  json::Object params;
  if (auto named = program.getParamsAttr())
    for (mlir::NamedAttribute entry : named) {
      json::Array shapes;
      for (mlir::Attribute shape :
           llvm::cast<mlir::ArrayAttr>(entry.getValue()))
        shapes.push_back(dims(shape));
      params[utf8(entry.getName().getValue())] = std::move(shapes);
    }
  return params;
}

/// Short text for a number of bytes.
std::string bytesText(int64_t bytes) {
  if (bytes < 10000)
    return formatv("{0} B", bytes);
  if (bytes < 10000000)
    return formats::fixedText(bytes / 1e3, 1) + " kB";
  return formats::fixedText(bytes / 1e6, 1) + " MB";
}

/// Millions.
std::string megaText(int64_t number, int decimals) {
  return formats::fixedText(number / 1e6, decimals);
}

} // namespace

void compiler::printJsonReport(mlir::ModuleOp module,
                               const plan::Manifest &manifest, bool bare,
                               bool cuda, llvm::raw_ostream &os) {
  json::Object root, programs;
  mlir::SymbolTable symbols(module);
  for (const plan::Program &program : manifest.programs()) {
    auto op = symbols.lookup<planir::ProgramOp>(program.name());
    Figures figures = figuresOf(manifest, program, cuda);
    json::Object memory{
        {"arena_bytes", int64_t(program.memory().arena_bytes())},
        {"lower_bound_bytes", int64_t(program.memory().lower_bound_bytes())},
        {"param_bytes", arenaSize(manifest, plan::PARAMETERS)},
        {"grad_bytes", arenaSize(manifest, plan::GRADIENTS)},
        {"state_bytes", arenaSize(manifest, plan::STATE)},
        {"workspace_bytes", nullptr},
        {"caffe_bytes", int64_t(program.memory().caffe_bytes())}};
    programs[program.name()] =
        json::Object{{"blobs", blobsOf(op)},
                     {"params", paramsOf(op)},
                     {"kernels", figures.kernels},
                     {"calls", figures.calls},
                     {"flops", figures.flops},
                     {"bytes", figures.bytes},
                     {"host_calls", figures.hostCalls},
                     {"host_copied_bytes", figures.hostCopies},
                     {"memory", std::move(memory)}};
    if (bare) {
      root["blobs"] = blobsOf(op);
      root["params"] = paramsOf(op);
    }
  }
  root["net"] = utf8(manifest.net_name());
  root["programs"] = std::move(programs);
  os << formatv("{0:2}", json::Value(std::move(root))) << "\n";
}

void compiler::printTextReport(const plan::Manifest &manifest, bool cuda,
                               llvm::raw_ostream &os) {
  os << "net " << manifest.net_name() << "\n";
  os << formatv("{0,-18}{1,9}{2,7}{3,12}{4,12}{5,12}{6,12}\n", "program",
                "kernels", "calls", "MFLOP", "arena", "bound", "Caffe holds");
  for (const plan::Program &program : manifest.programs()) {
    Figures figures = figuresOf(manifest, program, cuda);
    os << formatv("{0,-18}{1,9}{2,7}{3,12}{4,12}{5,12}{6,12}\n", program.name(),
                  figures.kernels, figures.calls, megaText(figures.flops, 1),
                  bytesText(program.memory().arena_bytes()),
                  bytesText(program.memory().lower_bound_bytes()),
                  bytesText(program.memory().caffe_bytes()));
  }
  for (const plan::Program &program : manifest.programs())
    if (Figures figures = figuresOf(manifest, program, cuda); figures.hostCalls)
      os << formatv("{0}: {1} calls of host layers, for which {2} are copied\n",
                    program.name(), figures.hostCalls,
                    bytesText(figures.hostCopies));
  os << formatv("parameters {0}, gradients {1}, solver state {2}\n",
                bytesText(arenaSize(manifest, plan::PARAMETERS)),
                bytesText(arenaSize(manifest, plan::GRADIENTS)),
                bytesText(arenaSize(manifest, plan::STATE)));
}

/// Text as UTF-8 with HTML's special characters replaced.
static std::string escaped(llvm::StringRef text) {
  std::string result;
  for (char c : utf8(text))
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

void compiler::printHtmlReport(const plan::Manifest &manifest, bool cuda,
                               llvm::raw_ostream &os) {
  os << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
     << "<title>" << escaped(manifest.net_name()) << "</title>\n<style>"
     << "body{font-family:sans-serif;margin:2em}table{border-collapse:collapse;"
        "margin-bottom:2em}td,th{border:1px solid #ccc;padding:.2em .6em;"
        "text-align:right}td:first-child,th:first-child{text-align:left}"
     << "</style></head><body>\n<h1>" << escaped(manifest.net_name())
     << "</h1>\n";
  for (const plan::Program &program : manifest.programs()) {
    Figures figures = figuresOf(manifest, program, cuda);
    os << "<h2>" << escaped(program.name()) << "</h2>\n<p>" << figures.kernels
       << " kernels, " << figures.calls << " vendor calls, "
       << (figures.hostCalls
               ? formatv("{0} calls of host layers ({1} copied), ",
                         figures.hostCalls, bytesText(figures.hostCopies))
                     .str()
               : std::string())
       << megaText(figures.flops, 1) << " MFLOP; arena "
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
        what =
            "kernel " + manifest.kernels(step.launch().kernel_index()).symbol();
      else if (step.has_host())
        what = "host layer " + step.host().type();
      os << "<tr><td>" << escaped(layers)
         << (step.backward() ? " (backward)" : "") << "</td><td>"
         << escaped(what) << "</td><td>" << megaText(step.flops(), 3)
         << "</td><td>" << bytesText(step.bytes()) << "</td></tr>\n";
    }
    os << "</table>\n";
  }
  os << "</body></html>\n";
}
