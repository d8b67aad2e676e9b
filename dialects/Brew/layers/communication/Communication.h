//===- Communication.h - What ranks exchange --------------------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

#define GET_OP_CLASSES
#include "dialects/Brew/layers/communication/Communication.h.inc"
