//===- CommaLocale.h - A locale whose numbers have commas -------*- C++ -*-===//
#pragma once

#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace brew::test {

/// During its lifetime, sets the process's locale to one with decimal commas:
/// a locale of the system, or else one that localedef creates.
class CommaLocale {
public:
  CommaLocale() {
    for (const char *name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"})
      if (isAvailable = select(name); isAvailable)
        return;
    std::string pattern =
        (std::filesystem::temp_directory_path() / "brew-locale-XXXXXX")
            .string();
    if (!mkdtemp(pattern.data()))
      return;
    folder = pattern;
    std::ofstream(folder + "/source") << "LC_NUMERIC\ndecimal_point \",\"\n"
                                         "thousands_sep \".\"\ngrouping 3;3\n"
                                         "END LC_NUMERIC\n";
    // localedef warns of every missing category.
    const std::string command = "cd '" + folder +
                                "' && localedef -c -i source -f UTF-8 "
                                "./xx_XX >/dev/null 2>&1";
    [[maybe_unused]] const int status = std::system(command.c_str());
    setenv("LOCPATH", folder.c_str(), 1);
    isAvailable = select("xx_XX");
  }
  ~CommaLocale() {
    std::setlocale(LC_ALL, "C");
    if (folder.empty())
      return;
    unsetenv("LOCPATH");
    std::filesystem::remove_all(folder);
  }
  CommaLocale(const CommaLocale &) = delete;
  CommaLocale &operator=(const CommaLocale &) = delete;

  /// Whether the system has such a locale or can create one.
  explicit operator bool() const { return isAvailable; }

private:
  static bool select(const char *name) {
    return std::setlocale(LC_ALL, name) &&
           std::string(std::localeconv()->decimal_point) == ",";
  }

  std::string folder;
  bool isAvailable = false;
};

} // namespace brew::test
