//===- DeformablePsRoiPooling.cpp - Region pooling of Deformable R-FCN ----===//
//
// A cell is the mean of the features at a grid of points. The weights of the
// positions around the points are products of one weight per dimension, so
// there is a table for each dimension: for each region, class of offsets and
// cell, the positions around the points ("taps") and their weights.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/layers/Axes.h"
#include "dialects/Brew/layers/detection/Detection.h"
#include "dialects/Brew/layers/detection/Regions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace brew::dialects;

namespace {

/// The operands and settings that determine the points.
struct DeformableCells {
  Value rois, offsets; ///< `offsets` may be null
  int64_t regions, outputs, group, samples;
  double scale, offsetScale;

  template <typename Op>
  explicit DeformableCells(Op op)
      : rois(op.getRois()), offsets(op.getOffsets()), regions(shapeOf(rois)[0]),
        outputs(static_cast<int64_t>(op.getOutputDim())),
        group(static_cast<int64_t>(op.getGroupSize())),
        samples(static_cast<int64_t>(op.getSamples())),
        scale(op.getSpatialScale().convertToFloat()),
        offsetScale(op.getOffsetScale().convertToFloat()) {}

  int64_t classes() const { return offsets ? shapeOf(offsets)[1] / 2 : 1; }
  int64_t parts() const { return offsets ? shapeOf(offsets)[2] : 1; }
  int64_t taps() const { return 2 * samples; }
  Value classOf(ScalarBuilder &s, Value output) const {
    return s.divi(output, outputs / classes());
  }
  /// Builds the part of the offsets for a cell, in one dimension.
  Value partOf(ScalarBuilder &s, Value cell) const {
    return s.divi(s.muli(cell, parts()), group);
  }
  Type type() const { return elementTypeOf(rois); }
};

/// One dimension of the plane.
struct PlaneAxis {
  bool isRow;
  int64_t extent;

  int64_t field() const { return isRow ? 2 : 1; } ///< start of a region
};

/// A point of a cell in one dimension.
struct CellPoint {
  Value position; ///< clamped to the plane
  Value isValid;
};

/// CellTaps. Shape: regions, classes, rows and columns of cells, taps.
struct CellTaps {
  Value positions, weights;
};

} // namespace

static Value regionExtent(NestBuilder::Body &body, const DeformableCells &cells,
                          const PlaneAxis &axis, Value roi, Value &start) {
  ScalarBuilder &s = body.s;
  Type type = cells.type();
  Value scale = s.constant(type, cells.scale), half = s.constant(type, 0.5);
  auto corner = [&](int64_t field) {
    return rounded(s, regionField(body, cells.rois, roi, field));
  };
  start = s.sub(s.mul(corner(axis.field()), scale), half);
  Value last = s.add(corner(axis.field() + 2), s.constant(type, 1));
  Value end = s.sub(s.mul(last, scale), half);
  return s.maximum(s.sub(end, start), s.constant(type, 0.1));
}

/// Builds point `index` of the cell at loops 0 to 3: region, class, row and
/// column. Sets `extent` to the region's.
static CellPoint cellPoint(NestBuilder::Body &body,
                           const DeformableCells &cells, const PlaneAxis &axis,
                           Value index, Value &extent) {
  ScalarBuilder &s = body.s;
  Type type = cells.type();
  Value roi = body.loop(0), cell = body.loop(axis.isRow ? 2 : 3), start;
  extent = regionExtent(body, cells, axis, roi, start);
  Value step = s.div(extent, s.constant(type, cells.group));
  Value position = s.add(start, s.mul(asNumber(s, cell, type), step));
  if (cells.offsets) {
    Value channel =
        s.addi(s.muli(body.loop(1), 2), s.index(axis.isRow ? 1 : 0));
    Value offset =
        body.read(cells.offsets, {roi, channel, cells.partOf(s, body.loop(2)),
                                  cells.partOf(s, body.loop(3))});
    Value factor = s.constant(type, cells.offsetScale);
    position = s.add(position, s.mul(s.mul(offset, factor), extent));
  }
  Value spacing = s.div(step, s.constant(type, cells.samples));
  position = s.add(position, s.mul(asNumber(s, index, type), spacing));
  const double last = static_cast<double>(axis.extent) - 1;
  Value isValid =
      s.both(s.greaterEqual(position, s.constant(type, -0.5)),
             s.greaterEqual(s.constant(type, last + 0.5), position));
  return {clampNumber(s, position, last), isValid};
}

