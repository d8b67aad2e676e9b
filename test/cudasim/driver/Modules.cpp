//===- Modules.cpp - Kernel images and their launches ---------------------===//
#include "Driver.h"

#include "../engine/Engine.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <map>
#include <set>
#include <sys/mman.h>
#include <unistd.h>

namespace cudasim {

using Lock = std::lock_guard<std::recursive_mutex>;

struct Function {
  std::string name;
  void (*entry)(const unsigned *grid, const unsigned *block, void **arguments);
  const KernelAttributes *attributes;
};

struct Module {
  void *library;
  /// Kept open: its number is part of the library's path, by which the loader
  /// distinguishes libraries.
  int file;
  std::map<std::string, Function> functions;
};

namespace {

std::set<Module *> modules;
std::set<Function *> functions;

/// Returns the size in bytes of the shared library at `image`, or 0 if `image`
/// is not a shared library for this machine. The section headers are the end of
/// the file, as linkers write them.
std::uint64_t imageSize(const void *image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN)
    return 0;
#if defined(__x86_64__)
  if (header.e_machine != EM_X86_64)
    return 0;
#endif
  return header.e_shoff +
         static_cast<std::uint64_t>(header.e_shnum) * header.e_shentsize;
}

Module *openImage(const void *image, std::uint64_t size) {
  int file = memfd_create("cudasim-image", MFD_CLOEXEC);
  if (file < 0)
    return nullptr;
  const char *bytes = static_cast<const char *>(image);
  ssize_t written = 0;
  while (size > 0 && (written = write(file, bytes, size)) > 0) {
    bytes += written;
    size -= static_cast<std::uint64_t>(written);
  }
  if (size > 0) {
    close(file);
    return nullptr;
  }
  std::string path = "/proc/self/fd/" + std::to_string(file);
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    reportLaunchFinding("a kernel image cannot be opened: %s", dlerror());
  return new Module{library, file, {}};
}

} // namespace

CUDASIM_API int cuModuleLoadDataEx(Module **module, const void *image,
                                   unsigned optionCount, int *options,
                                   void **values) {
  Lock lock(driverMutex());
  if (Result error = checkContext())
    return error;
  // Loading may allocate, which older drivers reject during a capture.
  constexpr int kLoadsDuringCaptures = 12030;
  if (driverVersion() < kLoadsDuringCaptures)
    if (Result error = requireNoCapture())
      return error;
  // PTX is text, and a CUBIN is an ELF file for another machine.
  std::uint64_t size =
      std::memcmp(image, ELFMAG, SELFMAG) == 0 ? imageSize(image) : 0;
  if (size == 0)
    return NoBinaryForGpu;
  Module *opened = openImage(image, size);
  if (!opened)
    return OutOfMemory;
  modules.insert(opened);
  *module = opened;
  return Success;
}

CUDASIM_API int cuModuleUnload(Module *module) {
  Lock lock(driverMutex());
  if (Result error = checkContext())
    return error;
  if (!modules.count(module))
    return InvalidHandle;
  if (Result error = synchronizeAll())
    return error;
  for (auto &entry : module->functions)
    functions.erase(&entry.second);
  dlclose(module->library);
  close(module->file);
  modules.erase(module);
  delete module;
  return Success;
}

CUDASIM_API int cuModuleGetFunction(Function **function, Module *module,
                                    const char *name) {
  Lock lock(driverMutex());
  if (Result error = checkContext())
    return error;
  if (!modules.count(module))
    return InvalidHandle;
  auto symbol = [&](const char *prefix) {
    return dlsym(module->library, (std::string(prefix) + name).c_str());
  };
  void *entry = symbol("cudasim_kernel_");
  auto *attributes =
      static_cast<const KernelAttributes *>(symbol("cudasim_attributes_"));
  if (!entry || !attributes)
    return NotFound;
  Function &found = module->functions[name];
  found = {name, reinterpret_cast<decltype(found.entry)>(entry), attributes};
  functions.insert(&found);
  *function = &found;
  return Success;
}

namespace {

using Extent = std::array<unsigned, 3>;

/// The arguments of a launch.
struct Launch {
  Function *function;
  Extent grid, block;
  unsigned sharedBytes;
  void **arguments;

