//===- OutputFile.cpp - A text that appears whole or not at all -----------===//
#include "OutputFile.h"

#include "Session.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace brew::run {

namespace files = std::filesystem;

void OutputFile::fail() {
  throw machineLacks("cannot write '" + path +
                     "': " + std::generic_category().message(errno));
}

OutputFile::OutputFile(const std::string &name) : path(name), target(name) {
  std::error_code error;
  const files::file_status status = files::status(path, error);
  const bool isFile = files::is_regular_file(status);
  if (isFile) {
    // Through a symbolic link, not over it.
    const files::path resolved = files::canonical(path, error);
    if (!error)
      target = resolved.string();
  }
  if (isFile || !files::exists(status))
    temporary = target + ".tmp-" + std::to_string(getpid());
  errno = 0;
  stream.open(temporary.empty() ? target : temporary, std::ios::binary);
  if (!stream) {
    temporary.clear();
    fail();
  }
}

OutputFile::~OutputFile() {
  if (!temporary.empty())
    std::remove(temporary.c_str());
}

void OutputFile::commit(const std::string &text) {
  errno = 0;
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  stream.close();
  if (!stream)
    fail();
  if (temporary.empty())
    return;
  if (std::rename(temporary.c_str(), target.c_str()) != 0)
    fail();
  temporary.clear();
}

} // namespace brew::run
