#include "synergraph/graph/families.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/core/parallel.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/random.h"
#include "synergraph/core/split.h"
#include "synergraph/core/terminal.h"
#include "synergraph/graph/graph_memory.h"

namespace synergraph {
namespace {

std::size_t index_of(std::int64_t k) {
  return static_cast<std::size_t>(k);
}

void check_nodes(std::int64_t nodes) {
  if (nodes < 1 || nodes > kMaxSparseNodes)
    throw InputError(
        fmt::format("a sparse graph has 1 to {} nodes, not {}", kMaxSparseNodes, nodes));
}

/// Senders and receivers exist at the same time while the graph is made, and the places of each
/// node's edges.
void check_memory(int nodes, double edges) {
  check_graph_memory(nodes, edges,
                     {.node = 3 * sizeof(std::int64_t), .edge = 2 * sizeof(std::int32_t)});
}

/// Edges into nodes that hear `most` earlier nodes each, or all of them where there are fewer.
double edges_of_senders(std::int64_t nodes, double most) {
  const auto n = static_cast<double>(nodes);
  const double full = std::min(most, n - 1.0);
  return full * (full - 1.0) / 2.0 + (n - full) * full;
}

void check_count(const char* what, std::int64_t count, std::int64_t least) {
  if (count < least)
    throw InputError(fmt::format("{} must be at least {}, not {}", what, least, count));
}

/// The graph in which node i hears the nodes that senders(i, into) puts into a list: distinct
/// earlier nodes, in any order.
template <class Senders>
SparseGraph graph_of_senders(int nodes, const Execution& execution, const Senders& senders) {
  constexpr std::int64_t kNodes = 4096;
  const std::int64_t parts = (nodes + kNodes - 1) / kNodes;
  std::vector<std::vector<std::int32_t>> heard(index_of(parts));
  std::vector<std::vector<std::int32_t>> counts(index_of(parts));
  parallel_for(index_of(parts), execution.threads, [&](std::size_t part, int) {
    execution.check();
    std::vector<std::int32_t> row;
    const std::int64_t begin = static_cast<std::int64_t>(part) * kNodes;
    for (std::int64_t i = begin; i < std::min<std::int64_t>(nodes, begin + kNodes); ++i) {
      row.clear();
      senders(static_cast<int>(i), row);
      counts[part].push_back(static_cast<std::int32_t>(row.size()));
      heard[part].insert(heard[part].end(), row.begin(), row.end());
    }
    heard[part].shrink_to_fit();
  });
  // Turned round by counting: receivers come out in increasing order.
  std::vector<std::int64_t> first(index_of(nodes) + 1, 0);
  for (const auto& part : heard)
    for (const std::int32_t j : part) ++first[index_of(j) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<std::int64_t> place(first.begin(), first.end() - 1);
  ScratchVector<std::int32_t> receivers(index_of(first.back()));
  std::int32_t i = 0;
  for (std::size_t part = 0; part < heard.size(); ++part) {
    std::size_t e = 0;
    for (const std::int32_t count : counts[part]) {
      for (std::int32_t k = 0; k < count; ++k)
        receivers[index_of(place[index_of(heard[part][e++])]++)] = i;
      ++i;
    }
    heard[part] = {};
  }
  return {std::move(first), std::move(receivers), {}, true, "", execution};
}

/// Adds `count` distinct numbers of [0, bound), uniformly, that are not in the list yet (Floyd).
void add_distinct(RandomSequence& random, std::int64_t bound, std::int64_t count,
                  std::vector<std::int32_t>& list) {
  if (count >= bound) {
    list.resize(index_of(bound));
    std::iota(list.begin(), list.end(), 0);
    return;
  }
  std::vector<std::int32_t> chosen;
  const auto has = [&](std::int64_t k) {
    return std::binary_search(chosen.begin(), chosen.end(), static_cast<std::int32_t>(k));
  };
  for (std::int64_t top = bound - count; top < bound; ++top) {
    auto k = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(top) + 1));
    if (has(k)) k = top;
    const auto value = static_cast<std::int32_t>(k);
    chosen.insert(std::lower_bound(chosen.begin(), chosen.end(), value), value);
  }
  list.insert(list.end(), chosen.begin(), chosen.end());
}

/// Consecutive blocks of [begin, begin + size), as even as can be: `count` first nodes and the end.
std::vector<std::int64_t> cut(std::int64_t begin, std::int64_t size, std::int64_t count) {
  std::vector<std::int64_t> blocks;
  for (std::int64_t k = 0; k <= count; ++k) blocks.push_back(begin + size * k / count);
  return blocks;
}

std::int64_t ceil_log2(std::int64_t n) {
  std::int64_t log = 0;
  while ((std::int64_t{1} << log) < n) ++log;
  return log;
}

/// The blocks into which FS cuts the nodes from `begin` on.
std::vector<std::int64_t> fs_blocks(std::int64_t begin, std::int64_t size) {
  return cut(begin, size, std::min(size, std::max<std::int64_t>(2, ceil_log2(size))));
}

/// The edges of FS by matchings, level by level, as lists of senders. The blocks of the first level
/// are filled too, but for the last `unfilled` of them.
class FsBuilder {
 public:
  FsBuilder(int nodes, double matchings, double ratio, std::size_t unfilled, std::uint64_t seed)
      : senders_(index_of(nodes)), ratio_(ratio), random_(seed, Purpose::kGraph) {
    fill(0, nodes, matchings, unfilled);
    connect_left_out();
  }
  const std::vector<std::int32_t>& senders(int i) const { return senders_[index_of(i)]; }

