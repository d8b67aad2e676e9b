//===- PrototxtFileTest.cpp - Reading files, kinds of files ---------------===//
#include "Parse.h"

#include "support/Error.h"

#include <gtest/gtest.h>

using namespace brew::prototxt;

namespace {

TEST(FileKind, IsDeterminedByTheTopLevel) {
  EXPECT_EQ(detectKind(""), FileKind::Net);
  EXPECT_EQ(detectKind("name: \"n\""), FileKind::Net);
  EXPECT_EQ(detectKind("layers { }"), FileKind::Net);
  EXPECT_EQ(detectKind("input: \"d\" input_dim: [1, 2]"), FileKind::Net);
  EXPECT_EQ(detectKind("net: \"n.prototxt\""), FileKind::Solver);
  EXPECT_EQ(detectKind("base_lr: 0.1 lr_policy: \"fixed\""), FileKind::Solver);
  // Fields inside blocks and bare values do not count.
  EXPECT_EQ(detectKind("net_param { name: \"n\" layer { } }"),
            FileKind::Solver);
  EXPECT_EQ(detectKind("solver_mode: layer"), FileKind::Solver);
  EXPECT_EQ(detectKind("test_iter: - 3"), FileKind::Solver);
}

TEST(FileKind, DamagedTextIsOfTheLikelierKind) {
  EXPECT_EQ(detectKind("layer { name: \"a\" } base_lr: \"oops"), FileKind::Net);
  EXPECT_EQ(detectKind("base_lr: 1 lr_policy: \"x\" layer { }"),
            FileKind::Solver);
  EXPECT_EQ(detectKind("lr_polcy: \"step\" stepsze: 3"), FileKind::Solver);
  EXPECT_EQ(detectKind("layr { }"), FileKind::Net);
}

TEST(FileKind, UnexpectedKindIsOneError) {
  EXPECT_EQ(parseText("# s\nnet: \"n\"\nbase_lr: 1\n", FileKind::Net)
                .diagnostics.str(),
            "f.prototxt:2:1: error: this file is a solver (it has 'net'); a "
            "net is needed here\n");
  EXPECT_EQ(parseText("name: \"n\"", FileKind::Solver).diagnostics.str(),
            "f.prototxt:1:1: error: this file is a net (it has 'name'); a "
            "solver is needed here\n");
}

TEST(PrototxtFile, ReportsBinaryFile) {
  EXPECT_EQ(parseText(std::string("\x0A\x03\n\x00\x01", 5)).diagnostics.str(),
            "f.prototxt:3:1: error: this is a binary file, not a prototxt "
            "(weights are given with --weights)\n");
}

TEST(PrototxtFile, ReportsMissingFileAndFolder) {
  TemporaryFolder folder;
  try {
    readTextFile(folder.path("none.prototxt"));
    FAIL();
  } catch (const brew::Error &error) {
    EXPECT_EQ(error.status(), brew::ExitStatus::Unavailable);
    EXPECT_EQ(error.what(), folder.path("none.prototxt") +
                                ": cannot open the file: No such file or "
                                "directory");
  }
  try {
    readTextFile(folder.path(""));
    FAIL();
  } catch (const brew::Error &error) {
    EXPECT_EQ(error.status(), brew::ExitStatus::BadInput);
  }
}

TEST(PrototxtFile, ReadsFileWithoutFinalNewline) {
  TemporaryFolder folder;
  Diagnostics diagnostics;
  PrototxtFile file =
      readPrototxt(folder.write("n.prototxt", "name: \"n\""), diagnostics);
  EXPECT_TRUE(file.complete);
  EXPECT_EQ(file.net->name(), "n");
}

TEST(Diagnostics, AreThrownAsOneError) {
  Diagnostics diagnostics;
  diagnostics.warning({"f", 1, 2}, "careful");
  EXPECT_NO_THROW(diagnostics.throwIfErrors());
  diagnostics.error({"f", 3, 4}, "wrong").note({"g", 5, 6}, "because");
  try {
    diagnostics.throwIfErrors();
    FAIL();
  } catch (const brew::Error &error) {
    EXPECT_STREQ(error.what(), "f:1:2: warning: careful\nf:3:4: error: wrong\n"
                               "g:5:6: note: because");
    EXPECT_EQ(error.status(), brew::ExitStatus::BadInput);
  }
}

} // namespace
