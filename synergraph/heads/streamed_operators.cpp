#include "synergraph/heads/streamed_operators.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "synergraph/core/array_math.h"
#include "synergraph/core/error.h"
#include "synergraph/core/matrix.h"
#include "synergraph/core/panels.h"
#include "synergraph/core/parallel.h"
#include "synergraph/core/safe_range.h"
#include "synergraph/core/setting.h"
#include "synergraph/core/special_values.h"
#include "synergraph/core/underflow.h"
#include "synergraph/diffusion/absorption.h"
#include "synergraph/diffusion/peak_rules.h"

namespace synergraph {
namespace {

constexpr int kSteps = StreamedOperators::kSteps;
constexpr int kMostRows = 128;  // of a block
constexpr int kLeastRows = 16;
constexpr int kColumns = 128;  // of a tile
// Where a column's sum is smaller, products with it lose digits.
constexpr double kLeastSum = kSafeLeast;

std::size_t at(int k) {
  return static_cast<std::size_t>(k);
}

}  // namespace

// Private types of this file, which Parts has as members.
namespace streaming {

enum class Kind { kSignal, kSurvival, kLifted, kArrival, kPublished };

/// One state of an operator on its way through time.
struct Flow {
  Kind kind;
  int op;
  ScratchVector<double> now = {};   // n: the state before the next panel
  double* states = nullptr;         // n x kSteps: inflow, then states; of the newest sweep
  ScratchVector<double> peak = {};  // of signals: see SignalPanel
  ScratchVector<int> place = {};
  ScratchVector<double> after = {};
  ScratchVector<double> sum = {};  // of survivals: see SurvivalPanel
  ScratchVector<double> previous = {};
  std::array<double, kSteps + 1> worst = {};  // least for arrivals
  const double* scale = nullptr;
  const double* stay = nullptr;
  bool begun = false;
  bool flush = true;
  std::atomic<bool> flushed{false};
  int count = 0;
  int last = kSteps;
};

/// A triangular system that is solved in a sweep.
struct Solve {
  enum class Kind { kHitting, kAbsorbed, kLast };
  Kind kind;
  int op;
  double unit = 1.0;                // of hitting times
  std::vector<double> sum = {};     // n: what later nodes gave; last arrivals
  std::vector<double> result = {};  // n
  std::vector<double> given = {};   // of the nodes of a block
  std::vector<char> infinite = {};  // n
  bool any_infinite = false;        // in the block
  bool overflow = false;
};

/// What an operator is made of.
struct Operator {
  OperatorSums sums;
  std::vector<double> down;  // sums of rows below the diagonal
  std::vector<double> walk_scale, walk_stay;
  std::vector<double> ones, published_stay;
  // Of published walks: the row in which a column's sum reaches one, and what counts of it.
  std::vector<int> cut;
  std::vector<double> part, reached;
  std::vector<double> hitting;
};

}  // namespace streaming

using streaming::Flow;
using streaming::Kind;
using streaming::Operator;
using streaming::Solve;

struct StreamedOperators::Parts {
  Parts(HeadRows& head_rows, const StreamOptions& stream_options);

  int operators() const { return heads == 1 ? 1 : heads + 2; }
  int combined() const { return heads == 1 ? 0 : heads; }
  int per_head() const { return heads == 1 ? 0 : heads + 1; }
  int blocks() const { return (n + rows_of_block - 1) / rows_of_block; }
  int begin(int b) const { return b * rows_of_block; }
  int end(int b) const { return std::min(n, begin(b) + rows_of_block); }
  void tell(const std::string& what, int done) const {
    options.execution.check();
    options.tell(fmt::format("{}: {:.0f} %", what, 100.0 * done / blocks()));
  }
  void parallel(std::size_t count, const std::function<void(std::size_t, int)>& body) const {
    parallel_for(count, options.execution.threads, body);
  }
  int chunks(int columns) const { return (columns + kColumns - 1) / kColumns; }

  void plan_memory();
  void read_block(int h, int b, bool first);
  void begin_combination(int b);
  void add_to_combination(int h, int b, bool diffusion, bool walk);
  void finish_combination(int b);

  void read_sums();
  void add_sums(int op, ConstMatrixView rows, int b);
  void finish_sums();

  Flow& flow(Kind kind, int op);
  const Flow* find(Kind kind, int op) const;
  void sweep(const std::vector<Flow*>& flows, const std::vector<Solve*>& solves,
             const std::string& what);
  void process(ConstMatrixView rows, int from, int b, const std::vector<Flow*>& flows,
               const std::vector<Solve*>& solves);
  void finish_block(Flow& flow, ConstMatrixView upper, int b) const;
  void look(Flow& flow, int j) const;
  void finish_block(Solve& solve, ConstMatrixView upper, int b) const;
  void give(Solve& solve, ConstMatrixView tile, int first, int block_begin) const;
  bool masked(int op, int first, int last, int row_end) const;
  void mask(int op, int first, int row_begin, MatrixView tile) const;

