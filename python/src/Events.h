//===- Events.h - Python listeners of sessions ------------------*- C++ -*-===//
#pragma once

#include "Module.h"

#include <brew/events.hpp>

#include <vector>

namespace brew::python {

/// Returns a listener that calls `function(kind, dict of fields)` for events of
/// these kinds, by number; an empty list selects all. Acquires the GIL only for
/// these events. Call it with the GIL held.
api::Listener listenerOf(nanobind::object function,
                         const std::vector<int> &kinds);

} // namespace brew::python
