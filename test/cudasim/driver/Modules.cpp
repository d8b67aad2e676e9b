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
  unsigned argumentCount;
};

struct Module {
  void *library;
  /// Stays open: the loader tells libraries apart by path, which has its
  /// number.
  int file;
  std::map<std::string, Function> functions;
};

namespace {

std::set<Module *> modules;
std::set<Function *> functions;

/// Bytes of the shared object at `image`; 0 if it is none for this machine.
/// The section headers are the last thing in a file that a linker wrote.
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
    launchFinding("a kernel image cannot be opened: %s", dlerror());
  return new Module{library, file, {}};
}

} // namespace

CUDASIM_API int cuModuleLoadDataEx(Module **module, const void *image,
                                   unsigned optionCount, int *options,
                                   void **values) {
  Lock lock(driverMutex());
  if (Result failed = ready())
    return failed;
  // PTX would be text, and a CUBIN is an ELF file of another machine.
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
  if (Result failed = ready())
    return failed;
  if (!modules.count(module))
    return InvalidHandle;
  if (Result failed = synchronizeAll())
    return failed;
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
  if (Result failed = ready())
    return failed;
  if (!modules.count(module))
    return InvalidHandle;
  auto symbol = [&](const char *prefix) {
    return dlsym(module->library, (std::string(prefix) + name).c_str());
  };
  void *entry = symbol("cudasim_kernel_");
  auto *count = static_cast<const unsigned *>(symbol("cudasim_arguments_"));
  if (!entry || !count)
    return NotFound;
  Function &found = module->functions[name];
  found = {name, reinterpret_cast<decltype(found.entry)>(entry), *count};
  functions.insert(&found);
  *function = &found;
  return Success;
}

namespace {

/// Blocks that are resident together, if that is set; else as many as are asked
/// for, of which a cooperative launch then runs a quarter, so that each takes
/// several turns, but few: stamps have room for some hundred barriers of one.
unsigned residentBlocks() {
  return static_cast<unsigned>(setting("CUDASIM_RESIDENT", 0));
}
constexpr unsigned kAnyNumber = 1u << 30;
constexpr unsigned kTurns = 4, kFewestBlocks = 3;

int launch(Function *function, const unsigned (&gridSize)[3],
           const unsigned (&blockSize)[3], unsigned sharedBytes, Stream *stream,
           void **arguments, bool cooperates) {
  if (!functions.count(function))
    return InvalidHandle;
  if (!arguments && function->argumentCount > 0)
    return InvalidValue;
  if (sharedBytes != 0)
    launchFinding("kernel '%s' is launched with %u bytes of dynamic shared "
                  "memory, but declares all it uses",
                  function->name.c_str(), sharedBytes);
  // A launch takes the values of its arguments when it is queued.
  std::vector<void *> values(function->argumentCount);
  for (std::size_t i = 0; i < values.size(); ++i)
    std::memcpy(&values[i], arguments[i], sizeof(void *));
  const std::array<unsigned, 3> grid = {gridSize[0], gridSize[1], gridSize[2]},
                                block = {blockSize[0], blockSize[1],
                                         blockSize[2]};
  return enqueue(stream, [=] {
    cudasim_set_memory_check(isDeviceRange);
    cudasim_set_cooperation(cooperates);
    std::vector<void *> pointers;
    for (const void *const &value : values)
      pointers.push_back(const_cast<void **>(&value));
    function->entry(grid.data(), block.data(), pointers.data());
  });
}

} // namespace

CUDASIM_API int cuLaunchKernel(Function *function, unsigned gridX,
                               unsigned gridY, unsigned gridZ, unsigned blockX,
                               unsigned blockY, unsigned blockZ,
                               unsigned sharedBytes, Stream *stream,
                               void **arguments, void **extra) {
  Lock lock(driverMutex());
  if (Result failed = ready())
    return failed;
  if (extra)
    return InvalidValue;
  return launch(function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ},
                sharedBytes, stream, arguments, false);
}

CUDASIM_API int cuLaunchCooperativeKernel(Function *function, unsigned gridX,
                                          unsigned gridY, unsigned gridZ,
                                          unsigned blockX, unsigned blockY,
                                          unsigned blockZ, unsigned sharedBytes,
                                          Stream *stream, void **arguments) {
  Lock lock(driverMutex());
  if (Result failed = ready())
    return failed;
  const unsigned resident = residentBlocks();
  const unsigned long long blocks = 1ull * gridX * gridY * gridZ;
  if ((resident && blocks > resident) ||
      setting("CUDASIM_NO_COOPERATION", 0) != 0)
    return CooperativeLaunchTooLarge;
  if (!resident)
    gridX =
        std::min(gridX, std::max((gridX + kTurns - 1) / kTurns, kFewestBlocks));
  return launch(function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ},
                sharedBytes, stream, arguments, true);
}

CUDASIM_API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                            Function *function,
                                                            int, std::size_t) {
  Lock lock(driverMutex());
  if (Result failed = ready())
    return failed;
  if (!functions.count(function))
    return InvalidHandle;
  const unsigned resident = residentBlocks();
  *blocks = static_cast<int>(resident ? resident : kAnyNumber);
  return Success;
}

} // namespace cudasim
