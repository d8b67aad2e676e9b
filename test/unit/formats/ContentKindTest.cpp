//===- ContentKindTest.cpp - Files of another kind than expected ----------===//
#include "formats/BinaryProto.h"
#include "formats/BoostList.h"
#include "formats/Database.h"
#include "formats/ExpectedFile.h"
#include "formats/Npy.h"
#include "formats/SolverStateFile.h"
#include "formats/WeightFile.h"
#include "formats/WindowFile.h"
#include "formats/hdf5/Hdf5.h"
#include "formats/image/ImageList.h"
#include "formats/image/MnistCifar.h"
#include "test/common/TestFiles.h"

#include <gtest/gtest.h>

using namespace brew;
using namespace brew::formats;
using namespace brew::test;

namespace {

Blob ones(std::vector<int64_t> dims) {
  Blob blob;
  blob.floats.assign(static_cast<size_t>(elementCount(dims, "test")), 1.0f);
  blob.dims = std::move(dims);
  return blob;
}

/// A folder with a file of every kind.
class ContentKinds : public testing::Test {
protected:
  ContentKinds() {
    Weights weights;
    weights.netName = "net";
    weights.layers.push_back(
        {"ip", "InnerProduct", {"x"}, {"ip"}, {ones({2, 3})}});
    writeWeights(folder / "s_iter_2.caffemodel", weights);
    writeWeights(folder / "s_iter_2.caffemodel.h5", weights,
                 SnapshotFormat::Hdf5);
    SolverSnapshot state;
    state.state.set_iter(2);
    state.state.set_learned_net("s_iter_2.caffemodel");
    state.history.push_back(ones({2, 3}));
    writeSolverState(folder / "s_iter_2.solverstate", state);
    writeSolverState(folder / "s_iter_2.solverstate.h5", state,
                     SnapshotFormat::Hdf5);
    Blob mean = ones({1, 3, 2, 2});
    mean.legacyShape = true;
    writeBinaryProto(folder / "mean.binaryproto", mean);
    Hdf5Writer data(folder / "data.h5");
    data.write("x", ones({4, 3}));
    data.commit();
    auto database = DbWriter::create(folder / "lmdb", DbBackend::Lmdb);
    database->put("key", "value");
    database->finish();
    auto leveldb = DbWriter::create(folder / "leveldb", DbBackend::LevelDb);
    leveldb->put("key", "value");
    leveldb->finish();
    writeBytes(folder / "net.prototxt", "# A net\nname: \"n\"\nlayer { }\n");
    writeBytes(folder / "solver.prototxt", "base_lr: 0.1 net: \"n\"\n");
    writeBytes(folder / "list.txt", "a.png 1\nb.png 2\n");
    writeBytes(folder / "webp.txt", "dataset/WEBP/a.ppm 0\n");
    writeBytes(folder / "avif.txt", "dataftypavif/a.png 0\n");
    writeBytes(folder / "a.webp", std::string("RIFF\x1a\0\0\0WEBPVP8L", 16));
    writeBytes(folder / "pointer",
               "version https://git-lfs.github.com/spec/v1\nsize 3\n");
    writeBytes(folder / "page", "<!DOCTYPE html>\n<html></html>\n");
    writeBytes(folder / "a.npy", std::string("\x93NUMPY\1\0v\0", 10));
    writeBytes(folder / "a.npz", std::string("PK\3\4\0\0", 6));
    writeBytes(folder / "a.png", "\x89PNG\r\n\x1a\n....");
    writeBytes(folder / "a.ppm", "P6\n# by hand\n2 1\n255\n\1\2\3\4\5\6");
    writeBytes(folder / "a.gz", "\x1f\x8b\x08....");
    writeBytes(folder / "idx3-ubyte", std::string("\0\0\x08\x03\0\0", 6));
    writeBytes(folder / "net.plan", std::string("BREWPLAN\2\0\0\0", 12));
  }

  void expectKind(const std::string &name, ContentKind kind) {
    EXPECT_EQ(contentKindOf(folder / name), kind) << name;
  }
  TempFolder folder;
};

} // namespace

