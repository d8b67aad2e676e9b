//===- Options.cpp - Python: the table of options -------------------------===//
#include "Options.h"
#include "Module.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using brew::api::Option;

void brew::python::bindOptions(nb::module_ &module) {
  nb::class_<Option>(module, "Option")
      .def_ro("name", &Option::name)
      .def_ro("help", &Option::help)
      .def_ro("default", &Option::defaultValue)
      .def_ro("commands", &Option::commands)
      .def_ro("field", &Option::field);
  module.def("options", [] { return api::options(); });
}