  HeadRows& rows;
  StreamOptions options;
  int n;
  int heads;
  int rows_of_block = kMostRows;
  int buffers = 1;  // flows in one sweep
  std::vector<Operator> ops;
  std::vector<std::unique_ptr<Flow>> flows;
  std::vector<ScratchVector<double>> memory;  // states of flows
  std::vector<double> walk_weight;            // of a head's column in the sum of walks
  Matrix block;                               // rows of a head
  Matrix mixed, mixed_rest, mixed_walk;       // rows of the combination
  double weight_sum = 0.0, weight_rest = 0.0;
  std::vector<ScratchVector<double>> tiles;  // of each thread
  Work work;
};

StreamedOperators::Parts::Parts(HeadRows& head_rows, const StreamOptions& stream_options)
    : rows(head_rows), options(stream_options), n(head_rows.nodes()), heads(head_rows.heads()) {
  plan_memory();
  block = Matrix::uninitialised(rows_of_block, rows.width());
  if (heads > 1) {
    mixed = Matrix(rows_of_block, n);
    mixed_rest = Matrix(rows_of_block, n);
    mixed_walk = Matrix(rows_of_block, n);
  }
  tiles.resize(at(options.execution.thread_count()));
  for (auto& tile : tiles) tile.resize(2 * at(kColumns) * at(rows_of_block));
  ops.resize(at(operators()));
  read_sums();
}

/// Blocks of as many rows as a quarter of the memory holds, and the states of as many flows as fit
/// the rest.
void StreamedOperators::Parts::plan_memory() {
  const auto bytes = static_cast<double>(options.execution.memory.bytes());
  const double matrices = heads == 1 ? 1.0 : 4.0;
  const double row = 8.0 * (rows.width() + 64) * matrices;
  while (rows_of_block > kLeastRows && rows_of_block * row > bytes / 4.0) rows_of_block /= 2;
  // Lists with a number for every node: rows of heads, sums of operators, states of flows.
  constexpr double kOfHead = 24.0;
  constexpr double kOfOperator = 8.0 * 14;
  constexpr double kOfFlow = 8.0 * 6;
  const int kinds = options.published ? 3 : 2;
  const double lists =
      n * (kOfHead * heads + kOfOperator * operators() + kOfFlow * kinds * operators());
  const double states = 8.0 * n * kSteps;
  const double fixed = rows_of_block * row + lists + rows.held_bytes();
  buffers = static_cast<int>(std::min(1e6, (bytes - fixed) / states));
  if (buffers >= 1) return;
  // Callers give a part of their memory (execution_of_each()).
  constexpr double kPart = 5.0 / 9.0;
  throw InputError(fmt::format(
      "{} heads of {} tokens need at least {:.0f} MiB of memory, even if they are read a block of "
      "rows at a time: raise {}",
      heads, n, std::ceil((fixed + states) / kPart / (1 << 20)) + 1.0, option_mark("memory")));
}

/// Rows of a block of a head: row r of `block` has entries 0 .. begin(b) + r.
void StreamedOperators::Parts::read_block(int h, int b, bool first) {
  const int i0 = begin(b);
  const int count = end(b) - i0;
  parallel(at(count), [&](std::size_t r, int) {
    const int i = i0 + static_cast<int>(r);
    double* into = block.row(static_cast<int>(r));
    if (first)
      rows.read_first(h, i, into);
    else
      rows.read_again(h, i, into);
  });
  for (int r = 0; r < count; ++r)
    work.entries_read += first ? n : i0 + r + 1 - std::min(i0 + r, rows.first_entry(h, i0 + r));
}

void StreamedOperators::Parts::begin_combination(int b) {
  parallel(at(end(b) - begin(b)), [&](std::size_t r, int) {
    for (Matrix* matrix : {&mixed, &mixed_rest, &mixed_walk})
      std::fill_n(matrix->row(static_cast<int>(r)), begin(b) + static_cast<int>(r) + 1, 0.0);
  });
  weight_sum = weight_rest = 0.0;
}

void StreamedOperators::Parts::add_to_combination(int h, int b, bool diffusion, bool walks) {
  const double weight = options.weights[at(h)];
  if (!(weight > 0.0)) return;
  const double* factor = walks ? walk_weight.data() + at(h) * at(n) : nullptr;
  parallel(at(end(b) - begin(b)), [&](std::size_t k, int) {
    const int r = static_cast<int>(k);
    const int count = begin(b) + r + 1;
    const double* from = block.row(r);
    if (diffusion) add_exactly(from, weight, count, mixed.row(r), mixed_rest.row(r));
    double* to = mixed_walk.row(r);
    for (int j = 0; walks && j < count; ++j) to[j] += factor[j] * from[j];
  });
  const double one = 1.0;
  add_exactly(&one, weight, 1, &weight_sum, &weight_rest);
}

void StreamedOperators::Parts::finish_combination(int b) {
  parallel(at(end(b) - begin(b)), [&](std::size_t k, int) {
    const int r = static_cast<int>(k);
    divide_exactly(weight_sum, weight_rest, begin(b) + r + 1, mixed_rest.row(r), mixed.row(r));
  });
}

void StreamedOperators::Parts::read_sums() {
  for (int op = 0; op < operators(); ++op) {
    Operator& each = ops[at(op)];
    for (auto* list : {&each.sums.column, &each.sums.forward, &each.sums.diagonal, &each.down})
      list->assign(at(n), 0.0);
    if (!options.published || (heads > 1 && op == per_head())) continue;
    each.cut.assign(at(n), n);
    each.part.assign(at(n), 0.0);
    each.reached.assign(at(n), 0.0);
    each.sums.published_leave.assign(at(n), 0.0);
  }
  for (int b = 0; b < blocks(); ++b) {
    tell("reading", b);
    if (heads > 1) begin_combination(b);
    for (int h = 0; h < heads; ++h) {
      read_block(h, b, true);
      add_sums(h, block, b);
      if (heads > 1) add_to_combination(h, b, true, false);
    }
    if (heads == 1) continue;
    finish_combination(b);
    add_sums(combined(), mixed, b);
  }
  ++work.passes;
  finish_sums();
}

void StreamedOperators::Parts::add_sums(int op, ConstMatrixView given, int b) {
  Operator& into = ops[at(op)];
  const int i0 = begin(b);
  const int i1 = end(b);
  parallel(at(i1 - i0), [&](std::size_t r, int) {
    const int i = i0 + static_cast<int>(r);
    into.down[at(i)] = total(given.row(static_cast<int>(r)), i);
  });
  parallel(at(chunks(i1)), [&](std::size_t chunk, int) {
    const int j0 = static_cast<int>(chunk) * kColumns;
    const int j1 = std::min(i1, j0 + kColumns);
    std::array<double, kColumns> part = {};
    for (int i = std::max(i0, j0); i < i1; ++i) {
      const double* row = given.row(i - i0);
      const int last = std::min(j1, i);
      for (int j = j0; j < last; ++j) part[at(j - j0)] += row[j];
      if (i >= j0 && i < j1) into.sums.diagonal[at(i)] = row[i];
    }
    for (int j = j0; j < j1; ++j) into.sums.forward[at(j)] += part[at(j - j0)];
    if (into.cut.empty()) return;
    for (int i = std::max(i0, j0); i < i1; ++i) {
      const double* row = given.row(i - i0);
      for (int j = j0; j < std::min(j1, i); ++j) {
        if (into.cut[at(j)] < n) continue;
        const double budget = into.sums.published_leave[at(j)];
        double& reached = into.reached[at(j)];
        if (reached + row[j] < budget) {
          reached += row[j];
          continue;
        }
        into.cut[at(j)] = i;
        into.part[at(j)] = std::max(0.0, budget - reached);
      }
      if (i >= j1) continue;
      // What is left below one: to full precision where the row says so (cut_slow_row()).
      constexpr double kRounding = 1e-12;
      const double diagonal = row[i];
      const double down = into.down[at(i)];
      const bool known = diagonal > 0.5 && std::abs(down + diagonal - 1.0) <= kRounding;
      into.sums.published_leave[at(i)] = known ? down : std::max(0.0, 1.0 - diagonal);
    }
  });
}

void StreamedOperators::Parts::finish_sums() {
  walk_weight.assign(heads > 1 ? at(heads) * at(n) : 0, 0.0);
  std::vector<double> leave(at(n), 0.0);
  std::vector<double> stay(at(n), 0.0);
  for (int op = 0; op < operators(); ++op) {
    if (heads > 1 && op == per_head()) continue;
    Operator& each = ops[at(op)];
    OperatorSums& sums = each.sums;
    each.ones.assign(at(n), 1.0);
    each.walk_scale.assign(at(n), 0.0);
    each.walk_stay.assign(at(n), 1.0);
    for (int i = 1; i < n; ++i) sums.all_go_down = sums.all_go_down && each.down[at(i)] > 0.0;
    for (int j = 0; j < n; ++j) {
      const double forward = sums.forward[at(j)];
      sums.column[at(j)] = sums.diagonal[at(j)] + forward;
      if (!(forward > 0.0)) continue;
      if (sums.column[at(j)] < kLeastSum)
        throw InputError(fmt::format(
            "all tokens together give {} to token {}: too little to measure heads that are not in "
            "memory. Raise {}",
            sums.column[at(j)], j, option_mark("memory")));
      each.walk_scale[at(j)] = 1.0 / sums.column[at(j)];
      each.walk_stay[at(j)] = sums.diagonal[at(j)] / sums.column[at(j)];
      if (heads == 1 || op >= heads) continue;
      const double weight = options.weights[at(op)];
      walk_weight[at(op) * at(n) + at(j)] = weight / sums.column[at(j)];
      leave[at(j)] += weight * (forward / sums.column[at(j)]);
    }
    if (options.published) {
      each.published_stay = sums.diagonal;
      for (double& s : each.published_stay) s = std::min(s, 1.0);
    }
    if (heads == 1 || op >= heads) continue;
    for (int j = 0; j < n; ++j) stay[at(j)] += options.weights[at(op)] * each.walk_stay[at(j)];
  }
  if (heads == 1) return;
  Operator& together = ops[at(per_head())];
  for (int j = 0; j < n; ++j)
    if (!(leave[at(j)] > 0.0)) stay[at(j)] = 1.0;
  together.sums.forward = leave;
  together.sums.column.assign(at(n), 1.0);
  together.sums.diagonal = stay;
  together.ones.assign(at(n), 1.0);
  together.walk_scale = together.ones;
  together.walk_stay = std::move(stay);
}

Flow& StreamedOperators::Parts::flow(Kind kind, int op) {
  for (const auto& each : flows)
    if (each->kind == kind && each->op == op) return *each;
  auto made = std::make_unique<Flow>();
  made->kind = kind;
  made->op = op;
  const Operator& of = ops[at(op)];
  switch (kind) {
    case Kind::kSignal:
      made->stay = of.sums.diagonal.data();
      break;
    case Kind::kPublished:
      made->stay = of.published_stay.data();
      break;
    default:
      made->scale = of.walk_scale.data();
      made->stay = of.walk_stay.data();
  }
  const bool of_sink = kind == Kind::kSignal || kind == Kind::kArrival;
  const double start = kind == Kind::kLifted ? mixing_rules::kLifting : 1.0;
  made->now.assign(at(n), of_sink ? 0.0 : start);
  made->now.back() = of_sink ? 1.0 : 0.0;
  if (kind == Kind::kSignal) {
    made->peak.resize(at(n));
    made->place.resize(at(n));
    made->after.resize(at(n));
  } else {
    made->sum.resize(at(n));
    made->previous.resize(at(n));
  }
  flows.push_back(std::move(made));
  return *flows.back();
}

const Flow* StreamedOperators::Parts::find(Kind kind, int op) const {
  for (const auto& each : flows)
    if (each->kind == kind && each->op == op) return each.get();
  return nullptr;
}

/// Findings of node j in the newest panel, whose states are in place.
void StreamedOperators::Parts::look(Flow& flow, int j) const {
  const double* states = flow.states + static_cast<std::ptrdiff_t>(j) * kSteps;
  const double after = flow.now[at(j)];
  if (flow.kind == Kind::kSignal) {
    // The start does not count.
    const int first = !flow.begun && j == n - 1 ? 1 : 0;
    double most = 0.0;
    if (first == 0 && flow.last == kSteps) {
      most = largest(states, kSteps, 0.0);
    } else {
      for (int k = first; k <= std::min(flow.last, kSteps - 1); ++k)
        most = std::max(most, states[k]);
    }
    const double inside = most;
    if (flow.last == kSteps) most = std::max(most, after);
    const double tie = most * (1.0 - peak_rules::kRounding);
    int place = kSteps;
    if (most > 0.0 && inside >= tie) {
      place = first;
      while (!(states[place] >= tie)) ++place;
    }
    flow.peak[at(j)] = most;
    flow.place[at(j)] = place;
    flow.after[at(j)] = flow.last == kSteps ? after : states[flow.last];
    return;
  }
  double sum = 0.0;
  for (int k = 0; k < flow.count; ++k) sum += states[k];
  flow.sum[at(j)] = sum;
  flow.previous[at(j)] = states[kSteps - 1];
  if (flow.kind == Kind::kArrival) {
    for (int k = 0; k < kSteps; ++k) flow.worst[at(k)] = std::min(flow.worst[at(k)], states[k]);
    flow.worst[kSteps] = std::min(flow.worst[kSteps], after);
  } else {
    for (int k = 0; k < kSteps; ++k) flow.worst[at(k)] = std::max(flow.worst[at(k)], states[k]);
    flow.worst[kSteps] = std::max(flow.worst[kSteps], after);
  }
}

/// A panel of one node, x_{t+1} = scale * inflow_t + stay * x_t: `states` has the inflow, then the
/// states; returns the state after them. Not inline: see FlushUnderflow.
[[gnu::noinline]] double advance_node(double scale, double stay, double now, double* states) {
  for (int k = 0; k < kSteps; ++k) {
    const double inflow = scale * states[k];
    states[k] = now;
    now = inflow + stay * now;
  }
  return now;
}

/// A panel of the nodes of a block, whose inflow from later blocks is complete.
void StreamedOperators::Parts::finish_block(Flow& flow, ConstMatrixView upper, int b) const {
  const int i0 = begin(b);
  const int count = end(b) - i0;
  const auto states_of = [&](int r) {
    return flow.states + static_cast<std::ptrdiff_t>(i0 + r) * kSteps;
  };
  const auto advance = [&] {
    for (int r = count - 1; r >= 0; --r) {
      const int i = i0 + r;
      double* states = states_of(r);
      for (int later = r + 1; later < count; ++later)
        if (upper(r, later) != 0.0) add_scaled(states_of(later), upper(r, later), kSteps, states);
      const double scale = flow.scale == nullptr ? 1.0 : flow.scale[i];
      flow.now[at(i)] = advance_node(scale, flow.stay[i], flow.now[at(i)], states);
    }
  };
  if (flow.flush) {
    const FlushUnderflow flush;
    advance();
    if (flush.happened()) flow.flushed = true;
  } else {
    advance();
  }
  for (int r = 0; r < count; ++r) look(flow, i0 + r);
}

/// Solves for the nodes of a block. given[r] is what node r then hands to earlier ones.
void StreamedOperators::Parts::finish_block(Solve& solve, ConstMatrixView upper, int b) const {
  const Operator& of = ops[at(solve.op)];
  const int i0 = begin(b);
  const int count = end(b) - i0;
  solve.given.assign(at(count), 0.0);
  solve.any_infinite = false;
  for (int r = count - 1; r >= 0; --r) {
    const int i = i0 + r;
    const double* later = upper.row(r);
    double sum = solve.sum[at(i)];
    if (solve.kind == Solve::Kind::kLast) {
      for (int k = r + 1; k < count; ++k)
        if (later[k] > 0.0) sum = std::max(sum, solve.given[at(k)]);
      if (i == n - 1) sum = 0.0;
      solve.result[at(i)] = sum;
      solve.given[at(r)] = sum < 0.0 ? -1.0 : of.sums.diagonal[at(i)] > 0.0 ? kInfinity : sum + 1.0;
      continue;
    }
    sum += dot(later + r + 1, solve.given.data() + r + 1, count - r - 1);
    if (solve.kind == Solve::Kind::kAbsorbed) {
      if (i == n - 1) sum = 1.0;
      const double down = of.down[at(i)];
      solve.result[at(i)] = down > 0.0 ? kNan : sum;
      solve.given[at(r)] = down > 0.0 ? sum / down : 0.0;
      continue;
    }
    if (i == n - 1) continue;
    bool infinite = solve.infinite[at(i)] != 0 || !(of.sums.forward[at(i)] > 0.0);
    for (int k = r + 1; !infinite && solve.any_infinite && k < count; ++k)
      infinite = solve.infinite[at(i0 + k)] != 0 && later[k] > 0.0;
    if (infinite) {
      solve.infinite[at(i)] = 1;
      solve.any_infinite = true;
      solve.result[at(i)] = kInfinity;
      continue;
    }
    const double time = (of.sums.column[at(i)] * solve.unit + sum) / of.sums.forward[at(i)];
    if (!(time < kInfinity)) {
      solve.overflow = true;
      continue;
    }
    solve.given[at(r)] = time;
    solve.result[at(i)] = time / solve.unit;
  }
}

/// Hands what a block's nodes give to nodes from `first` on: tile(r, c) of node r to node first +
/// c.
void StreamedOperators::Parts::give(Solve& solve, ConstMatrixView tile, int first,
                                    int block_begin) const {
  double* sum = solve.sum.data() + first;
  for (int r = 0; r < tile.rows; ++r) {
    const double* row = tile.row(r);
    const double given = solve.given[at(r)];
    if (solve.kind == Solve::Kind::kLast) {
      for (int c = 0; c < tile.cols; ++c)
        if (row[c] > 0.0) sum[c] = std::max(sum[c], given);
      continue;
    }
    add_scaled(row, given, tile.cols, sum);
    if (!solve.any_infinite || solve.infinite[at(block_begin + r)] == 0) continue;
    for (int c = 0; c < tile.cols; ++c)
      if (row[c] > 0.0) solve.infinite[at(first + c)] = 1;
  }
}

/// Whether the published rule cuts columns [first, last) before row_end.
bool StreamedOperators::Parts::masked(int op, int first, int last, int row_end) const {
  const std::vector<int>& cut = ops[at(op)].cut;
  for (int j = first; j < last; ++j)
    if (cut[at(j)] < row_end) return true;
  return false;
}

/// Cuts a tile by the published rule: tile(r, c) is of row row_begin + r and column first + c.
void StreamedOperators::Parts::mask(int op, int first, int row_begin, MatrixView tile) const {
  const Operator& of = ops[at(op)];
  for (int c = 0; c < tile.cols; ++c) {
    const int cut = of.cut[at(first + c)] - row_begin;
    if (cut >= 0 && cut < tile.rows) tile(cut, c) = std::min(tile(cut, c), of.part[at(first + c)]);
    for (int r = std::max(0, cut + 1); r < tile.rows; ++r) tile(r, c) = 0.0;
  }
}

/// A block of rows of an operator: finishes its nodes, and hands their states to earlier nodes.
/// Entries before column `from` are zero.
void StreamedOperators::Parts::process(ConstMatrixView given, int from, int b,
                                       const std::vector<Flow*>& of_op,
                                       const std::vector<Solve*>& solves) {
  if (of_op.empty() && solves.empty()) return;
  const int i0 = begin(b);
  const int count = end(b) - i0;
  const int op = of_op.empty() ? solves.front()->op : of_op.front()->op;
  Matrix upper(count, count);
  for (int r = 0; r < count; ++r)
    for (int j = 0; j < r; ++j) upper(j, r) = given(r, i0 + j);
  const bool any_published = std::any_of(
      of_op.begin(), of_op.end(), [](const Flow* each) { return each->kind == Kind::kPublished; });
  Matrix cut_upper;
  if (any_published) {
    Matrix lower(count, count);
    for (int r = 0; r < count; ++r) std::copy_n(given.row(r) + i0, r, lower.row(r));
    mask(op, i0, i0, lower.view());
    cut_upper = Matrix(count, count);
    for (int r = 0; r < count; ++r)
      for (int j = 0; j < r; ++j) cut_upper(j, r) = lower(r, j);
  }
  parallel(of_op.size() + solves.size(), [&](std::size_t k, int) {
    if (k >= of_op.size()) return finish_block(*solves[k - of_op.size()], upper, b);
    Flow& each = *of_op[k];
    finish_block(each, each.kind == Kind::kPublished ? cut_upper : upper, b);
  });
  const int first_chunk = from / kColumns;
  const int last_chunk = chunks(i0);
  if (first_chunk >= last_chunk) return;
  std::atomic<std::int64_t> used{0};
  parallel(at(last_chunk - first_chunk), [&](std::size_t chunk, int worker) {
    const int j0 = (first_chunk + static_cast<int>(chunk)) * kColumns;
    const int j1 = std::min(i0, j0 + kColumns);
    double* memory_of_tile = tiles[at(worker)].data();
    const MatrixView tile{memory_of_tile, count, j1 - j0, kColumns};
    bool zero = true;
    for (int r = 0; r < count; ++r) {
      std::copy_n(given.row(r) + j0, tile.cols, tile.row(r));
      zero = zero && !(largest(tile.row(r), tile.cols, 0.0) > 0.0);
    }
    if (zero) return;
    used += std::int64_t{j1 - j0} * count;
    const MatrixView cut{memory_of_tile + at(kColumns) * at(rows_of_block), count, tile.cols,
                         kColumns};
    const bool cuts = any_published && masked(op, j0, j1, i0 + count);
    if (cuts) {
      for (int r = 0; r < count; ++r) std::copy_n(tile.row(r), tile.cols, cut.row(r));
      mask(op, j0, i0, cut);
    }
    for (Flow* each : of_op) {
      const MatrixView entries = cuts && each->kind == Kind::kPublished ? cut : tile;
      const PanelProduct product{.factors = entries.data,
                                 .step_out = 1,
                                 .step_in = kColumns,
                                 .outs = tile.cols,
                                 .ins = count,
                                 .in = each->states + std::ptrdiff_t{i0} * kSteps,
                                 .in_pitch = kSteps,
                                 .out = each->states + std::ptrdiff_t{j0} * kSteps,
                                 .out_pitch = kSteps,
                                 .count = kSteps};
      if (each->flush) {
        const FlushUnderflow flush;
        add_panel_products(product);
        if (flush.happened()) each->flushed = true;
      } else {
        add_panel_products(product);
      }
    }
    for (Solve* solve : solves) give(*solve, tile, j0, i0);
  });
  work.multiply_adds +=
      static_cast<double>(used.load()) * kSteps * static_cast<double>(of_op.size());
}

/// One pass over the heads that these flows and solves need.
void StreamedOperators::Parts::sweep(const std::vector<Flow*>& wanted,
                                     const std::vector<Solve*>& solves, const std::string& what) {
  while (memory.size() < wanted.size()) memory.emplace_back();
  for (const auto& each : flows) each->states = nullptr;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    memory[k].assign(at(n) * kSteps, 0.0);
    wanted[k]->states = memory[k].data();
    wanted[k]->worst.fill(wanted[k]->kind == Kind::kArrival ? 1.0 : 0.0);
  }
  std::vector<std::vector<Flow*>> flows_of(at(operators()));
  std::vector<std::vector<Solve*>> solves_of(at(operators()));
  for (Flow* each : wanted) flows_of[at(each->op)].push_back(each);
  for (Solve* each : solves) solves_of[at(each->op)].push_back(each);
  const auto needed = [&](int op) {
    return !flows_of[at(op)].empty() || !solves_of[at(op)].empty();
  };
  const bool diffusion = heads > 1 && needed(combined());
  const bool walks = heads > 1 && needed(per_head());
  for (int b = blocks() - 1; b >= 0; --b) {
    tell(what, blocks() - 1 - b);
    if (diffusion || walks) begin_combination(b);
    int first_of_all = n;
    for (int h = 0; h < heads; ++h) {
      if (!needed(h) && !diffusion && !walks) continue;
      read_block(h, b, false);
      int first = n;
      for (int i = begin(b); i < end(b); ++i) first = std::min(first, rows.first_entry(h, i));
      first_of_all = std::min(first_of_all, first);
      process(block, first, b, flows_of[at(h)], solves_of[at(h)]);
      if (diffusion || walks) add_to_combination(h, b, diffusion, walks);
    }
    if (diffusion) {
      finish_combination(b);
      process(mixed, first_of_all, b, flows_of[at(combined())], solves_of[at(combined())]);
    }
    if (walks)
      process(mixed_walk, first_of_all, b, flows_of[at(per_head())], solves_of[at(per_head())]);
  }
  ++work.passes;
  for (Flow* each : wanted) each->begun = true;
}

