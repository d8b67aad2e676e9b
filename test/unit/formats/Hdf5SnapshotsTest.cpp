//===- Hdf5SnapshotsTest.cpp - Tests of weights and states in HDF5 --------===//
#include "formats/hdf5/Hdf5Snapshots.h"
#include "formats/hdf5/Hdf5.h"
#include "test/common/TestFiles.h"

#include <csignal>
#include <sys/resource.h>

/// libhdf5 does not free some of its free lists after an error in a damaged
/// file.
extern "C" const char *__lsan_default_suppressions() {
  return "leak:H5FL__malloc\n";
}

using namespace brew;
using namespace brew::formats;
using namespace brew::test;

namespace {

/// Returns a blob with the values first, first + 1, ...
Blob blobOf(std::vector<int64_t> dims, float first) {
  Blob blob;
  blob.dims = std::move(dims);
  blob.floats.resize(static_cast<size_t>(elementCount(blob.dims, "test")));
  for (float &value : blob.floats)
    value = first++;
  return blob;
}

/// Returns weights with a slash in a layer's name, a blob of doubles, and a
/// blob that two layers share.
Weights exampleWeights() {
  Weights weights;
  weights.netName = "Net";
  weights.layers.push_back({"data", "Data", {}, {"data"}, {}});
  weights.layers.push_back({"inception/5x5",
                            "Convolution",
                            {},
                            {},
                            {blobOf({2, 1, 3, 3}, 0), blobOf({2}, 7)}});
  Blob doubles;
  doubles.dims = {2};
  doubles.doubles = {1.0 / 3, 2};
  weights.layers.push_back(
      {"ip", "InnerProduct", {}, {}, {blobOf({2}, 1), doubles}});
  weights.layers.push_back(
      {"pair", "InnerProduct", {}, {}, {blobOf({2}, 1), blobOf({2}, 5)}});
  weights.layers.back().shared = {0};
  return weights;
}

SolverSnapshot exampleState() {
  SolverSnapshot snapshot;
  snapshot.state.set_iter(12);
  snapshot.state.set_current_step(3);
  snapshot.state.set_learned_net("snap_iter_12.caffemodel.h5");
  snapshot.state.set_brew_rng_seed(77);
  snapshot.state.add_brew_reader()->set_layer("data");
  for (int i = 0; i < 12; ++i) // "10" sorts before "2"
    snapshot.history.push_back(blobOf({i + 1}, float(i)));
  return snapshot;
}

TEST(Hdf5Snapshots, WeightsHaveCaffesLayout) {
  TempFolder folder;
  Weights weights = exampleWeights();
  for (WeightLayer &layer : weights.layers)
    layer.diffs = layer.blobs;
  writeWeights(folder / "w.h5", weights, SnapshotFormat::Hdf5);
  Hdf5Reader file(folder / "w.h5");
  // Shared values are written once, but gradients under every layer. A layer
  // without parameters is an empty group.
  EXPECT_EQ(file.datasets(),
            (std::vector<std::string>{
                "/data/inception/5x5/0", "/data/inception/5x5/1", "/data/ip/0",
                "/data/ip/1", "/data/pair/1", "/diff/inception/5x5/0",
                "/diff/inception/5x5/1", "/diff/ip/0", "/diff/ip/1",
                "/diff/pair/0", "/diff/pair/1"}));
  EXPECT_TRUE(file.hasGroup("/data/data"));
  EXPECT_EQ(file.dims("/data/inception/5x5/0"),
            (std::vector<int64_t>{2, 1, 3, 3}));
  EXPECT_TRUE(file.isDouble("/data/ip/1"));
}

TEST(Hdf5Snapshots, WeightsRoundTrip) {
  TempFolder folder;
  writeWeights(folder / "w", exampleWeights(), SnapshotFormat::Hdf5);
  const Weights read = readWeights(folder / "w"); // any file name works
  EXPECT_TRUE(read.hdf5);
  ASSERT_EQ(read.layers.size(), 3u); // only layers with blobs
  const WeightLayer &conv = read.layers[0], &ip = read.layers[1],
                    &pair = read.layers[2];
  EXPECT_EQ(conv.name, "inception/5x5");
  EXPECT_EQ(conv.blobs[0].floats, blobOf({2, 1, 3, 3}, 0).floats);
  EXPECT_EQ(ip.blobs[1].doubles, (std::vector<double>{1.0 / 3, 2}));
  EXPECT_EQ(pair.shared, std::set<size_t>{0});
  ASSERT_EQ(pair.blobs.size(), 2u);
  EXPECT_EQ(pair.blobs[1].floats, blobOf({2}, 5).floats);
}

TEST(Hdf5Snapshots, StateRoundTrip) {
  TempFolder folder;
  writeSolverState(folder / "s", exampleState(), SnapshotFormat::Hdf5);
  {
    // As Caffe expects: two integers of shape {1}, and a scalar string.
    Hdf5Reader file(folder / "s");
    EXPECT_EQ(file.dims("iter"), std::vector<int64_t>{1});
    EXPECT_EQ(file.dims("current_step"), std::vector<int64_t>{1});
    EXPECT_EQ(file.dims("learned_net"), std::vector<int64_t>{});
  }
  const SolverSnapshot read = readSolverState(folder / "s");
  EXPECT_EQ(read.state.SerializeAsString(),
            exampleState().state.SerializeAsString());
  ASSERT_EQ(read.history.size(), 12u);
  for (size_t i = 0; i < 12; ++i)
    EXPECT_EQ(read.history[i].floats, exampleState().history[i].floats);
}

TEST(Hdf5Snapshots, StateOfTheLearningRateRoundTrips) {
  TempFolder folder;
  SolverSnapshot snapshot = exampleState();
  snapshot.state.set_minimum_loss(0.1f);
  snapshot.state.set_iter_last_event(9);
  for (SnapshotFormat format :
       {SnapshotFormat::Hdf5, SnapshotFormat::BinaryProto}) {
    writeSolverState(folder / "s", snapshot, format);
    EXPECT_EQ(readSolverState(folder / "s").state.SerializeAsString(),
              snapshot.state.SerializeAsString());
  }
  writeSolverState(folder / "s", snapshot, SnapshotFormat::Hdf5);
  Hdf5Reader file(folder / "s");
  EXPECT_EQ(file.dims("minimum_loss"), std::vector<int64_t>{1});
  EXPECT_EQ(file.dims("iter_last_event"), std::vector<int64_t>{1});
}

/// SSD's states have the fields of learning rates, but none of Brew's, and so
/// no checksum.
TEST(Hdf5Snapshots, SsdsStateIsRead) {
  TempFolder folder;
  caffe::SolverState state;
  state.set_iter(4);
  state.set_current_step(1);
  state.set_minimum_loss(0.5f);
  state.set_iter_last_event(3);
  writeSolverState(folder / "binary", {state, {}}, SnapshotFormat::BinaryProto);
  Hdf5Writer file(folder / "hdf5");
  file.writeInt("iter", 4);
  file.writeInt("current_step", 1);
  const float minimum = 0.5f;
  file.write("minimum_loss", {1}, &minimum);
  file.writeInt("iter_last_event", 3);
  file.write("/history/0", blobOf({2, 2}, 1));
  file.commit();
  for (const char *name : {"binary", "hdf5"})
    EXPECT_EQ(readSolverState(folder / name).state.SerializeAsString(),
              state.SerializeAsString());
}

/// The checksum covers the state of the learning rate.
TEST(Hdf5Snapshots, ChangedMinimumLossIsAnError) {
  SolverSnapshot snapshot = exampleState();
  const float minimum = 1234.5f, other = 1234.75f;
  snapshot.state.set_minimum_loss(minimum);
  TempFolder folder;
  writeSolverState(folder / "s", snapshot, SnapshotFormat::BinaryProto);
  std::string bytes = readBytes(folder / "s");
  const std::size_t at =
      bytes.find(std::string(reinterpret_cast<const char *>(&minimum), 4));
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 4, std::string(reinterpret_cast<const char *>(&other), 4));
  writeBytes(folder / "s", bytes);
  expectError(ExitStatus::BadInput, "its checksum is wrong",
              [&] { readSolverState(folder / "s"); });
}

