//===- Resample.h - Layers of forks that move places ------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/ItemCounts.h"
#include "dialects/Brew/PrecisionInterface.h"

#define GET_OP_CLASSES
#include "dialects/Brew/layers/shape/Resample.h.inc"
