/* Metrics with gradients: values by hand, derivatives by differences. */
#include <math.h>

#include "check.h"

#define N 3

/* The softmax of some scores: rows sum to 1. */
static void attention_of(const double* scores, double* attention) {
  for (int i = 0; i < N; ++i) {
    double sum = 0;
    for (int k = 0; k <= i; ++k) sum += exp(scores[i * N + k]);
    for (int k = 0; k < N; ++k) attention[i * N + k] = k <= i ? exp(scores[i * N + k]) / sum : 0;
  }
}

static sg_gradient* gradient_of(const double* attention, const char* options, sg_attention** made) {
  const int64_t shape[4] = {1, 1, N, N};
  sg_gradient* gradient = NULL;
  OK(sg_attention_create("{\"row_tolerance\": 1e-3}", made));
  OK(sg_attention_add(*made, "only", attention, SG_FLOAT64, shape, NULL));
  OK(sg_gradient_create(*made, NULL, 0, options, NULL, &gradient));
  return gradient;
}

static double value_of(const double* attention, const char* options) {
  sg_attention* made = NULL;
  sg_gradient* gradient = gradient_of(attention, options, &made);
  double value = 0;
  OK(sg_gradient_values(gradient, &value, 1));
  sg_gradient_free(gradient);
  sg_attention_free(made);
  return value;
}

static void test_derivatives(const char* options) {
  const double scores[N * N] = {0, 0, 0, 0.3, -0.2, 0, 0.5, 0.1, -0.4};
  double attention[N * N];
  attention_of(scores, attention);
  sg_attention* made = NULL;
  sg_gradient* gradient = gradient_of(attention, options, &made);
  int64_t samples = 0, values = 0;
  OK(sg_gradient_shape(gradient, &samples, &values));
  CHECK(samples == 1 && values == 1);
  double found[N * N] = {0};
  double weight = 1;
  sg_gradient_buffers buffers = SG_GRADIENT_BUFFERS_INIT;
  buffers.attention = found;
  buffers.weights = &weight;
  const double upstream = 2;
  OK(sg_gradient_pull_back(gradient, &upstream, 1, &buffers, 1, NULL));
  CHECK(fabs(weight - 1) < 1e-12); /* one head: its weight changes nothing */
  for (int i = 0; i < N; ++i)
    for (int k = 0; k < N; ++k) {
      if (k > i) {
        CHECK(found[i * N + k] == 0);
        continue;
      }
      const double kept = attention[i * N + k], step = 1e-5;
      attention[i * N + k] = kept + step;
      const double above = value_of(attention, options);
      attention[i * N + k] = kept - step;
      const double below = value_of(attention, options);
      attention[i * N + k] = kept;
      CHECK(fabs(found[i * N + k] - (above - below) / step) < 1e-8 * (1 + fabs(found[i * N + k])));
    }
  sg_gradient_free(gradient);
  sg_attention_free(made);
}

static void test_queries_and_keys(void) {
  double queries[N] = {0.5, -1, 2}, keys[N] = {1, 0.25, -0.5}; /* of width 1 */
  sg_attention* made = NULL;
  OK(sg_attention_create(NULL, &made));
  sg_scores scores = SG_SCORES_INIT;
  scores.queries = queries;
  scores.keys = keys;
  scores.dtype = SG_FLOAT64;
  scores.samples = scores.heads = scores.key_heads = scores.width = 1;
  scores.tokens = N;
  scores.query_strides[0] = scores.query_strides[1] = N * 8;
  scores.query_strides[2] = 8;
  memcpy(scores.key_strides, scores.query_strides, sizeof scores.key_strides);
  OK(sg_attention_add_scores(made, "only", &scores, NULL, NULL, NULL, SG_FLOAT64));
  sg_gradient* gradient = NULL;
  OK(sg_gradient_create(made, NULL, 0, NULL, NULL, &gradient));
  double value = 0, table[N * N], attention[N * N];
  OK(sg_gradient_values(gradient, &value, 1));
  for (int i = 0; i < N; ++i)
    for (int k = 0; k < N; ++k) table[i * N + k] = queries[i] * keys[k];
  attention_of(table, attention);
  CHECK(fabs(value - value_of(attention, NULL)) < 1e-13);
  double dqueries[N] = {0}, dkeys[N] = {0};
  const double upstream = 1;
  sg_gradient_buffers buffers = SG_GRADIENT_BUFFERS_INIT;
  buffers.queries = dqueries;
  buffers.keys = dkeys;
  OK(sg_gradient_pull_back(gradient, &upstream, 1, &buffers, 1, NULL));
  CHECK(dqueries[0] == 0); /* the first token has one key */
  /* q -> c q, k -> k / c changes nothing. */
  double sum = 0;
  for (int i = 0; i < N; ++i) sum += queries[i] * dqueries[i] - keys[i] * dkeys[i];
  CHECK(fabs(sum) < 1e-13);
  buffers.dtype = SG_FLOAT16;
  FAILS(SG_USAGE, "float32 or float64",
        sg_gradient_pull_back(gradient, &upstream, 1, &buffers, 1, NULL));
  FAILS(SG_USAGE, "2 buffers", sg_gradient_pull_back(gradient, &upstream, 1, &buffers, 2, NULL));
  sg_gradient_free(gradient);
  sg_gradient_free(NULL);
  sg_attention_free(made);
}

