#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/io/pattern.h"
#include "tests/support/documents.h"

namespace synergraph {
namespace {

struct Outcome {
  int status = -1;
  std::string output;  ///< both streams
};

Outcome inspect(const std::string& arguments) {
  Outcome outcome;
  const std::string command = std::string(SYNERGRAPH_CLI) + " inspect " + arguments + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 4096> buffer{};
  for (std::size_t got = 0; (got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    outcome.output.append(buffer.data(), got);
  }
  outcome.status = WEXITSTATUS(pclose(pipe));
  return outcome;
}

TEST(InspectTest, AlignsTheTable) {
  const std::string path = data_file("list.pt");
  const Outcome outcome = inspect(path);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, path +
                                ": PyTorch archive, 2 tensors, 5 elements, 32 B\n\n"
                                "tensor  dtype    shape  size\n"
                                "────────────────────────────\n"
                                "0       float32  (2,)    8 B\n"
                                "1       int64    (3,)   24 B\n");
}

TEST(InspectTest, PrintsJson) {
  const Outcome outcome = inspect("--json " + data_file("all.safetensors"));
  EXPECT_EQ(outcome.status, 0);
  const nlohmann::json report = testing_support::parsed_document(outcome.output);
  EXPECT_EQ(report.at("schema"), "synergraph.inspect");
  EXPECT_EQ(report.at("schema_version"), 1);
  EXPECT_EQ(report.at("format"), "safetensors");
  EXPECT_EQ(report.at("tensors").size(), 15U);
  EXPECT_EQ(report.at("tensors").at(0), (nlohmann::json{{"name", "t.F64"},
                                                        {"dtype", "float64"},
                                                        {"shape", {2, 3}},
                                                        {"elements", 6},
                                                        {"bytes", 48}}));
  EXPECT_EQ(report.at("metadata"), (nlohmann::json{{"format", "pt"}, {"task", "copy"}}));
}

TEST(InspectTest, ListsWhatItSkips) {
  const Outcome outcome = inspect(data_file("npz_stored.npz"));
  EXPECT_NE(outcome.output.find("\nwords    dtype '<U2' is not read\n"), std::string::npos)
      << outcome.output;
}

TEST(InspectTest, BadFilesAreOneLineAndStatusOne) {
  const Outcome outcome = inspect(data_file("os_system.pt"));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(outcome.output.starts_with("synergraph: ")) << outcome.output;
  EXPECT_NE(outcome.output.find("refuses to load global 'posix.system'"), std::string::npos);
  EXPECT_EQ(outcome.output.find('\n'), outcome.output.size() - 1);
  EXPECT_EQ(inspect("").status, 2);
}

}  // namespace
}  // namespace synergraph
