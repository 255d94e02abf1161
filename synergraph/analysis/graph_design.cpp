#include "synergraph/analysis/graph_design.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <utility>

#include "synergraph/analysis/design_chain.h"
#include "synergraph/analysis/design_start.h"
#include "synergraph/analysis/design_state.h"
#include "synergraph/chain/sparse_walk.h"
#include "synergraph/cluster/sealed_result.h"
#include "synergraph/core/error.h"
#include "synergraph/core/fingerprint.h"
#include "synergraph/core/parallel.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/progress.h"
#include "synergraph/core/special_values.h"
#include "synergraph/core/terminal.h"
#include "synergraph/diffusion/sparse_fidelity.h"
#include "synergraph/graph/families.h"
#include "synergraph/io/atomic_file.h"

namespace synergraph {
namespace {

constexpr const char* kLayers = "layers";
constexpr const char* kRandom = "random";
constexpr double kSecondsBetweenStates = 5.0;

/// The searches of one run: what each of them has to keep, and what it starts from.
struct Search {
  DesignLimits limits;
  std::string start;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::int64_t least_edges(const DesignSettings& settings) {
  return std::int64_t{settings.size} * settings.heads + settings.size - 1;
}

std::int64_t budget(const DesignSettings& settings) {
  const std::int64_t n = settings.size;
  const std::int64_t most = settings.heads * n * (n + 1) / 2;
  std::int64_t edges = 0;
  std::string what;
  if (settings.edges) {
    edges = *settings.edges;
    what = fmt::format("{}: {} edges", option_mark("edges"), edges);
  } else {
    std::int64_t degree = family_size(settings.indegree, settings.size);
    std::int64_t whole = 0;  // what follows from the number of nodes is at most all of them
    if (!parse_number(settings.indegree, whole)) degree = std::min(degree, n - 1);
    if (degree > std::max<std::int64_t>(n - 1, 0))
      throw UsageError(fmt::format("{}: {} earlier nodes; {} nodes have at most {}",
                                   option_mark("indegree"), degree, n, n - 1));
    edges = std::clamp(n * (degree + 1), std::int64_t{1}, most);
    what = fmt::format("{}: {}, a budget of {} edges", option_mark("indegree"),
                       printable(settings.indegree), edges);
  }
  if (edges > most)
    throw UsageError(fmt::format("{}; {} nodes have at most {} in {}", what, n, most,
                                 counted(settings.heads, "head")));
  if (edges < least_edges(settings))
    throw UsageError(
        fmt::format("{}; a connected design needs at least {}: {} self-loops and {} more", what,
                    least_edges(settings), n * settings.heads, n - 1));
  return edges;
}

std::int64_t averaged_limit(const DesignSettings& settings) {
  if (settings.averaged_mixing > 0) return settings.averaged_mixing;
  return std::max<std::int64_t>(1, family_size("4log", settings.size));
}

std::vector<Search> searches_of(const DesignSettings& settings) {
  const std::int64_t edges = budget(settings);
  const std::int64_t steps = averaged_limit(settings);
  std::vector<Search> searches;
  std::vector<std::pair<std::int64_t, std::int64_t>> targets;
  for (int a = 0; a < settings.levels; ++a)
    for (int b = 0; b < settings.levels; ++b) {
      const std::pair target(std::max(edges >> a, least_edges(settings)),
                             std::max<std::int64_t>(steps >> b, 1));
      if (std::find(targets.begin(), targets.end(), target) != targets.end()) continue;
      targets.push_back(target);
      for (const std::string& start : settings.starts) {
        DesignLimits limits;
        limits.edges = target.first;
        limits.averaged_mixing = target.second;
        limits.mixing = settings.mixing.value_or(0);
        limits.eps = settings.eps;
        searches.push_back({limits, start});
      }
    }
  return searches;
}

DesignEdges start_of(const Search& search, const DesignSettings& settings, std::uint64_t number,
                     const Execution& execution) {
  constexpr int kLeastLayered = 4;
  const std::uint64_t seed = settings.seed + number * 0x9e3779b97f4a7c15ULL;
  if (search.start == kRandom || settings.size < kLeastLayered)
    return random_edges(settings.size, settings.heads, search.limits.edges, seed);
  if (search.start == kLayers)
    return best_layers(settings.size, settings.heads, search.limits, execution);
  DesignEdges edges(settings.size, settings.heads);
  for (int h = 0; h < settings.heads; ++h)
    add_edges(family_graph(search.start, settings.size, settings.seed + static_cast<unsigned>(h),
                           execution),
              h, edges);
  trim(edges, search.limits.edges, seed);
  return edges;
}

/// Moves between looks at the clock: a fraction of a second.
std::int64_t round_steps(int nodes) {
  return std::clamp<std::int64_t>((std::int64_t{1} << 16U) / nodes, 8, 512);
}

/// All that determines the searches, but for how long they run.
std::string subject(const DesignSettings& settings) {
  return "design " +
         fingerprint_of(fmt::format(
             "1 {} {} {} {} {} {} {} {} {}", settings.size, budget(settings), settings.heads,
             averaged_limit(settings), settings.mixing.value_or(0), settings.eps,
             fmt::join(settings.starts, " "), settings.levels, settings.seed));
}

class StateFile {
 public:
  explicit StateFile(const DesignSettings& settings)
      : path_(settings.state), subject_(path_.empty() ? "" : subject(settings)) {
    if (!path_.empty()) check_writable(path_);
  }
  bool exists() const {
    std::error_code trouble;
    return !path_.empty() && std::filesystem::exists(path_, trouble) &&
           std::filesystem::file_size(path_, trouble) > 0;
  }
  std::vector<ChainState> read(const std::vector<Search>& searches,
                               const DesignSettings& settings) const {
    const std::string part = read_file(path_);
    try {
      return parse_design_state(open_part(subject_, part), searches.size(), settings.size,
                                settings.heads, budget(settings));
    } catch (const InputError& error) {
      const bool other = std::string(error.what()).starts_with("it is that of design");
      throw InputError(fmt::format(
          "{}: {}", printable(path_),
          other ? "the state of a search with other settings; repeat its command, or name another "
                  "file"
                : "not the state of a search, or damaged; remove it to start anew"));
    }
  }
  void write(const std::vector<ChainState>& chains, bool now) {
    if (path_.empty() || (!now && seconds_since(last_) < kSecondsBetweenStates)) return;
    write_file(path_, seal_part(subject_, design_state_bytes(chains)));
    last_ = std::chrono::steady_clock::now();
  }

