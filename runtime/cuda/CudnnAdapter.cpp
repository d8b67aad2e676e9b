//===- CudnnAdapter.cpp - cuDNN behind the table of vendor calls ----------===//
//
// A forward convolution with a bias or a ReLU has two kinds of candidates: one
// graph that does all of it, where cuDNN supports that on the device, and the
// bare convolution followed by what is missing, in place.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/CudnnAdapter.h"

#include "runtime/cuda/CudnnEngines.h"

#include <cstdio>
#include <limits>
#include <memory>
#include <optional>

using namespace brew::runtime::cuda::cudnn;

struct BrewVendorContext {
  const Api &api;
  Handle handle = nullptr;
  std::string name;

  BrewVendorContext() : api(Api::open()), name(api.name()) {
    api.check(api.cudnnCreate(&handle), "starting cuDNN");
  }
  ~BrewVendorContext() {
    if (handle)
      api.cudnnDestroy(handle);
  }
};

namespace {

/// A descriptor of cuDNN's older API.
class OldTensor {
public:
  OldTensor(const Api &owner, const BrewVendorTensor &tensor, int rank,
            const int *dims, const int *strides)
      : api(owner) {
    api.check(api.cudnnCreateTensorDescriptor(&descriptor),
              "creating a tensor descriptor");
    try {
      api.check(api.cudnnSetTensorNdDescriptor(
                    descriptor, dataType(tensor.type), rank, dims, strides),
                "describing a tensor");
    } catch (...) {
      api.cudnnDestroyTensorDescriptor(descriptor);
      throw;
    }
  }
  OldTensor(const OldTensor &) = delete;
  OldTensor &operator=(const OldTensor &) = delete;
  ~OldTensor() { api.cudnnDestroyTensorDescriptor(descriptor); }
  LegacyTensor get() const { return descriptor; }

private:
  const Api &api;
  LegacyTensor descriptor = nullptr;
};

std::unique_ptr<OldTensor> outputOf(const Api &api,
                                    const BrewVendorConvolution &call) {
  int dims[4], strides[4];
  for (int d = 0; d < 4; ++d) {
    dims[d] = static_cast<int>(call.y.dims[d]);
    strides[d] = static_cast<int>(call.y.strides[d]);
  }
  return std::make_unique<OldTensor>(api, call.y, 4, dims, strides);
}

std::unique_ptr<OldTensor> biasOf(const Api &api,
                                  const BrewVendorConvolution &call) {
  const int channels = static_cast<int>(call.b.dims[0]);
  const int dims[4] = {1, channels, 1, 1};
  const int strides[4] = {channels, 1, 1, 1};
  return std::make_unique<OldTensor>(api, call.b, 4, dims, strides);
}

} // namespace

struct BrewVendorCall {
  BrewVendorContext &context;
  const BrewVendorConvolution call;
  const std::uint64_t limit;
  std::unique_ptr<Graph> fused, bare, relu;
  std::unique_ptr<OldTensor> output, bias;

  struct Candidate {
    Graph *graph;
    std::size_t engine;
    std::string name;
  };
  std::vector<Candidate> candidates;

  BrewVendorCall(BrewVendorContext &owner, const BrewVendorConvolution &what,
                 std::uint64_t workspaceLimit);
  bool forward() const { return call.direction == BREW_VENDOR_FORWARD; }
  /// Whether the bare convolution is followed by a ReLU.
  bool reluApart() const { return forward() && call.relu; }
  Engine &engine(int candidate) {
    const Candidate &chosen = candidates[static_cast<std::size_t>(candidate)];
    return chosen.graph->engines[chosen.engine];
  }
  /// Its scratch, or the largest number if cuDNN refuses it or the limit does.
  std::uint64_t workspace(int candidate);
  void run(int candidate, void *x, void *w, void *b, void *y, void *scratch,
           void *stream);

private:
  void offer(std::unique_ptr<Graph> &graph, const char *prefix);
  void runAfter(void *b, void *y, void *scratch);
  const Engine *reluEngine();
};

BrewVendorCall::BrewVendorCall(BrewVendorContext &owner,
                               const BrewVendorConvolution &what,
                               std::uint64_t workspaceLimit)
    : context(owner), call(what), limit(workspaceLimit) {
  const Api &api = context.api;
  const EngineRules rules{call.math == BREW_VENDOR_STRICT &&
                              call.x.type == BREW_VENDOR_F32,
                          call.deterministic != 0};
  // F16 and BF16 are for tensor cores; only F32 has digits to lose there.
  auto make = [&](Operations operations) {
    return std::make_unique<Graph>(api, context.handle, std::move(operations),
                                   rules);
  };
  if (forward() && !call.accumulate && (call.has_bias || call.relu)) {
    try {
      fused = make(convolutionFused(api, call));
    } catch (const Failure &) {
      fused = nullptr; // no such pattern; the bare convolution remains
    }
    if (fused)
      offer(fused, "fused ");
  }
  bare = make(convolutionOnly(api, call));
  offer(bare, "");
  if (call.has_bias) {
    output = outputOf(api, call);
    bias = biasOf(api, call);
  }
  if (reluApart()) {
    EngineRules any = rules;
    any.strict = false; // it multiplies nothing
    try {
      relu = std::make_unique<Graph>(api, context.handle,
                                     reluInPlace(api, call), any);
    } catch (const Failure &) {
      relu = nullptr; // only fused candidates can be used then
    }
  }
  if (candidates.empty())
    throw Failure("no engine supports this convolution on this device");
}

