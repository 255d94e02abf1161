#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "synergraph/core/kernels/attention_shape.h"
#include "synergraph/core/kernels/gemm_shape.h"
#include "synergraph/core/kernels/panel_product.h"
#include "synergraph/core/kernels/sparse_shape.h"
#include "synergraph/core/matrix.h"

namespace synergraph {

/// Registers of steps in a whole panel of a propagation.
inline constexpr int kPanelRegisters = 5;

/// Squaring takes this many registers of columns in a tile, and rows of the right factor at a time.
inline constexpr int kSquareRegisters = 3;
inline constexpr int kSquareDepth = 256;

/// Added to the mean square under the root of every RMSNorm.
inline constexpr float kNormEpsilon = 0x1.0p-23F;

/// Whether a gradient replaces what is in its buffer or is added to it.
enum class Into { kReplace, kAdd };

/// What the model answered on one sequence.
struct SequenceLoss {
  double loss = 0.0;  ///< sum over positions of -log probability of the target
  int correct = 0;    ///< positions whose largest logit (the first, if several) is the target
};

/// The numbers of one step of Adam that all parameters share.
struct AdamFactors {
  float beta1, beta2, rest1, rest2;  ///< decays, and what they leave of one
  float rate;                        ///< learning rate over the first correction
  float root;                        ///< 1 / sqrt of the second correction
  float epsilon;
};

/// The mask bytes of a step whose blocks share the upper word of their number; see Dropout.
struct MaskBytes {
  std::uint64_t seed;
  std::uint32_t purpose;
  std::uint32_t step;
  std::uint32_t threshold;  ///< halfwords below it drop their element
  std::uint32_t upper;
};

/// The numerical kernels for one instruction set. Each does enough work for the way here not to
/// show; sums are in a fixed order, so that the results of one set are always the same.
struct Kernels {
  const char* isa;  ///< "v3": the name of its namespace
  int doubles;      ///< in a vector register

  // Arrays of doubles.

  /// Sum of an array.
  double (*total)(const double* a, int count);
  /// Inner product of two arrays.
  double (*dot)(const double* a, const double* b, int count);
  /// The largest of `count` numbers, none of them NaN; `least` if none is larger.
  double (*largest)(const double* a, int count, double least);
  /// Are all entries in [low, high]? NaN is not.
  bool (*within)(const double* a, int count, double low, double high);
  /// to += factor * from.
  void (*add_scaled)(const double* from, double factor, int count, double* to);
  /// out(i, j) += inner product of row i of a and row j of b, which have as many columns.
  void (*add_products)(ConstMatrixView a, ConstMatrixView b, MatrixView out);
  /// out[i] = sum over k of |a(i, k)| - |a(i, k) - factors[i] * b[k]|, for all rows of a.
  void (*l1_contributions)(ConstMatrixView a, const double* b, const double* factors, double* out);
  /// sum + rest += weight * from, with both roundings in `rest`.
  void (*add_exactly)(const double* from, double weight, int count, double* sum, double* rest);
  /// sum = (sum + rest) / (divisor + divisor_rest), rounded but once.
  void (*divide_exactly)(double divisor, double divisor_rest, int count, const double* rest,
                         double* sum);

  // Triangular matrices of doubles.

