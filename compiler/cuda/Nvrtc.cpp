//===- Nvrtc.cpp - NVIDIA's run-time compiler -----------------------------===//
#include "compiler/cuda/Nvrtc.h"

#include "support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include <cstdlib>
#include <dlfcn.h>

namespace brew::compiler::cuda {

namespace {

/// Returns the usual CUDA folders.
std::vector<std::string> cudaFolders() {
  std::vector<std::string> folders;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *value = std::getenv(variable); value && *value)
      folders.push_back(value);
  folders.push_back("/usr/local/cuda");
  return folders;
}

constexpr const char *kLibraryNames[] = {"libnvrtc.so.13", "libnvrtc.so.12",
                                         "libnvrtc.so"};
constexpr const char *kStandardOption = "--std=c++17";

using Program = void *;

} // namespace

/// NVRTC's functions, declared as in nvrtc.h, which return 0 for success.
struct Nvrtc::Api {
  void *handle = nullptr;
  std::string version;
  int versionNumber = 0; ///< 13000 for 13.0
  std::vector<int> archs;
  std::string headers; ///< folder of CUDA's headers; empty if not found

  int (*getVersion)(int *, int *);
  int (*getArchCount)(int *);
  int (*getArchs)(int *);
  int (*create)(Program *, const char *, const char *, int, const char *const *,
                const char *const *);
  int (*destroy)(Program *);
  int (*compile)(Program, int, const char *const *);
  int (*cubinSize)(Program, std::size_t *);
  int (*cubin)(Program, char *);
  int (*ptxSize)(Program, std::size_t *);
  int (*ptx)(Program, char *);
  int (*logSize)(Program, std::size_t *);
  int (*log)(Program, char *);
  const char *(*errorText)(int);

  void open();
  void findHeaders();
  template <typename Function>
  void bind(Function *&function, const char *name) {
    function = reinterpret_cast<Function *>(dlsym(handle, name));
    if (!function)
      throw unavailable(std::string("this NVRTC is too old: it has no ") +
                        name + " (CUDA 12 or newer is needed)");
  }
  void throwIfFailed(int status, const char *subject) const {
    if (status)
      throw unavailable(std::string("NVRTC ") + version + ": " + subject +
                        " fails: " + errorText(status));
  }
  using Size = int (*)(Program, std::size_t *);
  using Bytes = int (*)(Program, char *);
  std::string getBytes(Program program, Size size, Bytes bytes,
                       const char *subject) const {
    std::size_t length = 0;
    throwIfFailed(size(program, &length), subject);
    std::string result(length, '\0');
    if (length)
      throwIfFailed(bytes(program, result.data()), subject);
    return result;
  }
};

void Nvrtc::Api::open() {
  std::vector<std::string> candidates(std::begin(kLibraryNames),
                                      std::end(kLibraryNames));
  for (const std::string &folder : cudaFolders())
    for (const char *subfolder : {"/lib64/", "/lib/"})
      for (const char *name : kLibraryNames)
        candidates.push_back(folder + subfolder + name);
  std::string reason;
  for (const std::string &candidate : candidates) {
    handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle)
      return;
    // Prefer the error of a library that exists but does not load.
    if (candidate[0] == '/' && llvm::sys::fs::exists(candidate))
      reason = dlerror();
  }
  throw unavailable(
      "a plan for GPUs needs NVRTC to compile its kernels, and " +
      (reason.empty()
           ? "libnvrtc.so.13 or libnvrtc.so.12 was not found (looked "
             "where the loader does, in $CUDA_HOME and in "
             "/usr/local/cuda); install it with the CUDA toolkit"
           : "it does not load: " + reason) +
      "; --emit=kernels works without it");
}

void Nvrtc::Api::findHeaders() {
  std::vector<std::string> folders = cudaFolders();
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(getVersion), &info) && info.dli_fname) {
    std::string library = info.dli_fname;
    // FOLDER/lib64/libnvrtc.so.13
    for (int i = 0; i < 2; ++i)
      library = library.substr(0, std::min(library.rfind('/'), library.size()));
    folders.insert(folders.begin(), library);
  }
  for (const std::string &folder : folders)
    if (llvm::sys::fs::exists(folder + "/include/cuda_fp16.h")) {
      headers = folder + "/include";
      return;
    }
}