 private:
  void fill(std::int64_t begin, std::int64_t size, double matchings, std::size_t unfilled = 0) {
    if (size <= 1) return;
    const std::vector<std::int64_t> blocks = fs_blocks(begin, size);
    for (std::size_t k = 0; k + 2 < blocks.size(); ++k)
      join(blocks[k], blocks[k + 1], blocks[k + 2], matchings);
    for (std::size_t k = 0; k + 1 + unfilled < blocks.size(); ++k)
      fill(blocks[k], blocks[k + 1] - blocks[k], matchings * ratio_);
  }

  /// Joins the block [begin, middle) to the next, [middle, end): every node of the second hears as
  /// many nodes of the first as there are matchings, all different. Blocks differ by one node at
  /// most; then one node of the first is heard twice or not at all in a matching.
  void join(std::int64_t begin, std::int64_t middle, std::int64_t end, double matchings) {
    const std::int64_t from = middle - begin;
    const std::int64_t to = end - middle;
    const auto count = std::max<std::int64_t>(1, std::llround(matchings));
    if (count >= from) {
      for (std::int64_t i = middle; i < end; ++i)
        for (std::int64_t j = begin; j < middle; ++j)
          senders_[index_of(i)].push_back(static_cast<std::int32_t>(j));
      return;
    }
    // Of the senders of a node, the last came from this block.
    const auto has = [&](std::int64_t i, std::int64_t j, std::int64_t last) {
      const auto& list = senders_[index_of(middle + i)];
      const auto recent = std::min<std::size_t>(list.size(), index_of(last));
      return std::find(list.end() - static_cast<std::ptrdiff_t>(recent), list.end(),
                       static_cast<std::int32_t>(begin + j)) != list.end();
    };
    std::vector<std::int64_t> order(index_of(std::max(from, to)));
    for (std::int64_t matching = 0; matching < count; ++matching) {
      // Of unequal blocks, the places beyond the first block hold random nodes of it.
      for (std::size_t k = 0; k < order.size(); ++k)
        order[k] = static_cast<std::int64_t>(k) < from
                       ? static_cast<std::int64_t>(k)
                       : static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(from)));
      for (std::size_t k = order.size() - 1; k > 0; --k)
        std::swap(order[k], order[random_.below(k + 1)]);
      // A node that hears its partner already changes partners with a random node.
      constexpr int kAttempts = 1000;
      for (std::int64_t i = 0; i < to; ++i) {
        for (int attempt = 0; attempt < kAttempts && has(i, order[index_of(i)], matching);
             ++attempt) {
          const auto other = static_cast<std::int64_t>(random_.below(order.size()));
          if (has(i, order[index_of(other)], matching)) continue;
          if (other < to && has(other, order[index_of(i)], matching)) continue;
          std::swap(order[index_of(i)], order[index_of(other)]);
        }
      }
      for (std::int64_t i = 0; i < to; ++i) {
        // Where no exchange helped, dense graphs alone, any other partner does.
        std::int64_t partner = order[index_of(i)];
        while (has(i, partner, matching))
          partner = static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(from)));
        senders_[index_of(middle + i)].push_back(static_cast<std::int32_t>(begin + partner));
      }
    }
    if (from > to) note_left_out(begin, middle, end, count);
  }

  /// Notes the nodes of the first block that no node hears, as the last `count` senders of each
  /// node of the second say.
  void note_left_out(std::int64_t begin, std::int64_t middle, std::int64_t end,
                     std::int64_t count) {
    std::vector<bool> heard(index_of(middle - begin), false);
    for (std::int64_t i = middle; i < end; ++i) {
      const auto& list = senders_[index_of(i)];
      for (auto j = list.end() - static_cast<std::ptrdiff_t>(count); j != list.end(); ++j)
        heard[index_of(*j - begin)] = true;
    }
    for (std::size_t j = 0; j < heard.size(); ++j)
      if (!heard[j])
        left_out_.push_back(
            {static_cast<std::int32_t>(begin + static_cast<std::int64_t>(j)), middle, end});
  }

  /// A node that all matchings left out, and that no other edge leaves, would be a trap: it gets an
  /// edge to a random node of the next block.
  void connect_left_out() {
    if (left_out_.empty()) return;
    std::vector<bool> heard(senders_.size(), false);
    for (const auto& list : senders_)
      for (const std::int32_t j : list) heard[index_of(j)] = true;
    for (const auto& [node, middle, end] : left_out_) {
      if (heard[index_of(node)]) continue;
      heard[index_of(node)] = true;
      const auto receiver = random_.below(static_cast<std::uint64_t>(end - middle));
      senders_[index_of(middle) + receiver].push_back(node);
    }
  }

  /// A node, and the block after its own.
  struct LeftOut {
    std::int32_t node;
    std::int64_t middle, end;
  };
  std::vector<LeftOut> left_out_;
  std::vector<std::vector<std::int32_t>> senders_;
  double ratio_;
  RandomSequence random_;
};

