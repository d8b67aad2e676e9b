//===- Events.h - Python listeners of sessions ------------------*- C++ -*-===//
#pragma once

#include "Module.h"

#include <brew/events.hpp>

#include <vector>

namespace brew::python {

/// Returns a listener that calls `function(kind, dict of fields)` for events
/// whose brew_event_kind is in `kinds`; an empty list selects all events. The
/// caller of listenerOf() must hold the GIL. The listener may be called without
/// it, and acquires it only for the selected events.
api::Listener listenerOf(nanobind::object function,
                         const std::vector<int> &kinds);

} // namespace brew::python
