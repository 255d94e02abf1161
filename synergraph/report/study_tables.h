#pragma once

#include <string>
#include <vector>

#include "synergraph/report/table.h"
#include "synergraph/study/findings.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// A table of a study, beside the published values where there are any.
struct StudyTable {
  std::string name;     ///< of its files: "mixing-copy"
  std::string caption;  ///< what it shows, and what the numbers after the means are
  Table table;
  std::vector<std::size_t> rules;  ///< rows before which a rule stands
  /// The same for programs, a row a number in full precision and fidelities as fractions; a long
  /// table whose columns are task, heads, layer, quantity, source (published, ours), convention,
  /// mean, sample_std (of several seeds: the root of their mean square), seed_std, low and high (95
  /// % interval of the mean, over seeds if there are several, else over samples), seeds, samples.
  Table data;
};

/// The tables mixing-TASK, fidelity-TASK and comparison-TASK for every task of the results, and
/// subsets-TASK where subsets of heads were measured.
/// Fidelities in `table` are in per cent, as in the paper. `findings` are those of the results.
std::vector<StudyTable> study_tables(const std::vector<CellResult>& results,
                                     const Findings& findings);

/// The table under its caption, as Markdown.
std::string markdown(const StudyTable& table);

/// The table with caption and label, as LaTeX; the label is "tab:" and the name.
std::string latex(const StudyTable& table);

}  // namespace synergraph
#pragma GCC visibility pop
