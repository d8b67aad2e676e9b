//===- LayerBuilder.h - Operations of a layer -------------------*- C++ -*-===//
//
// Rows of the layer table describe operations of the brew dialect by name, so
// that they do not depend on MLIR. ModuleBuilder creates the operations.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/prototxt/check/NetGraph.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace brew::prototxt {

/// An operand of an operation.
struct ValueRef {
  enum class Kind {
    Bottom, ///< bottom `index` of the layer
    Param,  ///< parameter `index` of the layer
    Result, ///< result `index` of the layer's operation `operation`
  };
  Kind kind = Kind::Bottom;
  int index = 0;
  int operation = 0;
};

/// One operation of the brew dialect.
struct OperationSpec {
  /// An attribute in MLIR's own syntax, e.g. "#brew<eltwise_kind sum>".
  struct Literal {
    std::string text;
  };
  /// A UnitAttr.
  struct Flag {};
  /// A case of an enumeration that has no attribute class: a 32-bit integer.
  struct Enumerator {
    int value;
  };
  /// A DenseI32ArrayAttr, such as operandSegmentSizes.
  using Segments = std::vector<int32_t>;
  using Value =
      std::variant<int64_t, float, Flag, Enumerator, Literal, std::string,
                   std::vector<int64_t>, std::vector<float>, std::vector<bool>,
                   std::vector<std::string>, Segments, caffe::LayerParameter>;
  /// Element type of a result: that of the net's blobs, or i32.
  enum class Element { Blob, I32 };

  std::string name; ///< without "brew."
  std::vector<ValueRef> operands = {};
  std::vector<std::pair<std::string, Value>> attributes = {};
  std::vector<Element> results = {};
  int position = 0; ///< index in the layer's operations

  OperationSpec &add(const std::string &name, Value value) {
    attributes.emplace_back(name, std::move(value));
    return *this;
  }
  OperationSpec &integer(const std::string &name, int64_t value) {
    return add(name, value);
  }
  OperationSpec &real(const std::string &name, float value) {
    return add(name, value);
  }
  OperationSpec &flag(const std::string &name, bool value) {
    return value ? add(name, Flag()) : *this;
  }
  OperationSpec &text(const std::string &name, const std::string &value) {
    return add(name, value);
  }
  OperationSpec &integers(const std::string &name, std::vector<int64_t> value) {
    return add(name, std::move(value));
  }
  OperationSpec &reals(const std::string &name, std::vector<float> value) {
    return add(name, std::move(value));
  }
  /// Adds an enumeration of BrewEnums.td. `attribute` is its attribute class,
  /// `value` its case.
  OperationSpec &enumAttribute(const std::string &name,
                               const std::string &attribute,
                               const std::string &value) {
    return add(name, Literal{"#brew<" + attribute + " " + value + ">"});
  }
  /// Adds an enumeration of a layer group.
  OperationSpec &enumInteger(const std::string &name, int value) {
    return add(name, Enumerator{value});
  }
  /// Sets the sizes of several optional or variadic operands.
  OperationSpec &segments(Segments sizes) {
    return add("operandSegmentSizes", std::move(sizes));
  }
  OperationSpec &setOperands(std::vector<ValueRef> values) {
    operands = std::move(values);
    return *this;
  }
  /// Adds results, for example after the tops that layerOp() adds.
  OperationSpec &addResults(int count, Element element = Element::Blob) {
    results.insert(results.end(), count, element);
    return *this;
  }
  ValueRef result(int index) const {
    return {ValueRef::Kind::Result, index, position};
  }
};

/// Describes the operations of a layer.
class LayerBuilder {
public:
  LayerBuilder(const NetGraph &graph, const GraphLayer &entry,
               caffe::Phase phase, bool forceBackward, std::string folder)
      : layer(*entry.layer), graph(graph), entry(entry), phase(phase),
        forceBackward(forceBackward), folder(std::move(folder)) {}

  const caffe::LayerParameter &layer;
  const NetGraph &graph;
  const GraphLayer &entry;
  const caffe::Phase phase; ///< the layer's own, or else the net's
  const bool forceBackward; ///< all blobs of the net get gradients
  /// Folder of the prototxt, for the lookup of the layer's files.
  const std::string folder;

  static ValueRef bottom(int index) { return {ValueRef::Kind::Bottom, index}; }
  static ValueRef param(int index) { return {ValueRef::Kind::Param, index}; }
  int bottoms() const { return static_cast<int>(entry.bottoms.size()); }
  int params() const { return static_cast<int>(entry.params.size()); }
  int tops() const { return static_cast<int>(entry.tops.size()); }

  /// Adds an operation that is the complete layer: its operands are all bottoms
  /// and parameters, its results are all tops, and it has the attributes of all
  /// layers.
  OperationSpec &layerOp(const std::string &name);
  /// Adds the operation of bottom `number` and its top, for layers that process
  /// several bottoms one by one. Its other operands are all parameters.
  OperationSpec &perBottomOp(const std::string &name, int number);
  /// Adds a data input. The type of `config` selects the source of the data,
  /// whose files are looked up in `folder`. The caller adds results with
  /// addResults() and tops with addTop().
  OperationSpec &dataInputOp(caffe::LayerParameter config,
                             const std::string &folder);
  /// Adds an operation without operands, results and attributes. Its results
  /// become tops by `addTop`.
  OperationSpec &bareOp(const std::string &name);
  /// Adds the first of several operations on bottom `number`. It determines
  /// whether a gradient reaches the bottom, and has no top. The caller sets its
  /// operands.
  OperationSpec &firstOp(const std::string &name, int number);
  /// Adds the last of several operations, whose result is top `number`.
  OperationSpec &lastOp(const std::string &name, int number);
  /// Multiplies the layer's first top, a result of `op` from layerOp(), by
  /// `factor`.
  void scaleFirstTop(OperationSpec &op, float factor);
  void addTop(ValueRef value) { topValues.push_back(value); }

  /// Stores `value` as the new value of parameter `index`, which the layer
  /// itself maintains (a running statistic).
  void storeParam(int index, ValueRef value) {
    stores.emplace_back(index, value);
  }
  /// Adds a data input with the key of the layer's random numbers
  /// (dialects/Brew/RandomBits.h). Returns the key.
  ValueRef randomKey();

  /// Adds a sink that reports labels (bottom `labels`) outside the classes.
  /// `status` is a result of the layer, the status of its label check.
  void checkLabels(ValueRef status, int labels = 1);

  const std::deque<OperationSpec> &operations() const { return specs; }
  const std::vector<ValueRef> &values() const { return topValues; }
  const std::vector<std::pair<int, ValueRef>> &storedParams() const {
    return stores;
  }

private:
  void addCommon(OperationSpec &spec, std::optional<int> slice);
  std::vector<bool> propagateDown() const;
  void addTops(OperationSpec &spec, int from, int to);
  void addPropagateDown(OperationSpec &spec, std::optional<int> slice);

  std::deque<OperationSpec> specs; // references stay valid
  std::vector<ValueRef> topValues;
  std::vector<std::pair<int, ValueRef>> stores;
};

} // namespace brew::prototxt
