//===- Tensors.cpp - C API: tensors by name -------------------------------===//

#include "runtime/api/Handles.h"
#include "runtime/executor/ItemCounts.h"

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
    if (tensorName.kind == runtime::TensorKind::Blob)
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
                                     const brew_tensor_name *name, void *data,
                                     int64_t bytes) {
  return on(session, [&](runtime::Session &runtimeSession) {
    runtimeSession.bindMemory(nameOf(*session, name), data,
                              static_cast<std::uint64_t>(bytes));
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
