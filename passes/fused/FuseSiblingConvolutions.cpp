//===- FuseSiblingConvolutions.cpp - Fusion of sibling convs --------------===//
//
// Convolutions that read the same blob through the same windows, such as the
// 1x1 branches of an Inception module, equal one convolution with concatenated
// weights; their tops are slices of its top along the channels. In the backward
// pass, one call computes the sum of the branches' gradients with respect to
// the bottom, and one the gradients of all weights. The parameters stay
// separate. On CPUs, the pass applies only to inference.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/convolution/Convolution.h"
#include "dialects/Brew/layers/elementwise/Elementwise.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "dialects/Target/TargetDialect.h"
#include "passes/Passes.h"
#include "passes/analysis/ElementwiseAdd.h"
#include "passes/analysis/LibraryCalls.h"
#include "passes/analysis/PrepareProgram.h"
#include "passes/analysis/ValueStorage.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace brew::passes {
#define GEN_PASS_DEF_FUSESIBLINGCONVOLUTIONS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

/// A convolution with the ReLU after it and its gradients.
struct Branch {
  ConvolutionOp conv;
  ReLUOp relu; ///< null unless it is the only user of `conv`
  ConvolutionBackwardDataOp data;
  ConvolutionBackwardWeightsOp weights;
  /// The gradient of the bottom: the sum over all its readers that contains
  /// `data`.
  Value gradient;

  Value top() { return relu ? relu.getY() : conv.getY(); }
  Value dy() {
    return data ? data.getDy() : weights ? weights.getDy() : Value();
  }
  /// Returns the last operation of the branch in the backward pass.
  Operation *last() {
    return data ? data.getOperation() : weights.getOperation();
  }
};

using BranchGroup = SmallVector<Branch, 4>;

int64_t channelAxis(ConvolutionOp conv) {
  return tensorTypeOf(conv.getY()).getRank() - 1 -
         static_cast<int64_t>(conv.getKernel().size());
}

bool isParameter(Value value) {
  return isa_and_nonnull<ParamValueOp>(value.getDefiningOp());
}

/// Returns the final sum that contains `term`, following additions without
/// other users.
Value finalSumOf(Value term) {
  while (term.hasOneUse()) {
    auto nest = dyn_cast<linalg::GenericOp>(*term.user_begin());
    if (!nest || !brew::passes::isElementwiseAdd(nest))
      break;
    term = nest->getResult(0);
  }
  return term;
}

/// Alignment of channels for the widest memory access, in 16 bits too.
constexpr int64_t kSliceChannels = 8;

/// Returns the single user of `read` of type Op that has the layer of `conv`
/// and satisfies `matches`. Clears `isUnique` if there are several.
template <typename Op, typename Test>
Op uniqueUser(ConvolutionOp conv, Value read, const Test &matches,
              bool &isUnique) {
  Op found;
  for (Operation *user : read.getUsers()) {
    auto op = dyn_cast<Op>(user);
    if (!op || op.getLayerAttr() != conv.getLayerAttr() || !matches(op))
      continue;
    isUnique &= !found || found == op;
    found = op;
  }
  return found;
}

/// Finds and fuses sibling convolutions of one program.
class SiblingFuser {
public:
  SiblingFuser(ModuleOp module, ProgramOp program,
               ArrayRef<std::string> noLibrary)
      : module(module), program(program), prepare(module, program),
        isInference(program.getRole() == ProgramRole::Deploy),
        noLibrary(noLibrary), gpu(brew::dialects::target::isForGpu(module)
                                      ? brew::dialects::target::gpuOf(module)
                                      : nullptr) {}

  void run() {
    // In training on a CPU the copies cost more than the saved calls, and all
    // tops live as long as the longest-lived one.
    if (!gpu && !isInference)
      return;
    SmallVector<BranchGroup> groups;
    for (auto conv : program.getBody().front().getOps<ConvolutionOp>())
      if (std::optional<Branch> branch = branchOf(conv)) {
        auto group = llvm::find_if(groups, [&](BranchGroup &candidate) {
          return areSiblings(candidate[0], *branch);
        });
        if (group == groups.end())
          groups.push_back({*branch});
        else
          group->push_back(*branch);
      }
    for (BranchGroup &group : groups)
      if (keepProfitable(group)) {
        const StringAttr layer = nameOf(group);
        const int64_t axis = channelAxis(group[0].conv);
        const Value w = fuseForward(group, layer);
        if (group[0].dy())
          fuseBackward(group, layer, w, axis);
      }
    Block &block = program.getBody().front();
    for (auto read : llvm::make_early_inc_range(block.getOps<ParamValueOp>()))
      if (read.use_empty())
        read.erase();
    if (prepare) // erases prepared parameters that were concatenated afterwards
      prepare.eraseUnused();
  }

private:
  bool isCall(Operation *op) const {
    return brew::passes::usesLibrary(op, noLibrary);
  }

