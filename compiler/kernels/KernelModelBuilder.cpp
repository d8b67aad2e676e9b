//===- KernelModelBuilder.cpp - Construction of the kernel model ----------===//
#include "compiler/kernels/KernelModel.h"

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/KernelAnalysis.h"
#include "dialects/Brew/Origin.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace brew::compiler {

/// Returns whether output `number` is a reorderable sum or a maximum.
static bool isReorderable(linalg::GenericOp nest, unsigned number) {
  if (maximumOperand(nest, number))
    return true;
  Operation *op =
      nest.getBody()->getTerminator()->getOperand(number).getDefiningOp();
  Value accumulated = nest.getRegionOutputArgs()[number];
  if (!op || !accumulated.hasOneUse() || !op->hasOneUse() ||
      !llvm::is_contained(op->getOperands(), accumulated))
    return false;
  auto sum = dyn_cast<arith::AddFOp>(op);
  return isa<arith::MaximumFOp>(op) ||
         (sum && arith::bitEnumContainsAll(sum.getFastmath(),
                                           arith::FastMathFlags::reassoc));
}

namespace {

/// Adds factor * expr to `sum`. Returns false if `expr` is not linear.
bool addLinear(AffineExpr expr, int64_t factor, LinearExpr &sum) {
  // The coefficients of the loops and of variables for divisions, and the
  // constant.
  SmallVector<int64_t> flat;
  const size_t loops = sum.coefs.size();
  if (failed(getFlattenedAffineExpr(expr, loops, 0, &flat)) ||
      flat.size() != loops + 1)
    return false;
  for (size_t loop = 0; loop < loops; ++loop)
    sum.coefs[loop] += factor * flat[loop];
  sum.constant += factor * flat.back();
  return true;
}

/// Builds the model of one kernel.
class KernelModelBuilder {
public:
  explicit KernelModelBuilder(dialects::plan::KernelOp op) { kernel.op = op; }

  Kernel build() {
    addArguments();
    for (Operation &op : kernel.op.getBody().front().without_terminator()) {
      if (auto generic = dyn_cast<linalg::GenericOp>(op))
        addNest(generic);
      else if (!isa<tensor::EmptyOp, linalg::FillOp, arith::ConstantOp,
                    dialects::FillOp, dialects::ReinterpretOp>(op))
        throwCannotEmit(kernel.op,
                        "it contains a " + op.getName().getStringRef().str());
    }
    addDestinations();
    return std::move(kernel);
  }

private:
  void addArguments() {
    Block &body = kernel.op.getBody().front();
    Operation *yield = body.getTerminator();
    for (BlockArgument argument : body.getArguments())
      kernel.arguments.push_back(tensorType(argument));
    unsigned inputs = kernel.arguments.size();
    ArrayRef<int64_t> inPlace = kernel.op.getInPlace();
    if (inPlace.size() != yield->getNumOperands())
      throwCannotEmit(kernel.op, "in_place does not have one entry per result");
    llvm::SmallVector<bool> isOverwritten(inputs, false);
    for (auto [value, inPlaceArgument] :
         llvm::zip(yield->getOperands(), inPlace)) {
      RankedTensorType type = tensorType(value);
      destinations.try_emplace(
          value, inPlaceArgument < 0 ? kernel.arguments.size()
                                     : static_cast<size_t>(inPlaceArgument));
      if (inPlaceArgument < 0) {
        kernel.arguments.push_back(type);
        continue;
      }
      if (inPlaceArgument >= inputs || isOverwritten[inPlaceArgument] ||
          dialects::memrefTypeOf(kernel.arguments[inPlaceArgument]) !=
              dialects::memrefTypeOf(type))
        throwCannotEmit(kernel.op,
                        "a result cannot be in the place of argument " +
                            std::to_string(inPlaceArgument));
      isOverwritten[inPlaceArgument] = true;
    }
  }

  RankedTensorType tensorType(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape())
      throwCannotEmit(kernel.op, "a value has no static shape");
    return type;
  }

  LinearExpr makeZero(linalg::GenericOp op) {
    return {SmallVector<int64_t>(op.getNumLoops(), 0), 0};
  }

