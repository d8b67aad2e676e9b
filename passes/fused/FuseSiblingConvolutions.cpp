//===- FuseSiblingConvolutions.cpp - Branches over one blob as one call ----------===//
//
// Convolutions that read the same blob through the same windows, as the 1x1
// branches of an Inception module do, are one convolution whose weights lie one
// after another; their tops are parts of its top along the channels. Going
// back, one call gives the sum of what the branches add to the gradient of
// their bottom, and one the gradients of all their weights. The parameters stay
// as they are. On CPUs at inference alone.
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

/// A convolution with what is computed of its top and of its gradients.
struct Branch {
  ConvolutionOp conv;
  ReLUOp relu; ///< null unless it alone reads the convolution
  ConvolutionBackwardDataOp data;
  ConvolutionBackwardWeightsOp weights;
  /// The sum over all readers of the bottom that `data` is a term of.
  Value gradient;

  Value top() { return relu ? relu.getY() : conv.getY(); }
  Value dy() {
    return data ? data.getDy() : weights ? weights.getDy() : Value();
  }
  /// Of the backward pass.
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

/// What a gradient is added up to with others that nothing else reads.
Value sumOf(Value term) {
  while (term.hasOneUse()) {
    auto nest = dyn_cast<linalg::GenericOp>(*term.user_begin());
    if (!nest || !brew::passes::isElementwiseAdd(nest))
      break;
    term = nest->getResult(0);
  }
  return term;
}

/// Channels that are multiples of the widest access in 16 bits too.
constexpr int64_t kPartChannels = 8;

/// The only operation of a kind among `users` that is of the layer of `conv`
/// and that `belongs`; `isOne` becomes false where there are several.
template <typename Op, typename Test>
Op onlyOne(ConvolutionOp conv, Value read, const Test &belongs, bool &isOne) {
  Op found;
  for (Operation *user : read.getUsers()) {
    auto op = dyn_cast<Op>(user);
    if (!op || op.getLayerAttr() != conv.getLayerAttr() || !belongs(op))
      continue;
    isOne &= !found || found == op;
    found = op;
  }
  return found;
}

/// Finds and joins the branches of one program.
class Joiner {
public:
  Joiner(ModuleOp module, ProgramOp program, ArrayRef<std::string> noLibrary)
      : module(module), program(program), prepare(module, program),
        isInference(program.getRole() == ProgramRole::Deploy),
        noLibrary(noLibrary), gpu(brew::dialects::target::isForGpu(module)
                                      ? brew::dialects::target::gpuOf(module)
                                      : nullptr) {}

  void run() {
    // In training on a CPU the calls saved do not make up for what is copied,
    // and the tops of all branches live as long as any.
    if (!gpu && !isInference)
      return;
    SmallVector<BranchGroup> groups;
    for (auto conv : program.getBody().front().getOps<ConvolutionOp>())
      if (std::optional<Branch> branch = branchOf(conv)) {
        auto group = llvm::find_if(groups, [&](BranchGroup &each) {
          return isAlike(each[0], *branch);
        });
        if (group == groups.end())
          groups.push_back({*branch});
        else
          group->push_back(*branch);
      }
    for (BranchGroup &group : groups)
      if (keepPaying(group)) {
        const StringAttr layer = nameOf(group);
        const int64_t axis = channelAxis(group[0].conv);
        const Value w = joinForward(group, layer);
        if (group[0].dy())
          joinBackward(group, layer, w, axis);
      }
    Block &block = program.getBody().front();
    for (auto read : llvm::make_early_inc_range(block.getOps<ParamValueOp>()))
      if (read.use_empty())
        read.erase();
    if (prepare) // of what has been joined since it was prepared
      prepare.eraseUnused();
  }

private:
  bool isCall(Operation *op) const {
    return brew::passes::usesLibrary(op, noLibrary);
  }

