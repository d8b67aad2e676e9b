//===- DnnlInnerProduct.cpp - Inner products by oneDNN --------------------===//
//
// Operands with any number of dimensions are multiplied as matrices [M,K] and
// [N,K]. A buffer is used as such a matrix in place if its strides allow it:
// the dimensions of K may have any order in memory (e.g. channels last) if it
// is equal in x and w. Otherwise the operand is reordered.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/onednn/DnnlCall.h"
#include "support/Error.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace brew::runtime {

using dnnl::memory;
using plan::InnerProductCall;

namespace {

/// Minimum number of rows of x for which the matrix product may be faster.
constexpr std::int64_t kMinProductRows = 16;

/// Consecutive dimensions of a buffer that form one index of the product.
struct Span {
  int begin, end;
};

/// The strides of the two indices of a matrix inside a buffer.
struct MatrixStrides {
  std::int64_t row, column;
};

/// Returns the dimensions of a span, outermost in memory first, without
/// dimensions of extent 1.
std::vector<int> memoryOrder(const plan::Buffer &buffer, Span span) {
  std::vector<int> order;
  for (int d = span.begin; d < span.end; ++d)
    if (buffer.dims(d) > 1)
      order.push_back(d);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return buffer.strides(a) > buffer.strides(b);
  });
  return order;
}

/// Returns the stride of the span as one index that runs through `order`, or
/// nullopt if the elements are not evenly spaced in this order.
std::optional<std::int64_t> spanStride(const plan::Buffer &buffer,
                                       const std::vector<int> &order) {
  if (order.empty())
    return 1;
  for (std::size_t i = 0; i + 1 < order.size(); ++i)
    if (buffer.strides(order[i]) !=
        buffer.dims(order[i + 1]) * buffer.strides(order[i + 1]))
      return std::nullopt;
  return buffer.strides(order.back());
}

std::int64_t spanCount(const plan::Buffer &buffer, Span span) {
  return std::accumulate(buffer.dims().begin() + span.begin,
                         buffer.dims().begin() + span.end, std::int64_t(1),
                         std::multiplies<>());
}

/// A primitive that computes the call, with operands x, w, y and optionally b.
struct InnerProductCandidate {
  std::string name; ///< of oneDNN's kernel and of the layout of weights
  dnnl::primitive_desc description;
  std::vector<DnnlOperand> operands;
  dnnl::primitive_attr attributes;
  bool fusesSum = false, reluAfter = false;
};

class InnerProductBuilder {
public:
  InnerProductBuilder(DnnlContext &context, const InnerProductCall &call,
                      BoundBuffer x, BoundBuffer w, BoundBuffer b,
                      BoundBuffer y);
  std::unique_ptr<DnnlCall> build(const std::string &where) const;
  /// Returns all candidates, starting with the choice of build().
  std::vector<InnerProductCandidate> allCandidates() const {
    return candidates(accumulates(), /*all=*/true);
  }
  std::unique_ptr<DnnlCall> build(DnnlContext &callContext,
                                  const InnerProductCandidate &candidate) const;

private:
  DnnlOperand makeOperand(int argument, BoundBuffer bound, Span rows,
                          Span columns, const std::vector<int> &rowOrder,
                          const std::vector<int> &columnOrder,
                          bool rowMajorOnly, bool written) const;
  bool accumulates() const {
    return call.direction() == plan::FORWARD && call.epilogue().accumulate();
  }
  InnerProductCandidate prepare(bool fusesSum) const;
  std::vector<InnerProductCandidate> candidates(bool fusesSum, bool all) const;
  static void pack(InnerProductCandidate &candidate);
  DnnlOperand biasOperand(int argument, bool written) const;
  std::vector<InnerProductCandidate>
  matmulCandidates(const InnerProductCandidate &prepared, bool packs,
                   bool all) const;
  std::vector<InnerProductCandidate>
  innerProductPrimitives(const InnerProductCandidate &prepared, bool packs,
                         bool all) const;

  DnnlContext &context;
  const InnerProductCall &call;
  BoundBuffer x, w, b, y;
  Span xRows, xColumns, wRows, wColumns, yRows, yColumns;
};

} // namespace

InnerProductBuilder::InnerProductBuilder(DnnlContext &context,
                                         const InnerProductCall &call,
                                         BoundBuffer x, BoundBuffer w,
                                         BoundBuffer b, BoundBuffer y)
    : context(context), call(call), x(x), w(w), b(b), y(y) {
  int axis = static_cast<int>(call.axis());
  int inner = x.buffer->dims_size() - axis;
  xRows = {0, axis};
  xColumns = {axis, axis + inner};
  // The rows of w are N, stored first or last.
  wRows = call.transpose() ? Span{inner, inner + 1} : Span{0, 1};
  wColumns = call.transpose() ? Span{0, inner} : Span{1, 1 + inner};
  yRows = {0, axis};
  yColumns = {axis, axis + 1};
}

