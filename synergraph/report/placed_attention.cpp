#include "synergraph/report/placed_attention.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace synergraph {
namespace {

/// Text in base64 of this many bytes is near the longest that browsers have.
constexpr std::size_t kMostBytes = std::size_t{384} << 20U;
/// What the page says of a head beside its numbers.
constexpr std::size_t kHeadText = 64;

std::string megabytes(std::size_t bytes) {
  return fmt::format("{} MiB", (bytes + (std::size_t{1} << 20U) - 1) >> 20U);
}

}  // namespace

PlacedAttention::PlacedAttention(const PageAttention& attention)
    : attention_(attention), most_bytes_(attention.samples ? kMostBytes : kPageBytes) {
  const auto same = [&](const AttentionLayer& layer) {
    return layer.nodes() == all().front().nodes() && layer.same_length;
  };
  layers_ = static_cast<int>(std::find_if_not(all().begin(), all().end(), same) - all().begin());
  for (const AttentionLayer& layer : all()) all_samples_ = std::max(all_samples_, layer.samples);
  const int wanted = std::min(attention_.samples.value_or(kPageSamples), all_samples_);
  const int alike = layers_;
  for (samples_ = wanted; samples_ > 1 && bytes(layers_, samples_) > most_bytes_;) --samples_;
  while (layers_ > 0 && bytes(layers_, samples_) > most_bytes_) --layers_;
  full_ = samples_ < wanted || layers_ < alike;
  place();
}

std::size_t PlacedAttention::head_bytes(int layer) const {
  const auto n = static_cast<std::size_t>(all()[static_cast<std::size_t>(layer)].nodes());
  return n * (n + 1) / 2 * item_size(attention_.source->element_type(layer));
}

std::size_t PlacedAttention::bytes(int layers, int samples) const {
  std::size_t sum = 0;
  for (int l = 0; l < layers; ++l) {
    const AttentionLayer& layer = all()[static_cast<std::size_t>(l)];
    sum += static_cast<std::size_t>(std::min(samples, layer.samples)) *
           static_cast<std::size_t>(layer.heads) * (head_bytes(l) + kHeadText);
  }
  return sum;
}

void PlacedAttention::place() {
  std::uint64_t offset = 0;
  offsets_.resize(static_cast<std::size_t>(layers_));
  for (const AttentionPiece& piece : attention_.source->pieces(0, samples_)) {
    const bool whole = piece.layer == AttentionPiece::kAllLayers;
    if (!whole && piece.layer >= layers_) continue;
    pieces_.push_back(piece);
    for (int l = whole ? 0 : piece.layer; l < (whole ? layers_ : piece.layer + 1); ++l) {
      offsets_[static_cast<std::size_t>(l)].push_back(offset);
      offset +=
          static_cast<std::uint64_t>(all()[static_cast<std::size_t>(l)].heads) * head_bytes(l);
    }
  }
}

std::string PlacedAttention::left_out() const {
  if (samples_ == 0) return {};
  const std::string limit = fmt::format(
      "it holds {}{}", megabytes(most_bytes_),
      attention_.samples ? "" : fmt::format(", and {} with --page-samples", megabytes(kMostBytes)));
  if (layers_ == 0 && !all().front().same_length)
    return "the page has no attention: its samples have different lengths";
  if (layers_ == 0)
    return fmt::format("the page has no attention: a layer on one sample takes {}; {}",
                       megabytes(bytes(1, 1)), limit);
  const int all_layers = static_cast<int>(all().size());
  std::string parts;
  if (samples_ < all_samples_) parts = fmt::format("{} of {} samples", samples_, all_samples_);
  if (layers_ < all_layers)
    parts += fmt::format("{}{} of {} layers", parts.empty() ? "" : " in ", layers_, all_layers);
  if (parts.empty()) return {};
  std::string reason = " (--page-samples says how many)";
  if (layers_ < all_layers) reason = ": the next has another number of tokens";
  if (full_) reason = ": " + limit;
  return fmt::format("the page has the attention of {}{}", parts, reason);
}

void PlacedAttention::write_json(PageWriter& writer) const {
  if (empty()) return writer.json("null");
  writer.json(fmt::format(R"({{"tokens": {}, "labels": )", all().front().nodes()));
  const TokenNames& labels = attention_.labels;
  writer.json(labels.size() == 1 ? json_strings(labels.front()) : "null");
  writer.json(", \"samples\": [");
  for (int s = 0; s < samples_; ++s) {
    writer.json(fmt::format(R"({}{{"number": {})", s == 0 ? "" : ", ", s));
    if (labels.size() > 1)
      writer.json(", \"labels\": " + json_strings(labels.at(static_cast<std::size_t>(s))));
    writer.json("}");
  }
  writer.json("], \"layers\": [");
  for (int l = 0; l < layers_; ++l) write_layer(writer, l);
  writer.json("]}");
}

void PlacedAttention::write_layer(PageWriter& writer, int layer) const {
  const auto l = static_cast<std::size_t>(layer);
  const int heads = all()[l].heads;
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(heads));
  for (int h = 0; h < heads; ++h) names.push_back(fmt::format(R"("{}")", h));
  const auto weights = [&](const LayerWeights& of) {
    return fmt::format("[{}]", fmt::join(of[l], ", "));
  };
  writer.json(fmt::format(
      R"({}{{"name": {}, "heads": [{}], "weights": {}, "learned_weights": {}, "samples": [)",
      layer == 0 ? "" : ", ", json_string(all()[l].name), fmt::join(names, ", "),
      weights(attention_.weights), attention_.learned ? weights(*attention_.learned) : "null"));
  const std::string_view type = name_of(attention_.source->element_type(layer));
  for (std::size_t s = 0; s < offsets_[l].size(); ++s) {
    writer.json(fmt::format(R"({}{{"sample": {}, "heads": [)", s == 0 ? "" : ", ", s));
    for (int h = 0; h < heads; ++h)
      writer.json(
          fmt::format(R"({}{{"offset": {}, "dtype": "{}", "rows": "lower"}})", h == 0 ? "" : ", ",
                      offsets_[l][s] + static_cast<std::size_t>(h) * head_bytes(layer), type));
    writer.json("]}");
  }
  writer.json("]}");
}

void PlacedAttention::write_arrays(PageWriter& writer) const {
  for (const AttentionPiece& piece : pieces_)
    attention_.source->copy_heads(
        piece, [&](int layer, int /*head*/, std::span<const std::byte> triangle) {
          if (layer < layers_) writer.base64(triangle);
        });
  writer.end_base64();
}

}  // namespace synergraph
