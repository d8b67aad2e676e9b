//===- KernelText.cpp - plan.kernel operations for tests ------------------===//

#include "KernelText.h"

namespace brew::test {
namespace {

/// Returns a tensor type's element type: the text after the last x.
std::string elementOf(const std::string &tensor) {
  std::string type = tensor.substr(tensor.find('<') + 1);
  type = type.substr(0, type.find_first_of(",>"));
  return type.substr(
      type.rfind('x') == std::string::npos ? 0 : type.rfind('x') + 1);
}

std::string join(const std::vector<std::string> &items) {
  std::string text;
  for (const std::string &item : items)
    text += (text.empty() ? "" : ", ") + item;
  return text;
}

} // namespace

std::string nestText(const TensorUse &result, const std::string &iterators,
                     int grid, const std::vector<TensorUse> &inputs,
                     const std::string &body, int subKernel) {
  std::vector<std::string> maps, kinds, names, types, arguments;
  for (const TensorUse &input : inputs) {
    maps.push_back("affine_map<" + input.map + ">");
    names.push_back(input.name);
    types.push_back(input.type);
    arguments.push_back(std::string("%") +
                        static_cast<char>('a' + arguments.size()) + ": " +
                        elementOf(input.type));
  }
  maps.push_back("affine_map<" + result.map + ">");
  for (char letter : iterators)
    kinds.push_back(letter == 'p' ? "\"parallel\"" : "\"reduction\"");
  std::string element = elementOf(result.type);
  arguments.push_back("%o: " + element);

  std::string init = result.name + "_empty";
  std::string text = init + " = tensor.empty() : " + result.type + "\n";
  if (!result.initial.empty()) {
    std::string value = result.name + "_start", filled = result.name + "_init";
    text += value + " = arith.constant " + result.initial + " : " + element +
            "\n" + filled + " = linalg.fill ins(" + value + " : " + element +
            ") outs(" + init + " : " + result.type + ") -> " + result.type +
            "\n";
    init = filled;
  }
  return text + result.name + " = linalg.generic {indexing_maps = [" +
         join(maps) + "], iterator_types = [" + join(kinds) + "]} ins(" +
         join(names) + " : " + join(types) + ") outs(" + init + " : " +
         result.type +
         ") attrs = {brew.sub_kernel = " + std::to_string(subKernel) +
         " : i64, brew.grid_loops = " + std::to_string(grid) +
         " : i64} {\n^bb0(" + join(arguments) + "):\n" + body +
         "linalg.yield %r : " + element + "\n} -> " + result.type + "\n";
}

std::string
kernelText(const std::string &name, const std::string &inPlace,
           const std::vector<std::string> &arguments, const std::string &nests,
           const std::vector<std::pair<std::string, std::string>> &results) {
  std::vector<std::string> parameters, names, types;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    parameters.push_back("%" + std::to_string(i) + ": " + arguments[i]);
  for (const auto &[result, type] : results) {
    names.push_back(result);
    types.push_back(type);
  }
  return "plan.kernel @" + name +
         " attributes {in_place = array<i64: " + inPlace +
         ">, layers = []} {\n^bb0(" + join(parameters) + "):\n" + nests +
         "brew.yield " + join(names) + " : " + join(types) + "\n}\n";
}

} // namespace brew::test
