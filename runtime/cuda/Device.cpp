//===- Device.cpp - A GPU and its memory, streams and graphs --------------===//
#include "runtime/cuda/Device.h"

#include "support/Error.h"

namespace brew::runtime::cuda {

//===----------------------------------------------------------------------===//
// Device
//===----------------------------------------------------------------------===//

Device::Device(const DriverApi &api, int ordinal) : driver(api) {
  int count = 0;
  driver.check(driver.cuDeviceGetCount(&count), "counting GPUs");
  if (ordinal < 0 || ordinal >= count)
    throw unavailable("there is no GPU " + std::to_string(ordinal) +
                      ": the CUDA driver finds " +
                      (count == 0   ? "none"
                       : count == 1 ? "one, number 0"
                                    : std::to_string(count) + ", 0 to " +
                                          std::to_string(count - 1)));
  const std::string purpose = "opening GPU " + std::to_string(ordinal);
  driver.check(driver.cuDeviceGet(&device, ordinal), purpose);
  char text[256] = "";
  driver.check(driver.cuDeviceGetName(text, sizeof text, device), purpose);
  deviceName = text;
  driver.check(driver.cuDriverGetVersion(&version), purpose);
  arch = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
         attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  hasCooperativeLaunch = attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) != 0;
  driver.check(driver.cuDevicePrimaryCtxRetain(&context, device), purpose);
  makeCurrent();
}

Device::~Device() {
  if (context)
    driver.cuDevicePrimaryCtxRelease(device);
}

void Device::makeCurrent() const {
  driver.check(driver.cuCtxSetCurrent(context), "entering the GPU's context");
}

int Device::attribute(CUdevice_attribute attribute) const {
  int value = 0;
  driver.check(driver.cuDeviceGetAttribute(&value, attribute, device),
               "querying an attribute of the GPU");
  return value;
}

unsigned Device::residentBlocks(CUfunction kernel, unsigned threads) const {
  int perMultiprocessor = 0;
  driver.check(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                   &perMultiprocessor, kernel, static_cast<int>(threads), 0),
               "querying how many blocks of a kernel are resident");
  return static_cast<unsigned>(
      perMultiprocessor * attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
}

std::uint64_t Device::totalMemory() const {
  std::size_t bytes = 0;
  driver.check(driver.cuDeviceTotalMem(&bytes, device),
               "querying the memory of the GPU");
  return bytes;
}

std::uint64_t Device::freeMemory() const {
  std::size_t free = 0, total = 0;
  driver.check(driver.cuMemGetInfo(&free, &total),
               "querying the memory of the GPU");
  return free;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

DeviceMemory::DeviceMemory(const Device &owner, std::uint64_t size,
                           const std::string &purpose)
    : device(&owner), bytes(size) {
  if (size > 0)
    owner.api().check(owner.api().cuMemAlloc(&first, size), purpose);
}

DeviceMemory::~DeviceMemory() {
  if (first)
    device->api().cuMemFree(first);
}

PinnedMemory::PinnedMemory(const Device &owner, std::uint64_t size)
    : device(&owner), bytes(size) {
  void *memory = nullptr;
  if (size > 0)
    owner.api().check(owner.api().cuMemHostAlloc(&memory, size, 0),
                      "allocating page-locked memory for copies");
  first = static_cast<std::byte *>(memory);
}

PinnedMemory::~PinnedMemory() {
  if (first)
    device->api().cuMemFreeHost(first);
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

Stream::Stream(const Device &owner) : device(owner) {
  device.api().check(
      device.api().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING),
      "creating a CUDA stream");
}

Stream::~Stream() {
  device.api().cuStreamSynchronize(stream);
  device.api().cuStreamDestroy(stream);
}

void Stream::synchronize(const std::string &purpose) const {
  device.api().check(device.api().cuStreamSynchronize(stream), purpose);
}

void Stream::wait(const Event &event) const {
  device.api().check(device.api().cuStreamWaitEvent(stream, event.get(), 0),
                     "waiting for a CUDA event");
}

Event::Event(const Device &owner, bool timed) : device(owner) {
  device.api().check(
      device.api().cuEventCreate(&event, timed ? CU_EVENT_DEFAULT
                                               : CU_EVENT_DISABLE_TIMING),
      "creating a CUDA event");
}

Event::~Event() {
  if (event)
    device.api().cuEventDestroy(event);
}

void Event::record(const Stream &stream) const {
  device.api().check(device.api().cuEventRecord(event, stream.get()),
                     "recording a CUDA event");
}

void Event::synchronize(const std::string &purpose) const {
  device.api().check(device.api().cuEventSynchronize(event), purpose);
}

double Event::secondsSince(const Event &start) const {
  float milliseconds = 0;
  device.api().check(
      device.api().cuEventElapsedTime(&milliseconds, start.event, event),
      "reading a CUDA timer");
  return milliseconds * 1e-3;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

void Graph::beginCapture(const Device &device, const Stream &stream) {
  device.api().check(device.api().cuStreamBeginCapture(
                         stream.get(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                     "capturing a CUDA graph");
}

void Graph::abortCapture(const Device &device, const Stream &stream) noexcept {
  CUgraph graph = nullptr;
  device.api().cuStreamEndCapture(stream.get(), &graph);
  if (graph)
    device.api().cuGraphDestroy(graph);
}

Graph Graph::endCapture(const Device &device, const Stream &stream) {
  const DriverApi &api = device.api();
  CUgraph graph = nullptr;
  api.check(api.cuStreamEndCapture(stream.get(), &graph),
            "capturing a CUDA graph");
  Graph result;
  result.device = &device;
  CUresult status = api.cuGraphGetNodes(graph, nullptr, &result.nodeCount);
  if (status == CUDA_SUCCESS)
    status = api.cuGraphInstantiate(&result.exec, graph, 0);
  api.cuGraphDestroy(graph);
  api.check(status, "building a CUDA graph");
  return result;
}

Graph::~Graph() {
  if (exec)
    device->api().cuGraphExecDestroy(exec);
}

void Graph::launch(const Stream &stream) const {
  device->api().check(device->api().cuGraphLaunch(exec, stream.get()),
                      "starting a CUDA graph");
}

} // namespace brew::runtime::cuda