  std::optional<Branch> branchOf(ConvolutionOp conv) const;
  static bool isAlike(Branch &a, Branch &b);

  int64_t callBytes() const;
  int64_t saved(Branch &branch) const;
  int64_t spent(Branch &branch) const;
  bool canBePart(Value top) const;
  bool isReadByCall(Value top) const;
  bool isMadeInPlace(Branch &branch) const;
  bool keepPaying(BranchGroup &group) const;

  static StringAttr nameOf(BranchGroup &group);
  Value joinParameters(OpBuilder &b, ArrayRef<Value> parts, StringAttr layer);
  Value joinForward(BranchGroup &group, StringAttr layer);
  void joinBackward(BranchGroup &group, StringAttr layer, Value w,
                    int64_t axis);
  void shareGradient(BranchGroup &group, ConvolutionBackwardDataOp joined);

  ModuleOp module;
  ProgramOp program;
  brew::passes::PrepareProgram prepare;
  bool isInference;
  ArrayRef<std::string> noLibrary;
  brew::dialects::target::GpuAttr gpu; ///< null: for a CPU
};

//===----------------------------------------------------------------------===//
// What can be joined
//===----------------------------------------------------------------------===//

std::optional<Branch> Joiner::branchOf(ConvolutionOp conv) const {
  if (conv.getGroup() != 1 || conv.getRelu() || !isCall(conv) ||
      !isParameter(conv.getW()) || (conv.getB() && !isParameter(conv.getB())))
    return std::nullopt;
  Branch branch{conv, {}, {}, {}, {}};
  if (conv.getY().hasOneUse())
    branch.relu = dyn_cast<ReLUOp>(*conv.getY().user_begin());
  bool isOne = true;
  branch.data = onlyOne<ConvolutionBackwardDataOp>(
      conv, conv.getW(),
      [&](ConvolutionBackwardDataOp op) {
        return op.getW() == conv.getW() &&
               op.getDx().getType() == conv.getX().getType();
      },
      isOne);
  branch.weights = onlyOne<ConvolutionBackwardWeightsOp>(
      conv, conv.getX(),
      [&](ConvolutionBackwardWeightsOp op) {
        return op.getX() == conv.getX() &&
               op.getDw().getType() == conv.getW().getType();
      },
      isOne);
  if (!isOne || (branch.data && branch.data.getSum()) ||
      (branch.data && branch.weights &&
       (branch.data.getDy() != branch.weights.getDy() ||
        branch.data->isBeforeInBlock(branch.weights))))
    return std::nullopt;
  if (branch.dy() && branch.dy().getType() != conv.getY().getType())
    return std::nullopt;
  if (branch.data)
    branch.gradient = sumOf(branch.data.getDx());
  return branch;
}

/// Whether two branches can be one: the same windows over the same blob, and
/// the same work behind them.
bool Joiner::isAlike(Branch &a, Branch &b) {
  ConvolutionOp x = a.conv, y = b.conv;
  const auto axis = static_cast<size_t>(channelAxis(x));
  auto shapeBut = [&](ConvolutionOp conv) {
    SmallVector<int64_t> shape(shapeOf(conv.getY()));
    shape[axis] = 0;
    return shape;
  };
  auto slope = [](Branch &branch) {
    return branch.relu ? branch.relu.getNegativeSlopeAttr() : FloatAttr();
  };
  return x.getX() == y.getX() && x.getKernel() == y.getKernel() &&
         x.getStride() == y.getStride() && x.getPad() == y.getPad() &&
         x.getDilation() == y.getDilation() && shapeBut(x) == shapeBut(y) &&
         elementTypeOf(x.getY()) == elementTypeOf(y.getY()) && !x.getB() == !y.getB() &&
         slope(a) == slope(b) && !a.data == !b.data &&
         !a.weights == !b.weights && a.gradient == b.gradient &&
         (!a.weights || !a.weights.getDb() == !b.weights.getDb());
}

//===----------------------------------------------------------------------===//
// What it costs and saves, in bytes
//===----------------------------------------------------------------------===//

int64_t sizeOf(Value value) { return brew::passes::bytesOf(tensorTypeOf(value)); }

/// What memory moves while one more step begins.
int64_t Joiner::callBytes() const {
  using brew::dialects::target::CpuAttr;
  using brew::dialects::target::GpuAttr;
  return static_cast<int64_t>(
      gpu ? GpuAttr::kLaunchCycles * double(gpu.getBytesPerCycle())
          : CpuAttr::kWakeCycles * CpuAttr::kMemoryBytes);
}

/// By each branch that joins another: its call reads the bottom again, its
/// gradient by the bottom is written and added to that of the others (a GPU's
/// call adds where that lies), its gradient by weights reads the bottom.
int64_t Joiner::saved(Branch &branch) const {
  const int64_t x = sizeOf(branch.conv.getX()), call = callBytes();
  int64_t sum = x + call;
  if (branch.data)
    sum += gpu ? 2 * x + call : 4 * x + 2 * call;
  if (branch.weights)
    sum += x + call;
  return sum;
}

/// Whether a GPU's calls take that top, or its gradient, as a part of a whole
/// (see brew::passes::readsSliceInPlace), if the parts beside it are like it.
bool Joiner::canBePart(Value top) const {
  return gpu && shapeOf(top).size() == 4 &&
         shapeOf(top)[1] % kPartChannels == 0;
}

/// Whether a call that follows no strides reads the top: a copy is made for
/// it. At inference on a CPU a sum would be part of the convolution's call.
bool Joiner::isReadByCall(Value top) const {
  return llvm::any_of(top.getUsers(), [&](Operation *user) {
    return (isCall(user) &&
            !(isa<ConvolutionOp, ConvolutionBackwardWeightsOp>(user) &&
              canBePart(top))) ||
           isa<ReinterpretOp>(user) ||
           (isa<EltwiseOp>(user) && !gpu && isInference);
  });
}

/// Whether a nest makes the top's gradient, which can be among those of the
/// others then.
bool Joiner::isMadeInPlace(Branch &branch) const {
  Operation *made = branch.dy().getDefiningOp();
  return made && !isCall(made) && !made->hasTrait<IsView>() &&
         isa<linalg::GenericOp, LoopNestInterface>(made) &&
         llvm::all_of(branch.dy().getUsers(), [&](Operation *user) {
           return user == branch.data || user == branch.weights ||
                  (!isCall(user) && !user->hasTrait<IsView>());
         });
}

/// Copies that a branch needs to be part of a whole: of the top for calls that
/// read it, of gradients that calls make, of weights and their gradients. On a
/// GPU nests that read parts of a whole load less at a time.
int64_t Joiner::spent(Branch &branch) const {
  const int64_t y = sizeOf(branch.top());
  int64_t sum = 0;
  auto copy = [&](int64_t bytes) { sum += 2 * bytes + callBytes(); };
  if (isReadByCall(branch.top()))
    copy(y);
  if (gpu)
    for (Operation *user : branch.top().getUsers()) {
      if (isa<ConcatOp>(user) && canBePart(branch.top()))
        copy(y); // by itself the call would write there
      else
        sum += isCall(user) ? 0 : y;
    }
  int64_t parameters = sizeOf(branch.conv.getW());
  if (branch.conv.getB())
    parameters += sizeOf(branch.conv.getB());
  // One kernel makes many such small copies; for inference they are made once.
  if (!isInference)
    sum += 2 * parameters;
  if (branch.dy() && !isMadeInPlace(branch))
    copy(y);
  if (branch.weights)
    sum += 2 * parameters;
  return sum;
}

/// Leaves those branches that gain by being joined; false if they are too few.
bool Joiner::keepPaying(BranchGroup &group) const {
  llvm::erase_if(group,
                 [&](Branch &each) { return spent(each) >= saved(each); });
  if (group.size() < 2)
    return false;
  int64_t gain = -saved(group[0]);
  for (Branch &each : group) {
    gain += saved(each) - spent(each);
    if (!each.weights)
      continue;
    // What reads gradients by weights must stand behind those of all branches,
    // as stores do.
    for (Operation *user : each.weights->getUsers())
      for (Branch &other : group)
        if (user->getBlock() != each.weights->getBlock() ||
            user->isBeforeInBlock(other.last()))
          return false;
  }
  return gain > 0;
}

//===----------------------------------------------------------------------===//
// The joined calls
//===----------------------------------------------------------------------===//

/// "A+B": as steps name the layers that they are of.
StringAttr joinNames(ArrayRef<StringAttr> names) {
  std::string text;
  for (StringAttr name : names)
    text += (text.empty() ? "" : "+") + name.str();
  return StringAttr::get(names[0].getContext(), text);
}

StringAttr Joiner::nameOf(BranchGroup &group) {
  SmallVector<StringAttr> names;
  for (Branch &branch : group)
    names.push_back(branch.conv.getLayerAttr());
  return joinNames(names);
}

/// The type of tensors like these one after another along `axis`.
RankedTensorType wholeType(ArrayRef<Value> parts, int64_t axis) {
  auto type = tensorTypeOf(parts[0]);
  SmallVector<int64_t> shape(type.getShape());
  shape[static_cast<size_t>(axis)] = 0;
  for (Value part : parts)
    shape[static_cast<size_t>(axis)] += shapeOf(part)[axis];
  return RankedTensorType::get(shape, type.getElementType());
}

Value joinAlong(OpBuilder &b, ArrayRef<Value> parts, int64_t axis,
                StringAttr layer, bool isBackward) {
  auto joined = ConcatViewOp::create(b, parts[0].getLoc(), wholeType(parts, axis),
                               parts, layer, b.getI64IntegerAttr(axis));
  Origin{layer, isBackward}.mark(joined);
  return joined;
}

/// The part of `whole` along `axis` that begins at `start`, which moves on.
SubviewOp cutAlong(OpBuilder &b, Value whole, Type type, int64_t axis,
               int64_t &start, StringAttr layer, bool isBackward) {
  SmallVector<int64_t> offsets(shapeOf(whole).size(), 0);
  offsets[static_cast<size_t>(axis)] = start;
  start += cast<RankedTensorType>(type).getDimSize(static_cast<unsigned>(axis));
  auto part = SubviewOp::create(b, whole.getLoc(), type, whole, layer,
                            b.getDenseI64ArrayAttr(offsets));
  Origin{layer, isBackward}.mark(part);
  return part;
}

/// A gradient by parameters by itself: ranks add up what is no part of others.
Value copyOfPart(OpBuilder &b, SubviewOp part) {
  auto type = tensorTypeOf(part.getY());
  NestBuilder nest(b, part.getLoc(), type.getShape());
  nest.input(part, iota(type.getRank()));
  nest.output(type, iota(type.getRank()));
  Value copy = nest.build([](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.in[0]};
  })[0];
  Origin::of(part).mark(copy.getDefiningOp());
  return copy;
}