/// The file is like Caffe's: without Brew's fields, and without the name of a
/// weight file.
TEST(Hdf5Snapshots, CaffesStateIsRead) {
  TempFolder folder;
  Hdf5Writer file(folder / "s");
  file.writeInt("iter", 4);
  file.writeInt("current_step", 1);
  file.write("/history/0", blobOf({2, 2}, 1));
  file.commit();
  const SolverSnapshot read = readSolverState(folder / "s");
  EXPECT_EQ(read.state.iter(), 4);
  EXPECT_FALSE(read.state.has_learned_net());
  EXPECT_FALSE(read.state.has_brew_rng_seed());
  EXPECT_EQ(read.history.size(), 1u);
}

TEST(Hdf5Snapshots, ErrorsNameMissingAndUnexpectedObjects) {
  TempFolder folder;
  auto refuses = [&](const std::string &part,
                     const std::function<void(Hdf5Writer &)> &fill,
                     bool state) {
    Hdf5Writer file(folder / "f");
    fill(file);
    file.commit();
    expectError(ExitStatus::BadInput, part, [&] {
      if (state)
        readSolverState(folder / "f");
      else
        readWeights(folder / "f");
    });
  };
  refuses(
      "no layers", [](Hdf5Writer &f) { f.makeGroup("data"); }, false);
  refuses(
      "'/data/ip/weight' is not the blob of a layer",
      [](Hdf5Writer &f) { f.writeInt("data/ip/weight", 1); }, false);
  refuses(
      "'/data/0' is not the blob of a layer",
      [](Hdf5Writer &f) { f.writeInt("data/0", 1); }, false);
  refuses(
      "is not the blob of a layer",
      [](Hdf5Writer &f) { f.writeInt("data/ip/999", 1); }, false);
  refuses(
      "no iteration", [](Hdf5Writer &f) { f.writeInt("current_step", 1); },
      true);
  refuses(
      "no dataset 'current_step'", [](Hdf5Writer &f) { f.writeInt("iter", 1); },
      true);
  refuses(
      "negative iteration",
      [](Hdf5Writer &f) {
        f.writeInt("iter", -1);
        f.writeInt("current_step", 0);
      },
      true);
  refuses(
      "history 1 is missing",
      [](Hdf5Writer &f) {
        f.writeInt("iter", 1);
        f.writeInt("current_step", 0);
        f.writeInt("history/0", 0);
        f.writeInt("history/2", 0);
      },
      true);
  refuses(
      "not a string of fixed length",
      [](Hdf5Writer &f) {
        f.writeInt("iter", 1);
        f.writeInt("current_step", 0);
        f.writeInt("learned_net", 0);
      },
      true);
}

