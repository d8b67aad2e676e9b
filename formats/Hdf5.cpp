//===- Hdf5.cpp - Named datasets in HDF5 files ----------------------------===//
#include "formats/Hdf5.h"

#include "formats/AtomicFile.h"
#include "formats/Error.h"
#include "formats/Suggest.h"

#include <hdf5.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <new>
#include <unistd.h>

namespace brew::formats {
namespace {

static_assert(sizeof(hid_t) <= sizeof(int64_t), "handles are kept as int64_t");

/// Held around every use of the library.
class Guard {
public:
  Guard() : lock(mutex()) {
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

herr_t collectDataset(hid_t group, const char *name, const H5L_info_t *info,
                      void *data) {
  // External links would lead to other files.
  if (info->type != H5L_TYPE_HARD && info->type != H5L_TYPE_SOFT)
    return 0;
  Handle object(H5Oopen(group, name, H5P_DEFAULT), H5Oclose);
  if (object.valid() && H5Iget_type(object.id) == H5I_DATASET)
    static_cast<std::vector<std::string> *>(data)->push_back(name);
  return 0;
}

std::string absolute(const std::string &name) {
  return !name.empty() && name[0] == '/' ? name : "/" + name;
}

std::vector<int64_t> dimsOf(hid_t dataset, const std::string &where) {
  Handle space(H5Dget_space(dataset), H5Sclose);
  H5S_class_t kind =
      space.valid() ? H5Sget_simple_extent_type(space.id) : H5S_NO_CLASS;
  if (kind == H5S_NULL)
    throw badInput(where + ": has no values");
  int rank = kind == H5S_NO_CLASS ? -1 : H5Sget_simple_extent_ndims(space.id);
  if (rank < 0)
    throw badInput(where + ": damaged: no shape");
  std::vector<hsize_t> extents(static_cast<size_t>(rank));
  if (rank > 0)
    H5Sget_simple_extent_dims(space.id, extents.data(), nullptr);
  std::vector<int64_t> dims;
  for (hsize_t extent : extents)
    dims.push_back(extent > INT64_MAX ? -1 : static_cast<int64_t>(extent));
  return dims;
}

/// Whether a dataset can hold what its shape says: a few bytes may claim a
/// shape that takes all memory. 1100 is more than deflate can compress.
void checkPlausible(hid_t dataset, uint64_t bytes, const std::string &where) {
  constexpr uint64_t large = uint64_t(1) << 30;
  if (bytes > large && H5Dget_storage_size(dataset) < bytes / 1100)
    throw badInput(where + ": its shape needs " + std::to_string(bytes) +
                   " bytes, far more than the file holds");
}

} // namespace

//===--- Reading --------------------------------------------------------===//

Hdf5Reader::Hdf5Reader(const std::string &path) : filePath(path) {
  // The library does not tell why it could not open a file.
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT)
    throw machineLacks(path + ": HDF5 file not found");
  if (fd < 0)
    throw machineLacks(path + ": cannot read HDF5 file: " + errnoText(errno));
  close(fd);
  Guard guard;
  file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0)
    throw badInput(path + ": not an HDF5 file, or damaged or truncated");
}

Hdf5Reader::~Hdf5Reader() {
  Guard guard;
  H5Fclose(file);
}

std::vector<std::string> Hdf5Reader::datasets(const std::string &group) const {
  Guard guard;
  std::vector<std::string> names;
  std::string prefix = absolute(group);
  Handle root(H5Gopen2(file, prefix.c_str(), H5P_DEFAULT), H5Gclose);
  if (!root.valid())
    return names;
  if (H5Lvisit(root.id, H5_INDEX_NAME, H5_ITER_INC, collectDataset, &names) < 0)
    throw badInput(filePath + ": damaged: cannot list " + prefix);
  if (prefix.back() != '/')
    prefix += '/';
  for (std::string &name : names)
    name = prefix + name;
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

/// The dataset, or an Error that names its like.
hid_t openDataset(const Hdf5Reader &reader, int64_t file,
                  const std::string &name) {
  hid_t id = H5Dopen2(file, absolute(name).c_str(), H5P_DEFAULT);
  if (id >= 0)
    return id;
  std::vector<std::string> names = reader.datasets();
  throw badInput(reader.path() + ": no dataset '" + name + "'" +
                 didYouMean(absolute(name), names));
}

} // namespace

bool Hdf5Reader::has(const std::string &name) const {
  Guard guard;
  return Handle(H5Dopen2(file, absolute(name).c_str(), H5P_DEFAULT), H5Dclose)
      .valid();
}

std::vector<int64_t> Hdf5Reader::dims(const std::string &name) const {
  Guard guard;
  Handle dataset(openDataset(*this, file, name), H5Dclose);
  return dimsOf(dataset.id, filePath + ": dataset '" + name + "'");
}

bool Hdf5Reader::isDouble(const std::string &name) const {
  Guard guard;
  Handle dataset(openDataset(*this, file, name), H5Dclose);
  Handle type(H5Dget_type(dataset.id), H5Tclose);
  return H5Tget_class(type.id) == H5T_FLOAT && H5Tget_size(type.id) == 8;
}

template <typename T>
std::vector<T> Hdf5Reader::readAs(const std::string &name,
                                  int64_t memoryType) const {
  Guard guard;
  Handle dataset(openDataset(*this, file, name), H5Dclose);
  std::string where = filePath + ": dataset '" + name + "'";
  Handle type(H5Dget_type(dataset.id), H5Tclose);
  H5T_class_t kind = H5Tget_class(type.id);
  if (kind != H5T_FLOAT && kind != H5T_INTEGER)
    throw badInput(where + ": neither floats nor integers");
  int64_t count = elementCount(dimsOf(dataset.id, where), where);
  checkPlausible(dataset.id, uint64_t(count) * sizeof(T), where);
  std::vector<T> values;
  try {
    values.resize(static_cast<size_t>(count));
  } catch (const std::exception &) { // bad_alloc or length_error
    throw machineLacks(where + ": not enough memory for " +
                       std::to_string(count) + " values");
  }
  if (count > 0 && H5Dread(dataset.id, memoryType, H5S_ALL, H5S_ALL,
                           H5P_DEFAULT, values.data()) < 0)
    throw badInput(where + ": damaged or truncated: cannot read its values");
  return values;
}

std::vector<float> Hdf5Reader::readFloats(const std::string &name) const {
  Guard guard; // the type's name initialises the library
  return readAs<float>(name, H5T_NATIVE_FLOAT);
}

std::vector<double> Hdf5Reader::readDoubles(const std::string &name) const {
  Guard guard;
  return readAs<double>(name, H5T_NATIVE_DOUBLE);
}

Blob Hdf5Reader::read(const std::string &name) const {
  Blob blob;
  blob.dims = dims(name);
  blob.floats = readFloats(name);
  return blob;
}

Blob Hdf5Reader::readStored(const std::string &name) const {
  if (!isDouble(name))
    return read(name);
  Blob blob;
  blob.dims = dims(name);
  blob.doubles = readDoubles(name);
  return blob;
}

bool Hdf5Reader::hasGroup(const std::string &name) const {
  Guard guard;
  return Handle(H5Gopen2(file, absolute(name).c_str(), H5P_DEFAULT), H5Gclose)
      .valid();
}

int Hdf5Reader::readInt(const std::string &name) const {
  const std::vector<double> values = readDoubles(name);
  if (values.size() != 1 || values[0] < INT_MIN || values[0] > INT_MAX ||
      values[0] != std::floor(values[0]))
    throw badInput(filePath + ": dataset '" + name + "' is no integer");
  return static_cast<int>(values[0]);
}

std::string Hdf5Reader::readString(const std::string &name) const {
  constexpr size_t longest = 1 << 16;
  Guard guard;
  Handle dataset(openDataset(*this, file, name), H5Dclose);
  std::string where = filePath + ": dataset '" + name + "'";
  Handle type(H5Dget_type(dataset.id), H5Tclose);
  const size_t size = type.valid() ? H5Tget_size(type.id) : 0;
  if (H5Tget_class(type.id) != H5T_STRING || H5Tis_variable_str(type.id) != 0 ||
      size == 0 || size > longest ||
      elementCount(dimsOf(dataset.id, where), where) != 1)
    throw badInput(where + ": no string of fixed length");
  std::string text(size, '\0');
  if (H5Dread(dataset.id, type.id, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) <
      0)
    throw badInput(where + ": damaged or truncated: cannot read it");
  return text.substr(0, text.find('\0'));
}

std::string Hdf5Reader::readBytes(const std::string &name) const {
  Guard guard;
  const std::vector<unsigned char> bytes =
      readAs<unsigned char>(name, H5T_NATIVE_UINT8);
  return {bytes.begin(), bytes.end()};
}

//===--- Writing --------------------------------------------------------===//

Hdf5Writer::Hdf5Writer(const std::string &path)
    : filePath(path), target(path) {
  constexpr size_t increment = 1 << 20; // bytes the image grows by
  Guard guard;
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access.id, increment, /*backing_store=*/0);
  file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id);
  if (file < 0)
    fail("HDF5 cannot create it");
}