  /// One panel of a propagation: states of `active` nodes, `pitch` doubles apart, in `registers`
  /// vector registers a node; the state after the panel follows kPanelRegisters of them.
  void (*advance)(ConstMatrixView upper, double* states, int pitch, int active, int registers);
  /// The same, x_{t+1}[j] = scale[j] (sum over i > j of upper(j, i) x_t[i]) + stay[j] x_t[j]: the
  /// diagonal of `upper` is not read.
  void (*advance_scaled)(ConstMatrixView upper, const double* scale, const double* stay,
                         double* states, int pitch, int active, int registers);
  /// into[j] = the largest of itself and of the first `count` of the numbers of row j, for `rows`
  /// rows that lie `pitch` doubles apart.
  void (*raise_to_rows)(const double* from, int pitch, int rows, int count, double* into);
  /// The sum of the first `count` of the numbers of every such row.
  double (*total_of_rows)(const double* from, int pitch, int rows, int count);
  /// out = a + weight * b, upper triangles and the rows below them, whole, in matrices that have
  /// any. Strides are whole cache lines; what is left of the diagonal in its cache line becomes
  /// anything.
  void (*add_upper)(ConstMatrixView a, double weight, ConstMatrixView b, MatrixView out);
  /// All rows of upper * upper in the columns of some tiles. `packed` holds a part of them, as many
  /// doubles a column as there are rows, at most kSquareDepth.
  void (*square_strip)(ConstMatrixView upper, MatrixView result, int tile_begin, int tile_end,
                       double* packed);
  /// out[j] = row j of an upper triangular matrix times in, for j in [begin, end).
  void (*multiply_rows)(ConstMatrixView upper, const double* in, double* out, int begin, int end);
  /// The same for all rows of a packed matrix: its n rows follow each other from their diagonals
  /// on.
  void (*multiply_packed)(const double* entries, int n, const double* in, double* out);
  /// x[j] = (right[j] + sum over i > j of upper(j, i) x[i]) / pivot[j], j from end - 1 down to
  /// `begin`; later entries of x are given. `right` may be null: all ones.
  void (*back_substitute)(ConstMatrixView upper, const double* right, const double* pivot,
                          int begin, int end, double* x);
  /// x[j] = factor[j] (x[j] + sum over i in (j, end) of upper(j, i) x[i]), j from end - 1 down to
  /// `begin`: the same for many rows at a time.
  void (*solve_upper)(ConstMatrixView upper, const double* factor, int begin, int end, double* x);
  /// x[i] = factor[i] (sum over k in [begin, i) of upper(k, i) x[k]) for i from begin + 1 on;
  /// x[begin] is given.
  void (*forward_substitute)(ConstMatrixView upper, const double* factor, int begin, double* x);
  /// to(j, i) = from(i, j) for the lower triangle of `from` and j in [begin, end), which are
  /// multiples of 4 or the number of rows.
  void (*transpose_lower)(ConstMatrixView from, MatrixView to, int begin, int end);

  // Walks: row j of a step matrix lies from its diagonal on; what is before that is left alone.

  /// Row j of `step` becomes the probabilities in proportion to row j of `weights`, and leave[j]
  /// what they sum to beyond the diagonal, for j in [begin, end). A row with nothing there stays,
  /// exactly. A row whose sum is not in_safe_range() is left alone, its leave negative: are there
  /// any? `weights` may be `step`.
  bool (*normalise_rows)(ConstMatrixView weights, MatrixView step, double* leave, int begin,
                         int end);
  /// The same for the published rule: weights count up to a sum of `whole`, and what a row lacks of
  /// it is added to its last entry. Rows then sum to `whole`.
  void (*cut_rows)(ConstMatrixView weights, double whole, MatrixView step, double* leave);
  /// Makes rows [begin, end) of a squared walk exact where the product is not: the chance to stay
  /// from its complement, the forward entries to sum to it. `leave` is the walk's before squaring.
  void (*finish_squared_rows)(ConstMatrixView before, const double* leave, MatrixView squared,
                              double* squared_leave, int begin, int end);

  // Sparse matrices of doubles.

  /// kSparseSteps steps of nodes [begin, end), from the last to the first. The nodes from `end` on
  /// are finished for these steps.
  void (*advance_sparse)(const SparsePanel& panel, int begin, int end,
                         const SparseReadings& readings);
  /// The states of one node from those of later nodes. Returns the largest.
  double (*advance_node)(const NodeSteps& node);

  // Panels: rows of numbers, many time steps (or features) of one node side by side.

