//===- External.h - What the caller of a program computes -------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/ItemCounts.h"
#include "dialects/Brew/PrecisionInterface.h"

#define GET_OP_CLASSES
#include "dialects/Brew/layers/external/External.h.inc"
