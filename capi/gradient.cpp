#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capi/attention.h"
#include "capi/call.h"
#include "capi/status.h"
#include "capi/take_settings.h"
#include "synergraph/core/error.h"
#include "synergraph/core/parallel.h"
#include "synergraph/gradients/attention_gradient.h"
#include "synergraph/gradients/gradient_settings.h"
#include "synergraph/heads/view_source.h"

using namespace synergraph;        // NOLINT: the functions below are its interface
using namespace synergraph::capi;  // NOLINT

namespace {

/// What is kept of one layer of one sample.
struct SampleLayer {
  TokenSpan span;
  std::unique_ptr<AttentionRows> rows;
  const ScoreRows* scores = nullptr;  ///< the rows, where these are made from queries and keys
};

struct Sample {
  std::vector<SampleLayer> layers;
  std::vector<CombinedRows> combined;
  std::unique_ptr<DifferentiableMetric> metric;
};

/// Where a layer lies in the buffers.
struct LayerShape {
  int heads = 0;
  int key_heads = 0;
  std::int64_t tokens = 0;
  std::int64_t width = 0;  ///< of queries; 0: dense attention
};

}  // namespace

struct sg_gradient {
  std::vector<LayerShape> layers;
  std::vector<Sample> samples;
  bool disjoint = true;  // no two samples share memory
};