  /// Adds products of a matrix and a panel to another panel; see PanelProduct.
  void (*add_panel_products)(const PanelProduct& product);
  /// row[k] = exp(row[k] - shift) for entries that are at most `shift`; returns the sum.
  double (*exponentials)(double* row, int count, double shift);

  // Matrices of floats, and one sequence on its way through the model. Activations are (features x
  // stride); see SequenceShape. A null mask means no dropout.

  /// Its rounding depends on the shapes alone.
  void (*multiply)(const Gemm& gemm);
  /// target (cols x rows) = transpose of source (rows x cols).
  void (*transpose)(int rows, int cols, const float* source, std::ptrdiff_t source_stride,
                    float* target, std::ptrdiff_t target_stride);
  /// x[c][p] = tokens_embedding[token p][c] + position_embedding[p][c]; zero in the padding.
  /// Embeddings lie `row` floats apart. scratch: (length x width).
  void (*embed)(const SequenceShape& shape, const std::int32_t* tokens,
                const float* token_embedding, const float* position_embedding, std::ptrdiff_t row,
                float* scratch, float* x);
  /// r[p] = 1 / sqrt(mean of squares of position p + epsilon).
  void (*inverse_rms)(const SequenceShape& shape, const float* x, float* r);
  /// y[c][p] = gain[c] x[c][p] r[p], with the r of inverse_rms.
  void (*rms_norm)(const SequenceShape& shape, const float* x, const float* gain, float* r,
                   float* y);
  /// y[c][p] = x[c][p] r[p] + bias[c], for `rows` rows, and no less than `least`. y may be x.
  void (*scale_positions)(const SequenceShape& shape, int rows, const float* x, const float* r,
                          const float* bias, float least, float* y);
  /// sum = x + y, entry by entry, with dropout on y.
  void (*add_residual)(const SequenceShape& shape, const float* x, const float* y,
                       const std::uint8_t* mask, float scale, float* sum);
  /// Cross-entropy of logits (vocabulary x stride) against targets; positions with a negative
  /// target do not count. The logits become the gradient, (softmax - one-hot) * gradient_scale,
  /// zero in the padding and where a position does not count; gradient_scale 0 leaves them as they
  /// are.
  SequenceLoss (*cross_entropy)(const SequenceShape& shape, int vocabulary,
                                const std::int32_t* targets, float gradient_scale, float* logits);
  /// softmax(Q K^T / sqrt(d)) with causal mask and dropout, times V, for all heads.
  void (*attention_forward)(const AttentionShape& shape, const AttentionBuffers& buffers);
  /// The attention matrices (H, n, n) of one sequence, rows are queries, zero above the diagonal.
  void (*unpack_attention)(const AttentionShape& shape, const float* weights,
                           const float* inverse_sums, float* matrices);
  /// Bytes of a dropout mask from the blocks whose lower words start at `lower`, a multiple of 8.
  /// Writes up to the next multiple of 8 bytes.
  void (*dropout_mask)(const MaskBytes& mask, std::uint32_t lower, std::size_t count,
                       std::uint8_t* bytes);

  // The way back.

