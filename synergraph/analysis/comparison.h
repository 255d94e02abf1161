#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "synergraph/core/names.h"
#include "synergraph/core/setting.h"
#include "synergraph/heads/quantity.h"
#include "synergraph/statistics/mean_difference.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// One number over the samples of a result.
struct ComparedNumber {
  std::vector<double> values;  ///< by sample; may be infinite or NaN. Empty: only moments are known
  SampleMoments finite;        ///< of the finite values
  std::size_t never = 0;       ///< infinite values
};

/// The number of these values.
ComparedNumber compared_number(std::vector<double> values);

using ComparedNumbers = std::map<Quantity, ComparedNumber>;

struct ComparedLayer {
  std::string name;
  std::size_t samples = 0;
  std::optional<std::int64_t> tokens = {};
  ComparedNumbers all;  ///< all heads together
  std::vector<ComparedNumbers> heads = {};
};

/// A result of `analyze` by one convention, as far as it is compared.
struct ComparedResult {
  std::string convention;
  std::map<std::string, std::string> settings = {};  ///< how it was measured, as far as is known
  std::vector<ComparedLayer> layers;
};

/// One side of a comparison: a result by its conventions.
struct ComparedSide {
  std::string name;
  bool by_sample = false;  ///< the numbers of every sample are known
  std::vector<ComparedResult> results;
};

/// Whether sample k of one side is compared with sample k of the other.
enum class Pairing { kAuto, kSamples, kNone };
template <>
inline constexpr NameTable<Pairing, 3> kNamesOf<Pairing>{
    {{Pairing::kAuto, "auto"}, {Pairing::kSamples, "samples"}, {Pairing::kNone, "none"}}};

inline constexpr const char* kComparisonGroup = "Comparison";

/// How two results are compared: sg_compare() and the command compare.
struct ComparisonSettings {
  std::vector<std::string> quantities;
  Pairing pairing = Pairing::kAuto;
  double level = 0.95;
  int sinks = 1;
};

/// See Setting.
template <class Visit>
void visit_settings(ComparisonSettings& settings, Visit&& visit) {
  visit(Setting{.key = "quantities",
                .group = kComparisonGroup,
                .help = "quantities to compare, by their keys, or all (default: "
                        "truncated_hitting_mean, minimax_fidelity and synergy)",
                .value = "KEYS"},
        settings.quantities);
  visit(Setting{.key = "pairing",
                .group = kComparisonGroup,
                .help = "auto: pair sample k of A with sample k of B if both results have numbers "
                        "by sample, as many of them, of as many tokens; samples: error if they "
                        "have not; none: compare means only"},
        settings.pairing);
  visit(Setting{.key = "level",
                .group = kComparisonGroup,
                .help = "coverage of the intervals; differences whose corrected p is below 1 - "
                        "level are called clear"},
        settings.level, NumberRange<double>{0.5, 0.999999});
  visit(Setting{.key = "sinks",
                .group = kComparisonGroup,
                .help = "number of sinks of each sample in tables of samples (CSV); numbers of a "
                        "sample are means over its sinks"},
        settings.sinks, NumberRange<int>{1, 1 << 20});
}

/// The difference of one number, B - A.
struct NumberComparison {
  MeanDifference numbers;
  double corrected = 0.0;  ///< p after Holm's correction
  std::size_t never_a = 0;
  std::size_t never_b = 0;
};

using NumberComparisons = std::map<Quantity, NumberComparison>;

struct LayerComparison {
  std::string name;    ///< in A
  std::string name_b;  ///< in B
  NumberComparisons all;
  std::vector<NumberComparisons> heads = {};
};

/// What differs between two results.
struct Comparison {
  std::string a;
  std::string b;
  std::string convention;
  bool paired = false;
  std::string why;                 ///< samples are paired, or not
  std::vector<std::string> notes;  ///< what was left out
  double level = 0.95;
  std::size_t layer_tests = 0;  ///< that Holm's correction counts, over all layers and quantities
  std::size_t head_tests = 0;   ///< the same over all heads
  std::vector<LayerComparison> layers;

  /// Whether a difference is clear of chance.
  bool clear(const NumberComparison& one) const { return one.corrected < 1.0 - level; }
};

/// Compares the results of both sides by the first convention that both have. Layers are those of
/// the same name, or, where no name is the same, of the same number. InputError where nothing can
/// be compared, or what was measured is not the same; UsageError for a quantity that neither has.
Comparison compare(const ComparedSide& a, const ComparedSide& b,
                   const ComparisonSettings& settings = {});

}  // namespace synergraph
#pragma GCC visibility pop
