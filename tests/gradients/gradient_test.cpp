#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "synergraph/chain/hitting.h"
#include "synergraph/core/error.h"
#include "synergraph/diffusion/fidelity.h"
#include "synergraph/gradients/attention_gradient.h"
#include "synergraph/gradients/fidelity_gradient.h"
#include "synergraph/gradients/hitting_gradient.h"
#include "synergraph/gradients/stack_gradient.h"
#include "synergraph/gradients/survival_gradient.h"
#include "tests/gradients/direct_definitions.h"

namespace synergraph {
namespace {

using direct::Real;
using direct::System;

/// How the rows of a head are drawn.
enum class Kind { kSoft, kNearIdentity, kZeros, kTies, kPrevious };

direct::Matrix head_of(Kind kind, std::size_t n, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(0.05, 1.0);
  direct::Matrix a(n, std::vector<Real>(n, 0));
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> row(i + 1);
    for (std::size_t k = 0; k <= i; ++k) {
      row[k] = uniform(random);
      if (kind == Kind::kNearIdentity) row[k] *= k == i ? 1.0 : 1e-9;
      if (kind == Kind::kZeros && k != i && k + 1 != i && (i + k) % 3 == 0) row[k] = 0.0;
      if (kind == Kind::kTies) row[k] = 1.0;
      if (kind == Kind::kPrevious) row[k] = k + 1 == i || i == 0 ? 1.0 : 0.0;
    }
    double sum = 0.0;
    for (const double x : row) sum += x;
    for (std::size_t k = 0; k <= i; ++k) a[i][k] = row[k] / sum;  // rounded to double
  }
  return a;
}

System system_of(Kind kind, std::size_t n, std::size_t heads, unsigned seed) {
  std::mt19937 random(seed);
  System system;
  for (std::size_t h = 0; h < heads; ++h) {
    system.heads.push_back(head_of(kind, n, random));
    system.weights.push_back(1.0 + 0.5 * static_cast<double>(h));
  }
  return system;
}

/// A system as the library has it.
struct Held {
  explicit Held(const System& system) : nodes(static_cast<int>(system.nodes())) {
    for (const direct::Matrix& head : system.heads)
      for (const auto& row : head)
        for (const Real x : row) values.push_back(static_cast<double>(x));
    for (const Real w : system.weights) weights.push_back(static_cast<double>(w));
    rows = std::make_unique<ViewRows>(
        attention_view(values.data(), 1, static_cast<std::int64_t>(system.heads.size()), nodes),
        TokenSpan{0, 0, nodes}, AttentionRowsCheck{1e-9, "attention"});
    combined.emplace_back(*rows, weights);
  }
  int nodes;
  std::vector<double> values, weights;
  std::unique_ptr<ViewRows> rows;
  std::vector<CombinedRows> combined;
};

struct Gradient {
  std::vector<std::vector<double>> attention;  // a layer each
  std::vector<std::vector<double>> weights;
};

Gradient gradient_of(const DifferentiableMetric& metric, const std::vector<CombinedRows>& layers,
                     const std::vector<double>& upstream) {
  Gradient result;
  std::vector<std::unique_ptr<AttentionGradient>> into;
  for (const CombinedRows& layer : layers) {
    const auto n = static_cast<std::size_t>(layer.nodes());
    result.attention.emplace_back(static_cast<std::size_t>(layer.heads()) * n * n, 0.0);
  }
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const auto n = static_cast<std::ptrdiff_t>(layers[l].nodes());
    into.push_back(std::make_unique<AttentionGradient>(
        layers[l], DenseGradient{result.attention[l].data(), FloatType::kFloat64, n * n * 8, n * 8},
        true));
  }
  metric.pull_back(layers, upstream, [&](int layer, const LowRankGradient& gradient) {
    into[static_cast<std::size_t>(layer)]->add(gradient);
  });
  for (const auto& one : into) result.weights.push_back(one->weights());
  return result;
}

using Value = std::function<Real(const std::vector<System>&)>;

/// Central differences, twice, extrapolated: the error is that of the fourth power of the step.
Real slope(const Value& value, std::vector<System>& systems, Real& entry, Real step) {
  const Real kept = entry;
  const auto central = [&](Real by) {
    entry = kept + by;
    const Real above = value(systems);
    entry = kept - by;
    const Real below = value(systems);
    entry = kept;
    return (above - below) / (2 * by);
  };
  return (4 * central(step / 2) - central(step)) / 3;
}

