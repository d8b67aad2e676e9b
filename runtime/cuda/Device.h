//===- Device.h - A GPU and its memory, streams and graphs ------*- C++ -*-===//
#pragma once

#include "runtime/cuda/DriverApi.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace brew::runtime::cuda {

/// A GPU and its primary context. The constructor makes the context current in
/// the calling thread. Objects of the classes below belong to a device and must
/// not outlive it.
class Device {
public:
  /// Throws Error (3) if there is no GPU of this number.
  Device(const DriverApi &api, int ordinal);
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const DriverApi &api() const { return driver; }
  /// Makes the context current in the calling thread.
  void makeCurrent() const;

  const std::string &name() const { return deviceName; }
  int attribute(CUdevice_attribute attribute) const;
  /// Returns the compute capability as a number, such as 90 for 9.0.
  int architecture() const { return arch; }
  /// Returns the CUDA version of the driver, such as 13000 for 13.0.
  int driverVersion() const { return version; }
  std::uint64_t totalMemory() const;
  std::uint64_t freeMemory() const;
  /// Returns whether the device supports cooperative launches, whose blocks can
  /// wait for each other.
  bool supportsCooperativeLaunch() const { return hasCooperativeLaunch; }
  /// Returns how many blocks of `threads` threads of `kernel` are resident on
  /// the device at once.
  unsigned residentBlocks(CUfunction kernel, unsigned threads) const;

private:
  const DriverApi &driver;
  CUdevice device = 0;
  CUcontext context = nullptr;
  std::string deviceName;
  int arch = 0, version = 0;
  bool hasCooperativeLaunch = false;
};

/// An owned allocation of device memory.
class DeviceMemory {
public:
  DeviceMemory() = default;
  /// Allocates `size` uninitialised bytes, aligned to 256 bytes. On failure,
  /// throws an Error (3) whose message starts with `purpose`.
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

/// An owned allocation of page-locked host memory, which asynchronous copies
/// can read and write.
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

/// An owned CUDA stream, which does not synchronise with the default stream.
class Stream {
public:
  explicit Stream(const Device &device);
  ~Stream();
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  CUstream get() const { return stream; }
  /// Blocks the host until all work of the stream is done. If some of it
  /// failed, throws an Error (3) whose message starts with `purpose`.
  void synchronize(const std::string &purpose) const;
  /// Makes all work that is enqueued later wait for the event.
  void wait(const Event &event) const;

private:
  const Device &device;
  CUstream stream = nullptr;
};

/// An owned CUDA event.
class Event {
public:
  explicit Event(const Device &device, bool timed = false);
  Event(Event &&other) noexcept
      : device(other.device), event(std::exchange(other.event, nullptr)) {}
  Event &operator=(Event &&) = delete;
  ~Event();

  CUevent get() const { return event; }
  void record(const Stream &stream) const;
  /// Blocks the host until the event has occurred. Returns at once if it was
  /// never recorded.
  void synchronize(const std::string &purpose) const;
  /// Returns the seconds from `start` to this event. Both must be timed and
  /// have occurred.
  double secondsSince(const Event &start) const;

private:
  const Device &device;
  CUevent event = nullptr;
};

/// An owned executable CUDA graph.
class Graph {
public:
  Graph() = default;
  Graph(Graph &&other) noexcept { swap(other); }
  Graph &operator=(Graph &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Graph();

  /// Captures the work that `enqueue` enqueues on `stream`. Throws Error (3) if
  /// the work cannot be captured.
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
  /// Returns the number of nodes: kernels, copies and fills.
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
