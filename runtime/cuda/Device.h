//===- Device.h - A GPU and what is owned on it -----------------*- C++ -*-===//
#pragma once

#include "runtime/cuda/DriverApi.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace brew::runtime::cuda {

/// One GPU with its primary context, which is made the calling thread's.
/// Everything below belongs to a device and must not outlive it.
class Device {
public:
  /// Throws Error (3) if there is no GPU of this number.
  Device(const DriverApi &api, int ordinal);
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const DriverApi &api() const { return driver; }
  /// Makes the context the calling thread's.
  void makeCurrent() const;

  const std::string &name() const { return deviceName; }
  int attribute(CUdevice_attribute attribute) const;
  /// Compute capability as a number: 90 for 9.0.
  int architecture() const { return arch; }
  /// Version of CUDA that the driver is of: 13000 for 13.0.
  int driverVersion() const { return version; }
  std::uint64_t totalMemory() const;
  std::uint64_t freeMemory() const;
  /// Whether the blocks of a launch can wait for each other.
  bool supportsCooperativeLaunch() const { return cooperation; }
  /// Blocks of `threads` threads of `kernel` that are resident together.
  unsigned residentBlocks(CUfunction kernel, unsigned threads) const;

private:
  const DriverApi &driver;
  CUdevice device = 0;
  CUcontext context = nullptr;
  std::string deviceName;
  int arch = 0, version = 0;
  bool cooperation = false;
};

/// Device memory.
class DeviceMemory {
public:
  DeviceMemory() = default;
  /// `size` bytes, not initialised; 256-byte aligned. Throws Error (3) that
  /// starts with `purpose`.
  DeviceMemory(const Device &device, std::uint64_t size,
               const std::string &purpose);
  DeviceMemory(DeviceMemory &&other) noexcept { swap(other); }
  DeviceMemory &operator=(DeviceMemory &&other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceMemory();

  CUdeviceptr address() const { return first; }
  std::uint64_t size() const { return bytes; }

private:
  void swap(DeviceMemory &other) {
    std::swap(device, other.device);
    std::swap(first, other.first);
    std::swap(bytes, other.bytes);
  }
  const Device *device = nullptr;
  CUdeviceptr first = 0;
  std::uint64_t bytes = 0;
};

/// Page-locked memory of the host, which copies can read and write while the
/// host goes on.
class PinnedMemory {
public:
  PinnedMemory() = default;
  PinnedMemory(const Device &device, std::uint64_t size);
  PinnedMemory(PinnedMemory &&other) noexcept { swap(other); }
  PinnedMemory &operator=(PinnedMemory &&other) noexcept {
    swap(other);
    return *this;
  }
  ~PinnedMemory();

  std::byte *data() const { return first; }
  std::uint64_t size() const { return bytes; }

private:
  void swap(PinnedMemory &other) {
    std::swap(device, other.device);
    std::swap(first, other.first);
    std::swap(bytes, other.bytes);
  }
  const Device *device = nullptr;
  std::byte *first = nullptr;
  std::uint64_t bytes = 0;
};

class Event;

/// Work in order, beside that of other streams.
class Stream {
public:
  explicit Stream(const Device &device);
  ~Stream();
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  CUstream get() const { return stream; }
  /// Waits on the host until all of it is done. Throws Error (3) if something
  /// failed; `purpose` says what was going on.
  void synchronize(const std::string &purpose) const;
  /// What is enqueued from now on waits for the event.
  void wait(const Event &event) const;

private:
  const Device &device;
  CUstream stream = nullptr;
};

/// A point in a stream.
class Event {
public:
  explicit Event(const Device &device, bool timed = false);
  Event(Event &&other) noexcept
      : device(other.device), event(std::exchange(other.event, nullptr)) {}
  Event &operator=(Event &&) = delete;
  ~Event();

  CUevent get() const { return event; }
  void record(const Stream &stream) const;
  /// Waits on the host; at once if it was never recorded.
  void synchronize(const std::string &purpose) const;
  /// Seconds from `start` to this; both are timed and have happened.
  double secondsSince(const Event &start) const;

private:
  const Device &device;
  CUevent event = nullptr;
};

/// Work captured from a stream, started at once.
class Graph {
public:
  Graph() = default;
  Graph(Graph &&other) noexcept { swap(other); }
  Graph &operator=(Graph &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Graph();

  /// Captures what `enqueue` puts into `stream`. Throws Error (3).
  template <typename Enqueue>
  static Graph capture(const Device &device, const Stream &stream,
                       Enqueue &&enqueue) {
    beginCapture(device, stream);
    try {
      enqueue();
    } catch (...) {
      abortCapture(device, stream);
      throw;
    }
    return endCapture(device, stream);
  }

  explicit operator bool() const { return exec != nullptr; }
  void launch(const Stream &stream) const;
  /// Kernels, copies and clears in it.
  std::size_t nodes() const { return nodeCount; }

private:
  static void beginCapture(const Device &device, const Stream &stream);
  static void abortCapture(const Device &device, const Stream &stream) noexcept;
  static Graph endCapture(const Device &device, const Stream &stream);
  void swap(Graph &other) {
    std::swap(device, other.device);
    std::swap(exec, other.exec);
    std::swap(nodeCount, other.nodeCount);
  }
  const Device *device = nullptr;
  CUgraphExec exec = nullptr;
  std::size_t nodeCount = 0;
};

} // namespace brew::runtime::cuda
