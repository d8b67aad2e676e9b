//===- FoldNormalization.cpp - Normalization folded into weights ----------===//
//
// At inference BatchNorm, Scale and Bias layers map each channel x to x * scale
// + shift, where scale and shift depend on parameters only. After a convolution
// or inner product, scale and shift are folded into its weights and bias;
// elsewhere a chain that contains a BatchNorm becomes one Scale. The program
// `prepare` computes the folded parameters once, after the weights are loaded.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/convolution/Convolution.h"
#include "dialects/Brew/layers/elementwise/Elementwise.h"
#include "dialects/Brew/layers/normalization/Normalization.h"
#include "passes/Passes.h"
#include "passes/analysis/PrepareProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

namespace brew::passes {
#define GEN_PASS_DEF_FOLDNORMALIZATION
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

bool isParam(Value value) {
  return isa_and_nonnull<ParamValueOp>(value.getDefiningOp());
}

/// Returns whether `op` is an affine map of each channel of its first operand
/// that depends on parameters only.
bool isChannelwise(Operation *op) {
  auto perChannel = [&](Value operand, int64_t axis) {
    return isParam(operand) && axis == 1 &&
           tensorTypeOf(operand).getRank() == 1;
  };
  if (tensorTypeOf(op->getOperand(0)).getRank() < 2)
    return false;
  if (auto norm = dyn_cast<BatchNormGlobalOp>(op))
    return llvm::all_of(norm->getOperands().drop_front(), isParam);
  if (auto scale = dyn_cast<ScaleOp>(op))
    return perChannel(scale.getS(), scale.getAxis()) &&
           (!scale.getB() || perChannel(scale.getB(), scale.getAxis()));
  if (auto bias = dyn_cast<BiasOp>(op))
    return perChannel(bias.getB(), bias.getAxis());
  return false;
}

/// Returns the chain of channelwise layers that starts at the only user of
/// `value`; each layer is the only user of the one before.
SmallVector<Operation *> chainAfter(Value value) {
  SmallVector<Operation *> chain;
  while (value.hasOneUse()) {
    OpOperand &use = *value.use_begin();
    if (use.getOperandNumber() != 0 ||
        !isa<BatchNormGlobalOp, ScaleOp, BiasOp>(use.getOwner()) ||
        !isChannelwise(use.getOwner()))
      break;
    chain.push_back(use.getOwner());
    value = use.getOwner()->getResult(0);
  }
  return chain;
}

/// Folds the normalization layers of one program.
class Folder {
public:
  Folder(ModuleOp module, ProgramOp program)
      : program(program), prepare(module, program), b(prepare.body()) {}

  void run();

private:
  /// The map of a chain for each channel: x * scale + shift.
  struct Affine {
    Value scale, shift;
  };

  Value readInPrepare(Value param);
  Affine affineOf(ArrayRef<Operation *> chain, Value bias,
                  RankedTensorType type);
  Value createDerivedParam(Value value, StringRef layer, int64_t index,
                           OpBuilder &builder);
  void markNests(StringAttr layer);
  void foldInto(Operation *product, ArrayRef<Operation *> chain);
  void replaceByScale(ArrayRef<Operation *> chain);
  void erase(ArrayRef<Operation *> chain);

  ProgramOp program;
  brew::passes::PrepareProgram prepare;
  OpBuilder &b; ///< at the end of `prepare`
};

/// Reads the same parameter as `param`, in `prepare`.
Value Folder::readInPrepare(Value param) {
  return prepare.readParam(param.getDefiningOp<ParamValueOp>());
}

Folder::Affine Folder::affineOf(ArrayRef<Operation *> chain, Value bias,
                                RankedTensorType type) {
  Location loc = chain.front()->getLoc();
  auto constant = [&](double value) -> Value {
    return FillOp::create(b, loc, type, b.getF64FloatAttr(value));
  };
  Affine affine{constant(1), bias ? readInPrepare(bias) : constant(0)};
  for (Operation *op : chain) {
    SmallVector<Value> inputs = {affine.scale, affine.shift};
    auto norm = dyn_cast<BatchNormGlobalOp>(op);
    if (norm)
      inputs.append(buildGlobalStatistics(
          b, op->getLoc(), readInPrepare(norm.getRunningMean()),
          readInPrepare(norm.getRunningVariance()),
          norm.getRunningFactor() ? readInPrepare(norm.getRunningFactor())
                                  : Value(),
          norm.getEps().convertToFloat()));
    else
      for (Value param : op->getOperands().drop_front())
        inputs.push_back(readInPrepare(param));
    NestBuilder nest(b, op->getLoc(), type.getShape());
    for (Value input : inputs)
      nest.input(input, {0});
    nest.output(type, {0});
    nest.output(type, {0});
    SmallVector<Value> next = nest.build([&](NestBuilder::Body &body) {
      ScalarBuilder &s = body.s;
      Value scale = body.in[0], shift = body.in[1];
      if (norm) {
        scale = s.mul(scale, body.in[3]);
        shift = s.mul(s.sub(shift, body.in[2]), body.in[3]);
      } else if (isa<ScaleOp>(op)) {
        scale = s.mul(scale, body.in[2]);
        shift = s.mul(shift, body.in[2]);
        if (body.in.size() > 3)
          shift = s.add(shift, body.in[3]);
      } else {
        shift = s.add(shift, body.in[2]);
      }
      return SmallVector<Value>{scale, shift};
    });
    affine = {next[0], next[1]};
  }
  return affine;
}

Value Folder::createDerivedParam(Value value, StringRef layer, int64_t index,
                                 OpBuilder &builder) {
  return prepare.createDerivedParam(value, layer, index, "folded", builder);
}

/// Sets the origin of new nests, for names and profiles.
void Folder::markNests(StringAttr layer) {
  for (auto nest : (*prepare).getBody().getOps<linalg::GenericOp>())
    if (!Origin::of(nest).layer)
      Origin{layer}.mark(nest);
}

void Folder::erase(ArrayRef<Operation *> chain) {
  for (Operation *op : llvm::reverse(chain)) {
    llvm::SetVector<Value> operands(op->operand_begin(), op->operand_end());
    op->erase();
    for (Value operand : operands)
      if (isParam(operand) && operand.use_empty())
        operand.getDefiningOp()->erase();
  }
}

/// Returns the name of fused layers that profiles show: "a+b+c".
static StringAttr fusedName(OpBuilder &b, Operation *first,
                            ArrayRef<Operation *> chain) {
  std::string name;
  auto appendName = [&](Operation *op) {
    name += (name.empty() ? "" : "+") +
            op->getAttrOfType<StringAttr>("layer").getValue().str();
  };
  if (first)
    appendName(first);
  llvm::for_each(chain, appendName);
  return b.getStringAttr(name);
}

void Folder::foldInto(Operation *product, ArrayRef<Operation *> chain) {
  prepare.create();
  OpBuilder builder(product);
  Value weights = product->getOperand(1);
  Value bias = product->getNumOperands() > 2 ? product->getOperand(2) : Value();
  auto type = tensorTypeOf(weights);
  auto innerProduct = dyn_cast<InnerProductOp>(product);
  int64_t outputs =
      innerProduct && innerProduct.getTranspose() ? type.getRank() - 1 : 0;
  Affine affine = affineOf(
      chain, bias,
      RankedTensorType::get(type.getDimSize(outputs), type.getElementType()));

  NestBuilder nest(b, product->getLoc(), type.getShape());
  nest.input(readInPrepare(weights), iota(type.getRank()));
  nest.input(affine.scale, {outputs});
  nest.output(type, iota(type.getRank()));
  Value scaled = nest.build([](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.s.mul(body.in[0], body.in[1])};
  })[0];