  unsigned long long blocks() const {
    return 1ull * grid[0] * grid[1] * grid[2];
  }
  unsigned long long threads() const {
    return 1ull * block[0] * block[1] * block[2];
  }
};

constexpr Extent kLargestGrid = {0x7fffffff, 65535, 65535};
constexpr Extent kLargestBlock = {1024, 1024, 64};

bool isWithin(const Extent &extent, const Extent &largest) {
  for (std::size_t i = 0; i < extent.size(); ++i)
    if (extent[i] == 0 || extent[i] > largest[i])
      return false;
  return true;
}

/// Returns the maximum bytes of kernel arguments.
std::size_t argumentLimit() {
  const bool allowsLongArguments =
      driverVersion() >= 12010 &&
      environmentNumber("CUDASIM_CAPABILITY", 90) >= 70;
  return allowsLongArguments ? 32764 : 4096;
}

/// Returns why the device rejects the launch, or Success.
Result checkLaunch(const Launch &launch) {
  if (!functions.count(launch.function))
    return InvalidHandle;
  const KernelAttributes &kernel = *launch.function->attributes;
  if ((!launch.arguments && kernel.arguments > 0) ||
      kernel.arguments * sizeof(void *) > argumentLimit())
    return InvalidValue;
  if (launch.sharedBytes != 0)
    reportLaunchFinding(
        "kernel '%s' is launched with %u bytes of dynamic shared "
        "memory, but declares all it uses",
        launch.function->name.c_str(), launch.sharedBytes);
  if (!isWithin(launch.grid, kLargestGrid) ||
      !isWithin(launch.block, kLargestBlock) ||
      launch.threads() > kernel.bounds.threads)
    return InvalidValue;
  // Arrays that are too large are an error of the GPU's compiler; the engine
  // reports them.
  if (*kernel.sharedBytes > Multiprocessor::kSharedPerBlock)
    return Success;
  const bool fits = Multiprocessor::ofDevice().residentBlocks(
                        kernel, static_cast<unsigned>(launch.threads()),
                        launch.sharedBytes) > 0;
  return fits ? Success : LaunchOutOfResources;
}

int enqueueLaunch(const Launch &launch, Stream *stream, bool isCooperative) {
  // A launch copies the values of its arguments when it is enqueued.
  std::vector<void *> values(launch.function->attributes->arguments);
  for (std::size_t i = 0; i < values.size(); ++i)
    std::memcpy(&values[i], launch.arguments[i], sizeof(void *));
  return enqueue(stream, [=, function = launch.function, grid = launch.grid,
                          block = launch.block] {
    cudasim_set_memory_check(isDeviceRange);
    cudasim_set_cooperation(isCooperative);
    std::vector<void *> pointers;
    for (const void *const &value : values)
      pointers.push_back(const_cast<void **>(&value));
    function->entry(grid.data(), block.data(), pointers.data());
  });
}

/// Returns how many blocks of a kernel are resident on a multiprocessor.
unsigned occupancyOf(const Function &function, unsigned threads,
                     std::size_t sharedBytes) {
  if (const unsigned fixed = fixedResidentBlocks())
    return fixed;
  return Multiprocessor::ofDevice().residentBlocks(*function.attributes,
                                                   threads, sharedBytes);
}

/// Returns how many blocks of a cooperative launch the simulator runs: a
/// quarter, so that each takes several turns, or all with CUDASIM_RESIDENT.
unsigned blocksToRun(unsigned blocks) {
  constexpr unsigned kTurns = 4, kMinimum = 3;
  if (fixedResidentBlocks())
    return blocks;
  return std::min(blocks, std::max((blocks + kTurns - 1) / kTurns, kMinimum));
}

} // namespace

CUDASIM_API int cuLaunchKernel(Function *function, unsigned gridX,
                               unsigned gridY, unsigned gridZ, unsigned blockX,
                               unsigned blockY, unsigned blockZ,
                               unsigned sharedBytes, Stream *stream,
                               void **arguments, void **extra) {
  Lock lock(driverMutex());
  if (Result error = checkContext())
    return error;
  if (extra)
    return InvalidValue;
  const Launch launch = {function,
                         {gridX, gridY, gridZ},
                         {blockX, blockY, blockZ},
                         sharedBytes,
                         arguments};
  if (Result problem = checkLaunch(launch))
    return problem;
  return enqueueLaunch(launch, stream, false);
}

CUDASIM_API int cuLaunchCooperativeKernel(Function *function, unsigned gridX,
                                          unsigned gridY, unsigned gridZ,
                                          unsigned blockX, unsigned blockY,
                                          unsigned blockZ, unsigned sharedBytes,
                                          Stream *stream, void **arguments) {
  Lock lock(driverMutex());
  if (Result error = checkContext())
    return error;
  Launch launch = {function,
                   {gridX, gridY, gridZ},
                   {blockX, blockY, blockZ},
                   sharedBytes,
                   arguments};
  if (Result problem = checkLaunch(launch))
    return problem;
  const unsigned long long resident =
      1ull * multiprocessorCount() *
      occupancyOf(*function, static_cast<unsigned>(launch.threads()),
                  sharedBytes);
  if (launch.blocks() > resident ||
      environmentNumber("CUDASIM_NO_COOPERATION", 0) != 0)
    return CooperativeLaunchTooLarge;
  launch.grid[0] = blocksToRun(gridX);
  return enqueueLaunch(launch, stream, true);
}

CUDASIM_API int cuOccupancyMaxActiveBlocksPerMultiprocessor(
    int *blocks, Function *function, int threads, std::size_t sharedBytes) {
  Lock lock(driverMutex());
  if (Result error = checkContext())
    return error;
  if (!functions.count(function))
    return InvalidHandle;
  if (threads <= 0)
    return InvalidValue;
  *blocks = static_cast<int>(
      occupancyOf(*function, static_cast<unsigned>(threads), sharedBytes));
  return Success;
}

} // namespace cudasim
