//===- FakeCudnnBackend.cpp - A fake cuDNN that counts descriptors --------===//
//
// Exports the functions that the adapter looks up. Heuristics suggest two
// engines for every graph, with two knobs each. Running an engine is a no-op.
//
//===----------------------------------------------------------------------===//
#include "FakeCudnnBackend.h"

#include <cstring>
#include <map>
#include <utility>
#include <vector>

using namespace brew::runtime::cuda::cudnn;

namespace {

struct FakeDescriptor {
  int type;
  std::int64_t index = 0; ///< index of an engine or a knob
};

std::map<int, int> created, finalized;

FakeDescriptor &at(const void *list, std::int64_t i) {
  return *static_cast<FakeDescriptor *>(
      static_cast<const BackendDescriptor *>(list)[i]);
}

template <typename Value>
int returnScalar(Value value, std::int64_t capacity,
                 std::int64_t *returnedCount, void *to) {
  *returnedCount = 1;
  if (capacity > 0)
    std::memcpy(to, &value, sizeof value);
  return Success;
}

} // namespace

int fakeCudnnCreated(int descriptorType) { return created[descriptorType]; }
int fakeCudnnFinalized(int descriptorType) { return finalized[descriptorType]; }

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT std::size_t cudnnGetVersion() { return 91900; }
EXPORT const char *cudnnGetErrorString(int) { return "CUDNN_STATUS_OTHER"; }
EXPORT void cudnnGetLastErrorString(char *text, std::size_t) { *text = '\0'; }
EXPORT int cudnnCreate(Handle *handle) {
  static int instance;
  *handle = &instance;
  return Success;
}
EXPORT int cudnnDestroy(Handle) { return Success; }
EXPORT int cudnnSetStream(Handle, void *) { return Success; }

EXPORT int cudnnBackendCreateDescriptor(int type, BackendDescriptor *to) {
  ++created[type];
  *to = new FakeDescriptor{type};
  return Success;
}
EXPORT int cudnnBackendDestroyDescriptor(BackendDescriptor descriptor) {
  delete static_cast<FakeDescriptor *>(descriptor);
  return Success;
}
EXPORT int cudnnBackendFinalize(BackendDescriptor descriptor) {
  ++finalized[static_cast<FakeDescriptor *>(descriptor)->type];
  return Success;
}
EXPORT int cudnnBackendSetAttribute(BackendDescriptor, int, int, std::int64_t,
                                    const void *) {
  return Success;
}
EXPORT int cudnnBackendGetAttribute(BackendDescriptor descriptor, int attribute,
                                    int, std::int64_t capacity,
                                    std::int64_t *returnedCount, void *to) {
  constexpr std::int64_t kEngines = 2, kKnobs = 2;
  const std::int64_t index = static_cast<FakeDescriptor *>(descriptor)->index;
  auto returnDescriptors = [&](std::int64_t count, std::int64_t first) {
    *returnedCount = count;
    for (std::int64_t i = 0; i < count && i < capacity; ++i)
      at(to, i).index = first + i;
    return int(Success);
  };
  switch (attribute) {
  case HeuristicsResults:
    return returnDescriptors(kEngines, 0);
  case EngineConfigKnobChoices: // cuDNN does not report their number
    return returnDescriptors(capacity > 0 ? kKnobs : 0, 0);
  case EngineConfigEngine:
    return returnDescriptors(1, index);
  case KnobChoiceType:
    return returnScalar(static_cast<int>(index), capacity, returnedCount, to);
  case EngineGlobalIndex:
  case KnobChoiceValue:
    return returnScalar(index, capacity, returnedCount, to);
  case PlanWorkspaceSize:
    return returnScalar(std::int64_t(64), capacity, returnedCount, to);
  default:
    *returnedCount = 0;
    return Success;
  }
}
EXPORT int cudnnBackendExecute(Handle, BackendDescriptor, BackendDescriptor) {
  return Success;
}

// The legacy functions.
#define FAKE(NAME, ...)                                                        \
  EXPORT int NAME(__VA_ARGS__) { return Success; }
FAKE(cudnnCreateTensorDescriptor, LegacyTensor *)
FAKE(cudnnDestroyTensorDescriptor, LegacyTensor)
FAKE(cudnnSetTensorNdDescriptor, LegacyTensor, int, int, const int *,
     const int *)
FAKE(cudnnAddTensor, Handle, const void *, LegacyTensor, const void *,
     const void *, LegacyTensor, void *)
FAKE(cudnnCreateActivationDescriptor, LegacyActivation *)
FAKE(cudnnSetActivationDescriptor, LegacyActivation, int, int, double)
FAKE(cudnnDestroyActivationDescriptor, LegacyActivation)
FAKE(cudnnActivationForward, Handle, LegacyActivation, const void *,
     LegacyTensor, const void *, const void *, LegacyTensor, void *)
FAKE(cudnnCreateOpTensorDescriptor, LegacyOpTensor *)
FAKE(cudnnSetOpTensorDescriptor, LegacyOpTensor, int, int, int)
FAKE(cudnnDestroyOpTensorDescriptor, LegacyOpTensor)
FAKE(cudnnOpTensor, Handle, LegacyOpTensor, const void *, LegacyTensor,
     const void *, const void *, LegacyTensor, const void *, const void *,
     LegacyTensor, void *)
FAKE(cudnnConvolutionBackwardBias, Handle, const void *, LegacyTensor,
     const void *, const void *, LegacyTensor, void *)
