//===- StopRule.cpp - Conditions that end a training run ------------------===//

#include "runtime/train/watch/StopRule.h"

#include "formats/Error.h"
#include "formats/NumberText.h"
#include "runtime/log/Log.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <functional>

namespace brew::runtime {

struct StopRule::Node {
  enum Kind { Or, And, Not, Compare } kind;
  std::unique_ptr<Node> left, right; ///< of Not: left only

  struct Operand {
    std::optional<MetricName> metric;
    double number = 0;

    std::optional<double> value(const MetricValues &values) const {
      return metric ? values.value(*metric) : number;
    }
  };
  // Of Compare.
  Operand a, b;
  std::function<bool(double, double)> compare;

  std::optional<bool> evaluate(const MetricValues &values) const {
    switch (kind) {
    case Compare: {
      const std::optional<double> x = a.value(values), y = b.value(values);
      if (!x || !y)
        return {};
      return compare(*x, *y);
    }
    case Not: {
      const std::optional<bool> inner = left->evaluate(values);
      return inner ? std::optional(!*inner) : std::nullopt;
    }
    case Or:
    case And:
      break;
    }
    // One side may decide alone, whatever the other turns out to be.
    const bool decisive = kind == Or;
    const std::optional<bool> x = left->evaluate(values),
                              y = right->evaluate(values);
    if (x == decisive || y == decisive)
      return decisive;
    return x && y ? std::optional(!decisive) : std::nullopt;
  }
};

namespace {

using Node = StopRule::Node;

/// Reads a rule, one token ahead.
class RuleParser {
public:
  RuleParser(const std::string &text, const plan::Manifest &manifest,
             int testNets)
      : text(text), manifest(manifest), testNets(testNets) {
    advance();
  }

  std::unique_ptr<Node> parse() {
    std::unique_ptr<Node> rule = disjunction();
    if (!token.empty())
      fail(isOperator()
               ? "a comparison has two sides; join comparisons with "
                 "'and' or 'or'"
               : "expected 'and', 'or' or the end, found '" + token + "'");
    return rule;
  }
  std::vector<MetricName> takeMetrics() { return std::move(metrics); }

private:
  /// Deeper rules would only serve to exhaust the stack.
  static constexpr int kDeepest = 100;

  [[noreturn]] void fail(const std::string &what) const {
    throw TextProblem{begin, what};
  }

  void advance() {
    while (at < text.size() &&
           std::isspace(static_cast<unsigned char>(text[at])))
      ++at;
    begin = at;
    token.clear();
    if (at == text.size())
      return;
    const char c = text[at];
    if (c == '(' || c == ')') {
      token = text[at++];
    } else if (std::string("<>=!").find(c) != std::string::npos) {
      token = text[at++];
      if (at < text.size() && text[at] == '=')
        token += text[at++];
      if (token == "=")
        fail("write == to compare");
      if (token == "!")
        fail("write 'not', or != to compare");
    } else if (isInMetricName(c)) {
      while (at < text.size() && isInMetricName(text[at]))
        token += text[at++];
      if (at < text.size() && text[at] == '[')
        while (at < text.size() && (token += text[at++], token.back() != ']'))
          ;
    } else {
      fail(c == '&'   ? "write 'and'"
           : c == '|' ? "write 'or'"
                      : "unexpected '" + std::string(1, c) + "'");
    }
  }

  bool isOperator() const {
    return token.find_first_of("<>=!") != std::string::npos;
  }

  std::unique_ptr<Node> joined(Node::Kind kind, std::unique_ptr<Node> left,
                               std::unique_ptr<Node> right) {
    auto node = std::make_unique<Node>();
    node->kind = kind;
    node->left = std::move(left);
    node->right = std::move(right);
    return node;
  }

  std::unique_ptr<Node> disjunction() {
    std::unique_ptr<Node> left = conjunction();
    while (token == "or") {
      advance();
      left = joined(Node::Or, std::move(left), conjunction());
    }
    return left;
  }

  std::unique_ptr<Node> conjunction() {
    std::unique_ptr<Node> left = factor();
    while (token == "and") {
      advance();
      left = joined(Node::And, std::move(left), factor());
    }
    return left;
  }

  std::unique_ptr<Node> factor() {
    if (++depth > kDeepest)
      fail("the rule is nested more than " + std::to_string(kDeepest) +
           " deep");
    std::unique_ptr<Node> node;
    if (token == "not") {
      advance();
      node = joined(Node::Not, factor(), nullptr);
    } else if (token == "(") {
      advance();
      node = disjunction();
      if (token != ")")
        fail(token.empty() ? "the parenthesis is not closed"
                           : "expected ')', found '" + token + "'");
      advance();
    } else {
      node = comparison();
    }
    --depth;
    return node;
  }