/// Parameters one after another: for inference made once, by `prepare`.
Value Joiner::joinParameters(OpBuilder &b, ArrayRef<Value> parts,
                             StringAttr layer) {
  if (!isInference)
    return joinAlong(b, parts, /*axis=*/0, layer, /*isBackward=*/false);
  prepare.start();
  SmallVector<Value> read;
  for (Value part : parts)
    read.push_back(prepare.read(part.getDefiningOp<ParamValueOp>()));
  auto param = cast<ParamOp>(SymbolTable::lookupSymbolIn(
      module, parts[0].getDefiningOp<ParamValueOp>().getParam()));
  return prepare.derive(joinAlong(prepare.body(), read, 0, layer, false),
                        param.getLayer(), param.getIndex(), "joined", b);
}

/// Returns the joined weights.
Value Joiner::joinForward(BranchGroup &group, StringAttr layer) {
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
  const Value w = joinParameters(b, ws, layer);
  const Value bias = bs.empty() ? Value() : joinParameters(b, bs, layer);
  SmallVector<Value> tops;
  for (Branch &branch : group)
    tops.push_back(branch.top());
  const RankedTensorType type = wholeType(tops, axis);
  const ArrayAttr noTops = b.getStrArrayAttr({""});

  auto joined = cast<ConvolutionOp>(b.clone(*first));
  joined.getWMutable().assign(w);
  if (bias)
    joined.getBMutable().assign(bias);
  joined.setNumOutput(outputs);
  joined.setLayerAttr(layer);
  joined.setTopsAttr(noTops);
  joined.getY().setType(type);
  b.setInsertionPointAfter(joined);
  Value top = joined.getY();
  if (group[0].relu) {
    auto relu = cast<ReLUOp>(b.clone(*group[0].relu));
    relu->setOperand(0, top);
    SmallVector<StringAttr> names;
    for (Branch &branch : group)
      names.push_back(branch.relu.getLayerAttr());
    relu.setLayerAttr(joinNames(names));
    relu.setTopsAttr(noTops);
    relu.getY().setType(type);
    top = relu.getY();
  }
  int64_t start = 0;
  for (Branch &branch : group) {
    const StringAttr name =
        branch.relu ? branch.relu.getLayerAttr() : branch.conv.getLayerAttr();
    branch.top().replaceAllUsesWith(
        cutAlong(b, top, branch.top().getType(), axis, start, name, false));
  }
  for (Branch &branch : group) { // the builder stands before the first
    if (branch.relu)
      branch.relu.erase();
    branch.conv.erase();
  }
  return w;
}