/// Holds the value and all derivatives of a metric against the definition.
void expect_gradient(const std::string& name, const DifferentiableMetric& metric,
                     const std::vector<CombinedRows>& layers, std::vector<System> systems,
                     const std::vector<double>& upstream, const Value& value, Real step,
                     double tolerance = 2e-9) {
  double found = 0.0;
  for (std::size_t k = 0; k < upstream.size(); ++k) found += upstream[k] * metric.values()[k];
  const auto expected = static_cast<double>(value(systems));
  EXPECT_NEAR(found, expected, 1e-12 * std::abs(expected) + 1e-14) << name;
  const Gradient gradient = gradient_of(metric, layers, upstream);
  for (std::size_t l = 0; l < systems.size(); ++l) {
    const std::size_t n = systems[l].nodes();
    for (std::size_t h = 0; h < systems[l].heads.size(); ++h) {
      std::vector<double> slopes(n * n, 0.0);
      double most = 0.0;
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k <= i; ++k) {
          slopes[i * n + k] =
              static_cast<double>(slope(value, systems, systems[l].heads[h][i][k], step));
          most = std::max(most, std::abs(slopes[i * n + k]));
        }
      for (std::size_t e = 0; e < n * n; ++e)
        EXPECT_NEAR(gradient.attention[l][h * n * n + e], slopes[e], tolerance * most)
            << name << ", head " << h << ", row " << e / n << ", key " << e % n;
      const Real of_weight = slope(value, systems, systems[l].weights[h], 1e-3L);
      EXPECT_NEAR(gradient.weights[l][h], static_cast<double>(of_weight),
                  1e-8 * (std::abs(expected) + std::abs(static_cast<double>(of_weight))))
          << name << ", weight " << h;
    }
  }
}

/// The mean over sinks.
Real mean_of(const Sinks& sinks, std::size_t nodes, const std::function<Real(std::size_t)>& of) {
  Real sum = 0;
  const std::vector<int> positions = sinks.of(static_cast<int>(nodes));
  for (const int sink : positions) sum += of(static_cast<std::size_t>(sink));
  return sum / static_cast<Real>(positions.size());
}

struct Case {
  Kind kind;
  std::size_t nodes, heads;
  Real step;
};

const std::vector<Case> kCases = {
    {Kind::kSoft, 1, 1, 1e-3L}, {Kind::kSoft, 2, 1, 1e-3L},          {Kind::kSoft, 7, 1, 1e-4L},
    {Kind::kSoft, 6, 3, 1e-4L}, {Kind::kZeros, 8, 1, 1e-4L},         {Kind::kZeros, 7, 2, 1e-4L},
    {Kind::kTies, 6, 2, 1e-4L}, {Kind::kNearIdentity, 5, 1, 1e-14L}, {Kind::kPrevious, 6, 1, 1e-4L},
};
const std::vector<Sinks> kSinks = {Sinks(), Sinks{{0}, false}, Sinks{{}, true}};

template <class Visit>
void for_cases(const Visit& visit) {
  for (std::size_t c = 0; c < kCases.size(); ++c)
    for (const Sinks& sinks : kSinks) {
      const System system =
          system_of(kCases[c].kind, kCases[c].nodes, kCases[c].heads, static_cast<unsigned>(c));
      const Held held(system);
      visit(kCases[c], system, held, sinks,
            fmt::format("case {}, {} sinks", c, sinks.of(held.nodes).size()));
    }
}

TEST(Gradient, HittingTimeIsThatOfTheDefinition) {
  for_cases([](const Case& of, const System& system, const Held& held, const Sinks& sinks,
               const std::string& name) {
    for (const bool logarithm : {false, true}) {
      const auto metric = hitting_time_gradient(held.combined[0], {sinks, logarithm});
      if (metric->values()[0] <= 0.0) continue;  // the sink alone, and logarithms of it
      const Value value = [&](const std::vector<System>& systems) {
        const direct::Matrix d = direct::combined(systems[0]);
        const Real mean = mean_of(sinks, d.size(),
                                  [&](std::size_t sink) { return direct::hitting_time(d, sink); });
        return logarithm ? std::log(mean) : mean;
      };
      expect_gradient(
          name, *metric, held.combined, {system}, {1.5},
          [&](const auto& systems) { return 1.5L * value(systems); }, of.step,
          of.kind == Kind::kNearIdentity ? 1e-6 : 2e-9);
    }
  });
}

