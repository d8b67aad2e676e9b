//===- CudaMachineTest.cpp - Drivers, libraries and code of machines ------===//
#include "CudaSim.h"
#include "runtime/cuda/CublasLt.h"
#include "runtime/cuda/Modules.h"
#include "runtime/cuda/VendorLibrary.h"
#include "runtime/executor/Executor.h"

#include <dlfcn.h>

using namespace brew;
using namespace brew::plan;
using namespace brew::runtime;
using namespace brew::runtime::cuda;
using namespace brew::test;

namespace {

using Names = std::vector<std::string>;

TEST(CudaArchs, UsableArchsAreSortedBestFirst) {
  const Names all = {"sm_80",   "sm_86",      "sm_90",      "sm_90a",
                     "sm_100f", "compute_80", "compute_120"};
  EXPECT_EQ(usableArchs(all, 75), Names());
  EXPECT_EQ(usableArchs(all, 80), (Names{"sm_80", "compute_80"}));
  EXPECT_EQ(usableArchs(all, 89), (Names{"sm_86", "sm_80", "compute_80"}));
  EXPECT_EQ(usableArchs(all, 90), (Names{"sm_90", "sm_90a", "compute_80"}));
  EXPECT_EQ(usableArchs(all, 103), (Names{"sm_100f", "compute_80"}));
  EXPECT_EQ(usableArchs(all, 121), (Names{"compute_120", "compute_80"}));
  EXPECT_EQ(usableArchs({"sim"}, 90), Names());
}

using CudaMachine = CudaSim;

/// Returns a plan with one kernel, whose image for each of `archs` is `code`.
std::shared_ptr<const PlanFile> planFor(const Names &archs,
                                        const std::string &code,
                                        std::uint32_t arguments = 1) {
  PlanBuilder b;
  b.manifest.mutable_target()->clear_archs();
  auto y = b.buffer("y", {4});
  b.program("main");
  Kernel &kernel = *b.manifest.add_kernels();
  kernel.set_symbol("addOne");
  kernel.set_argument_count(arguments);
  kernel.set_blocks(1);
  kernel.set_threads(32);
  const std::uint32_t segment = b.segment(Segment::KERNEL_IMAGE, code);
  for (const std::string &arch : archs) {
    b.manifest.mutable_target()->add_archs(arch);
    KernelImage &image = *kernel.add_images();
    image.set_arch(arch);
    image.set_segment_index(segment);
  }
  if (archs != Names{"sim"})
    b.manifest.mutable_target()->set_nvrtc_version("13.0");
  (void)y;
  return b.build();
}

TEST_F(CudaMachine, ReportsOtherArchitecture) {
  const Device device(
      DriverApi::open(std::string(CUDASIM_FOLDER) + "/libcuda.so.1"), 0);
  const auto plan = planFor({"sm_199", "compute_210"}, std::string(100, 'x'));
  const std::string error =
      errorOf([&] { Modules modules(device, *plan, /*simulated=*/false); });
  const std::string arch = std::to_string(device.architecture());
  EXPECT_EQ(error.find("3: test.plan: its kernels were built for sm_199 and "
                       "compute_210 (CUDA 13.0); this GPU, " +
                       device.name() + ", is sm_" + arch +
                       " and its driver is of CUDA "),
            0u)
      << error;
  EXPECT_NE(error.find("; compile the plan with --gpu-arch sm_" + arch),
            std::string::npos)
      << error;
}

TEST_F(CudaMachine, ReportsCodeThatTheDriverRefuses) {
  const Device device(
      DriverApi::open(std::string(CUDASIM_FOLDER) + "/libcuda.so.1"), 0);
  const std::string arch = "sm_" + std::to_string(device.architecture());
  std::string code = "\177ELF" + std::string(96, '\0');
  const auto plan = planFor({arch}, code);
  const std::string error =
      errorOf([&] { Modules modules(device, *plan, /*simulated=*/false); });
  EXPECT_EQ(error.find("3: test.plan: its kernels were built for " + arch), 0u)
      << error;
  const auto text = planFor({arch}, std::string(100, 'x'));
  EXPECT_EQ(
      errorOf([&] { Modules modules(device, *text, /*simulated=*/false); }),
      "1: test.plan: damaged plan: a kernel image is no machine code");
}

/// A driver that is older than the PTX rejects the PTX in the same way.
TEST_F(CudaMachine, ReportsPtxThatTheDriverRefuses) {
  const Device device(
      DriverApi::open(std::string(CUDASIM_FOLDER) + "/libcuda.so.1"), 0);
  const std::string arch = "compute_" + std::to_string(device.architecture());
  const auto plan = planFor({arch}, ".version 99.9\n.target sm_80\n");
  const std::string error =
      errorOf([&] { Modules modules(device, *plan, /*simulated=*/false); });
  EXPECT_EQ(error.find("3: test.plan: its kernels were built for " + arch +
                       " (CUDA 13.0); this GPU, "),
            0u)
      << error;
  EXPECT_NE(error.find(" and its driver is of CUDA "), std::string::npos)
      << error;
}

TEST_F(CudaMachine, ReportsArgumentsThatTheDriverCannotPass) {
  auto errorWith = [&](const char *version, std::uint32_t arguments) {
    setenv("CUDASIM_DRIVER_VERSION", version, 1);
    const Device device(
        DriverApi::open(std::string(CUDASIM_FOLDER) + "/libcuda.so.1"), 0);
    const auto plan =
        planFor({"sim"}, "\177ELF" + std::string(96, '\0'), arguments);
    unsetenv("CUDASIM_DRIVER_VERSION");
    return errorOf([&] { Modules modules(device, *plan, /*simulated=*/true); });
  };
  EXPECT_EQ(errorWith("12000", 513),
            "3: test.plan: kernel 'addOne' has 4104 bytes of arguments; more "
            "than 4096 need a driver of CUDA 12.1 (version 530) or later, and "
            "this one is of CUDA 12.0");
  // With few enough arguments the next error is the invalid image.
  for (auto [version, arguments] :
       {std::pair("12000", 512u), {"12010", 513u}}) {
    const std::string error = errorWith(version, arguments);
    EXPECT_EQ(error.find("3: test.plan: its kernels were built for sim"), 0u)
        << error;
  }
}

TEST_F(CudaMachine, ReportsMissingDriver) {
  EXPECT_EQ(errorOf([] { DriverApi::open("no-such-driver.so"); })
                .find("3: an NVIDIA GPU is needed, but the CUDA driver "
                      "cannot be opened: no-such-driver.so"),
            0u);
  if (void *driver = dlopen("libcuda.so.1", RTLD_NOW)) {
    dlclose(driver);
    GTEST_SKIP() << "this machine has a driver";
  }
  const auto plan = planFor({"sm_90"}, "\177ELF" + std::string(96, '\0'));
  EXPECT_EQ(errorOf([&] { Executor executor(plan); })
                .find("3: an NVIDIA GPU is needed, but the CUDA driver "
                      "cannot be opened: libcuda.so.1"),
            0u);
}

TEST_F(CudaMachine, ReportsMissingSimulator) {
  setenv("BREW_CUDASIM", "/no/such/folder", 1);
  PlanBuilder b;
  b.program("main");
  EXPECT_EQ(errorOf([&] {
              Executor executor(b.build());
            }).find("3: test.plan: the plan was built for the simulator"),
            0u);
}

TEST_F(CudaMachine, ReportsLibraryWithoutFunctionsAsTooOld) {
  const std::string simulator = CUDASIM_FOLDER;
  EXPECT_EQ(errorOf([&] { DriverApi::open(simulator + "/libcudasim.so"); })
                .find("3: the CUDA driver is too old: it is of CUDA 0.0 and "
                      "lacks "),
            0u);
  EXPECT_EQ(errorOf([] {
              CublasLt library({"none.so.13", "none.so.12"});
            })
                .find("3: this plan needs cuBLASLt of CUDA 12 or later for "
                      "its matrix products: none.so.13"),
            0u);
  EXPECT_EQ(errorOf([&] { CublasLt library({simulator + "/libcudasim.so"}); })
                .find("3: this plan needs cuBLASLt of CUDA 12 or later for "
                      "its matrix products; found is one without a version, "
                      "which lacks cublasLt"),
            0u);
  EXPECT_EQ(
      errorOf([&] { VendorLibrary library(simulator + "/libcublasLt.so.13"); })
          .find("3: " + simulator +
                "/libcublasLt.so.13: exports no vendor table"),
      0u);
}

} // namespace
