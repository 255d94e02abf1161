#pragma once

// Holds JSON documents against the schemas that `synergraph schema documents` prints.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>

namespace synergraph::testing_support {

inline std::string program_path() {
  const char* elsewhere = std::getenv("SYNERGRAPH_PROGRAM");  // where programs were carried
  return elsewhere != nullptr ? elsewhere : SYNERGRAPH_CLI;
}

/// All parts of all documents, and which part a document is.
inline const nlohmann::json& all_schemas() {
  static const nlohmann::json schemas = [] {
    const std::string command = "'" + program_path() + "' schema documents";
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"),
                                                     pclose);  // NOLINT
    std::string text;
    std::array<char, 4096> buffer{};
    for (std::size_t read = 1; pipe != nullptr && read > 0;)
      text.append(buffer.data(), read = std::fread(buffer.data(), 1, buffer.size(), pipe.get()));
    return nlohmann::json::parse(text);
  }();
  return schemas;
}

/// Where a value is not of a type of JSON Schema (2020-12), in a line; empty: it is. A field with a
/// $comment must be there: documents without are older. Throws on a keyword that it does not know.
class SchemaCheck {
 public:
  using json = nlohmann::json;

  std::string operator()(const json& type, const json& value, const std::string& at) const {
    std::string wrong;
    for (const auto& [keyword, of] : type.items()) {
      wrong = check(keyword, of, type, value, at);
      if (!wrong.empty()) break;
    }
    return wrong;
  }

 private:
  std::string check(const std::string& keyword, const json& of, const json& type, const json& value,
                    const std::string& at) const {
    const auto need = [&](bool right) {
      return right ? std::string()
                   : at + " is " + value.dump() + ", not " + keyword + ' ' + of.dump();
    };
    if (keyword == "description" || keyword == "$comment" || keyword == "patternProperties")
      return {};
    if (keyword == "$ref")
      return (*this)(all_schemas().at(json::json_pointer(of.get<std::string>().substr(1))), value,
                     at);
    if (keyword == "const") return need(value == of);
    if (keyword == "enum") return need(std::find(of.begin(), of.end(), value) != of.end());
    if (keyword == "type") return need(has_type(of, value));
    if (keyword == "anyOf") return need(any_of(of, value, at));
    if (keyword == "minimum") return need(!value.is_number() || value >= of);
    if (keyword == "exclusiveMinimum") return need(!value.is_number() || value > of);
    if (keyword == "maximum") return need(!value.is_number() || value <= of);
    if (keyword == "minItems")
      return need(!value.is_array() || value.size() >= of.get<std::size_t>());
    if (keyword == "maxItems")
      return need(!value.is_array() || value.size() <= of.get<std::size_t>());
    if (keyword == "items") return items(of, value, at);
    if (keyword == "required" || keyword == "properties") return required(keyword, of, value, at);
    if (keyword == "additionalProperties") return fields(type, value, at);
    throw std::logic_error("the tests do not know the keyword " + keyword + " of JSON Schema");
  }

  static bool has_type(const json& type, const json& value) {
    if (type.is_array())
      return std::any_of(type.begin(), type.end(),
                         [&](const json& one) { return has_type(one, value); });
    const auto name = type.get<std::string>();
    return name == "integer" ? value.is_number_integer() : name == value.type_name();
  }
  bool any_of(const json& types, const json& value, const std::string& at) const {
    return std::any_of(types.begin(), types.end(),
                       [&](const json& type) { return (*this)(type, value, at).empty(); });
  }
  std::string items(const json& type, const json& value, const std::string& at) const {
    for (std::size_t k = 0; value.is_array() && k < value.size(); ++k)
      if (std::string wrong = (*this)(type, value[k], at + '[' + std::to_string(k) + ']');
          !wrong.empty())
        return wrong;
    return {};
  }
  static std::string required(const std::string& keyword, const json& of, const json& value,
                              const std::string& at) {
    if (!value.is_object()) return {};
    for (const auto& [key, property] : of.items()) {
      const std::string name = keyword == "required" ? property.get<std::string>() : key;
      const bool needed = keyword == "required" || property.contains("$comment");
      if (needed && !value.contains(name)) return at + " lacks " + name;
    }
    return {};
  }
  std::string fields(const json& type, const json& value, const std::string& at) const {
    if (!value.is_object()) return {};
    for (const auto& [key, field] : value.items()) {
      const json* of = &type.at("additionalProperties");
      if (type.contains("properties") && type["properties"].contains(key))
        of = &type["properties"][key];
      if (type.contains("patternProperties"))
        for (const auto& [pattern, property] : type["patternProperties"].items())
          if (std::regex_search(key, std::regex(pattern))) of = &property;
      if (of->is_boolean()) return at + " has " + key + ", which its schema does not have";
      if (std::string wrong = (*this)(*of, field, at + '.' + key); !wrong.empty()) return wrong;
    }
    return {};
  }
};

/// Where a document is not what its schema says; `name` is that of the document.
inline std::string wrong_in_document(const std::string& name, const nlohmann::json& document) {
  const nlohmann::json& schemas = all_schemas();
  if (!schemas.at("documents").contains(name)) return "no schema is named " + name;
  const auto part = schemas.at("documents").at(name).get<std::string>();
  return SchemaCheck()(schemas.at("$defs").at(part), document, name);
}

/// The document in a text, which must be what the schema that it names says.
inline nlohmann::json parsed_document(const std::string& text) {
  nlohmann::json document = nlohmann::json::parse(text);
  EXPECT_EQ(wrong_in_document(document.at("schema").get<std::string>(), document), "");
  return document;
}

/// Holds what the program has printed, or written to a file of this name, against its schema.
inline void expect_documents(const std::string& file, const std::string& text) {
  const auto expect = [&](const std::string& name, const std::string& one) {
    const auto document = nlohmann::json::parse(one, nullptr, false);
    if (document.is_discarded()) return;
    const bool named = document.is_object() && document.contains("schema");
    if (named || !name.empty()) {
      EXPECT_EQ(wrong_in_document(named ? document["schema"].get<std::string>() : name, document),
                "")
          << file;
    }
  };
  if (file == "metrics.jsonl") {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) expect(file, line);
  } else if (text.starts_with("{")) {
    expect(file == "run.json" ? file : "", text);
  } else if (file.ends_with(".html")) {
    constexpr std::string_view kBegin = "id=\"synergraph-data\">";
    const std::size_t begin = text.find(kBegin);
    if (begin == std::string::npos) return;
    const std::size_t from = begin + kBegin.size();
    expect("synergraph.page", text.substr(from, text.find("</script>", from) - from));
  }
}

/// What a program writes into a directory.
class DocumentWatch {
 public:
  explicit DocumentWatch(std::filesystem::path directory)
      : directory_(std::move(directory)), begin_(std::filesystem::file_time_type::clock::now()) {}

  /// Holds every document that was printed, or written there since, against its schema.
  void expect_documents(const std::string& printed = {}) const {
    testing_support::expect_documents("", printed);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             directory_, std::filesystem::directory_options::skip_permission_denied)) {
      const std::string name = entry.path().filename().string();
      const bool document =
          name.ends_with(".json") || name == "metrics.jsonl" || name.ends_with(".html");
      if (!document || !entry.is_regular_file() || entry.last_write_time() < begin_) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      testing_support::expect_documents(name, {std::istreambuf_iterator<char>(file), {}});
    }
  }

 private:
  std::filesystem::path directory_;
  std::filesystem::file_time_type begin_;
};

}  // namespace synergraph::testing_support