TEST(Gradient, BackwardHittingTimeIsThatOfTheDefinition) {
  for_cases([](const Case& of, const System& system, const Held& held, const Sinks& sinks,
               const std::string& name) {
    const auto metric = backward_hitting_time_gradient(held.combined[0], {sinks, false});
    expect_gradient(
        name, *metric, held.combined, {system}, {-2.0},
        [&](const std::vector<System>& systems) {
          const direct::Matrix d = direct::combined(systems[0]);
          return -2 * mean_of(sinks, d.size(), [&](std::size_t sink) {
            return direct::backward_hitting_time(d, sink);
          });
        },
        of.step, of.kind == Kind::kNearIdentity ? 1e-6 : 2e-9);
  });
}

/// A factor for a column of D cancels in the walk. So the products of entries and derivatives sum
/// to 0 in a column that one head has alone; backwards, in a row. For a head that moves once in
/// 10^14 steps, the derivative on the diagonal is 10^14 times smaller than the others, but its
/// product is as large.
TEST(Gradient, OfHeadsThatHardlyMoveKeepsItsDigits) {
  System system;
  const double e = 1e-14;
  system.heads = {
      {{1, 0, 0, 0}, {e, 1 - e, 0, 0}, {e / 4, 3 * e / 4, 1 - e, 0}, {e, e, e, 1 - 3 * e}},
      {{1, 0, 0, 0}, {1, 0, 0, 0}, {1, 0, 0, 0}, {1, 0, 0, 0}}};
  for (auto& row : system.heads[0])
    for (Real& x : row) x = static_cast<double>(x);
  system.weights = {0.6, 0.4};
  const Held held(system);
  const auto forward = hitting_time_gradient(held.combined[0], {{}, true});
  const Gradient of_columns = gradient_of(*forward, held.combined, {1.0});
  const auto entry = [&](std::size_t i, std::size_t j) {
    return static_cast<double>(system.heads[0][i][j]) * of_columns.attention[0][i * 4 + j];
  };
  for (std::size_t j = 1; j < 3; ++j) {
    double sum = 0.0;
    for (std::size_t i = j; i < 4; ++i) sum += entry(i, j);
    EXPECT_GT(entry(j, j), 0.01) << j;
    EXPECT_NEAR(sum, 0.0, 1e-14) << j;
  }
  const Value value = [](const std::vector<System>& systems) {
    return std::log(direct::hitting_time(direct::combined(systems[0]), 3));
  };
  for (std::size_t h = 0; h < 2; ++h) {
    std::vector<System> moved = {system};
    const Real expected = slope(value, moved, moved[0].weights[h], 1e-3L);
    EXPECT_NEAR(of_columns.weights[0][h], static_cast<double>(expected), 1e-13) << h;
  }
  const System alone{{system.heads[0]}, {1.0}};
  const Held one(alone);
  const auto backward = backward_hitting_time_gradient(one.combined[0], {{}, true});
  const Gradient of_rows = gradient_of(*backward, one.combined, {1.0});
  for (std::size_t i = 1; i < 4; ++i) {
    double sum = 0.0;
    for (std::size_t k = 0; k <= i; ++k)
      sum += static_cast<double>(alone.heads[0][i][k]) * of_rows.attention[0][i * 4 + k];
    EXPECT_GT(of_rows.attention[0][i * 4 + i], 0.01) << i;
    EXPECT_NEAR(sum, 0.0, 1e-14) << i;
  }
}

TEST(Gradient, TruncatedTimesAndSurvivalAreThoseOfTheDefinition) {
  for_cases([](const Case& of, const System& system, const Held& held, const Sinks& sinks,
               const std::string& name) {
    for (const int cutoff : {1, 2, 13}) {
      const auto metric = truncated_hitting_time_gradient(held.combined[0], cutoff, sinks);
      expect_gradient(
          name, *metric, held.combined, {system}, {1.0},
          [&](const std::vector<System>& systems) {
            const direct::Matrix d = direct::combined(systems[0]);
            return mean_of(sinks, d.size(),
                           [&](std::size_t sink) { return direct::truncated(d, sink, cutoff); });
          },
          std::max(of.step, 1e-5L));
    }
    const std::vector<int> times = {0, 3, 9};
    const auto metric = survival_gradient(held.combined[0], times, sinks);
    expect_gradient(
        name, *metric, held.combined, {system}, {1.0, -2.0, 3.0},
        [&](const std::vector<System>& systems) {
          const direct::Matrix d = direct::combined(systems[0]);
          return mean_of(sinks, d.size(), [&](std::size_t sink) {
            const auto s = direct::mean_survival(d, sink, 9);
            return s[0] - 2 * s[3] + 3 * s[9];
          });
        },
        std::max(of.step, 1e-5L));
  });
}

