//===- Device.cpp - The simulated device and its settings -----------------===//
//
// Environment variables configure the device; README.md lists them.
//
//===----------------------------------------------------------------------===//
#include "Driver.h"

#include <cstdio>
#include <cstdlib>

namespace cudasim {

std::recursive_mutex &driverMutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

std::uint64_t environmentNumber(const char *name, std::uint64_t fallback) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : fallback;
}

static bool initialized;
// A handle only: never dereferenced.
static Context_ *const primaryContext =
    reinterpret_cast<Context_ *>(&initialized);
static int contextRetainCount;
// Uses static TLS: AddressSanitizer misreads the bytes before a dynamic TLS
// block as a header if the block starts right after the first bytes of a page.
[[gnu::tls_model("initial-exec")]] static thread_local Context_ *currentContext;

Result checkContext() {
  if (!initialized)
    return NotInitialized;
  return currentContext && contextRetainCount > 0 ? Success : InvalidContext;
}

static Result checkDevice(int device) {
  if (!initialized)
    return NotInitialized;
  const auto count = static_cast<int>(environmentNumber("CUDASIM_DEVICES", 1));
  return device >= 0 && device < count ? Success : InvalidDevice;
}

CUDASIM_API int cuInit(unsigned flags) {
  if (flags != 0)
    return InvalidValue;
  if (environmentNumber("CUDASIM_DEVICES", 1) == 0)
    return NoDevice;
  initialized = true;
  return Success;
}

int driverVersion() {
  return static_cast<int>(environmentNumber("CUDASIM_DRIVER_VERSION", 13000));
}

unsigned fixedResidentBlocks() {
  return static_cast<unsigned>(environmentNumber("CUDASIM_RESIDENT", 0));
}

unsigned multiprocessorCount() {
  constexpr unsigned kH100Multiprocessors = 132;
  return fixedResidentBlocks()
             ? 1
             : static_cast<unsigned>(environmentNumber(
                   "CUDASIM_MULTIPROCESSORS", kH100Multiprocessors));
}

CUDASIM_API int cuDriverGetVersion(int *version) {
  *version = driverVersion();
  return Success;
}

CUDASIM_API int cuDeviceGetCount(int *count) {
  if (!initialized)
    return NotInitialized;
  *count = static_cast<int>(environmentNumber("CUDASIM_DEVICES", 1));
  return Success;
}

CUDASIM_API int cuDeviceGet(int *device, int ordinal) {
  if (Result error = checkDevice(ordinal))
    return error;
  *device = ordinal;
  return Success;
}

CUDASIM_API int cuDeviceGetName(char *name, int size, int device) {
  if (Result error = checkDevice(device))
    return error;
  std::snprintf(name, static_cast<std::size_t>(size), "CUDA simulator");
  return Success;
}

CUDASIM_API int cuDeviceGetAttribute(int *value, int attribute, int device) {
  if (Result error = checkDevice(device))
    return error;
  int capability =
      static_cast<int>(environmentNumber("CUDASIM_CAPABILITY", 90));
  const Multiprocessor multiprocessor = Multiprocessor::ofDevice();
  switch (attribute) {
  case 1: // MAX_THREADS_PER_BLOCK
  case 2: // MAX_BLOCK_DIM_X
  case 3: // MAX_BLOCK_DIM_Y
    *value = 1024;
    return Success;
  case 4: // MAX_BLOCK_DIM_Z
    *value = 64;
    return Success;
  case 5: // MAX_GRID_DIM_X
    *value = 0x7fffffff;
    return Success;
  case 6: // MAX_GRID_DIM_Y
  case 7: // MAX_GRID_DIM_Z
    *value = 65535;
    return Success;
  case 8: // MAX_SHARED_MEMORY_PER_BLOCK
    *value = Multiprocessor::kSharedPerBlock;
    return Success;
  case 9: // TOTAL_CONSTANT_MEMORY
    *value = 65536;
    return Success;
  case 12: // MAX_REGISTERS_PER_BLOCK
  case 82: // MAX_REGISTERS_PER_MULTIPROCESSOR
    *value = Multiprocessor::kRegisters;
    return Success;
  case 10: // WARP_SIZE
    *value = 32;
    return Success;
  case 11: // MAX_PITCH
    *value = kMaximumPitch;
    return Success;
  case 13: // CLOCK_RATE, in kHz
    *value = 1000000;
    return Success;
  case 14: // TEXTURE_ALIGNMENT
    *value = 512;
    return Success;
  case 15: // GPU_OVERLAP
    *value = 1;
    return Success;
  case 16: // MULTIPROCESSOR_COUNT
    *value = static_cast<int>(multiprocessorCount());
    return Success;
  case 17: // KERNEL_EXEC_TIMEOUT
    *value = 0;
    return Success;
  case 39: // MAX_THREADS_PER_MULTIPROCESSOR
    *value = static_cast<int>(multiprocessor.threads);
    return Success;
  case 51: // TEXTURE_PITCH_ALIGNMENT
    *value = 32;
    return Success;
  case 75: // COMPUTE_CAPABILITY_MAJOR
    *value = capability / 10;
    return Success;
  case 76: // COMPUTE_CAPABILITY_MINOR
    *value = capability % 10;
    return Success;
  case 81: // MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
    *value = static_cast<int>(multiprocessor.shared);
    return Success;
  case 97: // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    *value =
        static_cast<int>(multiprocessor.shared - multiprocessor.reservedShared);
    return Success;
  case 106: // MAX_BLOCKS_PER_MULTIPROCESSOR
    *value = static_cast<int>(multiprocessor.blocks);
    return Success;
  case 111: // RESERVED_SHARED_MEMORY_PER_BLOCK
    *value = static_cast<int>(multiprocessor.reservedShared);
    return Success;
  case 95: // COOPERATIVE_LAUNCH
    *value = environmentNumber("CUDASIM_NO_COOPERATION", 0) != 1;
    return Success;
  default:
    return InvalidValue;
  }
}

