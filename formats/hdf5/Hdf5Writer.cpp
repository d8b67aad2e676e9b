//===- Hdf5Writer.cpp - Writer of HDF5 files ------------------------------===//
#include "formats/hdf5/Hdf5.h"
#include "formats/hdf5/Hdf5Library.h"
#include "support/Error.h"
#include "support/FileChecksum.h"

namespace brew::formats {

using namespace hdf5;

Hdf5Writer::Hdf5Writer(const std::string &path) : filePath(path), target(path) {
  constexpr size_t increment = 1 << 20; // growth of the image in bytes
  LibraryLock guard;
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access.id, increment, /*backing_store=*/0);
  file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id);
  if (file < 0)
    fail("HDF5 cannot create it");
}

Hdf5Writer::~Hdf5Writer() {
  LibraryLock guard;
  if (file >= 0)
    H5Fclose(file);
}

void Hdf5Writer::fail(const std::string &problem) {
  throw unavailable("cannot write '" + filePath + "': " + problem);
}

void Hdf5Writer::writeAs(const std::string &name,
                         const std::vector<int64_t> &dims, const void *values,
                         int64_t fileType, int64_t memoryType) {
  LibraryLock guard;
  std::string where = filePath + ": dataset '" + name + "'";
  int64_t count = elementCount(dims, where);
  std::vector<hsize_t> extents(dims.begin(), dims.end());
  Handle space(extents.empty()
                   ? H5Screate(H5S_SCALAR)
                   : H5Screate_simple(static_cast<int>(extents.size()),
                                      extents.data(), nullptr),
               H5Sclose);
  Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links.id, 1);
  // Without modification times, equal content results in equal files.
  Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation.id, 0);
  Handle dataset(H5Dcreate2(file, absoluteName(name).c_str(), fileType,
                            space.id, links.id, creation.id, H5P_DEFAULT),
                 H5Dclose);
  if (!dataset.valid())
    fail("cannot create dataset '" + name + "' (written twice?)");
  if (count > 0 && H5Dwrite(dataset.id, memoryType, H5S_ALL, H5S_ALL,
                            H5P_DEFAULT, values) < 0)
    fail("cannot write dataset '" + name + "'");
}

void Hdf5Writer::write(const std::string &name,
                       const std::vector<int64_t> &dims, const float *values) {
  LibraryLock guard;
  writeAs(name, dims, values, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT);
}
void Hdf5Writer::write(const std::string &name,
                       const std::vector<int64_t> &dims, const double *values) {
  LibraryLock guard;
  writeAs(name, dims, values, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE);
}
void Hdf5Writer::write(const std::string &name,
                       const std::vector<int64_t> &dims,
                       const int32_t *values) {
  LibraryLock guard;
  writeAs(name, dims, values, H5T_STD_I32LE, H5T_NATIVE_INT32);
}

void Hdf5Writer::write(const std::string &name, const Blob &blob) {
  if (blob.isDouble())
    write(name, blob.dims, blob.doubles.data());
  else
    write(name, blob.dims, blob.floats.data());
}

void Hdf5Writer::writeInt(const std::string &name, int value) {
  LibraryLock guard;
  writeAs(name, {1}, &value, H5T_STD_I32LE, H5T_NATIVE_INT);
}

void Hdf5Writer::writeString(const std::string &name, const std::string &text) {
  LibraryLock guard;
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id, text.size() + 1);
  H5Tset_strpad(type.id, H5T_STR_NULLTERM);
  writeAs(name, {}, text.c_str(), type.id, type.id);
}

void Hdf5Writer::writeBytes(const std::string &name, const std::string &bytes) {
  LibraryLock guard;
  writeAs(name, {static_cast<int64_t>(bytes.size())}, bytes.data(),
          H5T_STD_U8LE, H5T_NATIVE_UINT8);
}

void Hdf5Writer::makeGroup(const std::string &name) {
  LibraryLock guard;
  if (Handle(H5Gopen2(file, absoluteName(name).c_str(), H5P_DEFAULT), H5Gclose)
          .valid())
    return;
  Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links.id, 1);
  if (!Handle(H5Gcreate2(file, absoluteName(name).c_str(), links.id,
                         H5P_DEFAULT, H5P_DEFAULT),
              H5Gclose)
           .valid())
    fail("cannot create group '" + name + "'");
}

/// Closes the file and returns its bytes.
std::vector<char> Hdf5Writer::finish() {
  LibraryLock guard;
  const bool isFlushed = H5Fflush(file, H5F_SCOPE_LOCAL) >= 0;
  const ssize_t size = isFlushed ? H5Fget_file_image(file, nullptr, 0) : -1;
  if (size < 0)
    fail("HDF5 cannot finish it");
  std::vector<char> image(static_cast<size_t>(size));
  const bool isCopied =
      H5Fget_file_image(file, image.data(), image.size()) == size;
  hid_t fileId = file;
  file = -1;
  if (H5Fclose(fileId) < 0 || !isCopied)
    fail("HDF5 cannot finish it");
  return image;
}

void Hdf5Writer::commit() {
  const std::vector<char> image = finish();
  target.write(image.data(), image.size());
  target.commit();
}

void Hdf5Writer::commitWithChecksum() {
  const std::vector<char> image = finish();
  target.write(image.data(), image.size());
  target.write(checksumLine({image.data(), image.size()}));
  target.commit();
}

} // namespace brew::formats
