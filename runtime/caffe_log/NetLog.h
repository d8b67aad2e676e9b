//===- NetLog.h - Caffe's log of a net's set-up -----------------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"
#include "plan/plan.pb.h"
#include "runtime/log/Log.h"

#include <functional>
#include <string>

namespace brew::runtime {

/// Receives each log line.
using NetLine = std::function<void(log::Site, const std::string &)>;

/// Logs what Caffe logs while it sets up a net: its layers with their blobs,
/// shapes and memory, the layers that need the backward pass, and the outputs.
/// Logs nothing if the plan has no net metadata.
void logNet(const plan::Program &program, plan::DataType precision,
            const NetLine &line);

/// These functions log the source of the training net or of test net `index`,
/// then the net.
void logTrainNet(const plan::Program &program, plan::DataType precision,
                 const NetLine &line);
void logTestNet(const plan::Program &program, int index,
                plan::DataType precision, const NetLine &line);

} // namespace brew::runtime
