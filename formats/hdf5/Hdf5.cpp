//===- Hdf5.cpp - Reading HDF5 files --------------------------------------===//
#include "formats/hdf5/Hdf5.h"

#include "formats/ExpectedFile.h"
#include "formats/hdf5/Hdf5Library.h"
#include "formats/hdf5/ReadValues.h"
#include "support/AtomicFile.h"
#include "support/Error.h"
#include "support/RegularFile.h"
#include "support/Suggest.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>

namespace brew::formats {

using namespace hdf5;

namespace {

struct DatasetList {
  std::vector<std::string> names;
  std::string externalLink; ///< the name of a link to another file
};

/// Callback of H5Lvisit(). Adds the name to `data`, a DatasetList, if the link
/// leads to a dataset.
herr_t collectDataset(hid_t group, const char *name, const H5L_info_t *info,
                      void *data) {
  auto &list = *static_cast<DatasetList *>(data);
  if (info->type == H5L_TYPE_EXTERNAL) {
    list.externalLink = name;
    return -1;
  }
  if (info->type != H5L_TYPE_HARD && info->type != H5L_TYPE_SOFT)
    return 0;
  const OwnFileAccess access(H5P_LINK_ACCESS);
  Handle object(H5Oopen(group, name, access.id()), H5Oclose);
  if (!object.valid()) // a soft link may be dangling
    return info->type == H5L_TYPE_HARD ? -1 : 0;
  if (H5Iget_type(object.id) == H5I_DATASET)
    list.names.push_back(name);
  return 0;
}

std::vector<int64_t> readDims(hid_t dataset, const std::string &where) {
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

/// Checks that a dataset has enough bytes for its shape, `count` values: the
/// library reads beyond the end of compact datasets, which are in the header.
void checkStorage(hid_t dataset, hid_t type, uint64_t count,
                  const std::string &where) {
  const uint64_t storedBytes = H5Dget_storage_size(dataset);
  Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  const H5D_layout_t layout = H5Pget_layout(creation.id);
  // Contiguous datasets that were never written have no bytes.
  const bool hasAllBytes =
      layout == H5D_COMPACT || (layout == H5D_CONTIGUOUS && storedBytes > 0);
  if (hasAllBytes &&
      storedBytes / std::max<size_t>(H5Tget_size(type), 1) < count)
    throw badInput(where + ": damaged: it is shorter than its shape says");
}

/// Returns whether all bits of a number type lie within its bytes. The library
/// does not check this and crashes on a damaged type.
bool isValidNumberType(hid_t type) {
  const size_t bits = 8 * H5Tget_size(type);
  const int offset = H5Tget_offset(type);
  const size_t precision = H5Tget_precision(type);
  const auto fits = [&](size_t from, size_t count) {
    return from <= bits && count <= bits - from;
  };
  if (bits == 0 || bits > 128 || offset < 0 || precision == 0 ||
      !fits(static_cast<size_t>(offset), precision))
    return false;
  if (H5Tget_class(type) != H5T_FLOAT)
    return true;
  size_t sign, exponent, exponentBits, mantissa, mantissaBits;
  return H5Tget_fields(type, &sign, &exponent, &exponentBits, &mantissa,
                       &mantissaBits) >= 0 &&
         fits(sign, 1) && fits(exponent, exponentBits) &&
         fits(mantissa, mantissaBits);
}

} // namespace

//===--- Reading --------------------------------------------------------===//

Hdf5Reader::Hdf5Reader(const std::string &path) : filePath(path) {
  refuseSpecialFile(path);
  // The library does not report why it could not open a file.
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT)
    throw unavailable(path + ": HDF5 file not found");
  if (fd < 0)
    throw unavailable(path + ": cannot read HDF5 file: " + errnoText(errno));
  close(fd);
  LibraryLock guard;
  file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) {
    // The kinds of HDF5 files are found by this reader.
    if (!isHdf5File(path))
      refuseOtherKind(path, hdf5File());
    throw badInput(path + ": not an HDF5 file, or damaged or truncated");
  }
}

Hdf5Reader::~Hdf5Reader() {
  LibraryLock guard;
  H5Fclose(file);
}

/// Returns the error for an object that a link to another file would lead to.
static Error externalLinkError(const std::string &path, const std::string &name,
                               const std::string &otherFile) {
  return badInput(path + ": '" + name + "' is in another file" +
                  (otherFile.empty() ? "" : ", '" + otherFile + "'") +
                  ", which is not followed: copy it (h5repack, h5copy)");
}

