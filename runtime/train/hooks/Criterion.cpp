//===- Criterion.cpp - Conditions on training metrics ---------------------===//

#include "runtime/train/hooks/Criterion.h"

#include "runtime/log/Log.h"
#include "support/NumberText.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

namespace brew::runtime {

void ExternalFlags::raise(const std::string &name) {
  std::lock_guard<std::mutex> lock(mutex);
  ++counts[name];
}

std::uint64_t ExternalFlags::count(const std::string &name) const {
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = counts.find(name);
  return found == counts.end() ? 0 : found->second;
}

struct Criterion::Node {
  enum Kind { Or, And, Not, Compare, Repeated, Extremum, External } kind;
  std::unique_ptr<Node> left, right; ///< of Not and Repeated: left only

  struct Operand {
    std::optional<MetricName> metric;
    double number = 0;

    std::optional<double> value(const MetricValues &values) const {
      return metric ? values.value(*metric) : number;
    }
  };
  Operand a, b; ///< of Compare; of Extremum: a only
  std::function<bool(double, double)> compare;

  int times = 0;       ///< of Repeated
  bool higher = false; ///< of Extremum
  std::string name;    ///< of External
  // State of earlier evaluations.
  int inRow = 0;
  std::optional<double> best;
  std::uint64_t lastFlagCount = 0;

  /// Returns whether the node holds; nullopt: unknown. Always evaluates all
  /// operands, since they may have state.
  std::optional<bool> evaluate(const MetricValues &values,
                               const ExternalFlags *flags) {
    switch (kind) {
    case Compare: {
      const std::optional<double> x = a.value(values), y = b.value(values);
      if (!x || !y)
        return {};
      return compare(*x, *y);
    }
    case Not: {
      const std::optional<bool> inner = left->evaluate(values, flags);
      return inner ? std::optional(!*inner) : std::nullopt;
    }
    case Repeated:
      inRow = left->evaluate(values, flags) == true ? inRow + 1 : 0;
      return inRow >= times;
    case Extremum: {
      const std::optional<double> x = a.value(values);
      if (!x)
        return {};
      if (std::isnan(*x) || (best && (higher ? *x <= *best : *x >= *best)))
        return false;
      best = x;
      return true;
    }
    case External: {
      const std::uint64_t flagCount = flags ? flags->count(name) : 0;
      return std::exchange(lastFlagCount, flagCount) != flagCount;
    }
    case Or:
    case And:
      break;
    }
    // One operand may decide even if the other is unknown.
    const bool decisive = kind == Or;
    const std::optional<bool> x = left->evaluate(values, flags),
                              y = right->evaluate(values, flags);
    if (x == decisive || y == decisive)
      return decisive;
    return x && y ? std::optional(!decisive) : std::nullopt;
  }

  void restart() {
    inRow = 0;
    best.reset();
    for (Node *child : {left.get(), right.get()})
      if (child)
        child->restart();
  }
};

namespace {

using Node = Criterion::Node;

/// Parses a criterion with one token of lookahead.
class CriterionParser {
public:
  CriterionParser(const std::string &text, const MetricScope &scope,
                  bool allowsMemory)
      : text(text), scope(scope), allowsMemory(allowsMemory) {
    advance();
  }

  std::unique_ptr<Node> parse() {
    std::unique_ptr<Node> rule = parseDisjunction();
    if (!token.empty())
      fail(isOperator()
               ? "a comparison has two sides; combine comparisons with "
                 "'and' or 'or'"
               : "expected 'and', 'or' or the end, found '" + token + "'");
    return rule;
  }
  std::vector<MetricName> takeMetrics() { return std::move(metrics); }

private:
  /// Limits the recursion depth.
  static constexpr int kMaxDepth = 100;

  [[noreturn]] void fail(const std::string &problem) const {
    throw TextError{begin, problem};
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
    } else if (isMetricNameCharacter(c)) {
      while (at < text.size() && isMetricNameCharacter(text[at]))
        token += text[at++];
      if (at < text.size() && text[at] == '[')
        while (at < text.size() && (token += text[at++], token.back() != ']'))
          ;
      // norm(conv1.weights) is one operand, but "not(" begins a group.
      if (at < text.size() && text[at] == '(' && parseStatistic(token))
        while (at < text.size() && (token += text[at++], token.back() != ')'))
          ;
    } else {
      fail(c == '&'   ? "write 'and'"
           : c == '|' ? "write 'or'"
                      : "unexpected '" + std::string(1, c) + "'");
    }
  }

  void requireMemory() const {
    if (!allowsMemory)
      fail(
          "'" + token +
          "' depends on when it is evaluated: only hooks support it (--hooks)");
  }

