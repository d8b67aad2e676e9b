//===- CpuFeatures.cpp - Features of the processor ------------------------===//
#include "runtime/cpu/CpuFeatures.h"

#include "support/Error.h"

#include <cstdint>
#include <cstdio>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace brew::runtime {

#if defined(__x86_64__)

namespace {

enum Register { EAX, EBX, ECX, EDX };

/// Registers whose content the system must save for a feature to be usable.
enum class SavedState { None, Avx, Avx512, Amx };

struct Feature {
  const char *name; ///< LLVM's name
  std::uint32_t leaf, subleaf;
  Register reg;
  int bit;
  SavedState state = SavedState::None;
};

constexpr auto Avx = SavedState::Avx;
constexpr auto Avx512 = SavedState::Avx512;
constexpr auto Amx = SavedState::Amx;

// From Intel's and AMD's manuals, instruction CPUID.
const Feature kFeatures[] = {
    {"x87", 1, 0, EDX, 0},
    {"cx8", 1, 0, EDX, 8},
    {"cmov", 1, 0, EDX, 15},
    {"mmx", 1, 0, EDX, 23},
    {"fxsr", 1, 0, EDX, 24},
    {"sse", 1, 0, EDX, 25},
    {"sse2", 1, 0, EDX, 26},
    {"sse3", 1, 0, ECX, 0},
    {"pclmul", 1, 0, ECX, 1},
    {"ssse3", 1, 0, ECX, 9},
    {"fma", 1, 0, ECX, 12, Avx},
    {"cx16", 1, 0, ECX, 13},
    {"sse4.1", 1, 0, ECX, 19},
    {"sse4.2", 1, 0, ECX, 20},
    {"crc32", 1, 0, ECX, 20},
    {"movbe", 1, 0, ECX, 22},
    {"popcnt", 1, 0, ECX, 23},
    {"aes", 1, 0, ECX, 25},
    {"xsave", 1, 0, ECX, 26},
    {"avx", 1, 0, ECX, 28, Avx},
    {"f16c", 1, 0, ECX, 29, Avx},
    {"rdrnd", 1, 0, ECX, 30},
    {"fsgsbase", 7, 0, EBX, 0},
    {"bmi", 7, 0, EBX, 3},
    {"avx2", 7, 0, EBX, 5, Avx},
    {"bmi2", 7, 0, EBX, 8},
    {"invpcid", 7, 0, EBX, 10},
    {"rtm", 7, 0, EBX, 11},
    {"avx512f", 7, 0, EBX, 16, Avx512},
    {"avx512dq", 7, 0, EBX, 17, Avx512},
    {"rdseed", 7, 0, EBX, 18},
    {"adx", 7, 0, EBX, 19},
    {"avx512ifma", 7, 0, EBX, 21, Avx512},
    {"clflushopt", 7, 0, EBX, 23},
    {"clwb", 7, 0, EBX, 24},
    {"avx512cd", 7, 0, EBX, 28, Avx512},
    {"sha", 7, 0, EBX, 29},
    {"avx512bw", 7, 0, EBX, 30, Avx512},
    {"avx512vl", 7, 0, EBX, 31, Avx512},
    {"avx512vbmi", 7, 0, ECX, 1, Avx512},
    {"pku", 7, 0, ECX, 4},
    {"waitpkg", 7, 0, ECX, 5},
    {"avx512vbmi2", 7, 0, ECX, 6, Avx512},
    {"shstk", 7, 0, ECX, 7},
    {"gfni", 7, 0, ECX, 8},
    {"vaes", 7, 0, ECX, 9, Avx},
    {"vpclmulqdq", 7, 0, ECX, 10, Avx},
    {"avx512vnni", 7, 0, ECX, 11, Avx512},
    {"avx512bitalg", 7, 0, ECX, 12, Avx512},
    {"avx512vpopcntdq", 7, 0, ECX, 14, Avx512},
    {"rdpid", 7, 0, ECX, 22},
    {"cldemote", 7, 0, ECX, 25},
    {"movdiri", 7, 0, ECX, 27},
    {"movdir64b", 7, 0, ECX, 28},
    {"enqcmd", 7, 0, ECX, 29},
    {"uintr", 7, 0, EDX, 5},
    {"avx512vp2intersect", 7, 0, EDX, 8, Avx512},
    {"serialize", 7, 0, EDX, 14},
    {"tsxldtrk", 7, 0, EDX, 16},
    {"pconfig", 7, 0, EDX, 18},
    {"amx-bf16", 7, 0, EDX, 22, Amx},
    {"avx512fp16", 7, 0, EDX, 23, Avx512},
    {"amx-tile", 7, 0, EDX, 24, Amx},
    {"amx-int8", 7, 0, EDX, 25, Amx},
    {"sha512", 7, 1, EAX, 0},
    {"sm3", 7, 1, EAX, 1},
    {"sm4", 7, 1, EAX, 2},
    {"raoint", 7, 1, EAX, 3},
    {"avxvnni", 7, 1, EAX, 4, Avx},
    {"avx512bf16", 7, 1, EAX, 5, Avx512},
    {"cmpccxadd", 7, 1, EAX, 7},
    {"amx-fp16", 7, 1, EAX, 21, Amx},
    {"hreset", 7, 1, EAX, 22},
    {"avxifma", 7, 1, EAX, 23, Avx},
    {"avxvnniint8", 7, 1, EDX, 4, Avx},
    {"avxneconvert", 7, 1, EDX, 5, Avx},
    {"amx-complex", 7, 1, EDX, 8, Amx},
    {"avxvnniint16", 7, 1, EDX, 10, Avx},
    {"prefetchi", 7, 1, EDX, 14},
    {"xsaveopt", 0xd, 1, EAX, 0},
    {"xsavec", 0xd, 1, EAX, 1},
    {"xsaves", 0xd, 1, EAX, 3},
    {"ptwrite", 0x14, 0, EBX, 4},
    {"kl", 7, 0, ECX, 23},
    {"sgx", 7, 0, EBX, 2},
    {"sahf", 0x80000001, 0, ECX, 0},
    {"lzcnt", 0x80000001, 0, ECX, 5},
    {"sse4a", 0x80000001, 0, ECX, 6},
    {"prfchw", 0x80000001, 0, ECX, 8},
    {"xop", 0x80000001, 0, ECX, 11, Avx},
    {"lwp", 0x80000001, 0, ECX, 15},
    {"fma4", 0x80000001, 0, ECX, 16, Avx},
    {"tbm", 0x80000001, 0, ECX, 21},
    {"mwaitx", 0x80000001, 0, ECX, 29},
    {"64bit", 0x80000001, 0, EDX, 29},
    {"clzero", 0x80000008, 0, EBX, 0},
    {"rdpru", 0x80000008, 0, EBX, 4},
    {"wbnoinvd", 0x80000008, 0, EBX, 9},
};

} // namespace

