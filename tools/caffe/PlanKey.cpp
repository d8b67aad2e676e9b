//===- PlanKey.cpp - Key of a compiled plan -------------------------------===//
//
// A prototxt names files in strings: nets, means, lists, databases. All strings
// are looked up as files, so that no field is missed.
//
//===----------------------------------------------------------------------===//
#include "tools/caffe/PlanKey.h"

#include "formats/image/ImageListing.h"
#include "support/Error.h"
#include "tools/caffe/Gpus.h"
#include "tools/caffe/PrototxtStrings.h"

#include <brew/types.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sys/stat.h>
#include <tuple>

namespace fs = std::filesystem;

namespace brew::caffe_command {
namespace {

constexpr std::uintmax_t kMiB = 1 << 20;
/// Larger files contribute their size and times.
constexpr std::uintmax_t kLargestText = 256 * kMiB, kLargestBinary = 8 * kMiB;
/// Larger texts are lists, which are not searched for strings.
constexpr std::uintmax_t kLargestPrototxt = 8 * kMiB;
/// Bytes that distinguish text from binary and contain a list's first line.
constexpr size_t kHeadBytes = 64 << 10;
/// Maximum depth of references: solver, net, list, image.
constexpr int kMaxDepth = 4;

/// Returns the size and times of a file, in nanoseconds.
std::string stampOf(const fs::path &path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0)
    return "gone";
  auto text = [](const timespec &time) {
    return std::to_string(time.tv_sec) + "." + std::to_string(time.tv_nsec);
  };
  return std::to_string(info.st_size) + " " + text(info.st_mtim) + " " +
         text(info.st_ctim);
}

struct FileContent {
  std::string fingerprint; ///< changes when the content changes
  std::string text;        ///< text files: all or the beginning; else empty
};

FileContent readContent(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::string content(kHeadBytes, '\0');
  file.read(content.data(), static_cast<std::streamsize>(kHeadBytes));
  content.resize(static_cast<size_t>(file.gcount()));
  auto isText = [&] { return content.find('\0') == content.npos; };
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  const bool isHashed =
      !error && size <= (isText() ? kLargestText : kLargestBinary);
  if (isHashed && size > content.size()) {
    const size_t head = content.size();
    content.resize(size);
    file.clear();
    file.read(content.data() + head, static_cast<std::streamsize>(size - head));
    content.resize(head + static_cast<size_t>(file.gcount()));
  }
  FileContent result;
  result.fingerprint = isHashed ? hashOf(content) : stampOf(path);
  if (isText())
    result.text = std::move(content);
  return result;
}

/// Returns the possible names in a line of a list: the text before the last
/// space (images, whose names may contain spaces) and the first word (HDF5
/// files, pairs of images).
std::set<std::string> entriesOf(const std::string &line) {
  std::set<std::string> entries = {line.substr(0, line.find_last_of(' '))};
  constexpr char kSpace[] = " \t\r\n";
  if (const size_t begin = line.find_first_not_of(kSpace); begin != line.npos)
    entries.insert(
        line.substr(begin, line.find_first_of(kSpace, begin) - begin));
  return entries;
}

/// The file that contains a reference.
struct Referrer {
  std::string folder;
  /// The values of its root_folder fields: prefixes of the names in its lists.
  std::set<std::string> roots;

  bool operator<(const Referrer &other) const {
    return std::tie(folder, roots) < std::tie(other.folder, other.roots);
  }
};

class Dependencies {
public:
  /// Records a file and the files that it names.
  void addFile(const fs::path &path, const Referrer &referrer = {},
               int depth = 0) {
    std::error_code error;
    const fs::path canonical = fs::weakly_canonical(path, error);
    if (error || !visited.insert({canonical, referrer}).second)
      return;
    const FileContent content = readContent(canonical);
    fingerprints[canonical] = content.fingerprint;
    if (content.text.empty() || depth == kMaxDepth)
      return;
    // Brew looks up names relative to the link, not to its target.
    Referrer self{path.parent_path(), {}};
    for (const std::string &entry :
         entriesOf(content.text.substr(0, content.text.find('\n')))) {
      std::set<std::string> roots = referrer.roots;
      roots.insert("");
      for (const std::string &root : roots)
        for (const std::string &folder : {referrer.folder, self.folder})
          addName(root + entry, {folder, {}}, depth + 1);
    }
    if (content.text.size() > kLargestPrototxt)
      return;
    const std::vector<PrototxtString> strings = stringsIn(content.text);
    for (const PrototxtString &string : strings)
      if (string.field == "root_folder")
        self.roots.insert(string.value);
    // The compiler compares the sizes of images that are read one by one.
    const bool readsAllImages = hasImagesInBatchesOfOne(content.text);
    std::set<std::string> names;
    for (const PrototxtString &string : strings) {
      if (names.insert(string.value).second)
        addName(string.value, self, depth + 1);
      if (string.field == "source")
        for (const fs::path &source :
             {fs::path(string.value), self.folder / fs::path(string.value)})
          if (fs::is_directory(source, error))
            addFolderOfClasses(source, readsAllImages);
          else if (readsAllImages)
            addListedImages(source, self);
    }
  }

