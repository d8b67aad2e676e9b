//===- Hdf5Library.h - Helpers for calls of the HDF5 library ----*- C++ -*-===//
//
// Private to the files of this folder.
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

/// Properties with which objects are opened: links to other files are refused.
/// A file that the user did not name must not reach a snapshot, and may be a
/// pipe that nobody writes.
class OwnFileAccess {
public:
  /// `kind`: H5P_LINK_ACCESS, or the class for groups or for datasets.
  explicit OwnFileAccess(hid_t kind) : properties(H5Pcreate(kind), H5Pclose) {
    H5Pset_elink_cb(properties.id, refuse, &target);
  }
  hid_t id() const { return properties.id; }
  /// Returns the name of the other file of a refused link; "": none.
  const std::string &refused() const { return target; }

private:
  static herr_t refuse(const char *, const char *, const char *file,
                       const char *, unsigned *, hid_t, void *name) {
    *static_cast<std::string *>(name) = file;
    return -1;
  }
  std::string target;
  Handle properties;
};

/// Returns the absolute name of an HDF5 object: with a leading slash.
inline std::string absoluteName(const std::string &name) {
  return !name.empty() && name[0] == '/' ? name : "/" + name;
}

} // namespace brew::formats::hdf5
