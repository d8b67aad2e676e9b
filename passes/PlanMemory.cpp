//===- PlanMemory.cpp - Ordered steps and places in arenas
//-----------------===//
//
// A *root* is a value that owns bytes; views (brew.reinterpret, brew.cut), what
// is joined (brew.join), and results written in place belong to the root of
// their source or whole. Roots that are stored to a parameter arena live there;
// all others get an offset in the transient arena for the steps between their
// first write and last read.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/KernelAnalysis.h"
#include "dialects/Brew/layers/Convolution.h"
#include "dialects/Brew/layers/Shape.h"
#include "dialects/Brew/layers/Solver.h"
#include "dialects/Plan/PlanDialect.h"
#include "passes/MemoryPlanner.h"
#include "passes/ParameterPlaces.h"
#include "passes/Passes.h"
#include "passes/PlanParts.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace brew {
#define GEN_PASS_DEF_PLANMEMORY
#include "passes/Passes.h.inc"
} // namespace brew

using namespace mlir;
using namespace brew::ir;
namespace planir = brew::planir;

namespace {

int64_t bytesOf(RankedTensorType type) {
  return countOf(type.getShape()) *
         llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

constexpr llvm::StringLiteral kTransient = "transient";
constexpr llvm::StringLiteral kParameters = "parameters";
constexpr llvm::StringLiteral kGradients = "gradients";
constexpr llvm::StringLiteral kState = "state";
constexpr llvm::StringLiteral kScalars = "scalars";
constexpr int64_t kScalarCount = 16; // plan::SCALAR_COUNT

/// A place outside the transient arena.
struct Fixed {
  StringRef arena;
  int64_t offset = 0;
  std::string name;
};

/// Bytes that one or more values share.
struct Root {
  std::optional<Fixed> fixed;
  brew::LiveValue live;
  bool pinned = false;
};

/// Plans one program.
class ProgramPlanner {
public:
  ProgramPlanner(ProgramOp program, const brew::ParameterPlaces &places,
                 OpBuilder &b, llvm::StringMap<int> &kernelNames)
      : program(program), places(places), b(b), kernelNames(kernelNames) {}

  planir::ProgramOp run();
  int64_t arenaBytes = 0;

private:
  static bool isStep(Operation *op) {
    return isa<KernelOp, LibraryInterface>(op);
  }
  Fixed allGradients(bool sums) const;
  std::optional<Fixed> fixedOf(Operation *read) const;
  std::optional<Fixed> storePlace(Operation *store) const;
  unsigned rootOf(Value value) const;
  unsigned newRoot(Value value, int64_t step);
  void findRoots();
  bool isReadAfter(const Fixed &place, int64_t step) const;
  void shareInPlace(KernelOp kernel, int64_t step);
  void placeStores();
  void touch(Value value, int64_t step);
  Value buffer(Value value);
  void emitSteps(planir::ProgramOp plan);
  void emitSinks();
  planir::KernelOp outline(KernelOp kernel, planir::ProgramOp plan);
  std::string nameOf(Value value) const;
  const std::string &uniqueName(Value owner);

  ProgramOp program;
  const brew::ParameterPlaces &places;
  OpBuilder &b;
  llvm::StringMap<int> &kernelNames;
  std::vector<Root> roots;
  llvm::DenseMap<Value, unsigned> rootIndex;
  llvm::DenseSet<Value> pinnedValues; // read after the run; owners of views
  llvm::DenseMap<Operation *, SmallVector<int64_t>> inPlace;
  llvm::DenseMap<Value, Value> buffers;
  llvm::DenseMap<Value, int64_t> lastUse;
  llvm::DenseMap<Operation *, int64_t> stepNumber;
  llvm::StringMap<int> names;
  llvm::DenseMap<Value, std::string> valueNames;
  SmallVector<std::pair<Value, Fixed>> copies; // stores that need a copy
  int64_t stepCount = 0;
};

/// Sums over batches lie behind the solver's state, as zeros at first.
Fixed ProgramPlanner::allGradients(bool sums) const {
  if (sums)
    return {kState, places.slots * places.size, "gradient sums"};
  return {kGradients, 0, "gradients"};
}

std::optional<Fixed> ProgramPlanner::fixedOf(Operation *op) const {
  if (auto read = dyn_cast<ParamValueOp>(op))
    return Fixed{kParameters,
                 places.offsets.lookup(read.getParamAttr().getAttr()),
                 read.getParam().str()};
  if (auto read = dyn_cast<ParamGradientOp>(op))
    return Fixed{kGradients,
                 places.offsets.lookup(read.getParamAttr().getAttr()),
                 read.getParam().str() + ".gradient"};
  if (auto read = dyn_cast<ParamStateOp>(op))
    return Fixed{kState,
                 static_cast<int64_t>(read.getSlot()) * places.size +
                     places.offsets.lookup(read.getParamAttr().getAttr()),
                 read.getParam().str() + ".history" +
                     std::to_string(read.getSlot())};
  if (auto read = dyn_cast<AllGradientsOp>(op))
    return allGradients(read.getSums());
  if (auto read = dyn_cast<SolverScalarOp>(op))
    return Fixed{kScalars,
                 static_cast<int64_t>(read.getScalar()) *
                     brew::kBufferAlignment,
                 stringifySolverScalar(read.getScalar()).str()};
  return std::nullopt;
}

std::optional<Fixed> ProgramPlanner::storePlace(Operation *op) const {
  if (auto store = dyn_cast<StoreParamOp>(op))
    return Fixed{kParameters,
                 places.offsets.lookup(store.getParamAttr().getAttr()),
                 store.getParam().str()};
  if (auto store = dyn_cast<StoreGradientOp>(op))
    return Fixed{kGradients,
                 places.offsets.lookup(store.getParamAttr().getAttr()),
                 store.getParam().str() + ".gradient"};
  if (auto store = dyn_cast<StoreStateOp>(op))
    return Fixed{kState,
                 static_cast<int64_t>(store.getSlot()) * places.size +
                     places.offsets.lookup(store.getParamAttr().getAttr()),
                 store.getParam().str() + ".history" +
                     std::to_string(store.getSlot())};
  if (auto store = dyn_cast<StoreAllGradientsOp>(op))
    return allGradients(store.getSums());
  return std::nullopt;
}

/// A name that a reader of reports recognises: the blob's, or the layer's.
std::string ProgramPlanner::nameOf(Value value) const {
  for (Operation *user : value.getUsers())
    if (auto keep = dyn_cast<KeepOp>(user);
        keep && keep.getWhat() != "top" && keep.getWhat() != "bottom_diff")
      return (keep.getName() + (keep.getWhat() == "data"    ? ""
                                : keep.getWhat() == "count" ? ".count"
                                                            : ".diff"))
          .str();
  Operation *op = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto tops = op->getAttrOfType<ArrayAttr>("tops"))
    if (number < tops.size() && !cast<StringAttr>(tops[number]).empty())
      return cast<StringAttr>(tops[number]).str();
  if (auto kernel = dyn_cast<KernelOp>(op))
    return (kernel.getName() + "." + std::to_string(number)).str();
  if (auto layer = op->getAttrOfType<StringAttr>("layer"))
    return (layer.getValue() + "." +
            op->getName().getStringRef().split('.').second)
        .str();
  return "value";
}

/// What `value` is another shape of, through all such views.
static Value ownerOf(Value value) {
  while (auto view = value.getDefiningOp<ReinterpretOp>())
    value = view.getX();
  return value;
}

namespace {
/// Where a value lies: in the bytes of `owner`, `offset` elements behind its
/// first.
struct Place {
  Value owner;
  int64_t offset = 0;
};
} // namespace

static Place placeOf(Value value) {
  Place place{ownerOf(value)};
  for (;;) {
    if (auto cut = place.owner.getDefiningOp<CutOp>()) {
      for (auto [at, stride] : llvm::zip_equal(
               cut.getOffsets(), memoryStrides(tensorOf(cut.getX()))))
        place.offset += at * stride;
      place.owner = ownerOf(cut.getX());
      continue;
    }
    JoinOp whole;
    for (Operation *user : place.owner.getUsers())
      if (auto join = dyn_cast<JoinOp>(user))
        whole = join;
    if (!whole)
      return place;
    int64_t axis = whole.getAxis();
    int64_t stride = memoryStrides(tensorOf(whole.getY()))[axis];
    for (Value part : whole.getXs()) {
      if (part == place.owner)
        break;
      place.offset += shapeOf(part)[axis] * stride;
    }
    place.owner = whole.getY();
  }
}

unsigned ProgramPlanner::rootOf(Value value) const {
  return rootIndex.lookup(placeOf(value).owner);
}

unsigned ProgramPlanner::newRoot(Value value, int64_t step) {
  Root root;
  value = placeOf(value).owner;
  root.live.size = bytesOf(tensorOf(value));
  root.live.first = root.live.last = step;
  roots.push_back(root);
  rootIndex[value] = roots.size() - 1;
  return roots.size() - 1;
}

void ProgramPlanner::touch(Value value, int64_t step) {
  Root &root = roots[rootOf(value)];
  root.live.first = std::min(root.live.first, step);
  root.live.last = std::max(root.live.last, step);
}

/// Whether a later step than `step` reads what lies at a fixed place.
bool ProgramPlanner::isReadAfter(const Fixed &place, int64_t step) const {
  for (auto [value, root] : rootIndex)
    if (roots[root].fixed && roots[root].fixed->arena == place.arena &&
        roots[root].fixed->offset == place.offset &&
        lastUse.lookup(value) > step)
      return true;
  return false;
}

/// Lets results of a kernel take over buffers of inputs that end here.
void ProgramPlanner::shareInPlace(KernelOp kernel, int64_t step) {
  SmallVector<int64_t> &shared = inPlace[kernel];
  shared.assign(kernel.getNumResults(), -1);
  llvm::SmallDenseSet<unsigned> takenRoots;
  for (auto [number, result] : llvm::enumerate(kernel.getOutputs())) {
    // A part lies where the whole does.
    if (isPart(tensorOf(result)))
      continue;
    for (auto [i, input] : llvm::enumerate(kernel.getInputs())) {
      if (isPart(tensorOf(input)))
        continue;
      unsigned root = rootOf(input);
      Operation *source = input.getDefiningOp();
      // Parameters and state are updated in place; other fixed places, and
      // what a feed wrote and may not write again, are not.
      bool updates = false;
      if (roots[root].fixed) {
        for (Operation *user : result.getUsers())
          if (auto place = storePlace(user))
            updates |= place->arena == roots[root].fixed->arena &&
                       place->offset == roots[root].fixed->offset;
        if (!updates || isReadAfter(*roots[root].fixed, step))
          continue;
      } else if (roots[root].pinned || lastUse.lookup(input) > step ||
                 roots[root].live.last > step || isa<FeedOp>(source)) {
        continue;
      }
      if (takenRoots.contains(root) ||
          llvm::count(kernel.getInputs(), input) != 1 ||
          !mayShareBuffer(kernel, i, number))
        continue;
      // Another view of the same bytes among the inputs rules it out.
      if (llvm::count_if(kernel.getInputs(), [&](Value other) {
            return rootOf(other) == root;
          }) != 1)
        continue;
      shared[number] = i;
      takenRoots.insert(root);
      rootIndex[result] = root;
      break;
    }
  }
}

void ProgramPlanner::findRoots() {
  Block &block = program.getBody().front();
  int64_t step = 0;
  for (Operation &op : block)
    if (isStep(&op))
      stepNumber[&op] = step++;
  stepCount = step;
  // Last step at which each value, through all its views, is read.
  for (Operation &op : llvm::reverse(block)) {
    bool sink = isa<KeepOp, OutputOp, CheckLabelsOp>(op);
    int64_t when = isStep(&op) ? stepNumber[&op] : sink ? stepCount : -1;
    if (isa<ReinterpretOp, CutOp, JoinOp>(op))
      when = lastUse.count(op.getResult(0)) ? lastUse[op.getResult(0)]
                                            : int64_t(-1);
    for (Value operand : op.getOperands())
      lastUse[operand] = std::max(
          lastUse.count(operand) ? lastUse[operand] : int64_t(-1), when);
  }

  for (Operation &op : block) {
    if (auto fixed = fixedOf(&op)) {
      unsigned root = newRoot(op.getResult(0), 0);
      roots[root].fixed = fixed;
      continue;
    }
    if (isa<ReinterpretOp, CutOp>(op))
      continue; // lives as long as what it views
    if (auto feed = dyn_cast<FeedOp>(op)) {
      // Readers that fill a blob for every run may share its bytes later on;
      // blobs that are set once must keep them.
      bool everyRun = feed.getKind() == "Data" ||
                      feed.getKind() == "HDF5Data" ||
                      feed.getKind() == "Random";
      for (Value value : feed.getValues()) {
        unsigned root = newRoot(value, 0);
        roots[root].live.last = everyRun ? 0 : stepCount;
      }
    } else if (isStep(&op)) {
      int64_t now = stepNumber[&op];
      // First the reads: sharing needs to know that they end here.
      for (Value operand : op.getOperands())
        touch(operand, now);
      if (auto kernel = dyn_cast<KernelOp>(op))
        shareInPlace(kernel, now);
      for (Value result : op.getResults())
        if (!rootIndex.count(placeOf(result).owner))
          newRoot(result, now);
    }
    if (isa<JoinOp>(op)) { // its parts have made it
      if (lastUse.count(op.getResult(0)) && lastUse[op.getResult(0)] >= 0)
        touch(op.getResult(0), lastUse[op.getResult(0)]);
      continue;
    }
    for (Value result : op.getResults())
      if (rootIndex.count(placeOf(result).owner))
        touch(result,
              std::max<int64_t>(lastUse.count(result) ? lastUse[result] : -1,
                                stepNumber.count(&op) ? stepNumber[&op] : 0));
  }
  // What is read after the run keeps its bytes to the end.
  for (Operation &op : block)
    if (isa<KeepOp, OutputOp, CheckLabelsOp>(op))
      for (Value operand : op.getOperands()) {
        touch(operand, stepCount);
        roots[rootOf(operand)].pinned = true;
        pinnedValues.insert(ownerOf(operand));
      }
}

/// Values that are stored are produced in the place they are stored to.
void ProgramPlanner::placeStores() {
  for (Operation &op : program.getBody().front()) {
    auto place = storePlace(&op);
    if (!place)
      continue;
    Value value = op.getOperand(0);
    Root &root = roots[rootOf(value)];
    if (root.fixed && root.fixed->arena == place->arena &&
        root.fixed->offset == place->offset)
      continue; // written in place
    // What is read as well must keep its value until the last read.
    bool readToo = place->arena != kGradients &&
                   llvm::any_of(roots, [&](const Root &other) {
                     return other.fixed && other.fixed->arena == place->arena &&
                            other.fixed->offset == place->offset;
                   });
    // A part lies where the whole does.
    if (root.fixed || readToo || isPart(tensorOf(ownerOf(value))))
      copies.push_back({value, *place});
    else
      root.fixed = place;
  }
  for (auto &[value, place] : copies)
    touch(value, stepCount);
}

const std::string &ProgramPlanner::uniqueName(Value owner) {
  std::string &name = valueNames[owner];
  if (!name.empty())
    return name;
  const std::optional<Fixed> &fixed = roots[rootOf(owner)].fixed;
  bool isWhole = placeOf(owner).owner == owner;
  name = fixed && isWhole ? fixed->name : nameOf(owner);
  if (fixed && isWhole)
    return name;
  if (int repeat = names[name]++)
    name += "#" + std::to_string(repeat);
  return name;
}

Value ProgramPlanner::buffer(Value value) {
  Value &known = buffers[value];
  if (known)
    return known;
  Root &root = roots[rootOf(value)];
  // A view of another shape has the name of what it views.
  Value owner = ownerOf(value);
  std::string name = uniqueName(owner);
  DenseI64ArrayAttr live;
  if (!root.fixed)
    live = b.getDenseI64ArrayAttr(
        {root.live.first,
         std::min(root.live.last, std::max<int64_t>(stepCount - 1, 0))});
  Place place = placeOf(value);
  int64_t start = root.fixed ? root.fixed->offset : root.live.offset;
  auto buffer = planir::BufferOp::create(
      b, value.getLoc(), memrefOf(tensorOf(value)), name,
      root.fixed ? root.fixed->arena : StringRef(kTransient),
      start + place.offset * (tensorOf(value).getElementTypeBitWidth() / 8),
      live,
      // An earlier value in the same bytes may be overwritten in place.
      !root.fixed && pinnedValues.contains(owner));
  if (isPart(tensorOf(owner)))
    buffer->setAttr(brew::kWholeAttr,
                    b.getArrayAttr({b.getStringAttr(uniqueName(place.owner)),
                                    b.getI64IntegerAttr(start)}));
  known = buffer;
  return known;
}

planir::KernelOp ProgramPlanner::outline(KernelOp kernel,
                                         planir::ProgramOp plan) {
  OpBuilder outer(plan);
  // A number behind one name may make another layer's name, so every candidate
  // is looked up.
  std::string name = kernel.getName().str();
  while (!kernelNames.try_emplace(name, 1).second)
    name = (kernel.getName() + "_" +
            std::to_string(kernelNames[kernel.getName()]++))
               .str();
  auto outlined = planir::KernelOp::create(
      outer, kernel.getLoc(), name,
      outer.getDenseI64ArrayAttr(inPlace.lookup(kernel)),
      kernel.getLayersAttr() ? kernel.getLayersAttr() : outer.getArrayAttr({}),
      nullptr);
  IRMapping map;
  kernel.getBody().cloneInto(&outlined.getBody(), map);
  return outlined;
}

void ProgramPlanner::emitSteps(planir::ProgramOp plan) {
  using planir::Direction;
  UnitAttr backward;
  auto direction = [&](Direction value) {
    return planir::DirectionAttr::get(b.getContext(), value);
  };
  auto layersOf = [&](Operation *op) -> ArrayAttr {
    if (auto layer = op->getAttrOfType<StringAttr>("layer"))
      return b.getStrArrayAttr({layer.getValue()});
    return {};
  };
  auto flops = [&](Operation *op) {
    return b.getI64IntegerAttr(cast<LibraryInterface>(op).countFlops());
  };
  for (Operation &op : program.getBody().front()) {
    Location loc = op.getLoc();
    // The gradient of an operation stands behind every forward one.
    auto kernelOp = dyn_cast<KernelOp>(op);
    if (op.hasAttr("brew.backward") || (kernelOp && kernelOp.getBackward()))
      backward = b.getUnitAttr();
    if (auto feed = dyn_cast<FeedOp>(op)) {
      SmallVector<Value> tops;
      for (Value value : feed.getValues())
        tops.push_back(buffer(value));
      planir::FeedOp::create(b, loc, feed.getLayerAttr(), feed.getKindAttr(),
                             feed.getConfigAttr(), feed.getFolderAttr(), tops,
                             nullptr, nullptr);
    } else if (KernelOp kernel = kernelOp) {
      SmallVector<Value> arguments;
      for (Value input : kernel.getInputs())
        arguments.push_back(buffer(input));
      for (Value result : kernel.getOutputs())
        arguments.push_back(buffer(result));
      planir::LaunchOp::create(b, loc, outline(kernel, plan).getSymName(),
                               arguments, kernel.getLayersAttr(),
                               backward != nullptr, nullptr);
    } else if (auto conv = dyn_cast<ConvolutionOp>(op)) {
      planir::ConvolutionOp::create(
          b, loc, direction(Direction::Forward), buffer(conv.getX()),
          buffer(conv.getW()), conv.getB() ? buffer(conv.getB()) : Value(),
          buffer(conv.getY()), conv.getKernelAttr(), conv.getStrideAttr(),
          conv.getPadAttr(), conv.getDilationAttr(), conv.getGroupAttr(),
          conv.getReluAttr(), layersOf(&op), backward, flops(&op));
    } else if (auto deconv = dyn_cast<DeconvolutionOp>(op)) {
      planir::ConvolutionOp::create(
          b, loc, direction(Direction::BackwardData), buffer(deconv.getY()),
          buffer(deconv.getW()), Value(), buffer(deconv.getX()),
          deconv.getKernelAttr(), deconv.getStrideAttr(), deconv.getPadAttr(),
          deconv.getDilationAttr(), deconv.getGroupAttr(), nullptr,
          layersOf(&op), backward, flops(&op));
    } else if (auto conv = dyn_cast<ConvolutionBackwardDataOp>(op)) {
      planir::ConvolutionOp::create(
          b, loc, direction(Direction::BackwardData), buffer(conv.getDx()),
          buffer(conv.getW()), Value(), buffer(conv.getDy()),
          conv.getKernelAttr(), conv.getStrideAttr(), conv.getPadAttr(),
          conv.getDilationAttr(), conv.getGroupAttr(), nullptr, layersOf(&op),
          b.getUnitAttr(), flops(&op));
    } else if (auto conv = dyn_cast<ConvolutionBackwardWeightsOp>(op)) {
      planir::ConvolutionOp::create(
          b, loc, direction(Direction::BackwardWeights), buffer(conv.getX()),
          buffer(conv.getDw()), conv.getDb() ? buffer(conv.getDb()) : Value(),
          buffer(conv.getDy()), conv.getKernelAttr(), conv.getStrideAttr(),
          conv.getPadAttr(), conv.getDilationAttr(), conv.getGroupAttr(),
          nullptr, layersOf(&op), b.getUnitAttr(), flops(&op));
    } else if (auto ip = dyn_cast<InnerProductOp>(op)) {
      planir::InnerProductOp::create(
          b, loc, direction(Direction::Forward), buffer(ip.getX()),
          buffer(ip.getW()), ip.getB() ? buffer(ip.getB()) : Value(),
          buffer(ip.getY()), ip.getAxisAttr(), ip.getTransposeAttr(),
          ip.getReluAttr(), layersOf(&op), backward, flops(&op));
    } else if (auto ip = dyn_cast<InnerProductBackwardDataOp>(op)) {
      planir::InnerProductOp::create(
          b, loc, direction(Direction::BackwardData), buffer(ip.getDx()),
          buffer(ip.getW()), Value(), buffer(ip.getDy()), ip.getAxisAttr(),
          ip.getTransposeAttr(), nullptr, layersOf(&op), b.getUnitAttr(),
          flops(&op));
    } else if (auto ip = dyn_cast<InnerProductBackwardWeightsOp>(op)) {
      planir::InnerProductOp::create(
          b, loc, direction(Direction::BackwardWeights), buffer(ip.getX()),
          buffer(ip.getDw()), ip.getDb() ? buffer(ip.getDb()) : Value(),
          buffer(ip.getDy()), ip.getAxisAttr(), ip.getTransposeAttr(), nullptr,
          layersOf(&op), b.getUnitAttr(), flops(&op));
    }
  }
  for (auto &[value, place] : copies) {
    auto type = memrefOf(tensorOf(value));
    Value target =
        planir::BufferOp::create(b, value.getLoc(), type, place.name,
                                 place.arena, place.offset, nullptr, false);
    planir::CopyOp::create(b, value.getLoc(), buffer(value), target, nullptr,
                           backward != nullptr, nullptr);
  }
}

void ProgramPlanner::emitSinks() {
  for (Operation &op : program.getBody().front()) {
    if (auto output = dyn_cast<OutputOp>(op))
      planir::OutputOp::create(b, op.getLoc(), buffer(output.getValue()),
                               output.getBlobAttr(), output.getLossWeightAttr(),
                               output.getInnerAttr());
    else if (auto keep = dyn_cast<KeepOp>(op))
      planir::KeepOp::create(b, op.getLoc(), buffer(keep.getValue()),
                             keep.getWhatAttr(), keep.getNameAttr());
    else if (auto check = dyn_cast<CheckLabelsOp>(op))
      planir::CheckLabelsOp::create(
          b, op.getLoc(), buffer(check.getStatus()), buffer(check.getLabels()),
          check.getLimitAttr(), check.getLayerAttr(), check.getBlobAttr());
  }
}

planir::ProgramOp ProgramPlanner::run() {
  findRoots();
  placeStores();
  std::vector<brew::LiveValue> values;
  std::vector<unsigned> owners;
  for (auto [index, root] : llvm::enumerate(roots))
    if (!root.fixed) {
      values.push_back(root.live);
      owners.push_back(index);
    }
  arenaBytes = brew::planOffsets(values);
  for (auto [value, owner] : llvm::zip(values, owners))
    roots[owner].live.offset = value.offset;

  auto plan = planir::ProgramOp::create(
      b, program.getLoc(), program.getSymName(),
      program.getPhase() == Phase::Test, program.getBlobsAttr(),
      program.getParamsAttr(), arenaBytes, brew::lowerBound(values),
      program.getCaffeBytes().value_or(0));
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&plan.getBody());
  emitSteps(plan);
  emitSinks();
  return plan;
}

