//===- Attention.cpp - brew.attention and its gradients -------------------===//
//
// For a query i and a key j of the same item and head,
//   score[i, j] = query[i] . key[j] / sqrt(width)
//   p[i, j] = exp(score[i, j] - log_sums[i]), 0 where i must not read j
//   y[i] = sum_j p[i, j] k[i, j] value[j],
// where k is the factor of dropout, 0 or 1 / (1 - ratio). The gradients are
//   dp[i, j] = k[i, j] dy[i] . value[j]
//   ds[i, j] = p[i, j] (dp[i, j] - dy[i] . y[i]) / sqrt(width)
//   dquery[i] = sum_j ds[i, j] key[j], dkey[j] = sum_i ds[i, j] query[i]
//   dvalue[j] = sum_i p[i, j] k[i, j] dy[i].
//
// The nests of y, and of dquery, have the outer loops (item, query, head), and
// those of dkey and dvalue have (item, key, head). They become one kernel each,
// whose rows of scores and weights are temporaries of a thread or of shared
// memory, as in FlashAttention (Dao et al., 2022). Before them, small kernels
// transpose the vectors whose dot products are computed.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/layers/attention/Attention.h"
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/RandomBits.h"
#include "dialects/Brew/layers/Axes.h"
#include "dialects/Brew/layers/LayerGroup.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cfloat>
#include <cmath>

using namespace mlir;
using namespace brew::dialects;

namespace {

/// Builds the nests whose outer loops are items, rows and heads. The rows are
/// the queries or, with `rowsAreKeys`, the keys; the columns are the others.
class AttentionRows {
public:
  AttentionRows(OpBuilder &builder, AttentionOp attention,
                bool areRowsKeys = false)
      : b(builder), loc(attention.getLoc()), op(attention),
        rowsAreKeys(areRowsKeys), element(elementTypeOf(op.getQuery())) {
    ArrayRef<int64_t> query = shapeOf(op.getQuery());
    items = query[0], heads = query[2], width = query[3];
    queries = query[1], keys = shapeOf(op.getKey())[1];
    rows = rowsAreKeys ? keys : queries;
    columns = rowsAreKeys ? queries : keys;
  }

  /// Builds, for each pair, the dot products of the rows' and the columns'
  /// vectors.
  SmallVector<Value> buildProducts(ArrayRef<std::pair<Value, Value>> pairs);
  Value buildTransposed(Value columnVectors);
  std::pair<Value, Value> buildSoftmax(Value products);
  Value buildWeights(Value products, Value logSums);
  Value buildDropped(Value weights);
  Value buildScoreGradients(Value weights, Value products, Value rowSums);
  Value buildSums(Value weights, Value columnVectors);
  Value buildDots(Value x, Value y);

private:
  using Body = NestBuilder::Body;
  using Results = SmallVector<Value>;

  RankedTensorType tensor(ArrayRef<int64_t> shape) const {
    return RankedTensorType::get(shape, element);
  }
  /// The type of one number for each row and column.
  RankedTensorType matrix() const {
    return tensor({items, rows, heads, columns});
  }
  /// Builds one number for each row and column, from `inputs` of that shape.
  Value buildMatrix(ArrayRef<Value> inputs,
                    llvm::function_ref<Value(Body &)> body);

  // In a body with the loops item, row, head and column:
  Value query(const Body &body) const { return body.loop(rowsAreKeys ? 3 : 1); }
  Value key(const Body &body) const { return body.loop(rowsAreKeys ? 1 : 3); }
  Value isRead(Body &body);
  Value isUnmasked(Body &body);
  Value dropoutFactor(Body &body);
  Value readOfQuery(Body &body, Value perQuery) const {
    return body.read(perQuery, {body.loop(0), query(body), body.loop(2)});
  }
  Value scale(ScalarBuilder &s) const {
    return s.constant(element, 1 / std::sqrt(static_cast<double>(width)));
  }

