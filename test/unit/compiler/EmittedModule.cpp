//===- EmittedModule.cpp - Emitted kernels and their expected values ------===//

#include "EmittedModule.h"

#include "KernelHarness.h"
#include "NestInterpreter.h"

#include "caffe/weights/Float16.h"
#include "compiler/cpu/CpuTarget.h"
#include "compiler/cpu/LowerToLLVM.h"
#include "compiler/cpu/ObjectCode.h"
#include "compiler/cuda/EmitKernels.h"
#include "compiler/cuda/SimCompiler.h"
#include "dialects/Brew/BrewDialect.h"
#include "dialects/Target/TargetDialect.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <dlfcn.h>
#include <set>
#include <sstream>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;

namespace brew::test {

LaunchBuffer::LaunchBuffer(Type type, std::size_t count)
    : type(type), count(count), storage(bytes() + 64) {}

std::size_t LaunchBuffer::bytes() const {
  constexpr std::size_t sizes[] = {4, 8, 1, 4, 2, 2};
  return count * sizes[static_cast<int>(type)];
}

void *LaunchBuffer::data() {
  auto address = reinterpret_cast<std::uintptr_t>(storage.data());
  return reinterpret_cast<void *>((address + 63) / 64 * 64);
}

double LaunchBuffer::get(std::size_t i) const {
  const void *p = const_cast<LaunchBuffer *>(this)->data();
  switch (type) {
  case Type::F32:
    return static_cast<const float *>(p)[i];
  case Type::F64:
    return static_cast<const double *>(p)[i];
  case Type::I8:
    return static_cast<const std::int8_t *>(p)[i];
  case Type::I32:
    return static_cast<const std::int32_t *>(p)[i];
  case Type::BF16:
    return double(static_cast<const caffe::BFloat16 *>(p)[i]);
  case Type::F16:
    return double(static_cast<const caffe::Float16 *>(p)[i]);
  }
  return 0;
}

void LaunchBuffer::set(std::size_t i, double value) {
  void *p = data();
  switch (type) {
  case Type::F32:
    static_cast<float *>(p)[i] = static_cast<float>(value);
    break;
  case Type::F64:
    static_cast<double *>(p)[i] = value;
    break;
  case Type::I8:
    static_cast<std::int8_t *>(p)[i] = static_cast<std::int8_t>(value);
    break;
  case Type::I32:
    static_cast<std::int32_t *>(p)[i] = static_cast<std::int32_t>(value);
    break;
  case Type::BF16:
    static_cast<caffe::BFloat16 *>(p)[i] =
        caffe::BFloat16(static_cast<float>(value));
    break;
  case Type::F16:
    static_cast<caffe::Float16 *>(p)[i] =
        caffe::Float16(static_cast<float>(value));
    break;
  }
}

double sampleValue(unsigned argument, std::size_t i) {
  std::uint64_t x = (argument * 1000003u + i + 1) * 0x9E3779B97F4A7C15u;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9u;
  x ^= x >> 32;
  return static_cast<double>(x % 4000000) / 1000000.0 - 2.0;
}

struct EmittedModule::Implementation {
  MLIRContext context;
  OwningOpRef<ModuleOp> source, functions;
  std::unique_ptr<Kernels> code;

  static DialectRegistry dialects() {
    DialectRegistry registry;
    compiler::cpu::registerCpuDialects(registry);
    registry.insert<dialects::BrewDialect, dialects::plan::PlanDialect,
                    affine::AffineDialect, arith::ArithDialect,
                    linalg::LinalgDialect, math::MathDialect,
                    tensor::TensorDialect, dialects::target::TargetDialect>();
    return registry;
  }
  Implementation() : context(dialects()) {}

