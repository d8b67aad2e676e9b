//===- SimCompiler.cpp - Kernel compiler of the test simulator ------------===//
#include "compiler/cuda/SimCompiler.h"

#include "support/Error.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <vector>

using namespace llvm;

namespace brew::compiler::cuda {

static std::string folderOfSimulator() {
  if (const char *folder = std::getenv("BREW_CUDASIM"); folder && *folder)
    return folder;
  static int anchor;
  SmallString<128> folder(sys::fs::getMainExecutable("", &anchor));
  sys::path::remove_filename(folder);
  sys::path::append(folder, "..", "lib", "cudasim");
  sys::path::remove_dots(folder, /*remove_dot_dot=*/true);
  return folder.str().str();
}

static std::string contentOf(const std::string &path) {
  auto file = MemoryBuffer::getFile(path);
  return file ? (*file)->getBuffer().str() : "";
}

SimCompiler::SimCompiler() {
  std::string folder = folderOfSimulator();
  program = folder + "/compile";
  if (!sys::fs::can_execute(program))
    throw unavailable(
        "--gpu-arch sim needs the simulator that Brew's tests build, but "
        "there is no " +
        program + " (BREW_CUDASIM names another folder)");
  // The program and its headers determine the result.
  std::vector<std::string> files;
  std::error_code error;
  for (sys::fs::directory_iterator i(folder, error), end; i != end && !error;
       i.increment(error))
    if (StringRef(i->path()).ends_with(".h") ||
        StringRef(i->path()).ends_with("/compile"))
      files.push_back(i->path());
  llvm::sort(files);
  for (const std::string &file : files)
    version += contentOf(file);
}

SimCompiler::Result SimCompiler::compile(const std::string &text,
                                         const std::string &name) const {
  SmallString<128> folder;
  if (std::error_code error = sys::fs::createUniqueDirectory("brewc", folder))
    throw unavailable("cannot create a temporary folder to compile kernels "
                      "in: " +
                      error.message());
  std::string source = (folder + "/" + name + ".cu").str(),
              output = (folder + "/" + name + ".so").str(),
              log = (folder + "/log").str();
  Result result;
  std::error_code error;
  {
    raw_fd_ostream file(source, error);
    file << text;
    file.close();
    if (file.has_error())
      error = file.error();
    file.clear_error();
  }
  std::string problem;
  if (!error) {
    std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log),
                                            StringRef(log)};
    int status = sys::ExecuteAndWait(program, {program, source, output},
                                     std::nullopt, redirects, 0, 0, &problem);
    result.succeeded = status == 0;
    result.log = contentOf(log);
    result.image = contentOf(output);
  }
  sys::fs::remove_directories(folder);
  if (error || !problem.empty())
    throw unavailable("cannot run " + program + ": " +
                      (error ? error.message() : problem));
  return result;
}

} // namespace brew::compiler::cuda
