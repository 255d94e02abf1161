#include "synergraph/report/study_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

#include "synergraph/report/control_table.h"
#include "synergraph/report/study_number.h"
#include "synergraph/report/subset_table.h"
#include "synergraph/study/published.h"

namespace synergraph {
namespace {

/// Our rows: how they are called, and what they are.
struct OurRow {
  const char* name;
  Convention convention;
};
constexpr std::array<OurRow, 2> kOurRows = {
    {{"ours", Convention::kPublished}, {"exact", Convention::kExact}}};

/// "3 seeds", "2 to 3 seeds", "one seed".
std::string count_range(std::size_t low, std::size_t high, const std::string& noun) {
  if (low == high && low == 1) return "one " + noun;
  return low == high ? fmt::format("{} {}s", low, noun)
                     : fmt::format("{} to {} {}s", low, high, noun);
}

/// The tables of one task.
class TaskTables {
 public:
  TaskTables(std::string task, const ResultsByHeads& by_heads, const Findings& findings)
      : task_(std::move(task)), by_heads_(by_heads), findings_(findings) {
    for (const auto& [heads, results] : by_heads_) {
      least_seeds_ = std::min(least_seeds_, results.size());
      most_seeds_ = std::max(most_seeds_, results.size());
      for (const CellResult* result : results)
        for (const LayerSummary& layer : result->exact) {
          const std::size_t samples = layer[Quantity::kMinimaxFidelity].samples;
          least_samples_ = std::min(least_samples_, samples);
          most_samples_ = std::max(most_samples_, samples);
        }
      for (const CellResult* result : results)
        layers_ = std::max(layers_, static_cast<int>(result->exact.size()));
    }
  }

  StudyTable mixing() const {
    const CellResult& any = *by_heads_.begin()->second.front();
    return quantity_table(
        "mixing",
        fmt::format("Mixing-time proxy in steps: hitting time of the last token, cut at {} steps",
                    any.cell.measure.cutoff),
        Quantity::kTruncatedHittingMean);
  }

  StudyTable fidelity() const {
    return quantity_table("fidelity", "Minimax fidelity in per cent", Quantity::kMinimaxFidelity);
  }

  /// Nothing without a model of several heads.
  std::optional<StudyTable> comparison() const {
    StudyTable table = empty_table("comparison", 3);
    bool published = false;
    for (const auto& [heads, results] : by_heads_) {
      if (heads == 1) continue;
      begin_group(table, heads);
      if (published_comparison(task_, heads, 0)) {
        published = true;
        add_published_comparison(table, heads);
      }
      for (const OurRow& row : kOurRows) add_comparison(table, heads, results, row);
    }
    if (table.table.rows.empty()) return std::nullopt;
    table.caption = fmt::format(
        "Minimax fidelity in per cent of the best single head and of all heads together, task {}: "
        "{}. Bold: the larger, where the intervals do not overlap. {}",
        task_,
        most_seeds_ == 1
            ? fmt::format("mean over {} and its 95 % interval over samples; one seed", samples())
            : fmt::format("mean over {}, each over {}, and its 95 % interval over seeds", seeds(),
                          samples()),
        rows_explained(published, "the paper's values, of one sequence"));
    return table;
  }

 private:
  std::string seeds() const { return count_range(least_seeds_, most_seeds_, "seed"); }
  std::string samples() const { return count_range(least_samples_, most_samples_, "sample"); }

  static std::string rows_explained(bool published, const std::string& what) {
    return fmt::format(
        "{}ours: our models by the published convention; exact: the same models by the exact "
        "convention.",
        published ? "published: " + what + "; " : "");
  }

  StudyTable empty_table(const std::string& kind, std::size_t left_columns) const {
    StudyTable table;
    table.name = kind + '-' + task_;
    table.table.left_columns = left_columns;
    table.table.header = {"heads"};
    table.table.header.resize(left_columns);
    for (int layer = 0; layer < layers_; ++layer)
      table.table.header.push_back(fmt::format("L{}", layer + 1));
    table.data.header = study_data_header();
    return table;
  }

  /// The rows that follow belong to another head count; the first of them names it.
  static void begin_group(StudyTable& table, int heads) {
    if (!table.table.rows.empty()) table.rules.push_back(table.table.rows.size());
    table.table.rows.push_back({fmt::format("{}", heads)});
  }

  /// A row to add cells to; right after begin_group() the one that names the head count.
  static std::vector<std::string>& next_row(StudyTable& table,
                                            const std::vector<std::string>& names) {
    if (table.table.rows.back().size() > 1) table.table.rows.push_back({""});
    std::vector<std::string>& row = table.table.rows.back();
    row.insert(row.end(), names.begin(), names.end());
    return row;
  }

  void add_data(StudyTable& table, int heads, int layer, const Quantity& quantity,
                const char* source, Convention convention, const StudyNumber& number) const {
    add_study_data(table, {task_, heads, fmt::format("L{}", layer + 1), key_of(quantity)}, source,
                   name_of(convention), number, published_unit(quantity));
  }