TEST_F(ContentKinds, AreRecognized) {
  expectKind("s_iter_2.caffemodel", ContentKind::Weights);
  expectKind("s_iter_2.caffemodel.h5", ContentKind::Hdf5Weights);
  expectKind("s_iter_2.solverstate", ContentKind::SolverState);
  expectKind("s_iter_2.solverstate.h5", ContentKind::Hdf5SolverState);
  expectKind("mean.binaryproto", ContentKind::BinaryProto);
  expectKind("data.h5", ContentKind::Hdf5);
  expectKind("net.prototxt", ContentKind::NetText);
  expectKind("solver.prototxt", ContentKind::SolverText);
  expectKind("list.txt", ContentKind::Text);
  expectKind("webp.txt", ContentKind::Text);
  expectKind("avif.txt", ContentKind::Text);
  expectKind("a.webp", ContentKind::Image);
  expectKind("pointer", ContentKind::LfsPointer);
  expectKind("page", ContentKind::Html);
  expectKind("a.npy", ContentKind::Npy);
  expectKind("a.npz", ContentKind::Zip);
  expectKind("a.png", ContentKind::Image);
  expectKind("a.ppm", ContentKind::Image);
  expectKind("a.gz", ContentKind::Gzip);
  expectKind("idx3-ubyte", ContentKind::Idx);
  expectKind("net.plan", ContentKind::Plan);
  expectKind("lmdb", ContentKind::LmdbFolder);
  expectKind("lmdb/data.mdb", ContentKind::LmdbFile);
  expectKind("leveldb", ContentKind::LevelDbFolder);
  expectKind("", ContentKind::Folder);
  expectKind("absent", ContentKind::Unknown);
}

TEST_F(ContentKinds, DamagedFilesAreUnknown) {
  for (const char *name :
       {"s_iter_2.caffemodel", "s_iter_2.solverstate", "mean.binaryproto"}) {
    const std::string bytes = readBytes(folder / name);
    writeBytes(folder / "cut", bytes.substr(0, bytes.size() - 5));
    expectKind("cut", ContentKind::Unknown);
  }
  writeBytes(folder / "cut", "");
  expectKind("cut", ContentKind::Unknown);
}

// Lists of files without extensions resemble headers of PBM.
TEST_F(ContentKinds, ListsAreNotImages) {
  writeBytes(folder / "names", "P1 0\nP2 1\n");
  expectKind("names", ContentKind::Text);
  EXPECT_EQ(readImageList(folder / "names").size(), 2u);
}

TEST_F(ContentKinds, WeightsAndStatesNameEachOther) {
  expectError(ExitStatus::BadInput,
              "s_iter_2.caffemodel: holds weights, not a solver state; "
              "--weights takes this file, --snapshot takes " +
                  (folder / "s_iter_2.solverstate"),
              [&] { readSolverState(folder / "s_iter_2.caffemodel"); });
  expectError(ExitStatus::BadInput,
              "is an HDF5 file of weights, not a solver state; --weights "
              "takes this file, --snapshot takes " +
                  (folder / "s_iter_2.solverstate.h5"),
              [&] { readSolverState(folder / "s_iter_2.caffemodel.h5"); });
  expectError(ExitStatus::BadInput,
              "s_iter_2.solverstate: holds a solver state, not weights; "
              "--snapshot takes this file, --weights takes " +
                  (folder / "s_iter_2.caffemodel"),
              [&] { readWeights(folder / "s_iter_2.solverstate"); });
  expectError(ExitStatus::BadInput,
              "is an HDF5 file of a solver state, not weights; --snapshot",
              [&] { readWeights(folder / "s_iter_2.solverstate.h5"); });
  std::filesystem::remove(folder / "s_iter_2.caffemodel");
  expectError(ExitStatus::BadInput, "--weights takes a .caffemodel file",
              [&] { readWeights(folder / "s_iter_2.solverstate"); });
}

