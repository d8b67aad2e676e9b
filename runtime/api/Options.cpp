//===- Options.cpp - C API: options by name -------------------------------===//

#include "runtime/api/Handles.h"
#include "support/OptionStruct.h"

using namespace brew;
using namespace brew::api;

size_t brew_option_count(void) { return runtime::runOptions().size(); }

brew_status brew_option_get(size_t index, brew_option *option) {
  return guardedInto(nullptr, 0, [&] {
    const auto &rows = runtime::runOptions();
    if (!option || index >= rows.size())
      throw usage("there is no option of this number");
    const runtime::RunOption &row = rows[index];
    brew_option result = optionStruct(row);
    result.group = row.group;
    result.commands = row.commands;
    if (row.field) {
      result.field = row.field->name;
      result.while_training = row.field->whileTraining;
    }
    copyToCaller(option, result);
  });
}

brew_status brew_options_create(brew_options **options) {
  return api::open(options, [](brew_options &) {});
}

void brew_options_destroy(brew_options *options) { delete options; }

const char *brew_options_message(const brew_options *options) {
  return options ? options->message.text() : Message::outOfMemory();
}

brew_status brew_options_set(brew_options *options, const char *name,
                             const char *value) {
  if (!options)
    return BREW_USAGE;
  return guarded(options->message, [&] {
    options->set.set(text(name, "the option's name"), value);
  });
}
