//===- Options.cpp - compiler.h: the table of options, and options --------===//
#include "compiler/api/Api.h"

using namespace brew::compiler;
using namespace brew::compiler::api;

int brew_compiler_abi_version(void) { return BREW_COMPILER_ABI_VERSION; }

const char *brew_compiler_version(void) { return BREW_VERSION; }

namespace {

brew_option_kind kindOf(OptionKind kind) {
  switch (kind) {
  case OptionKind::Flag:
    return BREW_OPTION_FLAG;
  case OptionKind::Text:
    return BREW_OPTION_TEXT;
  case OptionKind::Integer:
    return BREW_OPTION_INTEGER;
  case OptionKind::Real:
    return BREW_OPTION_REAL;
  case OptionKind::Choice:
    return BREW_OPTION_CHOICE;
  case OptionKind::List:
    break;
  }
  return BREW_OPTION_LIST;
}

/// The values of a row as C's lists.
struct ValueLists {
  std::vector<const char *> names, help;
};

const std::vector<ValueLists> &valueLists() {
  static const std::vector<ValueLists> all = [] {
    std::vector<ValueLists> lists;
    for (const OptionRow &row : optionTable()) {
      ValueLists &list = lists.emplace_back();
      for (const OptionValue &value : row.values) {
        list.names.push_back(value.name);
        list.help.push_back(value.help);
      }
    }
    return lists;
  }();
  return all;
}

} // namespace

size_t brew_compiler_option_count(void) {
  std::string ignored;
  size_t count = 0;
  guarded(ignored, [&] {
    count = optionTable().size();
    return BREW_OK;
  });
  return count;
}

brew_status brew_compiler_option_get(size_t index,
                                     brew_compiler_option *option) {
  std::string ignored;
  return guarded(ignored, [&] {
    if (!option || index >= optionTable().size())
      return BREW_USAGE;
    const OptionRow &row = optionTable()[index];
    const ValueLists &values = valueLists()[index];
    fill(option,
         {sizeof(brew_compiler_option), row.name, kindOf(row.kind), row.help,
          row.valueName, row.defaultText, row.impliedText, values.names.size(),
          values.names.data(), values.help.data()});
    return BREW_OK;
  });
}

brew_status brew_compiler_options_create(brew_compiler_options **options) {
  if (!options)
    return BREW_USAGE;
  *options = new (std::nothrow) brew_compiler_options();
  return *options ? BREW_OK : BREW_MACHINE_LACKS;
}

void brew_compiler_options_destroy(brew_compiler_options *options) {
  delete options;
}

brew_status brew_compiler_options_set(brew_compiler_options *options,
                                      const char *name, const char *value) {
  if (!options)
    return BREW_USAGE;
  return guarded(options->message, [&] {
    options->set.set(name ? name : "", value);
    return BREW_OK;
  });
}

const char *
brew_compiler_options_message(const brew_compiler_options *options) {
  return options ? options->message.c_str() : "";
}

void brew_compiler_options_on_diagnostic(brew_compiler_options *options,
                                         brew_diagnostic_function function,
                                         void *user) {
  if (!options)
    return;
  options->onDiagnostic = function;
  options->user = user;
}
