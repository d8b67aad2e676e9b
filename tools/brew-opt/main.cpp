//===- main.cpp - brew-opt: runs Brew's passes on textual IR --------------===//
#include "compiler/Pipeline.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  brew::compiler::registerDialects(registry);
  brew::compiler::registerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Brew's pass driver\n", registry));
}
