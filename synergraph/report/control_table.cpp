#include "synergraph/report/control_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "synergraph/core/terminal.h"
#include "synergraph/report/study_number.h"
#include "synergraph/report/words.h"
#include "synergraph/train/data.h"

namespace synergraph {
namespace {

using Results = std::vector<const CellResult*>;

/// What is off in a run of the control.
constexpr std::size_t kNothingOff = 0;
constexpr std::size_t kAllLayers = 1;
constexpr std::size_t kFirstLayer = 2;

/// The runs of all results; none where one of them has no control.
std::size_t run_count(const ResultsByHeads& by_heads) {
  std::size_t layers = SIZE_MAX;
  for (const auto& [heads, results] : by_heads)
    for (const CellResult* result : results)
      layers = std::min(layers, result->control.without_layer.size());
  return by_heads.empty() || layers == 0 ? 0 : kFirstLayer + layers;
}

const Evaluation& run_of(const CellResult& result, std::size_t run) {
  const AttentionControl& control = result.control;
  if (run == kNothingOff) return control.intact;
  if (run == kAllLayers) return control.without_attention;
  return control.without_layer[run - kFirstLayer];
}

StudyNumber number_of(const Results& results, std::size_t run, double Evaluation::*what) {
  std::vector<double> values;
  for (const CellResult* result : results) values.push_back(run_of(*result, run).*what);
  const Interval mean = mean_interval(values);
  StudyNumber number;
  number.mean = mean.estimate;
  number.low = mean.low;
  number.high = mean.high;
  number.seed_std = sample_std(values);
  number.seeds = values.size();
  number.samples = kJudged;
  return number;
}

/// "0.990", over several seeds "0.990 [0.988, 0.992]".
std::string accuracy(const StudyNumber& number) {
  std::string mean = fixed(number.mean, 3);
  if (number.seeds == 1) return mean;
  return fmt::format("{} [{}, {}]", mean, fixed(number.low, 3), fixed(number.high, 3));
}

void add_data(StudyTable& table, const std::string& task, int heads, std::size_t run,
              const Results& results) {
  const std::string off = run == kNothingOff  ? "none"
                          : run == kAllLayers ? "all"
                                              : fmt::format("L{}", run - kFirstLayer + 1);
  const auto add = [&](const char* quantity, double Evaluation::*what) {
    add_study_data(table, {task, heads, off, quantity}, "ours", "", number_of(results, run, what));
  };
  add("accuracy_without", &Evaluation::accuracy);
  add("loss_without", &Evaluation::loss);
}

}  // namespace

std::optional<StudyTable> control_table(const std::string& task, const ResultsByHeads& by_heads) {
  const std::size_t runs = run_count(by_heads);
  if (runs == 0) return std::nullopt;
  StudyTable table;
  table.name = "control-" + task;
  table.caption = fmt::format(
      "Does the task need attention? Held-out accuracy, task {}: mean over seeds and its 95 % "
      "interval. The output of every head that is off is zero.",
      task);
  table.table.header = {"heads", "as trained", "all heads off"};
  for (std::size_t run = kFirstLayer; run < runs; ++run)
    table.table.header.push_back(fmt::format("L{} off", run - kFirstLayer + 1));
  table.data.header = study_data_header();
  for (const auto& [heads, results] : by_heads) {
    std::vector<std::string>& row = table.table.rows.emplace_back();
    row.push_back(fmt::format("{}", heads));
    for (std::size_t run = 0; run < runs; ++run) {
      const StudyNumber number = number_of(results, run, &Evaluation::accuracy);
      row.push_back(accuracy(number));
      add_data(table, task, heads, run, results);
    }
  }
  return table;
}

Table control_overview(const std::map<std::string, ResultsByHeads>& groups) {
  Table table;
  table.header = {"", "as trained", "all heads off", "one layer off"};
  for (const auto& [task, by_heads] : groups) {
    const std::size_t runs = run_count(by_heads);
    if (runs == 0) continue;
    for (const auto& [heads, results] : by_heads) {
      const auto mean = [&, &of = results](std::size_t run) {
        return number_of(of, run, &Evaluation::accuracy).mean;
      };
      double least = mean(kFirstLayer);
      double most = least;
      for (std::size_t run = kFirstLayer; run < runs; ++run) {
        least = std::min(least, mean(run));
        most = std::max(most, mean(run));
      }
      table.rows.push_back({fmt::format("{}, {}", task, counted(heads, "head")),
                            fixed(mean(kNothingOff), 3), fixed(mean(kAllLayers), 3),
                            fmt::format("{} to {}", fixed(least, 3), fixed(most, 3))});
    }
  }
  return table;
}

std::string control_statement(const std::string& task, const ResultsByHeads& by_heads) {
  if (run_count(by_heads) == 0) return {};
  std::size_t models = 0;
  std::size_t needing = 0;
  double intact = 0.0;
  double without = 0.0;
  for (const auto& [heads, results] : by_heads)
    for (const CellResult* result : results) {
      ++models;
      if (!needs_no_attention(result->control)) ++needing;
      intact += result->control.intact.accuracy;
      without += result->control.without_attention.accuracy;
    }
  const auto count = static_cast<double>(models);
  return fmt::format(
      "{}: {} of {} {} less accurate with every head switched off, by more than 0.001. The mean "
      "accuracy on held-out sequences is {} then; with all heads it is {}.",
      task, needing, counted(static_cast<int>(models), "model"), needing == 1 ? "is" : "are",
      fixed(without / count, 3), fixed(intact / count, 3));
}

}  // namespace synergraph
