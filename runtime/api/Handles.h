//===- Handles.h - Objects that C API handles point to ----------*- C++ -*-===//
#pragma once

#include "formats/WeightFile.h"
#include "plan/PlanFile.h"
#include "runtime/api/Api.h"
#include "runtime/cpu/WorkerPool.h"
#include "runtime/options/OptionTable.h"
#include "runtime/session/Session.h"

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

struct brew_plan {
  brew::api::Message message;
  std::shared_ptr<const brew::plan::PlanFile> file;
  // Indexed by program.
  std::vector<std::vector<std::vector<const char *>>> layers; ///< of each step
  std::vector<std::vector<const char *>> outputs;
  /// Names of the classes of inputs that record a transform.
  std::map<std::pair<int, std::string>, std::vector<const char *>> inputLabels;
  mutable std::once_flag describeOnce;
  mutable std::string json;
};

struct brew_options {
  brew::api::Message message;
  brew::runtime::RunOptionSet set;
};

struct brew_thread_pool {
  brew::api::Message message;
  std::shared_ptr<brew::runtime::WorkerPool> pool;
};

struct brew_communicator {
  brew::api::Message message;
  std::shared_ptr<brew::runtime::Communicator> communicator;
};

struct brew_session {
  brew::api::Message message;
  std::shared_ptr<const brew::plan::PlanFile> file;
  std::shared_ptr<brew::runtime::Session> session; ///< also kept by trainers
  std::string device;

  // Results of the last call that returned pointers.
  std::vector<brew::runtime::OutputValue> outputs;
  std::vector<brew_output_value> outputViews;
  std::optional<std::pair<brew_tensor_kind, int>> namesKey; ///< of `names`
  std::vector<brew::runtime::TensorName> names;
  std::string layer;
  std::set<std::string>
      internedNames; ///< names that stay valid for the session's life

  /// Returns the session. Throws if it could not be opened.
  brew::runtime::Session &get() const {
    if (!session)
      throw brew::api::usage("the session could not be opened");
    return *session;
  }
  /// Returns `number`. Throws if the plan has no program of this number.
  int program(int number) const;
  /// Returns a copy of a name that stays valid for the session's life.
  const char *internName(const std::string &name);
};

namespace brew::api {

/// Returns C structures that point into `outputs`.
std::vector<brew_output_value>
viewsOf(const std::vector<runtime::OutputValue> &outputs);

/// Wraps a C function as a listener.
runtime::Events::Listener listenerOf(brew_event_function function, void *user);

/// Returns copies of the caller's types, or null if there are none.
std::shared_ptr<const runtime::HostLayerTypes>
hostTypesOf(const brew_host_layer *layers, std::size_t count);

/// Returns copies of required texts. Throws if one is null; the message
/// contains `name`.
std::vector<std::string> textsOf(const char *const *texts, std::size_t count,
                                 const char *name);

brew_dtype dtypeOf(plan::DataType type);

/// Returns the caller's outputs. Throws if a name is null.
std::vector<runtime::OutputValue> outputsOf(const brew_output_value *outputs,
                                            std::size_t count);

/// Returns the weights of a net with copies of their values. Throws Error (2)
/// for null or the weights of a file.
formats::Weights copiesOf(const brew_weights *weights);

/// Writes the dimensions to a C structure and returns their number.
template <typename Dims>
std::size_t setDims(std::int64_t (&to)[BREW_MAX_DIMS], const Dims &from) {
  if (from.size() > BREW_MAX_DIMS)
    throw Error(ExitStatus::Bug, "a tensor has more dimensions than the API");
  std::copy(from.begin(), from.end(), to);
  return static_cast<std::size_t>(from.size());
}

/// Calls `use` with a pointer of the type that `dtype` names.
template <typename Pointer, typename Use>
void withType(brew_dtype dtype, Pointer *values, Use &&use) {
  auto callWith = [&](auto typed) {
    using Value = decltype(typed);
    if constexpr (std::is_const_v<Pointer>)
      use(static_cast<const Value *>(values));
    else
      use(static_cast<Value *>(values));
  };
  switch (dtype) {
  case BREW_F32:
    return callWith(float());
  case BREW_F64:
    return callWith(double());
  case BREW_I32:
    return callWith(std::int32_t());
  default:
    throw usage("values are BREW_F32, BREW_F64 or BREW_I32");
  }
}

/// Describes the plan as JSON.
std::string planJson(const plan::Manifest &manifest);

/// Throws Error (2) if a hook's function makes the call.
inline void refuseInHook(const runtime::Session &session) {
  if (session.inHook())
    throw usage("the function of a hook may not call this: it may read values, "
                "and on one rank write tensors (hooks.h)");
}

/// Runs `body` with the session. Functions of hooks may not make the call.
template <typename Body> brew_status on(brew_session *session, Body &&body) {
  if (!session)
    return BREW_USAGE;
  return guarded(session->message, [&] {
    refuseInHook(session->get());
    body(session->get());
  });
}

/// Runs `body` with the session and the number of one of its programs.
/// Functions of hooks may not make the call.
template <typename Body>
brew_status on(brew_session *session, int program, Body &&body) {
  if (!session)
    return BREW_USAGE;
  return guarded(session->message, [&] {
    refuseInHook(session->get());
    body(session->get(), session->program(program));
  });
}

/// Runs `body` with the session. Functions of hooks may make the call.
template <typename Body>
brew_status readOf(brew_session *session, Body &&body) {
  if (!session)
    return BREW_USAGE;
  return guarded(session->message, [&] { body(session->get()); });
}

/// Runs `body` with the session and the number of one of its programs.
/// Functions of hooks may make the call.
template <typename Body>
brew_status readOf(brew_session *session, int program, Body &&body) {
  if (!session)
    return BREW_USAGE;
  return guarded(session->message,
                 [&] { body(session->get(), session->program(program)); });
}

} // namespace brew::api