StreamedOperators::StreamedOperators(HeadRows& rows, const StreamOptions& options)
    : parts_(std::make_unique<Parts>(rows, options)) {}

StreamedOperators::~StreamedOperators() = default;

int StreamedOperators::nodes() const {
  return parts_->n;
}
int StreamedOperators::heads() const {
  return parts_->heads;
}
const OperatorSums& StreamedOperators::sums(int op) const {
  return parts_->ops[at(op)].sums;
}
const StreamedOperators::Work& StreamedOperators::work() const {
  return parts_->work;
}

void StreamedOperators::sweep(std::span<const SweepTask> tasks) {
  Parts& p = *parts_;
  std::vector<Flow*> flows;
  std::vector<Solve> solves;
  bool started = false;
  for (const SweepTask& task : tasks) {
    const auto add = [&](Kind kind, int count, int last) {
      Flow& flow = p.flow(kind, task.op);
      flow.count = count;
      flow.last = last;
      flows.push_back(&flow);
      started = started || !flow.begun;
    };
    if (task.signal) add(Kind::kSignal, 0, task.last);
    if (task.survival) add(Kind::kSurvival, task.count, 0);
    if (task.lifted) add(Kind::kLifted, 0, 0);
    if (task.arrival) add(Kind::kArrival, 0, 0);
    if (task.published) add(Kind::kPublished, task.published_count, 0);
    if (task.hitting) solves.push_back({Solve::Kind::kHitting, task.op});
    OperatorSums& sums = p.ops[at(task.op)].sums;
    const bool keeps = !sums.all_go_down;
    const bool ends =
        !(sums.diagonal[at(p.n - 1)] > 0.0) ||
        !(p.ops[at(task.op)].down.empty() || p.ops[at(task.op)].down[at(p.n - 1)] > 0.0);
    if (!task.signal || !sums.absorbed.empty()) continue;
    if (keeps || ends) solves.push_back({Solve::Kind::kAbsorbed, task.op});
    if (ends) solves.push_back({Solve::Kind::kLast, task.op});
  }
  std::vector<Solve*> open;
  for (Solve& solve : solves) {
    solve.sum.assign(at(p.n), solve.kind == Solve::Kind::kLast ? -1.0 : 0.0);
    solve.result.assign(at(p.n), 0.0);
    solve.infinite.assign(at(p.n), 0);
    open.push_back(&solve);
  }
  // As many flows at a time as there is memory for; what is solved comes with the first of them.
  const std::string what = started ? "first panel of steps" : "next panel of steps";
  for (std::size_t begin = 0; begin < flows.size() || !open.empty();) {
    const std::size_t end = std::min(flows.size(), begin + at(p.buffers));
    p.sweep({flows.begin() + static_cast<std::ptrdiff_t>(begin),
             flows.begin() + static_cast<std::ptrdiff_t>(end)},
            open, what);
    begin = end;
    // Times beyond any double may be of nodes that are hardly ever visited: then in smaller units.
    std::erase_if(open, [](const Solve* solve) { return !solve->overflow || solve->unit != 1.0; });
    for (Solve* solve : open) {
      solve->unit = 0x1.0p-600;
      solve->overflow = false;
      solve->sum.assign(at(p.n), 0.0);
      solve->infinite.assign(at(p.n), 0);
    }
  }
  for (Solve& solve : solves) {
    Operator& of = p.ops[at(solve.op)];
    if (solve.kind == Solve::Kind::kHitting)
      of.hitting = std::move(solve.result);
    else if (solve.kind == Solve::Kind::kAbsorbed)
      of.sums.absorbed = std::move(solve.result);
    else
      of.sums.last_arrival = std::move(solve.result);
  }
}

