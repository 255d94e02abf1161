#include "capi/attention.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "capi/call.h"
#include "capi/result.h"
#include "capi/status.h"
#include "capi/take_settings.h"
#include "synergraph/analysis/analysis.h"
#include "synergraph/analysis/analysis_settings.h"
#include "synergraph/analysis/array_readings.h"
#include "synergraph/analysis/attention_file.h"
#include "synergraph/analysis/input_settings.h"
#include "synergraph/analysis/layer_choice.h"
#include "synergraph/analysis/model_attention.h"
#include "synergraph/analysis/padded_sequences.h"
#include "synergraph/analysis/shape_diagnosis.h"
#include "synergraph/core/convex_sum.h"
#include "synergraph/core/error.h"
#include "synergraph/device/backend.h"
#include "synergraph/diffusion/fidelity.h"
#include "synergraph/heads/head.h"
#include "synergraph/heads/visit_systems.h"
#include "synergraph/report/inspect_report.h"
#include "synergraph/report/json_text.h"

namespace synergraph::capi {
namespace {

constexpr std::int64_t kMostSignalSteps = 1000000;

ViewSource& arrays_in(sg_attention* attention) {
  require(attention, "attention");
  if (auto* views = dynamic_cast<ViewSource*>(attention->source.get())) return *views;
  throw UsageError("this attention does not come from arrays");
}

SequenceSource& sequences_in(sg_attention* attention) {
  require(attention, "attention");
  if (auto* source = dynamic_cast<SequenceSource*>(attention->source.get())) return *source;
  throw UsageError("this attention comes neither from arrays nor from a file");
}

std::string text_of(const GivenReading& given) {
  ArrayReadings readings;
  for (const auto& [shape, names] : given.arrays) {
    const AttentionAxes axes = parse_axes(names);
    if (shape.size() != axes.size()) throw UsageError("options: reading: axes of another shape");
    readings.add(shape, axes);
  }
  return readings.text(given.each, given.by_default);
}

std::vector<std::string> names_of(const char* const* names, std::size_t count) {
  if (count > 0) require(names, "names");
  std::vector<std::string> copies;
  for (std::size_t k = 0; k < count; ++k) {
    require(names[k], "a name");
    copies.emplace_back(names[k]);
  }
  return copies;
}

/// More than any array has, which would not even be read.
void require_count(std::size_t count, const char* what) {
  constexpr std::size_t kMost = std::numeric_limits<int>::max() / 2;
  if (count > kMost)
    throw InputError(fmt::format("{} {}, expected at most {}", count, what, kMost));
}

std::string layer_name(const char* name, const ViewSource& views) {
  return name != nullptr ? name : fmt::format("{}", views.layers().size());
}

/// A caller's function, called once at a time.
FetchHead head_function(sg_attention& attention, sg_read_head read, void* user) {
  return [&attention, read, user](std::int64_t sample, std::int64_t head, void* into) {
    const std::lock_guard lock(attention.reading);
    if (const int status = read(sample, head, into, user); status != 0)
      throw InputError(fmt::format("sample {}, head {}: the function that reads it returned {}",
                                   sample, head, status));
  };
}

DevicePlace place_of(const sg_place& place) {
  if (place.size != sizeof(sg_place))
    throw UsageError(fmt::format("sg_place: size {}, expected {}: start from SG_PLACE_INIT",
                                 place.size, sizeof(sg_place)));
  if (place.device < 0)
    throw UsageError(fmt::format("device {}: expected 0 or a larger number", place.device));
  return {place.device, place.stream};
}

QueryKeyView scores_of(const sg_scores& scores) {
  if (scores.size != sizeof(sg_scores))
    throw UsageError(fmt::format("sg_scores: size {}, expected {}: start from SG_SCORES_INIT",
                                 scores.size, sizeof(sg_scores)));
  QueryKeyView view;
  view.queries = scores.queries;
  view.keys = scores.keys;
  view.type = float_type_of(scores.dtype);
  view.samples = scores.samples;
  view.heads = scores.heads;
  view.key_heads = scores.key_heads;
  view.tokens = scores.tokens;
  view.width = scores.width;
  view.query_strides = {scores.query_strides[0], scores.query_strides[1], scores.query_strides[2]};
  view.key_strides = {scores.key_strides[0], scores.key_strides[1], scores.key_strides[2]};
  view.scale = scores.scale;
  view.softcap = scores.softcap;
  view.window = scores.window;
  view.sink_logits = scores.sink_logits;
  return view;
}

/// Reads heads of an array on a device row by row.
FetchHead copied_heads(const AttentionView& view, const DevicePlace& place) {
  const auto item = static_cast<std::ptrdiff_t>(item_size(view.type));
  if (view.strides.key != item)
    throw InputError(
        "attention on a device: the keys of a row must lie side by side. Give a contiguous array "
        "or a function that reads heads");
  return [view, place, item](std::int64_t sample, std::int64_t head, void* into) {
    const auto* from = static_cast<const std::byte*>(view.data) + sample * view.strides.sample +
                       head * view.strides.head;
    auto* to = static_cast<std::byte*>(into);
    const std::ptrdiff_t row = item * view.tokens;
    if (view.strides.query == row)
      return cuda_backend().copy(to, from, static_cast<std::size_t>(row * view.tokens), place);
    for (std::int64_t i = 0; i < view.tokens; ++i)
      cuda_backend().copy(to + i * row, from + i * view.strides.query,
                          static_cast<std::size_t>(row), place);
  };
}

/// Computes heads on the CPU from queries and keys on a device.
FetchHead copied_scores(const QueryKeyView& view, const DevicePlace& place) {
  return [view, place](std::int64_t sample, std::int64_t head, void* into) {
    const std::size_t row = item_size(view.type) * static_cast<std::size_t>(view.width);
    const auto copied = [&](const void* data, const QueryKeyView::Strides& strides,
                            std::int64_t of) {
      std::vector<std::byte> rows(row * static_cast<std::size_t>(view.tokens));
      const auto* from =
          static_cast<const std::byte*>(data) + sample * strides.sample + of * strides.head;
      for (std::int64_t token = 0; token < view.tokens; ++token)
        cuda_backend().copy(rows.data() + row * static_cast<std::size_t>(token),
                            from + token * strides.token, row, place);
      return rows;
    };
    const std::vector<std::byte> queries = copied(view.queries, view.query_strides, head);
    const std::vector<std::byte> keys =
        copied(view.keys, view.key_strides, head / (view.heads / view.key_heads));
    float logit = 0.0F;
    QueryKeyView one = view;
    one.queries = queries.data();
    one.keys = keys.data();
    one.samples = one.heads = one.key_heads = 1;
    one.query_strides = one.key_strides = {0, 0, static_cast<std::ptrdiff_t>(row)};
    if (view.sink_logits != nullptr) {
      cuda_backend().copy(&logit, view.sink_logits + head, sizeof logit, place);
      one.sink_logits = &logit;
    }
    read_probabilities(one, 0, 0, static_cast<double*>(into));
  };
}

void copy_rows(ConstMatrixView matrix, double*& into) {
  for (int i = 0; i < matrix.rows; ++i) into = std::copy_n(matrix.row(i), matrix.cols, into);
}

}  // namespace

MeasuredEdges::MeasuredEdges(sg_attention& attention, const EdgeSettings& edges)
    : attention_(attention) {
  if (!edges.moved()) return;
  const std::string_view kind = name_of(edges.kind());
  MovedReader reader;
  if (!attention.moved.empty()) {
    const auto* source = dynamic_cast<const SequenceSource*>(attention.source.get());
    if (source == nullptr)
      throw UsageError("what heads move was given for attention that is no array and no file");
    reader = attention.moved.reader(*source);
  } else if (!attention.model) {
    throw UsageError(fmt::format(
        "edges {} need what the heads move: values and output projections, or norms", kind));
  }
  made_ = std::make_unique<EdgeSource>(*attention.source, edges.kind(), std::move(reader));
}

const AttentionLayer& layer_of(const sg_attention& attention, std::int64_t layer) {
  const std::vector<AttentionLayer>& layers = attention.source->layers();
  if (layer < 0 || layer >= static_cast<std::int64_t>(layers.size()))
    throw UsageError(fmt::format("layer {} was asked for, there are 0:{}", layer, layers.size()));
  return layers[static_cast<std::size_t>(layer)];
}

void visit_heads(sg_attention& attention, std::int64_t layer, std::int64_t sample,
                 const std::function<void(HeadSource& heads)>& visitor, const EdgeSettings& edges) {
  const AttentionLayer& of = layer_of(attention, layer);
  if (sample < 0 || sample >= of.samples)
    throw UsageError(fmt::format("sample {} was asked for, there are 0:{}", sample, of.samples));
  const auto first = static_cast<int>(sample);
  const MeasuredEdges source(attention, edges);
  visit_systems(*source, {{{first, first + 1}}, static_cast<int>(layer), {.threads = 1}},
                [&](const VisitedSystem& system) { visitor(system.heads); });
}

AttentionView view_of(const void* data, int dtype, const int64_t shape[4], const int64_t* strides) {
  AttentionView view = attention_view(data, float_type_of(dtype), shape[0], shape[1], shape[2]);
  if (shape[2] != shape[3])
    throw InputError(fmt::format("attention: {} quer{} and {} keys; attention must be square{}{}",
                                 shape[2], shape[2] == 1 ? "y" : "ies", shape[3],
                                 shape[2] == 1 ? ": " : "",
                                 shape[2] == 1 ? generation_advice() : ""));
  if (strides != nullptr) view.strides = {strides[0], strides[1], strides[2], strides[3]};
  return view;
}

}  // namespace synergraph::capi

