#include "synergraph/report/compare_input.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/special_values.h"
#include "synergraph/core/terminal.h"
#include "synergraph/report/documents.h"
#include "synergraph/report/json_parts.h"

namespace synergraph {
namespace {

using nlohmann::json;

constexpr std::string_view kTableStart = "convention,layer,sample,head,";
constexpr std::size_t kMostNamedHeads = 65536;

/// Fields of a document that both results must have alike, and what documents without them mean.
constexpr std::pair<const char*, const char*> kWholeResult[] = {{"edges", "attention"},
                                                                {"missing_mass", "error"}};

/// The means over every `sinks` values in a row.
std::vector<double> over_sinks(const std::vector<double>& values, int sinks) {
  const auto each = static_cast<std::size_t>(sinks);
  std::vector<double> means;
  for (std::size_t first = 0; first + each <= values.size(); first += each) {
    double sum = 0.0;
    for (std::size_t k = 0; k < each; ++k) sum += values[first + k];
    means.push_back(sum / static_cast<double>(sinks));
  }
  return means;
}

// ---- Documents

/// A document, with the place of what is looked at.
class DocumentReader {
 public:
  explicit DocumentReader(std::string name) : name_(std::move(name)) {}

  ComparedSide read(const json& document) const {
    const std::string schema = text(document, "schema");
    if (schema != kAnalyzeDocument.name)
      fail(fmt::format("the document is {}; expected {}, which analyze --json writes",
                       quoted_text(schema), kAnalyzeDocument.name));
    const std::int64_t version = whole(document, "schema_version");
    if (version < kAnalyzeDocument.oldest || version > kAnalyzeDocument.version)
      fail(fmt::format("schema_version is {}; this program reads {} to {}", version,
                       kAnalyzeDocument.oldest, kAnalyzeDocument.version));
    ComparedSide side{name_, false, {}};
    for (const json& convention : list(document, "conventions")) {
      ComparedResult& result = side.results.emplace_back();
      result.convention = text(convention, "convention");
      for (const auto& [key, value] : member(convention, "settings").items())
        result.settings[key] = value.dump(-1, ' ', false, json::error_handler_t::replace);
      for (const auto& [key, standard] : kWholeResult)
        result.settings[key] = document.contains(key) ? text(document, key) : standard;
      for (const json& layer : list(convention, "layers"))
        result.layers.push_back(read_layer(layer));
    }
    return side;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw InputError(fmt::format("{}: {}", printable(name_), why));
  }

  const json& member(const json& of, const char* key) const {
    if (!of.is_object() || !of.contains(key))
      fail(fmt::format("the field {} is missing; expected a document of analyze --json", key));
    return of.at(key);
  }
  const json& list(const json& of, const char* key) const {
    const json& found = member(of, key);
    if (!found.is_array() || found.empty()) fail(fmt::format("the field {} is no list", key));
    return found;
  }
  std::string text(const json& of, const char* key) const {
    const json& found = member(of, key);
    if (!found.is_string()) fail(fmt::format("the field {} is no text", key));
    return found.get<std::string>();
  }
  std::int64_t whole(const json& of, const char* key) const {
    const json& found = member(of, key);
    if (!found.is_number_unsigned() || found.get<std::uint64_t>() > std::uint64_t{1} << 53U)
      fail(fmt::format("the field {} is no count", key));
    return found.get<std::int64_t>();
  }
  double number(const json& of, const char* key) const {
    const json& found = member(of, key);
    if (found.is_null()) return kNan;
    if (!found.is_number()) fail(fmt::format("the field {} is no number", key));
    return found.get<double>();
  }

