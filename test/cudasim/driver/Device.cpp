//===- Device.cpp - The simulated device and its settings -----------------===//
//
// CUDASIM_DEVICES (1), CUDASIM_CAPABILITY (90: 9.0), CUDASIM_DRIVER_VERSION
// (13000) and CUDASIM_MEMORY (bytes) make it another device, for tests of what
// a machine may lack.
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

std::uint64_t setting(const char *name, std::uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

static bool initialized;
static Context_ *const theContext = reinterpret_cast<Context_ *>(&initialized);
static int contextUses;
// In the threads' static storage: AddressSanitizer takes the start of storage
// that is allocated later for a header where it happens to lie behind a page's
// first bytes.
[[gnu::tls_model("initial-exec")]] static thread_local Context_ *current;

Result ready() {
  if (!initialized)
    return NotInitialized;
  return current && contextUses > 0 ? Success : InvalidContext;
}

static Result checkDevice(int device) {
  if (!initialized)
    return NotInitialized;
  const auto count = static_cast<int>(setting("CUDASIM_DEVICES", 1));
  return device >= 0 && device < count ? Success : InvalidDevice;
}

CUDASIM_API int cuInit(unsigned flags) {
  if (flags != 0)
    return InvalidValue;
  if (setting("CUDASIM_DEVICES", 1) == 0)
    return NoDevice;
  initialized = true;
  return Success;
}

CUDASIM_API int cuDriverGetVersion(int *version) {
  *version = static_cast<int>(setting("CUDASIM_DRIVER_VERSION", 13000));
  return Success;
}

CUDASIM_API int cuDeviceGetCount(int *count) {
  if (!initialized)
    return NotInitialized;
  *count = static_cast<int>(setting("CUDASIM_DEVICES", 1));
  return Success;
}

CUDASIM_API int cuDeviceGet(int *device, int ordinal) {
  if (Result failed = checkDevice(ordinal))
    return failed;
  *device = ordinal;
  return Success;
}

CUDASIM_API int cuDeviceGetName(char *name, int size, int device) {
  if (Result failed = checkDevice(device))
    return failed;
  std::snprintf(name, static_cast<std::size_t>(size), "CUDA simulator");
  return Success;
}

CUDASIM_API int cuDeviceGetAttribute(int *value, int attribute, int device) {
  if (Result failed = checkDevice(device))
    return failed;
  int capability = static_cast<int>(setting("CUDASIM_CAPABILITY", 90));
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
    *value = 48 * 1024;
    return Success;
  case 9:  // TOTAL_CONSTANT_MEMORY
  case 12: // MAX_REGISTERS_PER_BLOCK
    *value = 65536;
    return Success;
  case 10: // WARP_SIZE
    *value = 32;
    return Success;
  case 11: // MAX_PITCH
    *value = 0x7fffffff;
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
    *value = 1;
    return Success;
  case 17: // KERNEL_EXEC_TIMEOUT
    *value = 0;
    return Success;
  case 75: // COMPUTE_CAPABILITY_MAJOR
    *value = capability / 10;
    return Success;
  case 76: // COMPUTE_CAPABILITY_MINOR
    *value = capability % 10;
    return Success;
  case 95: // COOPERATIVE_LAUNCH
    *value = setting("CUDASIM_NO_COOPERATION", 0) != 1;
    return Success;
  default:
    return InvalidValue;
  }
}

CUDASIM_API int cuDevicePrimaryCtxRetain(Context_ **context, int device) {
  if (Result failed = checkDevice(device))
    return failed;
  ++contextUses;
  *context = theContext;
  return Success;
}

CUDASIM_API int cuDevicePrimaryCtxRelease_v2(int device) {
  if (Result failed = checkDevice(device))
    return failed;
  if (contextUses == 0)
    return InvalidContext;
  --contextUses;
  return Success;
}

CUDASIM_API int cuCtxSetCurrent(Context_ *context) {
  if (!initialized)
    return NotInitialized;
  if (context && context != theContext)
    return InvalidContext;
  current = context;
  return Success;
}

CUDASIM_API int cuCtxGetCurrent(Context_ **context) {
  if (!initialized)
    return NotInitialized;
  *context = current;
  return Success;
}

// NVRTC looks for a driver and, where there is one, asks for tables that only
// NVIDIA's libraries know.
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
    {NotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {NotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CooperativeLaunchTooLarge, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
     "too many blocks in cooperative launch"},
    {StreamCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {StreamCaptureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {StreamCaptureUnjoined, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
     "capturing stream has unjoined work"},
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