  OpBuilder &b;
  Location loc;
  AttentionOp op;
  const bool rowsAreKeys;
  Type element;
  int64_t items = 0, queries = 0, keys = 0, heads = 0, width = 0, rows = 0,
          columns = 0;
};

/// Returns whether the mask has a row for each query.
bool hasMaskPerQuery(ArrayRef<int64_t> mask) { return mask.size() > 2; }

/// Builds whether the query may read the key, or null if it always may.
Value AttentionRows::isRead(Body &body) {
  ScalarBuilder &s = body.s;
  Value result;
  // Comparisons of the column with a constant let emitters bound its loop.
  if (op.getCausal())
    result = rowsAreKeys ? s.atLeast(s.subi(query(body), key(body)), s.index(0))
                         : s.less(s.subi(key(body), query(body)), s.index(1));
  if (!op.getMasked())
    return result;
  Value unmasked = isUnmasked(body);
  return result ? s.both(result, unmasked) : unmasked;
}

Value AttentionRows::isUnmasked(Body &body) {
  ScalarBuilder &s = body.s;
  Value mask = op.getOptions().front();
  ArrayRef<int64_t> shape = shapeOf(mask);
  SmallVector<Value> indices(shape.size(), s.index(0));
  if (shape[0] > 1)
    indices[0] = body.loop(0);
  if (hasMaskPerQuery(shape))
    indices[shape.size() - 2] = query(body);
  indices.back() = key(body);
  Value zero = s.constant(elementTypeOf(mask), 0);
  return arith::CmpFOp::create(s.b, s.loc, arith::CmpFPredicate::UNE,
                               body.read(mask, indices), zero);
}

/// Builds the factor of dropout of a weight.
Value AttentionRows::dropoutFactor(Body &body) {
  ScalarBuilder &s = body.s;
  const double ratio = op.getDropout()->convertToDouble();
  Value number = s.addi(s.muli(body.loop(0), heads), body.loop(2));
  number = s.addi(s.muli(number, queries), query(body));
  number = s.addi(s.muli(number, keys), key(body));
  Value uniform = randomUniform(
      body, op.getOptions().back(),
      arith::IndexCastOp::create(s.b, s.loc, s.b.getI32Type(), number),
      element);
  return s.select(s.greaterEqual(uniform, s.constant(element, ratio)),
                  s.constant(element, 1 / (1 - ratio)), s.constant(element, 0));
}

Value AttentionRows::buildMatrix(ArrayRef<Value> inputs,
                                 llvm::function_ref<Value(Body &)> body) {
  NestBuilder nest(b, loc, matrix().getShape());
  for (Value input : inputs)
    nest.input(input, iota(4));
  nest.output(matrix(), iota(4));
  return nest.build([&](Body &inner) -> Results { return {body(inner)}; })[0];
}

/// Builds the columns' vectors with the columns innermost: of shape (items,
/// heads, width, columns). A row of products is then a sum of contiguous rows.
Value AttentionRows::buildTransposed(Value columnVectors) {
  const SmallVector<int64_t> shape = {items, heads, width, columns};
  NestBuilder nest(b, loc, shape);
  nest.input(columnVectors, {0, 3, 1, 2});
  nest.output(tensor(shape), iota(4));
  return nest.build([&](Body &body) -> Results { return {body.in[0]}; })[0];
}

SmallVector<Value>
AttentionRows::buildProducts(ArrayRef<std::pair<Value, Value>> pairs) {
  NestBuilder nest(b, loc, {items, rows, heads, columns, width},
                   {false, false, false, false, true});
  for (auto [rowVectors, columnVectors] : pairs) {
    nest.input(rowVectors, {0, 1, 2, 4});
    nest.input(buildTransposed(columnVectors), {0, 2, 4, 3});
    nest.output(matrix(), iota(4), 0.0);
  }
  return nest.build([&](Body &body) -> Results {
    Results sums;
    for (auto [i, sum] : llvm::enumerate(body.out))
      sums.push_back(body.s.accumulate(
          sum, body.s.mul(body.in[2 * i], body.in[2 * i + 1])));
    return sums;
  });
}

/// Builds the weights of the columns from the dot products of queries and keys.
/// Also returns the logarithms of the softmax's denominators, -infinity for a
/// query that reads no key.
std::pair<Value, Value> AttentionRows::buildSoftmax(Value products) {
  const RankedTensorType perRow = tensor({items, rows, heads});
  const SmallVector<bool> overColumns = {false, false, false, true};
  NestBuilder maximum(b, loc, matrix().getShape(), overColumns);
  maximum.input(products, iota(4));
  maximum.output(perRow, iota(3), -FLT_MAX);
  Value largest = maximum.build([&](Body &body) -> Results {
    Value x = body.in[0];
    if (Value read = isRead(body))
      x = body.s.select(read, x, body.s.constant(element, -FLT_MAX));
    return {body.s.maximize(body.out[0], x)};
  })[0];

  Value exponentials = buildMatrix(products, [&](Body &body) {
    ScalarBuilder &s = body.s;
    Value x =
        s.exp(s.mul(s.sub(body.in[0], readOfQuery(body, largest)), scale(s)));
    if (Value read = isRead(body))
      x = s.select(read, x, s.constant(element, 0));
    return x;
  });

  NestBuilder total(b, loc, matrix().getShape(), overColumns);
  total.input(exponentials, iota(4));
  total.output(perRow, iota(3), 0.0);
  Value sums = total.build([&](Body &body) -> Results {
    return {body.s.accumulate(body.out[0], body.in[0])};
  })[0];

  NestBuilder logarithm(b, loc, perRow.getShape());
  logarithm.input(largest, iota(3));
  logarithm.input(sums, iota(3));
  logarithm.output(perRow, iota(3));
  logarithm.output(perRow, iota(3));
  Results perQuery = logarithm.build([&](Body &body) -> Results {
    ScalarBuilder &s = body.s;
    Value zero = s.constant(element, 0), one = s.constant(element, 1);
    Value sum = body.in[1];
    return {s.add(s.mul(body.in[0], scale(s)), s.log(sum)),
            s.select(s.greater(sum, zero), s.div(one, sum), zero)};
  });
  Value weights = buildMatrix(exponentials, [&](Body &body) {
    return body.s.mul(body.in[0], readOfQuery(body, perQuery[1]));
  });
  return {weights, perQuery[0]};
}

/// Builds the weights of the columns, before dropout, in the backward pass.
Value AttentionRows::buildWeights(Value products, Value logSums) {
  return buildMatrix(products, [&](Body &body) {
    ScalarBuilder &s = body.s;
    Value weight =
        s.exp(s.sub(s.mul(body.in[0], scale(s)), readOfQuery(body, logSums)));
    if (Value read = isRead(body))
      weight = s.select(read, weight, s.constant(element, 0));
    return weight;
  });
}

/// Builds the weights after dropout.
Value AttentionRows::buildDropped(Value weights) {
  if (!op.getDropout())
    return weights;
  return buildMatrix(weights, [&](Body &body) {
    return body.s.mul(body.in[0], dropoutFactor(body));
  });
}

/// Builds the gradients of the dot products of queries and keys. `products` are
/// dot products of a gradient of y and a value, `rowSums` dot products of a
/// query's gradient of y and its y.
Value AttentionRows::buildScoreGradients(Value weights, Value products,
                                         Value rowSums) {
  return buildMatrix({weights, products}, [&](Body &body) {
    ScalarBuilder &s = body.s;
    Value gradient = body.in[1];
    if (op.getDropout())
      gradient = s.mul(gradient, dropoutFactor(body));
    gradient = s.sub(gradient, readOfQuery(body, rowSums));
    return s.mul(s.mul(body.in[0], gradient), scale(s));
  });
}

/// Builds the sum of the columns' vectors times their weights, for each row.
Value AttentionRows::buildSums(Value weights, Value columnVectors) {
  NestBuilder nest(b, loc, {items, rows, heads, width, columns},
                   {false, false, false, false, true});
  nest.input(weights, {0, 1, 2, 4});
  nest.input(columnVectors, {0, 4, 2, 3});
  nest.output(tensor({items, rows, heads, width}), iota(4), 0.0);
  return nest.build([&](Body &body) -> Results {
    return {body.s.accumulate(body.out[0], body.s.mul(body.in[0], body.in[1]))};
  })[0];
}

/// Builds the dot product of two vectors for each row.
Value AttentionRows::buildDots(Value x, Value y) {
  NestBuilder nest(b, loc, {items, rows, heads, width},
                   {false, false, false, true});
  nest.input(x, iota(4));
  nest.input(y, iota(4));
  nest.output(tensor({items, rows, heads}), iota(3), 0.0);
  return nest.build([&](Body &body) -> Results {
    return {body.s.accumulate(body.out[0], body.s.mul(body.in[0], body.in[1]))};
  })[0];
}

/// Checks the shape of the mask.
LogicalResult checkMask(AttentionOp op) {
  ArrayRef<int64_t> mask = shapeOf(op.getOptions().front()),
                    query = shapeOf(op.getQuery());
  const int64_t keys = shapeOf(op.getKey())[1];
  bool fits = mask.size() >= 2 && mask.back() == keys &&
              (mask[0] == query[0] || (mask[0] == 1 && hasMaskPerQuery(mask)));
  if (fits && hasMaskPerQuery(mask))
    fits = mask[mask.size() - 2] == query[1] &&
           llvm::all_of(mask.drop_front().drop_back(2),
                        [](int64_t dim) { return dim == 1; });
  if (fits)
    return success();
  return layerError(op) << "the mask must have shape (" << query[0] << ", "
                        << keys << "), (" << query[0] << ", " << query[1]
                        << ", " << keys << ") or (1, 1, " << query[1] << ", "
                        << keys << "), not " << dimsText(mask);
}

} // namespace

