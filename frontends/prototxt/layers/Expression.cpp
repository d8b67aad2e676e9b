//===- Expression.cpp - Expression layers ---------------------------------===//
//
// Brew's own layer type; docs/expressions.md describes the language.
//
//===----------------------------------------------------------------------===//

#include "caffe/expression/Expression.h"
#include "frontends/prototxt/check/LayerChecker.h"

namespace brew::prototxt {

namespace {

std::vector<std::string> bottomNames(const caffe::LayerParameter &layer) {
  return {layer.bottom().begin(), layer.bottom().end()};
}

void checkExpression(LayerChecker &c) {
  const caffe::ExpressionParameter &settings = c.layer.expression_param();
  for (const caffe::ExpressionParam &param : settings.param()) {
    c.filler(param.filler());
    if (param.axis() < 0)
      c.error(param, "axis", "axis counts from 0 and cannot be negative");
  }
  if (!settings.has_expr()) {
    c.reportMissing(settings, "expr");
    return;
  }
  const caffe::expression::Formula formula = caffe::expression::parse(
      settings.expr(), bottomNames(c.layer), settings.param_size());
  for (const caffe::expression::Problem &problem : formula.problems)
    c.errorInString(settings, "expr", problem.offset, problem.text);
  if (!formula.root)
    return;
  for (int i = 0; i < c.layer.bottom_size(); ++i)
    if (!formula.usedBottoms[i])
      c.warn(c.layer, "bottom",
             "the expression does not read bottom '" + c.layer.bottom(i) + "'",
             i);
  for (int i = 0; i < settings.param_size(); ++i)
    if (!formula.usedParams[i])
      c.warn(settings, "param",
             "the expression does not read param(" + std::to_string(i) + ")",
             i);
}

std::vector<ParamBlob> expressionParams(const caffe::LayerParameter &layer) {
  std::vector<ParamBlob> params;
  for (const caffe::ExpressionParam &param : layer.expression_param().param())
    params.push_back({&param.filler()});
  return params;
}

} // namespace

LayerRows expressionLayers() {
  return {
      LayerKind{"Expression", 1, -1, 1, 1, "expression_param"}
          .inPlace()
          .checkedBy(checkExpression)
          .withParams(expressionParams),
  };
}

} // namespace brew::prototxt
