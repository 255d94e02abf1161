#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "synergraph/report/table.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// The columns of StudyTable::data.
std::vector<std::string> study_data_header();

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

}  // namespace synergraph
#pragma GCC visibility pop