LogicalResult AttentionOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> query = shapeOf(getQuery()), key = shapeOf(getKey()),
                    value = shapeOf(getValue());
  for (ArrayRef<int64_t> shape : {query, key, value})
    if (shape.size() != 4)
      return layerError(*this) << "needs queries, keys and values of shape "
                                  "(items, positions, heads, width), not "
                               << dimsText(shape);
  if (key != value || key[0] != query[0] || key[2] != query[2] ||
      key[3] != query[3])
    return layerError(*this)
           << "keys and values must have one shape, and the queries' items and "
              "width: queries "
           << dimsText(query) << ", keys " << dimsText(key) << ", values "
           << dimsText(value);
  if (getMasked() && failed(checkMask(*this)))
    return failure();
  tops.assign(
      {SmallVector<int64_t>(query), SmallVector<int64_t>(query.drop_back())});
  return success();
}

SmallVector<Value> AttentionOp::buildNests(OpBuilder &b) {
  AttentionRows nests(b, *this);
  Value products = nests.buildProducts({{getQuery(), getKey()}})[0];
  auto [weights, logSums] = nests.buildSoftmax(products);
  return {nests.buildSums(nests.buildDropped(weights), getValue()), logSums};
}

LogicalResult
AttentionOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                            ArrayRef<bool> needed,
                            MutableArrayRef<Value> operandGradients) {
  Value dy = resultGradients[0];
  if (!dy)
    return success();
  AttentionRows byQuery(b, *this);
  Value dots = byQuery.buildDots(dy, getY());
  // Both products of a pair of vectors are computed in one nest, so that all
  // nests that read them join one kernel.
  if (needed[0]) {
    auto products =
        byQuery.buildProducts({{getQuery(), getKey()}, {dy, getValue()}});
    Value weights = byQuery.buildWeights(products[0], getLogSums());
    operandGradients[0] = byQuery.buildSums(
        byQuery.buildScoreGradients(weights, products[1], dots), getKey());
  }
  if (!needed[1] && !needed[2])
    return success();
  AttentionRows byKey(b, *this, /*areRowsKeys=*/true);
  auto products =
      byKey.buildProducts({{getKey(), getQuery()}, {getValue(), dy}});
  Value weights = byKey.buildWeights(products[0], getLogSums());
  if (needed[2])
    operandGradients[2] = byKey.buildSums(byKey.buildDropped(weights), dy);
  if (needed[1])
    operandGradients[1] = byKey.buildSums(
        byKey.buildScoreGradients(weights, products[1], dots), getQuery());
  return success();
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/attention/Attention.cpp.inc"

void brew::dialects::registerAttentionLayers(BrewDialect &dialect) {
  dialect.addLayerOperations<
#define GET_OP_LIST
#include "dialects/Brew/layers/attention/Attention.cpp.inc"
      >();
}