  std::optional<Branch> branchOf(ConvolutionOp conv) const;
  static bool areSiblings(Branch &a, Branch &b);

  int64_t callBytes() const;
  int64_t bytesSaved(Branch &branch) const;
  int64_t bytesSpent(Branch &branch) const;
  bool canBeSlice(Value top) const;
  bool isReadByCall(Value top) const;
  bool isWrittenInPlace(Branch &branch) const;
  bool keepProfitable(BranchGroup &group) const;

  static StringAttr nameOf(BranchGroup &group);
  Value concatenateParameters(OpBuilder &b, ArrayRef<Value> operands,
                              StringAttr layer);
  Value fuseForward(BranchGroup &group, StringAttr layer);
  void fuseBackward(BranchGroup &group, StringAttr layer, Value w,
                    int64_t axis);
  void replaceDataGradients(BranchGroup &group,
                            ConvolutionBackwardDataOp fused);

  ModuleOp module;
  ProgramOp program;
  brew::passes::PrepareProgram prepare;
  bool isInference;
  ArrayRef<std::string> noLibrary;
  brew::dialects::target::GpuAttr gpu; ///< null on a CPU
};

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

std::optional<Branch> SiblingFuser::branchOf(ConvolutionOp conv) const {
  if (conv.getGroup() != 1 || conv.getRelu() || !isCall(conv) ||
      !isParameter(conv.getW()) || (conv.getB() && !isParameter(conv.getB())))
    return std::nullopt;
  Branch branch{conv, {}, {}, {}, {}};
  if (conv.getY().hasOneUse())
    branch.relu = dyn_cast<ReLUOp>(*conv.getY().user_begin());
  bool isUnique = true;
  branch.data = uniqueUser<ConvolutionBackwardDataOp>(
      conv, conv.getW(),
      [&](ConvolutionBackwardDataOp op) {
        return op.getW() == conv.getW() &&
               op.getDx().getType() == conv.getX().getType();
      },
      isUnique);
  branch.weights = uniqueUser<ConvolutionBackwardWeightsOp>(
      conv, conv.getX(),
      [&](ConvolutionBackwardWeightsOp op) {
        return op.getX() == conv.getX() &&
               op.getDw().getType() == conv.getW().getType();
      },
      isUnique);
  if (!isUnique || (branch.data && branch.data.getSum()) ||
      (branch.data && branch.weights &&
       (branch.data.getDy() != branch.weights.getDy() ||
        branch.data->isBeforeInBlock(branch.weights))))
    return std::nullopt;
  if (branch.dy() && branch.dy().getType() != conv.getY().getType())
    return std::nullopt;
  if (branch.data)
    branch.gradient = finalSumOf(branch.data.getDx());
  return branch;
}

/// Returns whether two branches can be fused: the same windows over the same
/// blob, the same ReLU, and the same gradients.
bool SiblingFuser::areSiblings(Branch &a, Branch &b) {
  ConvolutionOp x = a.conv, y = b.conv;
  const auto axis = static_cast<size_t>(channelAxis(x));
  auto shapeWithoutChannels = [&](ConvolutionOp conv) {
    SmallVector<int64_t> shape(shapeOf(conv.getY()));
    shape[axis] = 0;
    return shape;
  };
  auto slope = [](Branch &branch) {
    return branch.relu ? branch.relu.getNegativeSlopeAttr() : FloatAttr();
  };
  return x.getX() == y.getX() && x.getKernel() == y.getKernel() &&
         x.getStride() == y.getStride() && x.getPad() == y.getPad() &&
         x.getDilation() == y.getDilation() &&
         shapeWithoutChannels(x) == shapeWithoutChannels(y) &&
         elementTypeOf(x.getY()) == elementTypeOf(y.getY()) &&
         !x.getB() == !y.getB() && slope(a) == slope(b) && !a.data == !b.data &&
         !a.weights == !b.weights && a.gradient == b.gradient &&
         (!a.weights || !a.weights.getDb() == !b.weights.getDb());
}

//===----------------------------------------------------------------------===//
// Costs and savings, in bytes of memory traffic
//===----------------------------------------------------------------------===//

int64_t tensorBytes(Value value) {
  return brew::passes::bytesOf(tensorTypeOf(value));
}