/// Builds the number of valid points of each cell.
static Value countCellPoints(OpBuilder &b, Location loc,
                             const DeformableCells &cells,
                             const PlaneAxis &axis) {
  NestBuilder nest(
      b, loc,
      {cells.regions, cells.classes(), cells.group, cells.group, cells.samples},
      {false, false, false, false, true});
  nest.output(RankedTensorType::get(
                  {cells.regions, cells.classes(), cells.group, cells.group},
                  cells.type()),
              iota(4), 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value extent;
    CellPoint point = cellPoint(body, cells, axis, body.loop(4), extent);
    Value zero = s.constant(cells.type(), 0), one = s.constant(cells.type(), 1);
    return {s.accumulate(body.out[0], s.select(point.isValid, one, zero))};
  })[0];
}

/// Builds the taps of a dimension. The weights are those of the mean, or with
/// `isSlope` of its derivative with respect to the offset.
static CellTaps buildCellTaps(OpBuilder &b, Location loc,
                              const DeformableCells &cells,
                              const PlaneAxis &axis, bool isSlope = false) {
  const SmallVector<int64_t> shape = {cells.regions, cells.classes(),
                                      cells.group, cells.group, cells.taps()};
  Type type = cells.type(), i32 = b.getI32Type();
  NestBuilder nest(b, loc, shape);
  nest.input(countCellPoints(b, loc, cells, axis), iota(4));
  nest.output(RankedTensorType::get(shape, i32), iota(5));
  nest.output(RankedTensorType::get(shape, type), iota(5));
  SmallVector<Value> tables =
      nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
        ScalarBuilder &s = body.s;
        Value zero = s.constant(type, 0), one = s.constant(type, 1), extent;
        CellPoint point =
            cellPoint(body, cells, axis, s.divi(body.loop(4), 2), extent);
        Value isHigh = s.equali(s.remi(body.loop(4), 2), s.index(1));
        Value low = floorOf(s, point.position),
              high = ceilOf(s, point.position);
        Value fraction = s.sub(point.position, low);
        Value weight = s.select(isHigh, fraction, s.sub(one, fraction));
        if (isSlope) {
          Value change = s.mul(extent, s.constant(type, cells.offsetScale));
          weight = s.select(isHigh, change, s.neg(change));
        }
        weight = s.div(weight, s.maximum(body.in[0], one));
        return {arith::FPToSIOp::create(s.b, s.loc, i32,
                                        s.select(isHigh, high, low)),
                s.select(point.isValid, weight, zero)};
      });
  return {tables[0], tables[1]};
}

/// Builds the channel that cell (i, j) of an output channel reads.
static Value cellChannel(ScalarBuilder &s, const DeformableCells &cells,
                         Value output, Value i, Value j) {
  return s.addi(s.muli(s.addi(s.muli(output, cells.group), i), cells.group), j);
}

/// Builds the weighted sum of the features at the taps of each cell. Shape:
/// regions, output channels, rows and columns of cells.
static Value interpolateCells(OpBuilder &b, Location loc,
                              const DeformableCells &cells, Value x,
                              const CellTaps &rows, const CellTaps &columns,
                              Type element) {
  ArrayRef<int64_t> in = shapeOf(x);
  // Loops: r d i j | row tap, column tap
  NestBuilder nest(b, loc,
                   {cells.regions, cells.outputs, cells.group, cells.group,
                    cells.taps(), cells.taps()},
                   {false, false, false, false, true, true});
  nest.output(
      RankedTensorType::get(
          {cells.regions, cells.outputs, cells.group, cells.group}, element),
      iota(4), 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value roi = body.loop(0), i = body.loop(2), j = body.loop(3);
    Value offsetClass = cells.classOf(s, body.loop(1));
    auto atTap = [&](Value table, unsigned loop) {
      return body.read(table, {roi, offsetClass, i, j, body.loop(loop)});
    };
    auto position = [&](const CellTaps &taps, unsigned loop, int64_t extent) {
      Value index = arith::IndexCastOp::create(s.b, s.loc, s.b.getIndexType(),
                                               atTap(taps.positions, loop));
      return s.clamp(index, extent);
    };
    Value value =
        body.read(x, {regionImage(body, cells.rois, roi, in[0]),
                      cellChannel(s, cells, body.loop(1), i, j),
                      position(rows, 4, in[2]), position(columns, 5, in[3])});
    Value weight = s.mul(atTap(rows.weights, 4), atTap(columns.weights, 5));
    return {s.accumulate(body.out[0], s.mul(weight, value))};
  })[0];
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// The regions and the offsets determine positions.
template <typename Op> static bool movesCells(Op op, unsigned operand) {
  Value value = op->getOperand(operand);
  return value == op.getRois() || value == op.getOffsets();
}

