//===- OptionalLibrary.h - Libraries that may be missing --------*- C++ -*-===//
#pragma once

#include <dlfcn.h>

#include <string>

namespace brew::formats {

/// A shared library that is used if it is installed. Stays open until the
/// program ends. Derived classes find their functions in the constructor.
class OptionalLibrary {
public:
  /// Opens the library `soname`, e.g. "libwebp.so.7".
  explicit OptionalLibrary(const char *soname)
      : soname(soname), handle(dlopen(soname, RTLD_NOW | RTLD_LOCAL)) {
    if (!handle)
      reason = dlerror();
  }

  std::string reason; ///< why the library cannot be used; empty if it can

protected:
  /// Stores the function `name`, or null and the reason.
  template <typename Function> void find(const char *name, Function &function) {
    if (!handle)
      return;
    function = reinterpret_cast<Function>(dlsym(handle, name));
    if (!function)
      reason = std::string(soname) + " lacks " + name;
  }

private:
  const char *soname;
  void *handle; ///< null if the library cannot be opened
};

} // namespace brew::formats
