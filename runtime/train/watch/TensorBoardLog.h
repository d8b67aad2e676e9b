//===- TensorBoardLog.h - Training log for TensorBoard ----------*- C++ -*-===//
//
// Writes event files (formats/tensorboard.proto) as records of TfRecordFile.h:
//
//   train/loss, train/lr, train/images_per_second, train/output/BLOB,
//   test/BLOB, test1/BLOB ...               scalars, as in metrics.jsonl
//   weights/LAYER/I, gradients/LAYER/I      histograms, at tests
//   filters/LAYER                           the first convolution's, at tests
//   and the net's graph.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/session/Session.h"
#include "runtime/train/watch/LogRows.h"
#include "runtime/train/watch/TfRecordFile.h"

#include <string>
#include <vector>

namespace brew::runtime {

/// An event file of one run.
class TensorBoardLog {
public:
  /// Creates a new event file in `folder`, which replaces the events of other
  /// files there from `iteration` on, and writes the graph of the training
  /// program of `session`, which must outlive the log. Throws Error (3) if the
  /// file cannot be created.
  TensorBoardLog(const std::string &folder, Session &session, int iteration);

  // Each throws Error (3) if the file cannot be written.
  void add(const TrainRow &row);
  void add(const TestRow &row);
  void add(const EpisodeRow &row);
  /// Logs current histograms and filters; gradients only if an iteration has
  /// computed them.
  void addParameters(int iteration, bool gradients);

private:
  Session &session;
  TfRecordFile file;
};

} // namespace brew::runtime
