//===- SourceTreeTest.cpp - Tests of the CUDA C++ syntax tree -------------===//
#include "compiler/cuda/SourceTree.h"

#include <gtest/gtest.h>

namespace brew::compiler {
namespace {

/// Returns the text of `code`, whose width must be correct.
std::string textOf(const cuda::Code &code,
                   cuda::TextStyle style = cuda::TextStyle::Readable) {
  std::string text;
  code.print(text, style);
  EXPECT_EQ(text.size(), code.width(style));
  return text;
}

const cuda::Identifier conv = {"conv1", "b"}, a1 = {"a1", "a1"},
                       a12 = {"a12", "a12"};

TEST(SourceTree, PrintsReadableAndCanonicalText) {
  cuda::Code code = cuda::Code::element(cuda::Code::name(conv), "i + 1") +
                    " * " +
                    cuda::Code::group(cuda::Code::word(2) + " - " + "x");
  EXPECT_EQ(textOf(code), "conv1[i + 1] * (2 - x)");
  EXPECT_EQ(textOf(code, cuda::TextStyle::Canonical), "b[i + 1] * (2 - x)");
  EXPECT_EQ(textOf(cuda::Code::call("fmaf", {cuda::Code::name(conv), "x"})),
            "fmaf(conv1, x)");
  EXPECT_EQ(textOf(cuda::Code() + "x" + cuda::Code()), "x");
  EXPECT_EQ(textOf(cuda::Code()), "");
}

TEST(SourceTree, FindsReads) {
  cuda::Code name = cuda::Code::name(a12);
  cuda::Code sum =
      cuda::Code::call("expf", {cuda::Code::group(name + " + 1.0f")});
  EXPECT_TRUE(sum.reads(cuda::Code::name(a12)));
  // A name that is a prefix of another one is not read.
  EXPECT_FALSE(sum.reads(cuda::Code::name(a1)));
  EXPECT_FALSE(sum.reads(cuda::Code()));
  EXPECT_FALSE(sum.readsElement());
  EXPECT_TRUE((sum + " * " + cuda::Code::element(cuda::Code::name(conv), "0"))
                  .readsElement());
  EXPECT_TRUE(name.isName(cuda::Code::name(a12)));
  EXPECT_FALSE(sum.isName(name));
}

TEST(SourceTree, FindsWords) {
  cuda::Code name = cuda::Code::name(a1);
  EXPECT_TRUE(name.isWord());
  EXPECT_TRUE(cuda::Code::word(0).isZero());
  EXPECT_FALSE((name + " + 1").isWord());
  EXPECT_FALSE(cuda::Code::group(name).isWord());
  EXPECT_TRUE(cuda::Code::call("f", {name}).isCall());
  EXPECT_EQ(textOf(cuda::Code::group(name + " + 1").bare()), "a1 + 1");
  cuda::Code product =
      cuda::Code::group(name) + " * " + cuda::Code::group(name);
  EXPECT_EQ(textOf(product.bare()), "(a1) * (a1)");
}

TEST(SourceTree, StatementsContainStatements) {
  cuda::Statements statements;
  statements.open("if (x)");
  statements.comment("'conv1'");
  statements.line(cuda::Code::name(conv) + " = 1;");
  statements.openElse("if (y)");
  statements.open("for (;;)");
  statements.line("f();");
  statements.close();
  statements.openElse("");
  statements.close();
  statements.line("g();");
  std::string readable, canonical;
  statements.print(readable, cuda::TextStyle::Readable);
  statements.print(canonical, cuda::TextStyle::Canonical);
  EXPECT_EQ(readable, "  if (x) {\n"
                      "    // 'conv1'\n"
                      "    conv1 = 1;\n"
                      "  } else if (y) {\n"
                      "    for (;;) {\n"
                      "      f();\n"
                      "    }\n"
                      "  } else {\n"
                      "  }\n"
                      "  g();\n");
  EXPECT_EQ(canonical, "  if (x) {\n"
                       "    b = 1;\n"
                       "  } else if (y) {\n"
                       "    for (;;) {\n"
                       "      f();\n"
                       "    }\n"
                       "  } else {\n"
                       "  }\n"
                       "  g();\n");
}

} // namespace
} // namespace brew::compiler
