#include "synergraph/analysis/padded_sequences.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "synergraph/core/error.h"
#include "synergraph/core/setting.h"
#include "synergraph/io/tensor_file.h"

namespace synergraph {
namespace {

void require_one_size(const std::vector<AttentionLayer>& layers) {
  const AttentionLayer& first = layers.front();
  for (const AttentionLayer& layer : layers) {
    if (!layer.same_length)
      throw InputError(fmt::format(
          "layer {}: its samples differ in length; {} and {} need samples of one length",
          layer.name, option_mark("sink"), option_mark("lengths")));
    if (layer.samples != first.samples || layer.tokens != first.tokens)
      throw InputError(fmt::format(
          "layer {} has {} samples of {} tokens, the first layer has {} of {}; {} and {} need "
          "layers of one size",
          layer.name, layer.samples, layer.tokens, first.samples, first.tokens, option_mark("sink"),
          option_mark("lengths")));
  }
}

}  // namespace

std::vector<std::int64_t> lengths_of_file(const std::string& path) {
  const TensorFile file = TensorFile::open(path);
  if (file.tensors().size() != 1)
    throw InputError(fmt::format("{}: expected one tensor of lengths, found {}", file.path(),
                                 file.tensors().size()));
  const Tensor& tensor = file.tensors().front();
  if (tensor.shape().size() > 1 || tensor.info().elements() == 0 ||
      tensor.info().elements() > std::numeric_limits<int>::max() / 2)
    throw InputError(
        fmt::format("{}: shape {}; expected one length per sample. From an "
                    "attention mask: mask.sum(1)",
                    tensor.where(), to_string(tensor.shape())));
  return tensor.values<std::int64_t>();
}

std::vector<TokenSpan> padded_sequences(const std::vector<AttentionLayer>& layers,
                                        const SequenceChoice& choice) {
  if (layers.empty()) throw InputError("there are no layers to choose sequences of");
  require_one_size(layers);
  const std::int64_t samples = layers.front().samples;
  const std::int64_t tokens = layers.front().tokens;
  const auto given = static_cast<std::int64_t>(choice.lengths.size());
  if (given > 1 && given != samples)
    throw InputError(
        fmt::format("{}: {} lengths for {} sample{}; give one length, or one per sample",
                    option_mark("lengths"), given, samples, samples == 1 ? "" : "s"));
  for (const std::int64_t length : choice.lengths)
    if (length < 1 || length > tokens)
      throw InputError(fmt::format("{}: {} is not a length from 1 to {}", option_mark("lengths"),
                                   length, tokens));
  const auto sinks = static_cast<std::int64_t>(std::max<std::size_t>(choice.sinks.size(), 1));
  if (samples > std::numeric_limits<int>::max() / 2 / sinks)
    throw InputError(fmt::format("{} sinks of {} samples are too many", sinks, samples));
  std::vector<TokenSpan> sequences;
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    TokenSpan whole{sample, 0, tokens};
    if (given > 0) {
      const std::int64_t length = choice.lengths[static_cast<std::size_t>(given > 1 ? sample : 0)];
      if (choice.padding == PaddingSide::kLeft)
        whole.begin = tokens - length;
      else
        whole.end = length;
    }
    std::vector<std::int64_t> chosen = choice.sinks;
    if (!choice.to.empty())
      for (const int sink : choice.to.places(static_cast<int>(whole.end), option_mark("sink")))
        chosen.push_back(sink);
    if (chosen.empty()) sequences.push_back(whole);
    for (const std::int64_t sink : chosen) {
      const std::int64_t at = sink >= 0 ? sink : whole.end + sink;
      if (at < whole.begin || at >= whole.end)
        throw InputError(fmt::format("{}: token {} is not in sample {}, which has tokens {} to {}",
                                     option_mark("sink"), sink, sample, whole.begin,
                                     whole.end - 1));
      sequences.push_back({sample, whole.begin, at + 1});
    }
  }
  return sequences;
}

}  // namespace synergraph
