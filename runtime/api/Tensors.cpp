//===- Tensors.cpp - C API: tensors by name -------------------------------===//

#include "caffe/Filler.h"
#include "caffe/Slices.h"
#include "formats/caffe.pb.h"
#include "runtime/api/Handles.h"
#include "runtime/executor/ItemCounts.h"

#include <google/protobuf/text_format.h>

#include <thread>

using namespace brew;
using namespace brew::api;

namespace {

runtime::TensorKind kindOf(brew_tensor_kind kind) {
  switch (kind) {
  case BREW_BLOB:
    return runtime::TensorKind::Blob;
  case BREW_BLOB_GRADIENT:
    return runtime::TensorKind::BlobGradient;
  case BREW_PARAMETER:
    return runtime::TensorKind::Parameter;
  case BREW_PARAMETER_GRADIENT:
    return runtime::TensorKind::ParameterGradient;
  case BREW_SOLVER_STATE:
    return runtime::TensorKind::SolverState;
  case BREW_PERSISTENT_STATE:
    return runtime::TensorKind::PersistentState;
  case BREW_OUTPUT_GRADIENT:
    return runtime::TensorKind::OutputGradient;
  }
  throw usage("there is no such kind of tensor");
}

bool belongsToProgram(runtime::TensorKind kind) {
  return kind == runtime::TensorKind::Blob ||
         kind == runtime::TensorKind::BlobGradient ||
         kind == runtime::TensorKind::OutputGradient;
}

runtime::TensorName nameOf(const brew_session &session,
                           const brew_tensor_name *cName) {
  if (!cName)
    throw usage("the tensor's name is NULL");
  const brew_tensor_name name = copyFromCaller(cName);
  runtime::TensorName result;
  result.kind = kindOf(name.kind);
  result.name = text(name.name, "the tensor's name");
  result.program =
      belongsToProgram(result.kind) ? session.program(name.program) : 0;
  result.index = name.index;
  result.slot = name.slot;
  return result;
}

/// Returns whether a tensor of a program has the size of the image in it.
bool isImageOfAnySize(const plan::Program &program,
                      const runtime::Tensor &tensor) {
  for (const plan::DataInput &input : program.data_inputs())
    if (input.image_sizes_vary() && tensor.dims.size() == 4)
      for (std::uint32_t buffer : input.buffer_indices())
        if (buffer == tensor.buffer)
          return true;
  return false;
}

/// Returns the names of the tensors of a kind. They are cached until another
/// kind or program is queried.
const std::vector<runtime::TensorName> &
namesOf(brew_session &session, brew_tensor_kind kind, int program) {
  const runtime::TensorKind tensorKind = kindOf(kind);
  const std::pair<brew_tensor_kind, int> key(
      kind, belongsToProgram(tensorKind) ? session.program(program) : 0);
  if (session.namesKey != key) {
    session.namesKey.reset();
    session.names = session.get().names(tensorKind, key.second);
    session.namesKey = key;
  }
  return session.names;
}

} // namespace

const char *brew_session::internName(const std::string &name) {
  return internedNames.insert(name).first->c_str();
}

size_t brew_session_tensor_count(brew_session *session, brew_tensor_kind kind,
                                 int program) {
  size_t count = 0;
  readOf(session, [&](runtime::Session &) {
    count = namesOf(*session, kind, program).size();
  });
  return count;
}

brew_status brew_session_get_tensor_name(brew_session *session,
                                         brew_tensor_kind kind, int program,
                                         size_t index, brew_tensor_name *name) {
  return readOf(session, [&](runtime::Session &) {
    const auto &names = namesOf(*session, kind, program);
    if (index >= names.size())
      throw usage("there is no tensor of this number");
    brew_tensor_name result{};
    result.kind = kind;
    result.program = names[index].program;
    result.name = names[index].name.c_str();
    result.index = names[index].index;
    result.slot = names[index].slot;
    copyToCaller(name, result);
  });
}