bool DeformablePsRoiPoolingOp::mustStayExact(unsigned operand) {
  return movesCells(*this, operand);
}

LogicalResult DeformablePsRoiPoolingOp::inferShapes(Shapes &tops, Shapes &) {
  if (failed(checkRegions(*this, getX(), getRois())))
    return failure();
  const int64_t outputs = getOutputDim(), group = getGroupSize();
  const int64_t regions = shapeOf(getRois())[0];
  if (shapeOf(getX())[1] != outputs * group * group)
    return layerError(*this)
           << "the features have " << shapeOf(getX())[1]
           << " channels; output_dim " << outputs << " and group_size " << group
           << " need " << outputs * group * group;
  if (Value offsets = getOffsets()) {
    ArrayRef<int64_t> shape = shapeOf(offsets);
    const auto parts = static_cast<int64_t>(getParts());
    if (shape.size() != 4 || shape[0] != regions || shape[1] < 2 ||
        shape[1] % 2 || shape[2] != parts || shape[3] != parts)
      return layerError(*this)
             << "takes offsets of shape (" << regions << ", 2 * classes, "
             << parts << ", " << parts << "), not " << dimsText(shape);
    if (outputs % (shape[1] / 2))
      return layerError(*this)
             << "the offsets are those of " << shape[1] / 2
             << " classes, which does not divide output_dim " << outputs;
  }
  tops.push_back({regions, outputs, group, group});
  return success();
}

LogicalResult
DeformablePsRoiPoolingOp::propagateItemCounts(ItemCounts &counts) {
  return propagateRegionCount(*this, counts, getX(), getRois());
}

LogicalResult DeformablePsRoiPoolingOp::buildGradients(
    OpBuilder &b, ArrayRef<Value> resultGradients, ArrayRef<bool> needed,
    MutableArrayRef<Value> operandGradients) {
  if (failed(rejectRegionGradient(*this, needed[1])))
    return failure();
  Value dy = resultGradients[0];
  if (!dy)
    return success();
  if (needed[0])
    operandGradients[0] = DeformablePsRoiPoolingBackwardOp::create(
        b, getLoc(), getX().getType(), dy, getRois(), getOffsets(),
        getLayerAttr(), getOutputDimAttr(), getGroupSizeAttr(),
        getSpatialScaleAttr(), getSamplesAttr(), getOffsetScaleAttr());
  if (getOffsets() && needed[2])
    operandGradients[2] = DeformablePsRoiPoolingBackwardOffsetsOp::create(
        b, getLoc(), getOffsets().getType(), dy, getX(), getRois(),
        getOffsets(), getLayerAttr(), getOutputDimAttr(), getGroupSizeAttr(),
        getSpatialScaleAttr(), getSamplesAttr(), getOffsetScaleAttr());
  return success();
}

SmallVector<Value> DeformablePsRoiPoolingOp::buildNests(OpBuilder &b) {
  const DeformableCells cells(*this);
  ArrayRef<int64_t> in = shapeOf(getX());
  return {interpolateCells(b, getLoc(), cells, getX(),
                           buildCellTaps(b, getLoc(), cells, {true, in[2]}),
                           buildCellTaps(b, getLoc(), cells, {false, in[3]}),
                           elementTypeOf(getY()))};
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

bool DeformablePsRoiPoolingBackwardOp::mustStayExact(unsigned operand) {
  return movesCells(*this, operand);
}

/// Builds the weights of the positions of a dimension. Shape: regions, classes,
/// rows and columns of cells, extent.
static Value buildCellWeights(OpBuilder &b, Location loc,
                              const DeformableCells &cells,
                              const PlaneAxis &axis) {
  const CellTaps taps = buildCellTaps(b, loc, cells, axis);
  SmallVector<int64_t> shape = {cells.regions, cells.classes(), cells.group,
                                cells.group, axis.extent};
  auto type = RankedTensorType::get(shape, cells.type());
  shape.push_back(cells.taps());
  NestBuilder nest(b, loc, shape, {false, false, false, false, false, true});
  nest.input(taps.positions, {0, 1, 2, 3, 5});
  nest.input(taps.weights, {0, 1, 2, 3, 5});
  nest.output(type, iota(5), 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value position =
        arith::IndexCastOp::create(s.b, s.loc, s.b.getIndexType(), body.in[0]);
    return {s.accumulate(body.out[0],
                         s.select(s.equali(position, body.loop(4)), body.in[1],
                                  s.constant(cells.type(), 0)))};
  })[0];
}

