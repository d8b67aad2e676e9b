//===- Events.h - Functions of Python that hear of a session ------*- C++
//-*-===//
#pragma once

#include "Module.h"

#include <brew/events.hpp>

#include <vector>

namespace brew::python {

/// A listener that calls `function(kind, dict of what has a meaning)` for
/// events of these kinds, by number; none named: of all. Takes the GIL for them
/// alone. Called with the GIL.
api::Listener listenerOf(nanobind::object function,
                         const std::vector<int> &kinds);

} // namespace brew::python
