#include "synergraph/analysis/design_state.h"

#include <bit>
#include <cmath>
#include <utility>

#include "synergraph/core/error.h"

namespace synergraph {
namespace {

[[noreturn]] void damaged() {
  throw InputError("it is damaged");
}

void put(std::string& bytes, std::uint64_t value, int count) {
  for (int k = 0; k < count; ++k) bytes.push_back(static_cast<char>((value >> (8 * k)) & 0xffU));
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  std::uint64_t take(int count) {
    if (bytes_.size() < static_cast<std::size_t>(count)) damaged();
    std::uint64_t value = 0;
    for (int k = 0; k < count; ++k)
      value |= static_cast<std::uint64_t>(
                   static_cast<unsigned char>(bytes_[static_cast<std::size_t>(k)]))
               << (8 * k);
    bytes_.remove_prefix(static_cast<std::size_t>(count));
    return value;
  }
  bool done() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

void put_edges(std::string& bytes, const DesignEdges& edges) {
  for (int h = 0; h < edges.heads(); ++h)
    for (int j = 0; j < edges.nodes(); ++j) {
      put(bytes, edges.receivers(h, j).size(), 2);
      for (const std::int32_t i : edges.receivers(h, j))
        put(bytes, static_cast<std::uint64_t>(i), 2);
    }
}

DesignEdges take_edges(Reader& from, int nodes, int heads, std::int64_t most) {
  DesignEdges edges(nodes, heads);
  for (int h = 0; h < heads; ++h)
    for (int j = 0; j < nodes; ++j) {
      const std::uint64_t count = from.take(2);
      int last = j;
      for (std::uint64_t k = 0; k < count; ++k) {
        const auto i = static_cast<int>(from.take(2));
        if (i <= last || i >= nodes || edges.count() >= most) damaged();
        edges.add(h, j, i);
        last = i;
      }
    }
  return edges;
}

}  // namespace

std::string design_state_bytes(const std::vector<ChainState>& chains) {
  std::string bytes;
  for (const ChainState& chain : chains) {
    put(bytes, static_cast<std::uint64_t>(chain.steps), 8);
    put(bytes, static_cast<std::uint64_t>(chain.horizon), 8);
    put(bytes, std::bit_cast<std::uint64_t>(chain.best_fidelity), 8);
    put_edges(bytes, chain.now);
    put_edges(bytes, chain.best);
  }
  return bytes;
}

std::vector<ChainState> parse_design_state(std::string_view bytes, std::size_t chains, int nodes,
                                           int heads, std::int64_t most_edges) {
  Reader from(bytes);
  std::vector<ChainState> states;
  for (std::size_t c = 0; c < chains; ++c) {
    const std::uint64_t steps = from.take(8);
    const std::uint64_t horizon = from.take(8);
    const auto fidelity = std::bit_cast<double>(from.take(8));
    constexpr std::uint64_t kMost = std::uint64_t{1} << 50U;
    constexpr std::uint64_t kMostHorizon = std::uint64_t{1} << 12U;
    if (steps > kMost || horizon > kMostHorizon || horizon % 16 != 0 || !(fidelity <= 1.0) ||
        !(fidelity >= -1.0))
      damaged();
    ChainState state(take_edges(from, nodes, heads, most_edges));
    state.best = take_edges(from, nodes, heads, most_edges);
    state.steps = static_cast<std::int64_t>(steps);
    state.horizon = static_cast<std::int64_t>(horizon);
    state.best_fidelity = fidelity;
    if (!states.empty() && state.steps != states.front().steps) damaged();
    states.push_back(std::move(state));
  }
  if (!from.done()) damaged();
  return states;
}

}  // namespace synergraph