static void test_refusals(void) {
  const double uniform[N * N] = {1, 0, 0, 0.5, 0.5, 0, 0.25, 0.25, 0.5};
  const double stuck[N * N] = {1, 0, 0, 0.5, 0.5, 0, 0.5, 0, 0.5};
  const double wrong[N * N] = {1, 0, 0, NAN, 0.5, 0, 0.25, 0.25, 0.5};
  const int64_t shape[4] = {1, 1, N, N};
  sg_attention* made = NULL;
  sg_gradient* gradient = gradient_of(stuck, NULL, &made);
  double value = 0;
  OK(sg_gradient_values(gradient, &value, 1));
  CHECK(isinf(value));
  double found[N * N] = {0};
  sg_gradient_buffers buffers = SG_GRADIENT_BUFFERS_INIT;
  buffers.attention = found;
  const double upstream[2] = {1, 0};
  FAILS(SG_INPUT, "token 1 never reaches token 2",
        sg_gradient_pull_back(gradient, upstream, 1, &buffers, 1, NULL));
  OK(sg_gradient_pull_back(gradient, upstream + 1, 1, &buffers, 1, NULL));
  FAILS(SG_USAGE, "", sg_gradient_pull_back(gradient, upstream, 2, &buffers, 1, NULL));
  sg_gradient_free(gradient);
  const double weights[2] = {-1, 1};
  FAILS(SG_INPUT, "weights", sg_gradient_create(made, weights, 1, NULL, NULL, &gradient));
  FAILS(SG_INPUT, "weights: 2", sg_gradient_create(made, weights, 2, NULL, NULL, &gradient));
  FAILS(SG_USAGE, "metric",
        sg_gradient_create(made, NULL, 0, "{\"metric\": \"mixing_time\"}", NULL, &gradient));
  FAILS(
      SG_USAGE, "no logarithm of survival",
      sg_gradient_create(made, NULL, 0, "{\"metric\": \"survival\", \"times\": [1], \"log\": true}",
                         NULL, &gradient));
  FAILS(SG_USAGE, "softness",
        sg_gradient_create(made, NULL, 0, "{\"softness\": 2}", NULL, &gradient));
  FAILS(SG_INPUT, "sinks", sg_gradient_create(made, NULL, 0, "{\"sinks\": [3]}", NULL, &gradient));
  CHECK(gradient == NULL);
  sg_attention_free(made);
  OK(sg_attention_create(NULL, &made));
  OK(sg_attention_add(made, "a", uniform, SG_FLOAT64, shape, NULL));
  OK(sg_attention_add(made, "b", wrong, SG_FLOAT64, shape, NULL));
  FAILS(SG_INPUT, "attention of b, head 0: row 1 contains nan at key 0",
        sg_gradient_create(made, NULL, 0, "{\"metric\": \"stack_fidelity\"}", NULL, &gradient));
  FAILS(SG_USAGE, "attention is NULL", sg_gradient_create(NULL, NULL, 0, NULL, NULL, &gradient));
  sg_attention_free(made);
}

int main(void) {
  /* h = (h_0 + h_1) / 3 of steps to the last of three tokens. */
  const double uniform[N * N] = {1, 0, 0, 0.5, 0.5, 0, 0.25, 0.25, 0.5};
  const double h1 = 0.75 / 0.25, h0 = (1.75 + 0.5 * h1) / 0.75;
  CHECK(fabs(value_of(uniform, NULL) - (h0 + h1) / 3) < 1e-14);
  CHECK(fabs(value_of(uniform, "{\"metric\": \"fidelity\", \"nodes\": [1], \"times\": [1]}") -
             0.25) < 1e-15);
  test_derivatives(NULL);
  test_derivatives("{\"log\": true}");
  test_derivatives("{\"metric\": \"truncated_hitting_time\", \"cutoff\": 7}");
  test_derivatives("{\"metric\": \"survival\", \"times\": 3, \"all_sinks\": true}");
  test_derivatives("{\"metric\": \"minimax\", \"softness\": 0.1, \"horizon\": 5}");
  test_derivatives("{\"metric\": \"backward_hitting_time\"}");
  test_derivatives("{\"metric\": \"stack_fidelity\", \"softness\": 0.2}");
  test_queries_and_keys();
  test_refusals();
  return failures;
}
