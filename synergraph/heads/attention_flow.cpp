#include "synergraph/heads/attention_flow.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace synergraph {
namespace {

/// Token `token` of level l: what enters layer l, or has passed the last one.
struct Place {
  int level;
  int token;
  bool operator==(const Place&) const = default;
};

/// What can still pass: up through a layer, or back down, which takes flow away.
class FlowNetwork {
 public:
  explicit FlowNetwork(const std::vector<Matrix>& layers) : layers_(layers) {
    for (const Matrix& layer : layers) up_.emplace_back(layer.cols(), layer.rows());
    down_ = up_;
    distance_.resize((layers.size() + 1) * static_cast<std::size_t>(nodes()));
    next_ = distance_;
  }

  int nodes() const { return layers_.front().rows(); }

  /// The maximum flow from a token to the sink.
  double flow_from(int token, const Execution& execution) {
    for (std::size_t l = 0; l < layers_.size(); ++l)
      for (int j = 0; j < nodes(); ++j)
        for (int i = 0; i < nodes(); ++i) {
          up_[l](j, i) = i < j ? 0.0 : layers_[l](i, j);
          down_[l](i, j) = 0.0;
        }
    double flow = 0.0;
    while (find_distances(token)) {
      execution.check();
      std::fill(next_.begin(), next_.end(), 0);
      for (double pushed = push({0, token}); pushed > 0.0; pushed = push({0, token}))
        flow += pushed;
    }
    return flow;
  }

 private:
  int top() const { return static_cast<int>(layers_.size()); }
  std::size_t at(const Place& place) const {
    return static_cast<std::size_t>(place.level) * static_cast<std::size_t>(nodes()) +
           static_cast<std::size_t>(place.token);
  }

  /// Edge number `edge` of a place: first those up to every token, then those down.
  Place end_of(const Place& place, int edge) const {
    return edge < nodes() ? Place{place.level + 1, edge} : Place{place.level - 1, edge - nodes()};
  }
  bool exists(const Place& place, int edge) const {
    return edge < nodes() ? place.level < top() : place.level > 0;
  }
  double& room(const Place& place, int edge) {
    return edge < nodes()
               ? up_[static_cast<std::size_t>(place.level)](place.token, edge)
               : down_[static_cast<std::size_t>(place.level - 1)](place.token, edge - nodes());
  }
  double& room_back(const Place& place, int edge) {
    return edge < nodes()
               ? down_[static_cast<std::size_t>(place.level)](edge, place.token)
               : up_[static_cast<std::size_t>(place.level - 1)](edge - nodes(), place.token);
  }

  /// Numbers of edges from the token; whether the sink can be reached.
  bool find_distances(int token) {
    std::fill(distance_.begin(), distance_.end(), -1);
    queue_.assign(1, {0, token});
    distance_[at(queue_.front())] = 0;
    for (std::size_t k = 0; k < queue_.size(); ++k) {
      const Place place = queue_[k];
      for (int edge = 0; edge < 2 * nodes(); ++edge) {
        if (!exists(place, edge) || !(room(place, edge) > 0.0)) continue;
        const Place end = end_of(place, edge);
        if (distance_[at(end)] >= 0) continue;
        distance_[at(end)] = distance_[at(place)] + 1;
        queue_.push_back(end);
      }
    }
    return distance_[at(sink())] >= 0;
  }

  Place sink() const { return {top(), nodes() - 1}; }

  /// Sends what one shortest way to the sink lets pass; 0 where there is none left.
  double push(const Place& source) {
    way_.clear();
    Place place = source;
    while (!(place == sink())) {
      int& edge = next_[at(place)];
      while (edge < 2 * nodes() &&
             !(exists(place, edge) && room(place, edge) > 0.0 &&
               distance_[at(end_of(place, edge))] == distance_[at(place)] + 1))
        ++edge;
      if (edge < 2 * nodes()) {
        way_.push_back(place);
        place = end_of(place, edge);
      } else {  // nothing leads on from here
        if (way_.empty()) return 0.0;
        place = way_.back();
        way_.pop_back();
        ++next_[at(place)];
      }
    }
    double least = std::numeric_limits<double>::infinity();
    for (const Place& on : way_) least = std::min(least, room(on, next_[at(on)]));
    for (const Place& on : way_) {
      room(on, next_[at(on)]) -= least;
      room_back(on, next_[at(on)]) += least;
    }
    return least;
  }

  const std::vector<Matrix>& layers_;
  std::vector<Matrix> up_;    // [layer](sender, receiver)
  std::vector<Matrix> down_;  // [layer](receiver, sender): the flow that can be taken back
  std::vector<int> distance_;
  std::vector<int> next_;  // the edge of each place to try next
  std::vector<Place> queue_;
  std::vector<Place> way_;
};

}  // namespace

std::vector<double> attention_flow(const std::vector<Matrix>& layers, const Execution& execution) {
  FlowNetwork network(layers);
  std::vector<double> flow;
  flow.reserve(static_cast<std::size_t>(network.nodes()));
  for (int token = 0; token < network.nodes(); ++token)
    flow.push_back(network.flow_from(token, execution));
  return flow;
}

}  // namespace synergraph
