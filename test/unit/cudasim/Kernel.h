//===- Kernel.h - A hand-written kernel through the simulator ---*- C++ -*-===//
#ifndef BREW_TEST_CUDASIM_KERNEL_H
#define BREW_TEST_CUDASIM_KERNEL_H

#include <string>
#include <vector>

namespace brew::test {

/// The prelude with which device text begins, as brewc writes it.
extern const char *const kPrelude;

/// A kernel, compiled from prelude and text into an image that stays loaded.
class Kernel {
public:
  Kernel(const std::string &name, const std::string &text,
         const std::string &prelude = kPrelude);

  /// Runs `blocks` of `threads`; every argument is the address of its data.
  void launch(unsigned blocks, unsigned threads,
              const std::vector<void *> &arguments) const;

  /// Whether the blocks of launches that follow may wait for each other.
  void setCooperative(bool does) const;

  const std::string &text() const { return source; }
  /// The bytes of the image.
  const std::string &image() const { return bytes; }

private:
  std::string name, source, bytes;
  void (*entry)(const unsigned *, const unsigned *, void **) = nullptr;
};

/// What NVRTC says to the text: "" if it compiles, else its log; "no NVRTC"
/// where there is none.
std::string compileWithNvrtc(const std::string &text, const std::string &arch);

} // namespace brew::test

#endif // BREW_TEST_CUDASIM_KERNEL_H