/// Returns the cost of one more step.
int64_t SiblingFuser::callBytes() const {
  using brew::dialects::target::CpuAttr;
  using brew::dialects::target::GpuAttr;
  return static_cast<int64_t>(
      gpu ? GpuAttr::kLaunchCycles * double(gpu.getBytesPerCycle())
          : CpuAttr::kWakeCycles * CpuAttr::kMemoryBytes);
}

/// Returns what fusing a branch with another one saves: its calls read the
/// bottom in the forward pass and for the weight gradient; its data gradient is
/// written and added to the others (in place by a GPU's call).
int64_t SiblingFuser::bytesSaved(Branch &branch) const {
  const int64_t x = tensorBytes(branch.conv.getX()), callCost = callBytes();
  int64_t sum = x + callCost;
  if (branch.data)
    sum += gpu ? 2 * x + callCost : 4 * x + 2 * callCost;
  if (branch.weights)
    sum += x + callCost;
  return sum;
}

/// Returns whether a GPU's calls accept the top, or its gradient, as a slice of
/// a concatenated tensor (see readsSliceInPlace), provided its neighbors
/// qualify too.
bool SiblingFuser::canBeSlice(Value top) const {
  return gpu && shapeOf(top).size() == 4 &&
         shapeOf(top)[1] % kSliceChannels == 0;
}

/// Returns whether a call that does not follow strides reads the top, which
/// then needs a copy. At inference on a CPU a sum counts too, because it would
/// otherwise be fused into the convolution.
bool SiblingFuser::isReadByCall(Value top) const {
  return llvm::any_of(top.getUsers(), [&](Operation *user) {
    return (isCall(user) &&
            !(isa<ConvolutionOp, ConvolutionBackwardWeightsOp>(user) &&
              canBeSlice(top))) ||
           isa<ReinterpretOp>(user) ||
           (isa<EltwiseOp>(user) && !gpu && isInference);
  });
}

/// Returns whether a nest computes the top's gradient and can write it into the
/// concatenated tensor.
bool SiblingFuser::isWrittenInPlace(Branch &branch) const {
  Operation *producer = branch.dy().getDefiningOp();
  return producer && !isCall(producer) && !producer->hasTrait<IsView>() &&
         isa<linalg::GenericOp, LoopNestInterface>(producer) &&
         llvm::all_of(branch.dy().getUsers(), [&](Operation *user) {
           return user == branch.data || user == branch.weights ||
                  (!isCall(user) && !user->hasTrait<IsView>());
         });
}

/// Returns what fusing a branch costs: copies of the top for calls that read
/// it, of gradients that calls compute, of weights and their gradients. On a
/// GPU, nests that read slices use narrower loads.
int64_t SiblingFuser::bytesSpent(Branch &branch) const {
  const int64_t y = tensorBytes(branch.top());
  int64_t sum = 0;
  auto addCopy = [&](int64_t bytes) { sum += 2 * bytes + callBytes(); };
  if (isReadByCall(branch.top()))
    addCopy(y);
  if (gpu)
    for (Operation *user : branch.top().getUsers()) {
      if (isa<ConcatOp>(user) && canBeSlice(branch.top()))
        addCopy(y); // a separate call would write into the Concat
      else
        sum += isCall(user) ? 0 : y;
    }
  int64_t parameters = tensorBytes(branch.conv.getW());
  if (branch.conv.getB())
    parameters += tensorBytes(branch.conv.getB());
  // One kernel performs many such small copies; for inference `prepare` does it
  // once.
  if (!isInference)
    sum += 2 * parameters;
  if (branch.dy() && !isWrittenInPlace(branch))
    addCopy(y);
  if (branch.weights)
    sum += 2 * parameters;
  return sum;
}

/// Removes unprofitable branches from the group. Returns whether fusing the
/// rest pays off.
bool SiblingFuser::keepProfitable(BranchGroup &group) const {
  llvm::erase_if(group, [&](Branch &branch) {
    return bytesSpent(branch) >= bytesSaved(branch);
  });
  if (group.size() < 2)
    return false;
  int64_t gain = -bytesSaved(group[0]);
  for (Branch &branch : group) {
    gain += bytesSaved(branch) - bytesSpent(branch);
    if (!branch.weights)
      continue;
    // The users of weight gradients must come after all branches, as stores do.
    for (Operation *user : branch.weights->getUsers())
      for (Branch &other : group)
        if (user->getBlock() != branch.weights->getBlock() ||
            user->isBeforeInBlock(other.last()))
          return false;
  }
  return gain > 0;
}

