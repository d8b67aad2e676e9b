//===- UniqueNames.cpp - Unique identifiers -------------------------------===//
#include "compiler/cuda/UniqueNames.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace brew::compiler::cuda {

/// Returns whether `name` is reserved: keywords, names that CUDA and host
/// compilers define, functions and variables of the generated code.
static bool isReserved(StringRef name) {
  static const llvm::StringSet<> words = {
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
      // generated code
      "point", "lane", "team", "turn", "offset", "k", "rest"};
  // Functions that CUDA predeclares. Most of them also exist with suffix f.
  static const llvm::StringSet<> functions = {
      "abs",    "acos",      "acosh",      "alloca",        "asin",
      "asinh",  "atan",      "atan2",      "atanh",         "ballot",
      "cbrt",   "ceil",      "clock",      "copysign",      "cos",
      "cosh",   "cospi",     "erf",        "erfc",          "erfcinv",
      "erfcx",  "erfinv",    "exp",        "expm1",         "fabs",
      "fdim",   "fdivide",   "floor",      "fma",           "fmax",
      "fmin",   "fmod",      "free",       "frexp",         "hypot",
      "ilogb",  "isfinite",  "isinf",      "isnan",         "jn",
      "labs",   "ldexp",     "lgamma",     "llabs",         "llmax",
      "llmin",  "llrint",    "llround",    "log",           "log1p",
      "logb",   "lrint",     "lround",     "malloc",        "max",
      "memcpy", "memset",    "min",        "modf",          "mul24",
      "nan",    "nearbyint", "nextafter",  "norm",          "norm3d",
      "norm4d", "normcdf",   "normcdfinv", "pow",           "printf",
      "rcbrt",  "remainder", "remquo",     "rhypot",        "rint",
      "rnorm",  "rnorm3d",   "rnorm4d",    "round",         "rsqrt",
      "sad",    "saturate",  "scalbln",    "scalbn",        "signbit",
      "sin",    "sincos",    "sincospi",   "sinh",          "sinpi",
      "sqrt",   "tan",       "tanh",       "tgamma",        "trap",
      "trunc",  "ullmax",    "ullmin",     "umax",          "umin",
      "umul24", "usad",      "yn",         "clock64",       "exp10",
      "exp2",   "log10",     "log2",       "cyl_bessel_i0", "cyl_bessel_i1"};
  // Vector types such as float4.
  static const llvm::StringSet<> vectors = {
      "char",  "double", "float",  "int",   "long",      "longlong", "short",
      "uchar", "uint",   "ushort", "ulong", "ulonglong", "dim",      "u"};
  if (vectors.contains(name.rtrim("0123456789")) || name.starts_with("make_"))
    return true;
  if (words.contains(name) || functions.contains(name))
    return true;
  if (name.ends_with("f") && functions.contains(name.drop_back()))
    return true;
  // Generated names are a letter and a number.
  return name.size() > 1 && isAlpha(name[0]) &&
         all_of(name.drop_front(), [](char c) { return isDigit(c); });
}

std::string UniqueNames::unique(StringRef preferred) {
  std::string name;
  for (char c : preferred)
    // Double underscores are reserved.
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
  for (unsigned i = 2; !usedNames.insert(candidate).second; ++i)
    candidate = name + (name.back() == '_' ? "" : "_") + std::to_string(i);
  return candidate;
}

std::string UniqueNames::numbered(StringRef prefix) {
  return prefix.str() + std::to_string(next++);
}

} // namespace brew::compiler::cuda
