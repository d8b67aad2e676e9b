//===- PlanFileTest.cpp - Opening plans, good and damaged -----------------===//
#include "plan/PlanFile.h"

#include "PlanBuilder.h"
#include "PlanMutator.h"
#include "plan/PlanWriter.h"
#include "support/Error.h"
#include "test/common/Folder.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>

using namespace brew;
using namespace brew::plan;
using namespace brew::test;

namespace {

/// A file that is removed with the object.
struct TemporaryFile {
  explicit TemporaryFile(const std::string &content) {
    std::ofstream(path, std::ios::binary) << content;
  }
  Folder folder;
  std::string path = folder / "plan";
};

/// Opens a plan and returns the status. Sets `text` to the text of an error.
ExitStatus openStatus(const std::string &path, std::string &text) {
  try {
    PlanFile::open(path);
    return ExitStatus::Success;
  } catch (const Error &error) {
    text = error.what();
    return error.status();
  }
}

TEST(PlanFile, OpensWrittenPlans) {
  PlanBuilder builder = completePlan();
  TemporaryFile file(builder.bytes());
  auto plan = PlanFile::open(file.path);
  EXPECT_EQ(plan->path(), file.path);
  EXPECT_EQ(plan->manifest().net_name(), "net");
  EXPECT_EQ(plan->manifest().programs(0).name(), "forward_backward");
  for (std::size_t i = 0; i < builder.segments.size(); ++i) {
    const Segment &segment = plan->manifest().segments(static_cast<int>(i));
    ASSERT_EQ(segment.size(), builder.segments[i].size());
    EXPECT_EQ(segment.offset() % kAlignment, 0u);
    EXPECT_EQ(std::memcmp(plan->segment(static_cast<std::uint32_t>(i)),
                          builder.segments[i].data(), segment.size()),
              0);
  }
}

TEST(PlanFile, ComputesElementSizesAndCounts) {
  EXPECT_EQ(elementSize(F32), 4u);
  EXPECT_EQ(elementSize(F64), 8u);
  EXPECT_EQ(elementSize(I32), 4u);
  EXPECT_EQ(elementSize(U8), 1u);
  Buffer buffer;
  EXPECT_EQ(elementCount(buffer), 1);
  buffer.add_dims(3);
  buffer.add_dims(4);
  EXPECT_EQ(elementCount(buffer), 12);
}

TEST(PlanFile, ReportsMissingFileAsUnavailable) {
  std::string text;
  EXPECT_EQ(openStatus("/nonexistent/a.plan", text), ExitStatus::Unavailable);
  EXPECT_EQ(
      text,
      "cannot open plan '/nonexistent/a.plan': No such file or directory");
  EXPECT_EQ(openStatus("/", text), ExitStatus::Unavailable);
  EXPECT_EQ(text, "cannot open plan '/': Is a directory");
}

TEST(PlanFile, RefusesOtherFiles) {
  EXPECT_NE(loadError("").find("not a plan"), std::string::npos);
  EXPECT_NE(loadError("name: \"LeNet\"\nlayer {").find("not a plan"),
            std::string::npos);
  TemporaryFile empty("");
  std::string text;
  EXPECT_EQ(openStatus(empty.path, text), ExitStatus::BadInput);
  EXPECT_NE(text.find(empty.path + ": not a plan"), std::string::npos);
}

/// Returns the error for a plan with another format version.
std::string formatError(std::string bytes, std::uint32_t version) {
  std::memcpy(bytes.data() + offsetof(Header, formatVersion), &version, 4);
  return loadError(bytes);
}

TEST(PlanFile, ErrorsOfOtherFormatsNameTheCommand) {
  const std::string hint = "; this program reads format version " +
                           std::to_string(kFormatVersion) +
                           "; to recompile it: brewc ";
  PlanBuilder builder = completePlan();
  builder.manifest.clear_solver();
  builder.manifest.set_input_prototxt("nets/le net.prototxt");
  const std::string newerError =
      "p.plan: this plan has format version 77 and was written by a newer "
      "brewc" +
      hint;
  EXPECT_EQ(formatError(builder.bytes(), 77),
            newerError + "'nets/le net.prototxt' -o p.plan");
  EXPECT_EQ(
      formatError(builder.bytes(), 1)
          .find("p.plan: this plan has format version 1 and was written by an "
                "older brewc" +
                hint),
      0u);
  // The user has to fill in parts that the reader cannot determine.
  builder.manifest.clear_input_prototxt();
  builder.manifest.mutable_programs(0)->set_source("net file: a'b.prototxt");
  EXPECT_EQ(formatError(builder.bytes(), 77),
            newerError + "'a'\\''b.prototxt' -o p.plan");
  builder.manifest.mutable_programs(0)->clear_source();
  EXPECT_EQ(formatError(builder.bytes(), 77),
            newerError + "NET.prototxt -o p.plan");
  builder.manifest.mutable_solver();
  EXPECT_EQ(formatError(builder.bytes(), 77),
            newerError + "SOLVER.prototxt -o p.plan");
  std::string headerOnly = builder.bytes().substr(0, sizeof(Header));
  EXPECT_EQ(formatError(headerOnly, 77), newerError + "NET.prototxt -o p.plan");
}

TEST(PlanFile, StoredPlansOfEarlierFormatsAreRefused) {
  std::string text;
  for (std::uint32_t version = 1; version < kFormatVersion; ++version) {
    const std::string number = std::to_string(version);
    const std::string pathPrefix =
        BREW_REFERENCE_DIR "/plans/format-" + number + "-";
    EXPECT_EQ(openStatus(pathPrefix + "deploy.plan", text),
              ExitStatus::BadInput);
    EXPECT_EQ(text, pathPrefix + "deploy.plan: this plan has format version " +
                        number +
                        " and was written by an older brewc; this program "
                        "reads format version " +
                        std::to_string(kFormatVersion) +
                        "; to recompile it: brewc small.prototxt -o " +
                        pathPrefix + "deploy.plan");
    EXPECT_EQ(openStatus(pathPrefix + "solver.plan", text),
              ExitStatus::BadInput);
    // The first version did not contain the path of the prototxt.
    EXPECT_NE(text.find(std::string("; to recompile it: brewc ") +
                        (version == 1 ? "SOLVER" : "small_solver") +
                        ".prototxt -o "),
              std::string::npos)
        << text;
  }
}

/// Returns a plan that the writer would reject.
std::string assembleUnchecked(PlanBuilder &builder) {
  fixedOffsets(builder.manifest, builder.segments);
  return assemble(builder.manifest, builder.segments);
}

TEST(PlanFile, RefusesUnknownStepsAndEnumValues) {
  // A step of a kind that this reader does not know.
  PlanBuilder builder = completePlan();
  Manifest &manifest = builder.manifest;
  Step &step = *manifest.mutable_programs(0)->mutable_steps(0);
  step.clear_action();
  step.GetReflection()->MutableUnknownFields(&step)->AddLengthDelimited(
      14, "\x08\x01");
  EXPECT_NE(loadError(assembleUnchecked(builder)).find("it has no action"),
            std::string::npos);
  // An unknown value of an enumeration must not be replaced by the default.
  PlanBuilder unknownEnum = completePlan();
  Buffer &buffer = *unknownEnum.manifest.mutable_buffers(0);
  buffer.clear_type();
  buffer.GetReflection()->MutableUnknownFields(&buffer)->AddVarint(
      Buffer::kTypeFieldNumber, 99);
  EXPECT_EQ(loadError(assembleUnchecked(unknownEnum)),
            "p.plan: damaged plan: Buffer.type: its value is unknown to this "
            "program");
  // An unknown field is ignored.
  PlanBuilder unknownField = completePlan();
  unknownField.manifest.GetReflection()
      ->MutableUnknownFields(&unknownField.manifest)
      ->AddVarint(900, 1);
  EXPECT_EQ(loadError(assembleUnchecked(unknownField)), "");
}

TEST(PlanFile, EveryTruncationIsRefused) {
  PlanBuilder builder = completePlan();
  builder.segments.back().resize(200); // for speed; the code is never run
  std::string bytes = builder.bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    std::string error = loadError(bytes.substr(0, size));
    ASSERT_NE(error.find(size == 0 ? "not a plan" : "damaged plan"),
              std::string::npos)
        << "after " << size << " bytes: " << error;
  }
}