//===----------------------------------------------------------------------===//
// The fused calls
//===----------------------------------------------------------------------===//

/// Returns "A+B", the layer name of the fused step.
StringAttr fusedName(ArrayRef<StringAttr> names) {
  std::string text;
  for (StringAttr name : names)
    text += (text.empty() ? "" : "+") + name.str();
  return StringAttr::get(names[0].getContext(), text);
}

StringAttr SiblingFuser::nameOf(BranchGroup &group) {
  SmallVector<StringAttr> names;
  for (Branch &branch : group)
    names.push_back(branch.conv.getLayerAttr());
  return fusedName(names);
}

/// Returns the type of the concatenation of `operands` along `axis`.
RankedTensorType concatenatedType(ArrayRef<Value> operands, int64_t axis) {
  auto type = tensorTypeOf(operands[0]);
  SmallVector<int64_t> shape(type.getShape());
  shape[static_cast<size_t>(axis)] = 0;
  for (Value slice : operands)
    shape[static_cast<size_t>(axis)] += shapeOf(slice)[axis];
  return RankedTensorType::get(shape, type.getElementType());
}

Value concatenate(OpBuilder &b, ArrayRef<Value> operands, int64_t axis,
                  StringAttr layer, bool isBackward) {
  auto fused = ConcatViewOp::create(b, operands[0].getLoc(),
                                    concatenatedType(operands, axis), operands,
                                    layer, b.getI64IntegerAttr(axis));
  Origin{layer, isBackward}.mark(fused);
  return fused;
}

/// Slices `full` along `axis` from `start`, and advances `start`.
SubviewOp sliceAlong(OpBuilder &b, Value full, Type type, int64_t axis,
                     int64_t &start, StringAttr layer, bool isBackward) {
  SmallVector<int64_t> offsets(shapeOf(full).size(), 0);
  offsets[static_cast<size_t>(axis)] = start;
  start += cast<RankedTensorType>(type).getDimSize(static_cast<unsigned>(axis));
  auto slice = SubviewOp::create(b, full.getLoc(), type, full, layer,
                                 b.getDenseI64ArrayAttr(offsets));
  Origin{layer, isBackward}.mark(slice);
  return slice;
}

/// Copies a slice that is the gradient of a parameter: all-reduces do not
/// accept slices.
Value copySlice(OpBuilder &b, SubviewOp slice) {
  auto type = tensorTypeOf(slice.getY());
  NestBuilder nest(b, slice.getLoc(), type.getShape());
  nest.input(slice, iota(type.getRank()));
  nest.output(type, iota(type.getRank()));
  Value copy = nest.build([](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.in[0]};
  })[0];
  Origin::of(slice).mark(copy.getDefiningOp());
  return copy;
}

/// Concatenates parameters; for inference once, in `prepare`.
Value SiblingFuser::concatenateParameters(OpBuilder &b,
                                          ArrayRef<Value> operands,
                                          StringAttr layer) {
  if (!isInference)
    return concatenate(b, operands, /*axis=*/0, layer, /*isBackward=*/false);
  prepare.create();
  SmallVector<Value> read;
  for (Value slice : operands)
    read.push_back(prepare.readParam(slice.getDefiningOp<ParamValueOp>()));
  auto param = cast<ParamOp>(SymbolTable::lookupSymbolIn(
      module, operands[0].getDefiningOp<ParamValueOp>().getParam()));
  return prepare.createDerivedParam(
      concatenate(prepare.body(), read, 0, layer, false), param.getLayer(),
      param.getIndex(), "concatenated", b);
}

