//===- CpuTargetTest.cpp - Tests of --cpu ---------------------------------===//

#include "compiler/cpu/CpuTarget.h"
#include "support/Error.h"

#include <gtest/gtest.h>

namespace brew::compiler {
namespace {

TEST(CpuTarget, LevelsHaveTheirFeatures) {
  cpu::CpuTarget baseline = cpu::resolveCpuTarget("x86-64");
  EXPECT_TRUE(baseline.features.empty());
  EXPECT_EQ(baseline.vectorBits, 128u);

  cpu::CpuTarget v3 = cpu::resolveCpuTarget("x86-64-v3");
  EXPECT_TRUE(v3.has("avx2"));
  EXPECT_TRUE(v3.has("fma"));
  EXPECT_FALSE(v3.has("avx512f"));
  EXPECT_EQ(v3.vectorBits, 256u);
  EXPECT_EQ(v3.cpu, "x86-64-v3");
  EXPECT_EQ(v3.triple, "x86_64-pc-linux-gnu");

  cpu::CpuTarget v4 = cpu::resolveCpuTarget("x86-64-v4");
  EXPECT_TRUE(v4.has("avx512vl"));
  EXPECT_FALSE(v4.has("avx512bf16"));
  EXPECT_EQ(v4.vectorBits, 512u);
}

TEST(CpuTarget, NamedProcessorsHaveUsedFeatures) {
  cpu::CpuTarget target = cpu::resolveCpuTarget("sapphirerapids");
  EXPECT_TRUE(target.has("avx512bf16"));
  // Features that generated code never uses must not be required.
  EXPECT_FALSE(target.has("amx-tile"));
  EXPECT_FALSE(target.has("sgx"));
  EXPECT_NE(target.featureString().find("+avx512f"), std::string::npos);
}

TEST(CpuTarget, NativeHasThisMachinesFeatures) {
  cpu::CpuTarget target = cpu::resolveCpuTarget("native");
  EXPECT_EQ(target.has("avx2"), __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(target.has("fma"), __builtin_cpu_supports("fma") != 0);
  if (!__builtin_cpu_supports("avx512f")) {
    EXPECT_FALSE(target.has("avx512f"));
  }
  if (!__builtin_cpu_supports("avx512bf16")) {
    EXPECT_FALSE(target.has("avx512bf16"));
  }
}

/// Returns the message of the usage error for an unknown processor.
std::string usageErrorFor(const std::string &name) {
  try {
    cpu::resolveCpuTarget(name);
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), ExitStatus::Usage);
    return error.what();
  }
  ADD_FAILURE() << name << " was accepted";
  return "";
}

TEST(CpuTarget, UnknownNamesAreErrors) {
  EXPECT_NE(usageErrorFor("skylake-avx51").find("'skylake-avx512'"),
            std::string::npos);
  EXPECT_NE(usageErrorFor("natve").find("'native'"), std::string::npos);
  EXPECT_NE(usageErrorFor("x86-64-v9").find("'x86-64-v"), std::string::npos);
  EXPECT_NE(usageErrorFor("").find("use 'native'"), std::string::npos);
  EXPECT_NE(usageErrorFor("gfx90a-something-long").find("unknown"),
            std::string::npos);
  // 32-bit processors cannot run the code.
  EXPECT_NE(usageErrorFor("pentium4m").find("unknown"), std::string::npos);
}

} // namespace
} // namespace brew::compiler
