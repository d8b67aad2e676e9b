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
      SmallVector<int64_t> at;
      for (Value index : extract.getIndices())
        at.push_back(static_cast<int64_t>(get(index)));
      return read(extract.getTensor(), at);
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

/// Elements of a tensor, row-major by its logical dimensions.
using Elements = std::vector<Number>;

int64_t position(ArrayRef<int64_t> strides, ArrayRef<int64_t> at) {
  int64_t sum = 0;
  for (auto [stride, index] : llvm::zip(strides, at))
    sum += stride * index;
  return sum;
}

SmallVector<int64_t> logicalStrides(Value tensor) {
  return dialects::memoryStrides(RankedTensorType::get(
      dialects::shapeOf(tensor), dialects::elementTypeOf(tensor)));
}

void forEachIndex(ArrayRef<int64_t> extents,
                  llvm::function_ref<void(ArrayRef<int64_t>)> function) {
  SmallVector<int64_t> at(extents.size(), 0);
  while (true) {
    function(at);
    unsigned i = extents.size();
    while (i > 0 && ++at[i - 1] == extents[i - 1])
      at[--i] = 0;
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
    for (auto [value, place] :
         llvm::zip(body.getTerminator()->getOperands(), kernel.getInPlace()))
      store(value, buffers[place < 0 ? next++ : place]);
  }

private:
  static Elements load(Value tensor, LaunchBuffer &buffer) {
    Elements elements(buffer.count);
    SmallVector<int64_t> memory = dialects::memoryStrides(
                             dialects::tensorTypeOf(tensor)),
                         logical = logicalStrides(tensor);
    forEachIndex(dialects::shapeOf(tensor), [&](ArrayRef<int64_t> at) {
      elements[position(logical, at)] = buffer.get(position(memory, at));
    });
    return elements;
  }
  void store(Value tensor, LaunchBuffer &buffer) {
    const Elements &elements = tensors[tensor];
    SmallVector<int64_t> memory = dialects::memoryStrides(
                             dialects::tensorTypeOf(tensor)),
                         logical = logicalStrides(tensor);
    forEachIndex(dialects::shapeOf(tensor), [&](ArrayRef<int64_t> at) {
      buffer.set(position(memory, at), elements[position(logical, at)]);
    });
  }

  int64_t place(Value tensor, ArrayRef<int64_t> at) {
    SmallVector<int64_t> &known = strides[tensor];
    if (known.empty())
      known = logicalStrides(tensor);
    return position(known, at);
  }

  Number read(Value tensor, ArrayRef<int64_t> at) {
    return tensors[tensor].at(place(tensor, at));
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
    BodyInterpreter body(
        [&](Value tensor, ArrayRef<int64_t> at) { return read(tensor, at); });
    forEachIndex(nest.getStaticLoopRanges(), [&](ArrayRef<int64_t> loops) {
      SmallVector<Number> arguments;
      for (OpOperand *operand : nest.getDpsInputOperands()) {
        bool used = !nest.getMatchingBlockArgument(operand).use_empty();
        SmallVector<int64_t> at =
            applyMap(nest.getMatchingIndexingMap(operand), loops);
        arguments.push_back(used ? read(operand->get(), at) : 0);
      }
      SmallVector<int64_t> places;
      for (auto [i, result] : llvm::enumerate(nest.getResults())) {
        AffineMap map = nest.getMatchingIndexingMap(nest.getDpsInitOperand(i));
        places.push_back(place(result, applyMap(map, loops)));
        arguments.push_back(tensors[result][places.back()]);
      }
      SmallVector<Number> values = body.run(nest, loops, arguments);
      for (auto [i, result] : llvm::enumerate(nest.getResults()))
        tensors[result][places[i]] = values[i];
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