TEST(Gradient, SignalsAndPeaksAreThoseOfTheDefinition) {
  for_cases([](const Case& of, const System& system, const Held& held, const Sinks& sinks,
               const std::string& name) {
    const int last = held.nodes - 1;
    const std::vector<SignalPlace> places = {{0, 4}, {last, 0}, {last / 2, 11}, {last, 2}};
    const auto metric = signal_gradient(held.combined[0], places, sinks);
    expect_gradient(
        name, *metric, held.combined, {system}, {1.0, 1.0, -3.0, 0.5},
        [&](const std::vector<System>& systems) {
          const direct::Matrix d = direct::combined(systems[0]);
          return mean_of(sinks, d.size(), [&](std::size_t sink) {
            const direct::Matrix r = direct::signals(d, sink, 11);
            const auto at = [&](int node, std::size_t t) -> Real {
              const auto j = static_cast<std::size_t>(node);
              return j <= sink ? r[t][j] : 0;
            };
            return at(0, 4) + at(last, 0) - 3 * at(last / 2, 11) + at(last, 2) / 2;
          });
        },
        std::max(of.step, 1e-5L));
    if (of.kind == Kind::kTies || of.kind == Kind::kPrevious) return;  // kinks
    const std::vector<int> positions = sinks.of(held.nodes);
    if (positions.front() == 0) return;  // D(0, 0) = 1: every step is a peak
    FidelityGradientOptions options;
    options.horizon = 4;
    options.sinks = sinks;
    const auto peaks = peak_fidelity_gradient(held.combined[0], {0, last / 2}, options);
    expect_gradient(
        name, *peaks, held.combined, {system}, {1.0, 2.0},
        [&](const std::vector<System>& systems) {
          const direct::Matrix d = direct::combined(systems[0]);
          return mean_of(sinks, d.size(), [&](std::size_t sink) {
            const auto half = static_cast<std::size_t>(last / 2);
            return direct::peak(d, sink, 0, 4) +
                   (half <= sink ? 2 * direct::peak(d, sink, half, 4) : Real(0));
          });
        },
        of.kind == Kind::kNearIdentity ? 1e-13L : 1e-6L, 1e-6);
  });
}

TEST(Gradient, MinimaxIsThatOfTheFormula) {
  for_cases([](const Case& of, const System& system, const Held& held, const Sinks& sinks,
               const std::string& name) {
    for (const double softness : {0.0, 0.02, 0.25, 1.0})
      for (const bool logarithm : {false, true}) {
        if (softness == 0.0 && (of.kind == Kind::kTies || of.kind == Kind::kPrevious)) continue;
        // Powers of 0 have no central difference unless they are whole and even.
        if (of.kind == Kind::kPrevious && (softness != 0.25 || true)) continue;
        FidelityGradientOptions options;
        options.horizon = 4;
        options.softness = softness;
        options.logarithm = logarithm;
        options.sinks = sinks;
        const auto metric = minimax_fidelity_gradient(held.combined[0], options);
        const Value value = [&](const std::vector<System>& systems) {
          const direct::Matrix d = direct::combined(systems[0]);
          const Real mean = mean_of(sinks, d.size(), [&](std::size_t sink) {
            return direct::minimax(d, sink, 4, softness);
          });
          return logarithm ? std::log(mean) : mean;
        };
        expect_gradient(fmt::format("{}, softness {}", name, softness), *metric, held.combined,
                        {system}, {1.0}, value, of.kind == Kind::kNearIdentity ? 1e-13L : 1e-6L,
                        of.kind == Kind::kNearIdentity ? 1e-5 : 1e-6);
      }
  });
}

