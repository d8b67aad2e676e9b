//===- RankExchange.h - Exchange between the ranks of training --*- C++ -*-===//
//
// All ranks must call these functions. On one rank they change nothing.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/session/Session.h"
#include "runtime/train/Collectives.h"
#include "runtime/train/TrainerControl.h"
#include "runtime/train/TrainerOptions.h"
#include "runtime/train/watch/NanCheck.h"

#include <vector>

namespace brew::runtime {

/// Checks that all ranks have the same plan and options, and that these support
/// several ranks. Errors are collective.
void checkRankSettings(Session &session, const TrainerOptions &options,
                       const caffe::SolverParameter &solver,
                       Collectives &ranks);

/// Checks that all ranks start from the same solver, data and iteration.
/// Broadcasts rank 0's parameters and solver history.
void synchronizeStart(Session &session, const caffe::SolverParameter &solver,
                      const DataPipeline &pipeline, int iteration,
                      Collectives &ranks);

/// Broadcasts rank 0's BatchNorm statistics, which differ between ranks.
void broadcastStatistics(Session &session, Collectives &ranks);

/// Returns the changes of all ranks, in rank order. If several ranks set a
/// field, only the highest rank's last value remains.
std::vector<TrainerControl::FieldChange>
mergeChanges(const std::vector<TrainerControl::FieldChange> &own,
             Collectives &ranks);

/// Returns the earliest finding of all ranks.
NanCheck::Finding earliestFinding(const NanCheck::Finding &own,
                                  Collectives &ranks);

} // namespace brew::runtime
