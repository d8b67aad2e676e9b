//===- compiler.hpp - Brew's compiler as a library, in C++ ------*- C++ -*-===//
//
//   brew::api::CompilerOptions options;
//   options.set("target", "cuda");
//   auto compilation = brew::api::Compilation::ofFile("net.prototxt", options);
//   for (const auto &diagnostic : compilation.diagnostics())
//     std::cerr << diagnostic.str();
//   if (compilation.succeeded())
//     compilation.write(BREW_OUTPUT_PLAN, "net.plan");
//
// Header-only wrapper of compiler.h, which documents semantics, ownership and
// thread safety.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <brew/base.hpp>
#include <brew/compiler.h>
#include <brew/host_layer.hpp>
#include <brew/option.hpp>

#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace brew::api {

/// A diagnostic of a compilation.
struct Diagnostic {
  struct Note {
    std::string file;
    int line = 0, column = 0;
    std::string message;
  };
  brew_severity severity = BREW_ERROR;
  std::string file; ///< empty if no file is concerned
  int line = 0, column = 0;
  std::string layer; ///< empty if no layer is concerned
  std::string message;
  std::vector<Note> notes;

  explicit Diagnostic(const brew_diagnostic &from)
      : severity(from.severity), file(from.file), line(from.line),
        column(from.column), layer(from.layer), message(from.message) {
    for (size_t i = 0; i < from.note_count; ++i)
      notes.push_back({from.notes[i].file, from.notes[i].line,
                       from.notes[i].column, from.notes[i].message});
  }

  /// Returns "FILE:LINE:COL: error: MESSAGE" and a line for each note, each
  /// with a newline. Without a file the text begins with the severity.
  std::string str() const {
    std::string text = place(file, line, column);
    text += severity == BREW_ERROR     ? "error: "
            : severity == BREW_WARNING ? "warning: "
                                       : "note: ";
    text += message + "\n";
    for (const Note &note : notes)
      text += place(note.file, note.line, note.column) +
              "note: " + note.message + "\n";
    return text;
  }

private:
  static std::string place(const std::string &file, int line, int column) {
    if (file.empty())
      return "";
    if (line <= 0)
      return file + ": ";
    return file + ":" + std::to_string(line) + ":" + std::to_string(column) +
           ": ";
  }
};

/// Returns the table of options.
inline std::vector<Option> compilerOptions() {
  return detail::optionTable(brew_compiler_option_get);
}

class CompilerOptions {
public:
  using Listener = std::function<void(const Diagnostic &)>;

  CompilerOptions() {
    brew_compiler_options *made = nullptr;
    if (brew_compiler_options_create(&made) != BREW_OK)
      throw std::bad_alloc();
    handle.reset(made);
  }

  /// Throws Error (BREW_USAGE).
  void set(const std::string &name, const std::string &value) {
    check(brew_compiler_options_set(get(), name.c_str(), value.c_str()));
  }
  /// Sets the option without a value.
  void set(const std::string &name) {
    check(brew_compiler_options_set(get(), name.c_str(), nullptr));
  }

  /// Adds a host layer type (see host_layer.hpp). Throws Error (BREW_USAGE).
  void addHostLayer(const HostLayerType &type) {
    const brew_host_layer layer = type.get();
    check(brew_compiler_options_add_host_layer(get(), &layer));
  }

  /// Sets the number of parameters of a layer that the program computes, for
  /// Compilation::describeNet(). Throws Error (BREW_USAGE).
  void setParamCount(const std::string &layer, int count) {
    check(brew_compiler_options_set_param_count(get(), layer.c_str(), count));
  }

  /// Sets the function that receives every diagnostic immediately. It must not
  /// throw.
  void onDiagnostic(Listener function) {
    listener = std::make_unique<Listener>(std::move(function));
    brew_compiler_options_on_diagnostic(
        get(),
        [](void *user, const brew_diagnostic *diagnostic) {
          (*static_cast<Listener *>(user))(Diagnostic(*diagnostic));
        },
        listener.get());
  }

  brew_compiler_options *get() const { return handle.get(); }

private:
  void check(brew_status status) {
    if (status != BREW_OK)
      throw Error(status, brew_compiler_options_message(get()));
  }
  struct Destroy {
    void operator()(brew_compiler_options *options) const {
      brew_compiler_options_destroy(options);
    }
  };
  std::unique_ptr<brew_compiler_options, Destroy> handle;
  std::unique_ptr<Listener> listener;
};