  ComparedNumber read_summary(const json& summary) const {
    ComparedNumber result;
    const std::int64_t samples = whole(summary, "samples");
    const std::int64_t never = whole(summary, "never");
    const std::int64_t missing = summary.contains("undefined") ? whole(summary, "undefined") : 0;
    if (never + missing > samples) fail("a summary has more values than samples");
    const std::int64_t finite = samples - never - missing;
    result.never = static_cast<std::size_t>(never);
    result.finite.count = static_cast<std::size_t>(finite);
    result.finite.mean = finite > 0 ? number(summary, "mean") : kNan;
    const double std = number(summary, "std");
    if (std < 0.0) fail("a standard deviation is below 0");
    const auto count = static_cast<double>(finite);
    result.finite.std = finite > 1 ? std * std::sqrt(count / (count - 1.0)) : kNan;
    return result;
  }

  ComparedNumbers read_numbers(const json& of) const {
    ComparedNumbers numbers;
    if (!of.is_object()) fail("the numbers of a layer are no object");
    for (const auto& [key, value] : of.items())
      if (const std::optional<Quantity> quantity = parse_quantity(key);
          quantity && value.is_object())
        numbers.emplace(*quantity, read_summary(value));
    return numbers;
  }

  ComparedLayer read_layer(const json& of) const {
    ComparedLayer layer;
    layer.name = text(of, "name");
    layer.samples = static_cast<std::size_t>(whole(of, "samples"));
    layer.tokens = whole(of, "tokens");
    layer.all = read_numbers(member(of, "combined"));
    layer.all.merge(read_numbers(of));
    for (const json& head : list(of, "heads")) layer.heads.push_back(read_numbers(head));
    return layer;
  }

  std::string name_;
};

// ---- Tables

/// The rows of comma-separated values (RFC 4180), one after the other.
class RowReader {
 public:
  RowReader(std::string_view text, std::string name) : text_(text), name_(std::move(name)) {}

  [[noreturn]] void fail(const std::string& why) const {
    throw InputError(fmt::format("{}: line {}: {}", printable(name_), line_, why));
  }

  /// False at the end.
  bool next(std::vector<std::string>& cells) {
    if (at_ >= text_.size()) return false;
    line_ += 1 + breaks_;
    breaks_ = 0;
    cells.clear();
    for (;;) {
      cells.push_back(cell());
      if (at_ >= text_.size()) return true;
      const char end = text_[at_++];
      if (end == ',') continue;
      if (end == '\r' && at_ < text_.size() && text_[at_] == '\n') ++at_;
      return true;
    }
  }

 private:
  std::string cell() {
    std::string value;
    if (at_ < text_.size() && text_[at_] == '"') {
      for (++at_;; ++at_) {
        if (at_ >= text_.size()) fail("a quotation mark is not closed");
        if (text_[at_] == '"') {
          if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') break;
          ++at_;
        }
        breaks_ += text_[at_] == '\n' ? 1 : 0;
        value += text_[at_];
      }
      ++at_;
      if (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n' && text_[at_] != '\r')
        fail("text follows a quotation mark");
      return value;
    }
    const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    value = text_.substr(at_, end - at_);
    at_ = end;
    return value;
  }

  std::string_view text_;
  std::string name_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
  std::size_t breaks_ = 0;  // in quoted cells of the last row
};

/// Values by sample, as rows give them.
using Values = std::map<Quantity, std::vector<double>>;

struct TableLayer {
  std::string name;
  Values all;
  std::vector<Values> heads;
  std::size_t samples = 0;
};

class TableReader {
 public:
  TableReader(std::string_view text, const std::string& name, int sinks)
      : rows_(text, name), name_(name), sinks_(sinks) {}

  ComparedSide read() {
    std::vector<std::string> cells;
    rows_.next(cells);
    for (const std::string& title : cells) columns_.push_back(parse_quantity(title));
    while (rows_.next(cells)) {
      if (cells.size() != columns_.size())
        rows_.fail(fmt::format("{} cells, expected {}", cells.size(), columns_.size()));
      add(cells);
    }
    ComparedSide side{name_, true, {}};
    for (const auto& [convention, layers] : tables_) {
      ComparedResult& result = side.results.emplace_back();
      result.convention = convention;
      for (const TableLayer& layer : layers) result.layers.push_back(finished(layer));
    }
    if (side.results.empty()) rows_.fail("the table has no rows");
    return side;
  }