/// `joined` takes the place of the branches' terms in the sum of the gradients
/// by their bottom.
void Joiner::shareGradient(BranchGroup &group,
                           ConvolutionBackwardDataOp joined) {
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
  latest.data.getDx().replaceAllUsesWith(joined.getDx());
}

void Joiner::joinBackward(BranchGroup &group, StringAttr layer, Value w,
                          int64_t axis) {
  SmallVector<Value> dys;
  Operation *last = group[0].last();
  for (Branch &branch : group) {
    dys.push_back(branch.dy());
    if (last->isBeforeInBlock(branch.last()))
      last = branch.last();
  }
  OpBuilder b(last);
  const Value dy = joinAlong(b, dys, axis, layer, /*isBackward=*/true);
  if (group[0].weights) {
    auto joined =
        cast<ConvolutionBackwardWeightsOp>(b.clone(*group[0].weights));
    joined.getDyMutable().assign(dy);
    joined.setLayerAttr(layer);
    for (unsigned i = 0; i < joined->getNumResults(); ++i) {
      SmallVector<Value> parts;
      for (Branch &branch : group)
        parts.push_back(branch.weights->getResult(i));
      joined->getResult(i).setType(wholeType(parts, 0));
      int64_t start = 0;
      for (Branch &branch : group) {
        Value part = branch.weights->getResult(i);
        SubviewOp own =
            cutAlong(b, joined->getResult(i), part.getType(), 0, start,
                     branch.weights.getLayerAttr(), /*isBackward=*/true);
        if (!part.use_empty())
          part.replaceAllUsesWith(copyOfPart(b, own));
      }
    }
  }
  if (group[0].data) {
    auto joined = cast<ConvolutionBackwardDataOp>(b.clone(*group[0].data));
    joined.getDyMutable().assign(dy);
    joined.getWMutable().assign(w);
    joined.setLayerAttr(layer);
    shareGradient(group, joined);
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
      Joiner(getOperation(), program, disabled).run();
  }
};

} // namespace
