//===- EvalCommand.cpp - brew-run eval ------------------------------------===//
//
// Runs one program once on given inputs and writes all readable tensors, for
// comparisons with recorded values. Alternatively, runs the program on batches
// of its data layers and writes these batches.
//
//===----------------------------------------------------------------------===//

#include "Log.h"
#include "Session.h"
#include "SignalActions.h"
#include "support/AtomicFile.h"

#include <algorithm>
#include <memory>

namespace brew::run {
namespace {

struct EvalOptions {
  PlanOptions plan;
  std::string inputs, outputs, program;
  std::vector<std::string> weights;
  bool gradients = false, fromSource = false;
  int batches = 1;
};

using Dims = std::vector<std::int64_t>;

std::string dimsText(const Dims &dims) {
  std::string text;
  for (std::int64_t dim : dims)
    text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text;
}

/// Throws Error (1) unless a dataset has an input's dimensions. Dimensions of 1
/// do not count, and a dataset of one dimension needs only as many values.
void requireDims(const std::string &dataset, const Dims &dims,
                 const Dims &expected) {
  auto withoutOnes = [](Dims all) {
    all.erase(std::remove(all.begin(), all.end(), 1), all.end());
    return all;
  };
  const Dims significant = withoutOnes(dims);
  if (significant.size() > 1 && significant != withoutOnes(expected))
    throw badInput(dataset + " is " + dimsText(dims) + ", and the input is " +
                   dimsText(expected));
}

/// Sets the program's inputs from the datasets `/inputs/BLOB`. Warns about
/// datasets that are not inputs of the program. Throws Error (1) if an input is
/// missing or has another shape.
void setInputs(Session &session, int program, const std::string &path) {
  api::TensorFile file(path, BREW_READ);
  const std::string group = "/inputs/";
  for (const std::string &name : file.list("/inputs")) {
    const std::string blob = name.substr(group.size());
    const std::optional<brew_input> input = session.findInput(program, blob);
    if (!input) {
      log::warning(log::site::brew, path + ": " + name +
                                        " is not used: the program has no "
                                        "input of this name");
      continue;
    }
    const brew_dataset dataset = file.find(name);
    requireDims(path + ": " + name, {dataset.dims, dataset.dims + dataset.ndim},
                {input->dims, input->dims + input->ndim});
    session.setInput(program, blob, file.read<double>(name));
  }
  std::string missing;
  for (std::size_t i = 0; i < session.inputs(program); ++i)
    if (const brew_input input = session.input(program, i); input.needs_values)
      missing += (missing.empty() ? "" : ", ") +
                 ("/inputs/" + std::string(input.name));
  if (!missing.empty())
    throw badInput(path + ": lacks inputs of the program: " + missing);
}

/// Sets the output gradients from the datasets `/output_gradients/BLOB`, or to
/// 0 without --gradients. Throws Error (1) if a dataset is missing or has a
/// different number of values.
void setOutputGradients(Session &session, int program,
                        const EvalOptions &options) {
  std::string missing;
  for (const api::TensorName &gradient :
       session.names(BREW_OUTPUT_GRADIENT, program)) {
    const brew_tensor tensor = session.find(gradient);
    std::vector<double> values(static_cast<std::size_t>(tensor.capacity));
    const std::string name = "/output_gradients/" + gradient.name;
    api::TensorFile file(options.inputs, BREW_READ);
    const std::vector<std::string> present = file.list("/output_gradients");
    if (!options.gradients) {
      // Zeros suffice, because no gradient is read.
    } else if (std::find(present.begin(), present.end(), name) ==
               present.end()) {
      missing += (missing.empty() ? "" : ", ") + name;
    } else {
      values = file.read<double>(name);
      if (static_cast<std::int64_t>(values.size()) != tensor.capacity)
        throw badInput(options.inputs + ": " + name + " has " +
                       std::to_string(values.size()) +
                       " values; the plan was built for " +
                       std::to_string(tensor.capacity));
    }
    session.write(gradient, values);
  }
  if (!missing.empty())
    throw badInput(options.inputs +
                   ": lacks output gradients of the program: " + missing);
}

/// Writes a tensor's values as `name`.
void writeTensor(api::TensorFile &file, const std::string &name,
                 Session &session, const api::TensorName &tensor) {
  const brew_tensor description = session.find(tensor);
  const std::vector<std::int64_t> dims(
      description.shape, description.shape + description.shape_ndim);
  if (description.dtype == BREW_F64)
    file.write(name, dims, session.read<double>(tensor).data());
  else
    file.write(name, dims, session.read<float>(tensor).data());
}

/// Writes the batches of the data layers, from the beginning of their sources.
void evalSources(Session &session, int program, const EvalOptions &options) {
  const StopSignals signals; // before the file is created
  api::TensorFile file(options.outputs, BREW_WRITE);
  for (int batch = 0; batch < options.batches; ++batch) {
    signals.check();
    session.feed(program);
    for (std::size_t i = 0; i < session.inputs(program); ++i) {
      const brew_input input = session.input(program, i);
      if (input.needs_values)
        continue; // not from a data layer
      const std::string name =
          "/batch/" + std::to_string(batch) + "/" + input.name;
      const std::vector<std::int64_t> dims(input.dims, input.dims + input.ndim);
      if (input.dtype == BREW_F64)
        file.write(name, dims,
                   session.readInput<double>(program, input).data());
      else
        file.write(name, dims, session.readInput<float>(program, input).data());
    }
    session.run(program);
  }
  file.commit();
}

/// Sets the parameters. An inference net without weights gives a warning.
void initialise(Session &session, int program,
                const std::vector<std::string> &weights) {
  const bool isInference = !session.plan.info().trainable &&
                           !session.plan.programInfo(program).has_backward;
  if (isInference && weights.empty())
    try {
      return session.initialise({}, /*required=*/true);
    } catch (const api::Error &error) {
      if (error.status() != BREW_USAGE)
        throw;
      log::warning(log::site::brew,
                   "the plan has no weights and --weights gives none: the "
                   "parameters have the values of their fillers");
    }
  session.initialise(weights);
}

int eval(const EvalOptions &options) {
  if (options.fromSource == !options.inputs.empty())
    throw usage("use either --inputs or --from-source");
  if (options.fromSource && options.gradients)
    throw usage("--gradients needs --inputs");
  requireWritable(options.outputs);
  Session session(options.plan);
  std::vector<std::string> preferred = {"main", "deploy", "test_0"};
  if (options.gradients)
    preferred = {"main", "forward_backward"};
  const int program = session.chooseProgram(options.program, preferred);
  const brew_program_info info = session.plan.programInfo(program);
  if (options.gradients && !info.has_backward)
    throw usage("the program '" + std::string(info.name) +
                "' computes no gradients; recompile the net with --gradients");

  initialise(session, program, options.weights);
  if (options.fromSource) {
    evalSources(session, program, options);
    return 0;
  }
  setInputs(session, program, options.inputs);
  session.feed(program);
  setOutputGradients(session, program, options);
  session.run(program);

  api::TensorFile file(options.outputs, BREW_WRITE);
  auto writeAll = [&](const std::string &group, brew_tensor_kind kind) {
    for (const api::TensorName &name : session.names(kind, program))
      writeTensor(file,
                  group + name.name +
                      (kind == BREW_PARAMETER || kind == BREW_PARAMETER_GRADIENT
                           ? "/" + std::to_string(name.index)
                           : ""),
                  session, name);
  };
  writeAll("/data/", BREW_BLOB);
  if (options.gradients) {
    writeAll("/diff/", BREW_BLOB_GRADIENT);
    writeAll("/param_diff/", BREW_PARAMETER_GRADIENT);
  }
  // Only training programs change parameters (running statistics).
  if (!info.test_phase)
    writeAll("/param_after/", BREW_PARAMETER);
  file.commit();
  return 0;
}

} // namespace

void addEval(CLI::App &app, Action &action) {
  auto options = std::make_shared<EvalOptions>();
  CLI::App *command = app.add_subcommand(
      "eval", "Run a program once on inputs from an HDF5 file, or on "
              "batches of its data layers");
  addPlanOptions(*command, options->plan);
  command
      ->add_option(
          "--inputs", options->inputs,
          "HDF5 file with /inputs/BLOB, and /output_gradients/BLOB for "
          "the gradients of a plan compiled with --output-gradient")
      ->type_name("FILE");
  CLI::Option *fromSource = command->add_flag(
      "--from-source", options->fromSource,
      "Run on batches of the data layers and write these: /batch/N/BLOB");
  command
      ->add_option("--batches", options->batches,
                   "Batches to run with --from-source (default 1)")
      ->check(atLeast(1))
      ->needs(fromSource);
  command
      ->add_option("--outputs", options->outputs,
                   "HDF5 file to write: /data/BLOB, with --gradients also "
                   "/diff/BLOB and /param_diff/LAYER/I; /param_after/LAYER/I")
      ->type_name("FILE")
      ->required();
  addWeightOptions(*command, options->weights);
  command->add_flag("--gradients", options->gradients,
                    "Also write gradients of the total loss");
  command
      ->add_option("--program", options->program,
                   "Program to run (default: the only one, deploy or "
                   "test_0; forward_backward with --gradients)")
      ->type_name("NAME");
  command->callback(
      [options, &action] { action = [options] { return eval(*options); }; });
}

} // namespace brew::run