using namespace synergraph;        // NOLINT: the functions below are its interface
using namespace synergraph::capi;  // NOLINT

LayerWeights sg_attention::layer_weights() const {
  const std::vector<AttentionLayer>& layers = source->layers();
  if (given.empty()) return weights.empty() ? uniform_weights(layers) : weights;
  std::size_t heads = 0;
  bool shared = true;
  for (const AttentionLayer& layer : layers) {
    heads += static_cast<std::size_t>(layer.heads);
    shared = shared && given.size() == static_cast<std::size_t>(layer.heads);
  }
  if (shared) return given_weights(layers, given);
  if (given.size() != heads)
    throw InputError(
        fmt::format("{} weights: expected one a head of every layer, {} in all, or the same for "
                    "every layer",
                    given.size(), heads));
  LayerWeights result;
  auto next = given.begin();
  for (const AttentionLayer& layer : layers) {
    const std::vector<double> raw(next, next + layer.heads);
    next += layer.heads;
    result.push_back(given_weights({layer}, raw).front());
  }
  return result;
}

LayerWeights sg_attention::layer_weights(const EdgeSettings& edges) const {
  if (!edges.moved()) return layer_weights();
  if (!given.empty())
    throw UsageError(
        fmt::format("{} {}: the weights of the heads follow from what they move; give no weights",
                    option_mark("edges"), name_of(edges.kind())));
  return uniform_weights(source->layers());
}

