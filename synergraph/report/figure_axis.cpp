#include "synergraph/report/figure_axis.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "synergraph/report/figure.h"

namespace synergraph {
namespace {

constexpr double kDecades = 18.0;  // that a logarithmic axis spans at most
// Parts of the axis: beyond the numbers, from there to a line at an edge, from that to the end.
constexpr double kBeyond = 0.05;
constexpr double kToLine = 0.06;
constexpr double kToEnd = 0.045;

/// "10⁻³".
std::string power_of_ten(int exponent) {
  constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "10⁻" : "10";
  for (const char digit : std::to_string(std::abs(exponent))) text += kDigits[digit - '0'];
  return text;
}

/// A step of 1, 2 or 5 times a power of ten that divides `length` into about five parts.
double round_step(double length) {
  const double power = std::pow(10.0, std::floor(std::log10(length / 5.0)));
  for (const double step : {1.0, 2.0, 5.0})
    if (length / (step * power) <= 6.0) return step * power;
  return 10.0 * power;
}

/// A dotted line across the panel.
std::string edge_line(double y) {
  return fmt::format(
      "set arrow from graph 0, first {:.8g} to graph 1, first {:.8g} nohead back lw 0.6 dt "
      "(2,4) lc rgb '#888888'\n",
      y, y);
}

}  // namespace

std::string gnuplot_number(double number) {
  return std::isfinite(number) ? fmt::format("{:.8g}", number) : "NaN";
}

void FigureAxis::add(double number) {
  if (std::isinf(number)) never_ = true;
  if (number == 0.0) zero_ = true;
  if (!std::isfinite(number)) return;
  high_ = std::max(high_, number);
  if (number > 0.0) low_ = std::min(low_, number);
}

bool FigureAxis::logarithmic() const {
  return std::isfinite(low_) && high_ / low_ > ratio_;
}

double FigureAxis::least() const {
  return std::max(low_, high_ * std::pow(10.0, -kDecades));
}

bool FigureAxis::at_edge(double number) const {
  return std::isinf(number) || (logarithmic() && number < least());
}

FigureAxis::Range FigureAxis::range() const {
  Range range{};
  if (logarithmic()) {
    const double low = std::log10(least());
    const double high = std::log10(high_);
    const double length = high - low;
    range.low = low - kBeyond * length;
    range.zero = range.low - kToLine * length;
    if (zero_ || low_ < least()) range.low = range.zero - kToEnd * length;
    range.high = high + kBeyond * length;
    range.never = range.high + kToLine * length;
    if (never_) range.high = range.never + kToEnd * length;
  } else {
    const double high = high_ > 0.0 ? high_ : 1.0;
    range.high = (1.0 + kBeyond) * high;
    range.never = range.high + kToLine * high;
    if (never_) range.high = range.never + kToEnd * high;
  }
  return range;
}

double FigureAxis::position(double number) const {
  if (std::isnan(number)) return number;
  const auto back = [&](double place) { return logarithmic() ? std::pow(10.0, place) : place; };
  if (std::isinf(number)) return back(range().never);
  return at_edge(number) ? back(range().zero) : number;
}

std::string FigureAxis::tics() const {
  std::string list;
  const auto tic = [&](const std::string& label, double at) {
    list += fmt::format("{}{} {:.8g}", list.empty() ? "" : ", ", gnuplot_tic(label), at);
  };
  if (!logarithmic()) {
    const double high = high_ > 0.0 ? high_ : 1.0;
    const double step = round_step(high);
    for (int k = 0; k * step <= (1.0 + kBeyond) * high; ++k)
      tic(fmt::format("{:.6g}", k * step), k * step);
    return list;
  }
  const double low = std::log10(least()) - kBeyond * std::log10(high_ / least());
  const double high = std::log10(high_) + kBeyond * std::log10(high_ / least());
  constexpr double kFew = 3.3;
  const bool few = high - low < kFew && least() > 1e-4 && high_ < 1e5;
  const int every = std::max(1, static_cast<int>(std::lround((high - low) / 5.0)));
  for (int decade = static_cast<int>(std::floor(low)); decade <= high; ++decade)
    for (const double step : {1.0, 2.0, 5.0}) {
      const double at = decade + std::log10(step);
      if (at < low || at > high || (!few && step > 1.0)) continue;
      if (few)
        tic(fmt::format("{:.6g}", step * std::pow(10.0, decade)), std::pow(10.0, at));
      else
        tic(decade % every == 0 ? power_of_ten(decade) : "", std::pow(10.0, at));
    }
  return list;
}

std::string FigureAxis::commands() const {
  const Range ends = range();
  const bool log = logarithmic();
  const auto back = [&](double place) { return log ? std::pow(10.0, place) : place; };
  std::string text = fmt::format("set ytics ({})\n{} logscale y\nset yrange [{:.8g}:{:.8g}]\n",
                                 tics(), log ? "set" : "unset", back(ends.low), back(ends.high));
  if (never_)
    text += fmt::format("set ytics add (\"never\" {:.8g})\n", back(ends.never)) +
            edge_line(back(ends.never));
  if (log && (zero_ || low_ < least())) {
    const bool tiny = low_ < least();
    const std::string label =
        tiny ? "<" + power_of_ten(static_cast<int>(std::floor(std::log10(least()))) + 1) : "0";
    text += fmt::format("set ytics add ({} {:.8g})\n", gnuplot_tic(label), back(ends.zero)) +
            edge_line(back(ends.zero));
  }
  return text;
}

}  // namespace synergraph