/// Returns the state components that the system saves on a context switch
/// (register XCR0); 0 if that register cannot be read.
static std::uint64_t savedComponents() {
  std::uint32_t a, b, c, d;
  constexpr std::uint32_t osxsave = 1u << 27;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & osxsave))
    return 0;
  std::uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t(high) << 32) | low;
}

static bool isStateSaved(SavedState state) {
  static const std::uint64_t saved = savedComponents();
  std::uint64_t needed = 0;
  switch (state) {
  case SavedState::None:
    break;
  case SavedState::Avx: // SSE and AVX halves
    needed = 0x6;
    break;
  case SavedState::Avx512: // and masks, upper halves, upper registers
    needed = 0xe6;
    break;
  case SavedState::Amx: // tile configuration and data
    needed = 0x60000;
    break;
  }
  return (saved & needed) == needed;
}

bool cpuHasFeature(std::string_view name) {
  for (const Feature &feature : kFeatures) {
    if (name != feature.name)
      continue;
    std::uint32_t registers[4];
    return __get_cpuid_count(feature.leaf, feature.subleaf, &registers[EAX],
                             &registers[EBX], &registers[ECX],
                             &registers[EDX]) &&
           (registers[feature.reg] >> feature.bit & 1) &&
           isStateSaved(feature.state);
  }
  return false;
}

std::string processorName() {
  std::uint32_t registers[4] = {};
  std::string name;
  for (std::uint32_t leaf = 0x80000002; leaf <= 0x80000004; ++leaf)
    if (__get_cpuid(leaf, &registers[EAX], &registers[EBX], &registers[ECX],
                    &registers[EDX]))
      name.append(reinterpret_cast<const char *>(registers), sizeof registers);
  for (char &letter : name)
    if (letter < ' ' || letter > '~')
      letter = ' ';
  const std::size_t begin = name.find_first_not_of(' '),
                    end = name.find_last_not_of(' ');
  name = begin == name.npos ? "unknown" : name.substr(begin, end + 1 - begin);
  std::uint32_t signature = 0, b, c, d;
  __get_cpuid(1, &signature, &b, &c, &d);
  char text[16];
  std::snprintf(text, sizeof text, " (%x)", signature);
  return name + text;
}

static const char *const kArchitecture = "x86_64";

#else // !__x86_64__

// Features of other processors are unknown: plans that require some are
// rejected, plans for the architecture's baseline run.
bool cpuHasFeature(std::string_view) { return false; }

std::string processorName() { return "unknown"; }

#if defined(__aarch64__)
static const char *const kArchitecture = "aarch64";
#else
static const char *const kArchitecture = "unknown";
#endif
#endif

void checkTarget(const plan::Target &target, const std::string &path) {
  std::string builtFor = path + ": this plan was built for ";
  if (target.kind() != plan::Target::CPU)
    throw unavailable(builtFor +
                      "CUDA, which this build of the runtime does not "
                      "support");
  builtFor += target.cpu().empty() ? "CPU" : target.cpu();
  if (!target.triple().empty()) {
    builtFor += " (" + target.triple() + ")";
    std::string arch = target.triple().substr(0, target.triple().find('-'));
    if (arch != kArchitecture)
      throw unavailable(builtFor + "; this machine is " + kArchitecture);
  }
  std::string missing;
  for (const std::string &feature : target.cpu_features())
    if (!cpuHasFeature(feature))
      missing += (missing.empty() ? "" : ", ") + feature;
  if (!missing.empty())
    throw unavailable(builtFor + "; this machine lacks " + missing +
                      " (recompile the net with --cpu native on this "
                      "machine)");
}

} // namespace brew::runtime
