//===- FeaturesCommand.cpp - brew-run features ----------------------------===//
//
// Runs a net on the batches of its data layers and writes blobs, one record per
// row, as Caffe's extract_features does.
//
//===----------------------------------------------------------------------===//

#include "FeatureFile.h"
#include "Log.h"
#include "Session.h"
#include "SignalActions.h"

#include <filesystem>
#include <memory>
#include <set>

namespace brew::run {
namespace {

struct FeaturesOptions {
  PlanOptions plan;
  std::vector<std::string> weights, blobs, outputs;
  std::string program, format = "lmdb";
  int batches = 0;
  bool overwrite = false;
};

int extract(const FeaturesOptions &options) {
  if (options.blobs.size() != options.outputs.size())
    throw usage(std::to_string(options.blobs.size()) + " blobs, but " +
                std::to_string(options.outputs.size()) +
                " outputs: each blob needs its own output");
  std::set<std::filesystem::path> paths;
  for (const std::string &output : options.outputs) {
    if (output.empty())
      throw usage("an output has no name");
    std::error_code unknown; // the current folder may not exist
    std::filesystem::path path =
        std::filesystem::absolute(output, unknown).lexically_normal();
    if (!path.has_filename()) // "features/"
      path = path.parent_path();
    if (!paths.insert(path).second)
      throw usage("'" + output + "' is given for two blobs");
  }
  Session session(options.plan);
  const int program =
      session.chooseProgram(options.program, {"main", "deploy", "test_0"});
  session.initialise(options.weights, /*required=*/true);
  const StopSignals signals; // before files are created
  std::vector<std::unique_ptr<FeatureFile>> files;
  std::vector<api::TensorName> names;
  for (std::size_t i = 0; i < options.blobs.size(); ++i) {
    api::TensorName name;
    name.kind = BREW_BLOB;
    name.name = options.blobs[i];
    name.program = program;
    session.find(name); // throws before anything is computed
    names.push_back(name);
    files.push_back(openFeatureFile(options.outputs[i], options.format,
                                    options.blobs[i], options.overwrite));
  }
  log::info(log::site::brew, "Extracting Features");
  for (int batch = 0; batch < options.batches; ++batch) {
    signals.check();
    session.feed(program);
    session.run(program);
    for (std::size_t i = 0; i < files.size(); ++i) {
      const brew_tensor tensor = session.find(names[i]);
      files[i]->append({tensor.shape, tensor.shape + tensor.shape_ndim},
                       session.read<float>(names[i]));
    }
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    files[i]->finish();
    log::info(log::site::brew,
              "Extracted features of " + std::to_string(files[i]->rows()) +
                  " query images for feature blob " + options.blobs[i]);
  }
  log::info(log::site::brew, "Successfully extracted the features!");
  return 0;
}

} // namespace

void addFeatures(CLI::App &app, Action &action) {
  auto options = std::make_shared<FeaturesOptions>();
  CLI::App *command = app.add_subcommand(
      "features", "Write blobs of a net for the batches of its data layers");
  addPlanOptions(*command, options->plan);
  command
      ->add_option("--blobs", options->blobs,
                   "Blobs to write; they must be pinned (brewc --keep)")
      ->type_name("BLOB,...")
      ->delimiter(',')
      ->required();
  command
      ->add_option("--outputs", options->outputs,
                   "A database or file for each blob")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->required();
  command->add_option("--batches", options->batches, "Batches to run")
      ->check(atLeast(1))
      ->required();
  command
      ->add_option("--format", options->format,
                   "lmdb (default), leveldb, hdf5 or npy")
      ->transform(
          CLI::IsMember({"lmdb", "leveldb", "hdf5", "npy"}, CLI::ignore_case));
  command->add_flag("--overwrite", options->overwrite,
                    "Replace existing databases");
  addWeightOptions(*command, options->weights);
  command
      ->add_option("--program", options->program,
                   "Program to run (default: the only one, deploy or "
                   "test_0)")
      ->type_name("NAME");
  command->callback(
      [options, &action] { action = [options] { return extract(*options); }; });
}

} // namespace brew::run