  /// Returns the source of `tensor`; null if it has no value (tensor.empty).
  std::optional<Source> sourceOf(Value tensor) {
    // A view has the same element offsets as its source.
    while (auto view = tensor.getDefiningOp<dialects::ReinterpretOp>()) {
      tensor = view.getX();
      if (isa_and_nonnull<linalg::GenericOp>(tensor.getDefiningOp()))
        throwCannotEmit(kernel.op, "it views a value of its own");
    }
    Source source;
    if (auto argument = dyn_cast<BlockArgument>(tensor)) {
      source.kind = Source::Kind::Argument;
      source.argument = argument.getArgNumber();
      return source;
    }
    Operation *op = tensor.getDefiningOp();
    if (isa<tensor::EmptyOp>(op))
      return std::nullopt;
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      auto found = nestPositions.find(op);
      if (found == nestPositions.end() ||
          found->second.first + 1 != kernel.subKernels.size()) {
        auto stored = destinations.find(tensor);
        if (found == nestPositions.end() || stored == destinations.end() ||
            !mayRead(kernel.subKernels[found->second.first]))
          throwCannotEmit(kernel.op,
                          "a sub-kernel reads the result of another one");
        source.kind = Source::Kind::Argument;
        source.argument = stored->second;
        source.writtenBefore = true;
        source.writtenThisStage =
            kernel.subKernels[found->second.first].stage ==
            kernel.subKernels.back().stage;
        return source;
      }
      if (dialects::isStoredPerIteration(
              generic, cast<OpResult>(tensor).getResultNumber()))
        throwCannotEmit(kernel.op,
                        "a nest reads a per-iteration store of another one");
      source.kind = Source::Kind::Result;
      source.nest = found->second.second;
      source.result = cast<OpResult>(tensor).getResultNumber();
      return source;
    }
    Type element = tensorType(tensor).getElementType();
    if (auto fill = dyn_cast<dialects::FillOp>(op)) {
      double value = fill.getValue().convertToDouble();
      ::mlir::Builder b(op->getContext());
      if (isa<FloatType>(element))
        source.constant = b.getFloatAttr(element, value);
      else
        source.constant =
            b.getIntegerAttr(element, static_cast<int64_t>(value));
    } else if (auto fill = dyn_cast<linalg::FillOp>(op)) {
      Attribute attribute;
      if (matchPattern(fill.getInputs()[0], m_Constant(&attribute)))
        source.constant = dyn_cast<TypedAttr>(attribute);
    } else {
      DenseElementsAttr values;
      if (matchPattern(tensor, m_Constant(&values)) && values.isSplat())
        source.constant =
            dyn_cast<TypedAttr>(values.getSplatValue<Attribute>());
    }
    if (!source.constant || source.constant.getType() != element)
      throwCannotEmit(kernel.op, "it reads a " +
                                     op->getName().getStringRef().str() +
                                     " that is not a single constant");
    return source;
  }

  /// Returns whether the current sub-kernel may read results of `writer`.
  bool mayRead(const SubKernel &writer) const {
    const SubKernel &reader = kernel.subKernels.back();
    return writer.stage < reader.stage ||
           (writer.stage == reader.stage && reader.inLastBlock);
  }

  /// Checks that dimension `dim` of a value of this sub-kernel, read at `loop`
  /// (null: not a loop index), is read at the grid point that writes it.
  void checkPoint(const Source &source, unsigned dim,
                  std::optional<unsigned> loop) {
    if (source.kind != Source::Kind::Result)
      return;
    const SubKernel &subKernel = kernel.subKernels.back();
    const Nest &producer = subKernel.nests[source.nest];
    if (!isSameGridPoint(outputMap(producer.op, source.result), dim, subKernel,
                         producer.loops, loop))
      throwCannotEmit(kernel.op, "a nest reads a value of another grid point");
  }

  /// Returns the strides of result `result` of `op`, a nest with `grid` grid
  /// loops, in a dense buffer for one grid point: 0 for dimensions that grid
  /// loops index.
  SmallVector<int64_t> localStrides(linalg::GenericOp op, unsigned result,
                                    unsigned grid) {
    AffineMap map = outputMap(op, result);
    RankedTensorType type = tensorType(op.getResult(result));
    SmallVector<int64_t> strides(type.getRank(), 0);
    int64_t next = 1;
    const SmallVector<int64_t> order = dialects::memoryOrder(type);
    for (int64_t dim : llvm::reverse(order))
      if (map.getDimPosition(dim) >= grid) {
        strides[dim] = next;
        next *= type.getDimSize(dim);
      }
    return strides;
  }
  /// Returns the same for a `source` that is a result, otherwise empty.
  SmallVector<int64_t> localStrides(const Source &source) {
    if (source.kind != Source::Kind::Result)
      return {};
    const SubKernel &subKernel = kernel.subKernels.back();
    return localStrides(subKernel.nests[source.nest].op, source.result,
                        subKernel.grid);
  }

  Access accessOf(linalg::GenericOp op, const Source &source, Value tensor,
                  AffineMap map) {
    Access access{source, makeZero(op), makeZero(op)};
    if (source.kind == Source::Kind::Constant)
      return access;
    SmallVector<int64_t> strides = dialects::memoryStrides(tensorType(tensor)),
                         local = localStrides(source);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      std::optional<unsigned> loop;
      if (auto dimExpr = dyn_cast<AffineDimExpr>(expr))
        loop = dimExpr.getPosition();
      checkPoint(source, dim, loop);
      if (!addLinear(expr, strides[dim], access.address) ||
          !addLinear(expr, local.empty() ? 0 : local[dim], access.local))
        throwCannotEmit(kernel.op, "an indexing map is not linear");
    }
    markRead(source);
    return access;
  }

  Extract extractOf(linalg::GenericOp op, tensor::ExtractOp extract) {
    std::optional<Source> source = sourceOf(extract.getTensor());
    if (!source)
      throwCannotEmit(kernel.op, "it extracts from a tensor without value");
    SmallVector<int64_t> strides =
        dialects::memoryStrides(tensorType(extract.getTensor()));
    SmallVector<int64_t> local = localStrides(*source);
    local.resize(strides.size(), 0);
    Extract result{*source, makeZero(op), strides, makeZero(op), local};
    for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
      std::optional<unsigned> loop;
      if (auto indexOp = index.getDefiningOp<linalg::IndexOp>()) {
        loop = indexOp.getDim();
        result.address.coefs[*loop] += strides[dim];
        result.strides[dim] = 0;
        result.local.coefs[*loop] += local[dim];
        result.localStrides[dim] = 0;
      }
      checkPoint(*source, dim, loop);
    }
    markRead(*source);
    return result;
  }

  void markRead(const Source &source) {
    if (source.kind == Source::Kind::Result)
      kernel.subKernels.back()
          .nests[source.nest]
          .outputs[source.result]
          .readLater = true;
  }

  void addNest(linalg::GenericOp op) {
    const std::optional<dialects::NestGrid> nestGrid =
        dialects::NestGrid::of(op);
    if (!nestGrid || nestGrid->subKernel < 0 || nestGrid->gridLoops < 0 ||
        nestGrid->gridLoops > op.getNumLoops())
      throwCannotEmit(kernel.op, "a nest has no valid sub-kernel and grid");
    if (nestGrid->subKernel == static_cast<int64_t>(kernel.subKernels.size())) {
      kernel.subKernels.emplace_back();
      kernel.subKernels.back().kernel = kernel.op;
      kernel.subKernels.back().grid = nestGrid->gridLoops;
      kernel.subKernels.back().inLastBlock = nestGrid->inLastBlock;
      kernel.subKernels.back().stage = static_cast<unsigned>(nestGrid->stage);
    }
    if (nestGrid->subKernel + 1 !=
            static_cast<int64_t>(kernel.subKernels.size()) ||
        nestGrid->gridLoops != kernel.subKernels.back().grid)
      throwCannotEmit(kernel.op, "its nests are not grouped by sub-kernel");
    SubKernel &current = kernel.subKernels.back();
    nestPositions[op] = {kernel.subKernels.size() - 1, current.nests.size()};

    Nest nest;
    nest.op = op;
    for (auto [extent, iterator] :
         llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
      nest.loops.push_back(
          {extent, iterator == utils::IteratorType::reduction});
    for (unsigned i = 0; i < current.grid; ++i)
      if (nest.loops[i].reduction ||
          (!current.nests.empty() &&
           nest.loops[i].extent != current.nests[0].loops[i].extent))
        throwCannotEmit(kernel.op, "the grids of a sub-kernel's nests differ");

    for (OpOperand *operand : op.getDpsInputOperands()) {
      std::optional<Source> source = sourceOf(operand->get());
      bool isRead = !op.getMatchingBlockArgument(operand).use_empty();
      if (isRead && !source)
        throwCannotEmit(kernel.op, "a nest reads a tensor without value");
      nest.inputs.emplace_back();
      if (isRead)
        nest.inputs.back() = accessOf(op, *source, operand->get(),
                                      op.getMatchingIndexingMap(operand));
    }
    for (unsigned i = 0; i < op.getNumDpsInits(); ++i)
      if (dialects::isStoredPerIteration(op, i))
        nest.perIterationStores.push_back(storeOf(op, i));
      else if (nest.perIterationStores.empty())
        nest.outputs.push_back(outputOf(op, i, nest));
      else
        throwCannotEmit(kernel.op,
                        "a reduction result follows a per-iteration store");
    nest.indices.resize(op.getNumLoops());
    op.getBody()->walk([&](Operation *inner) {
      if (auto extract = dyn_cast<tensor::ExtractOp>(inner))
        nest.extracts[inner] = extractOf(op, extract);
      else if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
        // Indices used only in extracts are part of their addresses.
        if (llvm::all_of(inner->getUsers(), [](Operation *user) {
              return isa<tensor::ExtractOp>(user);
            }))
          return;
        nest.indices[index.getDim()] = makeZero(op);
        nest.indices[index.getDim()]->coefs[index.getDim()] = 1;
      } else if (inner->getNumRegions()) {
        throwCannotEmit(kernel.op, "a body has operations with regions");
      }
    });
    nest.reorderable = true;
    for (unsigned i = 0; i < nest.outputs.size(); ++i)
      nest.reorderable &= isReorderable(op, i);
    current.nests.push_back(std::move(nest));
  }

  /// Returns the store of a result with an element per reduction iteration.
  Output storeOf(linalg::GenericOp op, unsigned number) {
    Value init = op.getDpsInitOperand(number)->get();
    if (op.payloadUsesValueFromOperand(op.getDpsInitOperand(number)) ||
        !isa<FloatType>(tensorType(init).getElementType()))
      throwCannotEmit(
          kernel.op,
          "a per-iteration store accumulates or is not floating-point");
    Output store;
    store.element = tensorType(init).getElementType();
    store.address = makeZero(op);
    AffineMap map = outputMap(op, number);
    SmallVector<int64_t> strides = dialects::memoryStrides(tensorType(init));
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (!addLinear(expr, strides[dim], store.address))
        throwCannotEmit(kernel.op, "an indexing map is not linear");
    return store;
  }

  Output outputOf(linalg::GenericOp op, unsigned number, const Nest &nest) {
    Value init = op.getDpsInitOperand(number)->get();
    AffineMap map = outputMap(op, number);
    Output output;
    output.element = tensorType(init).getElementType();
    output.address = makeZero(op);
    output.local = makeZero(op);
    if (!map.isProjectedPermutation())
      throwCannotEmit(kernel.op, "a result is not written loop by loop");
    unsigned grid = kernel.subKernels.back().grid;
    SmallVector<int64_t> strides = dialects::memoryStrides(tensorType(init)),
                         local = localStrides(op, number, grid);
    SmallVector<bool> usedLoops(nest.loops.size(), false);
    for (unsigned dim = 0; dim < map.getNumResults(); ++dim) {
      output.address.coefs[map.getDimPosition(dim)] = strides[dim];
      output.local.coefs[map.getDimPosition(dim)] = local[dim];
      if (local[dim])
        output.localSize *= nest.loops[map.getDimPosition(dim)].extent;
      usedLoops[map.getDimPosition(dim)] = true;
    }
    for (auto [loop, isUsed] : llvm::zip(nest.loops, usedLoops))
      if (loop.extent > 1 && loop.reduction == isUsed)
        throwCannotEmit(kernel.op,
                        isUsed ? "a reduction loop addresses a result"
                               : "several grid points write one element");
    bool hasReduction = llvm::any_of(
        nest.loops, [](const Loop &loop) { return loop.reduction; });
    if (hasReduction || !op.getRegionOutputArgs()[number].use_empty()) {
      std::optional<Source> source = sourceOf(init);
      if (!source)
        throwCannotEmit(kernel.op, "a reduction has no initial value");
      output.initial = accessOf(op, *source, init, map);
    }
    return output;
  }

  /// Connects results to the launch's buffers.
  void addDestinations() {
    Operation *yield = kernel.op.getBody().front().getTerminator();
    unsigned next = kernel.op.getBody().front().getNumArguments();
    for (auto [value, inPlaceArgument] :
         llvm::zip(yield->getOperands(), kernel.op.getInPlace())) {
      unsigned argument = inPlaceArgument < 0 ? next++ : inPlaceArgument;
      auto found = nestPositions.find(value.getDefiningOp());
      if (!value.getDefiningOp() || found == nestPositions.end())
        throwCannotEmit(kernel.op, "it yields a value that no nest computes");
      auto [subKernel, nest] = found->second;
      unsigned result = cast<OpResult>(value).getResultNumber();
      Nest &writer = kernel.subKernels[subKernel].nests[nest];
      if (result >= writer.outputs.size()) {
        if (inPlaceArgument >= 0)
          throwCannotEmit(kernel.op,
                          "a per-iteration store overwrites an argument");
        writer.perIterationStores[result - writer.outputs.size()]
            .arguments.push_back(argument);
        continue;
      }
      Output &output = writer.outputs[result];
      output.arguments.push_back(argument);
      if (inPlaceArgument >= 0)
        output.overwritesLiveInput |= checkInPlaceResult(
            kernel, inPlaceArgument, subKernel, nest, result);
    }
  }

  Kernel kernel;
  /// The argument to which each yielded value is stored.
  llvm::DenseMap<Value, unsigned> destinations;
  /// The sub-kernel of every nest, and the nest's index within it.
  llvm::DenseMap<Operation *, std::pair<unsigned, unsigned>> nestPositions;
};

} // namespace

Kernel buildKernel(dialects::plan::KernelOp op) {
  return KernelModelBuilder(op).build();
}

} // namespace brew::compiler