/// Fuses the forward pass. Returns the concatenated weights.
Value SiblingFuser::fuseForward(BranchGroup &group, StringAttr layer) {
  ConvolutionOp first = group[0].conv;
  SmallVector<Value> ws, bs;
  int64_t outputs = 0;
  for (Branch &branch : group) {
    for (Value param : branch.conv->getOperands().drop_front())
      if (first->isBeforeInBlock(param.getDefiningOp()))
        param.getDefiningOp()->moveBefore(first);
    ws.push_back(branch.conv.getW());
    if (branch.conv.getB())
      bs.push_back(branch.conv.getB());
    outputs += branch.conv.getNumOutput();
  }
  const int64_t axis = channelAxis(first);
  OpBuilder b(first);
  const Value w = concatenateParameters(b, ws, layer);
  const Value bias = bs.empty() ? Value() : concatenateParameters(b, bs, layer);
  SmallVector<Value> tops;
  for (Branch &branch : group)
    tops.push_back(branch.top());
  const RankedTensorType type = concatenatedType(tops, axis);
  const ArrayAttr noTops = b.getStrArrayAttr({""});

  auto fused = cast<ConvolutionOp>(b.clone(*first));
  fused.getWMutable().assign(w);
  if (bias)
    fused.getBMutable().assign(bias);
  fused.setNumOutput(outputs);
  fused.setLayerAttr(layer);
  fused.setTopsAttr(noTops);
  fused.getY().setType(type);
  b.setInsertionPointAfter(fused);
  Value top = fused.getY();
  if (group[0].relu) {
    auto relu = cast<ReLUOp>(b.clone(*group[0].relu));
    relu->setOperand(0, top);
    SmallVector<StringAttr> names;
    for (Branch &branch : group)
      names.push_back(branch.relu.getLayerAttr());
    relu.setLayerAttr(fusedName(names));
    relu.setTopsAttr(noTops);
    relu.getY().setType(type);
    top = relu.getY();
  }
  int64_t start = 0;
  for (Branch &branch : group) {
    const StringAttr name =
        branch.relu ? branch.relu.getLayerAttr() : branch.conv.getLayerAttr();
    branch.top().replaceAllUsesWith(
        sliceAlong(b, top, branch.top().getType(), axis, start, name, false));
  }
  for (Branch &branch :
       group) { // last, because the builder points at the first
    if (branch.relu)
      branch.relu.erase();
    branch.conv.erase();
  }
  return w;
}

/// Replaces the branches' terms in the gradient of the bottom by `fused`.
void SiblingFuser::replaceDataGradients(BranchGroup &group,
                                        ConvolutionBackwardDataOp fused) {
  Branch &latest = *llvm::max_element(group, [](Branch &a, Branch &b) {
    return a.data->isBeforeInBlock(b.data);
  });
  for (Branch &branch : group) {
    Value dx = branch.data.getDx();
    if (&branch != &latest) {
      auto sum = cast<linalg::GenericOp>(*dx.user_begin());
      const unsigned other = sum.getInputs()[0] == dx ? 1 : 0;
      sum->getResult(0).replaceAllUsesWith(sum.getInputs()[other]);
      sum.erase();
    }
  }
  latest.data.getDx().replaceAllUsesWith(fused.getDx());
}

void SiblingFuser::fuseBackward(BranchGroup &group, StringAttr layer, Value w,
                                int64_t axis) {
  SmallVector<Value> dys;
  Operation *last = group[0].last();
  for (Branch &branch : group) {
    dys.push_back(branch.dy());
    if (last->isBeforeInBlock(branch.last()))
      last = branch.last();
  }
  OpBuilder b(last);
  const Value dy = concatenate(b, dys, axis, layer, /*isBackward=*/true);
  if (group[0].weights) {
    auto fused = cast<ConvolutionBackwardWeightsOp>(b.clone(*group[0].weights));
    fused.getDyMutable().assign(dy);
    fused.setLayerAttr(layer);
    for (unsigned i = 0; i < fused->getNumResults(); ++i) {
      SmallVector<Value> operands;
      for (Branch &branch : group)
        operands.push_back(branch.weights->getResult(i));
      fused->getResult(i).setType(concatenatedType(operands, 0));
      int64_t start = 0;
      for (Branch &branch : group) {
        Value slice = branch.weights->getResult(i);
        SubviewOp branchSlice =
            sliceAlong(b, fused->getResult(i), slice.getType(), 0, start,
                       branch.weights.getLayerAttr(), /*isBackward=*/true);
        if (!slice.use_empty())
          slice.replaceAllUsesWith(copySlice(b, branchSlice));
      }
    }
  }
  if (group[0].data) {
    auto fused = cast<ConvolutionBackwardDataOp>(b.clone(*group[0].data));
    fused.getDyMutable().assign(dy);
    fused.getWMutable().assign(w);
    fused.setLayerAttr(layer);
    replaceDataGradients(group, fused);
  }
  for (Branch &branch : group) {
    if (branch.weights)
      branch.weights.erase();
    if (branch.data)
      branch.data.erase();
  }
}

struct FuseSiblingConvolutions
    : brew::passes::impl::FuseSiblingConvolutionsBase<FuseSiblingConvolutions> {
  using FuseSiblingConvolutionsBase::FuseSiblingConvolutionsBase;

  void runOnOperation() override {
    const SmallVector<std::string> disabled(noLibrary.begin(), noLibrary.end());
    SmallVector<ProgramOp> programs(getOperation().getOps<ProgramOp>());
    for (ProgramOp program : programs)
      SiblingFuser(getOperation(), program, disabled).run();
  }
};

} // namespace
