//===- MetricLearning.h - Layers of face recognition nets -------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/ItemCounts.h"
#include "dialects/Brew/PrecisionInterface.h"

#define GET_OP_CLASSES
#include "dialects/Brew/layers/loss/MetricLearning.h.inc"
