//===- Communicator.cpp - Bindings of the communicator --------------------===//
#include "ExitGuard.h"
#include "ForkGuard.h"
#include "Module.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Floats = nb::ndarray<float, nb::c_contig, nb::device::cpu>;

/// A communicator and the arrays of pending all-reduces. Python must call
/// close() or abort(); the destructor leaks an open communicator, because
/// destroying it would end the process.
class Ranks {
public:
  Ranks(double timeout, bool deterministic) {
    brew::api::CommunicatorOptions options;
    options.timeout = timeout;
    options.deterministic = deterministic;
    communicator = std::make_unique<brew::api::Communicator>(options);
  }
  ~Ranks() {
    if (!closed)
      communicator.release();
  }
  Ranks(const Ranks &) = delete;
  Ranks &operator=(const Ranks &) = delete;

  brew::api::Communicator &get() {
    forkGuard.refuse();
    return *communicator;
  }

  void broadcast(Floats values) {
    brew::api::Communicator &connection = get();
    const brew::python::GilRelease released;
    connection.broadcast(values.data(), values.nbytes());
  }
  void startAllReduce(std::uint32_t number, std::vector<Floats> arrays) {
    std::vector<brew_reduction_buffer> buffers;
    for (const Floats &array : arrays)
      buffers.push_back({array.data(), array.size()});
    get().startAllReduce(number, buffers);
    pendingArrays[number] = std::move(arrays);
  }
  void waitAllReduce(std::uint32_t number) {
    brew::api::Communicator &connection = get();
    {
      const brew::python::GilRelease released;
      connection.waitAllReduce(number);
    }
    pendingArrays.erase(number);
  }
  void checkAllEqual(const std::string &what, const std::string &value) {
    brew::api::Communicator &connection = get();
    const brew::python::GilRelease released;
    connection.checkAllEqual(what, value);
  }
  void close() {
    brew::api::Communicator &connection = get();
    const brew::python::GilRelease released;
    connection.close();
    closed = true;
  }

private:
  brew::python::ForkGuard forkGuard{"a connection between ranks"};
  std::unique_ptr<brew::api::Communicator> communicator;
  std::map<std::uint32_t, std::vector<Floats>> pendingArrays; ///< by number
  bool closed = false;
};

} // namespace

void brew::python::bindCommunicator(nb::module_ &module) {
  nb::class_<Ranks>(module, "Communicator")
      .def(
          "__init__",
          [](Ranks *self, double timeout, bool deterministic) {
            const brew::python::GilRelease released;
            new (self) Ranks(timeout, deterministic);
          },
          "timeout"_a = 0.0, "deterministic"_a = false)
      .def_static("is_available",
                  [] { return api::Communicator::isAvailable(); })
      .def_static("is_launched", [] { return api::Communicator::isLaunched(); })
      .def_prop_ro("rank", [](Ranks &self) { return self.get().rank(); })
      .def_prop_ro("ranks", [](Ranks &self) { return self.get().ranks(); })
      .def_prop_ro("has_collective_error",
                   [](Ranks &self) { return self.get().hasCollectiveError(); })
      .def("broadcast", &Ranks::broadcast, "values"_a.noconvert())
      .def(
          "start_all_reduce",
          [](Ranks &self, std::uint32_t number, nb::list arrays) {
            std::vector<Floats> floatArrays;
            // Otherwise the sum could be written to a temporary converted
            // array.
            for (nb::handle array : arrays)
              floatArrays.push_back(nb::cast<Floats>(array, /*convert=*/false));
            self.startAllReduce(number, std::move(floatArrays));
          },
          "number"_a, "arrays"_a,
          "Starts an in-place all-reduce (sum) of arrays over the ranks.")
      .def("wait_all_reduce", &Ranks::waitAllReduce, "number"_a)
      .def("check_all_equal", &Ranks::checkAllEqual, "what"_a, "value"_a)
      .def("close", &Ranks::close, "Leaves the run; returns once all ranks do.")
      .def(
          "abort",
          [](Ranks &self, int status) {
            api::Communicator &communicator = self.get();
            const brew::python::GilRelease released;
            communicator.abort(status);
          },
          "status"_a, "Ends the processes of all ranks.");
}
