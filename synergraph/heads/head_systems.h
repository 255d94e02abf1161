#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "synergraph/core/mirrored_matrix.h"
#include "synergraph/heads/measure.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Multi-head systems in memory, each with the same number of heads: samples of one layer.
class HeadSystems {
 public:
  /// Reads every head of a system. InputError unless it has heads, as many as those before, and a
  /// node.
  void add(HeadSource& heads);
  void add(const std::vector<Head>& heads);
  /// Takes the systems of another.
  void add(HeadSystems&& other);

  std::size_t size() const { return systems_.size(); }
  int heads() const { return systems_.empty() ? 0 : static_cast<int>(systems_[0].heads.size()); }
  int nodes(std::size_t system) const { return systems_[system].heads.front().nodes(); }

  const MirroredMatrix& diffusion(std::size_t system, int head) const {
    return systems_[system].heads[static_cast<std::size_t>(head)];
  }
  /// The walk of a head that does not walk by its diffusion's columns, or nothing.
  const Walk* own_walk(std::size_t system, int head) const {
    const auto& walk = systems_[system].walks[static_cast<std::size_t>(head)];
    return walk ? &*walk : nullptr;
  }
  /// What the heads of a system move in each row, or nothing; see HeadSource::row_shares().
  const RowShares* row_shares(std::size_t system) const {
    const auto& shares = systems_[system].shares;
    return shares ? &*shares : nullptr;
  }

 private:
  struct System {
    std::vector<MirroredMatrix> heads;
    std::vector<std::optional<Walk>> walks;
    std::optional<RowShares> shares = {};
  };

  void append(System system);

  std::vector<System> systems_;
};

}  // namespace synergraph
#pragma GCC visibility pop