/// A text requested by option "emit"; valid as long as the compilation.
struct CompilerArtifact {
  std::string_view name, text;
};

/// A finished compilation, successful or not.
class Compilation {
public:
  static Compilation ofFile(const std::string &path,
                            const CompilerOptions &options = {}) {
    return make([&](brew_compilation **made) {
      return brew_compile_file(options.get(), path.c_str(), made);
    });
  }
  static Compilation ofText(std::string_view text, const std::string &name,
                            const CompilerOptions &options = {},
                            const std::string &folder = "") {
    return make([&](brew_compilation **made) {
      return brew_compile_text(options.get(), text.data(), text.size(),
                               name.c_str(), folder.c_str(), made);
    });
  }
  static Compilation upgradeFile(const std::string &path,
                                 const CompilerOptions &options = {}) {
    return make([&](brew_compilation **made) {
      return brew_upgrade_file(options.get(), path.c_str(), made);
    });
  }
  static Compilation upgradeText(std::string_view text, const std::string &name,
                                 const CompilerOptions &options = {}) {
    return make([&](brew_compilation **made) {
      return brew_upgrade_text(options.get(), text.data(), text.size(),
                               name.c_str(), made);
    });
  }

  /// `net`: an encoded NetParameter.
  static Compilation describeNet(std::string_view net, const std::string &name,
                                 const CompilerOptions &options) {
    return make([&](brew_compilation **made) {
      return brew_describe_net(options.get(), net.data(), net.size(),
                               name.c_str(), made);
    });
  }

  brew_status status() const { return brew_compilation_status(get()); }
  bool succeeded() const { return status() == BREW_OK; }
  /// Returns the first error, with its location.
  std::string message() const { return brew_compilation_message(get()); }

  std::vector<Diagnostic> diagnostics() const {
    std::vector<Diagnostic> result;
    auto each = makeStruct<brew_diagnostic>();
    for (size_t i = 0; brew_compilation_diagnostic(get(), i, &each) == BREW_OK;
         ++i)
      result.emplace_back(each);
    return result;
  }

  std::string_view plan() const { return output(BREW_OUTPUT_PLAN); }
  std::string_view report() const { return output(BREW_OUTPUT_REPORT); }
  std::string_view upgraded() const { return output(BREW_OUTPUT_UPGRADED); }
  /// The results of describeNet(): encoded NetParameters.
  std::string_view net() const { return output(BREW_OUTPUT_NET); }
  std::string_view splitNet() const { return output(BREW_OUTPUT_SPLIT_NET); }

  std::vector<CompilerArtifact> artifacts() const {
    std::vector<CompilerArtifact> result;
    const char *name, *text;
    size_t size;
    for (size_t i = 0;
         brew_compilation_artifact(get(), i, &name, &text, &size) == BREW_OK;
         ++i)
      result.push_back({name, {text, size}});
    return result;
  }

  /// Throws Error.
  void write(brew_output what, const std::string &path) {
    const brew_status status =
        brew_compilation_write(get(), what, path.c_str());
    if (status != BREW_OK)
      throw Error(status, message());
  }

  brew_compilation *get() const { return handle.get(); }

private:
  template <typename Call> static Compilation make(Call call) {
    brew_compilation *made = nullptr;
    call(&made);
    if (!made)
      throw std::bad_alloc();
    Compilation result;
    result.handle.reset(made);
    return result;
  }
  Compilation() = default;

  std::string_view output(brew_output what) const {
    const char *bytes = "";
    size_t size = 0;
    brew_compilation_get(get(), what, &bytes, &size);
    return {bytes, size};
  }

  struct Destroy {
    void operator()(brew_compilation *compilation) const {
      brew_compilation_destroy(compilation);
    }
  };
  std::unique_ptr<brew_compilation, Destroy> handle;
};

/// Sets MLIR's and LLVM's own options for the process. Throws Error.
inline void setLlvmArguments(const std::vector<std::string> &arguments) {
  std::vector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  std::string message(4096, '\0');
  const brew_status status = brew_compiler_set_llvm_arguments(
      static_cast<int>(pointers.size()), pointers.data(), message.data(),
      message.size());
  if (status != BREW_OK)
    throw Error(status, message.c_str());
}

} // namespace brew::api
