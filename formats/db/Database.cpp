//===- Database.cpp - Common interface of LMDB and LevelDB ----------------===//
#include "formats/Database.h"

#include "formats/ExpectedFile.h"
#include "formats/db/Backends.h"
#include "support/AtomicFile.h"
#include "support/Error.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace brew::formats {
namespace fs = std::filesystem;

const char *backendName(DbBackend backend) {
  return backend == DbBackend::Lmdb ? "LMDB" : "LevelDB";
}

std::optional<DbBackend> parseBackend(const std::string &text) {
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  if (lower == "lmdb")
    return DbBackend::Lmdb;
  if (lower == "leveldb")
    return DbBackend::LevelDb;
  return std::nullopt;
}

std::optional<DbBackend> detectBackend(const std::string &path) {
  std::error_code error;
  if (fs::is_regular_file(fs::path(path) / "data.mdb", error))
    return DbBackend::Lmdb;
  if (fs::is_regular_file(fs::path(path) / "CURRENT", error))
    return DbBackend::LevelDb;
  return std::nullopt;
}

std::unique_ptr<DbReader> DbReader::open(const std::string &path,
                                         DbBackend backend) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      throw unavailable(path + ": database not found");
    throw unavailable(path + ": cannot read database: " + errnoText(errno));
  }
  if (!S_ISDIR(info.st_mode)) {
    refuseOtherKind(path, databaseFolder());
    throw badInput(path + ": is a file; " + std::string(backendName(backend)) +
                   " databases are folders");
  }
  // If the folder cannot be searched, opening it reports a better error.
  auto found = detectBackend(path);
  if (found && *found != backend)
    throw badInput(path + ": is a " + backendName(*found) +
                   " database, but the layer's backend is " +
                   backendName(backend));
  if (!found && access(path.c_str(), R_OK | X_OK) == 0)
    throw badInput(path + ": is not a database (" +
                   (backend == DbBackend::Lmdb ? "no data.mdb" : "no CURRENT") +
                   " in it)");
  return backend == DbBackend::Lmdb ? openLmdb(path) : openLevelDb(path);
}

namespace {

/// Builds the database under a temporary name and renames it.
class FolderWriter : public DbWriter {
public:
  FolderWriter(const std::string &path, DbBackend backend, bool overwrite)
      : path(path) {
    while (this->path.size() > 1 && this->path.back() == '/')
      this->path.pop_back();
    std::error_code error;
    auto status = fs::symlink_status(this->path, error);
    exists = fs::exists(status);
    if (exists)
      checkReplaceable(overwrite);
    for (int attempt = 0; folder.empty() && attempt < 100; ++attempt) {
      std::string name = this->path + ".tmp-" + std::to_string(getpid()) + "-" +
                         std::to_string(attempt);
      if (mkdir(name.c_str(), 0777) == 0)
        folder = name;
      else if (errno != EEXIST)
        break;
    }
    if (folder.empty())
      throw unavailable("cannot create database '" + path +
                        "': " + errnoText(errno));
    try {
      store = backend == DbBackend::Lmdb ? createLmdbStore(folder, path)
                                         : createLevelDbStore(folder, path);
    } catch (...) {
      removeFolder(folder);
      throw;
    }
  }

  ~FolderWriter() override {
    store.reset();
    if (!folder.empty())
      removeFolder(folder);
  }

  void put(std::string_view key, std::string_view value) override {
    store->put(key, value);
  }

  void finish() override {
    store->close();
    store.reset();
    syncContents();
    std::string oldPath = folder + ".old";
    if (exists && rename(path.c_str(), oldPath.c_str()) != 0)
      failRename();
    if (rename(folder.c_str(), path.c_str()) != 0) {
      int error = errno;
      if (exists)
        std::rename(oldPath.c_str(), path.c_str());
      errno = error;
      failRename();
    }
    folder.clear();
    std::string parent = fs::path(path).parent_path().string();
    syncFolder(parent.empty() ? "." : parent);
    if (exists)
      removeFolder(oldPath);
  }

private:
  /// Throws unless `path`, which exists, may be replaced. If it is a symbolic
  /// link, sets it to the link's target.
  void checkReplaceable(bool overwrite) {
    if (!overwrite)
      throw badInput("'" + path + "' exists; remove it, or pass --overwrite");
    std::error_code error;
    bool replaceable =
        detectBackend(path).has_value() ||
        (fs::is_directory(path, error) && fs::is_empty(path, error) && !error);
    if (!replaceable)
      throw badInput("'" + path +
                     "' is not a database and will not be overwritten");
    // Renaming to a symbolic link would replace the link, not its target.
    auto target = fs::canonical(path, error);
    if (!error)
      path = target.string();
  }

  /// Flushes the files of the temporary folder to the device.
  void syncContents() {
    std::error_code error;
    for (const auto &entry : fs::directory_iterator(folder, error)) {
      int fd = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
      if (fd < 0)
        throw unavailable("cannot write database '" + path +
                          "': " + errnoText(errno));
      int rc = fsync(fd);
      int reason = errno;
      ::close(fd);
      if (rc != 0 && reason != EINVAL && reason != ENOTSUP)
        throw unavailable("cannot write database '" + path +
                          "': " + errnoText(reason));
    }
    syncFolder(folder);
  }

  [[noreturn]] void failRename() {
    throw unavailable("cannot put database '" + path +
                      "' in place: " + errnoText(errno));
  }

  static void removeFolder(const std::string &folder) {
    std::error_code error; // ignored
    fs::remove_all(folder, error);
  }

  std::string path;
  std::string folder; ///< the temporary folder; empty after finish()
  bool exists = false;
  std::unique_ptr<RecordStore> store;
};

} // namespace

std::unique_ptr<DbWriter> DbWriter::create(const std::string &path,
                                           DbBackend backend, bool overwrite) {
  if (path.empty())
    throw badInput("the database's name is empty");
  return std::make_unique<FolderWriter>(path, backend, overwrite);
}

} // namespace brew::formats
