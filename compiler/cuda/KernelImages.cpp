//===- KernelImages.cpp - Machine code of CUDA kernels --------------------===//
#include "compiler/cuda/KernelImages.h"

#include "compiler/Parallel.h"
#include "compiler/cuda/Cubin.h"
#include "compiler/cuda/GpuArchs.h"
#include "compiler/cuda/KernelCache.h"
#include "compiler/cuda/Nvrtc.h"
#include "compiler/cuda/SimCompiler.h"
#include "dialects/Target/TargetDialect.h"
#include "plan/Contract.h"
#include "support/AtomicFile.h"
#include "support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"

#include <map>
#include <optional>

namespace brew::compiler::cuda {
namespace {

/// Spilled registers of fewer bytes cost less than fewer resident threads.
constexpr std::uint32_t kMinSpilledBytes = 32;
/// Threads for kernels that spill, in order: 80 or 128 registers instead of 64.
constexpr ThreadOptions kMoreRegisters[] = {{0, 256, 768}, {0, 256, 512}};

class ImageCompiler {
public:
  explicit ImageCompiler(const ImageOptions &options)
      : options(options), cache(options.cache),
        ptxArch(newestVirtualArch(options.archs)) {
    for (const std::string &arch : options.archs)
      if (arch == "sim") {
        simulator.emplace();
      } else {
        if (!nvrtc)
          nvrtc.emplace();
        nvrtc->requireArch(arch);
      }
    archs = options.archs;
    if (!ptxArch.empty()) {
      archs.push_back(ptxArch);
      // PTX from a compilation for sm_90a would only run on that architecture.
      const std::string realArch =
          "sm_" + ptxArch.substr(ptxArch.find('_') + 1);
      ptxSource =
          llvm::is_contained(options.archs, realArch) ? realArch : ptxArch;
    }
  }

  void run(std::vector<EmittedKernel> &kernels,
           std::vector<plan::Kernel> &planKernels, plan::Target &target,
           std::vector<std::string> &segments) {
    for (const std::string &arch : archs)
      target.add_archs(arch);
    if (nvrtc) {
      target.set_nvrtc_version(nvrtc->version());
      for (const EmittedKernel &kernel : kernels)
        checkArgumentSize(kernel, nvrtc->versionNumber(), options.archs);
    }

    compile(kernels);
    if (nvrtc && options.archs.size() == 1)
      avoidSpills(kernels);
    std::map<std::string, std::size_t> firstSegments;
    for (auto [kernel, planKernel] : llvm::zip_equal(kernels, planKernels)) {
      auto [first, isNew] =
          firstSegments.try_emplace(kernel.canonical, segments.size());
      const Compiled &code = compiled.at(kernel.canonical);
      if (isNew)
        llvm::append_range(segments, code.images);
      planKernel.set_symbol(code.symbol);
      planKernel.set_blocks(kernel.blocks);
      planKernel.set_threads(kernel.threads);
      for (std::size_t a = 0; a < archs.size(); ++a) {
        plan::KernelImage &image = *planKernel.add_images();
        image.set_arch(archs[a]);
        image.set_segment_index(static_cast<std::uint32_t>(first->second + a));
      }
    }
  }

private:
  struct Compiled {
    std::string symbol;
    std::vector<std::string> images; ///< for each of `archs`
  };

  /// Compiles `kernels`, those with equal source once.
  void compile(const std::vector<EmittedKernel> &kernels) {
    std::vector<std::pair<const EmittedKernel *, Compiled *>> jobs;
    for (const EmittedKernel &kernel : kernels) {
      auto [entry, isNew] = compiled.try_emplace(
          kernel.canonical,
          Compiled{kernel.symbol, std::vector<std::string>(archs.size())});
      if (isNew)
        jobs.emplace_back(&kernel, &entry->second);
    }
    const std::size_t compilations =
        archs.size() - (!ptxArch.empty() && ptxSource != ptxArch);
    runParallel(jobs.size() * compilations, [&](std::size_t job) {
      auto [kernel, code] = jobs[job / compilations];
      const std::size_t arch = job % compilations;
      std::string *ptx = archs[arch] == ptxSource && ptxSource != ptxArch
                             ? &code->images.back()
                             : nullptr;
      compile(*kernel, archs[arch], code->images[arch], ptx);
    });
  }

  bool spills(const EmittedKernel &kernel) const {
    return frameBytes(compiled.at(kernel.canonical).images.front()) >=
           kMinSpilledBytes;
  }

  /// Replaces kernels that spill by the variant that does not, with the most
  /// resident threads. Kernels with a single stage have no limit of registers.
  void avoidSpills(std::vector<EmittedKernel> &kernels) {
    for (const ThreadOptions &threads : kMoreRegisters) {
      std::vector<std::size_t> spilling;
      std::vector<EmittedKernel> variants;
      for (std::size_t i = 0; i < kernels.size(); ++i)
        if (kernels[i].stages > 1 && spills(kernels[i])) {
          spilling.push_back(i);
          variants.push_back(options.emitAgain(i, threads));
        }
      compile(variants);
      for (auto [i, variant] : llvm::zip_equal(spilling, variants))
        if (!spills(variant))
          kernels[i] = std::move(variant);
    }
  }

