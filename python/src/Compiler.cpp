//===- Compiler.cpp - Bindings of the compiler ----------------------------===//
#include "ExitGuard.h"
#include "HostLayers.h"

#include <brew/compiler.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;
using brew::api::Compilation;
using brew::api::CompilerOptions;
using brew::api::Diagnostic;

namespace {

using Settings =
    std::vector<std::pair<std::string, std::optional<std::string>>>;

CompilerOptions optionsOf(const Settings &settings,
                          const brew::python::PythonLayerTypes &hosts) {
  CompilerOptions options;
  for (const auto &type : hosts.descriptions())
    options.addHostLayer(type);
  for (const auto &[name, value] : settings) {
    if (value)
      options.set(name, *value);
    else
      options.set(name);
  }
  return options;
}

nb::bytes bytesOf(std::string_view text) {
  return nb::bytes(text.data(), text.size());
}

} // namespace

void brew::python::bindCompiler(nb::module_ &module) {
  nb::class_<Diagnostic::Note>(module, "Note")
      .def_ro("file", &Diagnostic::Note::file)
      .def_ro("line", &Diagnostic::Note::line)
      .def_ro("column", &Diagnostic::Note::column)
      .def_ro("message", &Diagnostic::Note::message);
  nb::class_<Diagnostic>(module, "Diagnostic")
      .def_prop_ro("severity",
                   [](const Diagnostic &self) {
                     return self.severity == BREW_ERROR     ? "error"
                            : self.severity == BREW_WARNING ? "warning"
                                                            : "note";
                   })
      .def_ro("file", &Diagnostic::file)
      .def_ro("line", &Diagnostic::line)
      .def_ro("column", &Diagnostic::column)
      .def_ro("layer", &Diagnostic::layer)
      .def_ro("message", &Diagnostic::message)
      .def_ro("notes", &Diagnostic::notes)
      .def("__str__", &Diagnostic::str);

  nb::class_<Compilation>(module, "Compilation")
      .def_prop_ro("status",
                   [](const Compilation &self) { return int(self.status()); })
      .def_prop_ro("message", &Compilation::message)
      .def_prop_ro("diagnostics", &Compilation::diagnostics)
      .def_prop_ro("plan",
                   [](const Compilation &self) { return bytesOf(self.plan()); })
      .def_prop_ro(
          "report",
          [](const Compilation &self) { return bytesOf(self.report()); })
      .def_prop_ro("net",
                   [](const Compilation &self) { return bytesOf(self.net()); })
      .def_prop_ro(
          "split_net",
          [](const Compilation &self) { return bytesOf(self.splitNet()); })
      .def_prop_ro(
          "upgraded",
          [](const Compilation &self) { return bytesOf(self.upgraded()); })
      .def_prop_ro("artifacts", [](const Compilation &self) {
        nb::dict texts;
        for (const auto &artifact : self.artifacts())
          texts[nb::str(artifact.name.data(), artifact.name.size())] =
              bytesOf(artifact.text);
        return texts;
      });

  module.def(
      "compile_file",
      [](const std::string &path, const Settings &settings, nb::dict hosts) {
        PythonLayerTypes types(hosts);
        const CompilerOptions options = optionsOf(settings, types);
        brew::python::GilRelease released;
        return Compilation::ofFile(path, options);
      },
      "path"_a, "options"_a, "hosts"_a = nb::dict());
  module.def(
      "compile_text",
      [](const std::string &text, const std::string &name,
         const std::string &folder, const Settings &settings, nb::dict hosts) {
        PythonLayerTypes types(hosts);
        const CompilerOptions options = optionsOf(settings, types);
        brew::python::GilRelease released;
        return Compilation::ofText(text, name, options, folder);
      },
      "text"_a, "name"_a, "folder"_a, "options"_a, "hosts"_a = nb::dict());
  module.def(
      "describe_net",
      [](const nb::bytes &net, const std::string &name,
         const Settings &settings,
         const std::vector<std::pair<std::string, int>> &paramCounts) {
        CompilerOptions options = optionsOf(settings, PythonLayerTypes(nb::dict()));
        for (const auto &[layer, count] : paramCounts)
          options.setParamCount(layer, count);
        return Compilation::describeNet(
            {static_cast<const char *>(net.data()), net.size()}, name, options);
      },
      "net"_a, "name"_a, "options"_a, "param_counts"_a);
  module.def(
      "upgrade_file",
      [](const std::string &path) {
        brew::python::GilRelease released;
        return Compilation::upgradeFile(path);
      },
      "path"_a);
  module.def(
      "upgrade_text",
      [](const std::string &text, const std::string &name) {
        brew::python::GilRelease released;
        return Compilation::upgradeText(text, name);
      },
      "text"_a, "name"_a);
  module.def("compiler_options", [] {
    std::vector<std::string> names;
    for (const auto &option : api::compilerOptions())
      names.push_back(option.name);
    return names;
  });
}