/// Returns the buffer as a matrix whose indices run through `rowOrder` and
/// `columnOrder`: in place if its strides allow it, else staged as a dense
/// row-major matrix. oneDNN's product supports only dense matrices, and
/// column-major matrices only for w.
DnnlOperand
InnerProductBuilder::makeOperand(int argument, BoundBuffer bound, Span rows,
                                 Span columns, const std::vector<int> &rowOrder,
                                 const std::vector<int> &columnOrder,
                                 bool rowMajorOnly, bool written) const {
  const plan::Buffer &buffer = *bound.buffer;
  std::int64_t rowCount = spanCount(buffer, rows);
  std::int64_t columnCount = spanCount(buffer, columns);
  DnnlOperand result;
  result.argument = argument;
  result.data = bound.data;
  result.written = written;
  result.isConstant = bound.isConstant && !written;
  result.isShared = bound.isShared && !written;
  result.layout = layoutOf(buffer);
  std::optional<std::int64_t> row = spanStride(buffer, rowOrder);
  std::optional<std::int64_t> column = spanStride(buffer, columnOrder);
  // An index with one value has no stride of its own.
  if (rowCount == 1 && column)
    row = column == 1 ? columnCount : 1;
  if (columnCount == 1 && row)
    column = row == columnCount || rowMajorOnly ? 1 : rowCount;
  bool isDense = row && column &&
                 ((*column == 1 && *row == columnCount) ||
                  (!rowMajorOnly && *row == 1 && *column == rowCount));
  result.staged = result.layout;
  if (!isDense) {
    memory::dims strides(static_cast<std::size_t>(buffer.dims_size()), 1);
    std::int64_t next = 1;
    for (const std::vector<int> *order : {&columnOrder, &rowOrder})
      for (auto d = order->rbegin(); d != order->rend(); ++d) {
        strides[static_cast<std::size_t>(*d)] = next;
        next *= buffer.dims(*d);
      }
    result.staged = {result.layout.get_dims(), typeOf(buffer), strides};
    row = columnCount;
    column = 1;
  }
  result.view = {
      {rowCount, columnCount}, typeOf(buffer), memory::dims{*row, *column}};
  return result;
}

DnnlOperand InnerProductBuilder::biasOperand(int argument, bool written) const {
  DnnlOperand result;
  result.argument = argument;
  result.data = b.data;
  result.layout = layoutOf(*b.buffer);
  result.staged = {result.layout.get_dims(), typeOf(*b.buffer),
                   memory::dims{1}};
  result.view = result.staged;
  result.written = written;
  return result;
}

/// Returns a candidate with the operands and the operations that the primitive
/// fuses with the product, but without a primitive.
InnerProductCandidate InnerProductBuilder::prepare(bool fusesSum) const {
  // x determines the order within M and K, so that x, usually the largest
  // operand, stays in place.
  std::vector<int> m = memoryOrder(*x.buffer, xRows);
  std::vector<int> k = memoryOrder(*x.buffer, xColumns);
  if (!spanStride(*x.buffer, m)) // x is staged anyway: use y's order
    m = memoryOrder(*y.buffer, yRows);
  auto shiftDims = [](std::vector<int> order, int offset) {
    for (int &d : order)
      d += offset;
    return order;
  };
  std::vector<int> wK = shiftDims(k, wColumns.begin - xColumns.begin);
  std::vector<int> n = memoryOrder(*w.buffer, wRows);
  std::vector<int> yN = shiftDims(n, yColumns.begin - wRows.begin);

  plan::Direction direction = call.direction();
  bool forward = direction == plan::FORWARD;
  int xArgument =
      direction == plan::BACKWARD_DATA ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC;
  int wArgument = direction == plan::BACKWARD_WEIGHTS ? DNNL_ARG_DIFF_WEIGHTS
                                                      : DNNL_ARG_WEIGHTS;
  int yArgument = forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST;
  InnerProductCandidate result;
  result.operands = {
      makeOperand(xArgument, x, xRows, xColumns, m, k, true,
                  direction == plan::BACKWARD_DATA),
      makeOperand(wArgument, w, wRows, wColumns, n, wK, false,
                  direction == plan::BACKWARD_WEIGHTS),
      makeOperand(yArgument, y, yRows, yColumns, m, yN, true, forward)};
  if (b.buffer)
    result.operands.push_back(
        biasOperand(forward ? DNNL_ARG_BIAS : DNNL_ARG_DIFF_BIAS, !forward));
  const plan::Epilogue &epilogue = call.epilogue();
  // The primitive can only accumulate into y itself.
  result.fusesSum = fusesSum && !result.operands[2].needsStaging();
  for (DnnlOperand &operand : result.operands)
    operand.accumulate =
        operand.written && epilogue.accumulate() && !result.fusesSum;
  bool fusesRelu =
      forward && epilogue.relu() && (!epilogue.accumulate() || result.fusesSum);
  result.reluAfter = epilogue.relu() && !fusesRelu;
  result.attributes = attributesFor(epilogue, result.fusesSum, fusesRelu);
  return result;
}