  /// Compiles `kernel` for `arch` into `image`. Unless `ptx` is null, also
  /// stores the PTX that NVRTC generates on the way to machine code.
  void compile(const EmittedKernel &kernel, const std::string &arch,
               std::string &image, std::string *ptx) {
    const bool isSim = arch == "sim";
    // Comments contain locations that may differ between equal kernels.
    const std::string text = withoutComments(kernel.text);
    const std::string keySuffix =
        "\n" +
        (isSim ? simulator->key()
               : nvrtc->version() + "\n" + Nvrtc::optionsKey()) +
        "\n" + text;
    const std::string key = arch + keySuffix, ptxKey = ptxArch + keySuffix;
    std::optional<std::string> cachedImage = cache.find(key), cachedPtx;
    if (cachedImage && ptx)
      cachedPtx = cache.find(ptxKey);
    if (cachedImage && (!ptx || cachedPtx)) {
      image = std::move(*cachedImage);
      if (ptx)
        *ptx = std::move(*cachedPtx);
      return;
    }
    std::string log;
    bool succeeded = false;
    if (isSim) {
      SimCompiler::Result result = simulator->compile(text, kernel.symbol);
      image = std::move(result.image);
      log = std::move(result.log);
      succeeded = result.succeeded;
    } else {
      Nvrtc::Result result = nvrtc->compile(text, kernel.symbol + ".cu", arch,
                                            kernel.needsHeaders);
      if (ptx)
        *ptx = result.ptx;
      image = std::move(arch == ptxArch ? result.ptx : result.cubin);
      log = std::move(result.log);
      succeeded = result.succeeded;
    }
    if (!succeeded)
      fail(kernel, arch, text, log);
    cache.store(key, image);
    if (ptx)
      cache.store(ptxKey, *ptx);
  }

  /// Reports source that does not compile, which is a defect of Brew. Saves the
  /// source for the bug report, if possible.
  [[noreturn]] void fail(const EmittedKernel &kernel, const std::string &arch,
                         const std::string &text, const std::string &log) {
    std::string file,
        attachment = "this kernel's text, which could not be kept (";
    try {
      file = saveText(kernel, text);
      attachment = "that file";
    } catch (const Error &error) {
      attachment += error.what() + std::string("),");
    }
    throw Error(ExitStatus::Bug,
                "kernel '" + kernel.symbol + "'" +
                    (file.empty() ? "" : " (" + file + ")") +
                    " does not compile for " + arch +
                    "; this is a defect of Brew, please report it with " +
                    attachment + " and these lines:\n" + log);
  }

  /// Returns the path of a file with the source; writes it if necessary.
  std::string saveText(const EmittedKernel &kernel, const std::string &text) {
    const std::string name = "/" + kernel.symbol + ".cu";
    if (!options.textFolder.empty())
      return options.textFolder + name; // already written by --emit
    llvm::SmallString<128> folder;
    if (std::error_code code =
            llvm::sys::fs::createUniqueDirectory("brewc-kernel", folder))
      throw unavailable("cannot create a temporary folder: " + code.message());
    const std::string path = folder.str().str() + name;
    writeFileAtomically(path, text);
    return path;
  }

  const ImageOptions &options;
  KernelCache cache;
  std::string ptxArch;   ///< compute_90; empty if only the simulator is used
  std::string ptxSource; ///< architecture of the compilation that yields the
                         ///< PTX: sm_90 or compute_90
  std::vector<std::string> archs; ///< of each kernel's images, in order
  std::optional<Nvrtc> nvrtc;
  std::optional<SimCompiler> simulator;
  std::map<std::string, Compiled> compiled; ///< by canonical text
};

} // namespace

void checkArgumentSize(const EmittedKernel &kernel, int version,
                       const std::vector<std::string> &archs) {
  constexpr unsigned kMinArch = 70; // first with the larger argument limit
  const std::uint64_t bytes =
      plan::argumentBytes(kernel.argumentCount, kernel.stages);
  if (bytes <= plan::kArgumentLimit)
    return;
  const std::string sizeText = "kernel '" + kernel.symbol + "' has " +
                               std::to_string(bytes) + " bytes of arguments; ";
  if (bytes > plan::kLargeArgumentLimit)
    throw Error(ExitStatus::Bug, sizeText + "GPUs take " +
                                     std::to_string(plan::kLargeArgumentLimit) +
                                     " at most");
  const std::string limitText =
      sizeText + "more than " + std::to_string(plan::kArgumentLimit) + " need ";
  for (const std::string &arch : archs)
    if (arch != "sim" && dialects::target::archNumber(arch) < kMinArch)
      throw Error(ExitStatus::Usage, "--gpu-arch: " + limitText + "an sm_" +
                                         std::to_string(kMinArch) +
                                         " or later, and not " + arch);
  if (version < plan::kLargeArgumentLimitVersion)
    throw unavailable(limitText + "NVRTC 12.1 or later, and this one is " +
                      std::to_string(version / 1000) + "." +
                      std::to_string(version % 1000 / 10));
}

plan::Kernel describeKernel(const EmittedKernel &kernel) {
  plan::Kernel result;
  result.set_symbol(kernel.symbol);
  result.set_argument_count(kernel.argumentCount);
  result.set_flops(kernel.flops);
  result.set_bytes(kernel.bytes);
  result.set_blocks(kernel.blocks);
  result.set_threads(kernel.threads);
  if (kernel.stages > 1)
    result.set_stages(kernel.stages);
  return result;
}

void compileKernels(std::vector<EmittedKernel> kernels,
                    const ImageOptions &options,
                    std::vector<plan::Kernel> &planKernels,
                    plan::Target &target, std::vector<std::string> &segments) {
  ImageCompiler(options).run(kernels, planKernels, target, segments);
}

} // namespace brew::compiler::cuda
