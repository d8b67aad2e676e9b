//===- Kernel.cpp - A hand-written kernel for the simulator ---------------===//
#include "Kernel.h"

#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace brew::test {

const char *const kPrelude = R"(#ifdef BREW_CUDASIM
#include "cudasim.h"
#else
#define BREW_KERNEL(name, threads)                                             \
  extern "C" __global__ void __launch_bounds__(threads) name
#define BREW_IN(type, name, count) const type *__restrict__ name
#define BREW_OUT(type, name, count) type *__restrict__ name
#define BREW_INOUT(type, name, count) type *name
#define BREW_SHARED(type, name, count) __shared__ type name[count]
#define BREW_SYNC() __syncthreads()
#define BREW_SYNC_WARP() __syncwarp()
#define BREW_SHUFFLE_XOR(value, mask) __shfl_xor_sync(0xffffffffu, value, mask)
#define BREW_SHUFFLE_DOWN(value, delta)                                        \
  __shfl_down_sync(0xffffffffu, value, delta)
template <class T, int count> struct __align__(sizeof(T) * count) BrewVector {
  T elements[count];
  __device__ T &operator[](int i) { return elements[i]; }
};
#define BREW_COUNTERS(name, count) static __device__ unsigned name[count]
#define BREW_LOAD_L2(name, index) __ldcg((name) + (index))
static __device__ bool lastBlock(unsigned *counter, unsigned blocks) {
  __shared__ bool isLast;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0)
    isLast = atomicInc(counter, blocks - 1) == blocks - 1;
  __syncthreads();
  return isLast;
}
#define BREW_LAST_BLOCK(counter, blocks) lastBlock(&(counter), blocks)
#define BREW_STAGES(name) unsigned long long name
#define BREW_STAGE(stages, number) if ((stages) >> (number) & 1)
#define BREW_BARRIER(name) static __device__ unsigned name[2]
#define BREW_STAGE_BARRIER(stages, number, barrier)                              \
  if (((stages) >> ((number) - 1) & 3) == 3) waitAtStageBarrier(barrier)
static __device__ void waitAtStageBarrier(unsigned *barrier) {
  __syncthreads();
  if (threadIdx.x == 0) {
    const volatile unsigned *round = barrier + 1;
    const unsigned before = *round;
    __threadfence();
    if (atomicInc(barrier, gridDim.x - 1) == gridDim.x - 1)
      atomicAdd(barrier + 1, 1);
    else
      while (*round == before) {
      }
    __threadfence();
  }
  __syncthreads();
}
#define BREW_VECTOR(type, count) BrewVector<type, count>
#define BREW_LOAD(pack, pointer, index)                                        \
  (*reinterpret_cast<const pack *>((pointer) + (index)))
#define BREW_STORE(pack, pointer, index, value)                                \
  (*reinterpret_cast<pack *>((pointer) + (index)) = (value))
#endif
)";

Kernel::Kernel(const std::string &name, const std::string &text,
               const std::string &prelude)
    : name(name), source(prelude + text) {
  char folder[] = "/tmp/cudasim-test-XXXXXX";
  if (!mkdtemp(folder))
    throw std::runtime_error("no temporary folder");
  std::string input = folder + ("/" + name + ".cu");
  std::string image = folder + ("/" + name + ".so");
  std::ofstream(input) << source;
  std::string command = CUDASIM_FOLDER "/compile " + input + " " + image;
  bool isCompiled = std::system(command.c_str()) == 0;
  std::ifstream imageFile(image, std::ios::binary);
  bytes.assign(std::istreambuf_iterator<char>(imageFile), {});
  void *library =
      isCompiled ? dlopen(image.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  unlink(input.c_str());
  unlink(image.c_str());
  rmdir(folder);
  if (!library)
    throw std::runtime_error(name + " has no image");
  entry = reinterpret_cast<decltype(entry)>(
      dlsym(library, ("cudasim_kernel_" + name).c_str()));
  if (!entry)
    throw std::runtime_error(name + " is not in its image");
}

void Kernel::setCooperative(bool isCooperative) const {
  auto set = reinterpret_cast<void (*)(bool)>(
      dlsym(RTLD_DEFAULT, "cudasim_set_cooperation"));
  if (!set)
    throw std::runtime_error("the simulator's engine is not loaded");
  set(isCooperative);
}

void Kernel::launch(unsigned blocks, unsigned threads,
                    const std::vector<void *> &arguments) const {
  unsigned grid[3] = {blocks, 1, 1}, block[3] = {threads, 1, 1};
  std::vector<void *> addresses = arguments;
  std::vector<void *> pointers;
  for (void *&address : addresses)
    pointers.push_back(&address);
  entry(grid, block, pointers.data());
}

std::string compileWithNvrtc(const std::string &text, const std::string &arch) {
  void *library = nullptr;
  for (const char *name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                           "/usr/local/cuda/lib64/libnvrtc.so"})
    if (!library)
      library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return "no NVRTC";
  auto function = [&](const char *name, auto type) {
    return reinterpret_cast<decltype(type)>(dlsym(library, name));
  };
  using Program = void *;
  using Create = int (*)(Program *, const char *, const char *, int,
                         const char *const *, const char *const *);
  using Compile = int (*)(Program, int, const char *const *);
  using LogSize = int (*)(Program, std::size_t *);
  using Log = int (*)(Program, char *);
  using Destroy = int (*)(Program *);
  Program program = nullptr;
  int result = function("nvrtcCreateProgram", Create())(
      &program, text.c_str(), "kernel.cu", 0, nullptr, nullptr);
  if (result)
    return "nvrtcCreateProgram returned " + std::to_string(result);
  std::string option = "--gpu-architecture=" + arch;
  const char *options[] = {option.c_str(), "--std=c++17",
                           "-I" CUDASIM_CUDA_INCLUDE};
  std::string log;
  if (function("nvrtcCompileProgram", Compile())(program, 3, options)) {
    std::size_t size = 0;
    function("nvrtcGetProgramLogSize", LogSize())(program, &size);
    log.resize(size);
    function("nvrtcGetProgramLog", Log())(program, log.data());
  }
  function("nvrtcDestroyProgram", Destroy())(&program);
  return log;
}

} // namespace brew::test
