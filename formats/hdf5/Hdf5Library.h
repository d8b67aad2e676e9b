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

static_assert(sizeof(hid_t) <= sizeof(int64_t),
              "handles are stored as int64_t");

/// Locks the HDF5 library for one thread, and turns off its error messages.
/// Must exist during every use of the library.
class LibraryLock {
public:
  LibraryLock() : lock(mutex()) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); // a setting of the thread
  }

private:
  static std::recursive_mutex &mutex() {
    static std::recursive_mutex instance;
    return instance;
  }
  std::lock_guard<std::recursive_mutex> lock;
};

/// Owns an HDF5 handle of any kind: `close` closes it.
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

/// Returns the absolute name of an HDF5 object: with a leading slash.
inline std::string absoluteName(const std::string &name) {
  return !name.empty() && name[0] == '/' ? name : "/" + name;
}

} // namespace brew::formats::hdf5
