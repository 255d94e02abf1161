#include "synergraph/subsets/head_sums.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "synergraph/chain/hitting.h"
#include "synergraph/chain/truncated_mean.h"
#include "synergraph/core/array_math.h"
#include "synergraph/core/convex_sum.h"
#include "synergraph/core/triangular.h"
#include "synergraph/diffusion/fidelity.h"
#include "synergraph/diffusion/quick_minimax.h"

namespace synergraph {
namespace {

// The least share of a row: where heads move nothing, they count equally, whatever subset of them.
constexpr double kLeastShare = 0x1.0p-200;

ConstMatrixView square(const Matrix& matrix) {
  return {matrix.row(0), matrix.cols(), matrix.cols(), matrix.stride()};
}

}  // namespace

HeadSums::HeadSums(HeadSource& heads, std::span<const double> weights, const SubsetOptions& options)
    : options_(options),
      fidelity_(options.convention.fidelity),
      nodes_(heads.nodes()),
      raw_weights_(weights.begin(), weights.end()),
      weights_(normalised_weights(raw_weights_, static_cast<std::size_t>(heads.heads()))) {
  fidelity_.every_node = false;
  fidelity_.minimax_alone = true;
  if (const RowShares* shares = heads.row_shares()) {
    row_weights_ = shares->heads;
    for (int h = 0; h < heads.heads(); ++h)
      for (int i = 0; i < nodes_; ++i)
        row_weights_(h, i) = std::max(row_weights_(h, i), kLeastShare);
  }
  for (int h = 0; h < heads.heads(); ++h) {
    const MirroredMatrix& head = heads.head(h);
    if (options_.fidelity || !per_head()) attention_.push_back(rows_of(head, h));
    if (options_.speed && per_head())
      walks_.push_back(rows_of(head_walk(head, Normalization::kPerHead, heads.own_walk(h)), h));
  }
}

Matrix HeadSums::rows_of(const MirroredMatrix& attention, int head) const {
  Matrix rows(nodes_ + kVectors, nodes_);
  const ConstMatrixView from = attention.view();
  if (by_row()) {
    const double* weights = row_weights_.row(head);
    for (int i = 0; i < nodes_; ++i)
      for (int j = 0; j <= i; ++j) rows(j, i) = rows(i, j) = weights[i] * from(i, j);
    std::copy_n(weights, nodes_, rows.row(nodes_ + kMass));
    return rows;
  }
  for (int j = 0; j < nodes_; ++j) {
    std::copy_n(from.row(j), nodes_, rows.row(j));
    const double forward = total(from.row(j) + j + 1, nodes_ - j - 1);
    rows(nodes_ + kMass, j) = from(j, j) + forward;
    rows(nodes_ + kForward, j) = forward;
    rows(nodes_ + kDown, j) = total(from.row(j), j);
  }
  return rows;
}

Matrix HeadSums::rows_of(const Walk& walk, int head) const {
  Matrix rows(nodes_ + kDown, nodes_);
  for (int j = 0; j < nodes_; ++j) {
    const double weight = by_row() ? row_weights_(head, j) : 1.0;
    std::transform(walk.step.row(j) + j, walk.step.row(j) + nodes_, rows.row(j) + j,
                   [&](double step) { return weight * step; });
    rows(nodes_ + kMass, j) = weight;
    rows(nodes_ + kForward, j) = weight * walk.leave[static_cast<std::size_t>(j)];
  }
  return rows;
}

/// The attention of a sum with each row divided by its weight. (Walks carry their mass along.)
HeadSum HeadSums::normalised(const HeadSum& sum) const {
  HeadSum result{Matrix::uninitialised(nodes_ + kVectors, nodes_), {}, 1.0};
  Matrix& rows = result.attention;
  std::vector<double> factors(static_cast<std::size_t>(nodes_));
  for (int i = 0; i < nodes_; ++i)
    factors[static_cast<std::size_t>(i)] = 1.0 / vector_of(sum.attention, kMass)[i];
  std::fill_n(rows.row(nodes_ + kDown), nodes_, 0.0);
  for (int j = 0; j < nodes_; ++j) {
    std::transform(sum.attention.row(j) + j, sum.attention.row(j) + nodes_, factors.data() + j,
                   rows.row(j) + j, std::multiplies<>());
    const int count = nodes_ - j - 1;
    const double forward = total(rows.row(j) + j + 1, count);
    rows(nodes_ + kMass, j) = rows(j, j) + forward;
    rows(nodes_ + kForward, j) = forward;
    add_scaled(rows.row(j) + j + 1, 1.0, count, rows.row(nodes_ + kDown) + j + 1);
  }
  return result;
}

std::size_t HeadSums::sum_bytes() const {
  const auto bytes = [](const std::vector<Matrix>& matrices) {
    return matrices.empty() ? 0
                            : sizeof(double) * static_cast<std::size_t>(matrices.front().rows()) *
                                  static_cast<std::size_t>(matrices.front().stride());
  };
  return bytes(attention_) + bytes(walks_);
}

HeadSum HeadSums::empty() const {
  const auto zero = [](const std::vector<Matrix>& matrices) {
    return matrices.empty() ? Matrix() : Matrix(matrices.front().rows(), matrices.front().cols());
  };
  return {zero(attention_), zero(walks_), 0.0};
}

void HeadSums::add(const HeadSum& from, int head, HeadSum& to) const {
  const auto at = static_cast<std::size_t>(head);
  if (!attention_.empty()) add_upper(from.attention, weights_[at], attention_[at], to.attention);
  if (!walks_.empty()) add_upper(from.walk, weights_[at], walks_[at], to.walk);
  to.weight = from.weight + weights_[at];
}

std::optional<double> HeadSums::quick_mean(const HeadSum& sum) const {
  const Matrix& rows = per_head() ? sum.walk : sum.attention;
  const std::int64_t cutoff = options_.convention.walk.cutoff;
  if (!published())
    return truncated_mean({square(rows), vector_of(rows, kMass), vector_of(rows, kForward)},
                          cutoff);
  Walk walk{Matrix::uninitialised(nodes_, nodes_),
            std::vector<double>(static_cast<std::size_t>(nodes_))};
  cut_walk(square(rows), vector_of(rows, kDown), sum.weight, walk);
  const std::vector<double> mass(walk.leave.size(), sum.weight);
  return truncated_mean({walk.step, mass.data(), walk.leave.data()}, cutoff);
}

/// The attention of heads together, as combine_diffusion() has it.
MirroredMatrix HeadSums::mean_attention(std::span<const int> heads,
                                        const std::vector<double>& weights) const {
  Matrix mean = convex_sum_of_lower(nodes_, weights, [&](int k) {
    const int head = heads[static_cast<std::size_t>(k)];
    return square(attention_[static_cast<std::size_t>(head)]);
  });
  for (int i = 0; by_row() && i < nodes_; ++i) {
    const double mass = total(mean.row(i), i + 1);
    for (int j = 0; j <= i; ++j) mean(i, j) /= mass;
  }
  return MirroredMatrix(std::move(mean));
}

Walk HeadSums::mean_walk(std::span<const int> heads, const std::vector<double>& weights) const {
  WalkSum sum(nodes_);
  for (std::size_t k = 0; k < heads.size(); ++k) {
    const Matrix& rows = walks_[static_cast<std::size_t>(heads[k])];
    sum.add(square(rows), vector_of(rows, kForward), weights[k]);
  }
  Walk walk = sum.take();
  for (int j = 0; by_row() && j < nodes_; ++j) {
    double mass = 0.0;
    for (std::size_t k = 0; k < heads.size(); ++k)
      mass += weights[k] * vector_of(walks_[static_cast<std::size_t>(heads[k])], kMass)[j];
    for (int i = j; i < nodes_; ++i) walk.step(j, i) /= mass;
    walk.leave[static_cast<std::size_t>(j)] /= mass;
  }
  return walk;
}

/// What is missing of a value, by the functions for one system: from the heads themselves, each
/// entry of their mean being rounded once.
void HeadSums::measure_missing(std::span<const int> heads, const Execution& execution,
                               std::optional<FidelityRange>& fidelity,
                               std::optional<double>& mean) const {
  std::vector<double> weights;
  for (const int h : heads) weights.push_back(raw_weights_[static_cast<std::size_t>(h)]);
  if (std::all_of(weights.begin(), weights.end(), [](double weight) { return weight == 0.0; }))
    return;
  weights = normalised_weights(weights, heads.size());
  const bool need_fidelity = options_.fidelity && !fidelity;
  const bool need_mean = options_.speed && !mean;
  MirroredMatrix attention;
  if (need_fidelity || (need_mean && !per_head())) attention = mean_attention(heads, weights);
  if (need_fidelity) {
    const Fidelity measured = fidelities(attention, {fidelity_}, execution).front();
    fidelity = {measured.minimax, measured.minimax_upper};
  }
  if (!need_mean) return;
  const Walk walk = per_head() ? mean_walk(heads, weights)
                               : head_walk(attention, options_.convention.normalization);
  mean = truncated_hitting_times(walk, options_.convention.walk.cutoff).mean;
}

SubsetValue HeadSums::value(const HeadSum& given, std::span<const int> heads,
                            const Execution& execution) const {
  const bool normalise = by_row() && !attention_.empty() && given.weight >= kLeastSumWeight;
  HeadSum by_mass;
  if (normalise) by_mass = normalised(given);
  const HeadSum& sum = normalise ? by_mass : given;
  std::optional<FidelityRange> fidelity;
  std::optional<double> mean;  // of the truncated hitting time
  if (sum.weight >= kLeastSumWeight) {
    if (options_.fidelity)
      if (const auto minimax = quick_minimax(
              {square(sum.attention), vector_of(sum.attention, kDown), sum.weight}, fidelity_))
        fidelity = {*minimax, *minimax};
    if (options_.speed) mean = quick_mean(per_head() ? given : sum);
  }
  if (fidelity.has_value() != options_.fidelity || mean.has_value() != options_.speed)
    measure_missing(heads, execution, fidelity, mean);
  SubsetValue value;
  if (fidelity) {
    value.fidelity = fidelity->lower;
    value.fidelity_upper = fidelity->upper;
  }
  if (mean) value.speed = 1.0 - *mean / static_cast<double>(options_.convention.walk.cutoff);
  return value;
}

}  // namespace synergraph
