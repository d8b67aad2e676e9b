//===- NestInterpreter.cpp - Interpreter of plan.kernel bodies ------------===//

#include "NestInterpreter.h"

#include "caffe/weights/Float16.h"
#include "dialects/Brew/BrewDialect.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <stdexcept>

using namespace mlir;

namespace brew::test {
namespace {

using Number = double; // represents every f32, i32 and index of the tests
                       // exactly

int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> operands) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return operands[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t x = evaluate(binary.getLHS(), operands),
          y = evaluate(binary.getRHS(), operands);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return x + y;
  case AffineExprKind::Mul:
    return x * y;
  default:
    throw std::logic_error("the interpreter lacks an affine operation");
  }
}

SmallVector<int64_t> applyMap(AffineMap map, ArrayRef<int64_t> operands) {
  SmallVector<int64_t> values;
  for (AffineExpr expr : map.getResults())
    values.push_back(evaluate(expr, operands));
  return values;
}

/// Evaluates the body of one nest.
class BodyInterpreter {
public:
  using Read = std::function<Number(Value, ArrayRef<int64_t>)>;
  explicit BodyInterpreter(Read read) : read(std::move(read)) {}

  SmallVector<Number> run(linalg::GenericOp nest, ArrayRef<int64_t> loops,
                          ArrayRef<Number> arguments) {
    for (auto [argument, value] :
         llvm::zip(nest.getBody()->getArguments(), arguments))
      values[argument] = value;
    for (Operation &op : nest.getBody()->without_terminator())
      values[op.getResult(0)] =
          round(op.getResult(0).getType(), evaluate(&op, loops));
    SmallVector<Number> results;
    for (Value value : nest.getBody()->getTerminator()->getOperands())
      results.push_back(get(value));
    return results;
  }

private:
  static Number round(Type type, Number value) {
    auto single = [&] { return static_cast<float>(value); };
    if (type.isBF16())
      return double(caffe::BFloat16(single()));
    if (type.isF16())
      return double(caffe::Float16(single()));
    return type.isF32() ? single() : value;
  }

  Number get(Value value) {
    auto found = values.find(value);
    if (found != values.end())
      return found->second;
    return constant(value.getDefiningOp<arith::ConstantOp>());
  }

  static Number constant(arith::ConstantOp op) {
    if (auto number = dyn_cast<FloatAttr>(op.getValue()))
      return number.getValueAsDouble();
    return static_cast<Number>(cast<IntegerAttr>(op.getValue()).getInt());
  }

  static bool compare(arith::CmpFPredicate predicate, Number x, Number y) {
    switch (predicate) {
    case arith::CmpFPredicate::OGT:
      return x > y;
    case arith::CmpFPredicate::OGE:
      return x >= y;
    case arith::CmpFPredicate::OEQ:
      return x == y;
    default:
      throw std::logic_error("the interpreter lacks a predicate");
    }
  }
  static bool compare(arith::CmpIPredicate predicate, Number x, Number y) {
    switch (predicate) {
    case arith::CmpIPredicate::slt:
      return x < y;
    case arith::CmpIPredicate::sge:
      return x >= y;
    case arith::CmpIPredicate::eq:
      return x == y;
    default:
      throw std::logic_error("the interpreter lacks a predicate");
    }
  }