/// A random regular undirected graph by the pairing model: every node has so many ends, and ends
/// are paired at random. Loops and repeated edges then exchange ends with random other edges. A
/// small graph can be stuck, for example if all its edges are loops; its ends are then paired
/// again.
class RegularGraph {
 public:
  RegularGraph(int nodes, int degree, std::uint64_t seed) : random_(seed, Purpose::kGraph) {
    while (!pair(nodes, degree)) {
    }
  }
  bool has(std::int32_t a, std::int32_t b) const {
    const auto& list = neighbours_[index_of(a)];
    return std::find(list.begin(), list.end(), b) != list.end();
  }
  const std::vector<std::int32_t>& neighbours(int i) const { return neighbours_[index_of(i)]; }

 private:
  /// Pairs all ends; false if the last loops and repeated edges found no edge to exchange with.
  bool pair(int nodes, int degree) {
    const std::int64_t ends = std::int64_t{nodes} * degree;
    neighbours_.assign(index_of(nodes), {});
    end_.resize(index_of(ends));
    for (std::int64_t k = 0; k < ends; ++k)
      end_[index_of(k)] = static_cast<std::int32_t>(k / degree);
    for (std::int64_t k = ends - 1; k > 0; --k)
      std::swap(end_[index_of(k)], end_[random_.below(static_cast<std::uint64_t>(k) + 1)]);
    std::vector<std::int64_t> bad;
    bad_.resize(index_of(ends / 2));
    for (std::int64_t e = 0; e < ends / 2; ++e) {
      const auto [a, b] = edge(e);
      if (a == b || has(a, b))
        bad.push_back(e);
      else
        link(a, b);
      bad_[index_of(e)] = !bad.empty() && bad.back() == e;
    }
    constexpr int kAttempts = 1000;
    for (int attempt = 0; !bad.empty(); ++attempt) {
      if (attempt == kAttempts) return false;
      if (!exchange(bad.back())) continue;
      bad.pop_back();
      attempt = 0;
    }
    return true;
  }
  std::pair<std::int32_t, std::int32_t> edge(std::int64_t e) const {
    return {end_[index_of(2 * e)], end_[index_of(2 * e + 1)]};
  }
  void link(std::int32_t a, std::int32_t b) {
    neighbours_[index_of(a)].push_back(b);
    neighbours_[index_of(b)].push_back(a);
  }
  void unlink(std::int32_t a, std::int32_t b) {
    for (const auto& [of, other] : {std::pair(a, b), std::pair(b, a)}) {
      auto& list = neighbours_[index_of(of)];
      list.erase(std::find(list.begin(), list.end(), other));
    }
  }
  /// Lets a bad edge a-b and a good edge c-d become a-c and b-d, if that gives two good edges.
  bool exchange(std::int64_t e) {
    const auto other = static_cast<std::int64_t>(random_.below(end_.size() / 2));
    const bool turned = random_.below(2) == 1;
    auto [a, b] = edge(e);
    auto [c, d] = edge(other);
    if (turned) std::swap(c, d);
    if (bad_[index_of(other)]) return false;  // it is not linked
    if (a == c || b == d || has(a, c) || has(b, d) || (a == d && b == c)) return false;
    bad_[index_of(e)] = false;
    unlink(c, d);
    link(a, c);
    link(b, d);
    end_[index_of(2 * e)] = a;
    end_[index_of(2 * e + 1)] = c;
    end_[index_of(2 * other)] = b;
    end_[index_of(2 * other + 1)] = d;
    return true;
  }

