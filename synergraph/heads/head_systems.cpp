#include "synergraph/heads/head_systems.h"

#include <fmt/core.h>

#include <utility>

#include "synergraph/core/error.h"

namespace synergraph {

void HeadSystems::append(System system) {
  const auto count = static_cast<int>(system.heads.size());
  if (count < 1) throw InputError("a system without heads");
  if (!systems_.empty() && count != heads())
    throw InputError(fmt::format("a system of {} heads among systems of {}", count, heads()));
  const int nodes = system.heads.front().nodes();
  for (int h = 0; h < count; ++h) {
    const ConstMatrixView head = system.heads[static_cast<std::size_t>(h)].view();
    if (head.rows != nodes || head.cols != nodes || nodes < 1)
      throw InputError(fmt::format("head {} is a {} x {} matrix, expected {} x {}", h, head.rows,
                                   head.cols, nodes, nodes));
  }
  systems_.push_back(std::move(system));
}

void HeadSystems::add(HeadSource& heads) {
  System system;
  for (int h = 0; h < heads.heads(); ++h) {
    system.heads.push_back(heads.head(h));
    const Walk* walk = heads.own_walk(h);
    system.walks.push_back(walk != nullptr ? std::optional<Walk>(*walk) : std::nullopt);
  }
  if (const RowShares* shares = heads.row_shares()) system.shares = *shares;
  append(std::move(system));
}

void HeadSystems::add(const std::vector<Head>& heads) {
  System system;
  for (const Head& head : heads) {
    if (head.diffusion.rows() != head.diffusion.cols())
      throw InputError(fmt::format("a head is a square matrix, not {} x {}", head.diffusion.rows(),
                                   head.diffusion.cols()));
    system.heads.emplace_back(head.diffusion);
    system.walks.push_back(head.graph_walk);
  }
  append(std::move(system));
}

void HeadSystems::add(HeadSystems&& other) {
  for (System& system : other.systems_) append(std::move(system));
  other.systems_.clear();
}

}  // namespace synergraph