TEST(Hdf5Snapshots, DamagedFilesAreRefusedOrRead) {
  TempFolder folder;
  writeWeights(folder / "w", exampleWeights(), SnapshotFormat::Hdf5);
  writeSolverState(folder / "s", exampleState(), SnapshotFormat::Hdf5);
  const std::string weights = readBytes(folder / "w");
  const std::string state = readBytes(folder / "s");
  // Truncates and changes the file. Returns the fraction of the changed files
  // that were refused.
  auto fractionRefused = [&](const std::string &bytes, const std::string &path,
                             const std::function<void()> &read) {
    size_t refused = 0, tried = 0;
    for (size_t cut = 0; cut < bytes.size(); cut += 97) {
      writeBytes(path, bytes.substr(0, cut));
      EXPECT_TRUE(refusedAsBadInput(read)) << "cut at " << cut;
    }
    for (size_t at = 0; at < bytes.size(); at += 31, ++tried) {
      std::string flipped = bytes;
      flipped[at] ^= static_cast<char>(1 << at % 8);
      writeBytes(path, flipped);
      refused += refusedAsBadInput(read);
    }
    return double(refused) / double(tried);
  };
  const double ofWeights = fractionRefused(weights, folder / "w",
                                           [&] { readWeights(folder / "w"); });
  EXPECT_GT(ofWeights, 0);
  EXPECT_LT(ofWeights, 1); // changed weights are not detected
  EXPECT_EQ(fractionRefused(state, folder / "s",
                            [&] { readSolverState(folder / "s"); }),
            1);
}

/// Reads a state with each of its bits flipped, one at a time. Returns how many
/// of these damaged files were read with different content.
size_t misreadBits(const std::string &path) {
  auto contentOf = [](const SolverSnapshot &snapshot) {
    std::string content = snapshot.state.SerializeAsString();
    for (const Blob &blob : snapshot.history) {
      content += "\n" + dimsText(blob.dims) + "\n";
      content.append(reinterpret_cast<const char *>(blob.floats.data()),
                     blob.floats.size() * sizeof(float));
    }
    return content;
  };
  const std::string bytes = readBytes(path);
  const std::string expected = contentOf(readSolverState(path));
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  size_t misread = 0;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const off_t at = static_cast<off_t>(bit / 8);
    const char flipped = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    EXPECT_EQ(pwrite(fd, &flipped, 1, at), 1);
    std::string content;
    if (!refusedAsBadInput([&] { content = contentOf(readSolverState(path)); }))
      misread += content != expected;
    EXPECT_EQ(pwrite(fd, &bytes[bit / 8], 1, at), 1);
  }
  close(fd);
  EXPECT_EQ(contentOf(readSolverState(path)), expected);
  return misread;
}

