//===- EvalCommand.cpp - brew-run eval ------------------------------------===//
//
// Runs one program once on given inputs and writes everything that can be read
// afterwards: the door through which recorded values are compared.
//
//===----------------------------------------------------------------------===//

#include "Session.h"

#include "formats/Error.h"
#include "formats/Hdf5.h"
#include "runtime/ItemCounts.h"
#include "runtime/data/Feeder.h"
#include "runtime/log/Log.h"
#include "runtime/weights/Layout.h"

#include <memory>

namespace brew::run {
namespace {

struct Options {
  PlanOptions plan;
  std::string inputs, outputs, program;
  std::vector<std::string> weights;
  bool gradients = false;
  std::uint64_t seed = 0;
};

/// Hands `/inputs/BLOB` to the feeder; the number of values must fit. Blobs
/// that the program does not take (it may have no use for them) are named in a
/// warning; one that it takes and the file lacks is an error.
void setInputs(runtime::Feeder &feeder, const std::string &path) {
  formats::Hdf5Reader reader(path);
  const std::string group = "/inputs/";
  for (const std::string &name : reader.datasets("/inputs")) {
    const std::string blob = name.substr(group.size());
    if (!feeder.find(blob)) {
      log::warning(log::site::brew, path + ": " + name +
                                        " is not used: the program has no "
                                        "input of this name");
      continue;
    }
    const std::vector<double> values = reader.readDoubles(name);
    feeder.set(blob, values.data(), static_cast<std::int64_t>(values.size()));
  }
  std::string missing;
  for (const std::string &blob : feeder.unset())
    missing += (missing.empty() ? "" : ", ") + ("/inputs/" + blob);
  if (!missing.empty())
    throw badInput(path + ": lacks inputs of the program: " + missing);
}

class Writer {
public:
  Writer(runtime::Executor &planExecutor, const plan::Program &itsProgram,
         const std::string &path)
      : executor(planExecutor), program(itsProgram), file(path) {}

  /// The first values of the buffer, as many as `dims` have.
  void write(const std::string &name, std::uint32_t index,
             const std::vector<std::int64_t> &dims) {
    const plan::Buffer &buffer =
        executor.manifest().buffers(static_cast<int>(index));
    const auto count = static_cast<std::size_t>(plan::elementCount(buffer));
    executor.read(index, [&](const std::byte *bytes) {
      if (buffer.type() == plan::F64) {
        std::vector<double> values(count);
        runtime::load(buffer, bytes, values.data());
        file.write(name, dims, values.data());
      } else {
        std::vector<float> values(count);
        runtime::load(buffer, bytes, values.data());
        file.write(name, dims, values.data());
      }
    });
  }
  void write(const std::string &name, const plan::NamedBuffer &named) {
    write(name, named.buffer_index(),
          runtime::dimsAfterRun(executor.manifest(), program, executor,
                                named.name(), named.buffer_index()));
  }
  void commit() { file.commit(); }

private:
  runtime::Executor &executor;
  const plan::Program &program;
  formats::Hdf5Writer file;
};

/// Whether `named` is a parameter's gradient, LAYER/INDEX. The buffer alone
/// does not tell: a blob's gradient may lie in the same one (a bias as large as
/// its bottom).
bool isParameterGradient(const plan::Manifest &manifest,
                         const plan::NamedBuffer &named) {
  for (const plan::Parameter &parameter : manifest.parameters())
    if (parameter.has_gradient_buffer_index() &&
        parameter.gradient_buffer_index() == named.buffer_index() &&
        parameter.layer() + "/" + std::to_string(parameter.index()) ==
            named.name())
      return true;
  return false;
}

int eval(const Options &options) {
  Session session(options.plan, options.seed);
  const plan::Manifest &manifest = session.manifest();
  std::vector<std::string> preferred = {"main", "deploy", "test_0"};
  if (options.gradients)
    preferred = {"main", "forward_backward"};
  const int index = session.chooseProgram(options.program, preferred);
  const plan::Program &program = manifest.programs(index);
  if (options.gradients &&
      static_cast<int>(program.first_backward_step()) >= program.steps_size() &&
      program.blob_gradients().empty())
    throw Error(ExitStatus::Usage,
                "the program '" + program.name() +
                    "' computes no gradients; compile the net with "
                    "--gradients");

  session.initialise(options.weights);
  runtime::Feeder &feeder = session.feeder(index);
  setInputs(feeder, options.inputs);
  feeder.feed();
  session.executor().run(index);

  Writer writer(session.executor(), program, options.outputs);
  for (const plan::NamedBuffer &blob : program.blobs())
    writer.write("/data/" + blob.name(), blob);
  if (options.gradients)
    for (const plan::NamedBuffer &gradient : program.blob_gradients())
      if (!isParameterGradient(manifest, gradient))
        writer.write("/diff/" + gradient.name(), gradient);
  for (const auto &layer : session.parameters().layers())
    for (std::size_t i = 0; i < layer.blobs.size(); ++i) {
      const runtime::FileBlob &blob = layer.blobs[i];
      if (!blob.parameter)
        continue;
      const std::string suffix = "/" + layer.name + "/" + std::to_string(i);
      if (options.gradients && blob.parameter->has_gradient_buffer_index())
        writer.write("/param_diff" + suffix,
                     blob.parameter->gradient_buffer_index(), blob.dims);
      // Only a training pass changes parameters (running statistics).
      if (!program.test_phase())
        writer.write("/param_after" + suffix, blob.parameter->buffer_index(),
                     blob.dims);
    }
  writer.commit();
  return 0;
}

} // namespace

void addEval(CLI::App &app, Action &action) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "eval", "Run a program once on inputs from an HDF5 file");
  addPlanOptions(*command, options->plan);
  command
      ->add_option("--inputs", options->inputs, "HDF5 file with /inputs/BLOB")
      ->required();
  command
      ->add_option("--outputs", options->outputs,
                   "HDF5 file to write: /data/BLOB, with --gradients also "
                   "/diff/BLOB and /param_diff/LAYER/I; /param_after/LAYER/I")
      ->required();
  command->add_option("--weights", options->weights,
                      "Weights (files separated by commas)");
  command->add_flag("--gradients", options->gradients,
                    "Write gradients of the total loss too");
  command->add_option("--program", options->program,
                      "Program to run (default: the only one, deploy or "
                      "test_0; forward_backward with --gradients)");
  command->add_option("--random-seed", options->seed,
                      "Seed of fillers and transformations");
  command->callback(
      [options, &action] { action = [options] { return eval(*options); }; });
}

} // namespace brew::run
