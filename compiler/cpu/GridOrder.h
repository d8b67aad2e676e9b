//===- GridOrder.h - Order of the units of a domain -------------*- C++ -*-===//
#pragma once

#include "compiler/cpu/Schedule.h"

namespace brew::compiler::cpu {

/// Divides a unit's first loop, a grid loop, if its iterations together read
/// more than half of the L2 cache holds, and makes the outer part a loop of the
/// domain. Only the inputs of the nest with the most work count. The inner part
/// has a multiple of `factor` iterations; `factor` must divide the loop's
/// extent. Returns whether the loop was divided.
bool divideUnit(SubKernel &subKernel, Schedule &schedule, int64_t factor,
                dialects::target::CpuAttr cpu);

/// Orders the grid loops of a Rows schedule such that consecutive units of the
/// domain read the same elements: the last loop is the one along which the
/// fewest bytes change that the nest with the most work reads. If all
/// iterations of that loop read more than half of the L2 cache holds, divides
/// it, so that a block of its iterations stays in the cache while the loop
/// before it runs.
void orderGrid(SubKernel &subKernel, Schedule &schedule,
               dialects::target::CpuAttr cpu);

} // namespace brew::compiler::cpu
