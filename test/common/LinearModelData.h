//===- LinearModelData.h - Data for the linear test model -------*- C++ -*-===//
#pragma once

#include "formats/hdf5/Hdf5.h"
#include "test/common/TestFiles.h"

#include <cmath>
#include <vector>

namespace brew::test {

/// Ten rows of three values and a target, in data.h5 of a folder. Batches of
/// four begin at a different row in each epoch, so that a test notices a reader
/// that restarts.
struct LinearModelData {
  explicit LinearModelData(const TempFolder &folder) {
    for (int n = 0; n < 10; ++n) {
      for (int k = 0; k < 3; ++k)
        x.push_back(std::sin(float(3 * n + k)));
      target.push_back(std::cos(float(n)));
    }
    formats::Hdf5Writer writer(folder / "data.h5");
    writer.write("x", {10, 3}, x.data());
    writer.write("target", {10}, target.data());
    writer.commit();
  }

  std::vector<float> x, target;
};

} // namespace brew::test
