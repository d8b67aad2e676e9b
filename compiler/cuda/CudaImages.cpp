//===- CudaImages.cpp - Machine code of CUDA kernels ----------------------===//
#include "compiler/cuda/CudaImages.h"

#include "compiler/cuda/GpuArchs.h"
#include "compiler/cuda/KernelCache.h"
#include "compiler/cuda/Nvrtc.h"
#include "compiler/cuda/SimCompiler.h"
#include "formats/AtomicFile.h"
#include "formats/Error.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

namespace brew::compiler {
namespace {

/// Runs task(0) ... task(count - 1) on the machine's cores; rethrows what the
/// first that fails throws.
template <typename Task> void runAll(std::size_t count, const Task &task) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  auto work = [&] {
    for (std::size_t i; (i = next++) < count;)
      try {
        task(i);
      } catch (...) {
        std::lock_guard<std::mutex> lock(mutex);
        if (!failure)
          failure = std::current_exception();
        next = count;
      }
  };
  std::size_t workers =
      std::min<std::size_t>(std::thread::hardware_concurrency(), count);
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < workers; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  if (failure)
    std::rethrow_exception(failure);
}

class ImageCompiler {
public:
  ImageCompiler(const std::vector<CudaKernel> &kernels,
                const CudaImageOptions &options)
      : kernels(kernels), options(options), cache(options.cache),
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
    if (!ptxArch.empty())
      archs.push_back(ptxArch);
  }

  void run(std::vector<plan::Kernel> &described, plan::Target &target,
           std::vector<std::string> &segments) {
    for (const std::string &arch : archs)
      target.add_archs(arch);
    if (nvrtc)
      target.set_nvrtc_version(nvrtc->version());

    // Kernels of equal text become one.
    std::map<std::string, std::size_t> byText;
    std::vector<std::size_t> representative, unique;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      auto [entry, isNew] = byText.try_emplace(kernels[i].canonical, i);
      representative.push_back(entry->second);
      if (isNew)
        unique.push_back(i);
    }
    std::vector<std::string> images(unique.size() * archs.size());
    runAll(images.size(), [&](std::size_t job) {
      images[job] = compile(kernels[unique[job / archs.size()]],
                            archs[job % archs.size()]);
    });
    std::map<std::size_t, std::size_t> position;
    for (std::size_t i = 0; i < unique.size(); ++i)
      position[unique[i]] = i;
    std::size_t first = segments.size();
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      described[i].set_symbol(kernels[representative[i]].symbol);
      for (std::size_t a = 0; a < archs.size(); ++a) {
        plan::KernelImage &image = *described[i].add_images();
        image.set_arch(archs[a]);
        image.set_segment_index(static_cast<std::uint32_t>(
            first + position[representative[i]] * archs.size() + a));
      }
    }
    std::move(images.begin(), images.end(), std::back_inserter(segments));
  }

private:
  std::string compile(const CudaKernel &kernel, const std::string &arch) {
    bool sim = arch == "sim";
    // Comments name places that may differ where the code does not.
    std::string text = withoutComments(kernel.text);
    std::string key = arch + "\n" +
                      (sim ? simulator->key()
                           : nvrtc->version() + "\n" + Nvrtc::optionsKey()) +
                      "\n" + text;
    if (std::optional<std::string> found = cache.find(key))
      return *found;
    std::string image, log;
    bool succeeded = false;
    if (sim) {
      SimCompiler::Result result = simulator->compile(text, kernel.symbol);
      image = std::move(result.image);
      log = std::move(result.log);
      succeeded = result.succeeded;
    } else {
      Nvrtc::Result result = nvrtc->compile(text, kernel.symbol + ".cu", arch,
                                            kernel.needsHeaders);
      image = arch == ptxArch ? std::move(result.ptx) : std::move(result.cubin);
      log = std::move(result.log);
      succeeded = result.succeeded;
    }
    if (!succeeded)
      fail(kernel, arch, text, log);
    cache.store(key, image);
    return image;
  }

  /// A text that does not compile is a defect of Brew: what is needed to mend
  /// it is kept.
  [[noreturn]] void fail(const CudaKernel &kernel, const std::string &arch,
                         const std::string &text, const std::string &log) {
    llvm::SmallString<128> folder(options.textFolder);
    if (folder.empty() &&
        llvm::sys::fs::createUniqueDirectory("brewc-kernel", folder))
      folder = ".";
    std::string path = (folder + "/" + kernel.symbol + ".cu").str();
    if (options.textFolder.empty())
      formats::writeFileAtomically(path, text);
    throw Error(ExitStatus::Bug,
                "kernel '" + kernel.symbol + "' (" + path +
                    ") does not compile for " + arch +
                    "; this is a defect of Brew, please report it with that "
                    "file and these lines:\n" +
                    log);
  }

  const std::vector<CudaKernel> &kernels;
  const CudaImageOptions &options;
  KernelCache cache;
  std::string ptxArch;
  std::vector<std::string> archs;
  std::optional<Nvrtc> nvrtc;
  std::optional<SimCompiler> simulator;
};

} // namespace

plan::Kernel describeCuda(const CudaKernel &kernel) {
  plan::Kernel result;
  result.set_symbol(kernel.symbol);
  result.set_argument_count(kernel.argumentCount);
  result.set_flops(kernel.flops);
  result.set_bytes(kernel.bytes);
  result.set_blocks(kernel.blocks);
  result.set_threads(kernel.threads);
  return result;
}

void compileCuda(const std::vector<CudaKernel> &kernels,
                 const CudaImageOptions &options,
                 std::vector<plan::Kernel> &described, plan::Target &target,
                 std::vector<std::string> &segments) {
  ImageCompiler(kernels, options).run(described, target, segments);
}

} // namespace brew::compiler