void sg_attention::describe(InputReport& report, const EdgeSettings& edges) const {
  report.edges = edges.kind();
  report.weights = edges.moved() ? "moved" : given.empty() ? weights_from : given_from;
  report.reading = spelled_here(source->reading());
  report.range = range;
  if (const auto* cut = dynamic_cast<const SequenceSource*>(source.get());
      cut != nullptr && !cut->sequences().empty()) {
    if (const auto common = cut->common_range())
      report.range = *common;
    else
      report.sequences = cut->sequences();
  }
  if (!model) return;
  report.model = model->config();
  report.heads_from_name = heads_from_name;
  report.task = task;
  report.device = device;
  if (const auto* attention = dynamic_cast<const ModelAttention*>(source.get())) {
    report.evaluation = attention->evaluation();
    report.control = attention->control();
  }
}

int sg_attention_create(const char* options, sg_attention** attention) {
  return making(attention, [&] {
    const auto settings = take_settings<ArraySettings>(options);
    auto made = std::make_unique<sg_attention>();
    auto views =
        std::make_unique<ViewSource>(settings.rows.row_tolerance, settings.rows.missing_mass);
    if (settings.reading) views->set_reading(text_of(*settings.reading));
    made->source = std::move(views);
    made->given_from = name_of(settings.weights_from);
    return made.release();
  });
}

int sg_attention_add(sg_attention* attention, const char* name, const void* data, int dtype,
                     const int64_t shape[4], const int64_t strides[4]) {
  return guarded([&] {
    ViewSource& views = arrays_in(attention);
    require(shape, "shape");
    views.add(layer_name(name, views), view_of(data, dtype, shape, strides));
  });
}

