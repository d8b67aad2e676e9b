//===- Hdf5LinksTest.cpp - Tests of several links to one dataset ----------===//
#include "formats/hdf5/Hdf5.h"
#include "formats/hdf5/Hdf5Snapshots.h"
#include "test/common/TestFiles.h"

#include <hdf5.h>

using namespace brew;
using namespace brew::formats;
using namespace brew::test;

namespace {

/// Writes weights of `layers` layers with `blobs` blobs each. All blobs are
/// links to one compressed dataset of `count` zeros.
void writeLinkedWeights(const std::string &path, int layers, int blobs,
                        hsize_t count) {
  const hid_t file =
      H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(1, &count, nullptr);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(creation, 1, &count);
  H5Pset_deflate(creation, 9);
  const hid_t links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  const hid_t dataset = H5Dcreate2(file, "zeros", H5T_IEEE_F32LE, space,
                                   H5P_DEFAULT, creation, H5P_DEFAULT);
  const std::vector<float> zeros(count);
  ASSERT_GE(H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                     zeros.data()),
            0);
  for (int layer = 0; layer < layers; ++layer)
    for (int blob = 0; blob < blobs; ++blob) {
      const std::string name =
          "data/" + std::to_string(layer) + "x/" + std::to_string(blob);
      ASSERT_GE(
          H5Lcreate_hard(file, "zeros", file, name.c_str(), links, H5P_DEFAULT),
          0);
    }
  H5Dclose(dataset);
  H5Pclose(links);
  H5Pclose(creation);
  H5Sclose(space);
  ASSERT_GE(H5Fclose(file), 0);
}

TEST(Hdf5Links, LinkedBlobsAreRead) {
  TempFolder folder;
  writeLinkedWeights(folder / "f.h5", 3, 2, 1000);
  const Weights weights = readHdf5Weights(folder / "f.h5");
  ASSERT_EQ(weights.layers.size(), 3u);
  for (const WeightLayer &layer : weights.layers)
    for (const Blob &blob : layer.blobs)
      EXPECT_EQ(blob.floats, std::vector<float>(1000));
}

// The file has about 100 kB; all of its blobs would need 2 GB.
TEST(Hdf5Links, ManyLinksDoNotTakeAllMemory) {
  TempFolder folder;
  writeLinkedWeights(folder / "f.h5", 8, 60, 1 << 20);
  expectError(ExitStatus::BadInput, "far more than the file contains",
              [&] { readHdf5Weights(folder / "f.h5"); });
}

TEST(Hdf5Links, RepeatedReadsOfADatasetAreNotLimited) {
  TempFolder folder;
  writeLinkedWeights(folder / "f.h5", 1, 1, 1 << 20);
  const Hdf5Reader reader(folder / "f.h5");
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(reader.readFloats("zeros").size(), 1u << 20);
}

} // namespace
