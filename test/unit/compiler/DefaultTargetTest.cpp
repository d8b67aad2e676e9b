//===- DefaultTargetTest.cpp - Tests of the default machine ---------------===//
#include "dialects/Target/TargetDialect.h"
#include "passes/Passes.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

namespace brew {
namespace {

TEST(DefaultTarget, EqualsTheAttachedTarget) {
  mlir::MLIRContext context;
  context.loadDialect<dialects::target::TargetDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module(
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context)));
  const dialects::target::CpuAttr defaultTarget =
      dialects::target::cpuOf(*module);
  mlir::PassManager passes(&context, mlir::ModuleOp::getOperationName());
  passes.addPass(passes::createAttachTarget());
  ASSERT_TRUE(mlir::succeeded(passes.run(*module)));
  EXPECT_EQ((*module)->getAttr(dialects::target::kMachineAttr), defaultTarget);
}

} // namespace
} // namespace brew
