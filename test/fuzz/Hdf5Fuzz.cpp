//===- Hdf5Fuzz.cpp - Fuzz entry: HDF5 files ------------------------------===//
//
// Generates an HDF5 file from the input: a list of commands that create groups,
// datasets and links. Mutated bytes of a file would mainly find errors of the
// HDF5 library, which crashes on some damaged files. A generated file is valid,
// so every crash and every excess of memory is an error of Brew's readers.
//
// An input that is an HDF5 file itself is only read in a replay.
//
//===----------------------------------------------------------------------===//
#include "Fuzz.h"
#include "formats/ContentKind.h"
#include "formats/SolverStateFile.h"
#include "formats/WeightFile.h"
#include "formats/hdf5/Hdf5.h"

#include <algorithm>
#include <hdf5.h>
#include <vector>

using namespace brew;

namespace {

/// Names that the readers look for, and some that they do not expect.
constexpr const char *kNames[] = {"data",
                                  "diff",
                                  "history",
                                  "iter",
                                  "learned_net",
                                  "current_step",
                                  "minimum_loss",
                                  "iter_last_event",
                                  "brew_state",
                                  "label",
                                  "data/conv",
                                  "data/conv/0",
                                  "data/conv/1",
                                  "data/a/b/0",
                                  "data/conv/63",
                                  "data/conv/64",
                                  "data/conv/01",
                                  "data/0",
                                  "history/0",
                                  "history/1",
                                  "history/2",
                                  "history/9999",
                                  "history/1000000",
                                  "history/a/0",
                                  "diff/conv/0",
                                  "data/conv/x",
                                  "other",
                                  "data/loop",
                                  "history/loop",
                                  ".",
                                  "/",
                                  "data/\xff/0"};

/// Owns a handle of the HDF5 library.
class Handle {
public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id(id), close(close) {}
  ~Handle() {
    if (id >= 0)
      close(id);
  }
  Handle(const Handle &) = delete;
  Handle &operator=(const Handle &) = delete;
  operator hid_t() const { return id; }

private:
  hid_t id;
  herr_t (*close)(hid_t);
};

/// Executes the commands of an input. Commands that the library refuses have no
/// effect.
class Generator {
public:
  Generator(const std::uint8_t *data, std::size_t size)
      : next(data), end(data + size),
        access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose),
        links(H5Pcreate(H5P_LINK_CREATE), H5Pclose) {
    constexpr std::size_t increment = 1 << 16; // growth of the image in bytes
    H5Pset_fapl_core(access, increment, /*backing_store=*/0);
    H5Pset_create_intermediate_group(links, 1);
  }