TEST(Gradient, StackFidelityIsThatOfTheFormula) {
  for (const Kind kind : {Kind::kSoft, Kind::kZeros, Kind::kNearIdentity})
    for (const std::size_t n : {1U, 2U, 6U})
      for (const double softness : {0.0, 0.1})
        for (const Sinks& sinks : kSinks) {
          const std::vector<System> systems = {system_of(kind, n, 2, 5), system_of(kind, n, 1, 6),
                                               system_of(Kind::kSoft, n, 3, 7)};
          std::vector<std::unique_ptr<Held>> held;
          std::vector<CombinedRows> layers;
          for (const System& system : systems) {
            held.push_back(std::make_unique<Held>(system));
            layers.push_back(held.back()->combined[0]);
          }
          StackGradientOptions options;
          options.residual = 0.3;
          options.softness = softness;
          options.sinks = sinks;
          const auto metric = stack_fidelity_gradient(layers, options);
          expect_gradient(
              "stack", *metric, layers, systems, {1.0},
              [&](const std::vector<System>& of) {
                std::vector<direct::Matrix> d;
                for (const System& one : of) d.push_back(direct::combined(one));
                return mean_of(sinks, n, [&](std::size_t sink) {
                  return direct::stack_fidelity(d, sink, 0.3, softness);
                });
              },
              kind == Kind::kNearIdentity ? 1e-12L : 1e-6L, 1e-5);
        }
}

// The values are those that the library measures elsewhere, by other code.
TEST(Gradient, ValuesAreThoseOfTheMeasurements) {
  const std::size_t n = 150;  // several blocks of rows
  const System system = system_of(Kind::kSoft, n, 1, 3);
  const Held held(system);
  ::synergraph::Matrix attention(static_cast<int>(n), static_cast<int>(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k <= i; ++k)
      attention(static_cast<int>(i), static_cast<int>(k)) = held.values[i * n + k];
  const Walk walk = walk_of_attention(attention);
  EXPECT_NEAR(hitting_time_gradient(held.combined[0])->values()[0], hitting_times(walk).mean, 1e-9);
  EXPECT_NEAR(truncated_hitting_time_gradient(held.combined[0], 100)->values()[0],
              truncated_hitting_times(walk, 100).mean, 1e-9);
  FidelityOptions fixed;
  fixed.horizon = 100;
  const Fidelity expected = fidelity(attention, fixed);
  EXPECT_NEAR(minimax_fidelity_gradient(held.combined[0])->values()[0], expected.minimax,
              1e-12 * expected.minimax);
  const auto peaks = peak_fidelity_gradient(held.combined[0], {0, 1, 70, 148});
  for (const auto& [place, node] : {std::pair(0U, 0U), {1U, 1U}, {2U, 70U}, {3U, 148U}})
    EXPECT_NEAR(peaks->values()[place], expected.node[node], 1e-12 * expected.node[node]);
}

// More nodes than a block of rows, against one derivative in a random direction.
TEST(Gradient, SpansBlocksOfRows) {
  std::mt19937 random(9);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  const std::size_t n = 140;
  System system = system_of(Kind::kSoft, n, 2, 4);
  const Held held(system);
  direct::Matrix direction(n, std::vector<Real>(n, 0));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k <= i; ++k)
      direction[i][k] = uniform(random) * static_cast<double>(system.heads[1][i][k]);
  const auto expect = [&](const DifferentiableMetric& metric,
                          const std::function<Real(const direct::Matrix&)>& value) {
    const auto at = [&](Real by) {
      System moved = system;
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k <= i; ++k) moved.heads[1][i][k] += by * direction[i][k];
      return value(direct::combined(moved));
    };
    const auto central = [&](Real by) { return (at(by) - at(-by)) / (2 * by); };
    const auto expected = static_cast<double>((4 * central(5e-5L) - central(1e-4L)) / 3);
    const Gradient gradient = gradient_of(metric, held.combined, {1.0});
    double found = 0.0;
    double scale = 0.0;
    for (std::size_t e = 0; e < n * n; ++e) {
      const double part =
          gradient.attention[0][n * n + e] * static_cast<double>(direction[e / n][e % n]);
      found += part;
      scale += std::abs(part);
    }
    EXPECT_NEAR(found, expected, 1e-9 * scale);
  };
  const std::size_t sink = n - 1;
  expect(*hitting_time_gradient(held.combined[0]),
         [&](const direct::Matrix& d) { return direct::hitting_time(d, sink); });
  expect(*backward_hitting_time_gradient(held.combined[0]),
         [&](const direct::Matrix& d) { return direct::backward_hitting_time(d, sink); });
  expect(*truncated_hitting_time_gradient(held.combined[0], 30),
         [&](const direct::Matrix& d) { return direct::truncated(d, sink, 30); });
  expect(*signal_gradient(held.combined[0], {{17, 21}}),
         [&](const direct::Matrix& d) { return direct::signals(d, sink, 21)[21][17]; });
  FidelityGradientOptions options;
  options.horizon = 20;
  options.softness = 0.1;
  expect(*minimax_fidelity_gradient(held.combined[0], options),
         [&](const direct::Matrix& d) { return direct::minimax(d, sink, 20, 0.1L); });
}

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(Gradient, InfiniteTimesAreNamed) {
  System system = system_of(Kind::kSoft, 5, 1, 1);
  for (std::size_t i = 3; i < 5; ++i) {  // nothing later attends to token 2
    system.heads[0][i][i] += system.heads[0][i][2];
    system.heads[0][i][2] = 0;
  }
  const Held held(system);
  const auto metric = hitting_time_gradient(held.combined[0]);
  EXPECT_EQ(metric->values()[0], std::numeric_limits<double>::infinity());
  EXPECT_THAT(message_of([&] { gradient_of(*metric, held.combined, {1.0}); }),
              testing::HasSubstr("token 2 never reaches token 4"));
  // Left out of a loss: no gradient, and no error.
  const Gradient of_metric_0 = gradient_of(*metric, held.combined, {0.0});
  for (const double g : of_metric_0.attention[0]) EXPECT_EQ(g, 0.0);
  // Truncated times are finite, and so are their gradients.
  const auto truncated = truncated_hitting_time_gradient(held.combined[0], 50);
  const Gradient of_truncated_1 = gradient_of(*truncated, held.combined, {1.0});
  for (const double g : of_truncated_1.attention[0]) EXPECT_TRUE(std::isfinite(g));
}

