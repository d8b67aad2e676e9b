//===- CudaNames.cpp - Identifiers of a kernel's text ---------------------===//
#include "compiler/cuda/CudaNames.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace brew::compiler {

/// Whether a blob must not be called `name` in the text: keywords, what CUDA
/// and host compilers define, functions and variables of Brew's text.
static bool isReserved(StringRef name) {
  static const StringSet<> words = {
      // C++
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor",
      "bool", "break", "case", "catch", "char", "char16_t", "char32_t",
      "char8_t", "class", "compl", "concept", "const", "const_cast",
      "consteval", "constexpr", "constinit", "continue", "co_await",
      "co_return", "co_yield", "decltype", "default", "delete", "do", "double",
      "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false",
      "float", "for", "friend", "goto", "if", "inline", "int", "long",
      "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
      "operator", "or", "or_eq", "private", "protected", "public", "register",
      "reinterpret_cast", "requires", "return", "short", "signed", "sizeof",
      "static", "static_assert", "static_cast", "struct", "switch", "template",
      "this", "thread_local", "throw", "true", "try", "typedef", "typeid",
      "typename", "typeof", "union", "unsigned", "using", "virtual", "void",
      "volatile", "wchar_t", "while", "xor", "xor_eq", "main", "std", "linux",
      "unix", "NULL", "NAN", "INFINITY", "assert", "errno", "half",
      // CUDA
      "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "cudasim",
      // the text's own
      "point", "lane", "team", "offset", "k", "rest"};
  static const StringSet<> functions = {
      "acos",  "acosh",    "asin",  "asinh", "atan", "atan2", "atanh", "cbrt",
      "ceil",  "copysign", "cos",   "cosh",  "erf",  "erfc",  "exp",   "exp2",
      "expm1", "fabs",     "floor", "fma",   "fmax", "fmin",  "fmod",  "log",
      "log10", "log1p",    "log2",  "pow",   "rint", "round", "rsqrt", "sin",
      "sinh",  "sqrt",     "tan",   "tanh",  "trunc"};
  if (words.contains(name) || functions.contains(name))
    return true;
  if (name.ends_with("f") && functions.contains(name.drop_back()))
    return true;
  // A letter and a number: values without a name.
  return name.size() > 1 && isAlpha(name[0]) &&
         all_of(name.drop_front(), [](char c) { return isDigit(c); });
}

std::string CudaNames::unique(StringRef wanted) {
  std::string name;
  for (char c : wanted)
    // Two underscores in a row are the compiler's.
    if (isAlnum(c))
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  if (name.empty() || isDigit(name[0]))
    name = "b_" + name;
  StringRef start = name;
  if (isReserved(name) || start.starts_with("brew") ||
      start.starts_with("BREW") || start.starts_with("Brew"))
    name = name.back() == '_' ? name + "x" : name + "_";
  std::string candidate = name;
  for (unsigned i = 2; !taken.insert(candidate).second; ++i)
    candidate = name + (name.back() == '_' ? "" : "_") + std::to_string(i);
  return candidate;
}

std::string CudaNames::numbered(StringRef prefix) {
  return prefix.str() + std::to_string(next++);
}

} // namespace brew::compiler