brew_status brew_session_find(brew_session *session,
                              const brew_tensor_name *name,
                              brew_tensor *tensor) {
  return readOf(session, [&](runtime::Session &runtimeSession) {
    const runtime::TensorName tensorName = nameOf(*session, name);
    const runtime::Tensor runtimeTensor = runtimeSession.find(tensorName);
    brew_tensor result{};
    result.dtype = dtypeOf(runtimeTensor.type);
    result.on_device = runtimeTensor.onDevice;
    result.data = runtimeTensor.data;
    result.shape_ndim = setDims(result.shape, runtimeTensor.shape);
    result.count = caffe::product(runtimeTensor.shape);
    result.ndim = setDims(result.dims, runtimeTensor.dims);
    setDims(result.strides, runtimeTensor.strides);
    result.capacity = caffe::product(runtimeTensor.dims);
    result.dynamic_dim = -1;
    if (tensorName.kind == runtime::TensorKind::Blob &&
        isImageOfAnySize(runtimeSession.manifest().programs(tensorName.program),
                         runtimeTensor))
      result.dynamic_dim = 1; // channels, and the dimensions after them
    else if (tensorName.kind == runtime::TensorKind::Blob)
      if (const plan::NamedBuffer *count = runtime::findItemCount(
              runtimeSession.manifest().programs(tensorName.program),
              tensorName.name))
        result.dynamic_dim =
            runtimeSession.manifest()
                .buffers(static_cast<int>(count->buffer_index()))
                .dims_size();
    copyToCaller(tensor, result);
  });
}

brew_status brew_session_read(brew_session *session,
                              const brew_tensor_name *name, brew_dtype dtype,
                              void *values, int64_t count) {
  return readOf(session, [&](runtime::Session &runtimeSession) {
    if (!values && count)
      throw usage("the values are NULL");
    withType(dtype, values, [&](auto *typed) {
      runtimeSession.read(nameOf(*session, name), typed, count);
    });
  });
}

brew_status brew_session_bind_memory(brew_session *session,
                                     const brew_binding *bindings,
                                     size_t count) {
  return on(session, [&](runtime::Session &runtimeSession) {
    if (!bindings && count)
      throw usage("the bindings are NULL");
    std::vector<runtime::Session::Binding> result;
    const auto *next = reinterpret_cast<const std::byte *>(bindings);
    for (std::size_t i = 0; i < count; ++i) {
      // The struct_size of the caller is the stride of its array.
      const brew_binding binding =
          copyFromCaller(reinterpret_cast<const brew_binding *>(next));
      next += bindings->struct_size;
      result.push_back({nameOf(*session, &binding.name), binding.data,
                        static_cast<std::uint64_t>(binding.bytes)});
    }
    runtimeSession.bindMemory(result);
  });
}

brew_status brew_session_write(brew_session *session,
                               const brew_tensor_name *name, brew_dtype dtype,
                               const void *values, int64_t count) {
  return readOf(session, [&](runtime::Session &runtimeSession) {
    if (!values && count)
      throw usage("the values are NULL");
    if (runtimeSession.inHook() && runtimeSession.communicator())
      throw usage("on several ranks the function of a hook may not write: only "
                  "rank 0 has hooks (their actions change all ranks)");
    withType(dtype, values, [&](const auto *typed) {
      runtimeSession.write(nameOf(*session, name), typed, count);
    });
  });
}

brew_status brew_fill(const char *filler, const int64_t *dims, size_t ndim,
                      uint64_t seed, const char *name, float *values,
                      char *message, size_t size) {
  return guardedInto(message, size, [&] {
    if (!values || (!dims && ndim))
      throw usage("the values or their dimensions are NULL");
    const char *subject = text(name, "the name of the values");
    caffe::FillerParameter parameter;
    if (!google::protobuf::TextFormat::ParseFromString(
            text(filler, "the filler"), &parameter))
      throw Error(ExitStatus::BadInput, std::string(subject) +
                                            ": the filler '" + filler +
                                            "' is not a FillerParameter");
    const caffe::Filler fill(parameter, {dims, dims + ndim},
                             {seed, std::string("filler ") + subject}, subject);
    caffe::forEachSlice(fill.count(),
                        static_cast<int>(std::thread::hardware_concurrency()),
                        [&](std::int64_t begin, std::int64_t end) {
                          fill.fill(begin, end, values + begin);
                        });
  });
}
