//===- HostLayers.cpp - C API: host layers --------------------------------===//

#include "runtime/api/Handles.h"
#include "support/HostFunctions.h"

namespace brew::api {
namespace {

/// The functions of a layer type, from the caller.
struct HostLayerFunctions {
  brew_host_layer layer;
  std::string type;
};

std::vector<brew_host_shape>
shapesOf(const std::vector<std::vector<std::int64_t>> &list) {
  std::vector<brew_host_shape> shapes;
  for (const std::vector<std::int64_t> &dims : list)
    shapes.push_back(hostShape(dims));
  return shapes;
}

/// A layer that the functions of the caller compute.
class CallbackHostLayer : public runtime::HostLayer {
public:
  CallbackHostLayer(std::shared_ptr<const HostLayerFunctions> type,
                    const runtime::HostLayerSetup &setup)
      : functions(std::move(type)) {
    if (!functions->layer.create)
      return;
    std::vector<brew_host_shape> bottoms = shapesOf(setup.bottoms),
                                 tops = shapesOf(setup.tops);
    brew_host_setup cSetup = hostSetup(setup);
    cSetup.bottom_count = bottoms.size();
    cSetup.bottoms = bottoms.data();
    cSetup.top_count = tops.size();
    cSetup.tops = tops.data();
    cSetup.user = functions->layer.user;
    HostErrorBuffer errorBuffer(cSetup);
    errorBuffer.check(functions->layer.create(&cSetup, &instance), "create");
    isCreated = true;
  }
  ~CallbackHostLayer() override {
    if (isCreated && functions->layer.destroy)
      functions->layer.destroy(instance, functions->layer.user);
  }

  void forward(runtime::HostLayerArguments &arguments) override {
    call(functions->layer.forward, "forward", arguments);
  }
  void backward(runtime::HostLayerArguments &arguments) override {
    call(functions->layer.backward, "backward", arguments);
  }

private:
  static void setBlobs(std::vector<brew_host_blob> &to,
                       const std::vector<runtime::HostLayerBlob> &from) {
    to.clear();
    for (const runtime::HostLayerBlob &blob : from)
      to.push_back({blob.dims.size(), blob.dims.data(), blob.count, blob.values,
                    blob.gradient});
  }

  void call(brew_host_call_function function, const char *name,
            const runtime::HostLayerArguments &arguments) {
    setBlobs(bottoms, arguments.bottoms);
    setBlobs(tops, arguments.tops);
    brew_host_call cCall{};
    cCall.struct_size = sizeof cCall;
    cCall.instance = instance;
    cCall.f64 = arguments.f64;
    cCall.bottom_count = bottoms.size();
    cCall.bottoms = bottoms.data();
    cCall.top_count = tops.size();
    cCall.tops = tops.data();
    cCall.user = functions->layer.user;
    HostErrorBuffer errorBuffer(cCall);
    errorBuffer.check(function(&cCall), name);
  }

  std::shared_ptr<const HostLayerFunctions> functions;
  void *instance = nullptr;
  bool isCreated = false;
  std::vector<brew_host_blob> bottoms, tops; ///< of the last call
};

class CallbackHostLayerType : public runtime::HostLayerType {
public:
  explicit CallbackHostLayerType(std::shared_ptr<const HostLayerFunctions> type)
      : functions(std::move(type)) {}
  bool hasBackward() const override { return functions->layer.backward; }
  std::unique_ptr<runtime::HostLayer>
  create(const runtime::HostLayerSetup &setup) const override {
    return std::make_unique<CallbackHostLayer>(functions, setup);
  }

private:
  std::shared_ptr<const HostLayerFunctions> functions;
};

} // namespace

std::shared_ptr<const runtime::HostLayerTypes>
hostTypesOf(const brew_host_layer *layers, std::size_t count) {
  if (!count)
    return nullptr;
  if (!layers)
    throw usage("the host layers are NULL");
  auto result = std::make_shared<runtime::HostLayerTypes>();
  // The struct_size of the caller is the stride of its array.
  const std::size_t size = layers->struct_size;
  const auto *next = reinterpret_cast<const std::byte *>(layers);
  for (std::size_t i = 0; i < count; ++i, next += size) {
    auto functions = std::make_shared<HostLayerFunctions>();
    functions->layer =
        copyFromCaller(reinterpret_cast<const brew_host_layer *>(next));
    functions->type = text(functions->layer.type, "the type of a host layer");
    functions->layer.type = nullptr; // memory of the caller
    const std::string description = "host layer type '" + functions->type + "'";
    if (functions->type.empty())
      throw usage("the type of a host layer is empty");
    if (!functions->layer.forward)
      throw usage(description + " has no forward function");
    if (!result
             ->emplace(functions->type,
                       std::make_shared<CallbackHostLayerType>(functions))
             .second)
      throw usage(description + " was given twice");
  }
  return result;
}

} // namespace brew::api
