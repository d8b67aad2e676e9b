//===- TrainingFixture.h - A folder with data for the test net --*- C++ -*-===//
#pragma once

#include "TestPlan.h"
#include "formats/hdf5/Hdf5.h"
#include "runtime/caffe_log/CaffeLog.h"
#include "runtime/train/Trainer.h"
#include "test/common/TestFiles.h"
#include "test/unit/runtime/log/LogLines.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

namespace brew::test {

/// Ten rows in an HDF5 file, so that batches of four begin at a different row
/// in each pass and a reader that restarts is noticed.
class TrainingFixture : public testing::Test {
protected:
  TrainingFixture() {
    for (int n = 0; n < 10; ++n) {
      for (int k = 0; k < 3; ++k)
        x.push_back(std::sin(float(3 * n + k)));
      target.push_back(std::cos(float(n)));
    }
    formats::Hdf5Writer writer(folder / "data.h5");
    writer.write("x", {10, 3}, x.data());
    writer.write("target", {10}, target.data());
    writer.commit();
    writeBytes(folder / "list.txt", folder / "data.h5");
  }

  std::string feed() const {
    return "name: 'data' type: 'HDF5Data' top: 'x' top: 'target' "
           "hdf5_data_param { source: '" +
           (folder / "list.txt") + "' batch_size: 4 }";
  }

  /// A solver of these fields, with the folder's prefix and a seed unless they
  /// say otherwise.
  std::string solver(const std::string &fields) const {
    auto result = parse<caffe::SolverParameter>(
        "snapshot_prefix: '" + (folder / "snap") + "' random_seed: 1");
    result.MergeFrom(parse<caffe::SolverParameter>(fields));
    return result.DebugString();
  }

  /// A fresh session with Caffe's log, of `manifest` as the folder's net.plan.
  runtime::Session &open(const plan::Manifest &manifest) {
    runtime::SessionOptions options;
    options.listener = runtime::CaffeLog();
    sessions.push_back(std::make_unique<runtime::Session>(
        loadPlan(manifest, folder / "net.plan"), options));
    return *sessions.back();
  }

  /// A trainer over a fresh session.
  std::unique_ptr<runtime::Trainer> make(const std::string &fields,
                                         const std::string &snapshot = "") {
    const plan::Manifest manifest = linearModel(feed(), solver(fields));
    runtime::TrainerOptions options;
    options.solver = runtime::solverOf(manifest);
    options.snapshot = snapshot;
    return std::make_unique<runtime::Trainer>(open(manifest), options);
  }

  /// Rows of batch `index` in reading order.
  void batch(int index, std::vector<float> &bx, std::vector<float> &bt) const {
    bx.clear();
    bt.clear();
    for (int i = 0; i < 4; ++i) {
      const int row = (index * 4 + i) % 10;
      bx.insert(bx.end(), x.begin() + row * 3, x.begin() + row * 3 + 3);
      bt.push_back(target[row]);
    }
  }

  static std::vector<float> weights(runtime::Trainer &trainer) {
    const formats::Weights saved = trainer.parameters().save();
    std::vector<float> values = saved.layers[0].blobs[0].floats;
    values.push_back(saved.layers[0].blobs[1].floats[0]);
    return values;
  }

  TempFolder folder;
  std::vector<float> x, target;
  std::vector<std::unique_ptr<runtime::Session>> sessions;
};

} // namespace brew::test
