//===- TensorBoardLog.cpp - Training log for TensorBoard ------------------===//

#include "runtime/train/watch/TensorBoardLog.h"

#include "plan/Contract.h"
#include "runtime/train/metrics/EpisodeMetrics.h"
#include "runtime/train/watch/Summaries.h"

#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <unistd.h>

namespace brew::runtime {
namespace {

tensorboard::Event makeEvent(int step) {
  tensorboard::Event event;
  event.set_wall_time(std::chrono::duration<double>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count());
  event.set_step(step);
  return event;
}

/// Returns a file name that does not exist yet. TensorBoard reads the files of
/// a folder in the order of their names, so names contain the creation time.
std::string newFileName(const std::string &folder) {
  char host[256] = "localhost";
  gethostname(host, sizeof host - 1);
  char start[64];
  std::snprintf(start, sizeof start, "/events.out.tfevents.%010lld.",
                static_cast<long long>(std::time(nullptr)));
  const std::string name =
      folder + start + host + "." + std::to_string(getpid()) + ".";
  int number = 0;
  while (std::filesystem::exists(name + std::to_string(number)))
    ++number;
  return name + std::to_string(number);
}

void addScalar(tensorboard::Summary &summary, const std::string &tag,
               double value) {
  tensorboard::Summary::Value &to = *summary.add_value();
  to.set_tag(tag);
  to.set_simple_value(static_cast<float>(value));
}

/// Adds the outputs as BLOB, or as BLOB/3 for one of several elements.
void addOutputs(tensorboard::Summary &summary, const std::string &prefix,
                const std::vector<OutputValue> &outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::size_t first = i;
    while (first > 0 && outputs[first - 1].blob == outputs[i].blob)
      --first;
    const bool hasSeveral =
        first < i ||
        (i + 1 < outputs.size() && outputs[i + 1].blob == outputs[i].blob);
    addScalar(summary,
              prefix + outputs[i].blob +
                  (hasSeveral ? "/" + std::to_string(i - first) : ""),
              outputs[i].value);
  }
}

} // namespace

TensorBoardLog::TensorBoardLog(const std::string &folder,
                               Session &trainedSession, int iteration)
    : session(trainedSession), file(newFileName(folder)) {
  tensorboard::Event version = makeEvent(0);
  version.set_file_version("brain.Event:2");
  file.write(version.SerializeAsString());
  tensorboard::Event start = makeEvent(iteration);
  start.mutable_session_log()->set_status(tensorboard::SessionLog::START);
  file.write(start.SerializeAsString());
  const int program =
      session.executor().findProgram(plan::programs::kForwardBackward);
  tensorboard::Event graph = makeEvent(iteration);
  graph.set_graph_def(
      graphOf(session.manifest().programs(program)).SerializeAsString());
  file.write(graph.SerializeAsString());
}

void TensorBoardLog::add(const TrainRow &row) {
  tensorboard::Event event = makeEvent(row.display.iteration);
  tensorboard::Summary &summary = *event.mutable_summary();
  addScalar(summary, "train/loss", row.display.smoothedLoss);
  addScalar(summary, "train/lr", row.learningRate);
  if (row.speed && row.speed->itemsPerSecond > 0)
    addScalar(summary, "train/images_per_second", row.speed->itemsPerSecond);
  addOutputs(summary, "train/output/", row.display.outputs);
  file.write(event.SerializeAsString());
}

void TensorBoardLog::add(const TestRow &row) {
  tensorboard::Event event = makeEvent(row.test.iteration);
  const std::string net =
      row.test.net ? "test" + std::to_string(row.test.net) : "test";
  addOutputs(*event.mutable_summary(), net + "/", row.test.outputs);
  file.write(event.SerializeAsString());
}

void TensorBoardLog::add(const EpisodeRow &row) {
  tensorboard::Event event = makeEvent(row.episode.iteration);
  addOutputs(*event.mutable_summary(), "episode/", episodeMetrics(row.episode));
  file.write(event.SerializeAsString());
}

void TensorBoardLog::addParameters(int iteration, bool gradients) {
  const Parameters &parameters = session.parameters();
  bool filtersAdded = false;
  // Write a record for each value, since all together may be as large as the
  // net.
  auto write = [&](const std::string &tag, auto &&fill) {
    tensorboard::Event event = makeEvent(iteration);
    tensorboard::Summary::Value &value = *event.mutable_summary()->add_value();
    value.set_tag(tag);
    fill(value);
    file.write(event.SerializeAsString());
  };
  auto writeHistogram = [&](const std::string &tag, const formats::Blob &blob) {
    if (const auto histogram = histogramOf(blob))
      write(tag, [&](auto &value) { *value.mutable_histo() = *histogram; });
  };
  for (const plan::Parameter &parameter : session.manifest().parameters()) {
    const std::string name =
        parameter.layer() + "/" + std::to_string(parameter.index());
    const std::vector<std::int64_t> dims(parameter.file_dims().begin(),
                                         parameter.file_dims().end());
    const formats::Blob values =
        parameters.read(parameter.buffer_index(), dims);
    writeHistogram("weights/" + name, values);
    if (gradients && parameter.has_gradient_buffer_index())
      writeHistogram("gradients/" + name,
                     parameters.read(parameter.gradient_buffer_index(), dims));
    if (filtersAdded || parameter.layer_type() != "Convolution" ||
        parameter.index() != 0)
      continue;
    filtersAdded = true;
    if (const auto image = filterImage(values))
      write("filters/" + parameter.layer(),
            [&](auto &value) { *value.mutable_image() = *image; });
  }
}

} // namespace brew::runtime
