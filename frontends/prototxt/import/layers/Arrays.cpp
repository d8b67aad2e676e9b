//===- Arrays.cpp - Layers of two arrays, of Synopsys Caffe ---------------===//

#include "dialects/Brew/layers/shape/Arrays.h"
#include "dialects/Brew/layers/elementwise/Elementwise.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "frontends/prototxt/import/layers/Formula.h"

using namespace brew::dialects;
using mlir::Value;

namespace brew::prototxt {

namespace {

/// Returns the two operands. The second one is a parameter of shape `dims` if
/// there is one bottom.
template <typename Dims>
std::pair<Value, Value> operandsOf(LayerBuilder &l, const Dims &dims) {
  const Value first = l.firstOp<SplitOp>(0, l.bottoms[0]).getYs()[0];
  if (l.bottoms.size() == 2)
    return {first, l.firstOp<SplitOp>(1, l.bottoms[1]).getYs()[0]};
  auto second = l.middleOp<ParameterOp>(l.params[0]);
  second.setDims(llvm::SmallVector<int64_t>(dims.begin(), dims.end()));
  return {first, second.getY()};
}

/// Builds the formula of a and b, whose shapes are broadcast as in NumPy.
void buildFormula(LayerBuilder &l, std::pair<Value, Value> operands,
                  llvm::StringRef formula) {
  auto [a, b] = operands;
  const Value first = l.middleOp<BroadcastOp>({a, b}).getY(),
              second = l.middleOp<BroadcastOp>({b, a}).getY();
  setFormula(l, l.lastOp<ExpressionOp>(0, {first, second}), formula,
             {"a", "b"});
}

template <const char *const &formula> void buildBroadcast(LayerBuilder &l) {
  buildFormula(l, operandsOf(l, llvm::ArrayRef<int64_t>()), formula);
}

void buildMul(LayerBuilder &l) {
  buildFormula(l, operandsOf(l, l.layer.mul_param().mul_shape()), "a * b");
}

void buildMatMul(LayerBuilder &l) {
  const caffe::MatMulParameter &settings = l.layer.matmul_param();
  auto [a, b] = operandsOf(l, settings.blob_shape());
  auto op = l.lastOp<MatMulOp>(0, {a, b});
  op.setTransposeA(settings.transpose_a());
  op.setTransposeB(settings.transpose_b());
}

constexpr const char *kAdd = "a + b";
constexpr const char *kDiv = "a / b";
constexpr const char *kMaximum = "max(a, b)";
constexpr const char *kMinimum = "min(a, b)";
constexpr const char *kPow = "a ^ b";
constexpr const char *kSub = "a - b";

} // namespace

BuildFunctions arrayFunctions() {
  return {{"Add", buildBroadcast<kAdd>},
          {"Div", buildBroadcast<kDiv>},
          {"MatMul", buildMatMul},
          {"MatrixMultiplication", buildPlain<MatMulOp>},
          {"Maximum", buildBroadcast<kMaximum>},
          {"Minimum", buildBroadcast<kMinimum>},
          {"Mul", buildMul},
          {"Pow", buildBroadcast<kPow>},
          {"Sub", buildBroadcast<kSub>}};
}

} // namespace brew::prototxt
