//===- PlanFile.h - A loaded, validated plan --------------------*- C++ -*-===//
#pragma once

#include "plan/PlanFormat.h"
#include "plan/plan.pb.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace brew::plan {

/// A plan file mapped into memory, with a validated manifest: every index names
/// an existing entry, every buffer lies in its arena and every segment in the
/// file, and the shapes of every call match. Code with a PlanFile need not
/// repeat these checks.
class PlanFile {
public:
  /// Maps `path`. Throws Error (3) if the file cannot be opened, and (1) if it
  /// is damaged, not a plan, or has another format version. For another format
  /// version, the message contains both versions and the command that
  /// recompiles the plan.
  static std::shared_ptr<const PlanFile> open(const std::string &path);
  /// Copies and opens a plan in memory. Error messages begin with `name`.
  static std::shared_ptr<const PlanFile> fromBytes(std::string bytes,
                                                   const std::string &name);
  /// Opens a plan in memory without a copy; the bytes must outlive the
  /// PlanFile. Throws Error (2) unless they begin at a multiple of 64.
  static std::shared_ptr<const PlanFile>
  borrow(const void *bytes, std::size_t size, const std::string &name);
  ~PlanFile();

  const Manifest &manifest() const;
  /// Returns the first byte of segment `index`. Its size is in the manifest.
  const std::byte *segment(std::uint32_t index) const;
  /// Returns the checksum of the file's content, which the header contains.
  std::uint32_t checksum() const;
  /// Returns the path passed to open(), for messages and for the plan's folder.
  const std::string &path() const;

private:
  PlanFile();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Returns the number of elements of a buffer; 1 for a scalar.
std::int64_t elementCount(const Buffer &buffer);
/// Returns the size of an element in bytes.
std::size_t elementSize(DataType type);
/// Returns whether the plan contains the values of its parameters.
bool embedsWeights(const Manifest &manifest);
/// Returns whether the plan neither updates parameters nor computes a loss.
bool isForInference(const Manifest &manifest);

} // namespace brew::plan
