#include "synergraph/heads/view_source.h"

#include <fmt/core.h>

#include <cstddef>

#include "synergraph/core/error.h"
#include "synergraph/heads/sample_heads.h"

namespace synergraph {

/// Reads when a sample is visited, not when it is opened: memory can be read by all threads.
class ViewSource::Reader : public AttentionReader {
 public:
  Reader(const ViewSource& source, WorkingMemory memory)
      : source_(source), memory_(std::move(memory)) {}

  void open(const AttentionPiece& piece) override { piece_ = piece; }

  void visit(const LayerVisitor& visitor) override {
    const Layer& layer = source_.views_[static_cast<std::size_t>(piece_.layer)];
    const TokenSpan span = source_.span(piece_.layer, piece_.sample);
    AttentionView view = layer.memory.view;
    std::size_t head_bytes = 0;
    if (layer.fetch) {  // one head stands for all of them
      view = attention_view(nullptr, view.type, view.samples, view.heads, view.tokens);
      head_bytes = static_cast<std::size_t>(view.strides.head);
      view.strides.sample = view.strides.head = 0;
    }
    const auto heads = static_cast<int>(view.heads);
    const int nodes = static_cast<int>(span.end - span.begin) + extra_nodes(source_.missing_mass_);
    if (!heads_ || heads_->heads() != heads || heads_->nodes() != nodes)
      heads_.emplace(heads, nodes, memory_);
    const LayerMemory& memory = layer.memory;
    const bool made = memory.scores && !memory.place;  // again, a row at a time
    const auto rows = [&]() -> std::unique_ptr<HeadRows> {
      if (layer.fetch && !made) return nullptr;
      const std::string prefix =
          source_.layers_.size() == 1
              ? std::string()
              : fmt::format("layer {}, ",
                            source_.layers_[static_cast<std::size_t>(piece_.layer)].name);
      return view_rows(memory.view, made ? memory.scores : std::nullopt, span,
                       source_.row_tolerance_, source_.missing_mass_, prefix);
    };
    heads_->start(
        [this, &layer, view, span, head_bytes](int head, Matrix& into) {
          AttentionView given = view;
          if (layer.fetch) {
            fetched_.resize(head_bytes);
            given.data = fetched_.data();
            layer.fetch(span.sample, head, fetched_.data());
          }
          try {
            head_reader(given, span, source_.row_tolerance_, source_.missing_mass_)(head, into);
          } catch (const InputError& error) {
            if (source_.layers_.size() == 1) throw;
            throw InputError(fmt::format(
                "layer {}, {}", source_.layers_[static_cast<std::size_t>(piece_.layer)].name,
                error.what()));
          }
        },
        rows);
    visitor(piece_.layer, *heads_);
  }

 private:
  const ViewSource& source_;
  WorkingMemory memory_;
  AttentionPiece piece_;
  std::optional<SampleHeads> heads_;
  std::vector<std::byte> fetched_;
};

ViewSource::ViewSource(std::optional<double> row_tolerance, MissingMass missing_mass)
    : row_tolerance_(row_tolerance), missing_mass_(missing_mass) {
  if (row_tolerance && !(*row_tolerance >= 0.0))
    throw InputError(
        fmt::format("row tolerance {} is not a positive number or zero", *row_tolerance));
  require_named("missing mass", missing_mass);
}

void ViewSource::add_layer(std::string name, LayerMemory memory, FetchHead fetch) {
  const AttentionView& view = memory.view;
  add_whole({std::move(name), static_cast<int>(view.samples), static_cast<int>(view.heads),
             static_cast<int>(view.tokens), missing_mass_});
  memory.fetched = static_cast<bool>(fetch);
  views_.push_back({memory, std::move(fetch)});
}

void ViewSource::add(std::string name, const AttentionView& view, FetchHead fetch) {
  check_view(fetch ? attention_view(this, view.type, view.samples, view.heads, view.tokens) : view);
  add_layer(std::move(name), {view}, std::move(fetch));
}

void ViewSource::add_on_device(std::string name, const AttentionView& view, FetchHead fetch,
                               const DevicePlace& place) {
  check_view(view);
  add_layer(std::move(name), {.view = view, .place = place}, std::move(fetch));
}

void ViewSource::add_scores(std::string name, const QueryKeyView& scores, FetchHead fetch,
                            FloatType fetched, std::optional<DevicePlace> place) {
  check_view(scores);
  if (!fetch) {
    if (place) throw InputError("queries and keys on a device need a function that reads heads");
    fetched = FloatType::kFloat64;
    fetch = [scores](std::int64_t sample, std::int64_t head, void* into) {
      read_probabilities(scores, sample, head, static_cast<double*>(into));
    };
  }
  const AttentionView view =
      attention_view(nullptr, fetched, scores.samples, scores.heads, scores.tokens);
  add_layer(std::move(name), {.view = view, .scores = scores, .place = place}, std::move(fetch));
}

TokenSpan ViewSource::span(int layer, int sample) const {
  if (sequences_.empty())
    return {sample, 0, views_[static_cast<std::size_t>(layer)].memory.view.tokens};
  return sequences_[static_cast<std::size_t>(sample)];
}

std::unique_ptr<AttentionReader> ViewSource::reader(const WorkingMemory& memory) {
  return std::make_unique<Reader>(*this, memory);
}

}  // namespace synergraph
