//===- LinkObjects.cpp - Linking of object files to a shared object -------===//

#include "compiler/cpu/LinkObjects.h"

#include "compiler/options/LlvmArguments.h"
#include "support/Error.h"

#include "lld/Common/Driver.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

namespace brew::compiler::cpu {
namespace {

/// A new temporary folder. The destructor removes it with its contents.
class TemporaryFolder {
public:
  TemporaryFolder() {
    if (std::error_code code =
            llvm::sys::fs::createUniqueDirectory("brewc", path))
      throw unavailable(
          "cannot create a temporary folder to link kernels in: " +
          code.message());
  }
  ~TemporaryFolder() { llvm::sys::fs::remove_directories(path); }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  std::string file(const std::string &name) const {
    llvm::SmallString<128> full = path;
    llvm::sys::path::append(full, name);
    return full.str().str();
  }

private:
  llvm::SmallString<128> path;
};

void writeFile(const std::string &path, const std::string &bytes) {
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (!code) {
    stream << bytes;
    stream.close();
    code = stream.error();
    stream.clear_error();
  }
  if (code)
    throw unavailable("cannot write the temporary file " + path + ": " +
                      code.message());
}

/// Returns whether libc or libm, which every host program has loaded, provides
/// `symbol`.
bool isProvided(llvm::StringRef symbol) {
  static const llvm::StringSet<> providedSymbols = [] {
    llvm::StringSet<> names;
    names.insert_range(llvm::ArrayRef<llvm::StringRef>{
        "memcpy", "memmove", "memset", "memcmp", "malloc", "free"});
    for (llvm::StringRef function :
         {"acos",  "acosh",     "asin", "asinh", "atan",  "atan2",
          "atanh", "cbrt",      "ceil", "cos",   "cosh",  "erf",
          "erfc",  "exp",       "exp2", "expm1", "floor", "fma",
          "fmod",  "fmax",      "fmin", "log",   "log10", "log1p",
          "log2",  "nearbyint", "pow",  "rint",  "round", "roundeven",
          "sin",   "sincos",    "sinh", "sqrt",  "tan",   "tanh",
          "trunc", "exp10",     "ldexp"})
      for (llvm::StringRef suffix : {"", "f"})
        names.insert((function + suffix).str());
    return names;
  }();
  return providedSymbols.contains(symbol) || symbol == "_GLOBAL_OFFSET_TABLE_";
}

/// Throws Error (Bug) if a symbol cannot be resolved. Without this check,
/// loading the plan would fail.
void checkUndefinedSymbols(const std::vector<std::string> &objects) {
  llvm::StringSet<> defined;
  std::vector<std::string> undefined;
  for (const std::string &bytes : objects) {
    auto object = llvm::object::ObjectFile::createELFObjectFile(
        llvm::MemoryBufferRef(bytes, "kernels"));
    if (!object)
      throw Error(ExitStatus::Bug,
                  "CPU code generation: " + llvm::toString(object.takeError()));
    for (const llvm::object::SymbolRef &symbol : (*object)->symbols()) {
      llvm::StringRef name =
          llvm::cantFail(symbol.getName(), "symbol of an object just made");
      uint32_t flags = llvm::cantFail(symbol.getFlags());
      if (flags & llvm::object::SymbolRef::SF_Undefined)
        undefined.push_back(name.str());
      else if (flags & llvm::object::SymbolRef::SF_Global)
        defined.insert(name);
    }
  }
  for (const std::string &name : undefined)
    if (!name.empty() && !defined.contains(name) && !isProvided(name))
      throw Error(ExitStatus::Bug, "CPU code generation: a kernel calls '" +
                                       name +
                                       "', which is in neither libc nor libm");
}

void runLinker(llvm::ArrayRef<const char *> arguments) {
  // The linker stores its state in globals.
  static std::mutex mutex;
  static bool isBroken = false;
  std::lock_guard<std::mutex> lock(mutex);
  if (isBroken)
    throw Error(ExitStatus::Bug,
                "CPU code generation: the linker has failed in this process "
                "before and cannot run again in it");
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  // Without this, fatal linker errors would end the process.
  llvm::CrashRecoveryContext::Enable();
  lld::Result result =
      lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  llvm::CrashRecoveryContext::Disable();
  // The linker resets every LLVM option.
  reapplyLlvmArguments();
  isBroken = !result.canRunAgain;
  if (result.retCode != 0)
    throw Error(ExitStatus::Bug, "CPU code generation: the linker failed: " +
                                     llvm::StringRef(messages).trim().str());
}

} // namespace

std::string linkSharedObject(const std::vector<std::string> &objects) {
  checkUndefinedSymbols(objects);
  TemporaryFolder folder;
  std::vector<std::string> arguments = {"ld.lld",
                                        "-shared",
                                        "-m",
                                        "elf_x86_64",
                                        "-z",
                                        "relro",
                                        "-z",
                                        "now",
                                        "-z",
                                        "noexecstack",
                                        "--hash-style=gnu",
                                        "--build-id=none",
                                        "--strip-all",
                                        "--gc-sections",
                                        "--threads=1",
                                        "-o"};
  std::string output = folder.file("kernels.so");
  arguments.push_back(output);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    arguments.push_back(folder.file(std::to_string(i) + ".o"));
    writeFile(arguments.back(), objects[i]);
  }
  std::vector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());

  runLinker(pointers);
  auto buffer = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    throw unavailable("cannot read the temporary file " + output + ": " +
                      buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

} // namespace brew::compiler::cpu
