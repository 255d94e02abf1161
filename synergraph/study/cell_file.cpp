#include "synergraph/study/cell_file.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "synergraph/cluster/sealed_result.h"
#include "synergraph/core/error.h"
#include "synergraph/core/fingerprint.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/own_file.h"
#include "synergraph/study/result_ranges.h"

namespace synergraph {
namespace {

using nlohmann::ordered_json;

std::string describe_training(const Cell& cell) {
  std::string text = fmt::format("results {}\n", kTrainingVersion);
  for (const auto& [name, value] : to_metadata(cell.train))
    text += fmt::format("{} = {}\n", name, value);
  return text;
}

std::string describe_measurement(const MeasureSettings& settings) {
  return fmt::format(
      "samples = {}\neps = {}\ncutoff = {}\nhorizon = {}\nsubset samples = {}\nmeasured by {}\n",
      settings.samples, fmt::join(settings.eps, ","), settings.cutoff, settings.horizon,
      settings.subset_samples, kResultsVersion);
}

/// The text that a result must carry to be this cell's.
std::string describe(const Cell& cell) {
  return describe_training(cell) + describe_measurement(cell.measure);
}

/// JSON has no infinity and no NaN; here they must come back.
ordered_json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : "inf";
}

double number(const ordered_json& json) {
  if (json.is_number()) return json.get<double>();
  const auto& text = json.get_ref<const std::string&>();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  throw InputError("not a number");
}

ordered_json to_json(const Summary& s) {
  return {
      s.samples,     s.never,          s.undefined,   number(s.mean),        number(s.std),
      number(s.min), number(s.median), number(s.max), number(s.quantile_10), number(s.quantile_90)};
}

std::size_t count(const ordered_json& json) {
  if (!json.is_number_unsigned())
    throw InputError(fmt::format("{} is no count", std::string(json.type_name())));
  return json.get<std::size_t>();
}

Summary summary_of(const ordered_json& json) {
  if (!json.is_array() || json.size() != 10) throw InputError("a list of other numbers");
  Summary s;
  s.samples = count(json.at(0));
  s.never = count(json.at(1));
  s.undefined = count(json.at(2));
  s.mean = number(json.at(3));
  s.std = number(json.at(4));
  s.min = number(json.at(5));
  s.median = number(json.at(6));
  s.max = number(json.at(7));
  s.quantile_10 = number(json.at(8));
  s.quantile_90 = number(json.at(9));
  return s;
}

ordered_json to_json(const std::vector<LayerSummary>& layers) {
  ordered_json json = ordered_json::array();
  for (const LayerSummary& layer : layers) {
    std::map<std::string, ordered_json> numbers;
    for (const auto& [quantity, summary] : layer.numbers)
      numbers[key_of(quantity)] = to_json(summary);
    json.push_back({{"numbers", std::move(numbers)},
                    {"with_synergy", layer.with_synergy},
                    {"synergy_undecided", layer.synergy_undecided},
                    {"rank_correlation", number(layer.rank_correlation)}});
  }
  return json;
}

LayerSummary layer_of(const ordered_json& json, const Cell& cell) {
  LayerSummary layer;
  const ordered_json& numbers = json.at("numbers");
  const std::vector<Quantity> quantities = cell_quantities(cell.measure);
  for (const Quantity& quantity : quantities) {
    const auto found = numbers.find(key_of(quantity));
    if (found == numbers.end()) throw InputError(fmt::format("{} is missing", key_of(quantity)));
    const Summary& summary = layer.numbers[quantity] = summary_of(*found);
    check_summary(quantity, summary, cell);
  }
  if (numbers.size() != quantities.size()) throw InputError("it has numbers of another cell");
  layer.with_synergy = static_cast<std::int64_t>(count(json.at("with_synergy")));
  layer.synergy_undecided = static_cast<std::int64_t>(count(json.at("synergy_undecided")));
  layer.rank_correlation = number(json.at("rank_correlation"));
  check_layer(layer, cell);
  return layer;
}

std::vector<LayerSummary> layers_of(const ordered_json& json, const Cell& cell) {
  if (!json.is_array() || json.size() != static_cast<std::size_t>(cell.train.model.layers))
    throw InputError(fmt::format("{} layers, not {}", json.size(), cell.train.model.layers));
  std::vector<LayerSummary> layers;
  for (const ordered_json& entry : json) layers.push_back(layer_of(entry, cell));
  return layers;
}

ordered_json to_json(const ValueSubsets& numbers) {
  ordered_json json;
  for (const auto& [which, name] : kNamesOf<SubsetNumber>)
    json[std::string(name)] = number(numbers[which]);
  return json;
}

ordered_json to_json(const std::vector<LayerSubsets>& layers) {
  ordered_json json = ordered_json::array();
  for (const LayerSubsets& layer : layers)
    json.push_back({{"fidelity", to_json(layer.fidelity)}, {"speed", to_json(layer.speed)}});
  return json;
}

ValueSubsets value_subsets_of(const ordered_json& json, const Cell& cell) {
  ValueSubsets numbers;
  for (const auto& [which, name] : kNamesOf<SubsetNumber>) {
    numbers[which] = number(json.at(std::string(name)));
    check_subset_number(which, numbers[which], cell);
  }
  return numbers;
}

std::vector<LayerSubsets> subsets_of(const ordered_json& json, const Cell& cell) {
  const int expected = measures_subsets(cell) ? cell.train.model.layers : 0;
  if (!json.is_array() || json.size() != static_cast<std::size_t>(expected))
    throw InputError(fmt::format("subsets of {} layers, not {}", json.size(), expected));
  std::vector<LayerSubsets> layers;
  for (const ordered_json& entry : json)
    layers.push_back(
        {value_subsets_of(entry.at("fidelity"), cell), value_subsets_of(entry.at("speed"), cell)});
  return layers;
}

ordered_json to_json(const AttentionControl& control) {
  ordered_json json = ordered_json::array();
  const auto add = [&](const Evaluation& of) { json.push_back({number(of.loss), of.accuracy}); };
  add(control.intact);
  add(control.without_attention);
  for (const Evaluation& off : control.without_layer) add(off);
  return json;
}

AttentionControl control_of(const ordered_json& json, const Cell& cell) {
  const auto layers = static_cast<std::size_t>(cell.train.model.layers);
  if (!json.is_array() || json.size() != 2 + layers)
    throw InputError(fmt::format("a control of {} runs, not {}", json.size(), 2 + layers));
  std::vector<Evaluation> runs;
  for (const ordered_json& entry : json) {
    Evaluation& run = runs.emplace_back();
    run.loss = number(entry.at(0));
    run.accuracy = entry.at(1).get<double>();
    check_loss(run.loss);
    check_accuracy(run.accuracy);
  }
  return {runs[0], runs[1], {runs.begin() + 2, runs.end()}};
}

/// No result of the cell is larger, whatever its numbers are: bytes. Of a larger file nothing is
/// read.
std::size_t largest_result(const Cell& cell) {
  constexpr std::size_t kSummary = 1024;  // ten numbers of up to 25 characters, a line each
  constexpr std::size_t kRest = 4096;     // of a layer: its counts and subsets
  constexpr std::size_t kNames = std::size_t{1} << 16U;  // of devices, and of the fields
  const std::size_t conventions = 2;
  return kNames + 2 * describe(cell).size() +
         static_cast<std::size_t>(cell.train.model.layers) *
             (conventions * cell_quantities(cell.measure).size() * kSummary + kRest);
}

}  // namespace

