// time_metrics FILE.npy: the mixing-time proxy and the minimax fidelity of one [n, n] attention
// matrix under the published convention, and the median time they take together. For
// compare_numpy.py.

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <vector>

#include "synergraph/chain/hitting.h"
#include "synergraph/diffusion/fidelity.h"
#include "synergraph/io/tensor_file.h"

int main(int argc, char** argv) {
  try {
    if (argc != 2) {
      fmt::print(stderr, "usage: time_metrics FILE.npy\n");
      return 2;
    }
    const auto file = synergraph::TensorFile::open(argv[1]);
    const synergraph::Tensor& tensor = file.tensors().at(0);
    const auto n = static_cast<int>(tensor.shape().at(0));
    const std::vector<double> values = tensor.values<double>();
    synergraph::Matrix attention(n, n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        attention(i, j) = values.at(static_cast<std::size_t>(i) * static_cast<std::size_t>(n) +
                                    static_cast<std::size_t>(j));

    std::vector<double> microseconds;
    double mixing = 0.0;
    double minimax = 0.0;
    for (int round = 0; round < 2000; ++round) {
      const auto start = std::chrono::steady_clock::now();
      const synergraph::Walk walk = synergraph::published_walk(attention);
      mixing = synergraph::truncated_hitting_times(walk, 100).mean;
      minimax = synergraph::fidelity(attention,
                                     {.nodes = synergraph::FidelityNodes::kAll, .horizon = 100})
                    .minimax;
      microseconds.push_back(
          std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
              .count());
    }
    std::nth_element(microseconds.begin(), microseconds.begin() + 1000, microseconds.end());
    fmt::print("{{\"microseconds\": {}, \"mixing\": {}, \"fidelity\": {}}}\n", microseconds[1000],
               mixing, minimax);
  } catch (const std::exception& error) {
    fmt::print(stderr, "time_metrics: {}\n", error.what());
    return 1;
  }
  return 0;
}