void BrewVendorCall::offer(std::unique_ptr<Graph> &graph, const char *prefix) {
  for (std::size_t i = 0; i < graph->engines.size(); ++i)
    candidates.push_back({graph.get(), i, prefix + graph->engines[i].name()});
}

std::uint64_t BrewVendorCall::workspace(int candidate) {
  constexpr std::uint64_t kRefused = std::numeric_limits<std::uint64_t>::max();
  if (!engine(candidate).prepare())
    return kRefused;
  std::uint64_t bytes = engine(candidate).workspaceBytes();
  if (reluApart() &&
      candidates[static_cast<std::size_t>(candidate)].graph == bare.get()) {
    const Engine *after = reluEngine();
    if (!after)
      return kRefused;
    bytes = std::max(bytes, after->workspaceBytes());
  }
  return bytes > limit ? kRefused : bytes;
}

void BrewVendorCall::run(int candidate, void *x, void *w, void *b, void *y,
                         void *scratch, void *stream) {
  const Api &api = context.api;
  api.check(api.cudnnSetStream(context.handle, stream), "choosing a stream");
  if (!engine(candidate).prepare())
    throw Failure("the engine is not supported after all");
  const Graph &graph = *candidates[static_cast<std::size_t>(candidate)].graph;
  std::vector<void *> pointers;
  for (std::int64_t id : graph.ids())
    pointers.push_back(id == IdX ? x : id == IdW ? w : id == IdB ? b : y);
  engine(candidate).run(graph.ids(), pointers, scratch);
  if (&graph == bare.get())
    runAfter(b, y, scratch);
}

/// What the bare convolution leaves to be done.
void BrewVendorCall::runAfter(void *b, void *y, void *scratch) {
  const Api &api = context.api;
  const double one = 1, zero = 0;
  const float oneSingle = 1, zeroSingle = 0;
  const bool isDouble = call.y.type == BREW_VENDOR_F64;
  const void *full = isDouble ? static_cast<const void *>(&one) : &oneSingle;
  const void *none = isDouble ? static_cast<const void *>(&zero) : &zeroSingle;
  if (call.has_bias && forward())
    api.check(api.cudnnAddTensor(context.handle, full, bias->get(), b, full,
                                 output->get(), y),
              "adding the bias");
  if (call.has_bias && !forward())
    api.check(api.cudnnConvolutionBackwardBias(
                  context.handle, full, output->get(), y,
                  call.accumulate ? full : none, bias->get(), b),
              "the gradient of the bias");
  if (!reluApart())
    return;
  const Engine *after = reluEngine();
  if (!after)
    throw Failure("no engine supports the ReLU");
  after->run(relu->ids(), {y, y}, scratch);
}

/// The first engine that can do the ReLU in place, or null.
const Engine *BrewVendorCall::reluEngine() {
  if (relu)
    for (Engine &candidate : relu->engines)
      if (candidate.prepare())
        return &candidate;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {

/// Runs `body`; a Failure's text goes to `message`.
template <typename Body> int guarded(char *message, Body &&body) {
  try {
    body();
    return 0;
  } catch (const std::exception &failure) {
    std::snprintf(message, BREW_VENDOR_MESSAGE_SIZE, "%s", failure.what());
    return 1;
  }
}

int open(BrewVendorContext **context, char *message) {
  return guarded(message, [&] { *context = new BrewVendorContext(); });
}

void close(BrewVendorContext *context) { delete context; }

const char *name(BrewVendorContext *context) { return context->name.c_str(); }

int createConvolution(BrewVendorContext *context,
                      const BrewVendorConvolution *description,
                      std::uint64_t workspaceLimit, BrewVendorCall **call,
                      char *message) {
  return guarded(message, [&] {
    *call = new BrewVendorCall(*context, *description, workspaceLimit);
  });
}

void destroy(BrewVendorCall *call) { delete call; }

std::int32_t candidates(BrewVendorCall *call) {
  return static_cast<std::int32_t>(call->candidates.size());
}

const char *describe(BrewVendorCall *call, std::int32_t candidate) {
  return call->candidates[static_cast<std::size_t>(candidate)].name.c_str();
}

std::uint64_t workspace(BrewVendorCall *call, std::int32_t candidate) {
  try {
    return call->workspace(candidate);
  } catch (const Failure &) {
    return std::numeric_limits<std::uint64_t>::max();
  }
}

int run(BrewVendorCall *call, std::int32_t candidate, void *x, void *w, void *b,
        void *y, void *scratch, void *stream, char *message) {
  return guarded(message,
                 [&] { call->run(candidate, x, w, b, y, scratch, stream); });
}

} // namespace

const BrewVendorTable &brew::runtime::cuda::cudnnVendorTable() {
  static const BrewVendorTable table = {BREW_VENDOR_TABLE_VERSION,
                                        open,
                                        close,
                                        name,
                                        createConvolution,
                                        destroy,
                                        candidates,
                                        describe,
                                        workspace,
                                        run};
  return table;
}
