//===- PythonPackage.cpp - Nets that run in Python ------------------------===//
#include "tools/caffe/PythonPackage.h"

#include "support/Error.h"
#include "tools/caffe/FlagTable.h"
#include "tools/caffe/PrototxtStrings.h"
#include "tools/common/Programs.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace fs = std::filesystem;

namespace brew::caffe_command {
namespace {

/// Larger files are not prototxts.
constexpr std::uintmax_t kLargestPrototxt = 8 << 20;

/// Runs the package. The working folder, which -c adds to the path, is removed:
/// as in Caffe, its files do not hide modules of the same names.
constexpr char kProgram[] = R"(import sys
del sys.path[0]
try:
    from caffe.__main__ import main
except ImportError as error:
    sys.exit("caffe: error: %s in Python's package caffe, but %s "
             "cannot import it: %s. Set PYTHONPATH, install what is missing, or run `python3 -m caffe %s` with "
             "another Python" % (sys.argv[1], sys.executable, error, " ".join(sys.argv[2:])))
sys.exit(main(sys.argv[2:]))
)";

std::string readPrototxt(const fs::path &path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) ||
      fs::file_size(path, error) > kLargestPrototxt || error)
    return "";
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

bool hasPythonLayer(const std::vector<PrototxtString> &strings) {
  for (const PrototxtString &string : strings)
    if (string.field == "type" && string.value == "Python")
      return true;
  return false;
}

/// Appends the folder of the package that was built with this program.
void extendPythonPath() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path packages = self.parent_path().parent_path() / "python";
  if (error || !fs::exists(packages / "caffe" / "__main__.py", error))
    return;
  const char *path = std::getenv("PYTHONPATH");
  const std::string prefix = path && *path ? std::string(path) + ":" : "";
  ::setenv("PYTHONPATH", (prefix + packages.string()).c_str(), 1);
}

} // namespace

std::string fileWithPythonLayer(const std::string &prototxt) {
  const std::vector<PrototxtString> strings = stringsIn(readPrototxt(prototxt));
  if (hasPythonLayer(strings))
    return prototxt;
  for (const PrototxtString &string : strings) {
    if (string.field != "net" && string.field != "train_net" &&
        string.field != "test_net")
      continue;
    // In the working folder, then beside the solver.
    std::error_code error;
    const fs::path named = string.value;
    const fs::path net = fs::exists(named, error)
                             ? named
                             : fs::path(prototxt).parent_path() / named;
    if (hasPythonLayer(stringsIn(readPrototxt(net))))
      return net;
  }
  return "";
}

void execPythonPackage(const CommandLine &line, const std::string &reason) {
  const std::string python = tools::findInPath("python3");
  if (python.empty())
    throw unavailable(reason +
                      " in Python's package caffe, but $PATH has no python3; "
                      "install it, or run `python -m caffe " +
                      line.action + "` with another Python");
  extendPythonPath();
  std::vector<std::string> command = {python, "-c", kProgram, reason,
                                      line.action};
  for (const auto &[name, value] : line.flags)
    if (findFlag(name)->owner == FlagOwner::Caffe)
      command.push_back("-" + name + "=" + value);
  tools::execProgram(command);
}

} // namespace brew::caffe_command
