//===- Modules.h - The loaded kernels of a plan -----------------*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"
#include "runtime/cuda/Device.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace brew::runtime::cuda {

/// Returns the architectures of `archs` whose code can run on a GPU of compute
/// capability `device` (90 for 9.0), best first: machine code of the exact
/// architecture, machine code of an earlier one of the same generation, PTX.
std::vector<std::string> usableArchs(const std::vector<std::string> &archs,
                                     int device);

/// All kernels of a plan, loaded on one device. The destructor unloads them.
class Modules {
public:
  /// Loads the code for `sim` if `simulated`. Throws Error (3) if the plan has
  /// no code for the device and its driver, Error (1) if an image lacks its
  /// kernel.
  Modules(const Device &device, const plan::PlanFile &plan, bool simulated);
  ~Modules();
  Modules(const Modules &) = delete;
  Modules &operator=(const Modules &) = delete;

  CUfunction function(std::uint32_t kernel) const { return functions[kernel]; }
  /// Returns the architecture whose code was loaded.
  const std::string &arch() const { return loadedArch; }

private:
  void checkArgumentBytes(const plan::PlanFile &plan) const;
  std::string load(const plan::PlanFile &plan, const std::string &arch);
  std::string loadImage(const plan::PlanFile &plan, std::uint32_t segment,
                        bool isPtx);
  void unload();

  const Device &device;
  std::map<std::uint32_t, CUmodule> modules; ///< by segment
  std::vector<CUfunction> functions;         ///< by kernel
  std::string loadedArch;
};

} // namespace brew::runtime::cuda
