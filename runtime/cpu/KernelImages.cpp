//===- KernelImages.cpp - Loading of a plan's compiled kernels ------------===//
#include "runtime/cpu/KernelImages.h"

#include "support/Error.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace brew::runtime {

/// Creates an anonymous file in memory with this content. Returns its
/// descriptor.
static int createMemoryFile(const std::byte *bytes, std::uint64_t size) {
  int descriptor = memfd_create("brew-kernels", MFD_CLOEXEC);
  if (descriptor < 0)
    throw unavailable(
        std::string("cannot create a file in memory for the kernels: ") +
        std::strerror(errno));
  for (std::uint64_t written = 0; written < size;) {
    ssize_t count = write(descriptor, bytes + written, size - written);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0) {
      int error = count < 0 ? errno : ENOSPC;
      close(descriptor);
      throw unavailable(std::string("cannot write the kernels to memory: ") +
                        std::strerror(error));
    }
    written += static_cast<std::uint64_t>(count);
  }
  return descriptor;
}

/// Returns a unique path of an open file. The loader identifies images by their
/// path, and descriptors are reused, also by other code that loads files from
/// memory by the plain path. The path therefore encodes a counter in binary:
/// each 1 is a slash with a dot, each 0 a slash without one.
static std::string uniquePath(int descriptor) {
  static std::atomic<std::uint64_t> pathCount{0};
  std::string path = "/proc/self/fd";
  for (std::uint64_t rest = ++pathCount; rest; rest /= 2)
    path += rest % 2 ? "/." : "/";
  return path + "/" + std::to_string(descriptor);
}

/// Returns whether the bytes may be a shared object. Other images get a
/// specific error, since the loader trusts section and segment tables.
static bool looksLikeElf(const std::byte *bytes, std::uint64_t size) {
  return size > 64 && std::memcmp(bytes, "\177ELF", 4) == 0;
}

KernelImages::KernelImages(const plan::PlanFile &plan) {
  try {
    load(plan);
  } catch (...) {
    unload();
    throw;
  }
}

KernelImages::~KernelImages() { unload(); }

void KernelImages::load(const plan::PlanFile &plan) {
  const plan::Manifest &manifest = plan.manifest();
  images.resize(static_cast<std::size_t>(manifest.segments_size()));
  for (int i = 0; i < manifest.segments_size(); ++i) {
    const plan::Segment &segment = manifest.segments(i);
    if (segment.kind() != plan::Segment::KERNEL_IMAGE)
      continue;
    const std::byte *bytes = plan.segment(static_cast<std::uint32_t>(i));
    if (!looksLikeElf(bytes, segment.size()))
      throw badInput(plan.path() +
                     ": damaged plan: a kernel image is no shared object");
    Image &image = images[static_cast<std::size_t>(i)];
    // Close the descriptors, since programs may load hundreds of plans.
    const int descriptor = createMemoryFile(bytes, segment.size());
    image.handle =
        dlopen(uniquePath(descriptor).c_str(), RTLD_NOW | RTLD_LOCAL);
    close(descriptor);
    if (!image.handle)
      throw unavailable(plan.path() +
                        ": its kernels cannot be loaded: " + dlerror());
  }
  for (const plan::Kernel &kernel : manifest.kernels()) {
    void *symbol = dlsym(images[kernel.image_segment_index()].handle,
                         kernel.symbol().c_str());
    if (!symbol)
      throw badInput(plan.path() + ": damaged plan: kernel '" +
                     kernel.symbol() + "' is not in its image");
    functions.push_back(reinterpret_cast<KernelFunction>(symbol));
  }
}

void KernelImages::unload() {
  for (Image &image : images)
    if (image.handle)
      dlclose(image.handle);
  images.clear();
}

} // namespace brew::runtime
