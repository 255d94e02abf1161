#pragma once

#pragma GCC visibility push(default)
namespace synergraph {

/// Sums and products of arrays at the speed of this CPU's vector registers. The order of summation
/// is fixed, with short chains; it depends on the instruction set alone.

/// Sum of an array.
double total(const double* a, int count);

/// Inner product of two arrays.
double dot(const double* a, const double* b, int count);

/// The largest of `count` numbers, none of them NaN; `least` if none is larger.
double largest(const double* a, int count, double least);

/// Are all entries in [low, high]? NaN is not.
bool within(const double* a, int count, double low, double high);

/// to += factor * from.
void add_scaled(const double* from, double factor, int count, double* to);

}  // namespace synergraph
#pragma GCC visibility pop