  auto layer = product->getAttrOfType<StringAttr>("layer");
  OperationState state(product->getLoc(), product->getName());
  state.addOperands({product->getOperand(0),
                     createDerivedParam(scaled, layer, 0, builder),
                     createDerivedParam(affine.shift, layer, 1, builder)});
  state.addAttributes(product->getAttrs());
  state.addTypes(product->getResultTypes());
  Operation *folded = builder.create(state);
  StringAttr name = fusedName(b, product, chain);
  folded->setAttr("layer", name);
  markNests(name);
  folded->setAttr("tops", chain.back()->getAttr("tops"));
  chain.back()->getResult(0).replaceAllUsesWith(folded->getResult(0));
  erase(chain);
  erase(product);
}

void Folder::replaceByScale(ArrayRef<Operation *> chain) {
  prepare.create();
  OpBuilder builder(chain.front());
  Value x = chain.front()->getOperand(0);
  auto norm = llvm::find_if(
      chain, [](Operation *op) { return isa<BatchNormGlobalOp>(op); });
  Affine affine =
      affineOf(chain, Value(), tensorTypeOf((*norm)->getOperand(1)));
  StringAttr layer = fusedName(b, nullptr, chain);
  auto scale = ScaleOp::create(
      builder, chain.front()->getLoc(), chain.back()->getResult(0).getType(), x,
      createDerivedParam(affine.scale, layer, 0, builder),
      createDerivedParam(affine.shift, layer, 1, builder), layer,
      chain.back()->getAttrOfType<ArrayAttr>("tops"), nullptr, nullptr,
      builder.getI64IntegerAttr(1), builder.getI64IntegerAttr(1));
  chain.back()->getResult(0).replaceAllUsesWith(scale.getY());
  markNests(layer);
  erase(chain);
}

void Folder::run() {
  SmallVector<Operation *> products, norms;
  for (Operation &op : program.getBody().front()) {
    if (isa<ConvolutionOp, InnerProductOp>(op))
      products.push_back(&op);
  }
  for (Operation *product : products) {
    auto innerProduct = dyn_cast<InnerProductOp>(product);
    // The outputs must be dimension 1, and the weights keep their layout.
    if (innerProduct && (innerProduct.getAxis() != 1 ||
                         tensorTypeOf(innerProduct.getX()).getRank() != 2))
      continue;
    auto conv = dyn_cast<ConvolutionOp>(product);
    if (conv && conv.getAxis() != 1)
      continue;
    if (!isParam(product->getOperand(1)) ||
        (product->getNumOperands() > 2 && !isParam(product->getOperand(2))))
      continue;
    SmallVector<Operation *> chain = chainAfter(product->getResult(0));
    if (!chain.empty())
      foldInto(product, chain);
  }
  // Find the first layer of each remaining chain.
  for (Operation &op : program.getBody().front())
    if (isa<BatchNormGlobalOp>(op) && isChannelwise(&op))
      norms.push_back(&op);
  llvm::DenseSet<Operation *> processed;
  for (Operation *norm : norms) {
    if (processed.contains(norm))
      continue;
    SmallVector<Operation *> chain = {norm};
    chain.append(chainAfter(norm->getResult(0)));
    processed.insert(chain.begin(), chain.end());
    replaceByScale(chain);
  }
}

struct FoldNormalization
    : brew::passes::impl::FoldNormalizationBase<FoldNormalization> {
  void runOnOperation() override {
    // Transform only `deploy`: other programs share parameters with a program
    // that changes them.
    SmallVector<ProgramOp> programs(getOperation().getOps<ProgramOp>());
    for (ProgramOp program : programs)
      if (program.getRole() == ProgramRole::Deploy)
        Folder(getOperation(), program).run();
  }
};

} // namespace
