//===- DnnlFailure.cpp - Errors of oneDNN's calls -------------------------===//

#include "runtime/cpu/onednn/DnnlFailure.h"

#include <cstddef>
#include <sys/mman.h>

namespace brew::runtime {

/// Whether the process can map as much memory as a few generated kernels need.
static bool hasMemory() {
  constexpr std::size_t kBytes = 16 << 20;
  void *const mapping = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    return false;
  munmap(mapping, kBytes);
  return true;
}

Error dnnlFailure(const std::string &name, dnnl_status_t status) {
  // Without memory for generated code, the status is that of other failures.
  if (status == dnnl_out_of_memory || !hasMemory())
    return unavailable("oneDNN ran out of memory in " + name);
  return {ExitStatus::Bug, "oneDNN failed in " + name + " with status " +
                               std::to_string(status)};
}

} // namespace brew::runtime