  Number evaluate(Operation *op, ArrayRef<int64_t> loops) {
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      return loops[index.getDim()];
    if (auto value = dyn_cast<arith::ConstantOp>(op))
      return constant(value);
    SmallVector<Number> x;
    if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
      SmallVector<int64_t> indices;
      for (Value index : extract.getIndices())
        indices.push_back(static_cast<int64_t>(get(index)));
      return read(extract.getTensor(), indices);
    }
    for (Value operand : op->getOperands())
      x.push_back(get(operand));
    return llvm::TypeSwitch<Operation *, Number>(op)
        .Case([&](arith::AddFOp) { return x[0] + x[1]; })
        .Case([&](arith::SubFOp) { return x[0] - x[1]; })
        .Case([&](arith::MulFOp) { return x[0] * x[1]; })
        .Case([&](arith::DivFOp) { return x[0] / x[1]; })
        .Case([&](arith::NegFOp) { return -x[0]; })
        .Case([&](arith::AddIOp) { return x[0] + x[1]; })
        .Case([&](arith::SubIOp) { return x[0] - x[1]; })
        .Case([&](arith::MulIOp) { return x[0] * x[1]; })
        .Case([&](arith::DivUIOp) { return std::floor(x[0] / x[1]); })
        .Case([&](arith::RemUIOp) { return std::fmod(x[0], x[1]); })
        .Case([&](arith::AndIOp) { return x[0] != 0 && x[1] != 0; })
        .Case([&](arith::OrIOp) { return x[0] != 0 || x[1] != 0; })
        .Case([&](arith::MaximumFOp) { return std::max(x[0], x[1]); })
        .Case([&](arith::MaxSIOp) { return std::max(x[0], x[1]); })
        .Case([&](arith::MinSIOp) { return std::min(x[0], x[1]); })
        .Case([&](arith::SelectOp) { return x[0] != 0 ? x[1] : x[2]; })
        .Case([&](arith::IndexCastOp) { return x[0]; })
        .Case([&](arith::SIToFPOp) { return x[0]; })
        .Case([&](arith::ExtFOp) { return x[0]; })
        .Case([&](arith::TruncFOp) { return x[0]; })
        .Case([&](arith::FPToSIOp) { return std::trunc(x[0]); })
        .Case([&](affine::AffineApplyOp apply) {
          SmallVector<int64_t> at(x.begin(), x.end());
          return static_cast<Number>(applyMap(apply.getMap(), at)[0]);
        })
        .Case([&](math::ExpOp) { return std::exp(x[0]); })
        .Case([&](math::LogOp) { return std::log(x[0]); })
        .Case([&](math::AbsFOp) { return std::fabs(x[0]); })
        .Case([&](arith::CmpFOp compareOp) {
          return compare(compareOp.getPredicate(), x[0], x[1]);
        })
        .Case([&](arith::CmpIOp compareOp) {
          return compare(compareOp.getPredicate(), x[0], x[1]);
        })
        .Default([](Operation *unknown) -> Number {
          throw std::logic_error("the interpreter lacks " +
                                 unknown->getName().getStringRef().str());
        });
  }

  Read read;
  llvm::DenseMap<Value, Number> values;
};

/// The elements of a tensor in row-major order of its logical dimensions.
using Elements = std::vector<Number>;

int64_t linearIndex(ArrayRef<int64_t> strides, ArrayRef<int64_t> indices) {
  int64_t sum = 0;
  for (auto [stride, index] : llvm::zip(strides, indices))
    sum += stride * index;
  return sum;
}

SmallVector<int64_t> logicalStrides(Value tensor) {
  return dialects::memoryStrides(RankedTensorType::get(
      dialects::shapeOf(tensor), dialects::elementTypeOf(tensor)));
}

void forEachIndex(ArrayRef<int64_t> extents,
                  llvm::function_ref<void(ArrayRef<int64_t>)> function) {
  SmallVector<int64_t> indices(extents.size(), 0);
  while (true) {
    function(indices);
    unsigned i = extents.size();
    while (i > 0 && ++indices[i - 1] == extents[i - 1])
      indices[--i] = 0;
    if (i == 0)
      return;
  }
}

