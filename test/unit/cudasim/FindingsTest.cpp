//===- FindingsTest.cpp - Detection of invalid kernels --------------------===//
#include "Kernel.h"

#include <gtest/gtest.h>

using namespace brew::test;

namespace {

alignas(16) float first[4096], second[4096];

/// Expects the launch of a kernel to end the program with a message that
/// matches the regular expression `message`. `declarations` precede the kernel.
void expectFinding(const char *parameters, const char *body, unsigned blocks,
                   unsigned threads, std::initializer_list<void *> arguments,
                   const char *message, const char *declarations = "") {
  std::string text = declarations + std::string("BREW_KERNEL(k, 256)(") +
                     parameters + ") {\n" + body + "\n}\n";
  Kernel kernel("k", text);
  EXPECT_EXIT(kernel.launch(blocks, threads, arguments),
              testing::ExitedWithCode(70), message);
  std::string log = compileWithNvrtc(kernel.text(), "sm_90");
  if (log != "no NVRTC")
    EXPECT_EQ(log, "")
        << "the text must be valid CUDA C++, although the kernel is wrong";
}

TEST(CudasimFindings, ReadBeyondAnArgument) {
  expectFinding(
      "BREW_IN(float, x, 100), BREW_OUT(float, y, 128)",
      "int i = threadIdx.x; y[i] = x[i];", 1, 128, {first, second},
      "kernel 'k', block \\(0,0,0\\), thread \\(100,0,0\\): access to "
      "x\\[100\\], which has 100 elements");
}

TEST(CudasimFindings, WriteBeforeAnArgument) {
  expectFinding("BREW_OUT(float, y, 128)",
                "int i = threadIdx.x; y[i - 1] = 0.0f;", 1, 128, {second},
                "thread \\(0,0,0\\): write of y\\[-1\\], which has 128");
}

TEST(CudasimFindings, VectorBeyondAnArgument) {
  expectFinding("BREW_OUT(float, y, 130)",
                "BREW_VECTOR(float, 4) v; v[0] = v[1] = v[2] = v[3] = 0.0f;\n"
                "using Pack = BREW_VECTOR(float, 4);\n"
                "BREW_STORE(Pack, y, 4 * threadIdx.x, v);",
                1, 64, {second},
                "thread \\(32,0,0\\): write of 4 elements at y\\[128\\]");
}

TEST(CudasimFindings, MisalignedVector) {
  expectFinding("BREW_IN(float, x, 130), BREW_OUT(float, y, 130)",
                "using Pack = BREW_VECTOR(float, 4);\n"
                "Pack v = BREW_LOAD(Pack, x, 2);\ny[0] = v[0];",
                1, 1, {first, second},
                "the address of x\\[2\\] is no multiple of 16");
}

TEST(CudasimFindings, SharedArrayOutOfBounds) {
  expectFinding(
      "BREW_OUT(float, y, 128)",
      "BREW_SHARED(float, s, 32);\ns[threadIdx.x] = 0.0f;\n"
      "y[threadIdx.x] = s[threadIdx.x];",
      1, 64, {second},
      "thread \\(32,0,0\\): access to shared s\\[32\\], which has 32");
}

TEST(CudasimFindings, SharedArrayReadBeforeWritten) {
  expectFinding("BREW_OUT(float, y, 128)",
                "BREW_SHARED(float, s, 64);\n"
                "if (threadIdx.x < 63) s[threadIdx.x] = 0.0f;\nBREW_SYNC();\n"
                "y[threadIdx.x] = s[threadIdx.x];",
                1, 64, {second},
                "thread \\(63,0,0\\): read of shared s\\[63\\], which nothing");
}

TEST(CudasimFindings, SharedMemoryDoesNotSurviveABlock) {
  expectFinding(
      "BREW_OUT(float, y, 128)",
      "BREW_SHARED(float, s, 64);\n"
      "if (blockIdx.x == 0) s[threadIdx.x] = 0.0f;\nBREW_SYNC();\n"
      "y[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];",
      2, 64, {second},
      "block \\(1,0,0\\), thread \\(0,0,0\\): read of shared s\\[0\\]");
}

TEST(CudasimFindings, TooMuchSharedMemory) {
  expectFinding("BREW_OUT(double, y, 128)",
                "BREW_SHARED(float, s, 8192);\nBREW_SHARED(float, t, 4097);\n"
                "s[threadIdx.x] = t[threadIdx.x] = 0.0f;",
                1, 64, {second},
                "the shared arrays take 49156 bytes, a block has 49152");
}

TEST(CudasimFindings, MissingBarrierBetweenWriteAndRead) {
  expectFinding("BREW_OUT(float, y, 128)",
                "BREW_SHARED(float, s, 64);\ns[threadIdx.x] = 0.0f;\n"
                "BREW_SYNC_WARP();\n"
                "y[threadIdx.x] = s[63 - threadIdx.x];\nBREW_SYNC();",
                1, 64, {second},
                "race on shared s\\[[0-9]+\\]: this thread reads it and thread "
                "\\([0-9]+,0,0\\) wrote it|read of shared");
}

TEST(CudasimFindings, MissingBarrierBeforeReuse) {
  expectFinding("BREW_OUT(float, y, 128)",
                "BREW_SHARED(float, s, 64);\ns[threadIdx.x] = 0.0f;\n"
                "BREW_SYNC();\nfloat a = s[0];\ns[threadIdx.x] = a;\n"
                "BREW_SYNC();\ny[threadIdx.x] = s[threadIdx.x];",
                1, 64, {second},
                "thread \\([0-9]+,0,0\\): race on shared s\\[0\\]: this thread "
                "(reads it and thread \\(0,0,0\\) wrote|writes it and)");
}

TEST(CudasimFindings, MissingWarpBarrier) {
  expectFinding("BREW_OUT(float, y, 32)",
                "BREW_SHARED(float, s, 32);\ns[threadIdx.x] = 1.0f;\n"
                "BREW_SYNC_WARP();\n"
                "if (threadIdx.x < 16) s[threadIdx.x] += s[threadIdx.x + 16];\n"
                "if (threadIdx.x < 8) s[threadIdx.x] += s[threadIdx.x + 8];\n"
                "y[threadIdx.x] = s[threadIdx.x];",
                1, 32, {second}, "race on shared s\\[");
}

TEST(CudasimFindings, BarrierThatSomeThreadsSkip) {
  expectFinding("BREW_OUT(float, y, 128)",
                "if (threadIdx.x < 40) BREW_SYNC();\ny[threadIdx.x] = 0.0f;", 1,
                64, {second},
                "divergence: waits at the barrier of the block in line [0-9]+, "
                "but thread \\(40,0,0\\) has left the kernel");
}

TEST(CudasimFindings, DifferentBarriers) {
  expectFinding("BREW_OUT(float, y, 128)",
                "if (threadIdx.x < 32)\n  BREW_SYNC();\nelse\n  BREW_SYNC();\n"
                "y[threadIdx.x] = 0.0f;",
                1, 64, {second},
                "divergence: waits at the barrier of the block in line [0-9]+, "
                "but thread \\(32,0,0\\) waits at the barrier of the block");
}

TEST(CudasimFindings, ShuffleWhileOthersWaitElsewhere) {
  expectFinding(
      "BREW_OUT(float, y, 128)",
      "float a = 1.0f;\n"
      "if (threadIdx.x < 8) a = BREW_SHUFFLE_XOR(a, 1);\nBREW_SYNC();\n"
      "y[threadIdx.x] = a;",
      1, 32, {second},
      "waits at the shuffle in line [0-9]+, but thread \\(8,0,0\\) "
      "waits at the barrier");
}

TEST(CudasimFindings, ShuffleFromALaneThatLeft) {
  expectFinding(
      "BREW_OUT(float, y, 128)",
      "float a = 1.0f;\nif (threadIdx.x >= 24) return;\n"
      "y[threadIdx.x] = BREW_SHUFFLE_XOR(a, 8);",
      1, 32, {second},
      "thread \\(16,0,0\\): the shuffle in line [0-9]+ reads from lane "
      "24, which is no longer there");
}

TEST(CudasimFindings, ShuffleBeyondASmallBlock) {
  expectFinding("BREW_OUT(float, y, 128)",
                "float a = 1.0f;\ny[threadIdx.x] = BREW_SHUFFLE_DOWN(a, 16);",
                1, 20, {second},
                "thread \\(4,0,0\\): .* lane 20, which is beyond the block's");
}

TEST(CudasimFindings, TwoThreadsWriteOneElement) {
  expectFinding(
      "BREW_OUT(float, y, 128)", "y[threadIdx.x / 2] = 0.0f;", 1, 64, {second},
      "thread \\(1,0,0\\): race on y\\[0\\]: this thread writes it and "
      "thread \\(0,0,0\\) wrote it");
}

TEST(CudasimFindings, TwoBlocksTouchOneElement) {
  expectFinding("BREW_INOUT(float, y, 128)",
                "int i = blockIdx.x * 64 + threadIdx.x;\n"
                "y[i] = i < 127 ? y[i + 1] : 0.0f;",
                2, 64, {second},
                "block \\(0,0,0\\), thread \\(1,0,0\\): race on y\\[1\\]: this "
                "thread writes it and thread \\(0,0,0\\) read it");
}

/// Returns the argument for the stages of a launch, a bit mask.
void *stages(unsigned long long mask) { return reinterpret_cast<void *>(mask); }

TEST(CudasimFindings, StagesThatCannotWaitForEachOther) {
  const char *parameters = "BREW_OUT(float, y, 128), BREW_STAGES(stages)";
  const char *body = "BREW_STAGE(stages, 0) y[threadIdx.x] = 1.0f;\n"
                     "BREW_STAGE_BARRIER(stages, 1, barrier);\n"
                     "BREW_STAGE(stages, 1) y[64 + threadIdx.x] = 2.0f;";
  const char *barrier = "BREW_BARRIER(barrier);\n";
  expectFinding(parameters, body, 1, 64, {second, stages(3)},
                "kernel 'k': its stages wait for each other, but the launch is "
                "not cooperative",
                barrier);
  expectFinding(parameters, body, 1, 64, {second, stages(0)},
                "none of its stages is to run", barrier);
}

/// Blocks of one stage are unordered.
TEST(CudasimFindings, BlocksOfOneStageTouchOneElement) {
  expectFinding("BREW_INOUT(float, y, 128), BREW_STAGES(stages)",
                "int i = blockIdx.x * 64 + threadIdx.x;\n"
                "BREW_STAGE(stages, 0) y[i] = 1.0f;\n"
                "BREW_STAGE_BARRIER(stages, 1, barrier);\n"
                "BREW_STAGE(stages, 1) y[i] = y[127 - i];",
                2, 64, {second, stages(2)},
                "block \\(1,0,0\\), .* race on y\\[.*\\]: this thread",
                "BREW_BARRIER(barrier);\n");
}

/// Blocks of stages without a barrier between them are unordered.
TEST(CudasimFindings, StagesWithoutABarrierTouchOneElement) {
  Kernel kernel("k", "BREW_KERNEL(k, 256)(BREW_INOUT(float, y, 128), "
                     "BREW_STAGES(stages)) {\n"
                     "int i = blockIdx.x * 64 + threadIdx.x;\n"
                     "BREW_STAGE(stages, 0) y[i] = 1.0f;\n"
                     "BREW_STAGE(stages, 1) y[127 - i] = 2.0f;\n}\n");
  kernel.setCooperative(true);
  EXPECT_EXIT(kernel.launch(2, 64, {second, stages(3)}),
              testing::ExitedWithCode(70), "race on y\\[.*\\]: this thread");
  kernel.setCooperative(false);
}

/// Shared memory does not survive from one stage to the next.
TEST(CudasimFindings, SharedMemoryDoesNotSurviveAStage) {
  expectFinding(
      "BREW_OUT(float, y, 128), BREW_STAGES(stages)",
      "BREW_SHARED(float, s, 64);\n"
      "BREW_STAGE(stages, 0) { s[threadIdx.x] = 1.0f; BREW_SYNC(); }\n"
      "BREW_STAGE_BARRIER(stages, 1, barrier);\n"
      "BREW_STAGE(stages, 1) y[threadIdx.x] = s[threadIdx.x];",
      1, 64, {second, stages(2)}, "read of shared s\\[0\\], which nothing",
      "BREW_BARRIER(barrier);\n");
}

/// A counter only orders accesses before the arrival of a block.
TEST(CudasimFindings, TheLastBlockReadsUnorderedElements) {
  const char *counter = "BREW_COUNTERS(arrived, 1);\n";
  expectFinding("BREW_INOUT(float, y, 128)",
                "int i = blockIdx.x * 64 + threadIdx.x;\n"
                "bool last = BREW_LAST_BLOCK(arrived[0], 2);\n"
                "y[i] = 1.0f;\n"
                "if (last) y[i] = BREW_LOAD_L2(y, 127 - i);",
                2, 64, {second},
                "block \\(1,0,0\\), .* race on y\\[.*\\]: this thread reads "
                "it and .* another block wrote it",
                counter);
  expectFinding("BREW_INOUT(float, y, 128)",
                "y[blockIdx.x * 64 + threadIdx.x] = 1.0f;\n"
                "if (BREW_LAST_BLOCK(arrived[0], 3)) y[0] = 2.0f;",
                2, 64, {second}, "2 blocks came to a counter, .* left at 2",
                counter);
}

TEST(CudasimFindings, RaceThroughAnotherArgument) {
  // Both arguments are the same memory, as floats and as bytes.
  expectFinding(
      "BREW_INOUT(float, x, 64), BREW_INOUT(unsigned char, y, 64)",
      "if (threadIdx.x == 0) x[1] = 0.0f; else y[threadIdx.x] = 0;", 1, 7,
      {second, second},
      "thread \\(4,0,0\\): race on y\\[4\\]: .* thread \\(0,0,0\\) wrote");
}

TEST(CudasimFindings, OutputReadBeforeWritten) {
  expectFinding("BREW_OUT(float, y, 128)", "y[threadIdx.x] += 1.0f;", 1, 64,
                {second}, "read of y\\[0\\], which is output only");
}

TEST(CudasimFindings, ArgumentsThatShareMemory) {
  expectFinding("BREW_IN(float, x, 128), BREW_OUT(float, y, 128)",
                "y[threadIdx.x] = x[threadIdx.x];", 1, 64, {first, first + 100},
                "kernel 'k': arguments x and y share memory");
}

TEST(CudasimFindings, StacksThatOverflow) {
  const std::string body = "volatile char large[16 << 20];\n"
                           "large[0] = 1;\ny[threadIdx.x] = large[0];\n}\n";
  const std::string head = "BREW_KERNEL(k, 32)(BREW_OUT(float, y, 32)) {\n";
  for (const char *barrier : {"BREW_SYNC();\n", ""}) {
    Kernel kernel("k", head + barrier + body);
    EXPECT_EXIT(kernel.launch(1, 32, {second}), testing::ExitedWithCode(70),
                "kernel 'k', block \\(0,0,0\\), thread \\(0,0,0\\): its "
                "frames take more than the 8388608 bytes of a simulated "
                "thread's stack");
  }
}

TEST(CudasimFindings, MoreThreadsThanDeclared) {
  expectFinding("BREW_OUT(float, y, 1024)", "y[threadIdx.x] = 0.0f;", 1, 512,
                {second},
                "launched with 512 threads in a block, .* at most 256");
}

} // namespace
