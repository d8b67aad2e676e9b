//===- Module.cpp - Extension brew._core ----------------------------------===//
//
// A thin layer: the Python-specific interface (keywords, tables, classes of
// errors) is implemented in Python, in python/brew. No function holds the GIL
// while the libraries work.
//
//===----------------------------------------------------------------------===//
#include "Module.h"

#include "ExitGuard.h"

#include <brew/brew.hpp>
#include <brew/compiler.hpp>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

NB_MODULE(_core, module) {
  brew::api::checkAbiVersion();
  module.doc() =
      "Low-level bindings of Brew's libraries; use the package brew.";
  module.attr("version") = brew_version();

  // Error(text, status): the base class of the errors defined in Python.
  static nb::object error =
      nb::exception<brew::api::Error>(module, "Error", PyExc_RuntimeError);
  nb::register_exception_translator(
      [](const std::exception_ptr &thrown, void *) {
        try {
          std::rethrow_exception(thrown);
        } catch (const brew::api::Error &failure) {
          nb::object value = error(failure.what());
          value.attr("status") = static_cast<int>(failure.status());
          PyErr_SetObject(error.ptr(), value.ptr());
        }
      });

  module.def(
      "log",
      [](int severity, const std::string &file, int line,
         const std::string &text) {
        brew_log(static_cast<brew_log_severity>(severity), file.c_str(), line,
                 text.c_str());
      },
      nb::arg("severity"), nb::arg("file"), nb::arg("line"), nb::arg("text"));

  module.def("set_log_minimum", &brew_log_set_minimum, nb::arg("severity"));

  module.def("gpu_count", &brew::api::gpuCount);
  module.def("device_query", &brew::api::deviceQuery, nb::arg("gpu"));

  brew::python::ExitGuard::install();
  brew::python::bindCompiler(module);
  brew::python::bindEmbedding(module);
  brew::python::bindCommunicator(module);
  brew::python::bindOptions(module);
  brew::python::bindSession(module);
  brew::python::bindTrainer(module);
  brew::python::bindReinforcement(module);
  brew::python::bindWeights(module);
}
