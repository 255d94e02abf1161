#include "synergraph/heads/moved_heads.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "synergraph/core/array_math.h"
#include "synergraph/core/error.h"

namespace synergraph {
namespace {

void check_finite(const Matrix& matrix, const std::string& what, const char* row, bool positive) {
  for (int i = 0; i < matrix.rows(); ++i)
    for (int j = 0; j < matrix.cols(); ++j)
      if (const double value = matrix(i, j); !std::isfinite(value) || (positive && value < 0.0))
        throw InputError(fmt::format("{}: {} {} contains {}; expected finite {}", what, row, i,
                                     value, positive ? "norms" : "numbers"));
}

/// Rows begin to end - 1.
ConstMatrixView rows_of(ConstMatrixView matrix, int begin, int end) {
  return {matrix.row(begin), end - begin, matrix.cols, matrix.stride};
}

/// Columns begin to end - 1.
ConstMatrixView columns_of(ConstMatrixView matrix, int begin, int end) {
  return {matrix.data + begin, matrix.rows, end - begin, matrix.stride};
}

/// ||v||_1.
double l1_length(const double* vector, int count) {
  double result = 0.0;
  for (int k = 0; k < count; ++k) result += std::abs(vector[k]);
  return result;
}

/// ||v||_2, which neither overflows nor vanishes on the way.
double length(const double* vector, int count) {
  double most = 0.0;
  for (int k = 0; k < count; ++k) most = std::max(most, std::abs(vector[k]));
  if (!(most > 0.0) || !std::isfinite(most)) return most;
  const int shift = -std::ilogb(most);
  double squares = 0.0;
  for (int k = 0; k < count; ++k) {
    const double entry = std::ldexp(vector[k], shift);
    squares += entry * entry;
  }
  return std::ldexp(std::sqrt(squares), -shift);
}

/// Refuses numbers W_O^h v_j^h that are not finite.
void check_projected(double number, int head, int token) {
  if (!std::isfinite(number))
    throw InputError(fmt::format(
        "values of head {}, token {}: the output projection makes them too large", head, token));
}

/// Divides row i by its sum, or makes it the identity's; returns the sum.
double normalise(double* row, int i) {
  const double sum = total(row, i + 1);
  if (sum > 0.0)
    for (int j = 0; j <= i; ++j) row[j] /= sum;
  else
    std::fill_n(row, i + 1, 0.0);
  if (!(sum > 0.0)) row[i] = 1.0;
  return sum;
}

}  // namespace

MovedHeads::MovedHeads(HeadSource& attention, bool contribution, MovedValues moved, int extra,
                       const WorkingMemory& memory, double most)
    : attention_(attention),
      contribution_(contribution),
      moved_(std::move(moved)),
      extra_(extra),
      cache_(attention.heads(), attention.nodes() - extra, memory, most),
      totals_(attention.heads(), attention.nodes() - extra),
      exponents_(static_cast<std::size_t>(attention.heads()), 0) {
  check_values();
  if (contribution_)
    find_outputs();
  else
    find_norms();
  cache_.start([this](int h, Matrix& into) { read(h, into); });
  for (int h = 0; h < heads(); ++h) cache_.head(h);  // all totals, also where heads are not kept
  set_shares();
}

void MovedHeads::check_values() const {
  const bool norms = !contribution_ && moved_.norms.rows() > 0;
  if (moved_.residual.rows() > 0) {
    if (moved_.residual.rows() != nodes())
      throw InputError(fmt::format("residual: {} tokens, the attention has {}",
                                   moved_.residual.rows(), nodes()));
    check_finite(moved_.residual, "residual", "token", false);
  } else if (contribution_) {
    throw InputError(
        "contribution edges need the residual input, what the heads' outputs are added to");
  }
  if (norms) {
    if (moved_.norms.rows() != heads() || moved_.norms.cols() != nodes())
      throw InputError(fmt::format("norms: {} heads of {} tokens, the attention has {} of {}",
                                   moved_.norms.rows(), moved_.norms.cols(), heads(), nodes()));
    return check_finite(moved_.norms, "norms", "head", true);
  }
  if (moved_.values.empty() || moved_.projection == nullptr)
    throw InputError(
        fmt::format("{} edges need the values of the heads and the output projection{}",
                    contribution_ ? "contribution" : "norm",
                    contribution_ ? "" : ", or the norms of what is moved"));
  const auto key_heads = static_cast<int>(moved_.values.size());
  if (heads() % key_heads != 0)
    throw InputError(fmt::format("values: {} heads; the attention has {}, which must be a multiple",
                                 key_heads, heads()));
  const int width = moved_.values.front().cols();
  for (int k = 0; k < key_heads; ++k) {
    const Matrix& values = moved_.values[static_cast<std::size_t>(k)];
    if (values.rows() != nodes() || values.cols() != width)
      throw InputError(fmt::format("values: {} tokens of {} numbers, expected {} of {}",
                                   values.rows(), values.cols(), nodes(), width));
    check_finite(values, fmt::format("values of head {}", k), "token", false);
  }
  const Matrix& projection = *moved_.projection;
  if (projection.cols() != heads() * width)
    throw InputError(
        fmt::format("output projection: {} columns; {} heads with values of {} numbers need {}",
                    projection.cols(), heads(), width, heads() * width));
  check_finite(projection, "output projection", "row", false);
  if (moved_.residual.rows() > 0 && moved_.residual.cols() != projection.rows())
    throw InputError(fmt::format("residual: {} numbers a token, the output projection gives {}",
                                 moved_.residual.cols(), projection.rows()));
  if (!moved_.bias.empty() && moved_.bias.size() != static_cast<std::size_t>(projection.rows()))
    throw InputError(fmt::format("bias of the output projection: {} numbers, expected {}",
                                 moved_.bias.size(), projection.rows()));
  for (const double entry : moved_.bias)
    if (!std::isfinite(entry))
      throw InputError(fmt::format(
          "bias of the output projection: it contains {}; expected finite numbers", entry));
}

/// W_O^h v_j^h of every token: (nodes, E).
Matrix MovedHeads::projected(int h) const {
  const Matrix& projection = *moved_.projection;
  const int shared = heads() / static_cast<int>(moved_.values.size());
  const Matrix& values = moved_.values[static_cast<std::size_t>(h / shared)];
  const int width = values.cols();
  Matrix result(nodes(), projection.rows());
  add_products(values, columns_of(projection, h * width, (h + 1) * width), result.view());
  return result;
}

void MovedHeads::find_norms() {
  if (moved_.norms.rows() == 0) {
    moved_.norms = Matrix(heads(), nodes());
    for (int h = 0; h < heads(); ++h) {
      const Matrix vectors = projected(h);
      for (int j = 0; j < nodes(); ++j) {
        moved_.norms(h, j) = length(vectors.row(j), vectors.cols());
        check_projected(moved_.norms(h, j), h, j);
      }
    }
  }
  for (int h = 0; h < heads(); ++h) {  // in units of a power of two: no row's total overflows
    double* norms = moved_.norms.row(h);
    const double most = *std::max_element(norms, norms + nodes());
    if (!(most > 0.0)) continue;
    int& exponent = exponents_[static_cast<std::size_t>(h)];
    exponent = std::ilogb(most);
    for (int j = 0; j < nodes(); ++j) norms[j] = std::ldexp(norms[j], -exponent);
  }
}

/// y_i = x_i + sum_h W_O^h sum_j A_h[i][j] v_j^h + bias.
void MovedHeads::find_outputs() {
  const Matrix& projection = *moved_.projection;
  const int width = moved_.values.front().cols();
  const int shared = heads() / static_cast<int>(moved_.values.size());
  outputs_ = moved_.residual;
  for (int h = 0; h < heads(); ++h) {
    const Matrix& values = moved_.values[static_cast<std::size_t>(h / shared)];
    const ConstMatrixView attention = attention_.head(h).view();
    Matrix attended(nodes(), width);
    for (int i = 0; i < nodes(); ++i)
      for (int j = 0; j <= i; ++j)
        add_scaled(values.row(j), attention(i + extra_, j + extra_), width, attended.row(i));
    add_products(attended, columns_of(projection, h * width, (h + 1) * width), outputs_.view());
  }
  for (int i = 0; i < nodes(); ++i) {
    for (std::size_t e = 0; e < moved_.bias.size(); ++e)
      outputs_(i, static_cast<int>(e)) += moved_.bias[e];
    const double* output = outputs_.row(i);
    if (!std::isfinite(l1_length(output, outputs_.cols())))
      throw InputError(fmt::format("the output of token {} is too large for double precision", i));
  }
}

void MovedHeads::read(int h, Matrix& into) {
  const ConstMatrixView attention = attention_.head(h).view();
  if (contribution_)
    read_contributions(h, attention, into);
  else
    read_norms(h, attention, into);
  for (int i = 0; i < nodes(); ++i) totals_(h, i) = normalise(into.row(i), i);
}

void MovedHeads::read_norms(int h, ConstMatrixView attention, Matrix& into) {
  const double* norms = moved_.norms.row(h);
  for (int i = 0; i < nodes(); ++i)
    for (int j = 0; j <= i; ++j) into(i, j) = attention(i + extra_, j + extra_) * norms[j];
}

void MovedHeads::read_contributions(int h, ConstMatrixView attention, Matrix& into) {
  const Matrix vectors = projected(h);
  for (int j = 0; j < nodes(); ++j)
    for (int e = 0; e < vectors.cols(); ++e) check_projected(vectors(j, e), h, j);
  // Tiles of queries and keys whose vectors stay in the second cache.
  constexpr int kQueries = 4;
  constexpr int kKeys = 16;
  for (int first = 0; first < nodes(); first += kKeys)
    for (int top = first; top < nodes(); top += kQueries) {
      const int bottom = std::min(nodes(), top + kQueries);
      const ConstMatrixView outputs = rows_of(outputs_, top, bottom);
      for (int j = first; j < std::min(bottom, first + kKeys); ++j) {
        std::array<double, kQueries> shares{};
        std::array<double, kQueries> contributions{};
        for (int i = std::max(top, j); i < bottom; ++i)
          shares[static_cast<std::size_t>(i - top)] = attention(i + extra_, j + extra_);
        const bool any =
            std::any_of(shares.begin(), shares.end(), [](double x) { return x > 0.0; });
        if (any) l1_contributions(outputs, vectors.row(j), shares.data(), contributions.data());
        for (int i = std::max(top, j); i < bottom; ++i) {
          const auto at = static_cast<std::size_t>(i - top);
          into(i, j) = shares[at] > 0.0 ? std::max(0.0, contributions[at]) : 0.0;
        }
      }
    }
}

MovedHeads::Amount MovedHeads::residual_of(int token) const {
  const double* residual = moved_.residual.row(token);
  const int count = moved_.residual.cols();
  if (!contribution_) return {length(residual, count), 0};
  const double all = 1.0;
  double contribution = 0.0;
  l1_contributions({outputs_.row(token), 1, count, count}, residual, &all, &contribution);
  return {std::max(0.0, contribution), 0};
}

/// Of every row, in units of the largest amount.
void MovedHeads::set_shares() {
  const bool measured = moved_.residual.rows() > 0;
  shares_.heads = Matrix(heads(), nodes());
  if (measured) {
    shares_.residual.resize(static_cast<std::size_t>(nodes()));
    shares_.moved.resize(static_cast<std::size_t>(nodes()));
  }
  for (int i = 0; i < nodes(); ++i) {
    const Amount beside = measured ? residual_of(i) : Amount();
    int unit = std::numeric_limits<int>::min();
    const auto look = [&](const Amount& amount) {
      if (amount.value > 0.0) unit = std::max(unit, std::ilogb(amount.value) + amount.exponent);
    };
    const auto in_units = [&](const Amount& amount) {
      return amount.value > 0.0 ? std::ldexp(amount.value, amount.exponent - unit) : 0.0;
    };
    const auto of_head = [&](int h) {
      return Amount{totals_(h, i), exponents_[static_cast<std::size_t>(h)]};
    };
    double all = 0.0;
    for (int h = 0; h < heads(); ++h) look(of_head(h));
    for (int h = 0; h < heads(); ++h) all += shares_.heads(h, i) = in_units(of_head(h));
    if (all > 0.0)
      for (int h = 0; h < heads(); ++h) shares_.heads(h, i) /= all;
    if (!measured) continue;
    look(beside);
    double moved = 0.0;
    for (int h = 0; h < heads(); ++h) moved += in_units(of_head(h));
    const double stays = in_units(beside);
    const double whole = moved + stays;
    shares_.residual[static_cast<std::size_t>(i)] = whole > 0.0 ? stays / whole : 1.0;
    shares_.moved[static_cast<std::size_t>(i)] = whole > 0.0 ? moved / whole : 0.0;
  }
}

}  // namespace synergraph