  /// dqkv (3E x stride) from dattended (E x stride) and what the forward pass left in `forward`.
  /// Both gradients are zero in the padding.
  void (*attention_backward)(const AttentionShape& shape, const AttentionWorkspace& work,
                             const AttentionBuffers& forward, const float* dattended, float* dqkv);
  /// Gradients of rms_norm: dx += the gradient through y, dgain gets sum_p dy[c][p] x[c][p] r[p].
  void (*rms_norm_backward)(const SequenceShape& shape, const float* x, const float* gain,
                            const float* inverse_rms, const float* dy, float* dx, float* dgain,
                            Into into);
  /// dbias[r] gets the sum of row r of dy (rows x stride), whose padding is zero.
  void (*bias_backward)(int rows, const SequenceShape& shape, const float* dy, float* dbias,
                        Into into);
  /// dh (rows x stride) becomes 0 where the hidden unit was not active; then dbias gets its sums.
  void (*relu_backward)(int rows, const SequenceShape& shape, const float* hidden, float* dh,
                        float* dbias, Into into);
  /// dy = dx * scale where kept, 0 where dropped; dbias gets its sums.
  void (*dropout_backward)(const SequenceShape& shape, const float* dx, const std::uint8_t* mask,
                           float scale, float* dy, float* dbias, Into into);
  /// Adds dx to the embeddings' gradients, which lie `row` floats apart; positions according to
  /// `into`. scratch: (length x width).
  void (*embed_backward)(const SequenceShape& shape, const std::int32_t* tokens, const float* dx,
                         float* scratch, float* dtoken, float* dposition, std::ptrdiff_t row,
                         Into into);
  /// Gradients of y = r u + bias, `rows` rows, r = inverse_rms(x) and u linear in x: dx gets what
  /// goes through r, and dy becomes the gradient of u.
  void (*scale_positions_backward)(const SequenceShape& shape, int rows, const float* x,
                                   const float* r, const float* y, const float* bias, float* dy,
                                   float* dx);
  /// Gradients of W diag(gain) (rows x cols) from `dscaled`, whose rows lie `row` floats apart.
  void (*scaled_weight_backward)(int rows, int cols, const float* weight, const float* gain,
                                 const float* dscaled, std::ptrdiff_t row, float* dweight,
                                 float* dgain);
  /// to += from.
  void (*add)(const float* from, std::size_t count, float* to);
  /// One step of Adam.
  void (*adam)(const AdamFactors& factors, std::size_t count, const float* gradient,
               float* parameters, float* first_moment, float* second_moment);
};

/// Every kernel of the table, in its order.
// clang-format off
#define SYNERGRAPH_METRIC_KERNELS(X) \
  X(total) X(dot) X(largest) X(within) X(add_scaled) X(add_products) X(l1_contributions) \
  X(add_exactly) X(divide_exactly) \
  X(advance) X(advance_scaled) X(raise_to_rows) X(total_of_rows) X(add_upper) X(square_strip) \
  X(multiply_rows) X(multiply_packed) X(back_substitute) X(solve_upper) X(forward_substitute) \
  X(transpose_lower) X(normalise_rows) X(cut_rows) X(finish_squared_rows)
#define SYNERGRAPH_MODEL_KERNELS(X) \
  X(multiply) X(transpose) X(embed) X(inverse_rms) X(rms_norm) X(scale_positions) X(add_residual) \
  X(cross_entropy) X(attention_forward) X(unpack_attention) X(dropout_mask) \
  X(attention_backward) X(rms_norm_backward) X(bias_backward) X(relu_backward) \
  X(dropout_backward) X(embed_backward) X(scale_positions_backward) X(scaled_weight_backward) \
  X(add) X(adam)
#define SYNERGRAPH_SPARSE_KERNELS(X) X(advance_sparse) X(advance_node)
#define SYNERGRAPH_GRADIENT_KERNELS(X) X(add_panel_products) X(exponentials)
#define SYNERGRAPH_KERNELS(X)                                                                      \
  SYNERGRAPH_METRIC_KERNELS(X) SYNERGRAPH_SPARSE_KERNELS(X) SYNERGRAPH_GRADIENT_KERNELS(X)         \
  SYNERGRAPH_MODEL_KERNELS(X)
// clang-format on

/// null until somebody asks. Other components ask, too.
[[gnu::visibility("default")]] extern std::atomic<const Kernels*> chosen_kernels;
[[gnu::visibility("default")]] const Kernels& choose_kernels();

/// The kernels for this CPU, or those that the environment's SYNERGRAPH_ISA asks for: UsageError if
/// there are none. Chosen once.
inline const Kernels& kernels() {
  const Kernels* chosen = chosen_kernels.load(std::memory_order_acquire);
  return chosen != nullptr ? *chosen : choose_kernels();
}

/// The kernels of every instruction set this CPU has, the best one last.
std::span<const Kernels* const> supported_kernels();

}  // namespace synergraph
