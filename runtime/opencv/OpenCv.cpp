//===- OpenCv.cpp - Opening libbrew_opencv.so -----------------------------===//

#include "runtime/opencv/OpenCv.h"

#include "runtime/PluginLibrary.h"
#include "support/Error.h"

#include <dlfcn.h>

namespace brew::runtime {
namespace {

struct OpenedFunctions {
  PluginLibrary plugin = openPluginLibrary(
      "libbrew_opencv.so", BREW_OPENCV_ENTRY, RTLD_NOW | RTLD_LOCAL);
  const OpenCvFunctions *functions =
      functionTable<OpenCvFunctions>(plugin, kOpenCvVersion);
};

} // namespace

const OpenCvFunctions &openCvPlugin(const char *task) {
  static const OpenedFunctions opened;
  if (opened.functions)
    return *opened.functions;
  throw unavailable(
      "cannot " + std::string(task) +
      " without Brew's plugin for OpenCV, which cannot be opened: " +
      opened.plugin.reason +
      "; Debian's package brew-runtime installs it beside libbrew_runtime, and "
      "libopencv-imgproc406 the OpenCV that it needs");
}

} // namespace brew::runtime