namespace {

std::size_t size(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

const ViewSource& views_of(const sg_attention* attention) {
  require(attention, "attention");
  if (const auto* views = dynamic_cast<const ViewSource*>(attention->source.get())) return *views;
  throw UsageError("gradients need attention from arrays");
}

LayerShape shape_of(const ViewSource& views, int layer) {
  const LayerMemory& memory = views.memory(layer);
  if (memory.place || (memory.fetched && !memory.scores))
    throw UsageError("gradients need attention in the memory of the CPU");
  if (memory.scores)
    return {static_cast<int>(memory.scores->heads), static_cast<int>(memory.scores->key_heads),
            memory.scores->tokens, memory.scores->width};
  return {static_cast<int>(memory.view.heads), 0, memory.view.tokens, 0};
}

/// Runs a part for a sample, whose errors say which sample it was.
template <class Work>
void of_sample(std::size_t sample, std::size_t samples, const Work& work) {
  const auto named = [&](const Error& error) {
    return samples == 1 ? std::string(error.what())
                        : fmt::format("sample {}: {}", sample, error.what());
  };
  try {
    work();
  } catch (const InputError& error) {
    throw InputError(named(error));
  } catch (const UsageError& error) {
    throw UsageError(named(error));
  }
}

Sample make_sample(const ViewSource& views, int number, const std::vector<LayerShape>& shapes,
                   std::span<const double> weights, const GradientSettings& settings) {
  Sample made;
  std::size_t first = 0;
  for (std::size_t l = 0; l < shapes.size(); ++l) {
    const auto layer = static_cast<int>(l);
    const LayerMemory& memory = views.memory(layer);
    SampleLayer one;
    one.span = views.span(layer, number);
    const std::string name =
        shapes.size() == 1 ? "attention" : "attention of " + views.layers()[l].name;
    if (memory.scores) {
      auto rows = std::make_unique<ScoreRows>(*memory.scores, one.span, name);
      one.scores = rows.get();
      one.rows = std::move(rows);
    } else {
      one.rows = std::make_unique<ViewRows>(memory.view, one.span,
                                            AttentionRowsCheck{views.row_tolerance(), name});
    }
    const std::size_t heads = size(shapes[l].heads);
    made.combined.emplace_back(*one.rows,
                               weights.empty() ? weights : weights.subspan(first, heads));
    first += heads;
    made.layers.push_back(std::move(one));
  }
  made.metric = make_differentiable_metric(made.combined, settings);
  return made;
}

template <class Number>
void accumulate(const std::vector<double>& from, int heads, int nodes, std::int64_t width,
                std::int64_t tokens, std::int64_t offset, void* to) {
  auto* into = static_cast<Number*>(to) + offset;
  for (int h = 0; h < heads; ++h)
    for (std::int64_t k = 0; k < nodes * width; ++k)
      into[h * tokens * width + k] += static_cast<Number>(from[size(h * nodes * width + k)]);
}

/// The derivatives of one layer of one sample, and where they go.
class LayerGradient {
 public:
  LayerGradient(const Sample& sample, std::size_t layer, const LayerShape& shape,
                const sg_gradient_buffers& buffers, std::size_t number)
      : layer_(sample.layers[layer]), shape_(shape), buffers_(buffers), number_(number) {
    const CombinedRows& combined = sample.combined[layer];
    if (layer_.scores != nullptr) {
      scores_ = std::make_unique<QueryKeyGradient>(combined, *layer_.scores);
      return;
    }
    DenseGradient into;
    if (buffers.attention != nullptr) {
      const auto item = static_cast<std::ptrdiff_t>(item_size(type()));
      into = {static_cast<std::byte*>(buffers.attention) +
                  item * (layer_.span.sample * shape.heads * shape.tokens * shape.tokens +
                          layer_.span.begin * (shape.tokens + 1)),
              type(), item * shape.tokens * shape.tokens, item * shape.tokens};
    }
    dense_ = std::make_unique<AttentionGradient>(combined, into, buffers.weights != nullptr);
  }

  void add(const LowRankGradient& gradient) {
    if (dense_)
      dense_->add(gradient);
    else
      scores_->add(gradient);
  }

  void finish() {
    if (scores_) {
      write(scores_->queries(), shape_.heads, buffers_.queries);
      write(scores_->keys(), shape_.key_heads, buffers_.keys);
    }
    if (buffers_.weights == nullptr) return;
    const std::vector<double> of_heads = scores_ ? scores_->weights() : dense_->weights();
    for (std::size_t h = 0; h < of_heads.size(); ++h)
      buffers_.weights[number_ * of_heads.size() + h] += of_heads[h];
  }

 private:
  FloatType type() const {
    return buffers_.dtype == SG_FLOAT32 ? FloatType::kFloat32 : FloatType::kFloat64;
  }
  void write(const std::vector<double>& from, int heads, void* to) const {
    if (to == nullptr) return;
    const int nodes = layer_.rows->nodes();
    const std::int64_t offset =
        (layer_.span.sample * heads * shape_.tokens + layer_.span.begin) * shape_.width;
    if (type() == FloatType::kFloat32)
      accumulate<float>(from, heads, nodes, shape_.width, shape_.tokens, offset, to);
    else
      accumulate<double>(from, heads, nodes, shape_.width, shape_.tokens, offset, to);
  }

  const SampleLayer& layer_;
  LayerShape shape_;
  const sg_gradient_buffers& buffers_;
  std::size_t number_;
  std::unique_ptr<AttentionGradient> dense_;
  std::unique_ptr<QueryKeyGradient> scores_;
};

void pull_back(const sg_gradient& gradient, std::size_t number, std::span<const double> upstream,
               const sg_gradient_buffers* buffers) {
  const Sample& sample = gradient.samples[number];
  std::vector<std::unique_ptr<LayerGradient>> layers;
  for (std::size_t l = 0; l < gradient.layers.size(); ++l)
    layers.push_back(
        std::make_unique<LayerGradient>(sample, l, gradient.layers[l], buffers[l], number));
  sample.metric->pull_back(
      sample.combined, upstream,
      [&](int layer, const LowRankGradient& low_rank) { layers[size(layer)]->add(low_rank); });
  for (const auto& layer : layers) layer->finish();
}

void check_buffers(const sg_gradient_buffers& buffers) {
  if (buffers.size != sizeof(sg_gradient_buffers))
    throw UsageError("buffers: their size is wrong; start from SG_GRADIENT_BUFFERS_INIT");
  if (buffers.dtype != SG_FLOAT32 && buffers.dtype != SG_FLOAT64)
    throw UsageError("buffers: gradients are written in float32 or float64");
}

}  // namespace

int sg_gradient_create(sg_attention* attention, const double* weights, size_t count,
                       const char* options, const sg_call* call, sg_gradient** gradient) {
  return making(gradient, [&] {
    const ViewSource& views = views_of(attention);
    if (count > 0) require(weights, "weights");
    const auto settings = take_settings<GradientSettings>(options);
    auto made = std::make_unique<sg_gradient>();
    std::size_t heads = 0;
    if (views.layers().empty()) throw InputError("attention: there is no layer");
    for (std::size_t l = 0; l < views.layers().size(); ++l) {
      if (views.layers()[l].missing_mass == MissingMass::kNode)
        throw UsageError("missing_mass: attention with a node for missing mass has no gradients");
      made->layers.push_back(shape_of(views, static_cast<int>(l)));
      heads += size(made->layers.back().heads);
    }
    const auto samples = size(views.layers().front().samples);
    for (const AttentionLayer& layer : views.layers())
      if (size(layer.samples) != samples) throw InputError("attention: layers differ in samples");
    if (count != 0 && count != heads && count != samples * heads)
      throw InputError(fmt::format("weights: {} numbers, expected {}, or {} for each of {} samples",
                                   count, heads, heads, samples));
    made->samples.resize(samples);
    std::set<std::int64_t> seen;
    for (std::size_t s = 0; s < samples; ++s)
      made->disjoint =
          seen.insert(views.span(0, static_cast<int>(s)).sample).second && made->disjoint;
    run_call(call, kAttentionMemory, [&](const Execution& execution) {
      parallel_for(samples, execution.threads, [&](std::size_t s, int) {
        execution.check();
        of_sample(s, samples, [&] {
          const std::span<const double> own(weights == nullptr ? nullptr
                                            : count == heads   ? weights
                                                               : weights + s * heads,
                                            count == 0 ? 0 : heads);
          made->samples[s] = make_sample(views, static_cast<int>(s), made->layers, own, settings);
        });
      });
    });
    return made.release();
  });
}

int sg_gradient_shape(const sg_gradient* gradient, int64_t* samples, int64_t* values) {
  return guarded([&] {
    require(gradient, "gradient");
    if (samples != nullptr) *samples = static_cast<std::int64_t>(gradient->samples.size());
    if (values != nullptr)
      *values = static_cast<std::int64_t>(gradient->samples.front().metric->values().size());
  });
}

int sg_gradient_values(const sg_gradient* gradient, double* values, size_t count) {
  return guarded([&] {
    require(gradient, "gradient");
    const std::size_t each = gradient->samples.front().metric->values().size();
    require_buffer(
        values, count,
        {static_cast<std::int64_t>(gradient->samples.size()), static_cast<std::int64_t>(each)});
    for (const Sample& sample : gradient->samples)
      values = std::copy(sample.metric->values().begin(), sample.metric->values().end(), values);
  });
}

int sg_gradient_pull_back(const sg_gradient* gradient, const double* upstream, size_t count,
                          const sg_gradient_buffers* layers, size_t layer_count,
                          const sg_call* call) {
  return guarded([&] {
    require(gradient, "gradient");
    require(layers, "layers");
    const std::size_t samples = gradient->samples.size();
    const std::size_t each = gradient->samples.front().metric->values().size();
    require_buffer(upstream, count,
                   {static_cast<std::int64_t>(samples), static_cast<std::int64_t>(each)});
    if (layer_count != gradient->layers.size())
      throw UsageError(
          fmt::format("layers: {} buffers for {} layers", layer_count, gradient->layers.size()));
    for (std::size_t l = 0; l < layer_count; ++l) check_buffers(layers[l]);
    run_call(call, kAttentionMemory, [&](const Execution& execution) {
      parallel_for(samples, gradient->disjoint ? execution.threads : 1, [&](std::size_t s, int) {
        execution.check();
        of_sample(s, samples,
                  [&] { pull_back(*gradient, s, std::span(upstream + s * each, each), layers); });
      });
    });
  });
}

void sg_gradient_free(sg_gradient* gradient) {
  delete gradient;
}