 private:
  void add(const std::vector<std::string>& cells) {
    TableLayer& layer = layer_of(cells[0], cells[1]);
    std::size_t sample = 0;
    if (!parse_number(cells[2], sample)) rows_.fail("column sample: expected a number");
    const bool together = cells[3] == "combined";
    std::size_t head = 0;
    if (!together && (!parse_number(cells[3], head) || head >= kMostNamedHeads))
      rows_.fail("column head: expected a number or 'combined'");
    if (sample != layer.samples)
      rows_.fail(
          fmt::format("sample {} stands where sample {} is expected", sample, layer.samples));
    // The row of all heads ends a sample.
    if (!together && head >= layer.heads.size()) {
      if (head != layer.heads.size() || sample > 0)
        rows_.fail(
            fmt::format("head {} stands where head {} is expected", head, layer.heads.size()));
      layer.heads.emplace_back();
    }
    Values& into = together ? layer.all : layer.heads[head];
    for (std::size_t k = 0; k < cells.size(); ++k) {
      if (!columns_[k] || *columns_[k] == Quantity::kMinimaxTime) continue;
      double value = kNan;
      if (!cells[k].empty() && !parse_number(cells[k], value))
        rows_.fail(fmt::format("{} is no number", quoted_text(cells[k])));
      std::vector<double>& values = into[*columns_[k]];
      if (values.size() != sample)
        rows_.fail("a head of this sample is there twice, or misses before");
      values.push_back(value);
    }
    if (together) ++layer.samples;
  }

  TableLayer& layer_of(const std::string& convention, const std::string& name) {
    if (tables_.empty() || tables_.back().first != convention) {
      for (const auto& [known, layers] : tables_)
        if (known == convention) rows_.fail("rows of one convention do not stand together");
      tables_.emplace_back(convention, std::vector<TableLayer>());
    }
    std::vector<TableLayer>& layers = tables_.back().second;
    if (layers.empty() || layers.back().name != name) {
      for (const TableLayer& known : layers)
        if (known.name == name)
          rows_.fail(fmt::format("rows of layer {} do not stand together", quoted_text(name)));
      layers.push_back({name, {}, {}, 0});
    }
    return layers.back();
  }

  ComparedNumbers finished(const Values& values, const TableLayer& layer) const {
    ComparedNumbers numbers;
    for (const auto& [quantity, list] : values) {
      if (list.size() != layer.samples)
        throw InputError(fmt::format("{}: layer {} misses heads of its last samples",
                                     printable(name_), quoted_text(layer.name)));
      if (std::all_of(list.begin(), list.end(), [](double value) { return std::isnan(value); }))
        continue;
      numbers.emplace(quantity, compared_number(over_sinks(list, sinks_)));
    }
    return numbers;
  }

  ComparedLayer finished(const TableLayer& from) const {
    if (from.samples % static_cast<std::size_t>(sinks_) != 0)
      throw InputError(fmt::format("{}: layer {} has {} rows, which {} sinks cannot share equally",
                                   printable(name_), quoted_text(from.name), from.samples, sinks_));
    ComparedLayer layer{from.name,
                        from.samples / static_cast<std::size_t>(sinks_),
                        {},
                        finished(from.all, from),
                        {}};
    for (const Values& head : from.heads) layer.heads.push_back(finished(head, from));
    return layer;
  }

