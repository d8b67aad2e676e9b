//===- CudnnAdapter.cpp - The cuDNN implementation of VendorTable ---------===//
//
// A forward convolution with a bias or a ReLU has two kinds of candidates: a
// fused graph, if cuDNN supports it on the device, and the bare convolution
// followed by an in-place epilogue (CudnnEpilogue.h).
//
// Equal calls of one context share a graph, and with it the results of the
// heuristics and the compiled engines: of the 149 calls in ResNet-50's
// training, 51 are distinct.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/cudnn/CudnnAdapter.h"

#include "runtime/cuda/cudnn/CudnnEngines.h"
#include "runtime/cuda/cudnn/CudnnEpilogue.h"

#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace brew::runtime::cuda::cudnn;

struct BrewVendorContext {
  const Api &api;
  Handle handle = nullptr;
  Descriptor properties; ///< of an absent device
  std::string name;

  BrewVendorContext() : api(Api::open()), name(api.name()) {
    api.check(api.cudnnCreate(&handle), "starting cuDNN");
  }
  explicit BrewVendorContext(const std::string &json)
      : api(Api::open()), properties(api, DevicePropertiesDescriptor),
        name(api.name()) {
    const std::vector<char> text(json.begin(), json.end());
    properties.set(DevicePropertiesJson, TypeChar, text).finalize();
  }
  ~BrewVendorContext() {
    if (handle)
      api.cudnnDestroy(handle);
  }
  TargetDevice device() const {
    return handle ? TargetDevice{handle, nullptr}
                  : TargetDevice{nullptr, &properties};
  }

  /// Returns the cached or new graph of the bare or the fused convolution; null
  /// if cuDNN does not support the fused pattern.
  std::shared_ptr<Graph> findOrCreateGraph(const BrewVendorConvolution &call,
                                           bool fused);

private:
  struct CachedGraph {
    bool isUnsupported = false;
    std::weak_ptr<Graph> graph; ///< lives as long as its calls
  };
  std::map<std::string, CachedGraph> graphs; ///< by operations and constraints
};

std::shared_ptr<Graph>
BrewVendorContext::findOrCreateGraph(const BrewVendorConvolution &call,
                                     bool fused) {
  // Tensor cores round F32 operands; F16 and BF16 operands stay exact.
  const EngineConstraints constraints{call.math == BREW_VENDOR_STRICT &&
                                          call.x.type == BREW_VENDOR_F32,
                                      call.deterministic != 0};
  CachedGraph &cached =
      graphs[operationsKey(call, fused) +
             (constraints.strict ? " strict" : "") +
             (constraints.deterministic ? " deterministic" : "")];
  if (cached.isUnsupported)
    return nullptr;
  std::shared_ptr<Graph> graph = cached.graph.lock();
  if (graph)
    return graph;
  try {
    graph = std::make_shared<Graph>(api, device(),
                                    fused ? convolutionFused(api, call)
                                          : convolutionOnly(api, call),
                                    constraints);
  } catch (const Failure &) {
    if (!fused)
      throw;
    cached.isUnsupported = true; // the caller uses the bare convolution
    return nullptr;
  }
  cached.graph = graph;
  return graph;
}

struct BrewVendorCall {
  BrewVendorContext &context;
  const BrewVendorConvolution call;
  const std::uint64_t limit;
  std::shared_ptr<Graph> fused, bare; ///< shared with equal calls
  Epilogue epilogue;                  ///< of the bare convolution

  struct Candidate {
    Graph *graph;
    std::size_t engine; ///< index into graph->engines
    std::string name, kind;
  };
  std::vector<Candidate> candidates;

  BrewVendorCall(BrewVendorContext &owner,
                 const BrewVendorConvolution &convolution,
                 std::uint64_t workspaceLimit);
  bool isForward() const { return call.direction == BREW_VENDOR_FORWARD; }
  Engine &engine(int candidate) {
    const Candidate &chosen = candidates[static_cast<std::size_t>(candidate)];
    return chosen.graph->engines[chosen.engine];
  }
  /// Returns the size of the scratch memory in bytes, or UINT64_MAX if cuDNN
  /// rejects the candidate or the size exceeds the limit.
  std::uint64_t workspace(int candidate);
  void run(int candidate, void *x, void *w, void *b, void *y, void *scratch,
           void *stream);

private:
  void addCandidates(Graph &graph, const char *prefix);
};

BrewVendorCall::BrewVendorCall(BrewVendorContext &owner,
                               const BrewVendorConvolution &convolution,
                               std::uint64_t workspaceLimit)
    : context(owner), call(convolution), limit(workspaceLimit),
      epilogue(owner.api, convolution) {
  if (isForward() && !call.accumulate && (call.has_bias || call.relu)) {
    fused = context.findOrCreateGraph(call, /*fused=*/true);
    if (fused)
      addCandidates(*fused, "fused ");
  }
  bare = context.findOrCreateGraph(call, /*fused=*/false);
  addCandidates(*bare, "");
  if (candidates.empty())
    throw Failure("no engine supports this convolution on this device");
}

void BrewVendorCall::addCandidates(Graph &graph, const char *prefix) {
  for (std::size_t i = 0; i < graph.engines.size(); ++i)
    candidates.push_back({&graph, i, prefix + graph.engines[i].name(),
                          prefix + graph.engines[i].kind()});
}

std::uint64_t BrewVendorCall::workspace(int candidate) {
  constexpr std::uint64_t kUnusable = std::numeric_limits<std::uint64_t>::max();
  if (!engine(candidate).prepare())
    return kUnusable;
  const std::uint64_t bytes = engine(candidate).workspaceBytes();
  return bytes > limit ? kUnusable : bytes;
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
    epilogue.run(context.handle, b, y);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {

/// Runs `body`. If it throws, copies the exception's text to `message` and
/// returns 1; otherwise returns 0.
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

const char *describeCandidate(BrewVendorCall *call, std::int32_t candidate) {
  return call->candidates[static_cast<std::size_t>(candidate)].name.c_str();
}

const char *engine(BrewVendorCall *call, std::int32_t candidate) {
  return call->candidates[static_cast<std::size_t>(candidate)].kind.c_str();
}

void release(BrewVendorCall *call, std::int32_t candidate) {
  call->engine(candidate).release();
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
                                        describeCandidate,
                                        engine,
                                        release,
                                        workspace,
                                        run};
  return table;
}

BrewVendorContext *
brew::runtime::cuda::makeOfflineCudnnContext(const std::string &properties,
                                             std::string &message) {
  BrewVendorContext *context = nullptr;
  char text[BREW_VENDOR_MESSAGE_SIZE] = "";
  guarded(text, [&] { context = new BrewVendorContext(properties); });
  message = text;
  return context;
}
