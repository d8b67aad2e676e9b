//===- Session.cpp - C API: sessions --------------------------------------===//

#include "runtime/api/Handles.h"

#include "formats/WeightFile.h"
#include "runtime/caffe_log/CaffeLog.h"
#include "runtime/session/NetOutputs.h"
#include "runtime/train/DebugInfo.h"
#include "runtime/train/SolverScalars.h"
#include "runtime/train/Trainer.h"

using namespace brew;
using namespace brew::api;

int brew_session::program(int number) const {
  if (number < 0 || number >= get().manifest().programs_size())
    throw usage("the plan has no program of number " + std::to_string(number));
  return number;
}

namespace {

runtime::SessionOptions runtimeOptionsOf(const brew_session_options &options) {
  runtime::SessionOptions result;
  if (options.options)
    options.options->set.applyTo(result);
  if (options.gpu < 0)
    throw usage("the GPU's number is negative");
  runtime::ExecutorOptions &device = result.device;
  device.gpu = options.gpu;
  if (options.pool) {
    if (!options.pool->pool)
      throw usage("the pool could not be opened");
    device.pool = options.pool->pool;
  }
  device.hostLayerTypes =
      hostTypesOf(options.host_layers, options.host_layer_count);
  if (options.communicator) {
    if (!options.communicator->communicator)
      throw usage("the communicator could not be opened");
    device.communicator = options.communicator->communicator;
  }
  if (options.reader_ranks) {
    if (options.communicator)
      throw usage("a communicator's ranks already share the records");
    if (options.reader_rank < 0 || options.reader_rank >= options.reader_ranks)
      throw usage("there is no rank " + std::to_string(options.reader_rank) +
                  " of " + std::to_string(options.reader_ranks));
    result.readerOptions.rank = static_cast<std::uint64_t>(options.reader_rank);
    result.readerOptions.ranks =
        static_cast<std::uint64_t>(options.reader_ranks);
  }
  if (options.folder)
    result.folder = options.folder;
  if (options.share_parameters)
    result.shareParameters = &options.share_parameters->get();

  std::vector<runtime::Events::Listener> listeners;
  if (options.listener)
    listeners.push_back(listenerOf(options.listener, options.listener_user));
  if (options.log)
    listeners.push_back(runtime::CaffeLog(
        [function = options.log, user = options.log_user](
            log::Severity severity, log::Site site, const std::string &line) {
          function(static_cast<brew_log_severity>(severity), site.file,
                   site.line, line.c_str(), user);
        }));
  if (options.log_to_stderr)
    listeners.push_back(runtime::CaffeLog());
  if (listeners.size() == 1)
    result.listener = std::move(listeners.front());
  else if (!listeners.empty())
    result.listener = [listeners](const runtime::Event &event) {
      for (const runtime::Events::Listener &listener : listeners)
        listener(event);
    };
  return result;
}

runtime::Pass passOf(brew_pass pass) {
  switch (pass) {
  case BREW_FORWARD:
    return runtime::Pass::Forward;
  case BREW_BACKWARD:
    return runtime::Pass::Backward;
  case BREW_FORWARD_BACKWARD:
    return runtime::Pass::Both;
  }
  throw usage("there is no such pass");
}

} // namespace

std::vector<brew_output_value>
brew::api::viewsOf(const std::vector<runtime::OutputValue> &outputs) {
  std::vector<brew_output_value> views;
  for (const runtime::OutputValue &output : outputs)
    views.push_back({output.blob.c_str(), output.value, output.lossWeight});
  return views;
}

std::vector<runtime::OutputValue>
brew::api::outputsOf(const brew_output_value *outputs, std::size_t count) {
  if (count && !outputs)
    throw usage("the outputs are NULL");
  std::vector<runtime::OutputValue> result;
  for (std::size_t i = 0; i < count; ++i)
    result.push_back({text(outputs[i].blob, "the name of an output"),
                      outputs[i].value, outputs[i].loss_weight});
  return result;
}

//===----------------------------------------------------------------------===//
// Thread pools, opening, listeners
//===----------------------------------------------------------------------===//

brew_status brew_thread_pool_open(const brew_thread_pool_options *options,
                                  brew_thread_pool **pool) {
  return api::open(pool, [&](brew_thread_pool &handle) {
    const brew_thread_pool_options cOptions = copyFromCaller(options);
    if (cOptions.threads < 0)
      throw usage("the number of threads is negative");
    handle.pool = std::make_shared<runtime::WorkerPool>(cOptions.threads);
  });
}

const char *brew_thread_pool_message(const brew_thread_pool *pool) {
  return pool ? pool->message.text() : Message::outOfMemory();
}

void brew_thread_pool_destroy(brew_thread_pool *pool) { delete pool; }

brew_status brew_session_open(const brew_plan *plan,
                              const brew_session_options *options,
                              brew_session **session) {
  return api::open(session, [&](brew_session &handle) {
    if (!plan || !plan->file)
      throw usage("there is no open plan");
    handle.session = std::make_shared<runtime::Session>(
        plan->file, runtimeOptionsOf(copyFromCaller(options)));
    handle.device = handle.session->executor().description();
  });
}

