//===- Generate.cpp - Code generation, report and manifest ----------------===//
#include "compiler/Compilation.h"
#include "compiler/cpu/EmitKernels.h"
#include "compiler/cpu/ObjectCode.h"
#include "compiler/cuda/EmitKernels.h"
#include "compiler/cuda/KernelImages.h"
#include "compiler/manifest/BuildManifest.h"
#include "support/Error.h"

#include "llvm/Support/raw_ostream.h"

#include <filesystem>

using namespace brew;
using namespace brew::compiler;

void Compilation::emitKernelFiles(mlir::ModuleOp kernels,
                                  const cpu::CpuTarget &target) {
  emitModule(kernels, "kernels");
  writeText("kernels.ll", emitLLVMIR(kernels, target));
  writeText("kernels.s", emitAssembly(kernels, target));
}

void Compilation::makeReport() {
  if (options.report == ReportKind::None)
    return;
  llvm::raw_string_ostream os(result.report.emplace());
  MeasuredTimes measured;
  if (!options.profile.empty())
    measured = readProfile(options.profile, manifest);
  const ReportSubject subject = {*imported.module,
                                 manifest,
                                 options.pipeline.precision,
                                 options.target == TargetKind::Cuda,
                                 options.import.phase.has_value(),
                                 usesWinograd(),
                                 accesses,
                                 options.profile.empty() ? nullptr : &measured};
  switch (options.report) {
  case ReportKind::None:
    return;
  case ReportKind::Text:
    return printTextReport(subject, os);
  case ReportKind::Html:
    return printHtmlReport(subject, page, source, os);
  case ReportKind::Json:
    return printJsonReport(subject, os);
  }
}

void Compilation::buildManifest(const std::vector<plan::Kernel> &kernels) {
  PlanMetadata info;
  info.netName = imported.netName;
  info.input = source.name;
  info.records = imported.netMetadata;
  info.inputTransforms = imported.inputTransforms;
  info.f64 = options.import.f64;
  if (isTraining()) {
    info.solver = imported.solver;
    info.solverFolder = imported.solverFolder;
    info.initialWeights = options.weights;
    // The plan may run from another folder. Relative names refer to this one.
    info.initialWeightsFolder = std::filesystem::current_path().string();
  }
  manifest = compiler::buildManifest(*imported.module, kernels, info);
  makeReport();
}

void Compilation::generateForCpu() {
  cpu::CpuTarget target = cpu::resolveCpuTarget(options.cpu);
  if (options.pipeline.precision == dialects::target::Precision::F16 &&
      !target.has("f16c"))
    throw Error(ExitStatus::Usage,
                "--precision=f16 needs a processor that converts f16 (F16C), "
                "which " +
                    options.cpu +
                    " does not; --cpu=x86-64-v3 and later do, "
                    "and bf16 works everywhere");
  std::vector<cpu::EmittedKernel> emitted;
  auto kernels = emitKernels(*imported.module, emitted);
  if (emits(Emit::Kernels))
    emitKernelFiles(*kernels, target);
  if (options.report == ReportKind::Html)
    for (const cpu::EmittedKernel &kernel : emitted)
      page.kernelTexts.push_back(functionText(*kernels, kernel.symbol));
  std::vector<plan::Kernel> planKernels;
  for (const cpu::EmittedKernel &kernel : emitted) {
    plan::Kernel &planKernel = planKernels.emplace_back();
    planKernel.set_symbol(kernel.symbol);
    planKernel.set_image_segment_index(0);
    planKernel.set_domain(kernel.domain);
    planKernel.set_grain(kernel.grain);
    planKernel.set_argument_count(kernel.argumentCount);
    planKernel.set_flops(kernel.flops);
    planKernel.set_bytes(kernel.bytes);
  }
  buildManifest(planKernels);
  if (options.checkOnly)
    return;
  plan::Target *planTarget = manifest.mutable_target();
  planTarget->set_kind(plan::Target::CPU);
  planTarget->set_triple(target.triple);
  planTarget->set_cpu(target.cpu);
  for (const std::string &feature : target.features)
    planTarget->add_cpu_features(feature);
  if (options.exactConvolutions)
    planTarget->set_exact_convolutions(true);
  segments.push_back(compileToSharedObject(*kernels, target));
  manifest.add_segments()->set_kind(plan::Segment::KERNEL_IMAGE);
}

void Compilation::generateForCuda() {
  std::vector<cuda::EmittedKernel> kernels =
      cuda::emitKernels(*imported.module);
  if (emits(Emit::Kernels))
    for (const cuda::EmittedKernel &kernel : kernels)
      writeText(kernel.symbol + ".cu", kernel.text);
  std::vector<plan::Kernel> planKernels;
  for (const cuda::EmittedKernel &kernel : kernels) {
    planKernels.push_back(describeKernel(kernel));
    accesses.push_back(kernel.accesses);
    if (options.report == ReportKind::Html)
      page.kernelTexts.push_back(kernel.text);
  }
  buildManifest(planKernels);
  if (options.checkOnly)
    return;
  plan::Target *target = manifest.mutable_target();
  target->set_kind(plan::Target::CUDA);
  if (options.pipeline.precision == dialects::target::Precision::TF32)
    target->set_math(plan::Target::TF32);
  if (options.deterministic)
    target->set_deterministic(true);
  cuda::ImageOptions images;
  images.archs = gpuArchs;
  images.cache = options.kernelCache;
  if (emits(Emit::Kernels))
    images.textFolder = options.dumpDir;
  images.emitAgain = [&](std::size_t index,
                         const cuda::ThreadOptions &threads) {
    return cuda::emitKernel(*imported.module, index, threads);
  };
  planKernels.assign(manifest.kernels().begin(), manifest.kernels().end());
  compileKernels(std::move(kernels), images, planKernels, *target, segments);
  manifest.mutable_kernels()->Assign(planKernels.begin(), planKernels.end());
  for (size_t i = 0; i < segments.size(); ++i)
    manifest.add_segments()->set_kind(plan::Segment::KERNEL_IMAGE);
}