  RandomSequence random_;
  std::vector<std::int32_t> end_;
  std::vector<bool> bad_;
  std::vector<std::vector<std::int32_t>> neighbours_;
};

}  // namespace

SparseGraph fixed_indegree_graph(int nodes, int indegree, std::uint64_t seed,
                                 const Execution& execution) {
  check_nodes(nodes);
  check_count("the indegree", indegree, 0);
  check_memory(nodes, edges_of_senders(nodes, indegree));
  return graph_of_senders(nodes, execution, [&](int i, std::vector<std::int32_t>& row) {
    RandomSequence random(seed, Purpose::kGraph, static_cast<std::uint32_t>(i));
    add_distinct(random, i, indegree, row);
  });
}

SparseGraph oriented_expander_graph(int nodes, int degree, std::uint64_t seed,
                                    const Execution& execution) {
  check_nodes(nodes);
  check_count("the degree", degree, 0);
  if (degree >= nodes || (std::int64_t{nodes} * degree) % 2 != 0)
    throw InputError(
        fmt::format("there is no {}-regular graph of {} nodes: nodes times degree must "
                    "be even, and the degree below the number of nodes",
                    degree, nodes));
  check_memory(nodes, static_cast<double>(nodes) * degree / 2);
  // More than half of all edges: all but those of a graph of the other degree.
  if (2 * std::int64_t{degree} >= nodes) {
    const RegularGraph others(nodes, nodes - 1 - degree, seed);
    return graph_of_senders(nodes, execution, [&](int i, std::vector<std::int32_t>& row) {
      for (std::int32_t j = 0; j < i; ++j)
        if (!others.has(i, j)) row.push_back(j);
    });
  }
  const RegularGraph graph(nodes, degree, seed);
  return graph_of_senders(nodes, execution, [&](int i, std::vector<std::int32_t>& row) {
    for (const std::int32_t j : graph.neighbours(i))
      if (j < i) row.push_back(j);
  });
}

SparseGraph poisson_graph(int nodes, double skip, int budget, std::uint64_t seed,
                          const Execution& execution) {
  check_nodes(nodes);
  check_count("the budget of edges", budget, 1);
  if (!(skip >= 0.0 && skip < 1.0))
    throw InputError(fmt::format("the chance to skip a node is in [0, 1), not {}", skip));
  check_memory(nodes, edges_of_senders(nodes, std::min(budget - 1.0, (1.0 - skip) * nodes)));
  return graph_of_senders(nodes, execution, [&](int i, std::vector<std::int32_t>& row) {
    RandomSequence random(seed, Purpose::kGraph, static_cast<std::uint32_t>(i));
    std::int64_t j = i;
    for (int edges = 1; edges < budget; ++edges) {
      // The number of nodes that are skipped is geometric.
      const double skipped =
          skip > 0.0 ? std::floor(std::log(1.0 - random.uniform()) / std::log(skip)) : 0.0;
      if (!(skipped < static_cast<double>(j))) break;
      j -= static_cast<std::int64_t>(skipped) + 1;
      if (j < 0) break;
      row.push_back(static_cast<std::int32_t>(j));
    }
  });
}