class KernelInterpreter {
public:
  void run(dialects::plan::KernelOp kernel,
           std::vector<LaunchBuffer> &buffers) {
    Block &body = kernel.getBody().front();
    for (BlockArgument argument : body.getArguments())
      tensors[argument] = load(argument, buffers[argument.getArgNumber()]);
    for (Operation &op : body.without_terminator())
      if (auto nest = dyn_cast<linalg::GenericOp>(op))
        runNest(nest);
    unsigned next = body.getNumArguments();
    for (auto [value, inPlace] :
         llvm::zip(body.getTerminator()->getOperands(), kernel.getInPlace()))
      store(value, buffers[inPlace < 0 ? next++ : inPlace]);
  }

private:
  static Elements load(Value tensor, LaunchBuffer &buffer) {
    Elements elements(buffer.count);
    SmallVector<int64_t> memory = dialects::memoryStrides(
                             dialects::tensorTypeOf(tensor)),
                         logical = logicalStrides(tensor);
    forEachIndex(dialects::shapeOf(tensor), [&](ArrayRef<int64_t> indices) {
      elements[linearIndex(logical, indices)] =
          buffer.get(linearIndex(memory, indices));
    });
    return elements;
  }
  void store(Value tensor, LaunchBuffer &buffer) {
    const Elements &elements = tensors[tensor];
    SmallVector<int64_t> memory = dialects::memoryStrides(
                             dialects::tensorTypeOf(tensor)),
                         logical = logicalStrides(tensor);
    forEachIndex(dialects::shapeOf(tensor), [&](ArrayRef<int64_t> indices) {
      buffer.set(linearIndex(memory, indices),
                 elements[linearIndex(logical, indices)]);
    });
  }

  int64_t elementIndex(Value tensor, ArrayRef<int64_t> indices) {
    SmallVector<int64_t> &cached = strides[tensor];
    if (cached.empty())
      cached = logicalStrides(tensor);
    return linearIndex(cached, indices);
  }

  Number read(Value tensor, ArrayRef<int64_t> indices) {
    return tensors[tensor].at(elementIndex(tensor, indices));
  }

  void runNest(linalg::GenericOp nest) {
    for (auto [result, init] :
         llvm::zip(nest.getResults(), nest.getDpsInits())) {
      Number value = std::nan(""); // represents uninitialised memory
      if (auto fill = init.getDefiningOp<linalg::FillOp>()) {
        auto attribute =
            fill.getInputs()[0].getDefiningOp<arith::ConstantOp>().getValue();
        value = isa<FloatAttr>(attribute)
                    ? cast<FloatAttr>(attribute).getValueAsDouble()
                    : cast<IntegerAttr>(attribute).getInt();
      }
      if (tensors.count(init)) {
        Elements copy = tensors[init];
        tensors[result] = copy;
      } else {
        tensors[result] =
            Elements(dialects::countOf(dialects::shapeOf(result)), value);
      }
    }
    BodyInterpreter body([&](Value tensor, ArrayRef<int64_t> indices) {
      return read(tensor, indices);
    });
    forEachIndex(nest.getStaticLoopRanges(), [&](ArrayRef<int64_t> loops) {
      SmallVector<Number> arguments;
      for (OpOperand *operand : nest.getDpsInputOperands()) {
        bool isUsed = !nest.getMatchingBlockArgument(operand).use_empty();
        SmallVector<int64_t> indices =
            applyMap(nest.getMatchingIndexingMap(operand), loops);
        arguments.push_back(isUsed ? read(operand->get(), indices) : 0);
      }
      SmallVector<int64_t> elementIndices;
      for (auto [i, result] : llvm::enumerate(nest.getResults())) {
        AffineMap map = nest.getMatchingIndexingMap(nest.getDpsInitOperand(i));
        elementIndices.push_back(elementIndex(result, applyMap(map, loops)));
        arguments.push_back(tensors[result][elementIndices.back()]);
      }
      SmallVector<Number> values = body.run(nest, loops, arguments);
      for (auto [i, result] : llvm::enumerate(nest.getResults()))
        tensors[result][elementIndices[i]] = values[i];
    });
  }

  llvm::DenseMap<Value, Elements> tensors;
  llvm::DenseMap<Value, SmallVector<int64_t>> strides;
};

} // namespace

void interpretKernel(dialects::plan::KernelOp kernel,
                     std::vector<LaunchBuffer> &buffers) {
  KernelInterpreter().run(kernel, buffers);
}

} // namespace brew::test