Nvrtc::Nvrtc() : api(std::make_unique<Api>()) {
  api->open();
  Api &a = *api;
  a.bind(a.getVersion, "nvrtcVersion");
  a.bind(a.getArchCount, "nvrtcGetNumSupportedArchs");
  a.bind(a.getArchs, "nvrtcGetSupportedArchs");
  a.bind(a.create, "nvrtcCreateProgram");
  a.bind(a.destroy, "nvrtcDestroyProgram");
  a.bind(a.compile, "nvrtcCompileProgram");
  a.bind(a.cubinSize, "nvrtcGetCUBINSize");
  a.bind(a.cubin, "nvrtcGetCUBIN");
  a.bind(a.ptxSize, "nvrtcGetPTXSize");
  a.bind(a.ptx, "nvrtcGetPTX");
  a.bind(a.logSize, "nvrtcGetProgramLogSize");
  a.bind(a.log, "nvrtcGetProgramLog");
  a.bind(a.errorText, "nvrtcGetErrorString");
  int major = 0, minor = 0, count = 0;
  a.throwIfFailed(a.getVersion(&major, &minor), "nvrtcVersion");
  a.version = std::to_string(major) + "." + std::to_string(minor);
  a.versionNumber = 1000 * major + 10 * minor;
  a.throwIfFailed(a.getArchCount(&count), "nvrtcGetNumSupportedArchs");
  a.archs.resize(count);
  a.throwIfFailed(a.getArchs(a.archs.data()), "nvrtcGetSupportedArchs");
  a.findHeaders();
}

Nvrtc::~Nvrtc() = default; // never unload the library: it does not unload
                           // cleanly

const std::string &Nvrtc::version() const { return api->version; }

int Nvrtc::versionNumber() const { return api->versionNumber; }

void Nvrtc::requireArch(const std::string &arch) const {
  int number = std::atoi(arch.c_str() + arch.find('_') + 1);
  if (llvm::is_contained(api->archs, number))
    return;
  std::string supportedArchs;
  for (int supported : api->archs)
    supportedArchs +=
        (supportedArchs.empty() ? "sm_" : ", sm_") + std::to_string(supported);
  throw Error(ExitStatus::Usage, "--gpu-arch: NVRTC " + api->version +
                                     " cannot compile for " + arch +
                                     "; it knows " + supportedArchs);
}

std::string Nvrtc::optionsKey() { return kStandardOption; }

Nvrtc::Result Nvrtc::compile(const std::string &text, const std::string &name,
                             const std::string &arch, bool needsHeaders) const {
  std::string archOption = "--gpu-architecture=" + arch,
              include = "--include-path=" + api->headers;
  std::vector<const char *> options = {kStandardOption, archOption.c_str()};
  if (needsHeaders) {
    if (api->headers.empty())
      throw unavailable("16-bit precision needs CUDA's header cuda_fp16.h, "
                        "which was not found beside NVRTC, in $CUDA_HOME or "
                        "in /usr/local/cuda; install the CUDA toolkit");
    options.push_back(include.c_str());
  }
  Program program = nullptr;
  api->throwIfFailed(
      api->create(&program, text.c_str(), name.c_str(), 0, nullptr, nullptr),
      "nvrtcCreateProgram");
  Result result;
  int status =
      api->compile(program, static_cast<int>(options.size()), options.data());
  // Status 6 means that the text does not compile. Other errors are failures of
  // NVRTC itself.
  if (status != 0 && status != 6)
    api->throwIfFailed(status, "nvrtcCompileProgram");
  result.succeeded = status == 0;
  result.log = api->getBytes(program, api->logSize, api->log, "its log");
  if (result.succeeded) {
    if (arch.rfind("sm_", 0) == 0)
      result.cubin =
          api->getBytes(program, api->cubinSize, api->cubin, "its code");
    result.ptx = api->getBytes(program, api->ptxSize, api->ptx, "its PTX");
    while (!result.ptx.empty() && result.ptx.back() == '\0')
      result.ptx.pop_back();
  }
  while (!result.log.empty() && result.log.back() == '\0')
    result.log.pop_back();
  api->destroy(&program);
  return result;
}

} // namespace brew::compiler::cuda