namespace {

/// FS by matchings, whose last block is complete or, as all others, filled by matchings.
SparseGraph fs_of_matchings(int nodes, int matchings, double ratio, bool complete_last,
                            std::uint64_t seed, const Execution& execution) {
  check_nodes(nodes);
  check_count("the number of matchings", matchings, 1);
  if (!(ratio >= 0.0 && ratio < 1.0))
    throw InputError(
        fmt::format("the ratio of matchings between levels is in [0, 1), not {}", ratio));
  const std::vector<std::int64_t> blocks = fs_blocks(0, nodes);
  const std::int64_t last = complete_last ? blocks[blocks.size() - 2] : nodes;
  const auto rest = static_cast<double>(nodes - last);
  check_memory(nodes, static_cast<double>(nodes) *
                              std::min<double>(matchings, static_cast<double>(blocks[1])) +
                          rest * rest / 2.0);
  const FsBuilder builder(nodes, matchings, ratio, complete_last ? 1 : 0, seed);
  return graph_of_senders(nodes, execution, [&](int i, std::vector<std::int32_t>& row) {
    row = builder.senders(i);
    for (std::int64_t j = last; j < i; ++j) row.push_back(static_cast<std::int32_t>(j));
  });
}

}  // namespace

SparseGraph fs_graph(int nodes, int matchings, double ratio, std::uint64_t seed,
                     const Execution& execution) {
  return fs_of_matchings(nodes, matchings, ratio, true, seed, execution);
}

SparseGraph fs_sparse_graph(int nodes, int matchings, double ratio, std::uint64_t seed,
                            const Execution& execution) {
  return fs_of_matchings(nodes, matchings, ratio, false, seed, execution);
}

SparseGraph fs_original_graph(int nodes, const Execution& execution) {
  check_nodes(nodes);
  const std::int64_t count = std::max<std::int64_t>(1, ceil_log2(nodes));
  const std::vector<std::int64_t> blocks = cut(0, nodes, count);
  check_memory(nodes, static_cast<double>(nodes) *
                          (static_cast<double>(nodes) / static_cast<double>(count)));
  return graph_of_senders(nodes, execution, [&](int i, std::vector<std::int32_t>& row) {
    const auto block = std::upper_bound(blocks.begin(), blocks.end(), i) - blocks.begin() - 1;
    const bool last = block + 1 == count;
    if (block == 0 && !last) return;
    const std::int64_t begin = blocks[index_of(std::max<std::int64_t>(0, block - 1))];
    const std::int64_t end = last ? i : blocks[index_of(block)];
    for (std::int64_t j = begin; j < end; ++j) row.push_back(static_cast<std::int32_t>(j));
  });
}

SparseGraph bigbird_graph(int nodes, int window, int global, int random, std::uint64_t seed,
                          const Execution& execution) {
  check_nodes(nodes);
  check_count("the window", window, 0);
  check_count("the number of global nodes", global, 0);
  check_count("the number of random nodes", random, 0);
  check_memory(nodes, edges_of_senders(nodes, static_cast<double>(window) + global + random));
  return graph_of_senders(nodes, execution, [&](int i, std::vector<std::int32_t>& row) {
    const std::int32_t near = std::max(0, i - window);
    // The nodes between the global ones and the window are the ones to draw from.
    const std::int32_t globals = std::min(global, near);
    RandomSequence numbers(seed, Purpose::kGraph, static_cast<std::uint32_t>(i));
    add_distinct(numbers, near - globals, random, row);
    for (std::int32_t& j : row) j += globals;
    for (std::int32_t j = 0; j < globals; ++j) row.push_back(j);
    for (std::int32_t j = near; j < i; ++j) row.push_back(j);
  });
}

SparseGraph longformer_graph(int nodes, int window, int global, const Execution& execution) {
  return bigbird_graph(nodes, window, global, 0, 0, execution);
}

