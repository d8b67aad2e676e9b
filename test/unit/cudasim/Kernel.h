//===- Kernel.h - A hand-written kernel for the simulator -------*- C++ -*-===//
#ifndef BREW_TEST_CUDASIM_KERNEL_H
#define BREW_TEST_CUDASIM_KERNEL_H

#include <string>
#include <vector>

namespace brew::test {

/// Definitions of the macros in kernel texts, like the prelude that brewc
/// writes.
extern const char *const kPrelude;

/// A kernel that is compiled from prelude and text. Its image stays loaded.
class Kernel {
public:
  Kernel(const std::string &name, const std::string &text,
         const std::string &prelude = kPrelude);

  /// Runs `blocks` blocks of `threads` threads. Arguments are data addresses.
  void launch(unsigned blocks, unsigned threads,
              const std::vector<void *> &arguments) const;

  /// Sets whether blocks of later launches may wait for each other.
  void setCooperative(bool isCooperative) const;

  const std::string &text() const { return source; }
  /// The bytes of the image.
  const std::string &image() const { return bytes; }

private:
  std::string name, source, bytes;
  void (*entry)(const unsigned *, const unsigned *, void **) = nullptr;
};

/// Compiles the text with NVRTC. Returns "" on success, NVRTC's log on failure,
/// or "no NVRTC" if it is not installed.
std::string compileWithNvrtc(const std::string &text, const std::string &arch);

} // namespace brew::test

#endif // BREW_TEST_CUDASIM_KERNEL_H
