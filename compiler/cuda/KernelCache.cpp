//===- KernelCache.cpp - Cache of compiled CUDA kernels -------------------===//
#include "compiler/cuda/KernelCache.h"

#include "support/AtomicFile.h"
#include "support/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"

#include <cstdlib>

namespace brew::compiler::cuda {

/// The start of every entry. Must change when older entries become unusable.
static constexpr llvm::StringRef kMagic = "brew kernel 1\n";

static std::string digestOf(llvm::StringRef bytes) {
  llvm::SHA256 hash;
  hash.update(bytes);
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

KernelCache::KernelCache(bool enabled) {
  if (!enabled)
    return;
  const char *base = std::getenv("XDG_CACHE_HOME");
  if (base && *base == '/') {
    folder = std::string(base) + "/brew";
  } else if (const char *home = std::getenv("HOME"); home && *home == '/') {
    folder = std::string(home) + "/.cache/brew";
  }
}

std::string KernelCache::pathOf(const std::string &key) const {
  return folder + "/" + digestOf(key);
}

std::optional<std::string> KernelCache::find(const std::string &key) const {
  if (folder.empty())
    return std::nullopt;
  auto file = llvm::MemoryBuffer::getFile(pathOf(key), /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return std::nullopt;
  // An entry consists of the magic, the digest of the content, and the content.
  llvm::StringRef bytes = (*file)->getBuffer();
  if (!bytes.consume_front(kMagic) || bytes.size() < 64 ||
      digestOf(bytes.drop_front(64)) != bytes.take_front(64))
    return std::nullopt;
  return bytes.drop_front(64).str();
}

void KernelCache::store(const std::string &key,
                        const std::string &bytes) const {
  if (folder.empty() || llvm::sys::fs::create_directories(folder))
    return;
  try {
    writeFileAtomically(pathOf(key), kMagic.str() + digestOf(bytes) + bytes);
  } catch (const Error &) {
    // On a full or read-only disk, the kernel is compiled again next time.
  }
}

} // namespace brew::compiler::cuda
