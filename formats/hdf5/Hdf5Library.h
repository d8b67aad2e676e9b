//===- Hdf5Library.h - Helpers for calls of the HDF5 library ----*- C++ -*-===//
//
// Private to Hdf5.cpp and Hdf5Writer.cpp.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <mutex>
#include <string>

namespace brew::formats::hdf5 {

static_assert(sizeof(hid_t) <= sizeof(int64_t), "handles are kept as int64_t");

/// A lock of the library. Every use of the library needs one.
class LibraryLock {
public:
  LibraryLock() : lock(mutex()) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); // per thread
  }

private:
  static std::recursive_mutex &mutex() {
    static std::recursive_mutex instance;
    return instance;
  }
  std::lock_guard<std::recursive_mutex> lock;
};

/// Closes a handle of any kind.
struct Handle {
  Handle(hid_t id, herr_t (*close)(hid_t)) : id(id), close(close) {}
  ~Handle() {
    if (id >= 0)
      close(id);
  }
  Handle(const Handle &) = delete;
  Handle &operator=(const Handle &) = delete;
  bool valid() const { return id >= 0; }
  hid_t id;
  herr_t (*close)(hid_t);
};

/// Returns the name with a leading slash.
inline std::string absoluteName(const std::string &name) {
  return !name.empty() && name[0] == '/' ? name : "/" + name;
}

} // namespace brew::formats::hdf5
