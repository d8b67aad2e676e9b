//===- Solver.h - Solver updates --------------------------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

#define GET_OP_CLASSES
#include "dialects/Brew/layers/solver/Solver.h.inc"