  bool isOperator() const {
    return token.find_first_of("<>=!") != std::string::npos;
  }

  std::unique_ptr<Node> makeNode(Node::Kind kind, std::unique_ptr<Node> left,
                                 std::unique_ptr<Node> right) {
    auto node = std::make_unique<Node>();
    node->kind = kind;
    node->left = std::move(left);
    node->right = std::move(right);
    return node;
  }

  std::unique_ptr<Node> parseDisjunction() {
    std::unique_ptr<Node> left = parseConjunction();
    while (token == "or") {
      advance();
      left = makeNode(Node::Or, std::move(left), parseConjunction());
    }
    return left;
  }

  std::unique_ptr<Node> parseConjunction() {
    std::unique_ptr<Node> left = parseFactor();
    while (token == "and") {
      advance();
      left = makeNode(Node::And, std::move(left), parseFactor());
    }
    return left;
  }

  std::unique_ptr<Node> parseFactor() {
    std::unique_ptr<Node> node = parsePrimary();
    while (token == "for") {
      requireMemory();
      advance();
      const std::optional<int> times = parseInteger(token);
      if (!times || *times < 1)
        fail("expected how often in a row, a number from 1 on");
      advance();
      node = makeNode(Node::Repeated, std::move(node), nullptr);
      node->times = *times;
    }
    return node;
  }

  std::unique_ptr<Node> parsePrimary() {
    if (++depth > kMaxDepth)
      fail("the rule is nested more than " + std::to_string(kMaxDepth) +
           " deep");
    std::unique_ptr<Node> node;
    if (token == "not") {
      advance();
      node = makeNode(Node::Not, parsePrimary(), nullptr);
    } else if (token == "(") {
      advance();
      node = parseDisjunction();
      if (token != ")")
        fail(token.empty() ? "the parenthesis is not closed"
                           : "expected ')', found '" + token + "'");
      advance();
    } else if (token == "highest" || token == "lowest") {
      requireMemory();
      node = makeNode(Node::Extremum, nullptr, nullptr);
      node->higher = token == "highest";
      advance();
      node->a = parseOperand();
      if (!node->a.metric)
        fail("expected a metric before this");
    } else if (token == "external") {
      requireMemory();
      node = makeNode(Node::External, nullptr, nullptr);
      advance();
      if (token.empty() || !isMetricNameCharacter(token[0]))
        fail("expected the name of a flag");
      node->name = token;
      advance();
    } else {
      node = parseComparison();
    }
    --depth;
    return node;
  }

  std::unique_ptr<Node> parseComparison() {
    auto node = std::make_unique<Node>();
    node->kind = Node::Compare;
    node->a = parseOperand();
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
    node->b = parseOperand();
    return node;
  }

  Node::Operand parseOperand() {
    if (token.empty() || token == "(" || token == ")" || token == "and" ||
        token == "or" || token == "not" || token == "for" || isOperator())
      fail("expected a metric or a number" +
           (token.empty() ? "" : ", found '" + token + "'"));
    Node::Operand result;
    const char c = token[0];
    if (std::isdigit(static_cast<unsigned char>(c)) || c == '-' || c == '+' ||
        c == '.') {
      const std::optional<double> number = parseDouble(token);
      if (!number)
        fail("'" + token + "' is not a number");
      result.number = *number;
    } else {
      try {
        result.metric = parseMetricName(token, scope);
      } catch (const TextError &problem) {
        throw TextError{begin + problem.offset, problem.text};
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
  const MetricScope &scope;
  bool allowsMemory;
  std::size_t at = 0, begin = 0; ///< end and beginning of the token
  std::string token;             ///< "" at the end
  int depth = 0;
  std::vector<MetricName> metrics;
};

} // namespace

Criterion::Criterion(const std::string &criterionText, const MetricScope &scope,
                     bool allowsMemory)
    : text(criterionText) {
  CriterionParser parser(text, scope, allowsMemory);
  root = parser.parse();
  usedMetrics = parser.takeMetrics();
}

Criterion::~Criterion() = default;
Criterion::Criterion(Criterion &&) noexcept = default;
Criterion &Criterion::operator=(Criterion &&) noexcept = default;

bool Criterion::holds(const MetricValues &values, const ExternalFlags *flags) {
  return root->evaluate(values, flags) == true;
}

void Criterion::restart() { root->restart(); }

std::string Criterion::reason(const MetricValues &values) const {
  std::string result = text + " holds";
  const char *separator = ": ";
  for (const MetricName &metric : usedMetrics)
    if (const std::optional<double> value = values.value(metric)) {
      result += separator + metric.text + " = " + log::number(*value);
      separator = ", ";
    }
  return result;
}

} // namespace brew::runtime
