//===- TextErrorTest.cpp - Each diagnostic at its line and column ---------===//
#include "Parse.h"

#include <gtest/gtest.h>

using namespace brew::prototxt;

namespace {

TEST(TextError, UnknownFieldNamesTheNearest) {
  EXPECT_EQ(
      diagnosticsOf("layer {\n  name: \"c\"\n  type: \"Convolution\"\n"
                    "  convolution_param {\n    kernal_size: 3\n  }\n}\n"),
      "f.prototxt:5:5: error: layer 'c' (Convolution): unknown field "
      "'kernal_size' in convolution_param; did you mean "
      "'kernel_size'?\n");
}

TEST(TextError, UnknownFieldNamesItsFork) {
  EXPECT_EQ(diagnosticsOf("layer {\n  name: \"b\"\n  type: \"BatchNorm\"\n"
                          "  batch_norm_param { relu: true }\n}\n"),
            "f.prototxt:4:22: error: layer 'b' (BatchNorm): unknown field "
            "'relu' in batch_norm_param; it belongs to Intel Caffe, not to "
            "BVLC Caffe 1.0\n");
}

TEST(TextError, UnknownFieldNamesTheBlockItBelongsIn) {
  EXPECT_EQ(diagnosticsOf("layer { name: \"c\" kernel_size: 3 }"),
            "f.prototxt:1:19: error: layer 'c': unknown field 'kernel_size' in "
            "layer; it belongs in convolution_param, pooling_param, "
            "deformable_convolution_param, convolution3d_param, "
            "pooling3d_param or lstm_conv_param\n");
  EXPECT_EQ(
      diagnosticsOf("layer { name: \"c\" convolution_param { bottom: \"x\" } "
                    "}"),
      "f.prototxt:1:39: error: layer 'c': unknown field 'bottom' in "
      "convolution_param; it belongs in layer\n");
}

TEST(TextError, UnknownFieldNamesTheKindOfFileItBelongsIn) {
  EXPECT_EQ(diagnosticsOf("name: \"n\"\nlayer { name: \"a\" }\nbase_lr: 1\n"),
            "f.prototxt:3:1: error: unknown field 'base_lr' in a net; it "
            "belongs in a solver\n");
}

TEST(TextError, V1FieldInCurrentLayerNamesTheNewForm) {
  EXPECT_EQ(diagnosticsOf("layer { blobs_lr: 1 }"),
            "f.prototxt:1:9: error: unknown field 'blobs_lr' in layer; it is "
            "of the old `layers` form: write param { lr_mult: ... }\n");
}

TEST(TextError, ReportsAllUnknownFieldsInOneRun) {
  EXPECT_EQ(diagnosticsOf("nane: \"x\"\nlayer { tpye: \"ReLU\" name: \"r\" }\n"
                          "layer { zzzzqqqq { a: [1, { b: 2 }] c < > } }\n"),
            "f.prototxt:1:1: error: unknown field 'nane' in a net; did you "
            "mean 'name'?\n"
            "f.prototxt:2:9: error: layer 'r': unknown field 'tpye' in layer; "
            "did you mean 'type'?\n"
            "f.prototxt:3:9: error: unknown field 'zzzzqqqq' in layer\n");
}

TEST(TextError, UnknownFieldsBeforeTheSyntaxErrorAreReported) {
  EXPECT_EQ(diagnosticsOf("layer { qqqqwwww: 1 }\nlayer { name \"x\" }\n"
                          "layer { wwwweeee: 1 }\n"),
            "f.prototxt:1:9: error: unknown field 'qqqqwwww' in layer\n"
            "f.prototxt:2:14: error: expected ':' after 'name', found the "
            "string \"x\"\n");
}

TEST(TextError, ReportsUnknownFieldAndSemanticErrorInOneRun) {
  EXPECT_EQ(
      diagnosticsOf("layer {\n  name: \"d\" qqqqwwww: 1\n"
                    "  include { phase: TRAIN }\n  exclude { level: 1 }\n}"),
      "f.prototxt:2:13: error: layer 'd': unknown field 'qqqqwwww' in "
      "layer\n"
      "f.prototxt:4:13: error: layer 'd': unknown field 'level' in "
      "exclude\n"
      "f.prototxt:4:3: error: layer 'd': has both include and exclude "
      "rules; write one kind\n"
      "f.prototxt:3:3: note: 'include' is given here\n");
}

TEST(TextError, ReportsFieldGivenTwice) {
  EXPECT_EQ(diagnosticsOf("layer {\n  name: \"a\"\n  type: \"ReLU\"\n"
                          "  name: \"b\"\n}\n"),
            "f.prototxt:4:3: error: layer 'a' (ReLU): 'name' is given more "
            "than once\nf.prototxt:2:3: note: it was first given here\n");
  // The second block is still parsed, for its errors.
  EXPECT_EQ(diagnosticsOf("layer {\n  pooling_param { stride: 1 }\n"
                          "  pooling_param { strid: 1 }\n}\n"),
            "f.prototxt:3:3: error: 'pooling_param' is given more than once\n"
            "f.prototxt:2:3: note: it was first given here\n"
            "f.prototxt:3:19: error: unknown field 'strid' in pooling_param; "
            "did you mean 'stride'?\n");
}

TEST(TextError, EnumNamesValuesAndTheNearest) {
  EXPECT_EQ(diagnosticsOf("layer { name: \"p\" type: \"Pooling\"\n"
                          "  pooling_param { pool: AVG } }"),
            "f.prototxt:2:25: error: layer 'p' (Pooling): 'AVG' is not a value "
            "of 'pool'; did you mean 'AVE'? (accepted: MAX, AVE, "
            "STOCHASTIC)\n");
  EXPECT_EQ(diagnosticsOf("layer { pooling_param { pool: 7 } }"),
            "f.prototxt:1:31: error: '7' is not a value of 'pool' (accepted: "
            "MAX, AVE, STOCHASTIC)\n");
  EXPECT_EQ(diagnosticsOf("layer { pooling_param { pool: \"max\" } }"),
            "f.prototxt:1:31: error: expected a bare word for 'pool', found "
            "the string \"max\"; write MAX without quotes\n");
}

TEST(TextError, EnumValueNamesItsFork) {
  EXPECT_EQ(diagnosticsOf("layer { eltwise_param { operation: MIN } }"),
            "f.prototxt:1:36: error: 'MIN' is not a value of 'operation'; it "
            "belongs to Synopsys Caffe, not to BVLC Caffe 1.0 (accepted: PROD, "
            "SUM, MAX)\n");
}

TEST(TextError, ValuesWithoutEffectAreWarnings) {
  EXPECT_EQ(diagnosticsOf("layer { lrn_param { engine: MKL2017 } }"),
            "f.prototxt:1:21: warning: 'engine: MKL2017' has no effect: Brew "
            "chooses how to compute and read the same values\n");
}

TEST(TextError, ReportsQuotedTypeInOldLayers) {
  EXPECT_EQ(diagnosticsOf("layers { name: \"c\" type: \"Convolution\" }"),
            "f.prototxt:1:26: error: layer 'c': the type of old-style `layers` "
            "is a bare word such as CONVOLUTION, found the string "
            "\"Convolution\"; use `layer` for a quoted type\n");
}

TEST(TextError, ErrorsOfValuesNameExpectedAndFound) {
  EXPECT_EQ(
      diagnosticsOf("layer { inner_product_param { num_output: \"20\" } }"),
      "f.prototxt:1:43: error: expected a non-negative integer for "
      "'num_output', found the string \"20\"\n");
  EXPECT_EQ(diagnosticsOf("layer { inner_product_param { num_output: -3 } }"),
            "f.prototxt:1:43: error: 'num_output' cannot be negative\n");
  EXPECT_EQ(diagnosticsOf("layer { inner_product_param { num_output: 2.5 } }"),
            "f.prototxt:1:43: error: expected an integer for 'num_output', "
            "found the number 2.5\n");
  EXPECT_EQ(diagnosticsOf("layer { inner_product_param { axis: 3000000000 } }"),
            "f.prototxt:1:37: error: 3000000000 is out of range for 'axis', a "
            "32-bit integer\n");
  EXPECT_EQ(diagnosticsOf("layer { type: Convolution }"),
            "f.prototxt:1:15: error: expected a quoted string for 'type', "
            "found 'Convolution'; write \"Convolution\"\n");
  EXPECT_EQ(diagnosticsOf("force_backward: yes"),
            "f.prototxt:1:17: error: expected true or false for "
            "'force_backward', found 'yes'\n");
  EXPECT_EQ(diagnosticsOf("base_lr: 0x10"),
            "f.prototxt:1:10: error: expected a decimal number for 'base_lr', "
            "found 0x10, which is hexadecimal or octal\n");
  EXPECT_EQ(diagnosticsOf("base_lr: fast"),
            "f.prototxt:1:10: error: expected a number for 'base_lr', found "
            "'fast'\n");
}

TEST(TextError, ReportsBlocksAndValuesMixedUp) {
  EXPECT_EQ(diagnosticsOf("layer { name { } }"),
            "f.prototxt:1:14: error: 'name' is a single value, not a block: "
            "expected ':', found '{'\n");
  EXPECT_EQ(diagnosticsOf("layer { pooling_param: 3 }"),
            "f.prototxt:1:24: error: expected '{' after 'pooling_param', found "
            "the number 3\n");
}

TEST(TextError, ReportsMissingBrace) {
  EXPECT_EQ(diagnosticsOf("layer {\n  name: \"a\"\n"),
            "f.prototxt:3:1: error: layer 'a': expected '}' to close 'layer', "
            "found the end of the file\n"
            "f.prototxt:1:1: note: 'layer' begins here\n");
  EXPECT_EQ(diagnosticsOf("layer { name: \"a\" }\n}\n"),
            "f.prototxt:2:1: error: unexpected '}': there is no open block to "
            "close\n");
  // All later layers are inside the open block. Only the first is reported.
  EXPECT_EQ(diagnosticsOf("layer {\n  name: \"a\"\n  relu_param {\nlayer { }\n"
                          "layer { }\n}\n}\n"),
            "f.prototxt:4:1: error: layer 'a': unknown field 'layer' in "
            "relu_param; is a '}' missing before it?\n"
            "f.prototxt:3:3: note: 'relu_param' begins here\n");
}

TEST(TextError, ReportsMismatchedBrackets) {
  EXPECT_EQ(diagnosticsOf("layer < name: \"a\" }"),
            "f.prototxt:1:19: error: layer 'a': expected '>' to close 'layer', "
            "found '}'\nf.prototxt:1:1: note: 'layer' begins here\n");
  EXPECT_EQ(diagnosticsOf("input_dim: [1 2]"),
            "f.prototxt:1:15: error: expected ',' or ']' in the list of "
            "'input_dim', found the number 2\n"
            "f.prototxt:1:12: note: the list begins here\n");
}

TEST(TextError, ReportsInvalidStringsAndCharacters) {
  EXPECT_EQ(diagnosticsOf("name: \"abc\nlayer { }\n"),
            "f.prototxt:1:7: error: this string has no closing quote on its "
            "line\n");
  EXPECT_EQ(diagnosticsOf("name: \"abc"),
            "f.prototxt:1:7: error: this string has no closing quote\n");
  EXPECT_EQ(diagnosticsOf("name: \"a\\qb\""),
            "f.prototxt:1:10: error: invalid escape sequence in string "
            "literal\n");
  EXPECT_EQ(diagnosticsOf("name: \"a\"\n\x01"),
            "f.prototxt:2:1: error: control character outside a string\n");
  EXPECT_EQ(diagnosticsOf("name: \"a\"\n \xC3\xA9"),
            "f.prototxt:2:2: error: non-ASCII character outside a string\n");
}

TEST(TextError, ColumnsCountBytes) {
  EXPECT_EQ(diagnosticsOf("layer {\n\t\tqqqqwwww: 1 # \t\n}"),
            "f.prototxt:2:3: error: unknown field 'qqqqwwww' in layer\n");
  EXPECT_EQ(diagnosticsOf("name: \"\xC3\xA9\tx\" qqqqwwww: 1"),
            "f.prototxt:1:14: error: unknown field 'qqqqwwww' in a net\n");
}

TEST(TextError, ReportsMissingRequiredFields) {
  EXPECT_EQ(diagnosticsOf("layer { name: \"c\" clip_param { min: 0 } }"),
            "f.prototxt:1:19: error: layer 'c': 'clip_param' needs 'max'\n");
}

TEST(TextError, ExtensionsAreUnknown) {
  EXPECT_EQ(diagnosticsOf("name: \"n\" [a.b]: 3"),
            "f.prototxt:1:11: error: unknown extension [a.b]\n");
}

TEST(TextError, DeepNestingEndsWithAMessage) {
  std::string text;
  for (int i = 0; i < 100000; ++i)
    text += "qqqqwwww {\n";
  std::string diagnostics = diagnosticsOf(text);
  EXPECT_NE(
      diagnostics.find("f.prototxt:202:10: error: blocks are nested more than "
                       "200 deep"),
      std::string::npos)
      << diagnostics;
  std::string lists = "qqqqwwww: " + std::string(100000, '[');
  EXPECT_NE(diagnosticsOf(lists).find("nested more than 200 deep"),
            std::string::npos);
}

} // namespace