/// Returns implementations of the call as a matrix product; without `all`, only
/// those that are probably faster than inner-product primitives.
std::vector<InnerProductCandidate>
InnerProductBuilder::matmulCandidates(const InnerProductCandidate &prepared,
                                      bool packs, bool all) const {
  bool forward = call.direction() == plan::FORWARD;
  if (call.direction() == plan::BACKWARD_WEIGHTS ||
      (!all && spanCount(*x.buffer, xRows) < kMinProductRows))
    return {};
  InnerProductCandidate candidate = prepared;
  DnnlOperand &wOperand = candidate.operands[1];
  memory::dims dims = wOperand.view.get_dims(),
               strides = wOperand.view.get_strides();
  // w is [N,K]. The forward product sums over K, the backward product over N.
  if (strides[forward ? 1 : 0] != 1)
    return {};
  if (forward) {
    std::swap(dims[0], dims[1]);
    std::swap(strides[0], strides[1]);
  }
  wOperand.view = {dims, typeOf(*w.buffer), strides};
  DnnlOperand &source = candidate.operands[forward ? 0 : 2],
              &target = candidate.operands[forward ? 2 : 0];
  source.argument = DNNL_ARG_SRC;
  wOperand.argument = DNNL_ARG_WEIGHTS;
  target.argument = DNNL_ARG_DST;
  memory::desc bias;
  if (candidate.operands.size() > 3) {
    bias = {{1, dims[1]}, typeOf(*b.buffer), memory::dims{dims[1], 1}};
    candidate.operands[3].view = bias;
  }
  const memory::desc weights =
      packs ? memory::desc(dims, typeOf(*w.buffer), memory::format_tag::any)
            : wOperand.view;
  std::vector<InnerProductCandidate> result;
  for (const dnnl::primitive_desc &implementation :
       implementationsOf(dnnl::matmul::primitive_desc(
                             context.engine, source.view, weights, bias,
                             target.view, candidate.attributes, true),
                         all)) {
    if (all ? isReferenceKernel(implementation)
            : kernelName(implementation).find("brg") == std::string::npos)
      continue;
    InnerProductCandidate &added = result.emplace_back(candidate);
    added.description = implementation;
    added.name = std::string(packs ? "packed-product " : "product ") +
                 kernelName(implementation);
    if (packs)
      pack(added);
  }
  return result;
}

/// Uses the primitive's preferred layout for packed weights.
void InnerProductBuilder::pack(InnerProductCandidate &candidate) {
  DnnlOperand &weights = candidate.operands[1];
  weights.layout = weights.view;
  weights.staged = weights.view =
      candidate.description.query_md(dnnl::query::weights_md);
}

std::vector<InnerProductCandidate> InnerProductBuilder::innerProductPrimitives(
    const InnerProductCandidate &prepared, bool packs, bool all) const {
  using dnnl::prop_kind;
  plan::Direction direction = call.direction();
  const memory::desc xView = prepared.operands[0].view,
                     wView = prepared.operands[1].view,
                     yView = prepared.operands[2].view;
  memory::desc bView;
  if (b.buffer)
    bView = prepared.operands[3].view;
  auto implementations = [&] {
    if (direction == plan::FORWARD) {
      const memory::desc weights =
          packs ? memory::desc(wView.get_dims(), wView.get_data_type(),
                               memory::format_tag::any)
                : wView;
      return implementationsOf(dnnl::inner_product_forward::primitive_desc(
                                   context.engine, prop_kind::forward_training,
                                   xView, weights, bView, yView,
                                   prepared.attributes, true),
                               all);
    }
    // The gradient of bf16 weights may be f32.
    memory::desc weights(wView.get_dims(), xView.get_data_type(),
                         memory::format_tag::any);
    dnnl::inner_product_forward::primitive_desc hint(
        context.engine, prop_kind::forward_training, xView, weights, yView);
    if (direction == plan::BACKWARD_DATA)
      return implementationsOf(
          dnnl::inner_product_backward_data::primitive_desc(
              context.engine, xView, wView, yView, hint, prepared.attributes,
              true),
          all);
    return implementationsOf(
        dnnl::inner_product_backward_weights::primitive_desc(
            context.engine, xView, wView, bView, yView, hint,
            prepared.attributes, true),
        all);
  };
  std::vector<InnerProductCandidate> result;
  for (const dnnl::primitive_desc &implementation : implementations()) {
    if (isReferenceKernel(implementation))
      continue;
    InnerProductCandidate &added = result.emplace_back(prepared);
    added.description = implementation;
    added.name =
        std::string(packs ? "packed " : "plain ") + kernelName(implementation);
    if (packs)
      pack(added);
  }
  return result;
}

