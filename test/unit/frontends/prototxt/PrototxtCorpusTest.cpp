//===- PrototxtCorpusTest.cpp - Public prototxts against Protobuf ---------===//
//
// Every file of the corpus is accepted if and only if protobuf accepts it, with
// the same content. Rejected files have an error with a location. The test is
// skipped if there is no corpus.
//
//===----------------------------------------------------------------------===//
#include "Parse.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

using namespace brew::prototxt;
namespace caffe = brew::caffe;

namespace {

std::string corpusFolder() {
  const char *environment = std::getenv("BREW_SHARED_DIR");
  std::string shared = environment ? environment : BREW_SHARED_DIR;
  return shared.empty() ? "" : shared + "/corpus";
}

/// Returns the columns of a CSV line that has no quoted commas before
/// column 8.
std::vector<std::string> splitColumns(const std::string &line) {
  std::vector<std::string> columns;
  std::stringstream stream(line);
  for (std::string part; std::getline(stream, part, ',');)
    columns.push_back(part);
  return columns;
}

/// Returns whether a layer repeats resize_param, which only Brew accepts.
bool repeatsResizeParam(const PrototxtFile &file) {
  if (!file.net)
    return false;
  for (const caffe::LayerParameter &layer : file.net->layer())
    if (layer.transform_param().further_resize_param_size() > 0)
      return true;
  return false;
}

TEST(Corpus, ParsesLikeProtobuf) {
  std::ifstream manifest(corpusFolder() + "/manifest.csv");
  if (!manifest)
    GTEST_SKIP() << "no corpus";
  google::protobuf::SetLogHandler(nullptr);
  std::string line;
  std::getline(manifest, line);
  int accepted = 0, refused = 0;
  while (std::getline(manifest, line)) {
    const auto row = splitColumns(line);
    ASSERT_GE(row.size(), 8u) << line;
    const bool isSolver = row[4] == "solver";
    const std::string text = readTextFile(corpusFolder() + "/" + row[0]);
    caffe::SolverParameter solverMessage;
    caffe::NetParameter netMessage;
    google::protobuf::Message &message =
        isSolver ? static_cast<google::protobuf::Message &>(solverMessage)
                 : netMessage;
    const bool parses =
        google::protobuf::TextFormat::ParseFromString(text, &message);
    // Protobuf must accept the files that the list marks with "yes".
    EXPECT_TRUE(parses || row[7] != "yes") << row[0];

    Diagnostics diagnostics;
    PrototxtFile file = parsePrototxt(text, row[0], diagnostics);
    EXPECT_EQ(file.kind == FileKind::Solver, isSolver) << row[0];
    // Brew accepts fields of forks that protobuf does not know.
    if (diagnostics.str().find(" no effect: Brew c") != std::string::npos ||
        repeatsResizeParam(file)) {
      EXPECT_FALSE(parses) << row[0];
      ++refused;
      continue;
    }
    EXPECT_EQ(file.complete, parses) << row[0] << "\n" << diagnostics.str();
    EXPECT_EQ(diagnostics.hasErrors(), !parses) << row[0];
    for (const Diagnostic &diagnostic : diagnostics.items())
      EXPECT_TRUE(diagnostic.where.isValid() && diagnostic.where.column > 0)
          << diagnostic.str();
    if (!parses || !file.complete ||
        (file.kind == FileKind::Solver) != isSolver) {
      ++refused;
      continue;
    }
    ++accepted;
    const std::string theirs = message.SerializeAsString();
    std::string ours;
    if (isSolver) {
      ours = file.solver->SerializeAsString();
      auto solver = SolverDocument::fromParsed(std::move(file), diagnostics);
      // Values of forks are errors.
      EXPECT_TRUE(!diagnostics.hasErrors() || row[7] != "yes")
          << diagnostics.str();
    } else {
      ours = file.net->SerializeAsString();
      auto net = NetDocument::fromParsed(std::move(file), diagnostics);
      if (row[6] == "yes") {
        EXPECT_FALSE(diagnostics.hasErrors()) << diagnostics.str();
      }
      for (caffe::Phase phase : {caffe::TRAIN, caffe::TEST})
        filterNet(net, standaloneState(net->net(), phase));
    }
    EXPECT_EQ(ours, theirs) << row[0];
  }
  EXPECT_GT(accepted, 0);
  EXPECT_GT(refused, 0);
}

} // namespace
