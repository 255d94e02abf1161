#pragma once

#pragma GCC visibility push(default)
namespace synergraph {

/// Bounds the chance that independent numbers whose signs are fair coins have a sum of at least
/// `sum`, given the sum of their squares: 3.18 (1 - Phi(sum / sqrt(squares))) (Bentkus and
/// Dzindzalieta, Bernoulli 21, 2015). The bound holds for any number of numbers of any sizes. It is
/// 1 where the sum is not above 0.
double symmetric_sum_chance(double sum, double squares);

}  // namespace synergraph
#pragma GCC visibility pop