std::string training_name(const Cell& cell) {
  return fmt::format("{}-{}-heads-seed-{}-{}", cell.train.task, cell.train.model.heads,
                     cell.train.seed, fingerprint_of(describe_training(cell)));
}

std::string result_name(const Cell& cell) {
  return fmt::format("result-{}.json", fingerprint_of(describe(cell)));
}

void write_result(const std::string& path, const CellResult& result) {
  const ordered_json json = {{"schema", "synergraph.cell"},
                             {"cell", describe(result.cell)},
                             {"loss", number(result.loss)},
                             {"accuracy", result.accuracy},
                             {"control", to_json(result.control)},
                             {"exact", to_json(result.exact)},
                             {"published", to_json(result.published)},
                             {"subsets", to_json(result.subsets)},
                             {"trained_on", result.trained_on},
                             {"run_on", result.run_on}};
  std::string text = json.dump(1);
  text.erase(text.rfind('\n'));  // before the closing brace
  write_file(path, seal_json(text), NamedBy::kProgram);
}

std::optional<CellResult> read_result(const std::string& path, const Cell& cell) {
  if (!own_file_exists(path)) return std::nullopt;
  const std::string text = read_regular_file(path, largest_result(cell));
  try {
    check_json_seal(text);
    const ordered_json json = ordered_json::parse(text);
    if (json.at("cell").get<std::string>() != describe(cell))
      throw InputError("it is the result of another cell");
    CellResult result;
    result.cell = cell;
    result.loss = number(json.at("loss"));
    check_loss(result.loss);
    result.accuracy = json.at("accuracy").get<double>();
    check_accuracy(result.accuracy);
    result.control = control_of(json.at("control"), cell);
    result.exact = layers_of(json.at("exact"), cell);
    result.published = layers_of(json.at("published"), cell);
    result.subsets = subsets_of(json.at("subsets"), cell);
    result.trained_on = json.value("trained_on", result.trained_on);
    result.run_on = json.value("run_on", result.run_on);
    return result;
  } catch (const ordered_json::exception&) {
    throw InputError(fmt::format("{}: not a result of this study (it is damaged)", path));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: not a result of this study ({})", path, error.what()));
  }
}

}  // namespace synergraph
