//===- Attention.h - Attention ----------------------------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/ItemCounts.h"

#define GET_OP_CLASSES
#include "dialects/Brew/layers/attention/Attention.h.inc"
