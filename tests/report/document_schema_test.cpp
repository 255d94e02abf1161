#include "synergraph/report/document_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "synergraph/core/error.h"
#include "tests/support/documents.h"

namespace synergraph {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing_support::wrong_in_document;

/// The smallest documents that two schemas allow.
const json kNotes = json::parse(
    R"({"format": "synergraph run 1", "seconds": 1.5, "track": 0, "held_out": false, "devices": []})");
const json kInspect = json::parse(
    R"({"schema": "synergraph.inspect", "schema_version": 1, "program": "", "file": "a.npy",
        "format": "NumPy array", "skipped": [], "metadata": {"a": "b"},
        "tensors": [{"name": "", "dtype": "float32", "shape": [2], "elements": 2, "bytes": 8}]})");

json changed(json document, const char* place, const json& value) {
  document[json::json_pointer(place)] = value;
  return document;
}

TEST(DocumentSchema, TakesWhatItDescribes) {
  EXPECT_EQ(wrong_in_document("run.json", kNotes), "");
  EXPECT_EQ(wrong_in_document("synergraph.inspect", kInspect), "");
}

TEST(DocumentSchema, RefusesAFieldTooMany) {
  EXPECT_EQ(wrong_in_document("run.json", changed(kNotes, "/more", 1)),
            "run.json has more, which its schema does not have");
  EXPECT_EQ(wrong_in_document("synergraph.inspect", changed(kInspect, "/tensors/0/more", 1)),
            "synergraph.inspect.tensors[0] has more, which its schema does not have");
}

TEST(DocumentSchema, RefusesAFieldTooFew) {
  for (const auto& [key, value] : kNotes.items()) {
    json without = kNotes;
    without.erase(key);
    EXPECT_EQ(wrong_in_document("run.json", without), "run.json lacks " + key);
  }
}

TEST(DocumentSchema, RefusesOtherValues) {
  EXPECT_THAT(wrong_in_document("run.json", changed(kNotes, "/track", -1)), HasSubstr("minimum 0"));
  EXPECT_THAT(wrong_in_document("run.json", changed(kNotes, "/seconds", nullptr)),
              HasSubstr("not type \"number\""));
  EXPECT_THAT(wrong_in_document("run.json", changed(kNotes, "/format", "other")),
              HasSubstr("not const"));
  EXPECT_THAT(wrong_in_document("synergraph.inspect", changed(kInspect, "/tensors/0/dtype", "f")),
              HasSubstr("not enum"));
  EXPECT_THAT(wrong_in_document("synergraph.inspect", changed(kInspect, "/metadata/a", 1)),
              HasSubstr("not type \"string\""));
}

TEST(DocumentSchema, HasThePartsThatItRefersTo) {
  for (const std::string& name : document_names()) {
    const json schema = json::parse(document_schema(name));
    EXPECT_EQ(schema.at("$schema"), "https://json-schema.org/draft/2020-12/schema") << name;
    const auto visit = [&](const auto& self, const json& of) -> void {
      if (of.is_object() && of.contains("$ref")) {
        EXPECT_TRUE(schema.contains(json::json_pointer(of["$ref"].get<std::string>().substr(1))))
            << name << ": " << of["$ref"];
      }
      if (of.is_structured())
        for (const json& part : of) self(self, part);
    };
    visit(visit, schema);
  }
}

TEST(DocumentSchema, NamesTheDocumentsThatThereAre) {
  try {
    (void)document_schema("synergraph.nothing");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("no document is named 'synergraph.nothing': expected one of"));
    for (const std::string& name : document_names()) EXPECT_THAT(error.what(), HasSubstr(name));
  }
}

}  // namespace
}  // namespace synergraph