/// Returns the preferred candidate and, with `all`, the others. Returns an
/// empty list if oneDNN has no kernel.
std::vector<InnerProductCandidate>
InnerProductBuilder::candidates(bool fusesSum, bool all) const {
  const InnerProductCandidate prepared = prepare(fusesSum);
  const bool packs = call.direction() == plan::FORWARD &&
                     (w.isConstant || w.isShared) &&
                     !prepared.operands[1].needsStaging();
  std::vector<InnerProductCandidate> result;
  auto add = [&](std::vector<InnerProductCandidate> &&newCandidates) {
    for (InnerProductCandidate &candidate : newCandidates)
      if (std::none_of(result.begin(), result.end(),
                       [&](const InnerProductCandidate &existing) {
                         return existing.name == candidate.name;
                       }))
        result.push_back(std::move(candidate));
  };
  if (!packs)
    add(matmulCandidates(prepared, packs, /*all=*/false));
  if (all || result.empty())
    add(innerProductPrimitives(prepared, packs, all));
  if (all && packs) {
    add(matmulCandidates(prepared, packs, all));
    add(innerProductPrimitives(prepared, /*packs=*/false, all));
  }
  if (all)
    add(matmulCandidates(prepared, /*packs=*/false, all));
  if (result.empty() && prepared.fusesSum)
    return candidates(/*fusesSum=*/false, all);
  return result;
}

std::unique_ptr<DnnlCall>
InnerProductBuilder::build(DnnlContext &callContext,
                           const InnerProductCandidate &candidate) const {
  auto result = std::make_unique<DnnlCall>(callContext);
  result->add(candidate.description, candidate.operands);
  if (candidate.reluAfter)
    result->addRelu(layoutOf(*y.buffer), y.data,
                    call.epilogue().negative_slope());
  return result;
}

std::unique_ptr<DnnlCall>
InnerProductBuilder::build(const std::string &where) const {
  const std::vector<InnerProductCandidate> preferred =
      candidates(accumulates(), /*all=*/false);
  if (preferred.empty())
    throw unavailable(where + ": oneDNN has no fast kernel for this inner "
                              "product on this machine (compile the net with "
                              "--no-library=ip)");
  return build(context, preferred.front());
}

std::unique_ptr<DnnlCall> makeInnerProduct(DnnlContext &context,
                                           const InnerProductCall &call,
                                           BoundBuffer x, BoundBuffer w,
                                           BoundBuffer b, BoundBuffer y,
                                           const std::string &where) {
  if (!isSupportedType(x.buffer->type()))
    throw unavailable(where + ": oneDNN inner products compute in f32 and bf16 "
                              "only (compile an f64 net with --no-library)");
  if (x.buffer->dims_size() > DNNL_MAX_NDIMS ||
      w.buffer->dims_size() > DNNL_MAX_NDIMS)
    throw unavailable(where + ": oneDNN takes at most " +
                      std::to_string(DNNL_MAX_NDIMS) + " dimensions");
  try {
    return InnerProductBuilder(context, call, x, w, b, y).build(where);
  } catch (const dnnl::error &error) {
    throw unavailable(where + ": oneDNN refuses this inner product (" +
                      error.what() + ")");
  }
}

std::vector<CallCandidate> innerProductCandidates(DnnlContext &context,
                                                  const InnerProductCall &call,
                                                  BoundBuffer x, BoundBuffer w,
                                                  BoundBuffer b,
                                                  BoundBuffer y) {
  std::vector<CallCandidate> result;
  const auto builder =
      std::make_shared<InnerProductBuilder>(context, call, x, w, b, y);
  for (InnerProductCandidate &candidate : builder->allCandidates()) {
    std::string name = candidate.name;
    result.push_back(
        {std::move(name), [builder, candidate](DnnlContext &callContext) {
           return builder->build(callContext, candidate);
         }});
  }
  return result;
}

} // namespace brew::runtime