  /// Returns the bytes of the file.
  std::vector<std::uint8_t> run() {
    constexpr int maxCommands = 64;
    const Handle file(
        H5Fcreate("generated", H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
    for (int i = 0; i < maxCommands && next < end; ++i)
      runCommand(file);
    H5Fflush(file, H5F_SCOPE_LOCAL);
    const ssize_t size = H5Fget_file_image(file, nullptr, 0);
    std::vector<std::uint8_t> image(size > 0 ? static_cast<std::size_t>(size)
                                             : 0);
    if (size <= 0 ||
        H5Fget_file_image(file, image.data(), image.size()) != size)
      std::abort();
    return image;
  }

private:
  std::uint8_t byte() { return next < end ? *next++ : 0; }
  const char *name() { return kNames[byte() % std::size(kNames)]; }

  void runCommand(hid_t file) {
    switch (byte() % 8) {
    case 0: {
      const Handle group(
          H5Gcreate2(file, name(), links, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
      return;
    }
    case 1: {
      const char *target = name();
      H5Lcreate_hard(file, target, file, name(), links, H5P_DEFAULT);
      return;
    }
    case 2: {
      const char *target = name();
      H5Lcreate_soft(target, file, name(), links, H5P_DEFAULT);
      return;
    }
    case 3: {
      // Only a link to a file that exists could be followed.
      const char *target = name();
      H5Lcreate_external("/proc/self/exe", target, file, name(), links,
                         H5P_DEFAULT);
      return;
    }
    case 4: {
      // The blobs of many layers can be one dataset.
      const char *target = name();
      const int count = byte();
      for (int i = 0; i < count; ++i)
        H5Lcreate_hard(file, target, file,
                       ("data/layer" + std::to_string(i) + "/0").c_str(), links,
                       H5P_DEFAULT);
      return;
    }
    case 5: {
      const char *path = name();
      const Handle type(makeType(), H5Tclose);
      H5Tcommit2(file, path, type, links, H5P_DEFAULT, H5P_DEFAULT);
      return;
    }
    default:
      makeDataset(file);
    }
  }

  void makeDataset(hid_t file) {
    const char *path = name();
    const Handle type(makeType(), H5Tclose);
    const Handle space(makeSpace(), H5Sclose);
    const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    setLayout(creation, space);
    const Handle dataset(
        H5Dcreate2(file, path, type, space, links, creation, H5P_DEFAULT),
        H5Dclose);
    if (dataset >= 0 && byte() % 4)
      writeValues(dataset, type, space);
  }

  /// Creates a type of any class; mostly of numbers.
  hid_t makeType() {
    static const hid_t numbers[] = {
        H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_STD_I32LE,     H5T_STD_U8LE,
        H5T_IEEE_F32BE, H5T_IEEE_F64BE, H5T_STD_I64LE,     H5T_STD_U64BE,
        H5T_STD_I8LE,   H5T_STD_U16BE,  H5T_NATIVE_LDOUBLE};
    const unsigned kind = byte();
    if (kind < 192)
      return H5Tcopy(numbers[kind % std::size(numbers)]);
    hid_t type;
    switch (kind % 9) {
    case 0: // strings of fixed length; size 0 is refused
      type = H5Tcopy(H5T_C_S1);
      H5Tset_size(type, byte());
      H5Tset_strpad(type, static_cast<H5T_str_t>(byte() % 3));
      return type;
    case 1:
      type = H5Tcopy(H5T_C_S1);
      H5Tset_size(type, H5T_VARIABLE);
      return type;
    case 2:
      type = H5Tcreate(H5T_COMPOUND, 8);
      H5Tinsert(type, "x", 0, H5T_IEEE_F32LE);
      return type;
    case 3: {
      const hsize_t count = byte() + 1u;
      return H5Tarray_create2(H5T_IEEE_F32LE, 1, &count);
    }
    case 4: // integers with unused bits
      type = H5Tcopy(H5T_STD_I32LE);
      H5Tset_precision(type, byte() % 32 + 1u);
      H5Tset_offset(type, byte() % 32);
      return type;
    case 5: // half precision
      type = H5Tcopy(H5T_IEEE_F32LE);
      H5Tset_fields(type, 15, 10, 5, 0, 10);
      H5Tset_precision(type, 16);
      H5Tset_ebias(type, 15);
      H5Tset_size(type, 2);
      return type;
    case 6:
      return H5Tvlen_create(H5T_IEEE_F32LE);
    case 7:
      type = H5Tcreate(H5T_OPAQUE, byte() + 1u);
      return type;
    default: {
      type = H5Tenum_create(H5T_STD_I32LE);
      const int value = byte();
      H5Tenum_insert(type, "one", &value);
      return type;
    }
    }
  }

  /// Creates a shape: mostly few values, sometimes more than any memory.
  hid_t makeSpace() {
    const unsigned kind = byte();
    if (kind == 255)
      return H5Screate(H5S_NULL);
    if (kind >= 240)
      return H5Screate(H5S_SCALAR);
    const unsigned rank = kind < 224 ? kind % 4 + 1 : kind % 32 + 1;
    std::vector<hsize_t> extents, limits;
    for (unsigned i = 0; i < rank; ++i) {
      const unsigned code = byte();
      extents.push_back(code < 128   ? code % 8
                        : code < 250 ? hsize_t(1) << code % 40
                                     : ~hsize_t(0) >> code % 4);
      limits.push_back(H5S_UNLIMITED);
    }
    return H5Screate_simple(static_cast<int>(rank), extents.data(),
                            kind % 8 ? nullptr : limits.data());
  }

  /// Sets the layout and filters of a dataset.
  void setLayout(hid_t creation, hid_t space) {
    const unsigned kind = byte();
    H5Pset_obj_track_times(creation, 0);
    switch (kind % 8) {
    case 0:
      H5Pset_layout(creation, H5D_COMPACT);
      return;
    case 1:
      H5Pset_external(creation, "/proc/self/exe", 0, H5F_UNLIMITED);
      return;
    case 2: {
      const Handle source(H5Scopy(space), H5Sclose);
      H5Pset_virtual(creation, space, kind / 8 % 2 ? "." : "/proc/self/exe",
                     name(), source);
      return;
    }
    case 3:
    case 4:
      return; // contiguous
    default:
      break;
    }
    constexpr int maxRank = H5S_MAX_RANK;
    hsize_t extents[maxRank];
    const int rank = H5Sget_simple_extent_dims(space, extents, nullptr);
    std::vector<hsize_t> chunk;
    for (int i = 0; i < rank; ++i)
      chunk.push_back(hsize_t(1) << byte() % 20);
    if (rank <= 0 || H5Pset_chunk(creation, rank, chunk.data()) < 0)
      return;
    if (kind & 8)
      H5Pset_shuffle(creation);
    if (kind & 16)
      H5Pset_deflate(creation, 9);
    if (kind & 32)
      H5Pset_deflate(creation, 9);
    if (kind & 64)
      H5Pset_fletcher32(creation);
    if (kind & 128)
      H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  }

  /// Returns the number of values; 0 if it is more than fits in memory. The
  /// library's own product wraps around.
  static std::size_t countValues(hid_t space) {
    hsize_t extents[H5S_MAX_RANK];
    const int rank = H5Sget_simple_extent_dims(space, extents, nullptr);
    std::size_t count = H5Sget_simple_extent_type(space) != H5S_NULL;
    for (int i = 0; i < rank; ++i)
      if (__builtin_mul_overflow(count, extents[i], &count))
        return 0;
    return count;
  }

  /// Writes all values of a small dataset, or the first of a large one.
  void writeValues(hid_t dataset, hid_t type, hid_t space) {
    constexpr std::size_t maxBytes = 4096;
    constexpr hsize_t maxChunkBytes = 1 << 24;
    const H5T_class_t kind = H5Tget_class(type);
    if (kind == H5T_VLEN || H5Tis_variable_str(type) > 0)
      return; // values would be pointers
    const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
    const H5D_layout_t layout = H5Pget_layout(creation);
    if (layout == H5D_VIRTUAL || H5Pget_external_count(creation) > 0)
      return; // would write to another file
    const std::size_t count = countValues(space);
    const std::size_t size = H5Tget_size(type);
    if (count == 0 || size == 0 || size > maxBytes)
      return;
    if (layout == H5D_CHUNKED) {
      hsize_t extents[H5S_MAX_RANK], bytes = size;
      const int rank = H5Pget_chunk(creation, H5S_MAX_RANK, extents);
      for (int i = 0; i < rank && bytes <= maxChunkBytes; ++i)
        bytes *= extents[i];
      if (bytes > maxChunkBytes)
        return;
    }
    std::uint8_t values[maxBytes];
    const bool isSmall = count <= maxBytes / size;
    if (!isSmall && layout != H5D_CHUNKED)
      return;
    const std::size_t written = isSmall ? count : 1;
    std::generate(values, values + written * size, [&] { return byte(); });
    const Handle selection(H5Scopy(space), H5Sclose);
    const hsize_t one = 1;
    const std::vector<hsize_t> first(H5S_MAX_RANK), counts(H5S_MAX_RANK, 1);
    const Handle memory(H5Screate_simple(1, &one, nullptr), H5Sclose);
    if (isSmall) {
      H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    } else {
      H5Sselect_hyperslab(selection, H5S_SELECT_SET, first.data(), nullptr,
                          counts.data(), nullptr);
      H5Dwrite(dataset, type, memory, selection, H5P_DEFAULT, values);
    }
  }

  const std::uint8_t *next, *end;
  Handle access, links;
};

/// Reads a file as everything that it could be.
void readAll(const std::string &path) {
  fuzz::attempt([&] { formats::readWeights(path); });
  fuzz::attempt([&] { formats::readSolverState(path); });
  fuzz::attempt([&] { formats::readHdf5Tops(path, {"data", "label"}); });
  fuzz::attempt([&] { formats::contentKindOf(path); });
  fuzz::attempt([&] {
    const formats::Hdf5Reader reader(path);
    for (const std::string &name : reader.datasets())
      fuzz::attempt([&] {
        reader.dims(name);
        reader.has(name);
        reader.readInFilePrecision(name);
      });
  });
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data,
                                      std::size_t size) {
  if (fuzz::textOf(data, size).substr(0, 4) == "\x89HDF") {
#ifndef BREW_LIBFUZZER
    readAll(fuzz::fileOf(data, size));
#endif
    return 0;
  }
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const std::vector<std::uint8_t> file = Generator(data, size).run();
  readAll(fuzz::fileOf(file.data(), file.size()));
  return 0;
}