TEST(Gradient, TokenThatNothingAttendsToStays) {
  System system = system_of(Kind::kSoft, 4, 1, 1);
  for (std::size_t i = 1; i < 4; ++i) {
    system.heads[0][i][0] += system.heads[0][i][1];
    system.heads[0][i][1] = 0;
  }
  const Held held(system);
  const auto survives = survival_gradient(held.combined[0], {1000});
  // Token 1, one of four, and token 0 where it steps to token 1.
  const std::vector<direct::Real> column = {system.heads[0][1][0], system.heads[0][2][0],
                                            system.heads[0][3][0]};
  const Real caught = column[0] / (column[0] + column[1] + column[2]);
  EXPECT_NEAR(survives->values()[0], static_cast<double>(1 + caught) / 4, 1e-12);
  const Gradient of_survives_1 = gradient_of(*survives, held.combined, {1.0});
  for (const double g : of_survives_1.attention[0]) EXPECT_TRUE(std::isfinite(g));
  FidelityGradientOptions options;
  const auto fidelity = minimax_fidelity_gradient(held.combined[0], options);
  EXPECT_EQ(fidelity->values()[0], 0.0);
  // The first signal of token 1 is D(sink, 1) itself.
  EXPECT_EQ(gradient_of(*fidelity, held.combined, {1.0}).attention[0][3 * 4 + 1], 1.0);
  options.logarithm = true;
  const auto logarithm = minimax_fidelity_gradient(held.combined[0], options);
  EXPECT_THAT(message_of([&] { gradient_of(*logarithm, held.combined, {1.0}); }),
              testing::HasSubstr("logarithm is -infinity"));
}

TEST(Gradient, WrongAttentionIsNamed) {
  const auto message = [](double value, int at) {
    std::vector<double> a = {1, 0, 0, 0.5, 0.5, 0, 0.25, 0.25, 0.5};
    a[static_cast<std::size_t>(at)] = value;
    return message_of([&] { ViewRows(attention_view(a.data(), 1, 1, 3), TokenSpan{0, 0, 3}); });
  };
  EXPECT_THAT(message(std::nan(""), 4), testing::HasSubstr("row 1 contains nan at key 1"));
  EXPECT_THAT(message(0.25, 5), testing::HasSubstr("0 above the diagonal"));
  EXPECT_THAT(message(-0.5, 3), testing::HasSubstr("must be probabilities"));
  EXPECT_THAT(message(0.75, 8), testing::HasSubstr("row 2 sums to 1.25"));
  EXPECT_EQ(message(0.5, 8), "nothing");
}

/// Queries and keys, and the heads that they make, by plain loops.
struct Scores {
  int heads, key_heads, nodes, width;
  double scale, softcap;
  int window;
  std::vector<double> queries, keys;