  /// Whether all files can be read again; pipes and devices cannot.
  bool canRereadAll() const { return !hasPipe; }

  std::string text() const {
    std::string result;
    for (const auto &[path, fingerprint] : fingerprints)
      result += path.string() + " " + fingerprint + "\n";
    return result;
  }

private:
  void addName(const std::string &name, const Referrer &referrer, int depth) {
    if (name.empty() || name.size() > 4096)
      return;
    // Data layers search the working folder, then the folder of the prototxt.
    for (const fs::path &path :
         {fs::path(name), referrer.folder / fs::path(name)}) {
      std::error_code error;
      const fs::file_status status = fs::status(path, error);
      if (fs::is_directory(status))
        addDatabase(path);
      else if (fs::is_regular_file(status))
        addFile(path, referrer, depth);
      else
        hasPipe |= fs::exists(status);
    }
  }

  /// Records LMDB's data file, or LevelDB's tables and logs.
  void addDatabase(const fs::path &path) {
    std::error_code error;
    if (const fs::path file = path / "data.mdb"; fs::exists(file, error)) {
      addStamp(file);
      return;
    }
    if (!fs::exists(path / "CURRENT", error))
      return;
    for (const auto &entry : fs::directory_iterator(path, error))
      if (const auto kind = entry.path().extension();
          kind == ".ldb" || kind == ".sst" || kind == ".log")
        addStamp(entry.path());
  }

  /// Records a folder with a subfolder of images for each class: the times of
  /// the folders, which change when files are added or removed, and the first
  /// image, whose size is part of the plan, or `allImages`.
  void addFolderOfClasses(const fs::path &path, bool allImages) {
    std::error_code error;
    if (!fs::is_directory(path, error) ||
        fs::exists(path / "data.mdb", error) ||
        fs::exists(path / "CURRENT", error))
      return;
    addStamp(path);
    bool isFirst = true;
    try {
      for (const std::string &name : formats::listSubfolders(path.string())) {
        const fs::path folder = path / name;
        addStamp(folder);
        if (!isFirst && !allImages)
          continue;
        for (const std::string &image :
             formats::listImages(folder.string()).names) {
          addStamp((folder / image).parent_path());
          if (isFirst)
            addFile(folder / image, {}, kMaxDepth);
          else if (allImages)
            addStamp(folder / image);
          isFirst = false;
        }
      }
    } catch (const Error &) {
      // The compiler reports a folder that cannot be listed.
    }
  }

  /// Records the images of a list.
  void addListedImages(const fs::path &list, const Referrer &referrer) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(list, error);
    if (error || size > kLargestText)
      return;
    std::set<std::string> roots = referrer.roots;
    roots.insert("");
    std::ifstream file(list);
    for (std::string line; std::getline(file, line);)
      for (const std::string &root : roots)
        for (const std::string &entry : entriesOf(line))
          for (const fs::path &path :
               {fs::path(root + entry),
                referrer.folder / fs::path(root + entry)})
            if (fs::is_regular_file(path, error))
              addStamp(path);
  }

  void addStamp(const fs::path &path) {
    std::error_code error;
    const fs::path canonical = fs::weakly_canonical(path, error);
    if (!error)
      fingerprints[canonical] = stampOf(canonical);
  }

  std::map<fs::path, std::string> fingerprints;
  std::set<std::pair<fs::path, Referrer>> visited;
  bool hasPipe = false;
};

/// Returns the lines of /proc/cpuinfo that determine the instruction set.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  std::string model, flags;
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, 10, "model name") == 0)
      model = line;
    if (line.compare(0, 5, "flags") == 0)
      flags = line;
    if (!model.empty() && !flags.empty())
      break;
  }
  return model + "\n" + flags + "\n";
}

} // namespace

std::string hashOf(std::string_view bytes) {
  std::uint64_t hash = 14695981039346656037u;
  for (const unsigned char byte : bytes)
    hash = (hash ^ byte) * 1099511628211u;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(hash));
  return text;
}

std::optional<std::string> planKey(const std::string &brewc,
                                   const std::string &prototxt,
                                   const std::vector<std::string> &flags) {
  std::string key = std::string("brew ") + brew_version() + "\n" + brewc + " " +
                    stampOf(brewc) + "\n";
  for (const std::string &flag : flags) {
    key += flag + "\n";
    if (flag == "--target=cuda")
      key += gpuModels();
  }
  std::error_code ignored;
  key += fs::current_path(ignored).string() + "\n" + processor();
  if (fs::exists(prototxt, ignored) && !fs::is_regular_file(prototxt, ignored))
    return std::nullopt;
  Dependencies dependencies;
  dependencies.addFile(prototxt);
  if (!dependencies.canRereadAll())
    return std::nullopt;
  return key + dependencies.text();
}

} // namespace brew::caffe_command
