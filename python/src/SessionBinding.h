//===- SessionBinding.h - A session that Python's threads may share -*- C++
//-*-===//
#pragma once

#include "Module.h"

#include <brew/brew.hpp>

#include <memory>
#include <mutex>

namespace brew::python {

class SharedSession {
public:
  SharedSession(const api::Plan &plan, api::SessionOptions options)
      : session(std::make_unique<api::Session>(plan, std::move(options))) {}

  api::Session *get() const { return session.get(); }

  /// Runs `body(session)` without the GIL. A second thread is refused.
  template <typename Body> auto during(Body &&body) {
    nanobind::gil_scoped_release released;
    const std::unique_lock<std::recursive_mutex> lock(inside, std::try_to_lock);
    if (!lock.owns_lock())
      throw api::Error(BREW_USAGE,
                       "another thread is inside this session; a session is "
                       "one thread's at a time, open one for each");
    return body(*session);
  }

private:
  std::unique_ptr<api::Session> session;
  std::recursive_mutex inside;
};

} // namespace brew::python
