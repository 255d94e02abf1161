#include "cli/metrics_options.h"

#include <fmt/core.h>

#include "cli/number_option.h"
#include "synergraph/core/error.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/split.h"
#include "synergraph/core/terminal.h"

namespace synergraph::cli {

void MetricsArguments::add_to(CLI::App& command, bool allow_both) {
  const char* group = "Measurement";
  std::vector<std::string> conventions = all_names<Convention>();
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
                  fmt::format("how heads become a walk: per-head (the theory's), pooled, or "
                              "published (default: {}; with --convention published: published)",
                              name_of(options_of(Convention::kExact).normalization)))
      ->check(CLI::IsMember(all_names<Normalization>()))
      ->group(group);
  command
      .add_option("--nodes", nodes,
                  "nodes that count for the minimax fidelity: sources or all (default: sources; "
                  "with --convention published: all)")
      ->check(CLI::IsMember(all_names<FidelityNodes>()))
      ->group(group);
  command
      .add_option(
          "--horizon", horizon,
          "diffusion steps looked at, or 'certified' (default: certified; with --convention "
          "published: 100)")
      ->group(group);
  add_number(command, "--eps", eps, "thresholds of T_mix, separated by commas", kThresholds)
      ->group(group);
  add_number(command, "--cutoff", cutoff, "steps at which truncated hitting times are cut",
             kCutoffs)
      ->group(group);
  add_number(
      command, "--step-limit", step_limit,
      "diffusion steps after which an uncertified fidelity is given as an interval; 0: none, "
      "later ones are searched by squaring",
      {0, 1000000000000})
      ->group(group);
  add_number(command, "--threads", execution.threads,
             "threads to use; 0: all CPUs. Results do not depend on it", kThreadCounts)
      ->group(group);
}

std::vector<Convention> MetricsArguments::chosen_conventions() const {
  if (const auto one = parse_name<Convention>(convention)) return {*one};
  return {Convention::kExact, Convention::kPublished};
}

MetricsOptions MetricsArguments::resolve(Convention of) const {
  MetricsOptions options = options_of(of);
  if (normalization) options.normalization = parse_name<Normalization>(*normalization).value();
  if (nodes) options.fidelity.nodes = parse_name<FidelityNodes>(*nodes).value();
  if (horizon) {
    options.fidelity.horizon = 0;
    if (*horizon != "certified")
      options.fidelity.horizon = parse_option("--horizon", *horizon, kCutoffs, "'certified' or ");
  }
  options.walk.eps = eps;
  options.walk.cutoff = cutoff;
  if (step_limit > 0) options.fidelity.step_limit = step_limit;
  return options;
}

std::vector<double> parse_numbers(const std::string& list, const std::string& what) {
  std::vector<double> values;
  for (const std::string_view part : split(list, ',')) {
    double value = 0.0;
    if (!parse_number(part, value))
      throw UsageError(fmt::format("{}: {} is not a number", what, quoted_text(part)));
    values.push_back(value);
  }
  return values;
}

}  // namespace synergraph::cli
