//===- Arrays.h - Operations of arrays with NumPy's shapes ------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/PrecisionInterface.h"

#define GET_OP_CLASSES
#include "dialects/Brew/layers/shape/Arrays.h.inc"