  std::unique_ptr<Node> comparison() {
    auto node = std::make_unique<Node>();
    node->kind = Node::Compare;
    node->a = operand();
    if (token == "<")
      node->compare = std::less<double>();
    else if (token == "<=")
      node->compare = std::less_equal<double>();
    else if (token == ">")
      node->compare = std::greater<double>();
    else if (token == ">=")
      node->compare = std::greater_equal<double>();
    else if (token == "==")
      node->compare = std::equal_to<double>();
    else if (token == "!=")
      node->compare = std::not_equal_to<double>();
    else
      fail("expected <, <=, >, >=, == or !=" +
           (token.empty() ? "" : ", found '" + token + "'"));
    advance();
    node->b = operand();
    return node;
  }

  Node::Operand operand() {
    if (token.empty() || token == "(" || token == ")" || token == "and" ||
        token == "or" || token == "not" || isOperator())
      fail("expected a metric or a number" +
           (token.empty() ? "" : ", found '" + token + "'"));
    Node::Operand result;
    const char c = token[0];
    if (std::isdigit(static_cast<unsigned char>(c)) || c == '-' || c == '+' ||
        c == '.') {
      const std::optional<double> number = formats::readDouble(token);
      if (!number)
        fail("'" + token + "' is no number");
      result.number = *number;
    } else {
      try {
        result.metric = parseMetricName(token, manifest, testNets);
      } catch (const TextProblem &problem) {
        throw TextProblem{begin + problem.offset, problem.text};
      }
      if (std::none_of(metrics.begin(), metrics.end(),
                       [&](const MetricName &known) {
                         return known.text == result.metric->text;
                       }))
        metrics.push_back(*result.metric);
    }
    advance();
    return result;
  }

  const std::string &text;
  const plan::Manifest &manifest;
  int testNets;
  std::size_t at = 0, begin = 0; ///< behind the token, and where it begins
  std::string token;             ///< "" at the end
  int depth = 0;
  std::vector<MetricName> metrics;
};

} // namespace

StopRule::StopRule(const std::string &rule, const plan::Manifest &manifest,
                   int testNets)
    : text(rule) {
  try {
    RuleParser parser(text, manifest, testNets);
    root = parser.parse();
    metrics = parser.takeMetrics();
  } catch (const TextProblem &problem) {
    refuseText("--stop-when", text, problem);
  }
}

StopRule::~StopRule() = default;
StopRule::StopRule(StopRule &&) noexcept = default;

bool StopRule::holds(const MetricValues &values) const {
  return root->evaluate(values) == true;
}

std::string StopRule::reason(const MetricValues &values) const {
  std::string result = text + " holds";
  const char *separator = ": ";
  for (const MetricName &metric : metrics)
    if (const std::optional<double> value = values.value(metric)) {
      result += separator + metric.text + " = " + log::number(*value);
      separator = ", ";
    }
  return result;
}

//===----------------------------------------------------------------------===//
// Patience
//===----------------------------------------------------------------------===//

Patience::Patience(const std::string &text, const plan::Manifest &manifest,
                   int testNets) {
  auto fail = [&](std::size_t offset, const std::string &what) {
    refuseText("--patience", text, {offset, what});
  };
  const std::size_t colon = text.find(':');
  const char *end = text.data() + (colon == text.npos ? text.size() : colon);
  const auto [stop, failed] = std::from_chars(text.data(), end, patience);
  if (failed != std::errc() || stop != end || patience < 1)
    fail(0, "expected a number of tests from 1 on");
  if (testNets == 0)
    fail(0, "the solver has no test net");
  if (colon == text.npos) {
    const std::optional<MetricName> found = defaultMetric(manifest, testNets);
    if (!found)
      fail(text.size(), "test net 0 has no accuracy and no loss: name a metric "
                        "(N:METRIC)");
    metric = *found;
    better = *betterOf(metric, manifest);
    return;
  }
  try {
    const RankedMetric ranked = parseRankedMetric(
        std::string_view(text).substr(colon + 1), manifest, testNets);
    metric = ranked.name;
    better = ranked.better;
  } catch (const TextProblem &problem) {
    fail(colon + 1 + problem.offset, problem.text);
  }
}

std::optional<std::string> Patience::afterTest(const MetricValues &values,
                                               int iteration) {
  const std::optional<double> value = values.value(metric);
  if (value && !std::isnan(*value) &&
      (!best || (better == Better::Higher ? *value > *best : *value < *best))) {
    best = value;
    bestIteration = iteration;
    without = 0;
    return {};
  }
  if (++without < patience)
    return {};
  return std::to_string(without) + (without == 1 ? " test" : " tests") +
         " without improvement of " + metric.text +
         (best ? ": the best was " + log::number(*best) + " after " +
                     std::to_string(bestIteration) + " iterations"
               : ": it never was a number");
}

} // namespace brew::runtime
