//===- KernelHarness.h - Compilation and calls of kernels in tests --------===//
//
// Includes no MLIR headers, so that tests compile fast.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace brew::test {

/// An array with the alignment of the runtime's buffers.
template <typename T> class Buffer {
public:
  explicit Buffer(std::size_t count, T value = T())
      : storage(count * sizeof(T) + 64), count(count) {
    for (std::size_t i = 0; i < count; ++i)
      data()[i] = value;
  }
  T *data() {
    auto address = reinterpret_cast<std::uintptr_t>(storage.data());
    return reinterpret_cast<T *>((address + 63) / 64 * 64);
  }
  T &operator[](std::size_t i) { return data()[i]; }
  std::size_t size() const { return count; }

private:
  std::vector<std::byte> storage;
  std::size_t count;
};

/// Whether the MLIR context of a compilation uses threads.
enum class Threading { On, Off };

/// Compiles the functions of `mlir`; returns the bytes of the shared object.
std::string compileText(const std::string &mlir,
                        const std::string &cpu = "native",
                        Threading threading = Threading::On);
/// Return the functions of `mlir` as assembly or LLVM IR for a processor.
std::string assemblyOf(const std::string &mlir, const std::string &cpu);
std::string llvmIROf(const std::string &mlir, const std::string &cpu);

/// A loaded shared object of kernels compiled for this machine.
class Kernels {
public:
  /// Compiles the functions of `mlir`.
  explicit Kernels(const std::string &mlir);
  struct SharedObject {
    std::string bytes;
  };
  explicit Kernels(const SharedObject &object);
  ~Kernels();
  Kernels(const Kernels &) = delete;
  Kernels &operator=(const Kernels &) = delete;

  /// Calls kernel `name` for the range [begin, end) of its domain.
  void run(const std::string &name, std::vector<void *> buffers,
           std::int64_t begin, std::int64_t end);

private:
  void *handle = nullptr;
  // Stays open while the object is loaded: dlopen identifies files by name, and
  // the name contains the number of this descriptor.
  int file = -1;
};

/// Returns a kernel `name` that computes y[i] = body(x[i]) for i in [begin,
/// end). `body` defines %r from %v, both of `type`.
std::string elementwise(const std::string &name, const std::string &type,
                        std::size_t count, const std::string &body);

} // namespace brew::test