int sg_attention_add_function(sg_attention* attention, const char* name, sg_read_head read,
                              void* user, int dtype, const int64_t shape[4]) {
  return guarded([&] {
    ViewSource& views = arrays_in(attention);
    require(shape, "shape");
    if (read == nullptr) throw UsageError("read is NULL");
    views.add(layer_name(name, views), view_of(nullptr, dtype, shape, nullptr),
              head_function(*attention, read, user));
  });
}

int sg_attention_add_device(sg_attention* attention, const char* name, const void* data, int dtype,
                            const int64_t shape[4], const int64_t strides[4], const sg_place* place,
                            sg_read_head read, void* user) {
  return guarded([&] {
    ViewSource& views = arrays_in(attention);
    require(shape, "shape");
    require(place, "place");
    const AttentionView view = view_of(data, dtype, shape, strides);
    const DevicePlace there = place_of(*place);
    check_view(view);
    views.add_on_device(
        layer_name(name, views), view,
        read != nullptr ? head_function(*attention, read, user) : copied_heads(view, there), there);
  });
}

int sg_attention_add_scores(sg_attention* attention, const char* name, const sg_scores* scores,
                            const sg_place* place, sg_read_head read, void* user, int read_dtype) {
  return guarded([&] {
    ViewSource& views = arrays_in(attention);
    require(scores, "scores");
    const QueryKeyView view = scores_of(*scores);
    check_view(view);
    FetchHead fetch;
    FloatType fetched = FloatType::kFloat64;
    std::optional<DevicePlace> there;
    if (place != nullptr) there = place_of(*place);
    if (read != nullptr) {
      fetch = head_function(*attention, read, user);
      fetched = float_type_of(read_dtype);
    } else if (there) {
      fetch = copied_scores(view, *there);
    }
    views.add_scores(layer_name(name, views), view, std::move(fetch), fetched, there);
  });
}

int sg_attention_set_sequences(sg_attention* attention, const sg_sequence* sequences,
                               size_t count) {
  return guarded([&] {
    SequenceSource& source = sequences_in(attention);
    if (count > 0) require(sequences, "sequences");
    require_count(count, "sequences");
    std::vector<TokenSpan> spans;
    for (std::size_t k = 0; k < count; ++k)
      spans.push_back({sequences[k].sample, sequences[k].begin, sequences[k].end});
    source.choose(std::move(spans));
  });
}

int sg_attention_set_lengths(sg_attention* attention, const int64_t* lengths, size_t count,
                             const char* padding, const int64_t* sinks, size_t sink_count) {
  return guarded([&] {
    SequenceSource& source = sequences_in(attention);
    if (count > 0) require(lengths, "lengths");
    if (sink_count > 0) require(sinks, "sinks");
    require_count(count, "lengths");
    require_count(sink_count, "sinks");
    SequenceChoice choice{
        {lengths, lengths + count}, PaddingSide::kRight, {sinks, sinks + sink_count}};
    if (padding != nullptr) choice.padding = named_option<PaddingSide>("padding", padding);
    source.choose(count + sink_count == 0 ? std::vector<TokenSpan>()
                                          : padded_sequences(source.whole_layers(), choice));
  });
}

int sg_choose_layers(const char* layers, const char* const* names, size_t count,
                     unsigned char* chosen) {
  return guarded([&] {
    require(layers, "layers");
    const std::vector<std::string> given = names_of(names, count);
    const LayerChoice choice{std::string(layers)};
    if (count == 0) return;
    require(chosen, "chosen");
    const std::vector<std::size_t> places = choice.places(given);
    std::fill_n(chosen, count, static_cast<unsigned char>(0));
    for (const std::size_t place : places) chosen[place] = 1;
  });
}

int sg_layers_advice(const char* const* names, size_t count, const char* const* others,
                     size_t other_count, char** text) {
  return making(text, [&] {
    const std::vector<std::string> fitting = names_of(names, count);
    if (fitting.empty()) throw UsageError("no names");
    return copied_text(
        printable(spelled_here(layers_advice(fitting, names_of(others, other_count)))));
  });
}

