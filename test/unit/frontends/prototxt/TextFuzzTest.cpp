//===- TextFuzzTest.cpp - Damaged prototxts -------------------------------===//
//
// Parses random mutations of prototxts of every form. The parser must not
// crash, must return the same result as protobuf's parser, and must report an
// error for every rejected text. Run the test with sanitizers, too.
//
//===----------------------------------------------------------------------===//
#include "Parse.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <random>

using namespace brew::prototxt;
namespace caffe = brew::caffe;

namespace {

const std::string seeds[] = {
    "name: \"n\"\nlayer {\n  name: \"c\" type: \"Convolution\" bottom: \"x\"\n"
    "  convolution_param { kernel_size: [3, 5] num_output: 0x10\n"
    "    weight_filler { type: 'xavier' variance_norm: FAN_OUT } }\n"
    "  include { phase: TRAIN stage: \"a\" } loss_weight: -1.5e-3f\n}\n",
    "net: \"n.prototxt\" base_lr: .01, lr_policy: \"step\"; gamma: inf\n"
    "stepsize: 010 test_iter: [1, 2] snapshot_format: HDF5 solver_type: 2\n"
    "net_param < state: { level: -2 } layer { } >\n",
    "input: 'a' input: 'b' input_dim: [1, 2, 3, 4] # comment\n"
    "layers { name: 'c' type: CONVOLUTION param: 'w' blobs_lr: 1\n"
    "  data_param { scale: 2 backend: LMDB } weight_decay: 0 }\n",
    "layers { layer { name: 'p' type: 'padding' pad: 2 } bottom: 'd'\n"
    "  top: 'q' }\nlayers { layer { name: 'c' type: 'conv' kernelsize: 3 }\n"
    "  bottom: 'q' top: 'c' }\n",
};

const char *const fragments[] = {
    "{",   "}",   "<",  ">",    "[",       "]",      ":",  ",",
    ";",   "\"",  "'",  "-",    "#",       "0x",     "\n", "\t",
    "nan", "1e9", "\\", "\x80", "layer {", "zzz: 1", " "};

std::string mutate(std::string text, std::mt19937 &random) {
  auto below = [&](size_t bound) { return bound ? random() % bound : 0; };
  for (size_t edits = 1 + below(4); edits > 0; --edits) {
    size_t at = below(text.size() + 1);
    switch (below(4)) {
    case 0:
      text.erase(at, 1 + below(8));
      break;
    case 1:
      text.insert(at, fragments[below(std::size(fragments))]);
      break;
    case 2:
      if (at < text.size())
        text[at] = static_cast<char>(below(256));
      break;
    default: // repeat a range of the text
      text.insert(at, text.substr(below(text.size()), below(40)));
    }
  }
  return text;
}

bool hasUtf8Error(const Diagnostics &diagnostics) {
  return diagnostics.str().find("is not UTF-8: ") != std::string::npos;
}

TEST(TextFuzz, SameVerdictAsProtobuf) {
  google::protobuf::SetLogHandler(nullptr);
  std::mt19937 random(20);
  constexpr int rounds = 20000;
  for (int round = 0; round < rounds; ++round) {
    const std::string text =
        mutate(seeds[static_cast<size_t>(round) % std::size(seeds)], random);
    Diagnostics diagnostics;
    PrototxtFile file = parsePrototxt(text, "f", diagnostics);
    bool protobufAccepts, sameContent = true;
    if (file.kind == FileKind::Net) {
      caffe::NetParameter net;
      protobufAccepts =
          google::protobuf::TextFormat::ParseFromString(text, &net);
      sameContent = net.SerializeAsString() == file.net->SerializeAsString();
    } else {
      caffe::SolverParameter solver;
      protobufAccepts =
          google::protobuf::TextFormat::ParseFromString(text, &solver);
      sameContent =
          solver.SerializeAsString() == file.solver->SerializeAsString();
    }
    // ParseFromString() accepts strings that are not UTF-8; Brew does not.
    if (protobufAccepts && hasUtf8Error(diagnostics))
      protobufAccepts = false;
    ASSERT_EQ(file.complete, protobufAccepts) << text << "\n"
                                              << diagnostics.str();
    ASSERT_EQ(diagnostics.hasErrors(), !protobufAccepts) << text;
    if (protobufAccepts) {
      ASSERT_TRUE(sameContent) << text;
    }
    // Upgrades and checks must not crash on the parsed content.
    if (file.kind == FileKind::Net) {
      auto net = NetDocument::fromParsed(std::move(file), diagnostics);
      if (net)
        filterNet(net, standaloneState(net->net(), caffe::TEST));
    } else {
      SolverDocument::fromParsed(std::move(file), diagnostics);
    }
    for (const Diagnostic &diagnostic : diagnostics.items())
      ASSERT_TRUE(diagnostic.where.line > 0 && diagnostic.where.column > 0)
          << diagnostic.str();
  }
}

} // namespace
