#include <algorithm>

#include "capi/status.h"
#include "door/door.h"
#include "door/json.h"
#include "synergraph/core/error.h"
#include "synergraph/diffusion/fidelity.h"
#include "synergraph/io/tensor_file.h"
#include "synergraph/report/heads_report.h"
#include "synergraph/report/tensor_report.h"

using namespace synergraph;        // NOLINT: the functions below are its interface
using namespace synergraph::capi;  // NOLINT
using namespace synergraph::door;  // NOLINT

namespace {

constexpr std::int64_t kMostCurveSteps = 1000000;

void append(std::vector<double>& to, ConstMatrixView matrix) {
  for (int i = 0; i < matrix.rows; ++i)
    to.insert(to.end(), matrix.row(i), matrix.row(i) + matrix.cols);
}

/// The lower or the upper triangle, zero beyond it.
void append_triangle(std::vector<double>& to, ConstMatrixView matrix, bool lower) {
  for (int i = 0; i < matrix.rows; ++i)
    for (int j = 0; j < matrix.cols; ++j)
      to.push_back((lower ? j <= i : j >= i) ? matrix.row(i)[j] : 0.0);
}

/// phi_min within the first t steps, over the sources.
void append_minimax(std::vector<double>& to, const Matrix& signal) {
  const int sources = signal.cols() - 1;
  std::vector<double> best(static_cast<std::size_t>(sources), 0.0);
  for (int t = 0; t < signal.rows(); ++t) {
    double smallest = 1.0;
    for (int j = 0; j < sources; ++j) {
      double& so_far = best[static_cast<std::size_t>(j)];
      so_far = std::max(so_far, signal(t, j));
      smallest = std::min(smallest, so_far);
    }
    to.push_back(smallest);
  }
}

/// The matrix after 0 to `steps` steps, of which the last n x n numbers are one step.
void append_powers(std::vector<double>& to, int n, int steps) {
  const auto size = static_cast<std::size_t>(n);
  const std::size_t square = size * size;
  const std::vector<double> step(to.end() - static_cast<std::ptrdiff_t>(square), to.end());
  for (std::size_t i = 0; i < square; ++i) to.push_back(i / size == i % size ? 1.0 : 0.0);
  for (int t = 0; t < steps; ++t) {
    const std::size_t before = to.size() - square;
    for (std::size_t i = 0; i < square; ++i) {
      double sum = 0.0;
      for (std::size_t k = 0; k < size; ++k)
        sum += to[before + i / size * size + k] * step[k * size + i % size];
      to.push_back(sum);
    }
  }
}

}  // namespace

int door_measure(sg_attention* attention, int layer, int sample, const char* options, char** text) {
  return making(text, [&] {
    require(attention, "attention");
    Options given(options);
    const Request request({attention, layer, sample}, given);
    given.finish();
    HeadsReport report{
        request.head_names, request.node_names, request.convention, request.weights, {}, {}};
    visit_heads(*attention, layer, sample, [&](HeadSource& heads) {
      report.metrics = std::move(
          measure(heads, request.weights, {.conventions = {request.convention}, .nodes = true})
              .front());
    });
    return copied_text(json_report(report));
  });
}

int door_curves(sg_attention* attention, int layer, int sample, const char* options,
                Numbers** numbers) {
  return making(numbers, [&] {
    require(attention, "attention");
    Options given(options);
    const Request request({attention, layer, sample}, given);
    const auto steps =
        static_cast<int>(given.take_count("steps", 0, kMostCurveSteps).value_or(100));
    const bool with_signal = given.take_bool("signal").value_or(true);
    given.finish();
    std::vector<double> all;
    visit_heads(*attention, layer, sample, [&](HeadSource& heads) {
      visit_series(heads, request, [&](const Series& series) {
        const Matrix survivals = survival(series.walk, steps);
        for (int t = 0; t <= steps; ++t)
          all.push_back(*std::max_element(survivals.row(t), survivals.row(t) + survivals.cols()));
        for (int t = 0; t <= steps; ++t) {
          double sum = 0.0;
          for (int j = 0; j < survivals.cols(); ++j) sum += survivals(t, j);
          all.push_back(sum / survivals.cols());
        }
        const Matrix signal = signal_curves(series.diffusion.view(), steps);
        append_minimax(all, signal);
        if (with_signal) append(all, signal);
      });
    });
    return copied_numbers(all);
  });
}

int door_steps(sg_attention* attention, int layer, int sample, const char* options,
               Numbers** numbers) {
  return making(numbers, [&] {
    require(attention, "attention");
    Options given(options);
    const Request request({attention, layer, sample}, given);
    const auto steps = static_cast<int>(given.take_count("steps", 0, kMostCurveSteps).value_or(0));
    const bool with_powers = given.take_bool("powers").value_or(false);
    given.finish();
    std::vector<double> all;
    visit_heads(*attention, layer, sample, [&](HeadSource& heads) {
      const int n = heads.nodes();
      visit_series(heads, request, [&](const Series& series) {
        append_triangle(all, series.walk.step, false);
        if (with_powers) append_powers(all, n, steps);
        append_triangle(all, series.diffusion.view(), true);
        if (with_powers) append_powers(all, n, steps);
      });
    });
    return copied_numbers(all);
  });
}

int door_matrix(sg_attention* attention, int layer, int sample, int head, const char* options,
                Numbers** numbers) {
  return making(numbers, [&] {
    require(attention, "attention");
    Options given(options);
    const Request request({attention, layer, sample}, given);
    given.finish();
    std::vector<double> all;
    visit_heads(*attention, layer, sample, [&](HeadSource& heads) {
      if (head >= heads.heads()) throw UsageError("there is no such head");
      if (head >= 0) return append_triangle(all, heads.head(head).view(), true);
      append_triangle(all, combine_diffusion(heads, request.weights), true);
    });
    return copied_numbers(all);
  });
}

int door_names(sg_attention* attention, int layer, int sample, const char* options, char** text) {
  return making(text, [&] {
    require(attention, "attention");
    Options given(options);
    const Request request({attention, layer, sample}, given);
    given.finish();
    return copied_text(fmt::format(R"({{"heads":{},"nodes":{}}})", json(request.head_names),
                                   json(request.node_names)));
  });
}

int door_layers(sg_attention* attention, char** text) {
  return making(text, [&] {
    require(attention, "attention");
    return copied_text(json_list(attention->source->layers(), [](const AttentionLayer& layer) {
      return fmt::format(R"({{"name":{},"samples":{},"heads":{},"tokens":{}}})", json(layer.name),
                         layer.samples, layer.heads, layer.nodes());
    }));
  });
}

int door_inspect(const char* path, char** text) {
  return making(text, [&] {
    require(path, "path");
    return copied_text(json_report(TensorFile::open(path)));
  });
}