int sg_attention_set_weights(sg_attention* attention, const double* weights, size_t count) {
  return guarded([&] {
    require(attention, "attention");
    require(weights, "weights");
    if (count == 0) throw UsageError("no weights");
    require_count(count, "weights");
    attention->given.assign(weights, weights + count);
  });
}

int sg_attention_open(const char* path, const char* options, sg_attention** attention) {
  return making(attention, [&] {
    require(path, "path");
    const auto settings = take_settings<AttentionFileSettings>(options);
    const auto& [weights, projections] = static_cast<const WeightSettings&>(settings);
    if (!weights.empty() && !projections.empty())
      throw UsageError(fmt::format("{} and {} exclude each other", option_mark("weights"),
                                   option_mark("out_proj")));
    auto made = std::make_unique<sg_attention>();
    made->range = settings.range.value_or(TokenRange());
    AttentionFileOptions reading;
    reading.range = made->range;
    reading.layers = settings.layers;
    reading.row_tolerance = settings.row_tolerance;
    reading.missing_mass = settings.missing_mass;
    if (!settings.axes.empty()) reading.axes = parse_axes(settings.axes);
    if (!settings.moved.empty()) made->moved = MovedArrays::of_file(settings.moved);
    made->source = open_attention_file(TensorFile::open(path), reading);
    if (!weights.empty()) {
      made->weights = weights_of_file(made->source->layers(), weights);
      made->weights_from = "given";
    } else if (!projections.empty()) {
      made->weights = weights_of_projections(made->source->layers(), projections);
      made->weights_from = "learned";
    }
    return made.release();
  });
}

int sg_attention_set_moved(sg_attention* attention, const char* part, int64_t layer,
                           const void* data, int dtype, size_t axes, const int64_t* shape,
                           const int64_t* strides) {
  return guarded([&] {
    require(attention, "attention");
    require(part, "part");
    require(shape, "shape");
    const auto known = parse_name<MovedPart>(part);
    if (!known)
      throw UsageError(fmt::format("{} is not one of {}", quoted_text(part),
                                   fmt::join(all_names<MovedPart>(), ", ")));
    constexpr std::size_t kMostAxes = 5;
    if (axes < 1 || axes > kMostAxes)
      throw InputError(fmt::format("{}: {} axes, expected 1 to {}", part, axes, kMostAxes));
    std::vector<std::ptrdiff_t> steps;
    if (strides != nullptr) steps.assign(strides, strides + axes);
    const auto place = static_cast<std::size_t>(layer);
    attention->moved.add(*known, layer < 0 ? std::nullopt : std::optional(place),
                         number_array(layer < 0 ? part : fmt::format("{}, layer {}", part, layer),
                                      data, float_type_of(dtype), Shape(shape, shape + axes),
                                      strides == nullptr ? nullptr : steps.data()));
  });
}

int sg_attention_layers(const sg_attention* attention, int64_t* layers) {
  return guarded([&] {
    require(attention, "attention");
    require(layers, "layers");
    *layers = static_cast<std::int64_t>(attention->source->layers().size());
  });
}

int sg_attention_shape(const sg_attention* attention, int64_t layer, int64_t shape[3]) {
  return guarded([&] {
    require(attention, "attention");
    require(shape, "shape");
    const AttentionLayer& of = layer_of(*attention, layer);
    shape[0] = of.samples;
    shape[1] = of.heads;
    shape[2] = of.nodes();
  });
}

int sg_attention_json(const sg_attention* attention, char** text) {
  return making(text, [&] {
    require(attention, "attention");
    nlohmann::ordered_json layers = nlohmann::ordered_json::array();
    for (const AttentionLayer& layer : attention->source->layers())
      layers.push_back({{"name", layer.name},
                        {"samples", layer.samples},
                        {"heads", layer.heads},
                        {"tokens", layer.nodes()}});
    return copied_text(json_text(layers));
  });
}

int sg_inspect(const char* path, char** text) {
  return making(text, [&] {
    require(path, "path");
    return copied_text(json_report(TensorFile::open(path)));
  });
}

int sg_attention_read(sg_attention* attention, int64_t layer, int64_t sample, double* into,
                      size_t count) {
  return guarded([&] {
    require(attention, "attention");
    visit_heads(*attention, layer, sample, [&](HeadSource& heads) {
      const int n = heads.nodes();
      require_buffer(into, count, {heads.heads(), n, n});
      double* to = into;
      for (int h = 0; h < heads.heads(); ++h) {
        const ConstMatrixView matrix = heads.head(h).view();
        for (int i = 0; i < n; ++i) {
          std::copy_n(matrix.row(i), i + 1, to);
          std::fill(to + i + 1, to + n, 0.0);
          to += n;
        }
      }
    });
  });
}

