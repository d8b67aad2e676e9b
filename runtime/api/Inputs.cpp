//===- Inputs.cpp - C API: inputs of programs -----------------------------===//

#include "runtime/api/Handles.h"

#include "caffe/RandomStream.h"

#include <algorithm>

using namespace brew;
using namespace brew::api;

namespace {

/// Runs `body` with the data pipeline of a program.
template <typename Body>
brew_status withPipeline(brew_session *session, int program, Body &&body) {
  if (!session)
    return BREW_USAGE;
  return guarded(session->message, [&] {
    body(session->get().dataPipeline(session->program(program)));
  });
}

} // namespace

size_t brew_session_input_count(brew_session *session, int program) {
  size_t count = 0;
  withPipeline(session, program, [&](runtime::DataPipeline &pipeline) {
    count = pipeline.tops().size();
  });
  return count;
}

brew_status brew_session_get_input(brew_session *session, int program,
                                   size_t index, brew_input *input) {
  return withPipeline(session, program, [&](runtime::DataPipeline &pipeline) {
    const std::vector<std::string> tops = pipeline.tops();
    if (index >= tops.size())
      throw usage("the program has no input of this number");
    const std::string &top = tops[index];
    const std::vector<std::string> unset = pipeline.unsetTops();
    const plan::Buffer buffer = pipeline.lastBuffer(top);
    brew_input result{};
    result.name = session->internName(top);
    result.dtype = dtypeOf(buffer.type());
    result.ndim = setDims(result.dims, buffer.dims());
    result.count = plan::elementCount(buffer);
    result.needs_values =
        std::find(unset.begin(), unset.end(), top) != unset.end();
    copyToCaller(input, result);
  });
}

brew_status brew_session_set_input(brew_session *session, int program,
                                   const char *input, brew_dtype dtype,
                                   const void *values, int64_t count) {
  return withPipeline(session, program, [&](runtime::DataPipeline &pipeline) {
    const char *top = text(input, "the input's name");
    if (!values && count)
      throw usage("the values are NULL");
    withType(dtype, values,
             [&](const auto *typed) { pipeline.set(top, typed, count); });
  });
}

brew_status brew_session_read_input(brew_session *session, int program,
                                    const char *input, brew_dtype dtype,
                                    void *values, int64_t count) {
  return withPipeline(session, program, [&](runtime::DataPipeline &pipeline) {
    const char *top = text(input, "the input's name");
    if (!values && count)
      throw usage("the values are NULL");
    if (dtype == BREW_F32)
      pipeline.read(top, static_cast<float *>(values), count);
    else if (dtype == BREW_F64)
      pipeline.read(top, static_cast<double *>(values), count);
    else
      throw usage("values are BREW_F32 or BREW_F64");
  });
}

brew_status brew_session_set_feed(brew_session *session, int program,
                                  const char *const *inputs, size_t input_count,
                                  brew_feed_function feed, void *user) {
  return withPipeline(session, program, [&](runtime::DataPipeline &pipeline) {
    if (!feed)
      throw usage("the feed's function is NULL");
    auto callFeed =
        [feed, user](const std::vector<runtime::DataPipeline::Request> &batch) {
          std::vector<brew_feed_request> requests;
          for (const runtime::DataPipeline::Request &request : batch)
            requests.push_back(
                {request.top.c_str(), request.isDouble ? BREW_F64 : BREW_F32,
                 request.dims.size(), request.dims.data(), request.count,
                 request.isDouble ? static_cast<void *>(request.doubles)
                                  : static_cast<void *>(request.floats)});
          const brew_status status =
              feed(requests.data(), requests.size(), user);
          if (status != BREW_OK)
            throw Error(static_cast<ExitStatus>(status),
                        "the function that feeds '" + batch.front().top +
                            "' failed");
        };
    pipeline.setCallback(textsOf(inputs, input_count, "the inputs' names"),
                         callFeed);
  });
}

brew_status brew_session_set_random_inputs(brew_session *session, int program,
                                           uint64_t seed) {
  return withPipeline(session, program, [&](runtime::DataPipeline &pipeline) {
    const caffe::RandomStream stream(seed, "time");
    for (const std::string &top : pipeline.tops()) {
      const plan::Buffer &buffer = *pipeline.find(top);
      std::vector<float> values(
          static_cast<std::size_t>(plan::elementCount(buffer)));
      // Blobs of one dimension are labels: zeros are valid for any loss.
      if (buffer.dims_size() > 1)
        for (std::size_t i = 0; i < values.size(); ++i)
          values[i] = static_cast<float>(stream.uniform(i));
      pipeline.set(top, values.data(),
                   static_cast<std::int64_t>(values.size()));
    }
  });
}

brew_status brew_session_open_sources(brew_session *session, int program) {
  return withPipeline(session, program, [](runtime::DataPipeline &pipeline) {
    pipeline.start();
  });
}

brew_status brew_session_reset_sources(brew_session *session, int program,
                                       uint64_t seed) {
  if (!session)
    return BREW_USAGE;
  return guarded(session->message, [&] {
    session->get()
        .inputs(session->program(program))
        .reset(session->get().rankSeed(seed));
  });
}
