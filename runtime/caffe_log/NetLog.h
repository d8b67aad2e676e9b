//===- NetLog.h - What Caffe logs of a net ----------------------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"
#include "plan/plan.pb.h"
#include "runtime/log/Log.h"

#include <functional>
#include <string>

namespace brew::runtime {

/// Takes the lines.
using NetLine = std::function<void(log::Site, const std::string &)>;

/// Tells what Caffe logs while it sets a net up: its layers with their blobs,
/// shapes and memory, which of them need the backward pass, and its outputs.
/// Nothing for a plan without this record.
void logNet(const plan::Program &program, plan::DataType precision,
            const NetLine &line);

/// Tells where the training net or test net `index` comes from, then the net.
void logTrainNet(const plan::Program &program, plan::DataType precision,
                 const NetLine &line);
void logTestNet(const plan::Program &program, int index,
                plan::DataType precision, const NetLine &line);

} // namespace brew::runtime