TEST_F(ContentKinds, WeightReaderNamesOtherFiles) {
  const std::pair<const char *, const char *> expected[] = {
      {"net.prototxt", "is the prototxt of a net, not weights; weights are in"},
      {"solver.prototxt", "is the prototxt of a solver, not weights"},
      {"list.txt", "is a text file, not weights"},
      {"mean.binaryproto", "is a .binaryproto file, not weights"},
      {"pointer", "is a pointer of Git LFS, not weights; `git lfs pull`"},
      {"page", "is a web page (HTML), not weights"},
      {"a.npz", "is a ZIP archive, as .npz and .pt files are, not weights"},
      {"a.gz", "is compressed by gzip, not weights; unpack it"},
      {"a.png", "is an image (PNG), not weights"},
      {"net.plan", "is a compiled plan, not weights"},
      {"lmdb", "is an LMDB database, not weights"}};
  for (const auto &[name, text] : expected)
    expectError(ExitStatus::BadInput, text,
                [&, file = folder / name] { readWeights(file); });
}

// A mean image has an integer as its first field, as a solver state.
TEST_F(ContentKinds, StateReaderNamesOtherFiles) {
  expectError(ExitStatus::BadInput,
              "is a .binaryproto file, not a solver state",
              [&] { readSolverState(folder / "mean.binaryproto"); });
  expectError(ExitStatus::BadInput,
              "is the prototxt of a net, not a solver state",
              [&] { readSolverState(folder / "net.prototxt"); });
}

TEST_F(ContentKinds, MeanReaderNamesOtherFiles) {
  expectError(ExitStatus::BadInput,
              "is an array of NumPy (.npy), not a .binaryproto file; "
              "brew-data mean and caffe.io.array_to_blobproto write",
              [&] { readBinaryProto(folder / "a.npy"); });
  expectError(ExitStatus::BadInput, "holds weights, not a .binaryproto file",
              [&] { readBinaryProto(folder / "s_iter_2.caffemodel"); });
  expectError(ExitStatus::BadInput, "is an HDF5 file, not a .binaryproto file",
              [&] { readBinaryProto(folder / "data.h5"); });
}

TEST_F(ContentKinds, ListReadersNameOtherFiles) {
  expectError(ExitStatus::BadInput,
              "data.h5: is an HDF5 file, not a list of HDF5 files; write the "
              "names of HDF5 files into a text file and name that file",
              [&] { readHdf5List(folder / "data.h5", {}); });
  expectError(ExitStatus::BadInput,
              "is an image (PPM), not a list of images; write a text file with "
              "lines of FILE LABEL",
              [&] { readImageList(folder / "a.ppm"); });
  expectError(ExitStatus::BadInput,
              "is an LMDB database, not a list of images; layers of type Data",
              [&] { readImageList(folder / "lmdb"); });
  expectError(ExitStatus::BadInput, "is an image (PNG), not a window file",
              [&] { readWindowFile(folder / "a.png"); });
  expectError(ExitStatus::BadInput, "is an HDF5 file, not a boost_file",
              [&] { readBoostList(folder / "data.h5"); });
}

TEST_F(ContentKinds, OtherReadersNameOtherFiles) {
  expectError(ExitStatus::BadInput,
              "is a text file, not a database; LMDB and LevelDB databases are "
              "folders",
              [&] { DbReader::open(folder / "list.txt", DbBackend::Lmdb); });
  expectError(
      ExitStatus::BadInput,
      "is the file of an LMDB database, not a database; name the "
      "folder that contains it",
      [&] { DbReader::open(folder / "lmdb/data.mdb", DbBackend::Lmdb); });
  expectError(ExitStatus::BadInput, "is a text file, not an HDF5 file",
              [&] { Hdf5Reader reader(folder / "list.txt"); });
  expectError(ExitStatus::BadInput, "is an image (PNG), not an array of NumPy",
              [&] { readNpy(folder / "a.png"); });
  expectError(ExitStatus::BadInput, "is an HDF5 file, not an IDX file", [&] {
    MnistReader reader(folder / "data.h5", folder / "data.h5");
  });
}
