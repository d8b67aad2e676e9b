//===- FieldAliases.cpp - Other names that forks have for fields ----------===//

#include "frontends/prototxt/FieldAliases.h"

namespace brew::prototxt {

std::string currentFieldName(const std::string &message,
                             const std::string &field) {
  struct Alias {
    const char *message, *field, *current;
  };
  static constexpr Alias aliases[] = {
      // DeepLab's, from before Caffe had dilation.
      {"ConvolutionParameter", "hole", "dilation"},
  };
  for (const Alias &alias : aliases)
    if (message == alias.message && field == alias.field)
      return alias.current;
  return field;
}

} // namespace brew::prototxt