  dialects::plan::KernelOp find(const std::string &name) {
    auto kernel = source->lookupSymbol<dialects::plan::KernelOp>(name);
    if (!kernel)
      throw std::logic_error("no kernel " + name);
    return kernel;
  }
};

EmittedModule::EmittedModule(const std::string &text)
    : implementation(std::make_unique<Implementation>()) {
  implementation->source =
      parseSourceString<ModuleOp>(text, &implementation->context);
  if (!implementation->source)
    throw std::logic_error("the test's MLIR does not parse");
  implementation->functions =
      compiler::cpu::emitKernels(*implementation->source, emitted);
  implementation->code = std::make_unique<Kernels>(
      Kernels::SharedObject{compiler::cpu::compileToSharedObject(
          *implementation->functions,
          compiler::cpu::resolveCpuTarget("native"))});
}

EmittedModule::~EmittedModule() = default;

const compiler::cpu::EmittedKernel &
EmittedModule::kernel(const std::string &name) const {
  for (const compiler::cpu::EmittedKernel &kernel : emitted)
    if (kernel.symbol == name)
      return kernel;
  throw std::logic_error("no kernel " + name);
}

std::vector<LaunchBuffer> EmittedModule::buffers(
    const std::string &name,
    const std::function<double(unsigned, std::size_t)> &values) {
  dialects::plan::KernelOp kernel = implementation->find(name);
  Block &body = kernel.getBody().front();
  std::vector<LaunchBuffer> buffers;
  auto add = [&](Value value, bool isInput) {
    Type element = dialects::elementTypeOf(value);
    auto type = element.isF32()        ? LaunchBuffer::Type::F32
                : element.isF64()      ? LaunchBuffer::Type::F64
                : element.isInteger(8) ? LaunchBuffer::Type::I8
                : element.isBF16()     ? LaunchBuffer::Type::BF16
                : element.isF16()      ? LaunchBuffer::Type::F16
                                       : LaunchBuffer::Type::I32;
    unsigned index = buffers.size();
    buffers.emplace_back(type, dialects::countOf(dialects::shapeOf(value)));
    for (std::size_t i = 0; i < buffers.back().count; ++i)
      buffers.back().set(i, isInput ? values(index, i) : 77);
  };
  for (BlockArgument argument : body.getArguments())
    add(argument, true);
  for (auto [value, inPlace] :
       llvm::zip(body.getTerminator()->getOperands(), kernel.getInPlace()))
    if (inPlace < 0)
      add(value, false);
  return buffers;
}

void EmittedModule::run(const std::string &name,
                        std::vector<LaunchBuffer> &buffers, std::int64_t begin,
                        std::int64_t end) {
  std::vector<void *> pointers;
  for (LaunchBuffer &buffer : buffers)
    pointers.push_back(buffer.data());
  implementation->code->run(name, pointers, begin, end);
}

static compiler::cuda::EmittedKernel
cudaKernel(ModuleOp source, const std::string &name, unsigned team) {
  for (compiler::cuda::EmittedKernel &kernel :
       compiler::cuda::emitKernels(source, {team}))
    if (kernel.text.find("// Kernel " + name + ":") == 0)
      return kernel;
  throw std::logic_error("no kernel " + name);
}

std::string EmittedModule::cudaText(const std::string &name, unsigned team) {
  return cudaKernel(*implementation->source, name, team).text;
}

void EmittedModule::runOnGpu(const std::string &name,
                             std::vector<LaunchBuffer> &buffers,
                             unsigned team) {
  compiler::cuda::EmittedKernel kernel =
      cudaKernel(*implementation->source, name, team);
  compiler::cuda::SimCompiler::Result result =
      compiler::cuda::SimCompiler().compile(kernel.text, kernel.symbol);
  if (!result.succeeded)
    throw std::logic_error(result.log + kernel.text);
  int file = memfd_create("kernel", MFD_CLOEXEC);
  if (file < 0 || write(file, result.image.data(), result.image.size()) !=
                      static_cast<ssize_t>(result.image.size()))
    throw std::runtime_error("cannot write the image to memory");
  void *image = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(),
                       RTLD_NOW | RTLD_LOCAL);
  close(file);
  if (!image)
    throw std::runtime_error(dlerror());
  using Launch = void(const unsigned *, const unsigned *, void **);
  auto *launch = reinterpret_cast<Launch *>(
      dlsym(image, ("cudasim_kernel_" + kernel.symbol).c_str()));
  std::vector<void *> data, arguments;
  for (LaunchBuffer &buffer : buffers)
    data.push_back(buffer.data());
  for (void *&address : data)
    arguments.push_back(&address);
  unsigned grid[] = {kernel.blocks, 1, 1}, block[] = {kernel.threads, 1, 1};
  launch(grid, block, arguments.data());
  dlclose(image);
}

void EmittedModule::interpret(const std::string &name,
                              std::vector<LaunchBuffer> &buffers) {
  interpretKernel(implementation->find(name), buffers);
}

std::string EmittedModule::functions() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  implementation->functions->print(stream);
  return text;
}

std::string EmittedModule::assembly() const {
  return compiler::cpu::emitAssembly(*implementation->functions,
                                     compiler::cpu::resolveCpuTarget("native"));
}

/// Returns a description of the first difference between `actual` and
/// `expected`, "" without one.
static std::string firstDifference(std::vector<LaunchBuffer> &actual,
                                   std::vector<LaunchBuffer> &expected,
                                   double tolerance) {
  for (std::size_t a = 0; a < actual.size(); ++a)
    for (std::size_t i = 0; i < actual[a].count; ++i) {
      double expectedValue = expected[a].get(i), value = actual[a].get(i);
      if (std::abs(expectedValue - value) <=
          tolerance * std::max(1.0, std::abs(expectedValue)))
        continue;
      std::ostringstream text;
      text << "buffer " << a << ", element " << i << ": " << value
           << " instead of " << expectedValue;
      return text.str();
    }
  return "";
}

std::string compareWithInterpreter(
    EmittedModule &module, const std::string &name, double tolerance,
    const std::function<double(unsigned, std::size_t)> &values,
    const std::vector<unsigned> &teams) {
  std::vector<LaunchBuffer> expected = module.buffers(name, values);
  module.interpret(name, expected);
  std::int64_t domain = module.kernel(name).domain;
  // The bounds of the ranges of each run.
  std::vector<std::vector<std::int64_t>> partitions = {
      {0, domain}, {0, domain / 2, domain}, {0}};
  for (std::int64_t bound = 0; bound < domain;)
    partitions.back().push_back(
        bound = std::min(domain, bound + 1 + bound / 3 + bound % 7));
  for (const std::vector<std::int64_t> &bounds : partitions) {
    std::vector<LaunchBuffer> actual = module.buffers(name, values);
    // Ranges may run in any order.
    for (std::size_t i = bounds.size() - 1; i > 0; --i)
      module.run(name, actual, bounds[i - 1], bounds[i]);
    std::string difference = firstDifference(actual, expected, tolerance);
    if (!difference.empty())
      return name + ": " + difference + " in " +
             std::to_string(bounds.size() - 1) + " ranges of " +
             std::to_string(domain);
  }
  std::set<std::string> testedTexts;
  for (unsigned team : teams) {
    if (!testedTexts.insert(module.cudaText(name, team)).second)
      continue;
    std::vector<LaunchBuffer> actual = module.buffers(name, values);
    module.runOnGpu(name, actual, team);
    // The simulator does not contract multiply-adds.
    std::string difference =
        firstDifference(actual, expected, std::max(tolerance, 1e-6));
    if (!difference.empty())
      return name + ": " + difference + " with teams of " +
             std::to_string(team) + "\n" + module.cudaText(name, team);
  }
  return "";
}

} // namespace brew::test
