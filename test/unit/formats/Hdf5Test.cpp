//===- Hdf5Test.cpp - Tests of HDF5 files ---------------------------------===//
#include "formats/hdf5/Hdf5.h"
#include "test/common/TestFiles.h"

#include <thread>

using namespace brew;
using namespace brew::formats;
using namespace brew::test;

namespace {

using Dims = std::vector<int64_t>;

TEST(Hdf5, DatasetsRoundTrip) {
  TempFolder folder;
  std::vector<float> floats{1, 2, 3, 4, 5, 6};
  std::vector<double> doubles{0.1, 0.2};
  std::vector<int32_t> integers{-7, 16777217};
  float scalar = 2.5f;
  {
    Hdf5Writer writer(folder / "f.h5");
    writer.write("/data/ip1", {2, 3}, floats.data());
    writer.write("/param_diff/conv1/0", {2}, doubles.data());
    writer.write("label", {2, 1}, integers.data());
    writer.write("/data/loss", {}, &scalar);
    writer.write("/data/none", {0, 3}, floats.data());
    writer.commit();
  }
  Hdf5Reader reader(folder / "f.h5");
  EXPECT_EQ(reader.datasets(),
            (std::vector<std::string>{"/data/ip1", "/data/loss", "/data/none",
                                      "/label", "/param_diff/conv1/0"}));
  EXPECT_EQ(reader.datasets("/data").size(), 3u);
  EXPECT_TRUE(reader.datasets("/nothing").empty());
  EXPECT_EQ(reader.dims("/data/ip1"), (Dims{2, 3}));
  EXPECT_EQ(reader.readFloats("data/ip1"), floats);
  EXPECT_EQ(reader.dims("/data/loss"), Dims{});
  EXPECT_EQ(reader.readFloats("/data/loss"), std::vector<float>{2.5f});
  EXPECT_TRUE(reader.readFloats("/data/none").empty());
  EXPECT_TRUE(reader.isDouble("/param_diff/conv1/0"));
  EXPECT_FALSE(reader.isDouble("/data/ip1"));
  EXPECT_EQ(reader.readDoubles("/param_diff/conv1/0"), doubles);
  // An integer of more than 24 bits is exact as a double, but not as a float.
  EXPECT_EQ(reader.readDoubles("label"), (std::vector<double>{-7, 16777217}));
  EXPECT_EQ(reader.readFloats("label"), (std::vector<float>{-7, 16777216}));
  EXPECT_TRUE(reader.has("/data/ip1"));
  EXPECT_FALSE(reader.has("/data"));
  EXPECT_FALSE(reader.has("/data/ip2"));
}

TEST(Hdf5, NothingAppearsWithoutCommit) {
  TempFolder folder;
  float value = 1;
  { Hdf5Writer(folder / "f.h5").write("a", {}, &value); }
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(Hdf5, ErrorsNameFilesAndDatasets) {
  TempFolder folder;
  expectError(ExitStatus::Unavailable, "not found",
              [&] { Hdf5Reader reader(folder / "none.h5"); });
  expectError(ExitStatus::Unavailable, "No such file",
              [&] { Hdf5Writer writer(folder / "none/f.h5"); });
  writeBytes(folder / "text", "no HDF5");
  expectError(ExitStatus::BadInput, "not an HDF5 file",
              [&] { Hdf5Reader reader(folder / "text"); });
  float value = 1;
  {
    Hdf5Writer writer(folder / "f.h5");
    writer.write("/data/conv1", {}, &value);
    expectError(ExitStatus::Unavailable, "written twice",
                [&] { writer.write("/data/conv1", {}, &value); });
  }
  {
    Hdf5Writer writer(folder / "f.h5");
    writer.write("/data/conv1", {}, &value);
    writer.commit();
  }
  Hdf5Reader reader(folder / "f.h5");
  expectError(ExitStatus::BadInput,
              "no dataset '/data/conv2'; did you mean '/data/conv1'?",
              [&] { reader.readFloats("/data/conv2"); });
}

TEST(Hdf5, ReadsTheTopsOfADataLayer) {
  std::vector<Blob> tops = readHdf5Tops(
      referencePath("solvers/sgd_fixed/data.h5"), {"data", "label"});
  ASSERT_EQ(tops.size(), 2u);
  EXPECT_EQ(tops[0].dims[0], tops[1].dims[0]);
  EXPECT_GT(tops[0].dims.size(), 1u);
  EXPECT_EQ(static_cast<int64_t>(tops[0].floats.size()),
            elementCount(tops[0].dims, ""));
}

TEST(Hdf5, TopsMustHaveTheSameNumberOfRows) {
  TempFolder folder;
  std::vector<float> values(6);
  {
    Hdf5Writer writer(folder / "f.h5");
    writer.write("data", {3, 2}, values.data());
    writer.write("label", {2}, values.data());
    writer.write("scalar", {}, values.data());
    writer.write("empty", {0, 2}, values.data());
    writer.commit();
  }
  expectError(ExitStatus::BadInput, "'label' has 2 rows, but 'data' has 3",
              [&] {
                readHdf5Tops(folder / "f.h5", {"data", "label"});
              });
  expectError(ExitStatus::BadInput, "is a scalar",
              [&] { readHdf5Tops(folder / "f.h5", {"scalar"}); });
  expectError(ExitStatus::BadInput, "has no rows",
              [&] { readHdf5Tops(folder / "f.h5", {"empty"}); });
  expectError(ExitStatus::BadInput, "no dataset 'labels'",
              [&] { readHdf5Tops(folder / "f.h5", {"labels"}); });
}

TEST(Hdf5, ListedFilesAreSearchedInFolders) {
  TempFolder folder;
  writeBytes(folder / "a.h5", "");
  writeBytes(folder / "b.h5", "");
  writeBytes(folder / "list.txt", "a.h5\n\n" + (folder / "b.h5") + "\n");
  EXPECT_EQ(readHdf5List(folder / "list.txt", {folder.path()}),
            (std::vector<std::string>{folder / "a.h5", folder / "b.h5"}));
  expectError(ExitStatus::Unavailable, ": HDF5 file '",
              [&] { readHdf5List(folder / "list.txt", {}); });
  writeBytes(folder / "list.txt", "\n \n");
  expectError(ExitStatus::BadInput, "lists no HDF5 files",
              [&] { readHdf5List(folder / "list.txt", {}); });
  expectError(ExitStatus::Unavailable, "cannot read list",
              [&] { readHdf5List(folder / "none.txt", {}); });
}

TEST(Hdf5, TruncatedFilesAreRefused) {
  TempFolder folder;
  std::string bytes = readBytes(referencePath("solvers/sgd_fixed/data.h5"));
  for (size_t length = 0; length < bytes.size(); length += 97) {
    writeBytes(folder / "f.h5", bytes.substr(0, length));
    EXPECT_TRUE(refusedAsBadInput([&] {
      readHdf5Tops(folder / "f.h5", {"data", "label"});
    })) << length;
  }
}

// libhdf5 checks the types and layouts in a file only partly.
TEST(Hdf5, NoFlippedBitCrashes) {
  TempFolder folder;
  const std::string path = folder / "f.h5";
  const float floats[] = {1, 2};
  {
    Hdf5Writer writer(path);
    writer.write("floats", {2}, floats);
    writer.writeInt("integer", 7);
    writer.writeString("text", "some");
    writer.commit();
  }
  const std::string bytes = readBytes(path);
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  int read = 0, refused = 0;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const off_t at = static_cast<off_t>(bit / 8);
    const char flipped = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    EXPECT_EQ(pwrite(fd, &flipped, 1, at), 1);
    try {
      Hdf5Reader reader(path);
      reader.readFloats("floats");
      reader.readInt("integer");
      reader.readString("text");
      ++read;
    } catch (const Error &) {
      ++refused;
    }
    EXPECT_EQ(pwrite(fd, &bytes[bit / 8], 1, at), 1);
  }
  close(fd);
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 0);
}

TEST(Hdf5, ThreadsCanReadConcurrently) {
  std::string path = referencePath("solvers/sgd_fixed/data.h5");
  std::vector<float> expected = Hdf5Reader(path).readFloats("data");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 50; ++j)
        EXPECT_EQ(Hdf5Reader(path).readFloats("data"), expected);
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
