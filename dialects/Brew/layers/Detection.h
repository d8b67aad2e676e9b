//===- Detection.h - Layers of detection nets -------------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

#define GET_OP_CLASSES
#include "dialects/Brew/layers/Detection.h.inc"