  RowReader rows_;
  std::string name_;
  int sinks_;
  std::vector<std::optional<Quantity>> columns_;
  std::vector<std::pair<std::string, std::vector<TableLayer>>> tables_;
};

/// What only a document says goes to the table of the same result.
void take_settings(const ComparedSide& document, ComparedSide& table) {
  const auto fail = [&] {
    throw InputError(printable(table.name) + ": the document and the table are not of one result");
  };
  if (document.results.size() != table.results.size()) fail();
  for (std::size_t c = 0; c < table.results.size(); ++c) {
    const ComparedResult& from = document.results[c];
    ComparedResult& into = table.results[c];
    if (from.convention != into.convention || from.layers.size() != into.layers.size()) fail();
    into.settings = from.settings;
    for (std::size_t l = 0; l < into.layers.size(); ++l)
      into.layers[l].tokens = from.layers[l].tokens;
  }
}

/// Numbers of one system by sample; `of` gives the metrics of a sample.
template <class Of>
ComparedNumbers numbers_of(const std::vector<Quantity>& quantities, std::size_t samples, int sinks,
                           const std::vector<double>& eps, const Of& of) {
  ComparedNumbers numbers;
  for (const Quantity& quantity : quantities) {
    std::vector<double> values;
    for (std::size_t s = 0; s < samples; ++s) values.push_back(value_of(quantity, of(s), eps));
    if (quantity == Quantity::kMinimaxTime ||
        std::all_of(values.begin(), values.end(), [](double value) { return std::isnan(value); }))
      continue;
    numbers.emplace(quantity, compared_number(over_sinks(values, sinks)));
  }
  return numbers;
}

}  // namespace

bool begins_like_result(std::string_view beginning) {
  const std::size_t first = beginning.find_first_not_of(" \t\r\n");
  return beginning.starts_with(kTableStart) ||
         (first != std::string_view::npos && beginning[first] == '{');
}

ComparedSide parse_result(std::string_view text, const std::string& name, int sinks) {
  if (text.starts_with(kTableStart)) return TableReader(text, name, sinks).read();
  // No text in a document has a line break of its own.
  const std::size_t table = text.find(fmt::format("\n{}", kTableStart));
  const json document = json::parse(text.substr(0, table), nullptr, false);
  if (!document.is_object())
    throw InputError(
        fmt::format("{}: neither a document of analyze --json nor a table of analyze "
                    "--per-sample",
                    printable(name)));
  ComparedSide side = DocumentReader(name).read(document);
  if (table == std::string_view::npos) return side;
  ComparedSide samples = TableReader(text.substr(table + 1), name, sinks).read();
  take_settings(side, samples);
  return samples;
}

ComparedSide compared_side(const AnalyzeReport& report, const std::string& name) {
  const Analysis& analysis = report.analysis;
  const std::vector<double>& eps = analysis.conventions.front().walk.eps;
  const bool backward = analysis.conventions.front().backward;
  ComparedSide side{name, true, {}};
  for (std::size_t c = 0; c < analysis.conventions.size(); ++c) {
    ComparedResult& result = side.results.emplace_back();
    result.convention = name_of(report.conventions[c]);
    const nlohmann::ordered_json settings = json_settings(analysis.conventions[c]);
    for (const auto& [key, value] : settings.items()) result.settings[key] = value.dump();
    result.settings["edges"] = name_of(report.edges);
    result.settings["missing_mass"] = name_of(analysis.layers.front().missing_mass);
    for (std::size_t l = 0; l < analysis.layers.size(); ++l) {
      const AttentionLayer& of = analysis.layers[l];
      const std::vector<HeadsMetrics>& samples = analysis.samples[c][l];
      ComparedLayer layer{
          of.name, samples.size() / static_cast<std::size_t>(of.sinks), of.tokens, {}, {}};
      layer.all = numbers_of(layer_quantities(eps, backward), samples.size(), of.sinks, eps,
                             [&](std::size_t s) -> const HeadsMetrics& { return samples[s]; });
      const std::size_t heads = samples.empty() ? 0 : samples.front().heads.size();
      for (std::size_t h = 0; h < heads; ++h)
        layer.heads.push_back(
            numbers_of(system_quantities(eps, backward), samples.size(), of.sinks, eps,
                       [&](std::size_t s) -> const Metrics& { return samples[s].heads[h]; }));
      result.layers.push_back(std::move(layer));
    }
  }
  return side;
}

}  // namespace synergraph