std::vector<std::string> Hdf5Reader::datasets(const std::string &group) const {
  LibraryLock guard;
  DatasetList list;
  std::string prefix = absoluteName(group);
  const OwnFileAccess access(H5P_GROUP_ACCESS);
  Handle root(H5Gopen2(file, prefix.c_str(), access.id()), H5Gclose);
  if (!root.valid() && !access.refused().empty())
    throw externalLinkError(filePath, prefix, access.refused());
  if (!root.valid())
    return {};
  const bool isListed =
      H5Lvisit(root.id, H5_INDEX_NAME, H5_ITER_INC, collectDataset, &list) >= 0;
  if (!isListed && list.externalLink.empty())
    throw badInput(filePath + ": damaged: cannot list " + prefix);
  if (prefix.back() != '/')
    prefix += '/';
  if (!isListed)
    throw externalLinkError(filePath, prefix + list.externalLink, "");
  for (std::string &name : list.names)
    name = prefix + name;
  std::sort(list.names.begin(), list.names.end());
  return list.names;
}

namespace {

/// Returns the name of another file that contains values of a dataset; "" if
/// there is none.
std::string otherFileOf(hid_t dataset) {
  Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  char name[1024] = "";
  if (H5Pget_external_count(creation.id) > 0)
    H5Pget_external(creation.id, 0, sizeof name - 1, name, nullptr, nullptr);
  else if (H5Pget_layout(creation.id) == H5D_VIRTUAL)
    H5Pget_virtual_filename(creation.id, 0, name, sizeof name - 1);
  return name;
}

/// Opens a dataset, or throws Error with the most similar name.
hid_t openDataset(const Hdf5Reader &reader, int64_t file,
                  const std::string &name) {
  const OwnFileAccess access(H5P_DATASET_ACCESS);
  const hid_t id = H5Dopen2(file, absoluteName(name).c_str(), access.id());
  std::string other = access.refused();
  if (id >= 0) {
    other = otherFileOf(id);
    if (other.empty())
      return id;
    H5Dclose(id);
  }
  if (!other.empty())
    throw externalLinkError(reader.path(), name, other);
  std::vector<std::string> names;
  try {
    names = reader.datasets();
  } catch (const Error &) {
    // Without suggestions.
  }
  throw badInput(reader.path() + ": no dataset '" + name + "'" +
                 didYouMean(absoluteName(name), names));
}

} // namespace

bool Hdf5Reader::has(const std::string &name) const {
  LibraryLock guard;
  const std::string full = absoluteName(name);
  // Checks group by group, to distinguish damaged groups from missing ones.
  for (size_t end = full.find('/', 1);; end = full.find('/', end + 1)) {
    const std::string ancestor = full.substr(0, end);
    const htri_t linkStatus = H5Lexists(file, ancestor.c_str(), H5P_DEFAULT);
    if (linkStatus == 0)
      return false;
    const OwnFileAccess access(H5P_LINK_ACCESS);
    Handle object(H5Oopen(file, ancestor.c_str(), access.id()), H5Oclose);
    if (!object.valid() && !access.refused().empty())
      throw externalLinkError(filePath, ancestor, access.refused());
    if (!object.valid()) {
      H5L_info_t link;
      if (linkStatus > 0 &&
          H5Lget_info(file, ancestor.c_str(), &link, H5P_DEFAULT) >= 0 &&
          link.type != H5L_TYPE_HARD)
        return false; // a dangling link
      throw badInput(filePath + ": damaged: cannot open '" + ancestor + "'");
    }
    const H5I_type_t type = H5Iget_type(object.id);
    if (end == std::string::npos)
      return type == H5I_DATASET;
    if (type != H5I_GROUP)
      return false;
  }
}

std::vector<int64_t> Hdf5Reader::dims(const std::string &name) const {
  LibraryLock guard;
  Handle dataset(openDataset(*this, file, name), H5Dclose);
  return readDims(dataset.id, filePath + ": dataset '" + name + "'");
}

bool Hdf5Reader::isDouble(const std::string &name) const {
  LibraryLock guard;
  Handle dataset(openDataset(*this, file, name), H5Dclose);
  Handle type(H5Dget_type(dataset.id), H5Tclose);
  return H5Tget_class(type.id) == H5T_FLOAT && H5Tget_size(type.id) == 8;
}

/// A few bytes may claim shapes that need all memory: a dataset that was never
/// written occupies no bytes, a dataset of equal values only a few, and many
/// names may link to one dataset. Counts each name once.
void Hdf5Reader::checkClaimedBytes(std::uint64_t bytes,
                                   std::uint64_t storedBytes,
                                   std::uint64_t memoryBytes,
                                   const std::string &where) const {
  constexpr std::uint64_t kMaxUnstoredBytes = std::uint64_t(256) << 20;
  constexpr std::uint64_t kMaxCompression = 1100; // more than that of deflate
  constexpr std::uint64_t kMaxReads = 2;          // of each byte of the file
  if (datasetsRead.count(where))
    return;
  hsize_t fileBytes = 0;
  H5Fget_filesize(file, &fileBytes);
  const bool isStored = storedBytes >= bytes / kMaxCompression &&
                        storedBytes <= kMaxReads * fileBytes - storedBytesRead;
  if (!isStored && memoryBytes > kMaxUnstoredBytes - unstoredBytes)
    throw badInput(where + ": its shape needs " + std::to_string(memoryBytes) +
                   " bytes, far more than the file contains");
  (isStored ? storedBytesRead : unstoredBytes) +=
      isStored ? storedBytes : memoryBytes;
  datasetsRead.insert(where);
}

