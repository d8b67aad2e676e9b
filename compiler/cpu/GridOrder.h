//===- GridOrder.h - Order of the units of a domain -------------*- C++ -*-===//
#pragma once

#include "compiler/cpu/Schedule.h"

namespace brew::compiler::cpu {

/// Orders the grid loops of a Rows schedule such that consecutive units of the
/// domain read the same elements: the last loop is the one along which the
/// least bytes change that the nest with the most work reads. If all iterations
/// of that loop read more than the L2 cache holds, divides it, so that a block
/// of its iterations stays in the cache while the loop before it runs.
void orderGrid(SubKernel &subKernel, Schedule &schedule,
               dialects::target::CpuAttr cpu);

} // namespace brew::compiler::cpu
