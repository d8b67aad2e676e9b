//===- Findings.cpp - Messages about invalid kernel behaviour -------------===//
#include "Engine.h"

#include <cstdarg>
#include <cstdio>
#include <unistd.h>

namespace cudasim {

/// The exit status of Brew's tools for internal errors.
static constexpr int kFindingStatus = 70;

[[noreturn]] static void exitWithFinding(const char *location,
                                         const char *format, va_list values) {
  char text[1024];
  std::vsnprintf(text, sizeof(text), format, values);
  std::fprintf(stderr, "cudasim: %s%s\n", location, text);
  _exit(kFindingStatus);
}

void reportLaunchFinding(const char *format, ...) {
  char location[256] = "";
  if (launchState.kernel)
    std::snprintf(location, sizeof(location),
                  "kernel '%s': ", launchState.kernel);
  va_list values;
  va_start(values, format);
  exitWithFinding(location, format, values);
}

void reportFinding(const char *format, ...) {
  const Context &now = cudasim_context;
  char location[256];
  std::snprintf(
      location, sizeof(location),
      "kernel '%s', block (%u,%u,%u), thread (%u,%u,%u): ", launchState.kernel,
      now.blockIdx.x, now.blockIdx.y, now.blockIdx.z, now.threadIdx.x,
      now.threadIdx.y, now.threadIdx.z);
  va_list values;
  va_start(values, format);
  exitWithFinding(location, format, values);
}

ThreadName::ThreadName(unsigned thread) {
  const Index3 &block = cudasim_context.blockDim;
  std::snprintf(text, sizeof(text), "(%u,%u,%u)", thread % block.x,
                thread / block.x % block.y, thread / block.x / block.y);
}

static const char *accessText(bool write) {
  return write ? "write of" : "access to";
}

extern "C" {

void cudasim_outside(const Argument *argument, long long index,
                     unsigned elements, bool write) {
  if (elements > 1)
    reportFinding("%s %u elements at %s[%lld], which has %llu elements",
                  accessText(write), elements, argument->name, index,
                  argument->count);
  reportFinding("%s %s[%lld], which has %llu elements", accessText(write),
                argument->name, index, argument->count);
}

void cudasim_misaligned(const char *name, long long index, unsigned bytes) {
  reportFinding(
      "the address of %s[%lld] is no multiple of %u, as the vector access "
      "needs",
      name, index, bytes);
}

void cudasim_unwritten(const Argument *argument, long long index) {
  reportFinding("read of %s[%lld], which is output only and not written yet",
                argument->name, index);
}

void cudasim_shared_outside(const SharedInfo *info, long long index) {
  reportFinding("access to shared %s[%lld], which has %llu elements",
                info->name, index, info->count);
}

void cudasim_shared_unwritten(const SharedInfo *info, long long index) {
  reportFinding("read of shared %s[%lld], which nothing has written",
                info->name, index);
}
}

} // namespace cudasim
