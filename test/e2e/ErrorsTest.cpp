//===- ErrorsTest.cpp - Exit statuses and error messages ------------------===//
#include "RunFixture.h"

#include "formats/WeightFile.h"
#include "plan/PlanFormat.h"
#include "plan/PlanWriter.h"

#include <cstring>

using namespace brew;

namespace {

class Errors : public test::RunFixture {
protected:
  /// Runs brew-run. Expects this exit status and a single error message, which
  /// contains `message`.
  void expectFailure(const std::vector<std::string> &arguments, int status,
                     const std::string &message) {
    const auto done = run(arguments);
    EXPECT_EQ(done.status, status) << done.err;
    EXPECT_EQ(count(done.err, "brew-run: error: "), 1) << done.err;
    EXPECT_TRUE(contains(done.err, message)) << done.err;
  }
};

} // namespace

TEST_F(Errors, UsageErrorsEndWithStatus2) {
  writeTrainingPlan();
  expectFailure({}, 2, "ubcommand is required");
  expectFailure({"trian", "net.plan"}, 2, "did you mean 'train'");
  expectFailure({"train"}, 2, "name a plan");
  expectFailure({"train", "net.plan", "--no-such"}, 2, "--no-such");
  expectFailure({"train", "net.plan", "--max-iter", "many"}, 2,
                "max_iter takes a whole number");
  expectFailure({"train", "net.plan", "--sigint-effect", "explode"}, 2,
                "explode");
  expectFailure({"train", "net.plan", "--weights", "a", "--snapshot", "b"}, 2,
                "not both");
  expectFailure({"train", "net.plan", "-gpu", "0"}, 2, "for the CPU");
  expectFailure({"train", "net.plan", "-stage", "x"}, 2, "brewc");
  expectFailure({"test", "net.plan", "-level", "2"}, 2, "brewc");
  expectFailure({"test", "net.plan", "-iterations", "0"}, 2,
                "--iterations: 0 is less than 1");
  expectFailure({"time", "net.plan", "-iterations", "x"}, 2, "--iterations");
  expectFailure({"test", "net.plan"}, 2, "--weights");
  expectFailure({"time", "net.plan", "--program", "deploy"}, 2,
                "forward_backward, update, test_0");
}

TEST_F(Errors, InvalidPlansAreRefused) {
  writeTrainingPlan();
  expectFailure({"train", "gone.plan"}, 3, "gone.plan");
  test::writeBytes(folder / "net.prototxt", "name: 'x'");
  expectFailure({"train", "net.prototxt"}, 1, "brewc");
  test::writeBytes(folder / "noise.plan", "this is no plan");
  expectFailure({"inspect", "noise.plan"}, 1, "noise.plan");
  std::string bytes = test::readBytes(folder / "net.plan");
  test::writeBytes(folder / "short.plan", bytes.substr(0, bytes.size() / 2));
  expectFailure({"train", "short.plan"}, 1, "short.plan");
  std::string flipped = bytes;
  flipped[bytes.size() / 2] = char(flipped[bytes.size() / 2] ^ 4);
  test::writeBytes(folder / "flipped.plan", flipped);
  expectFailure({"train", "flipped.plan"}, 1, "flipped.plan");
  const std::uint32_t newer = plan::kFormatVersion + 1;
  std::memcpy(&bytes[offsetof(plan::Header, formatVersion)], &newer,
              sizeof newer);
  plan::updateChecksum(bytes);
  test::writeBytes(folder / "newer.plan", bytes);
  expectFailure({"train", "newer.plan"}, 1, std::to_string(newer));
}

TEST_F(Errors, PlanForAnotherProcessorIsRefused) {
  plan::Manifest manifest = test::linearModel(
      hdf5DataLayer(), "base_lr: 0.1 lr_policy: 'fixed' max_iter: 1");
  manifest.mutable_target()->add_cpu_features("no-such-feature");
  test::writeBytes(folder / "net.plan", test::planBytes(manifest));
  expectFailure({"train", "net.plan"}, 3, "no-such-feature");
}

TEST_F(Errors, MissingOrUnsuitableWeightsAreErrors) {
  writeTrainingPlan();
  expectFailure({"train", "net.plan", "--weights", "gone.caffemodel"}, 3,
                "gone.caffemodel");
  expectFailure({"train", "net.plan", "--snapshot", "gone.solverstate"}, 3,
                "gone.solverstate");
  formats::Weights weights;
  formats::Blob blob;
  blob.dims = {2, 2};
  blob.floats = {1, 2, 3, 4};
  weights.layers.push_back({"other", "", {}, {}, {blob}});
  formats::writeWeights(folder / "other.caffemodel", weights);
  expectFailure({"train", "net.plan", "--weights", "other.caffemodel"}, 1,
                "another net");
  weights.layers[0].name = "ip";
  formats::writeWeights(folder / "shapes.caffemodel", weights);
  expectFailure({"train", "net.plan", "--weights", "shapes.caffemodel"}, 1,
                "'ip' has 1 blobs there and 2");
  const std::string bytes = test::readBytes(folder / "shapes.caffemodel");
  test::writeBytes(folder / "cut.caffemodel",
                   bytes.substr(0, bytes.size() - 5));
  expectFailure({"train", "net.plan", "--weights", "cut.caffemodel"}, 1,
                "cut.caffemodel");
}

TEST_F(Errors, MissingSourcesAreErrors) {
  writeTrainingPlan();
  std::filesystem::remove(folder / "data.h5");
  expectFailure({"train", "net.plan"}, 3, "data.h5");
  std::filesystem::remove(folder / "list.txt");
  expectFailure({"train", "net.plan"}, 3, "list.txt");
  writePlan("name: 'mnist' type: 'Data' top: 'x' top: 'target' "
            "data_param { source: 'mnist_lmdb' backend: LMDB }",
            "base_lr: 0.1 lr_policy: 'fixed' max_iter: 1");
  expectFailure({"train", "net.plan"}, 1, "'mnist'");
}

TEST_F(Errors, InvalidSolverFlagsAreErrors) {
  writePlan(hdf5DataLayer(),
            "base_lr: 0.1 lr_policy: 'fixed' max_iter: 1 type: 'AdaGrad'");
  expectFailure({"train", "net.plan", "--momentum", "0.9"}, 1,
                "momentum cannot be used with AdaGrad");
  writeTrainingPlan();
  expectFailure({"train", "net.plan", "--lr-policy", "stepp"}, 1,
                "did you mean 'step'");
}

// A limit on file sizes simulates a full disk. The log goes to /dev/null,
// because it would reach the limit first.
TEST_F(Errors, FullDiskLeavesNoSnapshot) {
  writeTrainingPlan();
  const pid_t child = start({"train", "net.plan"}, /*fileSize=*/16);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3);
  for (const auto &entry : std::filesystem::directory_iterator(folder.path()))
    EXPECT_FALSE(contains(entry.path().filename().string(), "snap"))
        << entry.path();
}
