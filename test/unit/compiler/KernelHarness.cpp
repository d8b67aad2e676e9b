//===- KernelHarness.cpp - Compilation and calls of kernels in tests ------===//

#include "KernelHarness.h"

#include "compiler/cpu/CpuTarget.h"
#include "compiler/cpu/LowerToLLVM.h"
#include "compiler/cpu/ObjectCode.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>

namespace brew::test {
namespace {

/// Parses a module and returns the result of `function` for it.
template <typename Emit>
std::string emit(const std::string &text, const std::string &cpu,
                 Threading threading, Emit function) {
  mlir::DialectRegistry registry;
  compiler::cpu::registerCpuDialects(registry);
  mlir::MLIRContext context(registry,
                            threading == Threading::On
                                ? mlir::MLIRContext::Threading::ENABLED
                                : mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    throw std::logic_error("the test's MLIR does not parse");
  return function(*module, compiler::cpu::resolveCpuTarget(cpu));
}

} // namespace

std::string compileText(const std::string &mlir, const std::string &cpu,
                        Threading threading) {
  return emit(mlir, cpu, threading, compiler::cpu::compileToSharedObject);
}

std::string assemblyOf(const std::string &mlir, const std::string &cpu) {
  return emit(mlir, cpu, Threading::On, compiler::cpu::emitAssembly);
}

std::string llvmIROf(const std::string &mlir, const std::string &cpu) {
  return emit(mlir, cpu, Threading::On, compiler::cpu::emitLLVMIR);
}

Kernels::Kernels(const std::string &mlir)
    : Kernels(SharedObject{compileText(mlir)}) {}

Kernels::Kernels(const SharedObject &object) {
  const std::string &bytes = object.bytes;
  file = memfd_create("kernels", MFD_CLOEXEC);
  if (file < 0 || write(file, bytes.data(), bytes.size()) !=
                      static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("cannot write the shared object to memory");
  handle = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(),
                  RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    throw std::runtime_error(dlerror());
}

Kernels::~Kernels() {
  dlclose(handle);
  close(file);
}

void Kernels::run(const std::string &name, std::vector<void *> buffers,
                  std::int64_t begin, std::int64_t end) {
  auto kernel = reinterpret_cast<void (*)(void **, std::int64_t, std::int64_t)>(
      dlsym(handle, name.c_str()));
  if (!kernel)
    throw std::runtime_error("no kernel " + name);
  kernel(buffers.data(), begin, end);
}

std::string elementwise(const std::string &name, const std::string &type,
                        std::size_t count, const std::string &body) {
  std::string memref = "memref<" + std::to_string(count) + "x" + type + ">";
  return "func.func private @" + name + "(%x: " + memref + ", %y: " + memref +
         ", %begin: index, %end: index) attributes {brew.kernel_entry} {\n"
         "  %step = arith.constant 1 : index\n"
         "  scf.for %i = %begin to %end step %step {\n"
         "    %v = memref.load %x[%i] : " +
         memref + "\n    " + body + "\n" +
         "    memref.store %r, %y[%i] : " + memref + "\n  }\n  return\n}\n";
}

} // namespace brew::test
