#include "synergraph/core/triangular.h"

#include <algorithm>

#include "synergraph/core/kernels/kernels.h"
#include "synergraph/core/parallel.h"

namespace synergraph {
namespace {

// One task: a strip of columns. Its right factor is packed depth by depth, so that it stays in L2.
constexpr int kStripTiles = 8;
// Below this size threads cost more than they bring.
constexpr int kParallelSize = 256;

}  // namespace

void square_upper(ConstMatrixView upper, MatrixView result, const Execution& execution) {
  const int width = kSquareRegisters * kernels().doubles;
  const int tiles = (upper.rows + width - 1) / width;
  const int strips = (tiles + kStripTiles - 1) / kStripTiles;
  const int threads = upper.rows < kParallelSize ? 1 : execution.thread_count();
  std::vector<ScratchVector<double>> packed(static_cast<std::size_t>(threads));
  // The longest strips, on the right, go first: the others then fill the gaps.
  parallel_for(static_cast<std::size_t>(strips), threads, [&](std::size_t index, int worker) {
    execution.check();
    const int begin = (strips - 1 - static_cast<int>(index)) * kStripTiles;
    const int end = std::min(tiles, begin + kStripTiles);
    ScratchVector<double>& part = packed[static_cast<std::size_t>(worker)];
    const int depth = std::min({kSquareDepth, upper.rows, end * width});
    part.resize(static_cast<std::size_t>(depth) * static_cast<std::size_t>(width * (end - begin)));
    kernels().square_strip(upper, result, begin, end, part.data());
  });
}

void multiply_upper(ConstMatrixView upper, const double* in, double* out, int threads) {
  const int n = upper.rows;
  constexpr int kRowsPerTask = 64;
  const auto tasks = static_cast<std::size_t>((n + kRowsPerTask - 1) / kRowsPerTask);
  parallel_for(tasks, n < 1024 ? 1 : threads, [&](std::size_t task, int) {
    const int begin = static_cast<int>(task) * kRowsPerTask;
    kernels().multiply_rows(upper, in, out, begin, std::min(n, begin + kRowsPerTask));
  });
}

void add_upper(const Matrix& a, double weight, const Matrix& b, Matrix& out) {
  kernels().add_upper(a, weight, b, out.view());
}

void forward_substitute(ConstMatrixView upper, const double* factor, int begin, double* x) {
  kernels().forward_substitute(upper, factor, begin, x);
}

void transpose_lower(ConstMatrixView from, MatrixView to,
                     const std::function<void(int begin, int end)>& done) {
  const int n = from.rows;
  // Of a large matrix, the rows that are written at a time are few enough to stay in the cache.
  const int block = n > 256 ? 32 : n;
  for (int begin = 0; begin < n; begin += block) {
    const int end = std::min(n, begin + block);
    kernels().transpose_lower(from, to, begin, end);
    if (done) done(begin, end);
  }
}

}  // namespace synergraph
