#include "synergraph/study/cell_file.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "synergraph/cluster/sealed_result.h"
#include "synergraph/core/error.h"
#include "synergraph/core/fingerprint.h"
#include "synergraph/io/atomic_file.h"

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

/// A count of samples.
std::size_t count(const ordered_json& json, const Cell& cell) {
  const auto most = static_cast<std::uint64_t>(cell.measure.samples);
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > most)
    throw InputError(fmt::format("{} of {} samples", json.dump(), most));
  return json.get<std::size_t>();
}

Summary summary_of(const ordered_json& json, const Cell& cell) {
  Summary s;
  s.samples = count(json.at(0), cell);
  s.never = count(json.at(1), cell);
  s.undefined = count(json.at(2), cell);
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

std::vector<LayerSummary> layers_of(const ordered_json& json, const Cell& cell) {
  std::vector<LayerSummary> layers;
  for (const ordered_json& entry : json) {
    LayerSummary layer;
    for (const auto& [key, summary] : entry.at("numbers").items()) {
      const std::optional<Quantity> quantity = parse_quantity(key);
      if (!quantity) throw InputError(fmt::format("{} is unknown", key));
      layer.numbers[*quantity] = summary_of(summary, cell);
    }
    layer.with_synergy = static_cast<std::int64_t>(count(entry.at("with_synergy"), cell));
    layer.synergy_undecided = static_cast<std::int64_t>(count(entry.at("synergy_undecided"), cell));
    layer.rank_correlation = number(entry.at("rank_correlation"));
    for (const Quantity& quantity : cell_quantities(cell.measure))
      if (!layer.numbers.contains(quantity))
        throw InputError(fmt::format("{} is missing", key_of(quantity)));
    layers.push_back(std::move(layer));
  }
  if (layers.size() != static_cast<std::size_t>(cell.train.model.layers))
    throw InputError(fmt::format("{} layers", layers.size()));
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

/// Values are no less than 0, but for rounding; counts are whole numbers of heads or pairs.
void check_subset_number(SubsetNumber which, double value, int heads) {
  constexpr double kRounding = 1e-9;
  const bool pairs = which >= SubsetNumber::kRedundantPairs;
  bool possible = std::isfinite(value) && value >= -kRounding;
  if (which >= SubsetNumber::kBestSize)
    possible = value >= 0.0 && value <= (pairs ? heads * (heads - 1) / 2 : heads) &&
               value == std::floor(value);
  if (which == SubsetNumber::kLargestShare) possible = !std::isinf(value);
  if (!possible) throw InputError(fmt::format("{} of {}", name_of(which), value));
}

ValueSubsets value_subsets_of(const ordered_json& json, const Cell& cell) {
  ValueSubsets numbers;
  for (const auto& [which, name] : kNamesOf<SubsetNumber>) {
    numbers[which] = number(json.at(std::string(name)));
    check_subset_number(which, numbers[which], cell.train.model.heads);
  }
  return numbers;
}

std::vector<LayerSubsets> subsets_of(const ordered_json& json, const Cell& cell) {
  std::vector<LayerSubsets> layers;
  for (const ordered_json& entry : json)
    layers.push_back(
        {value_subsets_of(entry.at("fidelity"), cell), value_subsets_of(entry.at("speed"), cell)});
  const int expected = measures_subsets(cell) ? cell.train.model.layers : 0;
  if (layers.size() != static_cast<std::size_t>(expected))
    throw InputError(fmt::format("subsets of {} layers", layers.size()));
  return layers;
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
                             {"exact", to_json(result.exact)},
                             {"published", to_json(result.published)},
                             {"subsets", to_json(result.subsets)},
                             {"trained_on", result.trained_on},
                             {"run_on", result.run_on}};
  std::string text = json.dump(1);
  text.erase(text.rfind('\n'));  // before the closing brace
  write_file(path, seal_json(text));
}

std::optional<CellResult> read_result(const std::string& path, const Cell& cell) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  const std::string text = read_regular_file(path, std::size_t{1} << 26U);
  try {
    check_json_seal(text);
    const ordered_json json = ordered_json::parse(text);
    if (json.at("cell").get<std::string>() != describe(cell))
      throw InputError("it is the result of another cell");
    CellResult result;
    result.cell = cell;
    result.loss = number(json.at("loss"));
    result.accuracy = json.at("accuracy").get<double>();
    if (!(result.accuracy >= 0.0 && result.accuracy <= 1.0))
      throw InputError(fmt::format("an accuracy of {}", result.accuracy));
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