  StudyTable quantity_table(const std::string& kind, const std::string& what,
                            const Quantity& quantity) const {
    StudyTable table = empty_table(kind, 2);
    const int decimals = published_decimals(quantity);
    bool published = false;
    for (const auto& [heads, results] : by_heads_) {
      begin_group(table, heads);
      if (published_value(quantity, task_, heads, 0)) {
        published = true;
        std::vector<std::string>& row = next_row(table, {"published"});
        for (int layer = 0; layer < layers_; ++layer) {
          const auto value = published_value(quantity, task_, heads, layer);
          row.push_back(
              value ? fmt::format("{:.{}f} ± {:.{}f}", value->mean, decimals, value->std, decimals)
                    : "");
          if (value)
            add_data(table, heads, layer, quantity, "published", Convention::kPublished,
                     {.mean = value->mean, .sample_std = value->std, .samples = kPublishedSamples});
        }
      }
      for (const OurRow& ours : kOurRows) {
        std::vector<std::string>& row = next_row(table, {ours.name});
        for (int layer = 0; layer < layers_; ++layer) {
          const StudyNumber number =
              number_of(findings_, results, {task_, heads, layer, ours.convention}, quantity);
          row.push_back(
              with_spread(number.mean, most_seeds_ == 1 ? number.sample_std : number.seed_std, 4));
          add_data(table, heads, layer, quantity, "ours", ours.convention, number);
        }
      }
    }
    table.caption = fmt::format(
        "{}, task {}: mean ± standard deviation over {}. {}", what, task_,
        most_seeds_ == 1 ? samples() + "; one seed"
                         : fmt::format("{} (n - 1), each the mean over {}", seeds(), samples()),
        rows_explained(published, fmt::format("the paper's values, over {} samples of one model",
                                              kPublishedSamples)));
    return table;
  }

  void add_published_comparison(StudyTable& table, int heads) const {
    for (const bool together : {false, true}) {
      std::vector<std::string>& row =
          next_row(table, {together ? "" : "published", together ? "all heads" : "best head"});
      for (int layer = 0; layer < layers_; ++layer) {
        const auto values = published_comparison(task_, heads, layer);
        row.push_back(
            values ? fmt::format("{:.2f}", together ? values->combined : values->individual) : "");
        if (values)
          add_data(table, heads, layer,
                   together ? Quantity::kMinimaxFidelity : Quantity::kBestHeadFidelity, "published",
                   Convention::kPublished,
                   {.mean = together ? values->combined : values->individual});
      }
    }
  }

  void add_comparison(StudyTable& table, int heads, const std::vector<const CellResult*>& results,
                      const OurRow& ours) const {
    std::vector<StudyNumber> best;
    std::vector<StudyNumber> all;
    for (int layer = 0; layer < layers_; ++layer) {
      best.push_back(number_of(findings_, results, {task_, heads, layer, ours.convention},
                               Quantity::kBestHeadFidelity));
      all.push_back(number_of(findings_, results, {task_, heads, layer, ours.convention},
                              Quantity::kMinimaxFidelity));
    }
    for (const bool together : {false, true}) {
      const std::vector<StudyNumber>& numbers = together ? all : best;
      const std::vector<StudyNumber>& others = together ? best : all;
      std::vector<std::string>& row =
          next_row(table, {together ? "" : ours.name, together ? "all heads" : "best head"});
      for (int layer = 0; layer < layers_; ++layer) {
        const auto l = static_cast<std::size_t>(layer);
        if (numbers[l].low > others[l].high)
          table.table.bold.emplace(table.table.rows.size() - 1, row.size());
        row.push_back(with_interval(numbers[l], 3));
        add_data(table, heads, layer,
                 together ? Quantity::kMinimaxFidelity : Quantity::kBestHeadFidelity, "ours",
                 ours.convention, numbers[l]);
      }
    }
  }

  std::string task_;
  const ResultsByHeads& by_heads_;
  const Findings& findings_;
  int layers_ = 0;
  std::size_t least_seeds_ = SIZE_MAX;
  std::size_t most_seeds_ = 0;
  std::size_t least_samples_ = SIZE_MAX;
  std::size_t most_samples_ = 0;
};

}  // namespace

std::vector<std::string> study_data_header() {
  return {"task",       "heads",    "layer", "quantity", "source", "convention", "mean",
          "sample_std", "seed_std", "low",   "high",     "seeds",  "samples"};
}

std::vector<StudyTable> study_tables(const std::vector<CellResult>& results,
                                     const Findings& findings) {
  const std::map<std::string, ResultsByHeads> groups = group_results(results);
  std::vector<StudyTable> all;
  std::vector<StudyTable> mixing;
  std::vector<StudyTable> fidelity;
  std::vector<StudyTable> comparison;
  std::vector<StudyTable> subsets;
  for (const auto& [task, by_heads] : groups) {
    const TaskTables tables(task, by_heads, findings);
    if (auto table = control_table(task, by_heads)) all.push_back(std::move(*table));
    mixing.push_back(tables.mixing());
    fidelity.push_back(tables.fidelity());
    if (auto table = tables.comparison()) comparison.push_back(std::move(*table));
    if (auto table = subset_table(findings, task)) subsets.push_back(std::move(*table));
  }
  for (auto* more : {&mixing, &fidelity, &comparison, &subsets})
    for (StudyTable& table : *more) all.push_back(std::move(table));
  return all;
}

std::string markdown(const StudyTable& table) {
  return table.caption + "\n\n" + format_markdown(table.table);
}

std::string latex(const StudyTable& table) {
  return format_latex(table.table, {table.caption, "tab:" + table.name, table.rules});
}

}  // namespace synergraph
