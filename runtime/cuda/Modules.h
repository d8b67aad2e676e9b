//===- Modules.h - A plan's kernels on a GPU --------------------*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"
#include "runtime/cuda/Device.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace brew::runtime::cuda {

/// The architectures of `archs` whose code can run on a GPU of compute
/// capability `device` (90 for 9.0), best first: machine code of the very
/// architecture, of an earlier one of the same generation, then PTX.
std::vector<std::string> usableArchs(const std::vector<std::string> &archs,
                                     int device);

/// All of a plan's kernels, loaded for one device and unloaded with this
/// object.
class Modules {
public:
  /// `simulated` takes the code for `sim`. Throws Error (3) if none of the
  /// plan's code suits the device and its driver, (1) if a kernel is not in
  /// its image.
  Modules(const Device &device, const plan::PlanFile &plan, bool simulated);
  ~Modules();
  Modules(const Modules &) = delete;
  Modules &operator=(const Modules &) = delete;

  CUfunction function(std::uint32_t kernel) const { return functions[kernel]; }
  /// The architecture whose code was taken.
  const std::string &arch() const { return chosen; }

private:
  void checkArgumentBytes(const plan::PlanFile &plan) const;
  std::string load(const plan::PlanFile &plan, const std::string &arch);
  std::string loadImage(const plan::PlanFile &plan, std::uint32_t segment,
                        bool ptx);
  void unload();

  const Device &device;
  std::map<std::uint32_t, CUmodule> modules; // by segment
  std::vector<CUfunction> functions;         // by kernel
  std::string chosen;
};

} // namespace brew::runtime::cuda
