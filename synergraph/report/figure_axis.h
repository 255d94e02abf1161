#pragma once

#include <limits>
#include <string>

namespace synergraph {

/// A number for gnuplot, which leaves out points that do not exist.
std::string gnuplot_number(double number);

/// The y axis of panels that are compared: straight, or logarithmic where a straight one would hide
/// the small numbers. What has no place on it has a line of its own at an edge, with its name:
/// infinity ("never") above, and on a logarithmic axis zero below.
class FigureAxis {
 public:
  /// Logarithmic if the largest number is more than `ratio` times the smallest positive one.
  explicit FigureAxis(double ratio = 30.0) : ratio_(ratio) {}

  /// The axis must show this number; NaN is none.
  void add(double number);

  bool logarithmic() const;

  /// Whether the number stands on a line at an edge.
  bool at_edge(double number) const;

  /// Where on the axis the number is drawn.
  double position(double number) const;

  /// The gnuplot commands that set it.
  std::string commands() const;

 private:
  /// The ends of the axis and its lines at the edges; logarithms on a logarithmic axis.
  struct Range {
    double low;
    double high;
    double zero;
    double never;
  };
  Range range() const;
  /// The smallest number that a logarithmic axis shows: it spans at most so many decades.
  double least() const;
  std::string tics() const;

  double ratio_;
  double low_ = std::numeric_limits<double>::infinity();  // smallest positive number
  double high_ = 0.0;
  bool zero_ = false;
  bool never_ = false;
};

}  // namespace synergraph