template <typename T>
std::vector<T> Hdf5Reader::readAs(const std::string &name,
                                  int64_t memoryType) const {
  LibraryLock guard;
  Handle dataset(openDataset(*this, file, name), H5Dclose);
  std::string where = filePath + ": dataset '" + name + "'";
  Handle type(H5Dget_type(dataset.id), H5Tclose);
  H5T_class_t kind = H5Tget_class(type.id);
  if (kind != H5T_FLOAT && kind != H5T_INTEGER)
    throw badInput(where + ": neither floats nor integers");
  if (!isValidNumberType(type.id))
    throw badInput(where + ": damaged: no valid type of numbers");
  int64_t count = elementCount(readDims(dataset.id, where), where);
  checkClaimedBytes(uint64_t(count) * H5Tget_size(type.id),
                    H5Dget_storage_size(dataset.id),
                    uint64_t(count) * sizeof(T), where);
  checkStorage(dataset.id, type.id, uint64_t(count), where);
  std::vector<T> values;
  try {
    values.resize(static_cast<size_t>(count));
  } catch (const std::exception &) { // bad_alloc or length_error
    throw unavailable(where + ": not enough memory for " +
                      std::to_string(count) + " values");
  }
  if (count > 0)
    readValues(dataset.id, memoryType, values.data(), where);
  return values;
}

std::vector<float> Hdf5Reader::readFloats(const std::string &name) const {
  LibraryLock guard; // evaluating H5T_NATIVE_FLOAT initialises the library
  return readAs<float>(name, H5T_NATIVE_FLOAT);
}

std::vector<double> Hdf5Reader::readDoubles(const std::string &name) const {
  LibraryLock guard;
  return readAs<double>(name, H5T_NATIVE_DOUBLE);
}

Blob Hdf5Reader::read(const std::string &name) const {
  Blob blob;
  blob.dims = dims(name);
  blob.floats = readFloats(name);
  return blob;
}

Blob Hdf5Reader::readInFilePrecision(const std::string &name) const {
  if (!isDouble(name))
    return read(name);
  Blob blob;
  blob.dims = dims(name);
  blob.doubles = readDoubles(name);
  return blob;
}

bool Hdf5Reader::hasGroup(const std::string &name) const {
  LibraryLock guard;
  const OwnFileAccess access(H5P_GROUP_ACCESS);
  Handle group(H5Gopen2(file, absoluteName(name).c_str(), access.id()),
               H5Gclose);
  if (!group.valid() && !access.refused().empty())
    throw externalLinkError(filePath, name, access.refused());
  return group.valid();
}

int Hdf5Reader::readInt(const std::string &name) const {
  const std::vector<double> values = readDoubles(name);
  if (values.size() != 1 || values[0] < INT_MIN || values[0] > INT_MAX ||
      values[0] != std::floor(values[0]))
    throw badInput(filePath + ": dataset '" + name + "' is not an integer");
  return static_cast<int>(values[0]);
}

std::string Hdf5Reader::readString(const std::string &name) const {
  constexpr size_t maxBytes = 1 << 16;
  LibraryLock guard;
  Handle dataset(openDataset(*this, file, name), H5Dclose);
  std::string where = filePath + ": dataset '" + name + "'";
  Handle type(H5Dget_type(dataset.id), H5Tclose);
  const size_t size = type.valid() ? H5Tget_size(type.id) : 0;
  if (H5Tget_class(type.id) != H5T_STRING || H5Tis_variable_str(type.id) != 0 ||
      size == 0 || size > maxBytes ||
      elementCount(readDims(dataset.id, where), where) != 1)
    throw badInput(where + ": not a string of fixed length");
  checkStorage(dataset.id, type.id, 1, where);
  std::string text(size, '\0');
  if (H5Dread(dataset.id, type.id, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) <
      0)
    throw badInput(where + ": damaged or truncated: cannot read it");
  return text.substr(0, text.find('\0'));
}

std::string Hdf5Reader::readBytes(const std::string &name) const {
  LibraryLock guard;
  const std::vector<unsigned char> bytes =
      readAs<unsigned char>(name, H5T_NATIVE_UINT8);
  return {bytes.begin(), bytes.end()};
}

bool isHdf5File(const std::string &path) {
  char head[4] = {};
  std::ifstream stream(path, std::ios::binary);
  return stream.read(head, sizeof head) &&
         std::memcmp(head, "\x89HDF", sizeof head) == 0;
}

} // namespace brew::formats
