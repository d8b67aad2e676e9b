//===- TextFormatTest.cpp - Compatibility with TextFormat -----------------===//
#include "Parse.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

using namespace brew::prototxt;
namespace caffe = brew::caffe;

namespace {

/// Compares Brew's result with the result of protobuf's parser.
void expectSameAsProtobuf(const std::string &text, bool accepted) {
  SCOPED_TRACE(text);
  caffe::NetParameter theirs;
  google::protobuf::SetLogHandler(nullptr);
  ASSERT_EQ(google::protobuf::TextFormat::ParseFromString(text, &theirs),
            accepted);
  Parsed ours = parseText(text, FileKind::Net);
  EXPECT_EQ(ours.file.complete, accepted) << ours.diagnostics.str();
  if (accepted) {
    EXPECT_EQ(ours.file.net->SerializeAsString(), theirs.SerializeAsString());
  }
}

TEST(TextFormat, AcceptsTheSameTextsAsProtobuf) {
  const char *texts[] = {
      "",
      "# only a comment",
      "name: \"a\" # comment\r\nlayer { }\r\n",
      "name: 'single' layer: { name: \"colon\" } layer < name: \"angle\" >",
      "name: \"con\" 'cat' \"enated\"\n  \" over lines\"",
      "name: \"\\n\\t\\101\\x41\\u00e9\\\\ \\' \\\"\"",
      "input: [\"a\", \"b\"] input_dim: [1, 2, 0x10, 010] input_dim: []",
      "input_shape: [{ dim: 1 dim: 2 }, < dim: [3] >]",
      "input_shape { dim: -9223372036854775808 dim: 9223372036854775807 }",
      "force_backward: true, debug_info: 0; name: \"x\",",
      "force_backward: t debug_info: False",
      "force_backward: True debug_info: f",
      "force_backward: 0x1",
      "state { phase: TEST level: -1 }",
      "state { phase: 0 }",
      "layer{loss_weight: [1, .5, 1.5f, 2F, 1e3, 1e-3f, -inf, NaN, infinity]}",
      "layer { loss_weight: 340282366920938463463374607431768211456 }",
      "layer { loss_weight: - 3 loss_weight: -0.0 }",
      "layer{name:\"tight\"type:\"ReLU\"}",
      "layer { power_param { power: 1e400 scale: -1e400 shift: 1e-400 } }",
  };
  for (const char *text : texts)
    expectSameAsProtobuf(text, true);
}

TEST(TextFormat, RefusesTheSameTextsAsProtobuf) {
  const char *texts[] = {
      "name",
      "name \"a\"",
      "name: a",
      "name: 3",
      "name: \"a\" name: \"b\"",
      "state { } state { }",
      "layer { ]",
      "layer { > ",
      "layer [ { } ",
      "name: [\"a\"]",
      "input_dim: [1,]",
      "input_dim: 1;;",
      "input_dim: 3abc",
      "input_dim: 08",
      "input_dim: 0x",
      "input_dim: 2147483648",
      "input_dim: 1.0",
      "input_dim: +1",
      "force_backward: TRUE",
      "force_backward: 2",
      "state { phase: 3 }",
      "state { phase: test }",
      "layer { loss_weight: 0x10 }",
      "layer { loss_weight: 010 }",
      "layer { loss_weight: 1.2.3 }",
      "layer { clip_param { min: 0 } }",
      "name: \"a\" \"b",
      "{ }",
      "layer { } /* c */",
      "layer { } // c",
      "unknown: 1",
      "[ext]: 1",
  };
  for (const char *text : texts)
    expectSameAsProtobuf(text, false);
}

TEST(TextFormat, ByteOrderMarkIsSkippedWithAWarning) {
  Parsed parsed = parseText("\xEF\xBB\xBFname: \"n\" qqqqwwww: 1");
  EXPECT_EQ(parsed.file.net->name(), "n");
  EXPECT_EQ(parsed.diagnostics.str(),
            "f.prototxt:1:1: warning: the file begins with a UTF-8 byte order "
            "mark, which Caffe itself does not accept\n"
            "f.prototxt:1:11: error: unknown field 'qqqqwwww' in a net\n");
}

TEST(TextFormat, RefusesNamesThatAreNotUtf8) {
  const std::pair<const char *, const char *> texts[] = {
      {"name: 'caf\xe9'", "1:11: error: 'name' is not UTF-8: it has the byte "
                          "0xE9; is the file in another encoding?"},
      // The byte is located after adjacent literals, tabs and escapes.
      {"layer {\n\tname: 'a' # \xe9\n \"b\\303\\251\\xE9\" }",
       "3:12: error: 'name' is not UTF-8: it has the byte 0xE9; is the file in "
       "another encoding?"},
      {"layer { name: 'l' top: ['a', '\xc3'] }",
       "1:31: error: layer 'l': 'top' is not UTF-8: it has the byte 0xC3; is "
       "the file in another encoding?"},
      {"layers { param: '\\ud800' }",
       "1:18: error: 'param' is not UTF-8: it has the byte 0xED; is the file "
       "in another encoding?"},
  };
  for (const auto &[text, diagnostics] : texts) {
    Parsed parsed = parseText(text, FileKind::Net);
    EXPECT_FALSE(parsed.file.complete);
    EXPECT_EQ(parsed.diagnostics.str(),
              "f.prototxt:" + std::string(diagnostics) + "\n");
  }
}

TEST(TextFormat, AllowsAnyBytesInCommentsAndFileNames) {
  Parsed parsed = parseText("# caf\xe9\nname: 'caf\xc3\xa9' # \xe9\n"
                            "layer { data_param { source: '\xe9\\xe9' } }");
  EXPECT_EQ(parsed.diagnostics.str(), "");
  EXPECT_EQ(parsed.file.net->name(), "caf\xc3\xa9");
  EXPECT_EQ(parsed.file.net->layer(0).data_param().source(), "\xe9\xe9");
}

TEST(TextFormat, LongLinesAndFilesTakeLinearTime) {
  // A quadratic column count would need minutes.
  std::string text;
  for (int i = 0; i < 300000; ++i)
    text += "input_dim: 1 ";
  Parsed parsed = parseText(text);
  EXPECT_TRUE(parsed.file.complete);
  EXPECT_EQ(parsed.file.net->input_dim_size(), 300000);
  EXPECT_EQ(parsed.file.locations->where(*parsed.file.net, "input_dim", 299999)
                .column,
            299999 * 13 + 1);
}

} // namespace
