#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace synergraph {

/// A number for gnuplot, which leaves out points that do not exist.
inline std::string gnuplot_number(double number) {
  return std::isfinite(number) ? fmt::format("{:.8g}", number) : "NaN";
}

/// What a panel's y axis must show.
struct Extent {
  double low = std::numeric_limits<double>::infinity();  ///< smallest positive number
  double high = 0.0;

  void add(double number) {
    if (!std::isfinite(number)) return;
    high = std::max(high, number);
    if (number > 0.0) low = std::min(low, number);
  }
  /// Logarithmic where a straight axis would hide the small ones.
  bool logarithmic() const { return std::isfinite(low) && high / low > ratio; }
  /// The axis' lower end.
  double floor() const { return logarithmic() ? low / 1.5 : 0.0; }

  /// Sets the y axis.
  std::string commands() const {
    if (!logarithmic())
      return fmt::format(
          "unset logscale y\nset yrange [0:{:.6g}]\nset ytics auto\nset format y '%g'\n",
          high > 0.0 ? 1.08 * high : 1.0);
    const double top = high * 1.5;
    const bool few_decades = top / floor() < 2000.0 && low > 1e-4 && high < 1e5;
    std::string tics = "auto";
    if (few_decades) {
      tics.clear();
      for (double decade = std::pow(10.0, std::floor(std::log10(floor()))); decade < top;
           decade *= 10)
        for (const double step : {1.0, 2.0, 5.0})
          tics += fmt::format("{}{:.6g}", tics.empty() ? "(" : ",", step * decade);
      tics += ")";
    }
    return fmt::format(
        "set logscale y\nset yrange [{:.6g}:{:.6g}]\nset ytics {}\nset format y '{}'\n", floor(),
        top, tics, few_decades ? "%g" : "10^{%T}");
  }

  double ratio = 30.0;  ///< of largest to smallest, from which on the axis is logarithmic
};

}  // namespace synergraph
