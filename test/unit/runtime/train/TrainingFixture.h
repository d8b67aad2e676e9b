//===- TrainingFixture.h - A folder with data for the test net --*- C++ -*-===//
#pragma once

#include "TestPlan.h"
#include "runtime/caffe_log/CaffeLog.h"
#include "runtime/train/Trainer.h"
#include "test/common/LinearModelData.h"
#include "test/common/TestFiles.h"
#include "test/unit/runtime/log/LogLines.h"

#include <gtest/gtest.h>

#include <memory>

namespace brew::test {

/// A folder with ten rows in an HDF5 file. Batches of four start at a different
/// row in each pass, which makes a restarted reader visible.
class TrainingFixture : public testing::Test {
protected:
  TrainingFixture() { writeBytes(folder / "list.txt", folder / "data.h5"); }

  /// Returns the data layer that reads the file.
  std::string feed() const {
    return "name: 'data' type: 'HDF5Data' top: 'x' top: 'target' "
           "hdf5_data_param { source: '" +
           (folder / "list.txt") + "' batch_size: 4 }";
  }

  /// Returns a solver with these fields, and with a snapshot prefix in the
  /// folder and a seed unless they are set.
  std::string solver(const std::string &fields) const {
    auto result = parse<caffe::SolverParameter>(
        "snapshot_prefix: '" + (folder / "snap") + "' random_seed: 1");
    result.MergeFrom(parse<caffe::SolverParameter>(fields));
    return result.DebugString();
  }

  /// Opens a new session of `manifest`, as net.plan in the folder, with Caffe's
  /// log.
  runtime::Session &open(const plan::Manifest &manifest) {
    runtime::SessionOptions options;
    options.listener = runtime::CaffeLog();
    sessions.push_back(std::make_unique<runtime::Session>(
        loadPlan(manifest, folder / "net.plan"), options));
    return *sessions.back();
  }

  /// Creates a trainer over a new session.
  std::unique_ptr<runtime::Trainer> make(const std::string &fields,
                                         const std::string &snapshot = "") {
    const plan::Manifest manifest = linearModel(feed(), solver(fields));
    runtime::TrainerOptions options;
    options.solver = runtime::solverOf(manifest);
    options.snapshot = snapshot;
    return std::make_unique<runtime::Trainer>(open(manifest), options);
  }

  /// Stores the rows of batch `index`, in reading order, in `bx` and `bt`.
  void batch(int index, std::vector<float> &bx, std::vector<float> &bt) const {
    bx.clear();
    bt.clear();
    for (int i = 0; i < 4; ++i) {
      const int row = (index * 4 + i) % 10;
      bx.insert(bx.end(), x.begin() + row * 3, x.begin() + row * 3 + 3);
      bt.push_back(target[row]);
    }
  }

  /// Returns the weights, followed by the bias.
  static std::vector<float> weights(runtime::Trainer &trainer) {
    const formats::Weights saved = trainer.parameters().save();
    std::vector<float> values = saved.layers[0].blobs[0].floats;
    values.push_back(saved.layers[0].blobs[1].floats[0]);
    return values;
  }

  TempFolder folder;
  LinearModelData data{folder};
  const std::vector<float> &x = data.x, &target = data.target;
  std::vector<std::unique_ptr<runtime::Session>> sessions;
};

} // namespace brew::test