SmallVector<Value> DeformablePsRoiPoolingBackwardOp::buildNests(OpBuilder &b) {
  const DeformableCells cells(*this);
  ArrayRef<int64_t> in = shapeOf(getDx());
  Value rowWeights = buildCellWeights(b, getLoc(), cells, {true, in[2]});
  Value columnWeights = buildCellWeights(b, getLoc(), cells, {false, in[3]});
  Value dy = getDy();
  // Loops: n c h w | r
  NestBuilder nest(b, getLoc(), {in[0], in[1], in[2], in[3], cells.regions},
                   {false, false, false, false, true});
  nest.output(tensorTypeOf(getDx()), iota(4), 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value roi = body.loop(4), channel = body.loop(1);
    Value j = s.remi(channel, cells.group),
          remaining = s.divi(channel, cells.group);
    Value i = s.remi(remaining, cells.group),
          output = s.divi(remaining, cells.group);
    Value offsetClass = cells.classOf(s, output);
    auto weight = [&](Value table, unsigned loop) {
      return body.read(table, {roi, offsetClass, i, j, body.loop(loop)});
    };
    Value share = s.mul(s.mul(weight(rowWeights, 2), weight(columnWeights, 3)),
                        body.read(dy, {roi, output, i, j}));
    if (in[0] > 1)
      share = s.select(
          s.equali(regionImage(body, cells.rois, roi, in[0]), body.loop(0)),
          share, s.constant(share.getType(), 0));
    return {s.accumulate(body.out[0], share)};
  });
}

bool DeformablePsRoiPoolingBackwardOffsetsOp::mustStayExact(unsigned operand) {
  return movesCells(*this, operand);
}

SmallVector<Value>
DeformablePsRoiPoolingBackwardOffsetsOp::buildNests(OpBuilder &b) {
  const DeformableCells cells(*this);
  ArrayRef<int64_t> in = shapeOf(getX());
  const PlaneAxis rows = {true, in[2]}, columns = {false, in[3]};
  Type element = elementTypeOf(getDy());
  Value byColumn = interpolateCells(
      b, getLoc(), cells, getX(), buildCellTaps(b, getLoc(), cells, rows),
      buildCellTaps(b, getLoc(), cells, columns, /*isSlope=*/true), element);
  Value byRow = interpolateCells(
      b, getLoc(), cells, getX(),
      buildCellTaps(b, getLoc(), cells, rows, /*isSlope=*/true),
      buildCellTaps(b, getLoc(), cells, columns), element);
  ArrayRef<int64_t> out = shapeOf(getDx());
  const int64_t perClass = cells.outputs / cells.classes();
  Value dy = getDy();
  // Loops: r, channel of the offsets, part row and column | outputs of the
  // class, i, j
  NestBuilder nest(
      b, getLoc(),
      {out[0], out[1], out[2], out[3], perClass, cells.group, cells.group},
      {false, false, false, false, true, true, true});
  nest.output(tensorTypeOf(getDx()), iota(4), 0.0);
  return nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value output =
        s.addi(s.muli(s.divi(body.loop(1), 2), perClass), body.loop(4));
    const SmallVector<Value> cell = {body.loop(0), output, body.loop(5),
                                     body.loop(6)};
    Value isRow = s.equali(s.remi(body.loop(1), 2), s.index(1));
    Value slope =
        s.select(isRow, body.read(byRow, cell), body.read(byColumn, cell));
    Value isPart = s.both(s.equali(cells.partOf(s, cell[2]), body.loop(2)),
                          s.equali(cells.partOf(s, cell[3]), body.loop(3)));
    Value share = s.mul(slope, body.read(dy, cell));
    return {s.accumulate(
        body.out[0], s.select(isPart, share, s.constant(share.getType(), 0)))};
  });
}
