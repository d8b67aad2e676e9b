//===- DnnlInnerProduct.cpp - Matrix products by oneDNN -------------------===//
//
// Whatever the number of dimensions, the product is one of matrices [M,K] and
// [N,K]. Buffers are seen as such in place where their strides allow it: the
// dimensions that make up K may lie in any order (channels last, say) as long
// as x and w agree on it. Where they do not, the operand is reordered.
//
//===----------------------------------------------------------------------===//
#include "formats/Error.h"
#include "runtime/cpu/DnnlCall.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace brew::runtime {

using dnnl::memory;
using plan::InnerProductCall;

namespace {

/// Rows of x from which on the matrix product is faster, where it is at all.
constexpr std::int64_t kProductRows = 16;

/// Consecutive dimensions of a buffer that form one index of the product.
struct Span {
  int begin, end;
};

/// A matrix inside a buffer: strides of its two indices.
struct MatrixStrides {
  std::int64_t row, column;
};

/// The dimensions of a span, slowest first; dimensions of one element have no
/// place in memory and are left out.
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

/// The stride of the span as one index that runs through `order`, or nothing
/// if the elements are not evenly spaced in that order.
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

class InnerProductBuilder {
public:
  InnerProductBuilder(DnnlContext &context, const InnerProductCall &call,
                      BoundBuffer x, BoundBuffer w, BoundBuffer b,
                      BoundBuffer y);
  std::unique_ptr<DnnlCall> build(const std::string &where);

private:
  DnnlOperand operand(int argument, BoundBuffer bound, Span rows, Span columns,
                      const std::vector<int> &rowOrder,
                      const std::vector<int> &columnOrder, bool rowMajorOnly,
                      bool written) const;
  bool create(const std::string &where, bool sumInside, DnnlCall &result);
  DnnlOperand biasOperand(int argument, bool written) const;
  bool addProduct(std::vector<DnnlOperand> operands,
                  const dnnl::primitive_attr &attributes,
                  DnnlCall &result) const;

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
  // Rows of w are N, whether they come first or last.
  wRows = call.transpose() ? Span{inner, inner + 1} : Span{0, 1};
  wColumns = call.transpose() ? Span{0, inner} : Span{1, 1 + inner};
  yRows = {0, axis};
  yColumns = {axis, axis + 1};
}

/// The buffer as a matrix whose indices run through the given orders: in place
/// when its strides allow, else staged as a dense matrix with rows outermost.
/// oneDNN's product takes only dense matrices, and only w with columns
/// outermost.
DnnlOperand InnerProductBuilder::operand(int argument, BoundBuffer bound,
                                         Span rows, Span columns,
                                         const std::vector<int> &rowOrder,
                                         const std::vector<int> &columnOrder,
                                         bool rowMajorOnly,
                                         bool written) const {
  const plan::Buffer &buffer = *bound.buffer;
  std::int64_t rowCount = spanCount(buffer, rows);
  std::int64_t columnCount = spanCount(buffer, columns);
  DnnlOperand result;
  result.argument = argument;
  result.data = bound.data;
  result.written = written;
  result.isFixed = bound.isFixed && !written;
  result.layout = layoutOf(buffer);
  std::optional<std::int64_t> row = spanStride(buffer, rowOrder);
  std::optional<std::int64_t> column = spanStride(buffer, columnOrder);
  // An index with one value has no stride of its own.
  if (rowCount == 1 && column)
    row = column == 1 ? columnCount : 1;
  if (columnCount == 1 && row)
    column = row == columnCount || rowMajorOnly ? 1 : rowCount;
  bool dense = row && column &&
               ((*column == 1 && *row == columnCount) ||
                (!rowMajorOnly && *row == 1 && *column == rowCount));
  result.staged = result.layout;
  if (!dense) {
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
  result.staged = {result.layout.get_dims(), typeOf(*b.buffer), memory::dims{1}};
  result.view = result.staged;
  result.written = written;
  return result;
}

/// Appends the call, given as an inner product's operands x, w, y and perhaps
/// b, as a matrix product if that is faster.
bool InnerProductBuilder::addProduct(std::vector<DnnlOperand> operands,
                                     const dnnl::primitive_attr &attributes,
                                     DnnlCall &result) const {
  bool forward = call.direction() == plan::FORWARD;
  if (call.direction() == plan::BACKWARD_WEIGHTS ||
      spanCount(*x.buffer, xRows) < kProductRows)
    return false;
  DnnlOperand &wOperand = operands[1];
  memory::dims dims = wOperand.view.get_dims(),
               steps = wOperand.view.get_strides();
  // [N,K], of which the forward product sums over K, the other over N.
  if (steps[forward ? 1 : 0] != 1)
    return false;
  if (forward) {
    std::swap(dims[0], dims[1]);
    std::swap(steps[0], steps[1]);
  }
  wOperand.view = {dims, typeOf(*w.buffer), steps};
  DnnlOperand &source = operands[forward ? 0 : 2],
              &target = operands[forward ? 2 : 0];
  source.argument = DNNL_ARG_SRC;
  wOperand.argument = DNNL_ARG_WEIGHTS;
  target.argument = DNNL_ARG_DST;
  memory::desc bias;
  if (operands.size() > 3) {
    bias = {{1, dims[1]}, typeOf(*b.buffer), memory::dims{dims[1], 1}};
    operands[3].view = bias;
  }
  dnnl::matmul::primitive_desc description(
      context.engine, source.view, wOperand.view, bias, target.view, attributes,
      true);
  if (!description.get(true) ||
      std::string(description.impl_info_str()).find("brg") == std::string::npos)
    return false;
  result.add(description, operands);
  return true;
}

/// Appends the call to `result`; false when oneDNN has no kernel.
bool InnerProductBuilder::create(const std::string &where, bool sumInside,
                                 DnnlCall &result) {
  // x sets the order within M and K, so that it, the larger operand as a rule,
  // is the one that stays in place.
  std::vector<int> m = memoryOrder(*x.buffer, xRows);
  std::vector<int> k = memoryOrder(*x.buffer, xColumns);
  if (!spanStride(*x.buffer, m)) // to be staged anyway: take y's order, if any
    m = memoryOrder(*y.buffer, yRows);
  auto shifted = [](std::vector<int> order, int by) {
    for (int &d : order)
      d += by;
    return order;
  };
  std::vector<int> wK = shifted(k, wColumns.begin - xColumns.begin);
  std::vector<int> n = memoryOrder(*w.buffer, wRows);
  std::vector<int> yN = shifted(n, yColumns.begin - wRows.begin);

  using dnnl::prop_kind;
  plan::Direction direction = call.direction();
  bool forward = direction == plan::FORWARD;
  int xArgument =
      direction == plan::BACKWARD_DATA ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC;
  int wArgument = direction == plan::BACKWARD_WEIGHTS ? DNNL_ARG_DIFF_WEIGHTS
                                                      : DNNL_ARG_WEIGHTS;
  int yArgument = forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST;
  std::vector<DnnlOperand> operands = {
      operand(xArgument, x, xRows, xColumns, m, k, true,
              direction == plan::BACKWARD_DATA),
      operand(wArgument, w, wRows, wColumns, n, wK, false,
              direction == plan::BACKWARD_WEIGHTS),
      operand(yArgument, y, yRows, yColumns, m, yN, true, forward)};
  const memory::desc xView = operands[0].view, wView = operands[1].view,
                     yView = operands[2].view;
  memory::desc bView;
  if (b.buffer) {
    operands.push_back(
        biasOperand(forward ? DNNL_ARG_BIAS : DNNL_ARG_DIFF_BIAS, !forward));
    bView = operands.back().view;
  }
  const plan::Epilogue &epilogue = call.epilogue();
  for (DnnlOperand &each : operands)
    each.accumulate = each.written && epilogue.accumulate() && !sumInside;
  // The sum inside the primitive needs y itself as its target.
  if (sumInside && operands[2].needsStaging())
    return create(where, false, result);
  bool reluInside =
      forward && epilogue.relu() && (!epilogue.accumulate() || sumInside);
  dnnl::primitive_attr attributes =
      attributesFor(epilogue, sumInside, reluInside);

  auto addRelu = [&] {
    if (epilogue.relu() && !reluInside)
      result.addRelu(layoutOf(*y.buffer), y.data, epilogue.negative_slope());
    return true;
  };
  // Weights that stay as they are lie as oneDNN likes them best.
  const bool packs = forward && w.isFixed && !operands[1].needsStaging();
  if (!packs && addProduct(operands, attributes, result))
    return addRelu();
  dnnl::primitive_desc description;
  if (forward) {
    const memory::desc weights =
        packs ? memory::desc(wView.get_dims(), wView.get_data_type(),
                             memory::format_tag::any)
              : wView;
    description = dnnl::inner_product_forward::primitive_desc(
        context.engine, prop_kind::forward_training, xView, weights, bView,
        yView, attributes, true);
  } else {
    // A gradient of the weights may be f32 where they are bf16.
    memory::desc weights(wView.get_dims(), xView.get_data_type(),
                         memory::format_tag::any);
    dnnl::inner_product_forward::primitive_desc hint(
        context.engine, prop_kind::forward_training, xView, weights, yView);
    if (direction == plan::BACKWARD_DATA)
      description = dnnl::inner_product_backward_data::primitive_desc(
          context.engine, xView, wView, yView, hint, attributes, true);
    else
      description = dnnl::inner_product_backward_weights::primitive_desc(
          context.engine, xView, wView, bView, yView, hint, attributes, true);
  }
  if (!description.get(true) || isReferenceKernel(description))
    return sumInside && create(where, false, result);
  if (packs) {
    operands[1].layout = wView;
    operands[1].staged = operands[1].view =
        description.query_md(dnnl::query::weights_md);
  }
  result.add(description, operands);
  return addRelu();
}

std::unique_ptr<DnnlCall> InnerProductBuilder::build(const std::string &where) {
  auto result = std::make_unique<DnnlCall>(context);
  bool sumInside =
      call.direction() == plan::FORWARD && call.epilogue().accumulate();
  if (!create(where, sumInside, *result))
    throw machineLacks(where + ": oneDNN has no fast kernel for this inner "
                               "product on this machine (compile the net with "
                               "--no-library=ip)");
  return result;
}

std::unique_ptr<DnnlCall> makeInnerProduct(DnnlContext &context,
                                           const InnerProductCall &call,
                                           BoundBuffer x, BoundBuffer w,
                                           BoundBuffer b, BoundBuffer y,
                                           const std::string &where) {
  if (!multiplies(x.buffer->type()))
    throw machineLacks(where +
                       ": oneDNN inner products compute in f32 and bf16 "
                       "only (compile an f64 net with --no-library)");
  if (x.buffer->dims_size() > DNNL_MAX_NDIMS ||
      w.buffer->dims_size() > DNNL_MAX_NDIMS)
    throw machineLacks(where + ": oneDNN takes at most " +
                       std::to_string(DNNL_MAX_NDIMS) + " dimensions");
  try {
    return InnerProductBuilder(context, call, x, w, b, y).build(where);
  } catch (const dnnl::error &error) {
    throw machineLacks(where + ": oneDNN refuses this inner product (" +
                       error.what() + ")");
  }
}

} // namespace brew::runtime
