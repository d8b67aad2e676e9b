//===- Expression.h - Formulas over bottoms ---------------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

#define GET_OP_CLASSES
#include "dialects/Brew/layers/elementwise/Expression.h.inc"
