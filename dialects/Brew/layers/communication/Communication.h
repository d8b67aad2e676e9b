//===- Communication.h - Collective operations of ranks ---------*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

#define GET_OP_CLASSES
#include "dialects/Brew/layers/communication/Communication.h.inc"
