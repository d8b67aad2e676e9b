//===- StridedCopy.h - Copying of strided buffers --------------*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"
#include "runtime/cpu/CpuStep.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime {

/// Copies the elements of a buffer to another one with equal dimensions and any
/// strides. The constructor analyses the layouts.
class StridedCopy : public CpuStep {
public:
  StridedCopy(const plan::Buffer &source, const std::byte *sourceData,
              const plan::Buffer &target, std::byte *targetData);
  void run(const Threads &threads) override;
  std::string describe() const override { return "copy"; }

private:
  struct Axis {
    std::int64_t dim, source, target; ///< strides in elements
  };
  template <typename Element> void copyTiles(const Threads &threads) const;
  template <typename Element> void copyTile(std::int64_t index) const;

  const std::byte *source;
  std::byte *target;
  std::size_t elementBytes;
  std::int64_t contiguousBytes = 0; // when both are dense in the same order
  std::vector<Axis> outer;
  // The two innermost axes: `row` has the target's smallest stride, `column`
  // the source's. Square tiles keep both sides' cache lines in use.
  Axis row{1, 1, 1}, column{1, 1, 1};
  std::int64_t rowTiles = 1, columnTiles = 1, tiles = 1;
};

} // namespace brew::runtime