Hdf5Writer::~Hdf5Writer() {
  Guard guard;
  if (file >= 0)
    H5Fclose(file);
}

void Hdf5Writer::fail(const std::string &what) {
  throw machineLacks("cannot write '" + filePath + "': " + what);
}

void Hdf5Writer::writeAs(const std::string &name,
                         const std::vector<int64_t> &dims, const void *values,
                         int64_t fileType, int64_t memoryType) {
  Guard guard;
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
  // Without times equal contents give equal files.
  Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation.id, 0);
  Handle dataset(H5Dcreate2(file, absolute(name).c_str(), fileType, space.id,
                            links.id, creation.id, H5P_DEFAULT),
                 H5Dclose);
  if (!dataset.valid())
    fail("cannot create dataset '" + name + "' (written twice?)");
  if (count > 0 && H5Dwrite(dataset.id, memoryType, H5S_ALL, H5S_ALL,
                            H5P_DEFAULT, values) < 0)
    fail("cannot write dataset '" + name + "'");
}

void Hdf5Writer::write(const std::string &name,
                       const std::vector<int64_t> &dims, const float *values) {
  Guard guard;
  writeAs(name, dims, values, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT);
}
void Hdf5Writer::write(const std::string &name,
                       const std::vector<int64_t> &dims, const double *values) {
  Guard guard;
  writeAs(name, dims, values, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE);
}
void Hdf5Writer::write(const std::string &name,
                       const std::vector<int64_t> &dims,
                       const int32_t *values) {
  Guard guard;
  writeAs(name, dims, values, H5T_STD_I32LE, H5T_NATIVE_INT32);
}

