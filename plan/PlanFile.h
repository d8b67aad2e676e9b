//===- PlanFile.h - A loaded, validated plan --------------------*- C++ -*-===//
#pragma once

#include "plan/PlanFormat.h"
#include "plan/plan.pb.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace brew::plan {

/// A plan file mapped into memory whose manifest has been checked: every index
/// names an existing entry, every buffer lies inside its arena, every segment
/// inside the file, every call's shapes agree. Code that holds a PlanFile needs
/// no further checks of that kind.
class PlanFile {
public:
  /// Maps `path`. Throws Error: 3 if it cannot be opened, 1 if it is damaged,
  /// no plan, or of another format version (the text says both, and the command
  /// that makes the plan anew).
  static std::shared_ptr<const PlanFile> open(const std::string &path);
  /// The same over bytes in memory (copied); `name` is used in errors.
  static std::shared_ptr<const PlanFile> fromBytes(std::string bytes,
                                                   const std::string &name);
  /// The same over bytes that stay where they are as long as the PlanFile.
  /// Throws Error (2) unless they begin at a multiple of 64.
  static std::shared_ptr<const PlanFile>
  borrow(const void *bytes, std::size_t size, const std::string &name);
  ~PlanFile();

  const Manifest &manifest() const;
  /// First byte of segment `index` (its size is in the manifest).
  const std::byte *segment(std::uint32_t index) const;
  /// The checksum of the file's content.
  std::uint32_t checksum() const;
  /// The path given to open(), for messages and for the folder of the plan.
  const std::string &path() const;

private:
  PlanFile();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Number of elements of a buffer; 1 for a scalar.
std::int64_t elementCount(const Buffer &buffer);
/// Bytes of one element.
std::size_t elementSize(DataType type);
/// Whether the plan has its parameters' values in it.
bool embedsWeights(const Manifest &manifest);
/// Whether the plan neither trains nor computes a loss.
bool isForInference(const Manifest &manifest);

} // namespace brew::plan