 private:
  std::string path_;
  std::string subject_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

void mark_front(std::vector<FoundDesign>& designs) {
  const auto better = [](const FoundDesign& a, const FoundDesign& b) {
    const auto all = [](const FoundDesign& d) {
      return std::array{static_cast<double>(d.numbers.edges), d.numbers.averaged_mixing_time,
                        -d.numbers.minimax_fidelity};
    };
    const auto x = all(a);
    const auto y = all(b);
    return x != y && x[0] <= y[0] && x[1] <= y[1] && x[2] <= y[2];
  };
  for (std::size_t k = 0; k < designs.size(); ++k)
    designs[k].in_front = std::none_of(designs.begin(), designs.end(), [&](const FoundDesign& d) {
      return better(d, designs[k]) ||
             (&d < &designs[k] && d.numbers.edges == designs[k].numbers.edges &&
              d.numbers.averaged_mixing_time == designs[k].numbers.averaged_mixing_time &&
              d.numbers.minimax_fidelity == designs[k].numbers.minimax_fidelity);
    });
}

FoundDesign certified(const Search& search, const ChainState& chain, double eps,
                      const Execution& execution) {
  FoundDesign found{
      search.start, search.limits.edges, search.limits.averaged_mixing, chain.best, {}, {}, false,
      false};
  found.numbers = measure_design(chain.best, eps, execution);
  for (int h = 0; h < chain.best.heads(); ++h)
    found.head_fidelity.push_back(fidelity(chain.best.graph(h), {}, execution).minimax);
  // The search looks at peaks within its horizon: its value may be too low, never too high.
  constexpr double kRounding = 1e-10;
  found.certified =
      found.numbers.exact && found.numbers.edges <= search.limits.edges &&
      found.numbers.averaged_mixing_time <= static_cast<double>(search.limits.averaged_mixing) &&
      (search.limits.mixing == 0 ||
       found.numbers.mixing_time <= static_cast<double>(search.limits.mixing)) &&
      found.numbers.minimax_fidelity >= chain.best_fidelity * (1.0 - kRounding);
  return found;
}

}  // namespace

double FoundDesign::synergy() const {
  return numbers.minimax_fidelity / *std::max_element(head_fidelity.begin(), head_fidelity.end());
}

FamilyGraph measure_design(const DesignEdges& edges, double eps, const Execution& execution) {
  SparseMetricsOptions options;
  options.eps = eps;
  if (edges.heads() == 1) return measure_family_graph(edges.graph(0), options, execution);
  // The rows of P and the rows of D are both shares of the heads, but not of one graph's weights.
  const int n = edges.nodes();
  const double share = 1.0 / edges.heads();
  const auto mean_graph = [&](bool walk) {
    std::vector<std::int64_t> first = {0};
    ScratchVector<std::int32_t> to;
    ScratchVector<double> weights;
    std::vector<double> row(static_cast<std::size_t>(n), 0.0);
    for (int j = 0; j < n; ++j) {
      std::fill(row.begin(), row.end(), 0.0);
      for (int h = 0; h < edges.heads(); ++h) {
        const auto weight = [&](int i) {
          return share / (1.0 + static_cast<double>(walk ? edges.receivers(h, j).size()
                                                         : edges.senders(h, i).size()));
        };
        row[static_cast<std::size_t>(j)] += weight(j);
        for (const std::int32_t i : edges.receivers(h, j))
          row[static_cast<std::size_t>(i)] += weight(i);
      }
      for (int i = j; i < n; ++i) {
        if (!(row[static_cast<std::size_t>(i)] > 0.0)) continue;
        to.push_back(i);
        weights.push_back(row[static_cast<std::size_t>(i)]);
      }
      first.push_back(static_cast<std::int64_t>(to.size()));
    }
    return SparseGraph(std::move(first), std::move(to), std::move(weights));
  };
  SparseWalkOptions walk;
  walk.eps = {eps};
  walk.step_limit = options.step_limit;
  SparseFidelityOptions diffusion;
  diffusion.step_limit = options.step_limit;
  const SparseGraph heard = mean_graph(false);
  SparseMetrics metrics;
  metrics.walk = summarise_walk(mean_graph(true), walk, execution);
  metrics.fidelity = fidelity(heard, diffusion, execution);
  metrics.backward = summarise_walk(heard.reversed(), walk, execution);
  FamilyGraph numbers = family_numbers(metrics);
  numbers.edges = edges.count();
  return numbers;
}

DesignOutcome search_designs(const DesignSettings& settings, const Execution& execution) {
  const auto begin = std::chrono::steady_clock::now();
  if (settings.starts.empty())
    throw UsageError(fmt::format("{}: name at least one", option_mark("starts")));
  for (const std::string& start : settings.starts)
    if (start != kLayers && start != kRandom && !is_family(start))
      throw UsageError(fmt::format("{}: {} is neither {}, {} nor one of the families {}",
                                   option_mark("starts"), quoted_text(start), kLayers, kRandom,
                                   fmt::join(family_names(), ", ")));
  const std::vector<Search> searches = searches_of(settings);
  StateFile file(settings);
  std::vector<ChainState> chains;
  if (file.exists()) {
    chains = file.read(searches, settings);
  } else {
    for (std::size_t k = 0; k < searches.size(); ++k)
      chains.emplace_back(start_of(searches[k], settings, k, execution));
  }
  DesignOutcome outcome;
  outcome.searches = static_cast<std::int64_t>(searches.size());
  outcome.edges = budget(settings);
  outcome.averaged_mixing = averaged_limit(settings);
  std::int64_t done = chains.front().steps;
  const std::int64_t round = round_steps(settings.size);
  Progress progress("moves",
                    static_cast<std::uint64_t>(std::max(settings.steps, done)) * searches.size(),
                    static_cast<std::uint64_t>(done) * searches.size(), execution.progress);
  const auto over = [&] {
    return execution.stopped() || (settings.seconds && seconds_since(begin) >= *settings.seconds);
  };
  while (done < settings.steps && !over()) {
    // Rounds end at multiples of their length, however often the run was interrupted.
    const std::int64_t count = std::min(round - done % round, settings.steps - done);
    parallel_for(searches.size(), execution.threads, [&](std::size_t k, int) {
      DesignChain(chains[k], searches[k].limits, settings.seed, static_cast<std::uint32_t>(k))
          .run(count);
    });
    done += count;
    double best = 0.0;
    for (const ChainState& chain : chains) best = std::max(best, chain.best_fidelity);
    progress.update(static_cast<std::uint64_t>(done) * searches.size(),
                    fmt::format("best F {:.4g}", best * settings.size));
    file.write(chains, false);
  }
  progress.finish();
  file.write(chains, true);
  Execution last;  // what was found is measured after a stop request, too
  last.threads = execution.threads;
  outcome.steps = done;
  outcome.finished = done >= settings.steps;
  for (std::size_t k = 0; k < searches.size(); ++k) {
    if (done == 0)  // the starts themselves
      DesignChain(chains[k], searches[k].limits, settings.seed, static_cast<std::uint32_t>(k))
          .run(0);
    if (chains[k].best_fidelity >= 0.0)
      outcome.designs.push_back(certified(searches[k], chains[k], settings.eps, last));
  }
  if (outcome.designs.empty())
    throw InputError(fmt::format(
        "no design within {} edges has an averaged mixing time of at most {} steps{} after {} "
        "moves; "
        "raise {} or {}",
        outcome.edges, outcome.averaged_mixing,
        settings.mixing ? fmt::format(" and a mixing time of at most {}", *settings.mixing) : "",
        done, option_mark("averaged_mixing"), option_mark("edges")));
  std::stable_sort(outcome.designs.begin(), outcome.designs.end(),
                   [](const FoundDesign& a, const FoundDesign& b) {
                     return a.numbers.minimax_fidelity > b.numbers.minimax_fidelity;
                   });
  mark_front(outcome.designs);
  return outcome;
}

}  // namespace synergraph
