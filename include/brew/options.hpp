//===- options.hpp - Options of sessions and trainers by name ---*- C++ -*-===//
//
// Part of brew.hpp, which documents the rules common to all calls.
//
//   brew::api::Options options = {{"threads", 4}, {"check-nan", true}};
//   options.set("base-lr", 0.1);
//
//===----------------------------------------------------------------------===//
#pragma once

#include <brew/option.hpp>
#include <brew/options.h>
#include <brew/support.hpp>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <new>
#include <type_traits>

namespace brew::api {

/// Returns the table of the runtime's options.
inline std::vector<Option> options() {
  return detail::optionTable(brew_option_get);
}

/// The value of an option as text.
class OptionText {
public:
  OptionText(const char *text) : text(text) {}
  OptionText(std::string text) : text(std::move(text)) {}
  OptionText(bool value) : text(value ? "true" : "false") {}
  template <typename Integer,
            typename = std::enable_if_t<std::is_integral_v<Integer> &&
                                        !std::is_same_v<Integer, bool>>>
  OptionText(Integer value) : text(std::to_string(value)) {}
  OptionText(double value) {
    char buffer[40]; // independent of the locale
    text.assign(buffer,
                std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  }
  const char *get() const { return text.c_str(); }

private:
  std::string text;
};

/// Options of a session or a trainer, as values.
class Options {
public:
  using Settings =
      std::vector<std::pair<std::string, std::optional<std::string>>>;

  Options() {
    brew_options *created = nullptr;
    if (brew_options_create(&created) != BREW_OK)
      throw std::bad_alloc();
    handle.reset(created);
  }
  Options(std::initializer_list<std::pair<const char *, OptionText>> values)
      : Options() {
    for (const auto &[name, value] : values)
      set(name, value);
  }
  Options(const Options &other) : Options() {
    for (const auto &[name, value] : other.values)
      setText(name, value ? value->c_str() : nullptr);
  }
  Options &operator=(const Options &other) {
    Options copy(other);
    std::swap(handle, copy.handle);
    std::swap(values, copy.values);
    return *this;
  }
  Options(Options &&) = default;
  Options &operator=(Options &&) = default;

  /// Sets an option. Throws Error (BREW_USAGE) for an unknown name or an
  /// invalid value.
  Options &set(const std::string &name, const OptionText &value) {
    return setText(name, value.get());
  }
  /// Sets an option to its implied value.
  Options &set(const std::string &name) { return setText(name, nullptr); }
  bool isSet(const std::string &name) const {
    return last(name) != values.rend();
  }
  /// Returns the value last set, or the empty text.
  std::string text(const std::string &name) const {
    const auto setting = last(name);
    return setting == values.rend() ? "" : setting->second.value_or("true");
  }
  /// Returns whether a flag is set, and not to false.
  bool flag(const std::string &name) const {
    const std::string value = text(name);
    return value == "true" || value == "1";
  }
  /// Returns the integer last set, or `fallback`.
  std::int64_t integer(const std::string &name,
                       std::int64_t fallback = 0) const {
    return isSet(name) ? std::stoll(text(name), nullptr, 0) : fallback;
  }
  /// Returns all calls of set(), in order.
  const Settings &settings() const { return values; }

  const brew_options *get() const { return handle.get(); }

private:
  /// Returns the name as in the table.
  static std::string normalized(std::string name) {
    std::replace(name.begin(), name.end(), '_', '-');
    return name;
  }
  Settings::const_reverse_iterator last(const std::string &name) const {
    return std::find_if(
        values.rbegin(), values.rend(),
        [key = normalized(name)](const auto &it) { return it.first == key; });
  }
  Options &setText(const std::string &name, const char *value) {
    detail::check(brew_options_set(handle.get(), name.c_str(), value),
                  brew_options_message(handle.get()));
    values.emplace_back(normalized(name),
                        value ? std::optional<std::string>(value)
                              : std::nullopt);
    return *this;
  }

  detail::UniqueHandle<brew_options, brew_options_destroy> handle;
  Settings values;
};

} // namespace brew::api
