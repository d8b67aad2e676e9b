//===- Api.h - Error handling of the C API ----------------------*- C++ -*-===//
//
// API functions run their body in guarded(), which turns exceptions into a
// status and the message of a handle.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "support/CallerStructs.h"
#include "support/Error.h"

#include <brew/brew.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <utility>

namespace brew::api {

/// A handle's error message, which can also report that memory ran out.
class Message {
public:
  const char *text() const { return literal ? literal : stored.c_str(); }
  void clear() {
    stored.clear();
    literal = nullptr;
  }
  void set(const char *text) noexcept {
    literal = nullptr;
    try {
      stored = text;
    } catch (...) {
      literal = outOfMemory();
    }
  }
  static const char *outOfMemory() { return "out of memory"; }

private:
  std::string stored;
  const char *literal = nullptr; ///< replaces `stored`
};

inline Error usage(const std::string &text) {
  return Error(ExitStatus::Usage, text);
}

/// Runs `body`; on an exception passes its message to `report` and returns its
/// status.
template <typename Body, typename Report>
brew_status guard(Body &&body, Report &&report) noexcept {
  try {
    body();
    return BREW_OK;
  } catch (const Error &error) {
    report(error.what());
    return static_cast<brew_status>(error.status());
  } catch (const std::bad_alloc &) {
    report(Message::outOfMemory());
    return BREW_UNAVAILABLE;
  } catch (const std::exception &error) {
    report(error.what());
    return BREW_BUG;
  } catch (...) {
    report("unexpected failure of unknown kind");
    return BREW_BUG;
  }
}

/// Runs `body` and stores the message of an exception in `message`.
template <typename Body>
brew_status guarded(Message &message, Body &&body) noexcept {
  message.clear();
  return guard(std::forward<Body>(body),
               [&](const char *text) { message.set(text); });
}

/// Runs `body` and writes the message of an exception to the caller's `buffer`.
/// For functions marked "any thread".
template <typename Body>
brew_status guardedInto(char *buffer, std::size_t size, Body &&body) noexcept {
  if (buffer && size)
    buffer[0] = '\0';
  return guard(std::forward<Body>(body), [&](const char *text) {
    if (!buffer || !size)
      return;
    const std::size_t length = std::min(std::strlen(text), size - 1);
    std::memcpy(buffer, text, length);
    buffer[length] = '\0';
  });
}

/// Creates a handle and passes it to `body`. Sets `out` even if the body fails.
/// Does nothing if `out` is null.
template <typename Handle, typename Body>
brew_status open(Handle **out, Body &&body) noexcept {
  if (!out)
    return BREW_USAGE;
  *out = new (std::nothrow) Handle();
  if (!*out)
    return BREW_UNAVAILABLE;
  return guarded((*out)->message, [&] { body(**out); });
}

using brew::copyFromCaller;
using brew::copyToCaller;

/// Returns `value`, a required text. Throws if it is null; the message contains
/// `name`.
inline const char *text(const char *value, const char *name) {
  if (!value)
    throw usage(std::string(name) + " is NULL");
  return value;
}

} // namespace brew::api
