#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "capi/attention.h"
#include "capi/options.h"
#include "synergraph/heads/head_systems.h"
#include "synergraph/heads/measure.h"
#include "synergraph/heads/synergy.h"

namespace synergraph::door {

/// One layer on one sample, or a graph.
struct Place {
  sg_attention* attention;
  std::int64_t layer, sample;

  /// A graph's heads walk along their own edges.
  bool of_graph() const { return !attention->head_names.empty(); }
};

/// How a system is measured and what it is called: "head_names", "node_names" and "weights" beside
/// the options of sg_measure().
struct Request {
  Request(const Place& place, capi::Options& options);

  MetricsOptions convention;
  std::vector<std::string> head_names, node_names;
  std::vector<double> weights;  ///< normalised
};

/// Heads that are in memory.
class HeldHeads : public HeadSource {
 public:
  explicit HeldHeads(const HeadSystems& systems) : systems_(systems) {}
  int heads() const override { return systems_.heads(); }
  int nodes() const override { return systems_.nodes(0); }
  const MirroredMatrix& head(int h) override { return systems_.diffusion(0, h); }
  const Walk* own_walk(int h) override { return systems_.own_walk(0, h); }

 private:
  const HeadSystems& systems_;
};

/// A head, or all together.
struct Series {
  std::string name;
  const MirroredMatrix& diffusion;
  const Walk& walk;  ///< by the request's normalisation
};

/// Visits every head and, of several, all together.
void visit_series(HeadSource& heads, const Request& request,
                  const std::function<void(const Series& series)>& visitor);

/// Numbers for JavaScript, which frees them.
struct Numbers {
  double* data;
  std::size_t count;
};
Numbers* copied_numbers(const std::vector<double>& numbers);

}  // namespace synergraph::door