SparseGraph dilated_graph(int nodes, int window, int step, const Execution& execution) {
  check_nodes(nodes);
  check_count("the window", window, 0);
  check_count("the step", step, 1);
  check_memory(nodes, static_cast<double>(nodes) * std::min(window, nodes / step));
  return graph_of_senders(nodes, execution, [&](int i, std::vector<std::int32_t>& row) {
    std::int64_t j = std::int64_t{i} - step;
    for (int k = 0; k < window && j >= 0; ++k, j -= step)
      row.push_back(static_cast<std::int32_t>(j));
  });
}

SparseGraph power_graph(int nodes, const Execution& execution) {
  check_nodes(nodes);
  check_memory(nodes, static_cast<double>(nodes) * static_cast<double>(ceil_log2(nodes)));
  return graph_of_senders(nodes, execution, [](int i, std::vector<std::int32_t>& row) {
    for (std::int64_t step = 1; step <= i; step *= 2)
      row.push_back(static_cast<std::int32_t>(i - step));
  });
}

int family_size(std::string_view text, int nodes) {
  std::string_view number = text;
  std::optional<double> unit;
  for (const auto& [word, value] : std::array<std::pair<std::string_view, double>, 2>{
           {{"log", static_cast<double>(ceil_log2(nodes))},
            {"sqrt", std::ceil(std::sqrt(static_cast<double>(nodes)))}}}) {
    if (!number.ends_with(word)) continue;
    unit = value;
    number.remove_suffix(word.size());
    if (number.empty()) number = "1";
    break;
  }
  double factor = 0.0;
  if (!parse_number(number, factor) || !(factor >= 0.0) || !std::isfinite(factor) ||
      (!unit && factor != std::floor(factor)))
    throw UsageError(
        fmt::format("{} is not a whole number, 'log', 'sqrt' or a multiple "
                    "of these like '4log'",
                    quoted_text(text)));
  return static_cast<int>(std::min(std::round(factor * unit.value_or(1.0)), 1e9));
}

namespace {

/// The parts of a description after its family and its number of nodes.
class Description {
 public:
  Description(std::string_view text, std::uint64_t seed, const Execution& execution)
      : text_(text), parts_(split(text, ':')), seed_(seed), execution_(execution) {}

  const Execution& execution() const { return execution_; }

  /// Checks the number of parts, `seed` of them left out or not.
  void takes(std::size_t least, std::size_t most, const char* form) const {
    if (parts_.size() < least || parts_.size() > most)
      throw UsageError(fmt::format("graph {}: expected {}", quoted_text(text_), form));
  }
  int nodes() const {
    const std::int64_t nodes = whole(1);
    check_nodes(nodes);
    return static_cast<int>(nodes);
  }
  /// A whole number, or a multiple of log or sqrt of the number of nodes.
  int size(std::size_t index) const {
    try {
      return family_size(parts_[index], nodes());
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("graph {}: {}", quoted_text(text_), error.what()));
    }
  }
  /// A size that is the degree of a regular graph. One that follows from the number of nodes is
  /// lowered to the next degree that there is.
  int degree(std::size_t index) const {
    const int wanted = size(index);
    int whole_number = 0;
    if (parse_number(parts_[index], whole_number)) return wanted;
    const int fits = std::min(wanted, nodes() - 1);
    return nodes() % 2 == 1 && fits % 2 == 1 ? fits - 1 : fits;
  }
  double number(std::size_t index) const {
    double value = 0.0;
    if (!parse_number(parts_[index], value))
      throw UsageError(fmt::format("graph {}: {} is not a number", quoted_text(text_),
                                   quoted_text(parts_[index])));
    return value;
  }
  /// The seed, if the description has one.
  std::uint64_t seed(std::size_t index) const {
    std::uint64_t value = seed_;
    if (index < parts_.size() && !parse_number(parts_[index], value))
      throw UsageError(fmt::format("graph {}: {} is not a seed (0 to 2^64 - 1)", quoted_text(text_),
                                   quoted_text(parts_[index])));
    return value;
  }
  bool has(std::size_t index) const { return index < parts_.size(); }

