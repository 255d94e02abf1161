#include "cli/metrics_options.h"

#include <fmt/core.h>

#include "synergraph/core/error.h"
#include "synergraph/core/parse_number.h"

namespace synergraph::cli {

void MetricsArguments::add_to(CLI::App& command, bool allow_both) {
  const char* group = "Measurement";
  std::vector<std::string> conventions = {"exact", "published"};
  if (allow_both) conventions.emplace_back("both");
  command
      .add_option(
          "--convention", convention,
          "exact: certified fidelity over the sources, steps that sum to one. published: as the "
          "published tables were computed (un-normalised walk, all nodes, 100 steps)")
      ->check(CLI::IsMember(conventions))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--normalization", normalization,
                  "how heads become a walk: per-head (the theory's), pooled, or published")
      ->check(CLI::IsMember({"per-head", "pooled", "published"}))
      ->group(group);
  command.add_option("--nodes", nodes, "nodes that count for the minimax fidelity: sources or all")
      ->check(CLI::IsMember({"sources", "all"}))
      ->group(group);
  command.add_option("--horizon", horizon, "diffusion steps looked at, or 'certified'")
      ->group(group);
  command.add_option("--eps", eps, "thresholds of T_mix, separated by commas")
      ->delimiter(',')
      ->capture_default_str()
      ->group(group);
  command.add_option("--cutoff", cutoff, "steps at which truncated hitting times are cut")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000000000}))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--step-limit", step_limit,
                  "diffusion steps after which an uncertified fidelity is given as an interval")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000000000000}))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--threads", threads, "threads to use; 0: all CPUs. Results do not depend on it")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str()
      ->group(group);
}

Convention MetricsArguments::chosen_convention() const {
  return convention == "published" ? Convention::kPublished : Convention::kExact;
}

std::vector<Convention> MetricsArguments::chosen_conventions() const {
  if (convention == "both") return {Convention::kExact, Convention::kPublished};
  return {chosen_convention()};
}

MetricsOptions MetricsArguments::resolve(Convention of, Normalization default_normalization) const {
  MetricsOptions options = convention_options(of);
  if (of == Convention::kExact) options.normalization = default_normalization;
  if (normalization)
    options.normalization = *normalization == "per-head" ? Normalization::kPerHead
                            : *normalization == "pooled" ? Normalization::kPooled
                                                         : Normalization::kPublished;
  if (nodes)
    options.fidelity.nodes = *nodes == "all" ? FidelityNodes::kAll : FidelityNodes::kSources;
  if (horizon) {
    options.fidelity.horizon = 0;
    constexpr std::int64_t kLongest = 1000000000;
    if (*horizon != "certified" &&
        (!parse_number(*horizon, options.fidelity.horizon) || options.fidelity.horizon < 1 ||
         options.fidelity.horizon > kLongest))
      throw UsageError(
          fmt::format("--horizon: expected 'certified' or a number of steps from 1 to {}, got '{}'",
                      kLongest, *horizon));
  }
  for (const double e : eps)
    if (!(e > 0.0 && e <= 1.0)) throw UsageError(fmt::format("--eps: {} is not in (0, 1]", e));
  options.walk.eps = eps;
  options.walk.cutoff = cutoff;
  options.walk.threads = threads;
  options.fidelity.step_limit = step_limit;
  return options;
}

std::vector<double> parse_numbers(const std::string& list, const std::string& what) {
  std::vector<double> values;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = list.find(',', begin);
    const std::string part = list.substr(begin, end == std::string::npos ? end : end - begin);
    double value = 0.0;
    if (!parse_number(part, value))
      throw UsageError(fmt::format("{}: '{}' is not a number", what, part));
    values.push_back(value);
    if (end == std::string::npos) return values;
    begin = end + 1;
  }
}

}  // namespace synergraph::cli
