//===- CudaPartsTest.cpp - What a CUDA plan meets on a machine ------------===//
#include "CudaSim.h"
#include "runtime/Executor.h"
#include "runtime/cuda/CallTuner.h"
#include "runtime/cuda/CublasLt.h"
#include "runtime/cuda/Modules.h"
#include "runtime/cuda/TimingCache.h"
#include "runtime/cuda/VendorLibrary.h"
#include "test/common/CommaLocale.h"

#include <dlfcn.h>

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace brew;
using namespace brew::plan;
using namespace brew::runtime;
using namespace brew::runtime::cuda;
using namespace brew::test;

namespace {

using Names = std::vector<std::string>;

TEST(CudaArchs, BestFirst) {
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

using CudaParts = CudaSim;

/// A plan with one kernel whose image for each of `archs` is `code`.
std::shared_ptr<const PlanFile> planFor(const Names &archs,
                                        const std::string &code) {
  PlanBuilder b;
  b.manifest.mutable_target()->clear_archs();
  auto y = b.buffer("y", {4});
  b.program("main");
  Kernel &kernel = *b.manifest.add_kernels();
  kernel.set_symbol("addOne");
  kernel.set_argument_count(1);
  kernel.set_blocks(1);
  kernel.set_threads(32);
  const std::uint32_t segment = b.segment(Segment::KERNEL_IMAGE, code);
  for (const std::string &arch : archs) {
    b.manifest.mutable_target()->add_archs(arch);
    KernelImage &image = *kernel.add_images();
    image.set_arch(arch);
    image.set_segment_index(segment);
  }
  b.manifest.mutable_target()->set_nvrtc_version("13.0");
  (void)y;
  return b.build();
}

TEST_F(CudaParts, AnotherArchitecture) {
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

TEST_F(CudaParts, CodeThatTheDriverRefuses) {
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

/// A driver older than the PTX refuses it as well.
TEST_F(CudaParts, PtxThatTheDriverRefuses) {
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

TEST_F(CudaParts, NoDriver) {
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

TEST_F(CudaParts, NoSimulator) {
  setenv("BREW_CUDASIM", "/no/such/folder", 1);
  PlanBuilder b;
  b.program("main");
  EXPECT_EQ(errorOf([&] {
              Executor executor(b.build());
            }).find("3: test.plan: the plan was built for the simulator"),
            0u);
}

TEST_F(CudaParts, ALibraryWithoutTheFunctionsIsTooOld) {
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
  EXPECT_EQ(errorOf([&] {
              VendorLibrary library(simulator + "/libcublasLt.so.13");
            }).find("3: " + simulator + "/libcublasLt.so.13: no table"),
            0u);
}

//===----------------------------------------------------------------------===//
// Timing cache
//===----------------------------------------------------------------------===//

/// A folder that goes with the test.
struct Folder {
  Folder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "brewXXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string &name) const {
    return (path / name).string();
  }
  std::filesystem::path path;
};

struct Warnings {
  std::vector<std::string> texts;
  TimingCache::Warning sink() {
    return [this](const std::string &text) { texts.push_back(text); };
  }
};

TEST(CudaTimingCache, RemembersAndReplaces) {
  Folder folder;
  Warnings warnings;
  const std::string path = folder / "p.timing";
  {
    TimingCache cache(path, warnings.sink());
    EXPECT_EQ(cache.find("a"), nullptr);
    cache.set("a", {"engine 1 k2=3", 12.5});
    cache.set("b", {"engine 7", 1});
    cache.set("b", {"engine 8", 2});
    cache.save();
  }
  TimingCache cache(path, warnings.sink());
  ASSERT_NE(cache.find("a"), nullptr);
  EXPECT_EQ(cache.find("a")->candidate, "engine 1 k2=3");
  EXPECT_EQ(cache.find("a")->microseconds, 12.5);
  EXPECT_EQ(cache.find("b")->candidate, "engine 8");
  EXPECT_TRUE(warnings.texts.empty());
}

TEST(CudaTimingCache, KnowsNoLocale) {
  const brew::test::CommaLocale locale;
  if (!locale)
    GTEST_SKIP() << "no locale with commas, and localedef made none";
  Folder folder;
  Warnings warnings;
  const std::string path = folder / "p.timing";
  std::ofstream(path) << "brew-timing-cache 1\na\tb\t12.500\n";
  {
    TimingCache cache(path, warnings.sink());
    ASSERT_NE(cache.find("a"), nullptr);
    EXPECT_EQ(cache.find("a")->microseconds, 12.5);
    cache.set("c", {"d", 0.25});
    cache.save();
  }
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_NE(text.str().find("\t0.250\n"), std::string::npos) << text.str();
  EXPECT_TRUE(warnings.texts.empty());
}

TEST(CudaTimingCache, ADamagedFileIsIgnoredWithAWarning) {
  Folder folder;
  const std::string path = folder / "p.timing";
  for (const char *content :
       {"", "rubbish\n", "brew-timing-cache 2\na\tb\t1\n",
        "brew-timing-cache 1\na\tb\t1", "brew-timing-cache 1\na\tb\n",
        "brew-timing-cache 1\na\tb\tfast\n", "brew-timing-cache 1\na\tb\t-1\n",
        "brew-timing-cache 1\na\tb\tnan\n", "brew-timing-cache 1\n\tb\t1\n"}) {
    std::ofstream(path) << content;
    Warnings warnings;
    TimingCache cache(path, warnings.sink());
    EXPECT_EQ(cache.find("a"), nullptr) << content;
    ASSERT_EQ(warnings.texts.size(), 1u) << content;
    EXPECT_NE(warnings.texts[0].find("it is ignored"), std::string::npos);
  }
}

TEST(CudaTimingCache, ALinkIsWrittenThrough) {
  Folder folder;
  Warnings warnings;
  const std::string path = folder / "p.timing", link = folder / "link.timing";
  std::ofstream(path) << "brew-timing-cache 1\n";
  std::filesystem::create_symlink(path, link);
  {
    TimingCache cache(link, warnings.sink());
    cache.set("a", {"engine 1", 1});
    cache.save();
  }
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_NE(TimingCache(path, warnings.sink()).find("a"), nullptr);
  EXPECT_TRUE(warnings.texts.empty());
}

TEST(CudaTimingCache, CannotBeWritten) {
  Warnings warnings;
  TimingCache cache("/no/such/folder/p.timing", warnings.sink());
  cache.set("a", {"b", 1});
  cache.save();
  ASSERT_EQ(warnings.texts.size(), 1u);
  EXPECT_NE(warnings.texts[0].find("cannot write '/no/such/folder/p.timing'"),
            std::string::npos);
  cache.save(); // said once
  EXPECT_EQ(warnings.texts.size(), 1u);
}

//===----------------------------------------------------------------------===//
// Tuning
//===----------------------------------------------------------------------===//

/// A call whose candidates clear more or less memory.
class ClearCall : public VendorCall {
public:
  ClearCall(const Device &device, std::vector<std::uint64_t> bytes)
      : device(device), bytes(std::move(bytes)),
        memory(device, 1 << 26, "test") {}
  std::string key() const override { return "clear"; }
  int candidates() const override { return static_cast<int>(bytes.size()); }
  std::string describe(int candidate) const override {
    return "clears " + std::to_string(bytes[std::size_t(candidate)]);
  }
  std::uint64_t workspaceBytes(int candidate) const override {
    return bytes[std::size_t(candidate)] == 0 ? kUnusable : 16;
  }
  void run(int candidate, CUdeviceptr workspace,
           const Stream &stream) override {
    ++runs;
    if (fails == candidate)
      throw machineLacks("this engine fails");
    EXPECT_NE(workspace, 0u);
    device.api().check(
        device.api().cuMemsetD8Async(
            memory.address(), 1, bytes[std::size_t(candidate)], stream.get()),
        "clearing");
    if (waits == candidate)
      stream.synchronize("waiting");
  }

  int runs = 0, fails = -1;
  int waits = -1; ///< which waits for the device, as no part of a graph may

private:
  const Device &device;
  std::vector<std::uint64_t> bytes;
  DeviceMemory memory;
};

class CudaTuner : public CudaSim {
protected:
  const Device device{
      DriverApi::open(std::string(CUDASIM_FOLDER) + "/libcuda.so.1"), 0};
  const Stream stream{device};
  Warnings warnings;
  TimingCache cache{"", warnings.sink()};
};

TEST_F(CudaTuner, TakesTheFastestThatWorks) {
  ClearCall call(device, {1 << 26, 0, 16, 1 << 25});
  CallTuner tuner(device, stream, cache, /*measure=*/true);
  EXPECT_EQ(tuner.choose(call), 2);
  EXPECT_GT(call.runs, 3);
  // The cache answers from now on.
  call.runs = 0;
  EXPECT_EQ(tuner.choose(call), 2);
  EXPECT_EQ(call.runs, 0);
}

TEST_F(CudaTuner, PassesOverEnginesThatFail) {
  ClearCall call(device, {1 << 26, 16});
  call.fails = 1;
  CallTuner tuner(device, stream, cache, /*measure=*/true);
  EXPECT_EQ(tuner.choose(call), 0);
  ClearCall none(device, {0, 0});
  EXPECT_EQ(errorOf([&] { tuner.choose(none); }).substr(0, 34),
            "3: no engine can be used for clear");
}

TEST_F(CudaTuner, PrefersWhatCanBePartOfAGraph) {
  ClearCall call(device, {16, 1 << 26});
  call.waits = 0;
  CallTuner tuner(device, stream, cache, /*measure=*/true);
  EXPECT_EQ(tuner.choose(call), 1);
  // Alone it is taken all the same.
  ClearCall only(device, {1 << 25, 0, 8});
  only.waits = 2;
  only.fails = 0;
  TimingCache empty{"", warnings.sink()};
  EXPECT_EQ(CallTuner(device, stream, empty, true).choose(only), 2);
}

TEST_F(CudaTuner, WithoutMeasuringTheFirstUsable) {
  ClearCall call(device, {0, 1 << 26, 16});
  CallTuner tuner(device, stream, cache, /*measure=*/false);
  EXPECT_EQ(tuner.choose(call), 1);
  EXPECT_EQ(call.runs, 0);
}

TEST_F(CudaTuner, AnUnknownChoiceInTheCacheIsMeasuredAgain) {
  cache.set(device.name() + " clear", {"clears 5", 1});
  ClearCall call(device, {1 << 26, 16});
  CallTuner tuner(device, stream, cache, /*measure=*/true);
  EXPECT_EQ(tuner.choose(call), 1);
  EXPECT_EQ(cache.find(device.name() + " clear")->candidate, "clears 16");
}

} // namespace