 private:
  std::int64_t whole(std::size_t index) const {
    std::int64_t value = 0;
    if (index >= parts_.size() || !parse_number(parts_[index], value))
      throw UsageError(fmt::format("graph {}: {} is not a whole number", quoted_text(text_),
                                   quoted_text(index < parts_.size() ? parts_[index] : "")));
    return value;
  }

  std::string_view text_;
  std::vector<std::string_view> parts_;
  std::uint64_t seed_;
  const Execution& execution_;
};

/// A family by its name: how many parts its description has, in which form, and how it is made.
struct Family {
  std::string_view name;
  std::size_t least, most;
  const char* form;
  SparseGraph (*make)(const Description& of);
};

constexpr double kFsRatio = 0.5;

constexpr std::array kFamilies = {
    Family{"indegree", 3, 4, "indegree:N:K[:SEED]",
           [](const Description& of) {
             return fixed_indegree_graph(of.nodes(), of.size(2), of.seed(3), of.execution());
           }},
    Family{"expander", 3, 4, "expander:N:D[:SEED]",
           [](const Description& of) {
             return oriented_expander_graph(of.nodes(), of.degree(2), of.seed(3), of.execution());
           }},
    Family{"poisson", 4, 5, "poisson:N:P:K[:SEED]",
           [](const Description& of) {
             return poisson_graph(of.nodes(), of.number(2), of.size(3), of.seed(4), of.execution());
           }},
    Family{"fs", 3, 5, "fs:N:K[:RATIO[:SEED]]",
           [](const Description& of) {
             return fs_graph(of.nodes(), of.size(2), of.has(3) ? of.number(3) : kFsRatio,
                             of.seed(4), of.execution());
           }},
    Family{"fs-sparse", 3, 5, "fs-sparse:N:K[:RATIO[:SEED]]",
           [](const Description& of) {
             return fs_sparse_graph(of.nodes(), of.size(2), of.has(3) ? of.number(3) : kFsRatio,
                                    of.seed(4), of.execution());
           }},
    Family{"fs-original", 2, 2, "fs-original:N",
           [](const Description& of) { return fs_original_graph(of.nodes(), of.execution()); }},
    Family{"longformer", 4, 4, "longformer:N:WINDOW:GLOBAL",
           [](const Description& of) {
             return longformer_graph(of.nodes(), of.size(2), of.size(3), of.execution());
           }},
    Family{"bigbird", 5, 6, "bigbird:N:WINDOW:GLOBAL:RANDOM[:SEED]",
           [](const Description& of) {
             return bigbird_graph(of.nodes(), of.size(2), of.size(3), of.size(4), of.seed(5),
                                  of.execution());
           }},
    Family{"dilated", 4, 4, "dilated:N:WINDOW:STEP",
           [](const Description& of) {
             return dilated_graph(of.nodes(), of.size(2), of.size(3), of.execution());
           }},
    Family{"power", 2, 2, "power:N",
           [](const Description& of) { return power_graph(of.nodes(), of.execution()); }},
};

const Family* find_family(std::string_view description) {
  const std::string_view name = description.substr(0, description.find(':'));
  for (const Family& family : kFamilies)
    if (family.name == name) return &family;
  return nullptr;
}

}  // namespace

std::vector<std::string_view> family_names() {
  std::vector<std::string_view> names;
  names.reserve(kFamilies.size());
  for (const Family& family : kFamilies) names.push_back(family.name);
  return names;
}

namespace {

const Family& known_family(std::string_view description) {
  const Family* family = find_family(description);
  if (family != nullptr) return *family;
  throw UsageError(fmt::format("unknown family {}; there are {}",
                               quoted_text(description.substr(0, description.find(':'))),
                               fmt::join(family_names(), ", ")));
}

}  // namespace

bool is_family(std::string_view description) {
  return find_family(description) != nullptr;
}

bool is_random_family(std::string_view description) {
  return std::string_view(known_family(description).form).find("SEED") != std::string_view::npos;
}

SparseGraph generate_family(std::string_view description, std::uint64_t seed,
                            const Execution& execution) {
  const Family& family = known_family(description);
  const Description of(description, seed, execution);
  of.takes(family.least, family.most, family.form);
  return family.make(of);
}

}  // namespace synergraph
