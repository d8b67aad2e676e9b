//===- Session.cpp - Bindings of plans and sessions -----------------------===//
//
// Only one thread may use a session at a time. Calls release the GIL, so
// another thread may call the same session meanwhile; its call throws an error.
//
//===----------------------------------------------------------------------===//
#include "Events.h"
#include "SessionBinding.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;
using brew::api::Plan;
using brew::api::Session;
using brew::api::TensorName;
using namespace brew::python;

namespace {

using Floats = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;
using Memory = nb::ndarray<float, nb::c_contig, nb::device::cpu>;

TensorName nameOf(brew_tensor_kind kind, int program, const std::string &name,
                  int index, int slot) {
  return {kind, program, name, index, slot};
}

/// Returns the tensor's memory as an array, or None if it does not consist of
/// floats in Caffe's order.
nb::object viewOf(nb::handle self, const TensorName &name) {
  SharedSession &shared = *nb::cast<SharedSession *>(self);
  const brew_tensor tensor =
      shared.runExclusive([&](Session &session) { return session.find(name); });
  if (tensor.dtype != BREW_F32 || tensor.on_device || tensor.dynamic_dim >= 0)
    return nb::none();
  std::vector<std::size_t> shape(tensor.shape,
                                 tensor.shape + tensor.shape_ndim);
  // The layout may have additional dimensions, such as [N,C,1,1] for [N,C].
  std::int64_t dense = 1, count = 1;
  for (std::size_t i = tensor.ndim; i-- > 0;) {
    if (tensor.dims[i] != 1 && tensor.strides[i] != dense)
      return nb::none();
    dense *= tensor.dims[i];
  }
  for (std::size_t extent : shape)
    count *= static_cast<std::int64_t>(extent);
  if (dense != count)
    return nb::none();
  return nb::cast(nb::ndarray<nb::numpy, float>(tensor.data, shape.size(),
                                                shape.data(), self),
                  nb::rv_policy::reference);
}

/// Returns the tensor's memory, on the CPU or a GPU, as a DLPack object; None
/// if the dimensions of the layout differ from the shape or vary at run time,
/// or if the type is not floating-point.
nb::object exportOf(nb::handle self, const TensorName &name) {
  SharedSession &shared = *nb::cast<SharedSession *>(self);
  const brew_tensor tensor =
      shared.runExclusive([&](Session &session) { return session.find(name); });
  if ((tensor.dtype != BREW_F32 && tensor.dtype != BREW_F64) ||
      tensor.dynamic_dim >= 0 || tensor.ndim != tensor.shape_ndim)
    return nb::none();
  std::vector<std::size_t> shape(tensor.shape,
                                 tensor.shape + tensor.shape_ndim);
  for (std::size_t i = 0; i < tensor.ndim; ++i)
    if (tensor.dims[i] != tensor.shape[i])
      return nb::none();
  const std::vector<std::int64_t> strides(tensor.strides,
                                          tensor.strides + tensor.ndim);
  return nb::cast(
      nb::ndarray<nb::array_api>(
          tensor.data, shape.size(), shape.data(), self, strides.data(),
          tensor.dtype == BREW_F32 ? nb::dtype<float>() : nb::dtype<double>(),
          tensor.on_device ? nb::device::cuda::value : nb::device::cpu::value,
          tensor.on_device ? shared.gpu() : 0),
      nb::rv_policy::reference);
}

template <typename Value> nb::object arrayOf(const brew_feed_request &request) {
  const std::vector<std::size_t> shape(request.dims,
                                       request.dims + request.ndim);
  return nb::cast(nb::ndarray<nb::numpy, Value>(request.values, shape.size(),
                                                shape.data(), nb::handle()),
                  nb::rv_policy::reference);
}

/// Returns a callback that calls `function(dict of name to array)` for each
/// batch; the arrays are valid only during the call. Call it with the GIL held.
Session::Feed feedOf(nb::object function) {
  std::shared_ptr<PyObject> owner(function.release().ptr(),
                                  [](PyObject *object) {
                                    const nb::gil_scoped_acquire acquired;
                                    Py_DECREF(object);
                                  });
  return [owner](const brew_feed_request *requests, std::size_t count) {
    const nb::gil_scoped_acquire acquired;
    nb::dict arrays;
    for (std::size_t i = 0; i < count; ++i)
      arrays[requests[i].input] = requests[i].dtype == BREW_F64
                                      ? arrayOf<double>(requests[i])
                                      : arrayOf<float>(requests[i]);
    nb::handle(owner.get())(arrays);
  };
}

/// Returns a copy in Caffe's order of dimensions.
nb::object readOf(SharedSession &shared, const TensorName &name) {
  std::vector<std::size_t> shape;
  auto *values =
      new std::vector<float>(shared.runExclusive([&](Session &session) {
        const brew_tensor tensor = session.find(name);
        shape.assign(tensor.shape, tensor.shape + tensor.shape_ndim);
        return session.read<float>(name);
      }));
  nb::capsule owner(values, [](void *pointer) noexcept {
    delete static_cast<std::vector<float> *>(pointer);
  });
  return nb::cast(nb::ndarray<nb::numpy, float>(values->data(), shape.size(),
                                                shape.data(), owner),
                  nb::rv_policy::reference);
}

} // namespace

