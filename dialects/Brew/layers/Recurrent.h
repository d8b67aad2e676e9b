//===- Recurrent.h - LSTM, RNN and their cell --------------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

#define GET_OP_CLASSES
#include "dialects/Brew/layers/Recurrent.h.inc"