struct PlanMemory : brew::impl::PlanMemoryBase<PlanMemory> {
  /// Describes the parameters and their arenas.
  void emitParameters(OpBuilder &b, const brew::ParameterPlaces &places) {
    ModuleOp module = getOperation();
    bool learns = places.slots > 0;
    SmallVector<ParamOp> params(module.getOps<ParamOp>());
    SmallVector<NamedAttribute> carried;
    b.setInsertionPointToStart(module.getBody());
    for (ParamOp param : params) {
      // State that programs carry along, and what `prepare` computes, has a
      // place but no other properties.
      if (param->hasAttr(brew::kCarriedAttr))
        carried.push_back(b.getNamedAttr(
            param.getSymName(),
            b.getArrayAttr({TypeAttr::get(memrefOf(
                                cast<RankedTensorType>(param.getType()))),
                            b.getI64IntegerAttr(places.offsets.lookup(
                                param.getSymNameAttr()))})));
      if (param->hasAttr(brew::kCarriedAttr) || param->hasAttr("brew.derived"))
        continue;
      planir::ParamOp::create(
          b, param.getLoc(), param.getSymName(),
          memrefOf(cast<RankedTensorType>(param.getType())),
          places.offsets.lookup(param.getSymNameAttr()), param.getLayer(),
          param.getIndex(), *param.getFileDims(), param.getFiller(),
          param.getLrMultAttr().getValue(), param.getDecayMultAttr().getValue(),
          param.getSharedNameAttr(), param.getSharersAttr(),
          param.getSharerTypesAttr(), param.getLayerType(),
          // Caffe keeps history for every learnable parameter.
          places.slots);
    }
    if (!carried.empty())
      module->setAttr(brew::kCarriedAttr, b.getDictionaryAttr(carried));
    auto arena = [&](StringRef name, planir::ArenaKind kind, int64_t size) {
      if (size)
        planir::ArenaOp::create(b, module.getLoc(), name, kind, size);
    };
    arena(kParameters, planir::ArenaKind::Parameters, places.size);
    bool gradients = false;
    module.walk([&](StoreGradientOp) { gradients = true; });
    arena(kGradients, planir::ArenaKind::Gradients,
          gradients ? places.size : 0);
    bool sums = false;
    module.walk([&](StoreAllGradientsOp store) { sums |= store.getSums(); });
    arena(kState, planir::ArenaKind::State,
          (places.slots + sums) * places.size);
    arena(kScalars, planir::ArenaKind::Scalars,
          learns ? kScalarCount * brew::kBufferAlignment : 0);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    brew::ParameterPlaces places(module);
    auto b = OpBuilder::atBlockBegin(module.getBody());
    emitParameters(b, places);
    b.setInsertionPointToEnd(module.getBody());
    int64_t transient = 0;
    SmallVector<ProgramOp> programs(module.getOps<ProgramOp>());
    // Kernels share the symbol table with programs and arenas.
    llvm::StringMap<int> kernelNames;
    for (StringRef name :
         {kTransient, kParameters, kGradients, kState, kScalars})
      kernelNames[name] = 1;
    for (ProgramOp program : programs)
      kernelNames[program.getSymName()] = 1;
    for (ProgramOp program : programs) {
      ProgramPlanner planner(program, places, b, kernelNames);
      StringAttr name = program.getSymNameAttr();
      // Two symbols of one name do not verify; the old one goes first.
      program.setSymName((name.getValue() + ".source").str());
      planir::ProgramOp plan = planner.run();
      plan.setSymName(name.getValue());
      transient = std::max(transient, planner.arenaBytes);
      program.erase();
    }
    for (ParamOp param : llvm::make_early_inc_range(module.getOps<ParamOp>()))
      param.erase();
    b.setInsertionPointToStart(module.getBody());
    if (transient)
      planir::ArenaOp::create(b, module.getLoc(), kTransient,
                              planir::ArenaKind::Transient, transient);
  }
};

} // namespace
