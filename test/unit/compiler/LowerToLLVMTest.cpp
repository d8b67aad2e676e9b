//===- LowerToLLVMTest.cpp - Tests of the lowering to LLVM IR -------------===//

#include "KernelHarness.h"

#include "support/Error.h"

#include <gtest/gtest.h>

namespace brew::test {
namespace {

bool contains(const std::string &text, const std::string &substring) {
  return text.find(substring) != std::string::npos;
}

/// Returns the line of `text` that defines function `name`.
std::string definitionOf(const std::string &text, const std::string &name) {
  for (std::size_t begin = 0;
       (begin = text.find("\ndefine ", begin)) != std::string::npos; ++begin) {
    std::string line =
        text.substr(begin + 1, text.find('\n', begin + 1) - begin - 1);
    if (contains(line, "@" + name + "("))
      return line;
  }
  return "";
}

const char kernel[] = R"(
func.func private @k(%x: memref<10xf32>, %y: memref<4x8xf64, strided<[16, 1], offset: 2>>
                     {brew.may_alias, brew.align = 16 : i64}, %begin: index, %end: index)
    attributes {brew.kernel_entry} {
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%begin] : memref<10xf32>
  %w = arith.extf %v : f32 to f64
  memref.store %w, %y[%c0, %end] : memref<4x8xf64, strided<[16, 1], offset: 2>>
  return
})";

TEST(LowerToLLVM, ArgumentAttributes) {
  std::string ir = llvmIROf(kernel, "x86-64-v3");
  std::string body = definitionOf(ir, "k.body");
  ASSERT_FALSE(body.empty()) << ir;
  EXPECT_TRUE(contains(body, "define internal")) << body;
  std::string first = body.substr(0, body.find("%0")),
              second = body.substr(first.size());
  EXPECT_TRUE(contains(first, "noalias")) << body;
  EXPECT_TRUE(contains(first, "align 64")) << body;
  EXPECT_TRUE(contains(first, "dereferenceable(40)")) << body;
  EXPECT_FALSE(contains(second, "noalias")) << body;
  EXPECT_TRUE(contains(second, "align 16")) << body;
  // 2 + 3 * 16 + 7 elements precede the last one.
  EXPECT_TRUE(contains(second, "dereferenceable(464)")) << body;

  std::string entry = definitionOf(ir, "k");
  EXPECT_TRUE(contains(entry, "define void @k(ptr")) << entry;
}

TEST(LowerToLLVM, TargetAttributes) {
  std::string ir = llvmIROf(kernel, "x86-64-v3");
  EXPECT_TRUE(contains(ir, "\"tune-cpu\"=\"x86-64-v3\"")) << ir;
  EXPECT_TRUE(contains(ir, "+avx2"));
  EXPECT_FALSE(contains(ir, "avx512"));
}

/// Returns the error of compiling unsupported functions.
std::string compileError(const std::string &mlir) {
  try {
    compileText(mlir);
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), ExitStatus::Bug);
    return error.what();
  }
  ADD_FAILURE() << "the functions were accepted: " << mlir;
  return "";
}

TEST(LowerToLLVM, RejectsUnsupportedOperations) {
  EXPECT_TRUE(contains(compileError(R"(
func.func private @k(%x: memref<?xf32>, %b: index, %e: index) attributes {brew.kernel_entry} { return })"),
                       "static shape"));
  EXPECT_TRUE(contains(compileError(R"(
func.func private @k(%x: memref<4xf32, strided<[?]>>, %b: index, %e: index) attributes {brew.kernel_entry} { return })"),
                       "static shape"));
  EXPECT_TRUE(contains(compileError(R"(
func.func private @k(%x: memref<4xf32>) attributes {brew.kernel_entry} { return })"),
                       "begin and end"));
  EXPECT_TRUE(contains(compileError(R"(
func.func private @k(%x: memref<4xf32>, %b: f32, %e: index) attributes {brew.kernel_entry} { return })"),
                       "range argument"));
  EXPECT_TRUE(contains(compileError(R"(
func.func private @k(%x: memref<4xf32> {brew.align = 3 : i64}, %b: index, %e: index) attributes {brew.kernel_entry} { return })"),
                       "brew.align"));
}

TEST(LowerToLLVM, RejectsCallsOutsideLibcAndLibm) {
  // A strided memref.copy becomes a call into MLIR's runtime library.
  std::string text = compileError(R"(
func.func private @k(%x: memref<4x4xf32, strided<[8, 1]>>, %y: memref<4x4xf32>, %b: index, %e: index)
    attributes {brew.kernel_entry} {
  memref.copy %x, %y : memref<4x4xf32, strided<[8, 1]>> to memref<4x4xf32>
  return
})");
  EXPECT_TRUE(contains(text, "memrefCopy")) << text;
}

} // namespace
} // namespace brew::test