int sg_attention_curves(sg_attention* attention, int64_t layer, int64_t sample, int64_t steps,
                        const sg_call* call, double* into, size_t count) {
  return guarded([&] {
    require(attention, "attention");
    if (steps < 0 || steps > kMostSignalSteps)
      throw UsageError(fmt::format("{} steps, expected 0 to {}", steps, kMostSignalSteps));
    const LayerWeights weights = attention->layer_weights();
    run_call(call, kAttentionMemory, [&](const Execution& execution) {
      visit_heads(*attention, layer, sample, [&](HeadSource& heads) {
        const int n = heads.nodes();
        require_buffer(into, count, {heads.heads() + 1, steps + 1, n});
        double* to = into;
        ConvexSum sum(n, n, ConvexSum::Part::kLower);
        for (int h = 0; h < heads.heads(); ++h) {
          const ConstMatrixView matrix = heads.head(h).view();
          copy_rows(signal_curves(matrix, static_cast<int>(steps), execution), to);
          sum.add(matrix, weights[static_cast<std::size_t>(layer)][static_cast<std::size_t>(h)]);
        }
        copy_rows(signal_curves(sum.take(), static_cast<int>(steps), execution), to);
      });
    });
  });
}

void sg_attention_free(sg_attention* attention) {
  delete attention;
}

int sg_learned_weights(const void* data, int dtype, const int64_t shape[2],
                       const int64_t strides[2], int64_t heads, double* weights) {
  return guarded([&] {
    require(shape, "shape");
    require(weights, "weights");
    const std::int64_t rows = shape[0];
    const std::int64_t columns = shape[1];
    if (rows < 1 || columns < 1 || rows > kMaxNodes || columns > kMaxNodes)
      throw InputError(fmt::format("output projection: {} rows, {} columns, expected 1 to {}", rows,
                                   columns, kMaxNodes));
    require(data, "data");
    // A square around it, for the checks.
    AttentionView view = attention_view(data, float_type_of(dtype), 1, 1, std::max(rows, columns));
    const auto size = static_cast<std::ptrdiff_t>(item_size(view.type));
    view.strides.query = strides != nullptr ? strides[0] : size * columns;
    view.strides.key = strides != nullptr ? strides[1] : size;
    try {
      check_view(view);
    } catch (const InputError&) {
      throw InputError(fmt::format(
          "output projection: strides of {} and {} bytes, expected multiples of {}'s {} "
          "that fit the memory",
          view.strides.query, view.strides.key, name_of(view.type), size));
    }
    if (heads < 1 || heads > columns)
      throw InputError(fmt::format("{} heads of a projection with {} columns", heads, columns));
    view.tokens = columns;
    std::vector<double> values(static_cast<std::size_t>(rows * columns));
    read_rows(view, 0, 0, 0, rows, values.data());
    const std::vector<double> learned =
        learned_weights({values.data(), static_cast<int>(rows), static_cast<int>(columns), columns},
                        static_cast<int>(heads));
    std::copy(learned.begin(), learned.end(), weights);
  });
}

int sg_measure(sg_attention* attention, const char* options, const sg_call* call,
               sg_result** result) {
  return making(result, [&] {
    require(attention, "attention");
    const auto settings = take_settings<AnalysisSettings>(options);
    AnalyzeReport report;
    report.conventions = settings.metrics.convention.names;
    report.per_head = settings.per_head;
    AnalysisOptions analysis =
        analysis_options(settings.metrics, settings.per_head, settings.per_node, settings.backward);
    const EdgeSettings& edges = settings.edges;
    analysis.device = settings.device;
    const LayerWeights weights = attention->layer_weights(edges);
    const MeasuredEdges source(*attention, edges);
    run_call(call, kAttentionMemory, [&](const Execution& execution) {
      analysis.execution = execution;
      report.analysis = analyse(*source, weights, analysis);
    });
    attention->describe(report, edges);
    return new sg_result(std::move(report));
  });
}