CUDASIM_API int cuDevicePrimaryCtxRetain(Context_ **context, int device) {
  if (Result error = checkDevice(device))
    return error;
  ++contextRetainCount;
  *context = primaryContext;
  return Success;
}

CUDASIM_API int cuDevicePrimaryCtxRelease_v2(int device) {
  if (Result error = checkDevice(device))
    return error;
  if (contextRetainCount == 0)
    return InvalidContext;
  --contextRetainCount;
  return Success;
}

CUDASIM_API int cuCtxSetCurrent(Context_ *context) {
  if (!initialized)
    return NotInitialized;
  if (context && context != primaryContext)
    return InvalidContext;
  currentContext = context;
  return Success;
}

CUDASIM_API int cuCtxGetCurrent(Context_ **context) {
  if (!initialized)
    return NotInitialized;
  *context = currentContext;
  return Success;
}

// NVRTC queries internal tables of a driver that is loaded in its process.
CUDASIM_API int cuGetExportTable(const void **table, const void *identifier) {
  *table = nullptr;
  return NotFound;
}

namespace {
struct ErrorText {
  Result result;
  const char *name, *text;
};
const ErrorText errorTexts[] = {
    {Success, "CUDA_SUCCESS", "no error"},
    {InvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {NotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {NoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {InvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {InvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {NoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {InvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {IllegalState, "CUDA_ERROR_ILLEGAL_STATE",
     "the operation cannot be performed in the present state"},
    {NotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {NotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {LaunchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {CooperativeLaunchTooLarge, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
     "too many blocks in cooperative launch"},
    {StreamCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {StreamCaptureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {StreamCaptureUnjoined, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
     "capturing stream has unjoined work"},
    {StreamCaptureMerge, "CUDA_ERROR_STREAM_CAPTURE_MERGE",
     "operation would result in a merge of separate capture sequences"},
    {StreamCaptureUnmatched, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "capture was not ended in the same stream as it began"},
    {StreamCaptureIsolation, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
     "dependency created on uncaptured work in another stream"},
    {StreamCaptureImplicit, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking "
     "stream"},
    {CapturedEvent, "CUDA_ERROR_CAPTURED_EVENT",
     "operation not permitted on an event last recorded in a capturing stream"},
    {StreamCaptureWrongThread, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "attempt to terminate a thread-local capture sequence from another "
     "thread"},
};

const ErrorText *findText(int result) {
  for (const ErrorText &text : errorTexts)
    if (text.result == result)
      return &text;
  return nullptr;
}
} // namespace

CUDASIM_API int cuGetErrorName(int result, const char **name) {
  const ErrorText *text = findText(result);
  *name = text ? text->name : nullptr;
  return text ? Success : InvalidValue;
}

CUDASIM_API int cuGetErrorString(int result, const char **string) {
  const ErrorText *text = findText(result);
  *string = text ? text->text : nullptr;
  return text ? Success : InvalidValue;
}

} // namespace cudasim
