//===- FillerText.cpp - Fillers in one line -------------------------------===//

#include "caffe/FillerText.h"

#include "support/Error.h"
#include "support/NumberText.h"
#include "support/Suggest.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <vector>

namespace brew::caffe {
namespace {

struct FillerForm {
  const char *type;
  std::vector<std::string> fields; ///< of arguments, in order
};

const std::vector<FillerForm> &forms() {
  static const std::vector<FillerForm> all = {
      {"constant", {"value"}},
      {"uniform", {"min", "max"}},
      {"gaussian", {"mean", "std", "sparse"}},
      {"xavier", {"variance_norm"}},
      {"msra", {"variance_norm"}},
      {"positive_unitball", {}},
      {"bilinear", {}}};
  return all;
}

std::string trimmed(const std::string &text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == text.npos
             ? ""
             : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t comma = text.find(',', begin);
    parts.push_back(trimmed(text.substr(begin, comma - begin)));
    if (comma == text.npos)
      return parts;
    begin = comma + 1;
  }
}

/// Sets a field; returns false if `value` is not a value of the field.
bool setField(FillerParameter &filler, const std::string &field,
              std::string value) {
  if (field == "variance_norm") {
    std::transform(value.begin(), value.end(), value.begin(),
                   [](unsigned char c) { return std::toupper(c); });
    FillerParameter::VarianceNorm norm;
    if (!FillerParameter::VarianceNorm_Parse(value, &norm))
      return false;
    filler.set_variance_norm(norm);
    return true;
  }
  if (field == "sparse") {
    const std::optional<int> number = parseInteger(value);
    if (number)
      filler.set_sparse(*number);
    return number.has_value();
  }
  const std::optional<double> number = parseDouble(value);
  if (!number || !std::isfinite(*number))
    return false;
  const auto real = static_cast<float>(*number);
  if (field == "value")
    filler.set_value(real);
  else if (field == "min")
    filler.set_min(real);
  else if (field == "max")
    filler.set_max(real);
  else if (field == "mean")
    filler.set_mean(real);
  else
    filler.set_std(real);
  return true;
}

} // namespace

FillerParameter parseFiller(const std::string &text) {
  auto fail = [&](const std::string &problem) {
    throw badInput("filler '" + text + "': " + problem);
  };
  const std::size_t open = text.find('(');
  const std::string type = trimmed(text.substr(0, open));
  const auto form =
      std::find_if(forms().begin(), forms().end(),
                   [&](const FillerForm &known) { return known.type == type; });
  if (form == forms().end()) {
    std::vector<std::string> types;
    for (const FillerForm &known : forms())
      types.push_back(known.type);
    fail("unknown type '" + type + "'" + didYouMean(type, types));
  }
  FillerParameter filler;
  filler.set_type(type);
  if (open == text.npos)
    return filler;
  const std::size_t close = text.rfind(')');
  if (close == text.npos || close < open ||
      !trimmed(text.substr(close + 1)).empty())
    fail("expected ')' at the end");
  const std::string inside = trimmed(text.substr(open + 1, close - open - 1));
  if (inside.empty())
    return filler;
  std::size_t position = 0;
  for (const std::string &argument : split(inside)) {
    const std::size_t equals = argument.find('=');
    std::string field,
        value =
            trimmed(argument.substr(equals == argument.npos ? 0 : equals + 1));
    if (equals != argument.npos)
      field = trimmed(argument.substr(0, equals));
    else if (position < form->fields.size())
      field = form->fields[position++];
    else
      fail("too many arguments");
    if (!std::count(form->fields.begin(), form->fields.end(), field))
      fail("'" + type + "' has no field '" + field + "'" +
           didYouMean(field, form->fields));
    if (!setField(filler, field, value))
      fail("'" + value + "' is not a value of '" + field + "'");
  }
  return filler;
}

} // namespace brew::caffe
