//===- Hdf5ChunksTest.cpp - Tests of HDF5 datasets in chunks --------------===//
#include "formats/hdf5/Hdf5.h"
#include "test/common/TestFiles.h"

#include <hdf5.h>

#include <numeric>

using namespace brew;
using namespace brew::formats;
using namespace brew::test;

namespace {

using Extents = std::vector<hsize_t>;

/// Writes a dataset "x" in chunks; without values it occupies no space.
void writeChunks(const std::string &path, const Extents &dims,
                 const Extents &chunk, const std::vector<float> &values = {}) {
  const int rank = static_cast<int>(dims.size());
  const hid_t file =
      H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(rank, dims.data(), nullptr);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(creation, rank, chunk.data());
  const hid_t dataset = H5Dcreate2(file, "x", H5T_NATIVE_FLOAT, space,
                                   H5P_DEFAULT, creation, H5P_DEFAULT);
  ASSERT_GE(dataset, 0);
  if (!values.empty())
    ASSERT_GE(H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                       values.data()),
              0);
  H5Dclose(dataset);
  H5Pclose(creation);
  H5Sclose(space);
  ASSERT_GE(H5Fclose(file), 0);
}

// More chunks than one call reads, and chunks that reach beyond the dataset.
TEST(Hdf5Chunks, ManyChunksAreReadInOrder) {
  TempFolder folder;
  for (const Extents &chunk :
       {Extents{2, 1, 3}, Extents{1, 1, 1}, Extents{31, 41, 29},
        Extents{1, 41, 29}, Extents{31, 1, 1}}) {
    std::vector<float> values(31 * 41 * 29);
    std::iota(values.begin(), values.end(), 0.f);
    writeChunks(folder / "f.h5", {31, 41, 29}, chunk, values);
    EXPECT_EQ(Hdf5Reader(folder / "f.h5").readFloats("x"), values);
  }
}

// The library allocates about 4 kB for each chunk of a call.
TEST(Hdf5Chunks, TinyChunksAreRefusedInMillions) {
  TempFolder folder;
  writeChunks(folder / "f.h5", {(1 << 22) + 1, 4}, {1, 4});
  expectError(ExitStatus::BadInput,
              "f.h5: dataset 'x': stored in 4194305 chunks of 4 values, which "
              "would take minutes to read; h5repack writes it with larger "
              "chunks",
              [&] { Hdf5Reader(folder / "f.h5").readFloats("x"); });
  writeChunks(folder / "f.h5", {1 << 22, 4}, {64, 4});
  EXPECT_EQ(Hdf5Reader(folder / "f.h5").readFloats("x"),
            std::vector<float>(4 << 22));
}

} // namespace