const char *brew_session_message(const brew_session *session) {
  return session ? session->message.text() : Message::outOfMemory();
}

void brew_session_destroy(brew_session *session) { delete session; }

const char *brew_session_device(const brew_session *session) {
  return session ? session->device.c_str() : "";
}

brew_status brew_session_add_listener(brew_session *session,
                                      brew_event_function listener, void *user,
                                      int *number) {
  return on(session, [&](runtime::Session &runtimeSession) {
    if (!listener)
      throw usage("the listener is NULL");
    const int added = runtimeSession.events().add(listenerOf(listener, user));
    if (number)
      *number = added;
  });
}

brew_status brew_session_remove_listener(brew_session *session, int number) {
  return on(session, [&](runtime::Session &runtimeSession) {
    runtimeSession.events().remove(number);
  });
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

brew_status brew_session_initialise(brew_session *session,
                                    const char *const *weights,
                                    size_t weight_count, unsigned flags) {
  return on(session, [&](runtime::Session &runtimeSession) {
    if (flags & ~unsigned(BREW_REQUIRE_WEIGHTS))
      throw usage("there is no such flag");
    runtimeSession.initialise(
        textsOf(weights, weight_count, "the names of weight files"),
        flags & BREW_REQUIRE_WEIGHTS);
  });
}

brew_status brew_session_load_weights(brew_session *session,
                                      const char *const *weights,
                                      size_t weight_count) {
  return on(session, [&](runtime::Session &runtimeSession) {
    runtimeSession.loadWeights(
        textsOf(weights, weight_count, "the names of weight files"));
  });
}

brew_status brew_session_save_weights(brew_session *session, const char *path) {
  return readOf(session, [&](runtime::Session &runtimeSession) {
    const std::string name = text(path, "the path");
    const bool isHdf5 =
        name.size() > 3 && name.compare(name.size() - 3, 3, ".h5") == 0;
    formats::writeWeights(name, runtimeSession.parameters().save(),
                          isHdf5 ? formats::SnapshotFormat::Hdf5
                                 : formats::SnapshotFormat::BinaryProto);
  });
}

brew_status brew_session_prepare(brew_session *session) {
  return readOf(session, [&](runtime::Session &runtimeSession) {
    runtimeSession.prepare();
  });
}

brew_status brew_session_reset_state(brew_session *session) {
  return on(session, [&](runtime::Session &runtimeSession) {
    runtimeSession.resetState();
  });
}

brew_status brew_session_set_seed(brew_session *session, uint64_t seed) {
  return on(session, [&](runtime::Session &runtimeSession) {
    runtimeSession.setSeed(runtimeSession.rankSeed(seed));
  });
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

brew_status brew_session_feed(brew_session *session, int program) {
  return on(session, program,
            [&](runtime::Session &runtimeSession, int number) {
              runtimeSession.inputs(number).feed();
            });
}

brew_status brew_session_run(brew_session *session, int program,
                             brew_pass pass) {
  return on(session, program,
            [&](runtime::Session &runtimeSession, int number) {
              runtimeSession.run(number, passOf(pass));
            });
}

brew_status brew_session_feed_and_run(brew_session *session, int program) {
  return on(session, program,
            [&](runtime::Session &runtimeSession, int number) {
              runtimeSession.feedAndRun(number);
            });
}

brew_status brew_session_run_layers(brew_session *session, int program,
                                    const char *first, const char *last,
                                    brew_pass pass) {
  return on(session, program,
            [&](runtime::Session &runtimeSession, int number) {
              runtimeSession.runLayers(number, first ? first : "",
                                       last ? last : "", passOf(pass));
            });
}

size_t brew_session_layer_count(brew_session *session, int program) {
  size_t count = 0;
  on(session, program, [&](runtime::Session &runtimeSession, int number) {
    count = runtimeSession.layers(number).size();
  });
  return count;
}

const char *brew_session_layer(brew_session *session, int program,
                               size_t index) {
  const char *name = nullptr;
  on(session, program, [&](runtime::Session &runtimeSession, int number) {
    const std::vector<std::string> layers = runtimeSession.layers(number);
    if (index >= layers.size())
      throw usage("the program has no layer of this number");
    session->layer = layers[index];
    name = session->layer.c_str();
  });
  return name;
}

brew_status brew_session_run_timed(brew_session *session, int program,
                                   brew_step_function step, void *user) {
  return on(session, program,
            [&](runtime::Session &runtimeSession, int number) {
              if (!step)
                throw usage("the function to call is NULL");
              runtimeSession.executor().runTimed(
                  number, [&](std::size_t index, double seconds) {
                    step(index, seconds, user);
                  });
            });
}

brew_status brew_session_measure(brew_session *session, const int *programs,
                                 size_t program_count, int count,
                                 double *seconds,
                                 brew_measurement *measurement) {
  return on(session, [&](runtime::Session &runtimeSession) {
    if (!programs || !program_count || count < 1 || !seconds)
      throw usage(
          "there is nothing to measure, or the pointer to the times is NULL");
    const std::vector<int> numbers(programs, programs + program_count);
    for (int number : numbers)
      session->program(number);
    const runtime::Measurement measured =
        runtimeSession.executor().measure(numbers, count);
    std::copy(measured.seconds.begin(), measured.seconds.end(), seconds);
    if (!measurement)
      return;
    brew_measurement result{};
    result.graph_nodes = measured.graphNodes;
    result.device_bytes = measured.deviceBytes;
    copyToCaller(measurement, result);
  });
}

/// Returns the kind of a library call, for the caller.
static std::string kindOf(const plan::Step &step) {
  const bool isConvolution = step.has_convolution();
  const std::string name = isConvolution ? "convolution" : "inner product";
  switch (isConvolution ? step.convolution().direction()
                        : step.inner_product().direction()) {
  case plan::FORWARD:
    break;
  case plan::BACKWARD_DATA:
    return name + " backward data";
  case plan::BACKWARD_WEIGHTS:
    return name + " backward weights";
  }
  return name;
}

brew_status brew_session_tune(brew_session *session, brew_tune_function report,
                              void *user) {
  return on(session, [&](runtime::Session &runtimeSession) {
    runtimeSession.executor().tune([&](const runtime::TunedCall &call) {
      if (!report)
        return;
      const std::string kind = kindOf(runtimeSession.manifest()
                                          .programs(call.program)
                                          .steps(static_cast<int>(call.step)));
      brew_tuned_call tuned{};
      tuned.struct_size = sizeof tuned;
      tuned.program = call.program;
      tuned.step = call.step;
      tuned.kind = kind.c_str();
      tuned.untuned = call.untuned.name.c_str();
      tuned.fastest = call.fastest.name.c_str();
      tuned.untuned_seconds = call.untuned.seconds;
      tuned.fastest_seconds = call.fastest.seconds;
      report(&tuned, user);
    });
  });
}

brew_status brew_session_synchronize(brew_session *session) {
  return readOf(session, [&](runtime::Session &runtimeSession) {
    runtimeSession.executor().synchronize();
  });
}

brew_status brew_session_set_learning_rate(brew_session *session, double rate) {
  return on(session, [&](runtime::Session &runtimeSession) {
    runtime::SolverScalars scalars(runtimeSession.executor());
    scalars.setFields(runtime::solverOf(runtimeSession.manifest()), 0);
    scalars.set(plan::LEARNING_RATE, rate);
    scalars.set(plan::GRADIENT_SCALE, 1);
  });
}

brew_status brew_session_outputs(brew_session *session, int program,
                                 const brew_output_value **outputs,
                                 size_t *count) {
  return readOf(session, program,
                [&](runtime::Session &runtimeSession, int number) {
                  if (!outputs || !count)
                    throw usage("the pointer to the outputs is NULL");
                  session->outputs = runtimeSession.outputs(number);
                  session->outputViews = viewsOf(session->outputs);
                  *outputs = session->outputViews.data();
                  *count = session->outputViews.size();
                });
}

brew_status brew_session_loss(brew_session *session, int program,
                              double *loss) {
  return readOf(session, program,
                [&](runtime::Session &runtimeSession, int number) {
                  if (!loss)
                    throw usage("the pointer to the loss is NULL");
                  *loss = runtimeSession.loss(number);
                });
}

brew_status brew_session_score(brew_session *session, int program, int batches,
                               brew_batch_function batch, void *user,
                               const brew_output_value **means, size_t *count,
                               double *loss) {
  return on(
      session, program, [&](runtime::Session &runtimeSession, int number) {
        if (batches < 1)
          throw usage("the number of batches is less than 1");
        const plan::Program &description =
            runtimeSession.manifest().programs(number);
        const runtime::DebugInfo debug(description, runtimeSession.parameters(),
                                       runtimeSession.events());
        runtime::OutputMeans sums;
        double totalLoss = 0;
        for (int i = 0; i < batches; ++i) {
          runtimeSession.feedAndRun(number);
          if (runtime::DebugInfo::isCompiledIn(description))
            debug.logForward();
          totalLoss += runtimeSession.loss(number);
          const std::vector<runtime::OutputValue> outputs =
              runtimeSession.outputs(number);
          sums.add(outputs);
          if (batch) {
            const auto views = viewsOf(outputs);
            batch(i, views.data(), views.size(), user);
          }
        }
        session->outputs = sums.means();
        session->outputViews = viewsOf(session->outputs);
        if (means)
          *means = session->outputViews.data();
        if (count)
          *count = session->outputViews.size();
        if (loss)
          *loss = totalLoss / batches;
      });
}

brew_status brew_session_emit_net_set_up(brew_session *session, int program) {
  return on(session, program,
            [&](runtime::Session &runtimeSession, int number) {
              runtimeSession.emitNetSetUp(number);
            });
}

brew_status brew_session_emit_debug_info(brew_session *session, int program) {
  return on(session, program,
            [&](runtime::Session &runtimeSession, int number) {
              const plan::Program &description =
                  runtimeSession.manifest().programs(number);
              if (runtime::DebugInfo::isCompiledIn(description))
                runtime::DebugInfo(description, runtimeSession.parameters(),
                                   runtimeSession.events())
                    .logForward();
            });
}
