//===- ConvolutionBuilder.h - Convolutions by oneDNN ------------*- C++ -*-===//
//
// The candidates are convolution primitives (DnnlConvolution.cpp) and matrix
// products (ConvolutionMatmul.cpp).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/cpu/onednn/DnnlCall.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string>
#include <vector>

namespace brew::runtime::convolution {

using dnnl::memory;
using plan::ConvolutionCall;

/// The layouts that a candidate requests from oneDNN, and their name.
struct Layouts {
  const char *name;
  memory::desc x, w, y;
};

/// The window, in the form that oneDNN takes.
struct Geometry {
  memory::dims strides, dilates, padding, paddingEnd;
};

/// A primitive that computes the convolution.
struct Candidate {
  std::string name; ///< of the requested layouts and of oneDNN's kernel
  dnnl::primitive_desc description;
  std::vector<DnnlOperand> operands;
  bool reluAfter = false;
  double cost = 0;

  /// Appends an operand, staged in the layout of the primitive. The caller sets
  /// DnnlOperand::accumulate.
  DnnlOperand &addOperand(int argument, BoundBuffer bound,
                          const memory::desc &layout, bool written) {
    DnnlOperand &operand = operands.emplace_back();
    operand.argument = argument;
    operand.data = bound.data;
    operand.layout = layout;
    operand.staged = description.query_md(dnnl::query::exec_arg_md, argument);
    operand.view = operand.staged;
    operand.written = written;
    operand.isConstant = bound.isConstant && !written;
    return operand;
  }
};

/// Creates the candidates of a convolution call.
class ConvolutionBuilder {
public:
  ConvolutionBuilder(DnnlContext &context, const ConvolutionCall &call,
                     BoundBuffer x, BoundBuffer w, BoundBuffer b, BoundBuffer y)
      : context(context), call(call), x(x), w(w), b(b),
        y(y), plain{"plain", layoutOf(*x.buffer), weightLayout(),
                    layoutOf(*y.buffer)} {
    const plan::Window &window = call.window();
    geometry.strides = {window.stride().begin(), window.stride().end()};
    geometry.padding = {window.pad().begin(), window.pad().end()};
    geometry.paddingEnd = {window.pad_end().begin(), window.pad_end().end()};
    // oneDNN counts the skipped elements; Caffe counts the distance.
    for (std::int64_t dilation : window.dilation())
      geometry.dilates.push_back(dilation - 1);
    if (b.buffer)
      bias = {{b.buffer->dims(0)}, typeOf(*b.buffer), memory::dims{1}};
  }

  std::unique_ptr<DnnlCall> build(const std::string &where) const;
  /// Returns all candidates, starting with the choice of build().
  std::vector<Candidate> allCandidates() const;
  std::unique_ptr<DnnlCall> build(DnnlContext &callContext,
                                  const Candidate &candidate) const;

private:
  memory::desc weightLayout() const;
  static memory::desc anyLayout(const memory::desc &like) {
    return {like.get_dims(), like.get_data_type(), memory::format_tag::any};
  }
  static memory::desc channelsLast(const memory::desc &like) {
    using tag = memory::format_tag;
    const int rank = like.get_ndims();
    return {like.get_dims(), like.get_data_type(),
            rank == 3   ? tag::nwc
            : rank == 4 ? tag::nhwc
                        : tag::ndhwc};
  }
  std::vector<Layouts> layoutCombinations() const;
  std::vector<dnnl::primitive_desc>
  implementations(const Layouts &layouts,
                  const dnnl::primitive_attr &attributes, bool all) const;
  std::vector<dnnl::primitive_desc>
  preferredFirst(const dnnl::primitive_desc &first, bool all) const;
  const char *preferredFamily() const;
  std::vector<Candidate> candidates(const Layouts &layouts, bool all) const;
  Candidate makeCandidate(const Layouts &layouts,
                          const dnnl::primitive_desc &implementation,
                          bool fusesSum, bool fusesRelu) const;
  std::optional<Candidate> weightGradientMatmul() const;
  std::optional<Candidate> sliceMatmul() const;
  static bool allEqual(const memory::dims &values, memory::dim value) {
    return std::all_of(values.begin(), values.end(),
                       [&](memory::dim dim) { return dim == value; });
  }
  bool isPointwise() const;
  std::optional<Candidate> cheapest() const;
  bool isDepthwise() const;
  double estimate(const Candidate &candidate) const;

  DnnlContext &context;
  const ConvolutionCall &call;
  BoundBuffer x, w, b, y;
  Layouts plain; ///< the layouts of the plan
  memory::desc bias;
  Geometry geometry;
};

} // namespace brew::runtime::convolution