SignalPanel StreamedOperators::signal(int op) const {
  const Flow& flow = *parts_->find(Kind::kSignal, op);
  return {flow.peak.data(), flow.place.data(), flow.after.data()};
}

namespace {

SurvivalPanel panel_of(const Flow& flow) {
  return {flow.sum.data(), flow.previous.data(), flow.now.data(), flow.worst.data()};
}

}  // namespace

SurvivalPanel StreamedOperators::survival(int op) const {
  return panel_of(*parts_->find(Kind::kSurvival, op));
}
SurvivalPanel StreamedOperators::published(int op) const {
  return panel_of(*parts_->find(Kind::kPublished, op));
}
const double* StreamedOperators::followed(int op, mixing_rules::Followed of) const {
  return parts_->find(of == mixing_rules::kLifted ? Kind::kLifted : Kind::kArrival, op)
      ->worst.data();
}
const double* StreamedOperators::hitting(int op) const {
  return parts_->ops[at(op)].hitting.data();
}

void StreamedOperators::restart() {
  parts_->flows.clear();
}

void StreamedOperators::restart_signal(int op) {
  Flow& flow = parts_->flow(Kind::kSignal, op);
  std::fill(flow.now.begin(), flow.now.end(), 0.0);
  flow.now.back() = 1.0;
  flow.begun = false;
  flow.flushed = false;
  flow.states = nullptr;
}

