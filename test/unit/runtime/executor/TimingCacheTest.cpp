//===- TimingCacheTest.cpp - Choices of implementations in a file ---------===//
#include "runtime/executor/TimingCache.h"

#include "support/Error.h"
#include "test/common/CommaLocale.h"
#include "test/common/Folder.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <vector>

using namespace brew;
using namespace brew::runtime;
using namespace brew::test;

namespace {

struct Warnings {
  std::vector<std::string> texts;
  TimingCache::Warning sink() {
    return [this](const std::string &text) { texts.push_back(text); };
  }
};

TEST(TimingCacheFile, StoresAndReplacesChoices) {
  Folder folder;
  Warnings warnings;
  const std::string path = folder / "p.timing";
  {
    TimingCache cache(path, warnings.sink());
    EXPECT_EQ(cache.find("a"), nullptr);
    cache.set("a", {"engine 1 k2=3", 12.5});
    cache.set("b", {"engine 7", 1});
    cache.set("b", {"engine 8", 2});
    cache.saveOrWarn();
  }
  TimingCache cache(path, warnings.sink());
  ASSERT_NE(cache.find("a"), nullptr);
  EXPECT_EQ(cache.find("a")->candidate, "engine 1 k2=3");
  EXPECT_EQ(cache.find("a")->microseconds, 12.5);
  EXPECT_EQ(cache.find("b")->candidate, "engine 8");
  EXPECT_TRUE(warnings.texts.empty());
}

TEST(TimingCacheFile, IsIndependentOfTheLocale) {
  const brew::test::CommaLocale locale;
  if (!locale)
    GTEST_SKIP() << "no locale with commas, and localedef created none";
  Folder folder;
  Warnings warnings;
  const std::string path = folder / "p.timing";
  std::ofstream(path) << "brew-timing-cache 1\na\tb\t12.500\n";
  {
    TimingCache cache(path, warnings.sink());
    ASSERT_NE(cache.find("a"), nullptr);
    EXPECT_EQ(cache.find("a")->microseconds, 12.5);
    cache.set("c", {"d", 0.25});
    cache.saveOrWarn();
  }
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_NE(text.str().find("\t0.250\n"), std::string::npos) << text.str();
  EXPECT_TRUE(warnings.texts.empty());
}

TEST(TimingCacheFile, IgnoresDamagedFileWithWarning) {
  Folder folder;
  const std::string path = folder / "p.timing";
  for (const char *content :
       {"", "rubbish\n", "brew-timing-cache 2\na\tb\t1\n",
        "brew-timing-cache 1\na\tb\t1", "brew-timing-cache 1\na\tb\n",
        "brew-timing-cache 1\na\tb\tfast\n", "brew-timing-cache 1\na\tb\t-1\n",
        "brew-timing-cache 1\na\tb\tnan\n", "brew-timing-cache 1\n\tb\t1\n",
        "brew-timing-cache 1\na\t\t1\n", "brew-timing-cache 1\na\tb\t1\n\n"}) {
    std::ofstream(path) << content;
    Warnings warnings;
    TimingCache cache(path, warnings.sink());
    EXPECT_EQ(cache.find("a"), nullptr) << content;
    ASSERT_EQ(warnings.texts.size(), 1u) << content;
    EXPECT_NE(warnings.texts[0].find("it is ignored"), std::string::npos);
  }
}

TEST(TimingCacheFile, WritesThroughLinks) {
  Folder folder;
  Warnings warnings;
  const std::string path = folder / "p.timing", link = folder / "link.timing";
  std::ofstream(path) << "brew-timing-cache 1\n";
  std::filesystem::create_symlink(path, link);
  {
    TimingCache cache(link, warnings.sink());
    cache.set("a", {"engine 1", 1});
    cache.saveOrWarn();
  }
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_NE(TimingCache(path, warnings.sink()).find("a"), nullptr);
  EXPECT_TRUE(warnings.texts.empty());
}

TEST(TimingCacheFile, WarnsOnceIfFileCannotBeWritten) {
  Warnings warnings;
  TimingCache cache("/no/such/folder/p.timing", warnings.sink());
  cache.set("a", {"b", 1});
  cache.saveOrWarn();
  ASSERT_EQ(warnings.texts.size(), 1u);
  EXPECT_NE(warnings.texts[0].find("cannot write '/no/such/folder/p.timing'"),
            std::string::npos);
  cache.saveOrWarn(); // reported once
  cache.set("c", {"d", 1});
  cache.saveOrWarn();
  EXPECT_EQ(warnings.texts.size(), 1u);
}

TEST(TimingCacheFile, ReplacesDamagedFile) {
  Folder folder;
  Warnings warnings;
  const std::string path = folder / "p.timing";
  std::ofstream(path) << "rubbish";
  {
    TimingCache cache(path, warnings.sink());
    cache.set("a", {"b", 1});
    cache.saveOrWarn();
  }
  EXPECT_EQ(warnings.texts.size(), 1u);
  EXPECT_NE(TimingCache(path, warnings.sink()).find("a"), nullptr);
  EXPECT_EQ(warnings.texts.size(), 1u);
}

TEST(TimingCacheFile, IgnoresTooLargeFile) {
  Folder folder;
  Warnings warnings;
  const std::string path = folder / "p.timing";
  {
    std::ofstream file(path);
    file << "brew-timing-cache 1\n" << std::string(17 << 20, 'a') << "\tb\t1\n";
  }
  EXPECT_TRUE(TimingCache(path, warnings.sink()).isEmpty());
  EXPECT_EQ(warnings.texts.size(), 1u);
}

TEST(TimingCacheFile, ReportsFailedWrite) {
  Warnings warnings;
  TimingCache cache("/no/such/folder/p.timing", warnings.sink());
  try {
    cache.write();
    FAIL() << "the cache was written";
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), ExitStatus::Unavailable);
  }
  EXPECT_TRUE(warnings.texts.empty());
}

} // namespace