// Flips bits of values, of the name that distinguishes Brew's states from
// Caffe's, and of the checksum itself, among others.
TEST(Hdf5Snapshots, FlippedBitsAreDetected) {
  TempFolder folder;
  SolverSnapshot snapshot = exampleState();
  snapshot.history.resize(3);
  setNamedValues(snapshot.state, "/weights", {100, 12345});
  for (auto format : {SnapshotFormat::Hdf5, SnapshotFormat::BinaryProto}) {
    writeSolverState(folder / "s", snapshot, format);
    EXPECT_EQ(misreadBits(folder / "s"), 0u)
        << (format == SnapshotFormat::Hdf5 ? "HDF5" : "binary");
  }
}

// The HDF5 states of earlier versions have a checksum among their objects, but
// no line with the checksum of the file at the end.
TEST(Hdf5Snapshots, StateWithoutChecksumLineIsRead) {
  TempFolder folder;
  writeSolverState(folder / "s", exampleState(), SnapshotFormat::Hdf5);
  std::string bytes = readBytes(folder / "s");
  const size_t line = bytes.rfind("\nbrew-crc32 ");
  ASSERT_NE(line, std::string::npos);
  bytes.resize(line);
  writeBytes(folder / "s", bytes);
  EXPECT_EQ(readSolverState(folder / "s").state.SerializeAsString(),
            exampleState().state.SerializeAsString());

  // Flips one bit of the inner checksum's name, or of a value.
  auto refuses = [&](const std::string &sought, size_t offset,
                     const std::string &part) {
    const size_t at = bytes.find(sought);
    ASSERT_NE(at, std::string::npos) << sought;
    std::string damaged = bytes;
    damaged[at + offset] ^= 1;
    writeBytes(folder / "s", damaged);
    expectError(ExitStatus::BadInput, part,
                [&] { readSolverState(folder / "s"); });
  };
  refuses("/checksum", 3, "Brew's fields are there, but not the checksum");
  const float values[] = {11, 12, 13};
  refuses(std::string(reinterpret_cast<const char *>(values), sizeof values), 1,
          "its checksum is wrong");
}

// An object that cannot be opened does not count as absent.
TEST(Hdf5Snapshots, DamagedObjectsDoNotCountAsMissing) {
  TempFolder folder;
  const std::string path = folder / "w";
  {
    Hdf5Writer file(path);
    file.write("/data/ip/0", blobOf({2}, 1));
    file.write("/data/ip/1", blobOf({2}, 5));
    file.commit();
  }
  const std::string bytes = readBytes(path);
  // Object headers begin with their version, 1, and lie at multiples of 8.
  size_t refused = 0;
  for (size_t at = 0; at + 8 < bytes.size(); at += 8) {
    if (bytes.compare(at, 2, std::string("\1\0", 2)) != 0)
      continue;
    std::string damaged = bytes;
    damaged[at] ^= 2;
    writeBytes(path, damaged);
    if (refusedAsBadInput([&] {
          const Weights weights = readWeights(path);
          EXPECT_EQ(weights.layers.size(), 1u) << at;
          EXPECT_EQ(weights.layers[0].shared.size(), 0u) << at;
        }))
      ++refused;
    if (!refusedAsBadInput([&] { Hdf5Reader(path).has("/data/ip/0"); }))
      EXPECT_TRUE(Hdf5Reader(path).has("/data/ip/0")) << at;
  }
  EXPECT_GE(refused, 2u); // at least the headers of the two datasets
}

// A limit of the file size simulates a full disk: the write fails in the
// middle.
TEST(Hdf5Snapshots, FullDiskKeepsThePreviousFile) {
  TempFolder folder;
  writeWeights(folder / "w", exampleWeights(), SnapshotFormat::Hdf5);
  const std::string before = readBytes(folder / "w");
  Weights large = exampleWeights();
  large.layers[1].blobs[0] = blobOf({1 << 16}, 0);

  std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit, small;
  getrlimit(RLIMIT_FSIZE, &limit);
  for (rlim_t bytes : {rlim_t(16), rlim_t(4096), rlim_t(100000)}) {
    small = limit;
    small.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &small);
    expectError(ExitStatus::Unavailable, folder / "w", [&] {
      writeWeights(folder / "w", large, SnapshotFormat::Hdf5);
    });
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  EXPECT_EQ(folder.entries(), 1u); // no partly written file
  EXPECT_EQ(readBytes(folder / "w"), before);
  writeWeights(folder / "w", large, SnapshotFormat::Hdf5);
  EXPECT_EQ(readWeights(folder / "w").layers[0].blobs[0].size(), 1u << 16);
}

} // namespace