void Hdf5Writer::write(const std::string &name, const Blob &blob) {
  if (blob.isDouble())
    write(name, blob.dims, blob.doubles.data());
  else
    write(name, blob.dims, blob.floats.data());
}

void Hdf5Writer::writeInt(const std::string &name, int value) {
  Guard guard;
  writeAs(name, {1}, &value, H5T_STD_I32LE, H5T_NATIVE_INT);
}

void Hdf5Writer::writeString(const std::string &name, const std::string &text) {
  Guard guard;
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id, text.size() + 1);
  H5Tset_strpad(type.id, H5T_STR_NULLTERM);
  writeAs(name, {}, text.c_str(), type.id, type.id);
}

void Hdf5Writer::writeBytes(const std::string &name, const std::string &bytes) {
  Guard guard;
  writeAs(name, {static_cast<int64_t>(bytes.size())}, bytes.data(),
          H5T_STD_U8LE, H5T_NATIVE_UINT8);
}

void Hdf5Writer::makeGroup(const std::string &name) {
  Guard guard;
  if (Handle(H5Gopen2(file, absolute(name).c_str(), H5P_DEFAULT), H5Gclose)
          .valid())
    return;
  Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links.id, 1);
  if (!Handle(H5Gcreate2(file, absolute(name).c_str(), links.id, H5P_DEFAULT,
                         H5P_DEFAULT),
              H5Gclose)
           .valid())
    fail("cannot create group '" + name + "'");
}

void Hdf5Writer::commit() {
  std::vector<char> image;
  {
    Guard guard;
    const bool flushed = H5Fflush(file, H5F_SCOPE_LOCAL) >= 0;
    const ssize_t size = flushed ? H5Fget_file_image(file, nullptr, 0) : -1;
    if (size < 0)
      fail("HDF5 cannot finish it");
    image.resize(static_cast<size_t>(size));
    const bool taken =
        H5Fget_file_image(file, image.data(), image.size()) == size;
    hid_t closing = file;
    file = -1;
    if (H5Fclose(closing) < 0 || !taken)
      fail("HDF5 cannot finish it");
  }
  target.write(image.data(), image.size());
  target.commit();
}

bool isHdf5File(const std::string &path) {
  char head[4] = {};
  std::ifstream stream(path, std::ios::binary);
  return stream.read(head, sizeof head) &&
         std::memcmp(head, "\x89HDF", sizeof head) == 0;
}

} // namespace brew::formats