  System system() const {
    System made;
    for (int h = 0; h < heads; ++h) {
      direct::Matrix a(static_cast<std::size_t>(nodes),
                       std::vector<Real>(static_cast<std::size_t>(nodes), 0));
      const int key_head = h / (heads / key_heads);
      for (int i = 0; i < nodes; ++i) {
        Real sum = 0;
        for (int k = window > 0 ? std::max(0, i + 1 - window) : 0; k <= i; ++k) {
          Real score = 0;
          for (int f = 0; f < width; ++f)
            score += Real(queries[static_cast<std::size_t>((h * nodes + i) * width + f)]) *
                     keys[static_cast<std::size_t>((key_head * nodes + k) * width + f)];
          score *= scale;
          if (softcap > 0) score = softcap * std::tanh(score / softcap);
          sum += a[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)] = std::exp(score);
        }
        for (Real& x : a[static_cast<std::size_t>(i)]) x /= sum;
      }
      made.heads.push_back(a);
      made.weights.push_back(1.0 + h);
    }
    return made;
  }
};

TEST(Gradient, QueriesAndKeysAgainstDifferences) {
  for (const auto& [heads, key_heads, softcap, window] :
       {std::tuple(1, 1, 0.0, 0), {2, 2, 0.0, 0}, {4, 2, 3.0, 0}, {2, 1, 0.0, 3}}) {
    std::mt19937 random(8);
    std::normal_distribution<double> normal;
    Scores scores{heads, key_heads, 7, 3, 0.7, softcap, window, {}, {}};
    for (int k = 0; k < heads * 7 * 3; ++k) scores.queries.push_back(normal(random));
    for (int k = 0; k < key_heads * 7 * 3; ++k) scores.keys.push_back(normal(random));
    QueryKeyView view;
    view.queries = scores.queries.data();
    view.keys = scores.keys.data();
    view.type = FloatType::kFloat64;
    view.samples = 1;
    view.heads = heads;
    view.key_heads = key_heads;
    view.tokens = 7;
    view.width = 3;
    view.query_strides = view.key_strides = {heads * 7 * 3 * 8, 7 * 3 * 8, 3 * 8};
    view.scale = scores.scale;
    view.softcap = softcap;
    view.window = window;
    const ScoreRows rows(view, TokenSpan{0, 0, 7});
    std::vector<double> weights;
    for (int h = 0; h < heads; ++h) weights.push_back(1.0 + h);
    const std::vector<CombinedRows> layers = {CombinedRows(rows, weights)};
    FidelityGradientOptions options;
    options.horizon = 15;
    options.softness = 0.1;
    const auto fidelity = minimax_fidelity_gradient(layers[0], options);
    const auto time = hitting_time_gradient(layers[0], {{}, true});
    const auto check = [&](const DifferentiableMetric& metric,
                           const std::function<Real(const direct::Matrix&)>& of) {
      QueryKeyGradient into(layers[0], rows);
      metric.pull_back(layers, std::vector<double>{1.0},
                       [&](int, const LowRankGradient& gradient) { into.add(gradient); });
      const auto value = [&] { return of(direct::combined(scores.system())); };
      EXPECT_NEAR(metric.values()[0], static_cast<double>(value()), 1e-12);
      const auto expect = [&](std::vector<double>& entries, const std::vector<double>& found) {
        ASSERT_EQ(entries.size(), found.size());
        for (std::size_t e = 0; e < entries.size(); ++e) {
          const double kept = entries[e];
          const auto central = [&](double by) {
            entries[e] = kept + by;
            const double up = entries[e];
            const Real above = value();
            entries[e] = kept - by;
            const double down = entries[e];
            const Real below = value();
            entries[e] = kept;
            return (above - below) / (Real(up) - down);
          };
          const Real expected = (4 * central(1e-4) - central(2e-4)) / 3;
          EXPECT_NEAR(found[e], static_cast<double>(expected), 1e-9) << e;
        }
      };
      expect(scores.queries, into.queries());
      expect(scores.keys, into.keys());
    };
    if (window == 0)
      check(*fidelity, [](const direct::Matrix& d) { return direct::minimax(d, 6, 15, 0.1L); });
    check(*time, [](const direct::Matrix& d) { return std::log(direct::hitting_time(d, 6)); });
  }
}

}  // namespace
}  // namespace synergraph