void StreamedOperators::restart_with_tiny(int op) {
  restart_signal(op);
  parts_->flow(Kind::kSignal, op).flush = false;
}

bool StreamedOperators::flushed(int op) const {
  const Flow* flow = parts_->find(Kind::kSignal, op);
  return flow != nullptr && flow->flushed;
}

bool StreamedOperators::keeps_states(int op) const {
  const Flow* flow = parts_->find(Kind::kSignal, op);
  return flow != nullptr && flow->states != nullptr;
}

double StreamedOperators::signal_at(int op, int j, int k) const {
  const Flow& flow = *parts_->find(Kind::kSignal, op);
  if (k == kSteps) return flow.now[at(j)];
  return flow.states[static_cast<std::ptrdiff_t>(j) * kSteps + k];
}

std::vector<std::vector<double>> StreamedOperators::passing(std::span<const PassingTask> tasks) {
  Parts& p = *parts_;
  std::vector<std::vector<double>> found(tasks.size());
  int least = p.n;
  bool combined = false;
  std::vector<bool> needed(at(p.operators()), false);
  for (std::size_t k = 0; k < tasks.size(); ++k) {
    found[k].assign(at(p.n), 0.0);
    found[k][at(tasks[k].target)] = 1.0;
    least = std::min(least, tasks[k].target);
    needed[at(tasks[k].op)] = true;
    combined = combined || (p.heads > 1 && tasks[k].op == p.combined());
  }
  const auto add = [&](int op, ConstMatrixView rows, int b) {
    p.parallel(tasks.size(), [&](std::size_t k, int) {
      if (tasks[k].op != op) return;
      for (int i = std::max(p.begin(b), tasks[k].target + 1); i < p.end(b); ++i)
        found[k][at(i)] =
            passing_of_row(rows.row(i - p.begin(b)), i, tasks[k].target, found[k].data());
    });
  };
  for (int b = least / p.rows_of_block; b < p.blocks(); ++b) {
    p.tell("certificates", b);
    if (combined) p.begin_combination(b);
    for (int h = 0; h < p.heads; ++h) {
      if (!needed[at(h)] && !combined) continue;
      p.read_block(h, b, false);
      if (needed[at(h)]) add(h, p.block, b);
      if (combined) p.add_to_combination(h, b, true, false);
    }
    if (!combined) continue;
    p.finish_combination(b);
    add(p.combined(), p.mixed, b);
  }
  ++p.work.passes;
  return found;
}

}  // namespace synergraph