TEST(PlanFile, EveryTruncationWithFittingHeaderIsHarmless) {
  PlanBuilder builder = completePlan();
  builder.segments.back().resize(200);
  std::string bytes = builder.bytes();
  for (std::size_t size = sizeof(Header); size < bytes.size(); ++size)
    ASSERT_NE(loadError(withFittingHeader(bytes.substr(0, size))), "")
        << "after " << size << " bytes";
}

TEST(PlanFile, EveryBitFlipIsRefused) {
  PlanBuilder builder = completePlan();
  builder.segments.back().resize(200);
  std::string bytes = builder.bytes();
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
    ASSERT_NE(loadError(bytes), "") << "bit " << bit;
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
  }
  EXPECT_EQ(loadError(bytes), "");
}

TEST(PlanFile, EveryBitFlipWithFittingHeaderIsHarmless) {
  PlanBuilder builder = completePlan();
  builder.segments.back().resize(200);
  std::string bytes = builder.bytes();
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::size_t end = header.manifestOffset + header.manifestSize;
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < end * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
    refused += !loadError(withFittingHeader(bytes)).empty();
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
  }
  // Changed bits in names are valid; most others are not.
  EXPECT_GT(refused, end * 8 / 3);
}

TEST(PlanFile, RefusesHostileHeaderFields) {
  const std::string good = completePlan().bytes();
  for (std::size_t field :
       {offsetof(Header, manifestOffset), offsetof(Header, manifestSize),
        offsetof(Header, fileSize)})
    for (std::uint64_t value :
         {std::uint64_t(0), std::uint64_t(1), std::uint64_t(63),
          std::uint64_t(good.size() + 1), std::uint64_t(1) << 31,
          std::uint64_t(1) << 32, std::uint64_t(1) << 63, ~std::uint64_t(0),
          ~std::uint64_t(0) - 63}) {
      std::string bytes = good;
      std::memcpy(bytes.data() + field, &value, sizeof value);
      updateChecksum(bytes);
      EXPECT_NE(loadError(bytes), "") << "field " << field << " = " << value;
    }
  std::string reserved = good;
  reserved[sizeof(Header) - 1] = 1;
  EXPECT_NE(loadError(reserved).find("reserved"), std::string::npos);
  std::string version = good;
  std::memset(version.data() + offsetof(Header, formatVersion), 0, 4);
  EXPECT_NE(loadError(version).find("format version is 0"), std::string::npos);
}

TEST(PlanWriter, RefusesInvalidPlans) {
  PlanBuilder builder = completePlan();
  builder.manifest.mutable_buffers(0)->set_offset(33);
  try {
    builder.bytes();
    FAIL() << "a plan that breaks a rule was written";
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), ExitStatus::Bug);
    EXPECT_NE(
        std::string(error.what()).find("not a multiple of its element size"),
        std::string::npos);
  }
  builder = completePlan();
  builder.segments.pop_back();
  EXPECT_THROW(builder.bytes(), Error);
}

TEST(PlanWriter, WritesManifestsOfAnySize) {
  // Segment offsets grow with the manifest, and the manifest grows with their
  // varints.
  for (std::size_t length = 0; length < 17000; length += 37) {
    PlanBuilder builder;
    builder.manifest.set_net_name(std::string(length, 'n'));
    builder.segment(Segment::CONSTANT_DATA, "abc");
    builder.segment(Segment::CONSTANT_DATA, "");
    auto plan = builder.build();
    ASSERT_EQ(std::memcmp(plan->segment(0), "abc", 3), 0);
  }
}

} // namespace
