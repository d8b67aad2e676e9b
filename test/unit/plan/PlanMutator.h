//===- PlanMutator.h - Plans damaged on purpose -----------------*- C++ -*-===//
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace brew::test {

/// A copy of a plan's bytes with a few random changes to header and manifest:
/// flipped bits, overwritten bytes, extreme integers, removed and doubled
/// pieces. The checksum fits, so that the rules behind it are exercised.
std::string mutatePlan(const std::string &bytes, std::mt19937_64 &random);

/// Makes size and checksum in the header fit `bytes`, whatever else they say.
std::string withFittingHeader(std::string bytes);

} // namespace brew::test
