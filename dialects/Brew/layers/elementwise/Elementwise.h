//===- Elementwise.h - Power, Bias, Scale, Eltwise --------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

#define GET_OP_CLASSES
#include "dialects/Brew/layers/elementwise/Elementwise.h.inc"
