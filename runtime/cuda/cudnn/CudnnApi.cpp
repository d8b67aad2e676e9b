//===- CudnnApi.cpp - cuDNN 9, opened at first use ------------------------===//
#include "runtime/cuda/cudnn/CudnnApi.h"

#include <dlfcn.h>

#include <memory>
#include <mutex>

namespace brew::runtime::cuda::cudnn {

static constexpr std::size_t kMinimumVersion = 90000;

static std::string versionText(std::size_t version) {
  return std::to_string(version / 10000) + "." +
         std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

static std::unique_ptr<Api> loadCudnn() {
  const std::string requirement = "this plan needs cuDNN " +
                                  versionText(kMinimumVersion) +
                                  " or later of version 9";
  void *library = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const std::string reason = dlerror();
    // Look for an older version to report.
    for (const char *older : {"libcudnn.so.8", "libcudnn.so.7"})
      if ((library = dlopen(older, RTLD_NOW | RTLD_LOCAL))) {
        auto version = reinterpret_cast<std::size_t (*)()>(
            dlsym(library, "cudnnGetVersion"));
        const std::size_t found = version ? version() : 0;
        throw Failure(requirement + "; found is " +
                      std::to_string(found / 1000) + "." +
                      std::to_string(found / 100 % 10) + "." +
                      std::to_string(found % 100));
      }
    throw Failure(requirement + ", which cannot be opened: " + reason);
  }
  auto api = std::make_unique<Api>();
  std::string missing;
#define BREW_LOOK_UP(NAME, RESULT, ARGUMENTS)                                  \
  api->NAME = reinterpret_cast<decltype(api->NAME)>(dlsym(library, #NAME));    \
  if (!api->NAME)                                                              \
    missing = #NAME;
  BREW_CUDNN_FUNCTIONS(BREW_LOOK_UP)
#undef BREW_LOOK_UP
  const std::size_t version = api->cudnnGetVersion ? api->cudnnGetVersion() : 0;
  if (!missing.empty() || version < kMinimumVersion)
    throw Failure(requirement + "; found is " + versionText(version) +
                  (missing.empty() ? "" : ", which lacks " + missing));
  return api;
}

const Api &Api::open() {
  static std::mutex mutex;
  static std::unique_ptr<Api> api;
  std::lock_guard<std::mutex> lock(mutex);
  if (!api)
    api = loadCudnn();
  return *api;
}

void Api::check(int status, const char *action) const {
  if (status == Success)
    return;
  char detail[256] = "";
  cudnnGetLastErrorString(detail, sizeof detail);
  throw Failure(std::string(action) + ": " + cudnnGetErrorString(status) +
                (detail[0] ? std::string(" (") + detail + ")" : ""));
}

std::string Api::name() const {
  return "cuDNN " + versionText(cudnnGetVersion());
}

Descriptor::Descriptor(const Api &cudnnApi, DescriptorType type)
    : api(&cudnnApi) {
  api->check(api->cudnnBackendCreateDescriptor(type, &descriptor),
             "creating a descriptor");
}

Descriptor &Descriptor::set(Attribute attribute, AttributeType type,
                            std::int64_t count, const void *values) {
  const std::string action = "setting attribute " + std::to_string(attribute);
  api->check(
      api->cudnnBackendSetAttribute(descriptor, attribute, type, count, values),
      action.c_str());
  return *this;
}

Descriptor &Descriptor::finalize() {
  api->check(api->cudnnBackendFinalize(descriptor), "finalizing a descriptor");
  return *this;
}

void Descriptor::read(Attribute attribute, AttributeType type,
                      std::int64_t maxCount, std::int64_t *found,
                      void *values) const {
  const std::string action = "reading attribute " + std::to_string(attribute);
  api->check(api->cudnnBackendGetAttribute(descriptor, attribute, type,
                                           maxCount, found, values),
             action.c_str());
}

std::int64_t Descriptor::count(Attribute attribute, AttributeType type) const {
  std::int64_t found = 0;
  read(attribute, type, 0, &found, nullptr);
  return found;
}

std::int64_t Descriptor::get(Attribute attribute,
                             std::vector<Descriptor> &targets) const {
  std::vector<BackendDescriptor> raw;
  for (const Descriptor &target : targets)
    raw.push_back(target.get());
  std::int64_t found = 0;
  read(attribute, TypeBackendDescriptor, static_cast<std::int64_t>(raw.size()),
       &found, raw.data());
  return std::min<std::int64_t>(found, static_cast<std::int64_t>(raw.size()));
}

} // namespace brew::runtime::cuda::cudnn
