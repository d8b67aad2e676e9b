//===- Modules.cpp - The loaded kernels of a plan -------------------------===//
#include "runtime/cuda/Modules.h"

#include "plan/Contract.h"
#include "support/Error.h"

#include <algorithm>
#include <cstdlib>

namespace brew::runtime::cuda {

namespace {

struct Arch {
  bool isPtx;
  int number;
  char
      suffix; ///< 'a': only this architecture; 'f': its generation; 0 if absent
};

Arch parseArch(const std::string &text) {
  Arch arch{text.rfind("compute_", 0) == 0, 0, 0};
  char *end = nullptr;
  arch.number = static_cast<int>(
      std::strtol(text.c_str() + (arch.isPtx ? 8 : 3), &end, 10));
  arch.suffix = *end;
  return arch;
}

bool canRun(const Arch &arch, int device) {
  if (arch.suffix == 'a')
    return arch.number == device;
  if (!arch.isPtx || arch.suffix == 'f')
    return arch.number / 10 == device / 10 && arch.number <= device;
  return arch.number <= device;
}

std::string
joinNames(const google::protobuf::RepeatedPtrField<std::string> &names) {
  std::string text;
  for (int i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " and ") + names[i];
  return text;
}

} // namespace

std::vector<std::string> usableArchs(const std::vector<std::string> &archs,
                                     int device) {
  std::vector<std::string> usable;
  for (const std::string &name : archs)
    if (name != "sim" && canRun(parseArch(name), device))
      usable.push_back(name);
  std::stable_sort(usable.begin(), usable.end(),
                   [](const std::string &left, const std::string &right) {
                     const Arch a = parseArch(left), b = parseArch(right);
                     return a.isPtx != b.isPtx ? !a.isPtx : a.number > b.number;
                   });
  return usable;
}

Modules::Modules(const Device &gpu, const plan::PlanFile &plan, bool simulated)
    : device(gpu) {
  if (plan.manifest().kernels().empty())
    return;
  checkArgumentBytes(plan);
  const plan::Target &target = plan.manifest().target();
  std::vector<std::string> candidates = {"sim"};
  if (!simulated)
    candidates = usableArchs({target.archs().begin(), target.archs().end()},
                             device.architecture());
  std::string reason;
  for (const std::string &arch : candidates) {
    try {
      reason = load(plan, arch);
    } catch (...) {
      unload(); // the destructor does not run if the constructor throws
      throw;
    }
    if (reason.empty()) {
      loadedArch = arch;
      return;
    }
    unload();
  }
  throw unavailable(
      plan.path() + ": its kernels were built for " +
      joinNames(target.archs()) +
      (target.has_nvrtc_version() ? " (CUDA " + target.nvrtc_version() + ")"
                                  : "") +
      "; this GPU, " + device.name() + ", is sm_" +
      std::to_string(device.architecture()) + " and its driver is of CUDA " +
      versionText(device.driverVersion()) +
      (reason.empty() ? "; compile the plan with --gpu-arch sm_" +
                            std::to_string(device.architecture())
                      : ": " + reason));
}

/// Reports kernels with too many arguments for an older driver, which would
/// only reject their image as invalid.
void Modules::checkArgumentBytes(const plan::PlanFile &plan) const {
  if (device.driverVersion() >= plan::kLargeArgumentLimitVersion)
    return;
  for (const plan::Kernel &kernel : plan.manifest().kernels()) {
    const std::uint64_t bytes =
        plan::argumentBytes(kernel.argument_count(), kernel.stages());
    if (bytes > plan::kArgumentLimit)
      throw unavailable(
          plan.path() + ": kernel '" + kernel.symbol() + "' has " +
          std::to_string(bytes) + " bytes of arguments; more than " +
          std::to_string(plan::kArgumentLimit) + " need a driver of CUDA " +
          versionText(plan::kLargeArgumentLimitVersion) +
          " (version 530) or later, and this one is of CUDA " +
          versionText(device.driverVersion()));
  }
}

Modules::~Modules() { unload(); }

void Modules::unload() {
  for (const auto &[segment, module] : modules)
    device.api().cuModuleUnload(module);
  modules.clear();
  functions.clear();
}

/// Loads the code of `arch`. Returns why it cannot be loaded, or "".
///
/// Sessions never share modules. A module may contain block counters in device
/// memory, and launches of two sessions may overlap, while the launches of one
/// session are ordered by its stream. Loading sets the counters to 0, and each
/// launch leaves them at 0. An aborted launch does not, but it also invalidates
/// the context with all its modules, so later sessions load them again.
std::string Modules::load(const plan::PlanFile &plan, const std::string &arch) {
  for (const plan::Kernel &kernel : plan.manifest().kernels()) {
    const auto image =
        std::find_if(kernel.images().begin(), kernel.images().end(),
                     [&](const plan::KernelImage &candidate) {
                       return candidate.arch() == arch;
                     });
    // The plan validator guarantees an image for each architecture.
    const std::uint32_t segment = image->segment_index();
    if (!modules.count(segment)) {
      const std::string reason =
          loadImage(plan, segment, arch.rfind("compute_", 0) == 0);
      if (!reason.empty())
        return reason;
    }
    CUfunction function = nullptr;
    if (device.api().cuModuleGetFunction(&function, modules[segment],
                                         kernel.symbol().c_str()) !=
        CUDA_SUCCESS)
      throw badInput(plan.path() + ": damaged plan: kernel '" +
                     kernel.symbol() + "' is not in its image for " + arch);
    functions.push_back(function);
  }
  return "";
}

std::string Modules::loadImage(const plan::PlanFile &plan,
                               std::uint32_t segment, bool isPtx) {
  const std::uint64_t size =
      plan.manifest().segments(static_cast<int>(segment)).size();
  const auto *bytes = reinterpret_cast<const char *>(plan.segment(segment));
  // The driver expects PTX as a null-terminated string.
  std::string text;
  if (isPtx) {
    text.assign(bytes, size);
    bytes = text.c_str();
  } else if (size < 64 || std::string(bytes, 4) != "\177ELF") {
    throw badInput(plan.path() +
                   ": damaged plan: a kernel image is no machine code");
  }
  std::vector<char> log(8192, '\0');
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  CUmodule module = nullptr;
  const CUresult result =
      device.api().cuModuleLoadDataEx(&module, bytes, 2, options, values);
  if (result != CUDA_SUCCESS)
    return device.api().text(result) +
           (log[0] ? "\n" + std::string(log.data()) : "");
  modules[segment] = module;
  return "";
}

} // namespace brew::runtime::cuda