void brew::python::bindSession(nb::module_ &module) {
  nb::class_<Plan>(module, "Plan")
      .def_static(
          "open",
          [](const std::string &path) {
            brew::python::GilRelease released;
            return new Plan(path);
          },
          "path"_a)
      .def_static(
          "of_bytes",
          [](nb::bytes bytes, const std::string &name) {
            return new Plan(bytes.c_str(), bytes.size(), name);
          },
          "bytes"_a, "name"_a)
      .def("describe", [](const Plan &plan) { return plan.describe(); })
      .def_prop_ro("trains",
                   [](const Plan &plan) { return plan.info().trainable != 0; })
      .def_prop_ro("net", [](const Plan &plan) { return plan.info().net; })
      .def_prop_ro("cuda",
                   [](const Plan &plan) { return plan.info().cuda != 0; })
      .def_prop_ro("programs",
                   [](const Plan &plan) {
                     std::vector<std::string> names;
                     for (int i = 0; i < plan.programs(); ++i)
                       names.emplace_back(plan.programInfo(i).name);
                     return names;
                   })
      .def("outputs",
           [](const Plan &plan, int program) {
             const brew_program_info info = plan.programInfo(program);
             return std::vector<std::string>(info.outputs,
                                             info.outputs + info.output_count);
           })
      .def("gradients",
           [](const Plan &plan, int program) {
             return plan.programInfo(program).has_backward != 0;
           })
      .def("no_backward", [](const Plan &plan, int program) {
        return std::string(plan.programInfo(program).no_backward);
      });

  nb::class_<SharedThreadPool>(module, "ThreadPool")
      .def(nb::init<int>(), "threads"_a = 0);

  nb::enum_<brew_tensor_kind>(module, "Kind")
      .value("BLOB", BREW_BLOB)
      .value("BLOB_GRADIENT", BREW_BLOB_GRADIENT)
      .value("PARAMETER", BREW_PARAMETER)
      .value("PARAMETER_GRADIENT", BREW_PARAMETER_GRADIENT)
      .value("SOLVER_STATE", BREW_SOLVER_STATE)
      .value("PERSISTENT_STATE", BREW_PERSISTENT_STATE)
      .value("OUTPUT_GRADIENT", BREW_OUTPUT_GRADIENT);
  nb::enum_<brew_pass>(module, "Pass")
      .value("FORWARD", BREW_FORWARD)
      .value("BACKWARD", BREW_BACKWARD)
      .value("BOTH", BREW_FORWARD_BACKWARD);

  nb::class_<SharedSession>(module, "Session")
      .def(
          "__init__",
          [](SharedSession *self, const Plan &plan, const Settings &settings,
             const std::string &folder, const SharedThreadPool *threadPool,
             const SharedSession *share, bool log, int gpu,
             std::optional<nb::object> listener, nb::dict hosts, int readerRank,
             int readerRanks) {
            api::SessionOptions options;
            options.options = optionsOf(settings);
            options.readerRank = readerRank;
            options.readerRanks = readerRanks;
            options.gpu = gpu;
            if (listener)
              options.listener = listenerOf(*listener, {});
            std::shared_ptr<PythonLayerTypes> types;
            if (hosts.size()) {
              types = {new PythonLayerTypes(hosts),
                       [](PythonLayerTypes *pointer) {
                         const nb::gil_scoped_acquire acquired;
                         delete pointer;
                       }};
              options.hostLayers = types->descriptions();
            }
            options.folder = folder;
            options.pool = threadPool ? threadPool->get() : nullptr;
            options.shareParameters = share ? share->get() : nullptr;
            options.logToStderr = log;
            brew::python::GilRelease released;
            new (self)
                SharedSession(plan, std::move(options), std::move(types));
          },
          "plan"_a, "options"_a = Settings(), "folder"_a = "",
          "thread_pool"_a = nb::none(), "share"_a = nb::none(), "log"_a = false,
          "gpu"_a = 0, "listener"_a = nb::none(), "hosts"_a = nb::dict(),
          "reader_rank"_a = 0, "reader_ranks"_a = 0)
      .def(
          "add_listener",
          [](SharedSession &shared, nb::object function,
             const std::vector<int> &kinds) {
            api::Listener listener = listenerOf(std::move(function), kinds);
            return shared.runExclusive([&](Session &session) {
              return session.addListener(std::move(listener));
            });
          },
          "function"_a, "kinds"_a)
      .def("remove_listener",
           [](SharedSession &shared, int number) {
             shared.runExclusive(
                 [&](Session &session) { session.removeListener(number); });
           })
      .def_prop_ro("device",
                   [](SharedSession &shared) { return shared.get()->device(); })
      .def(
          "initialise",
          [](SharedSession &shared, const std::vector<std::string> &weights,
             bool required) {
            shared.runExclusive([&](Session &session) {
              session.initialise(weights, required);
            });
          },
          "weights"_a = std::vector<std::string>(), "required"_a = false)
      .def("load_weights",
           [](SharedSession &shared, const std::vector<std::string> &weights) {
             shared.runExclusive(
                 [&](Session &session) { session.loadWeights(weights); });
           })
      .def("save_weights",
           [](SharedSession &shared, const std::string &path) {
             shared.runExclusive(
                 [&](Session &session) { session.saveWeights(path); });
           })
      .def("prepare",
           [](SharedSession &shared) {
             shared.runExclusive([](Session &session) { session.prepare(); });
           })
      .def("tune",
           [](SharedSession &shared, const Plan &plan) {
             using Call = std::tuple<int, std::vector<std::string>, std::string,
                                     std::string, double, std::string, double>;
             return shared.runExclusive([&](Session &session) {
               std::vector<Call> calls;
               session.tune([&](const brew_tuned_call &call) {
                 const brew_step_info step = plan.step(call.program, call.step);
                 calls.push_back({call.program,
                                  {step.layers, step.layers + step.layer_count},
                                  call.kind,
                                  call.untuned,
                                  call.untuned_seconds,
                                  call.fastest,
                                  call.fastest_seconds});
               });
               return calls;
             });
           })
      .def("set_seed",
           [](SharedSession &shared, std::uint64_t seed) {
             shared.runExclusive(
                 [&](Session &session) { session.setSeed(seed); });
           })
      .def("inputs",
           [](SharedSession &shared, int program) {
             using Input = std::pair<std::string, std::vector<std::int64_t>>;
             return shared.runExclusive([&](Session &session) {
               std::vector<Input> inputs;
               for (std::size_t i = 0; i < session.inputs(program); ++i) {
                 const brew_input input = session.input(program, i);
                 inputs.push_back(
                     {input.name, {input.dims, input.dims + input.ndim}});
               }
               return inputs;
             });
           })
      .def(
          "set_input",
          [](SharedSession &shared, int program, const std::string &name,
             Floats values) {
            shared.runExclusive([&](Session &session) {
              session.setInput(program, name, values.data(),
                               static_cast<std::int64_t>(values.size()));
            });
          },
          "program"_a, "name"_a, "values"_a)
      .def(
          "set_feed",
          [](SharedSession &shared, int program,
             const std::vector<std::string> &names, nb::object function) {
            auto feed = feedOf(std::move(function));
            shared.runExclusive([&](Session &session) {
              session.setFeed(program, names, std::move(feed));
            });
          },
          "program"_a, "names"_a, "function"_a)
      .def("feed",
           [](SharedSession &shared, int program) {
             shared.runExclusive(
                 [&](Session &session) { session.feed(program); });
           })
      .def("open_sources",
           [](SharedSession &shared, int program) {
             shared.runExclusive(
                 [&](Session &session) { session.openSources(program); });
           })
      .def(
          "run",
          [](SharedSession &shared, int program, brew_pass pass) {
            shared.runExclusive(
                [&](Session &session) { session.run(program, pass); });
          },
          "program"_a, "pass_"_a = BREW_FORWARD_BACKWARD)
      .def(
          "run_layers",
          [](SharedSession &shared, int program, const std::string &first,
             const std::string &last, brew_pass pass) {
            shared.runExclusive([&](Session &session) {
              session.runLayers(program, first, last, pass);
            });
          },
          "program"_a, "first"_a = "", "last"_a = "", "pass_"_a = BREW_FORWARD)
      .def("layers",
           [](SharedSession &shared, int program) {
             return shared.runExclusive(
                 [&](Session &session) { return session.layers(program); });
           })
      .def("loss",
           [](SharedSession &shared, int program) {
             return shared.runExclusive(
                 [&](Session &session) { return session.loss(program); });
           })
      .def("score",
           [](SharedSession &shared, int program, int batches) {
             const auto score = shared.runExclusive([&](Session &session) {
               return session.score(program, batches, {});
             });
             nb::list means;
             for (const auto &mean : score.means)
               means.append(nb::make_tuple(mean.blob, mean.value));
             return means;
           })
      .def(
          "names",
          [](SharedSession &shared, brew_tensor_kind kind, int program) {
            using Name = std::pair<std::string, int>;
            return shared.runExclusive([&](Session &session) {
              std::vector<Name> names;
              for (const TensorName &name : session.names(kind, program))
                names.push_back({name.name, name.index});
              return names;
            });
          },
          "kind"_a, "program"_a = 0)
      .def(
          "shape",
          [](SharedSession &shared, brew_tensor_kind kind, int program,
             const std::string &name, int index) {
            return shared.runExclusive([&](Session &session) {
              const brew_tensor tensor =
                  session.find(nameOf(kind, program, name, index, 0));
              return std::vector<std::int64_t>(
                  tensor.shape, tensor.shape + tensor.shape_ndim);
            });
          },
          "kind"_a, "program"_a, "name"_a, "index"_a = 0)
      .def(
          "view",
          [](nb::handle self, brew_tensor_kind kind, int program,
             const std::string &name, int index, int slot) {
            return viewOf(self, nameOf(kind, program, name, index, slot));
          },
          "kind"_a, "program"_a, "name"_a, "index"_a = 0, "slot"_a = 0)
      .def(
          "export",
          [](nb::handle self, brew_tensor_kind kind, int program,
             const std::string &name, int index, int slot) {
            return exportOf(self, nameOf(kind, program, name, index, slot));
          },
          "kind"_a, "program"_a, "name"_a, "index"_a = 0, "slot"_a = 0)
      .def(
          "read",
          [](SharedSession &shared, brew_tensor_kind kind, int program,
             const std::string &name, int index, int slot) {
            return readOf(shared, nameOf(kind, program, name, index, slot));
          },
          "kind"_a, "program"_a, "name"_a, "index"_a = 0, "slot"_a = 0)
      .def(
          "write",
          [](SharedSession &shared, brew_tensor_kind kind, int program,
             const std::string &name, int index, Floats values) {
            const std::vector<float> copied(values.data(),
                                            values.data() + values.size());
            shared.runExclusive([&](Session &session) {
              session.write(nameOf(kind, program, name, index, 0), copied);
            });
          },
          "kind"_a, "program"_a, "name"_a, "index"_a, "values"_a)
      .def(
          "bind_memory",
          [](SharedSession &shared,
             const std::vector<std::tuple<brew_tensor_kind, int, std::string,
                                          int, int, std::optional<Memory>>>
                 &bindings) {
            std::vector<Session::Binding> result;
            for (const auto &[kind, program, name, index, slot, memory] :
                 bindings)
              result.push_back(
                  {nameOf(kind, program, name, index, slot),
                   memory ? memory->data() : nullptr,
                   memory ? static_cast<std::int64_t>(memory->nbytes()) : 0});
            shared.runExclusive(
                [&](Session &session) { session.bindMemory(result); });
          },
          // A temporary converted array would not outlive the call.
          "bindings"_a.noconvert(),
          "Binds tensors to arrays, which the caller keeps alive: (kind, "
          "program, name, index, array); with None, to the session's own "
          "memory.");
  module.def(
      "fill",
      [](const std::string &filler, Memory values, std::uint64_t seed,
         const std::string &name) {
        std::vector<std::int64_t> dims;
        for (std::size_t i = 0; i < values.ndim(); ++i)
          dims.push_back(static_cast<std::int64_t>(values.shape(i)));
        brew::api::fill(filler, dims, seed, name, values.data());
      },
      "filler"_a, "values"_a.noconvert(), "seed"_a, "name"_a);
}
