#pragma once

#include <cstddef>
#include <cstdint>

#include "synergraph/device/cuda/host_device.h"

namespace synergraph::cuda {

// The kernels' sizes. Features, hidden units and vocabulary are padded up to these with zeros, and
// so are the features of a head up to a slot: what is padded stays zero in training. Positions are
// padded, too: no other sees them, and their gradients are zero.
constexpr int kWidth = 64;                  ///< E
constexpr int kHidden = 128;                ///< F
constexpr int kTiles = 13;                  ///< tiles of eight positions
constexpr int kPositions = 8 * kTiles;      ///< n
constexpr int kUnit = kPositions * kWidth;  ///< floats of 64 features of a sequence
constexpr int kPanelWidth = 32;             ///< features of a panel of a unit
constexpr int kPanel = kPositions * kPanelWidth;
constexpr int kChunk = 64;                       ///< tokens of the vocabulary at a time
constexpr int kBlocks = (kPositions + 15) / 16;  ///< blocks of sixteen queries or keys
constexpr int kParts = 2;                        ///< that warps take the positions in
constexpr int kPartTiles = kTiles / kParts + 1;  ///< of the first part; the others have one less
static_assert(kTiles % kParts == 1);
constexpr int kSharedBytes = 112 << 10;  ///< of shared memory that a sequence may need
constexpr int kMaskTiles = kTiles * (kTiles + 1) / 2;  ///< tiles of 8 x 8 attention weights

/// Features of the slot that a head lies in, for heads of at most kWidth features.
constexpr int head_slot(int head_width) {
  int slot = 4;
  while (slot < head_width) slot *= 2;
  return slot;
}

/// Where the tensors of a model lie on the device. Head h has the features of slot h. A matrix
/// (rows x cols) is cut into tiles of 16 x 8, a row of tiles after another, each in the order in
/// which the 32 threads of a warp hold the first operand of a tensor core's product: thread 4g+t
/// has entries (g, t), (g+8, t), (g, t+4) and (g+8, t+4).
struct Layout {
  static constexpr int kQkv = 0;
  static constexpr int kProjection = kQkv + 3 * kWidth * kWidth;
  static constexpr int kMlpIn = kProjection + kWidth * kWidth;
  static constexpr int kMlpOut = kMlpIn + kHidden * kWidth;
  static constexpr int kQkvBias = kMlpOut + kWidth * kHidden;  ///< the matrices of a layer end here
  static constexpr int kProjectionBias = kQkvBias + 3 * kWidth;
  static constexpr int kMlpInBias = kProjectionBias + kWidth;
  static constexpr int kMlpOutBias = kMlpInBias + kHidden;
  static constexpr int kNorm1 = kMlpOutBias + kWidth;
  static constexpr int kNorm2 = kNorm1 + kWidth;
  static constexpr int kLayer = kNorm2 + kWidth;  ///< floats of a layer

  int layers = 0;
  int length = 0;
  int vocabulary = 0;
  int width = kWidth;
  int heads = 1;

  SYNERGRAPH_HD int head_width() const { return width / heads; }
  SYNERGRAPH_HD int chunks() const { return (vocabulary + kChunk - 1) / kChunk; }
  SYNERGRAPH_HD int layer(int index) const { return index * kLayer; }
  SYNERGRAPH_HD int output() const { return layers * kLayer; }
  SYNERGRAPH_HD int output_bias() const { return output() + chunks() * kChunk * kWidth; }
  SYNERGRAPH_HD int tokens() const { return output_bias() + chunks() * kChunk; }
  SYNERGRAPH_HD int positions() const { return tokens() + vocabulary * kWidth; }
  SYNERGRAPH_HD int size() const { return positions() + length * kWidth; }

  /// Of the gradient of one sequence: everything before the embeddings, then the gradient of the
  /// sum of its embeddings, (positions x features).
  SYNERGRAPH_HD int embedded() const { return tokens(); }
  SYNERGRAPH_HD int partial_size() const { return tokens() + kUnit; }
};

/// Entry (row, col) of a matrix of `cols` columns, in tiles.
SYNERGRAPH_HD inline int tiled(int row, int col, int cols) {
  const int tile = (row / 16) * (cols / 8) + col / 8;
  const int thread = 4 * (row % 8) + col % 4;
  return 128 * tile + 4 * thread + (row % 16) / 8 + 2 * ((col % 8) / 4);
}

/// What the forward pass of one sequence leaves for the backward pass, in floats.
struct Saved {
  // Of a layer. Units are as in shared memory; fragments as a warp's threads hold them.
  static constexpr int kX = 0;              ///< fragments of what the layer was given
  static constexpr int kX2 = kX + kUnit;    ///< fragments after attention
  static constexpr int kQkv = kX2 + kUnit;  ///< three units
  static constexpr int kAttended = kQkv + 3 * kUnit;
  static constexpr int kHiddenUnits = kAttended + kUnit;  ///< two units
  static constexpr int kInverse1 = kHiddenUnits + 2 * kUnit;
  static constexpr int kInverse2 = kInverse1 + kPositions;
  static constexpr int kLogSums = kInverse2 + kPositions;  ///< (slots x positions), base 2

  int layers = 0;
  int slots = 0;

  SYNERGRAPH_HD int layer_size() const { return kLogSums + slots * kPositions; }
  SYNERGRAPH_HD int dots() const { return layers * layer_size(); }  ///< (slots x positions x 2)
  SYNERGRAPH_HD int dx() const { return dots() + 2 * slots * kPositions; }
  SYNERGRAPH_HD int dquery() const { return dx() + kUnit; }  ///< fragments of blocks of queries
  SYNERGRAPH_HD int size() const { return dquery() + 2 * kBlocks * 16 * kWidth; }
};

/// The dropout masks of one sequence and layer.
struct Masks {
  int slots = 0;
  /// Pairs of words, one a tile of 8 queries x 8 keys; tile (q, k) of a head is at q (q+1)/2 + k.
  /// Bit 4 (query % 8) + key % 8 / 2 of the first word is for even keys, of the second for odd
  /// ones.
  SYNERGRAPH_HD int words() const { return 2 * (slots * kMaskTiles + 16); }
  /// A byte for eight positions of a feature: sixteen bytes a feature, equally many for each part.
  static constexpr int kMlpRow = 16;
  static constexpr int kMlpPart = kMlpRow / kParts;
  static constexpr int kMlpBytes = kWidth * kMlpRow;
  static_assert(kPartTiles <= kMlpPart);
  /// The tile that byte k of a feature is for; kTiles if for none.
  SYNERGRAPH_HD static int mlp_tile(int k) {
    const int part = k / kMlpPart;
    const int inside = k % kMlpPart;
    const int tiles = part == 0 ? kPartTiles : kPartTiles - 1;
    return inside < tiles ? part * (kPartTiles - 1) + (part > 0 ? 1 : 0) + inside : kTiles;
  }
};

}  // namespace synergraph::cuda
