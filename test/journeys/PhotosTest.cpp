//===- PhotosTest.cpp - From folders of photos to labelled photos ---------===//
#include "formats/image/ImageEncode.h"
#include "test/common/TestFiles.h"

#include <cmath>
#include <cstdio>
#include <random>
#include <sys/wait.h>

using namespace brew;
using namespace brew::test;

namespace {

/// Returns a JPEG photo of a bright disc (class 0) or square (class 1) on a
/// noisy ground.
std::string photo(int label, std::mt19937 &random, int height, int width) {
  formats::Image image;
  image.channels = 3;
  image.height = height;
  image.width = width;
  const auto below = [&](int limit) {
    return static_cast<int>(random() % static_cast<unsigned>(limit));
  };
  const int colour[] = {160 + below(90), 160 + below(90), 160 + below(90)};
  const int centreY = height / 2 + below(5) - 2,
            centreX = width / 2 + below(5) - 2, radius = 12 + below(6);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const int dy = std::abs(y - centreY), dx = std::abs(x - centreX);
      // The ring of class 0 is hollow, so that the classes differ clearly.
      const bool isInside = label == 0
                                ? dy * dy + dx * dx < radius * radius &&
                                      dy * dy + dx * dx > radius * radius / 2
                                : dy < radius && dx < radius;
      for (int c : colour)
        image.pixels.push_back(
            static_cast<std::uint8_t>(isInside ? c : below(60)));
    }
  return formats::encodeImage(image, formats::ImageFormat::Jpeg);
}

const char *const kNet = R"(
name: "photos"
layer { name: "data" type: "Data" top: "data" top: "label" include { phase: TRAIN }
  transform_param { mean_file: "set/mean.binaryproto" scale: 0.0078125 crop_size: 28 mirror: true }
  data_param { source: "set/train_lmdb" backend: LMDB batch_size: 16 } }
layer { name: "data" type: "Data" top: "data" top: "label" include { phase: TEST }
  transform_param { mean_file: "set/mean.binaryproto" scale: 0.0078125 crop_size: 28 }
  data_param { source: "set/test_lmdb" backend: LMDB batch_size: 6 } }
layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1"
  convolution_param { num_output: 8 kernel_size: 5 stride: 2 weight_filler { type: "xavier" } } }
layer { name: "relu1" type: "ReLU" bottom: "conv1" top: "conv1" }
layer { name: "pool1" type: "Pooling" bottom: "conv1" top: "pool1"
  pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layer { name: "ip" type: "InnerProduct" bottom: "pool1" top: "ip"
  inner_product_param { num_output: 2 weight_filler { type: "xavier" } } }
layer { name: "accuracy" type: "Accuracy" bottom: "ip" bottom: "label" top: "accuracy"
  include { phase: TEST } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
)";

const char *const kSolver = R"(
net: "net.prototxt" test_iter: 1 test_interval: 100 base_lr: 0.05 momentum: 0.9
lr_policy: "fixed" max_iter: 100 snapshot_prefix: "trained" random_seed: 1
)";

struct Photos : testing::Test {
  Photos() {
    std::mt19937 random(7);
    const char *const classes[] = {"disc", "square"};
    for (int label = 0; label < 2; ++label) {
      std::filesystem::create_directories(folder / "photos/" + classes[label]);
      for (int i = 0; i < 30; ++i) // of several sizes, wide and high
        writeBytes(folder / "photos/" + classes[label] + "/" +
                       std::to_string(i) + ".jpg",
                   photo(label, random, 40 + i, 60 - i / 2));
    }
    writeBytes(folder / "net.prototxt", kNet);
    writeBytes(folder / "solver.prototxt", kSolver);
    writeBytes(folder / "new0.jpg", photo(0, random, 50, 50));
    writeBytes(folder / "new1.jpg", photo(1, random, 44, 48));
  }

  /// Runs a command in the folder. Returns its output.
  std::string run(const std::string &program, const std::string &arguments) {
    const std::string command = "cd '" + folder.path() + "' && '" + program +
                                "' " + arguments + " 2>&1";
    FILE *pipe = popen(command.c_str(), "r");
    std::string output;
    char buffer[512];
    while (size_t n = fread(buffer, 1, sizeof buffer, pipe))
      output.append(buffer, n);
    const int status = pclose(pipe);
    EXPECT_EQ(WEXITSTATUS(status), 0) << command << "\n" << output;
    return output;
  }

  TempFolder folder;
};

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// Returns the first line that contains `part`, and the line after it.
std::string linesAt(const std::string &text, const std::string &part) {
  const size_t at = text.find(part);
  return at == text.npos
             ? ""
             : text.substr(at, text.find('\n', text.find('\n', at) + 1) - at);
}

} // namespace

TEST_F(Photos, AFolderOfPhotosBecomesALabelledPhotoInFiveCommands) {
  run(BREW_DATA_TOOL, "images photos set --resize 32 --crop 32");
  run(BREWC, "solver.prototxt -o photos.plan");
  const std::string log = run(BREW_RUN, "train photos.plan");
  EXPECT_TRUE(contains(log, "accuracy = 1")) << log;
  run(BREWC, "net.prototxt --deploy --weights trained_iter_100.caffemodel "
             "-o deploy.plan");
  const std::string result =
      run(BREW_RUN, "infer deploy.plan new0.jpg new1.jpg");
  EXPECT_TRUE(contains(linesAt(result, "new0.jpg"), "\"disc\"")) << result;
  EXPECT_TRUE(contains(linesAt(result, "new1.jpg"), "\"square\"")) << result;
  EXPECT_FALSE(contains(result, "raw values")) << result;
}

TEST_F(Photos, AFolderIsReadWithoutADatabase) {
  writeBytes(folder / "images.prototxt", R"(
layer { name: "data" type: "ImageData" top: "data" top: "label"
  transform_param { mean_value: 60 scale: 0.0078125 }
  image_data_param { source: "photos" batch_size: 20 new_height: 28 new_width: 28 shuffle: true } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip"
  inner_product_param { num_output: 2 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
)");
  run(BREWC, "images.prototxt -o images.plan");
  EXPECT_TRUE(
      contains(run(BREW_RUN, "train images.plan --max-iter 50 --random-seed 1"),
               "A total of 60 images."));
  run(BREWC, "images.prototxt --deploy --weights images_iter_50.caffemodel "
             "-o deploy.plan");
  const std::string result =
      run(BREW_RUN, "infer deploy.plan new0.jpg new1.jpg");
  EXPECT_TRUE(contains(linesAt(result, "new0.jpg"), "\"disc\"")) << result;
  EXPECT_TRUE(contains(linesAt(result, "new1.jpg"), "\"square\"")) << result;
}
