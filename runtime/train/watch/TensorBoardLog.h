//===- TensorBoardLog.h - A training run for TensorBoard --------*- C++ -*-===//
//
// Writes event files of formats/tensorboard.proto in the frames of
// TfRecordFile.h:
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

class TensorBoardLog {
public:
  /// Begins a new event file in `folder`, whose events replace those of other
  /// files there from `iteration` on, with the graph of the training program of
  /// `session`, which outlives the log. Throws Error (3) if it cannot be made.
  TensorBoardLog(const std::string &folder, Session &session, int iteration);

  // Each throws Error (3) if it cannot write.
  void add(const TrainRow &row);
  void add(const TestRow &row);
  /// Histograms and filters as they are now. Gradients only if an iteration
  /// has computed some.
  void addParameters(int iteration, bool gradients);

private:
  Session &session;
  TfRecordFile file;
};

} // namespace brew::runtime
