//===- PlanMutator.h - Mutations of plans -----------------------*- C++ -*-===//
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace brew::test {

/// Returns a copy of a plan's bytes with a few random changes to header and
/// manifest: flipped bits, overwritten bytes, extreme integers, ranges copied
/// over others. The checksum is correct, so that the reader also checks the
/// later rules.
std::string mutatePlan(const std::string &bytes, std::mt19937_64 &random);

/// Sets size and checksum in the header of `bytes`.
std::string withFittingHeader(std::string bytes);

} // namespace brew::test
