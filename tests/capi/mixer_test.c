/* Systems and mixers: one layer on one sample, at any weights. */
#include <math.h>

#include "check.h"

/* Two heads on three tokens: the sink takes 3/4 and 1/4 of the sources, or 1/4 and 3/4. */
static const double matrix[2][3][3] = {{{1, 0, 0}, {0, 1, 0}, {0.75, 0.25, 0}},
                                       {{1, 0, 0}, {0, 1, 0}, {0.25, 0.75, 0}}};

static sg_attention* two_heads(void) {
  const int64_t shape[4] = {1, 2, 3, 3};
  sg_attention* attention = NULL;
  OK(sg_attention_create(NULL, &attention));
  OK(sg_attention_add(attention, "only", matrix, SG_FLOAT64, shape, NULL));
  return attention;
}

static void test_system(void) {
  sg_attention* attention = two_heads();
  sg_result* result = NULL;
  char* text = NULL;
  const char* named = "{\"head_names\": [\"a\", \"b\"], \"node_names\": [\"u\", \"v\", \"sink\"]}";
  OK(sg_attention_json(attention, &text));
  CHECK(strstr(text, "\"name\": \"only\"") != NULL && strstr(text, "\"tokens\": 3") != NULL);
  sg_free(text);

  OK(sg_system_measure(attention, 0, 0, named, NULL, &result));
  CHECK(number(result, "minimax_fidelity", 0) == 0.5);
  CHECK(number(result, "heads/minimax_fidelity", 1) == 0.25);
  OK(sg_result_json(result, &text));
  CHECK(strstr(text, "\"name\": \"b\"") != NULL && strstr(text, "\"sink\"") != NULL);
  sg_free(text);
  sg_result_free(result);

  OK(sg_system_measure(attention, 0, 0, "{\"weights\": [3, 1]}", NULL, &result));
  CHECK(number(result, "minimax_fidelity", 0) == 0.375);
  CHECK(number(result, "weights", 0) == 0.75);
  sg_result_free(result);

  OK(sg_system_matrix(attention, 0, 0, -1, "{\"weights\": [3, 1]}", NULL, &result));
  CHECK(number(result, "diffusion", 6) == 0.625 && number(result, "diffusion", 8) == 0);
  sg_result_free(result);
  OK(sg_system_matrix(attention, 0, 0, 1, NULL, NULL, &result));
  CHECK(number(result, "diffusion", 7) == 0.75);
  FAILS(SG_USAGE, "no table", sg_result_table(result, 0, &text));
  FAILS(SG_USAGE, "no CSV", sg_result_csv(result, &text));
  sg_result_free(result);

  FAILS(SG_USAGE, "layer 1", sg_system_measure(attention, 1, 0, NULL, NULL, &result));
  FAILS(SG_USAGE, "sample 1", sg_system_curves(attention, 0, 1, NULL, NULL, &result));
  FAILS(SG_USAGE, "head 2", sg_system_matrix(attention, 0, 0, 2, NULL, NULL, &result));
  FAILS(SG_USAGE, "node_names: 1 names, expected 3",
        sg_system_measure(attention, 0, 0, "{\"node_names\": \"u\"}", NULL, &result));
  FAILS(SG_USAGE, "head_names",
        sg_system_measure(attention, 0, 0, "{\"head_names\": [\"u\"]}", NULL, &result));
  FAILS(SG_USAGE, "'steps'", sg_system_curves(attention, 0, 0, "{\"steps\": -1}", NULL, &result));
  FAILS(SG_USAGE, "attention is NULL", sg_system_steps(NULL, 0, 0, NULL, NULL, &result));
  sg_attention_free(attention);
}

static void test_curves(void) {
  sg_graph* graph = NULL;
  sg_attention* attention = NULL;
  sg_result* result = NULL;
  const sg_array* array;
  char* text = NULL;
  double signal[3 * 4 * 3];
  size_t k;
  OK(sg_graph_example(1, &graph));
  OK(sg_graph_json(graph, &text));
  CHECK(strstr(text, "\"kind\": \"graph\"") != NULL && strstr(text, "\"from\": 0") != NULL);
  sg_free(text);
  OK(sg_graph_attention(graph, &attention));
  sg_graph_free(graph);
  OK(sg_system_curves(attention, 0, 0, "{\"steps\": 10}", NULL, &result));
  array = sg_result_find(result, "survival");
  CHECK(strcmp(array->axes, "head step") == 0 && array->shape[0] == 3 && array->shape[1] == 11);
  /* The mixing time is 10, of all heads together; those of each head are infinite. */
  CHECK(number(result, "survival", 2 * 11 + 10) <= 0.25 &&
        number(result, "survival", 2 * 11 + 9) > 0.25);
  CHECK(number(result, "survival", 10) == 1);
  CHECK(number(result, "mean_survival", 2 * 11) == 2.0 / 3);
  CHECK(fabs(number(result, "minimax_fidelity", 2 * 11 + 10) - 0.421875) < 1e-15);
  OK(sg_result_json(result, &text));
  CHECK(strstr(text, "\"heads\"") != NULL && strstr(text, "\"nodes\"") != NULL);
  sg_free(text);
  sg_result_free(result);

  OK(sg_attention_curves(attention, 0, 0, 3, NULL, signal, 36));
  OK(sg_system_curves(attention, 0, 0, "{\"steps\": 3}", NULL, &result));
  for (k = 0; k < 36; ++k) CHECK(number(result, "signal", k) == signal[k]);
  sg_result_free(result);
  OK(sg_system_curves(attention, 0, 0, "{\"steps\": 9, \"signal\": false, \"horizon\": 2}", NULL,
                      &result));
  CHECK(sg_result_find(result, "signal") == NULL);
  CHECK(number(result, "minimax_fidelity", 29) == number(result, "minimax_fidelity", 22));
  CHECK(number(result, "minimax_fidelity", 21) < number(result, "minimax_fidelity", 22));
  sg_result_free(result);

  OK(sg_system_steps(attention, 0, 0, "{\"steps\": 3, \"powers\": true}", NULL, &result));
  for (k = 0; k < 3; ++k)
    CHECK(fabs(number(result, "reached", 2 * 36 + 33 + k) - signal[2 * 12 + 9 + k]) < 1e-15);
  for (k = 0; k < 9; ++k)
    CHECK(number(result, "walkers", 9 + k) == number(result, "walk", k) &&
          number(result, "walkers", k) == (k % 4 == 0));
  sg_result_free(result);
  OK(sg_system_steps(attention, 0, 0, NULL, NULL, &result));
  CHECK(sg_result_find(result, "walkers") == NULL && sg_result_find(result, "walk") != NULL);
  sg_result_free(result);
  sg_attention_free(attention);
}

static void test_mixer(void) {
  const double weights[2] = {3, 1};
  const double negative[2] = {1, -1};
  const double none[2] = {0, 0};
  const double infinite[2] = {1, INFINITY};
  sg_attention* attention = two_heads();
  sg_mixer* mixer = NULL;
  sg_result* result = NULL;
  char* text = NULL;
  OK(sg_mixer_create(attention, 0, 0, NULL, NULL, &mixer));
  sg_attention_free(attention); /* the mixer has a copy */
  OK(sg_mixer_measure(mixer, NULL, 0, NULL, &result));
  CHECK(number(result, "minimax_fidelity", 0) == 0.5 && number(result, "weights", 0) == 0.5);
  CHECK(number(result, "heads/minimax_fidelity", 0) == 0.25);
  sg_result_free(result);
  OK(sg_mixer_measure(mixer, weights, 2, NULL, &result));
  CHECK(number(result, "minimax_fidelity", 0) == 0.375 && number(result, "weights", 0) == 0.75);
  sg_result_free(result);
  OK(sg_mixer_update(mixer, weights, 2, NULL, &text));
  CHECK(strncmp(text, "{\"weights\":[0.75,0.25],", 23) == 0);
  CHECK(strstr(text, "\"heads\": []") != NULL && strstr(text, "\"combined\"") != NULL);
  sg_free(text);
  OK(sg_mixer_curves(mixer, weights, 2, "{\"steps\": 1}", NULL, &result));
  CHECK(number(result, "signal", 2 * 6 + 3) == 0.625);
  sg_result_free(result);
  OK(sg_mixer_subsets(mixer, NULL, 0, NULL, &text)); /* 0.25 each alone, 0.5 together */
  CHECK(strstr(text, "\"value\": \"fidelity\"") != NULL && strstr(text, "\"shapley\"") != NULL);
  sg_free(text);
  OK(sg_mixer_best_weights(mixer, weights, 2, "fidelity", NULL, &text));
  CHECK(strstr(text, "\"given_value\": 0.375") != NULL);
  sg_free(text);

  FAILS(SG_INPUT, "1 weights for 2 heads", sg_mixer_measure(mixer, weights, 1, NULL, &result));
  FAILS(SG_INPUT, "not finite and non-negative",
        sg_mixer_measure(mixer, negative, 2, NULL, &result));
  FAILS(SG_INPUT, "not finite", sg_mixer_subsets(mixer, infinite, 2, NULL, &text));
  FAILS(SG_INPUT, "all head weights are zero", sg_mixer_update(mixer, none, 2, NULL, &text));
  FAILS(SG_USAGE, "weights is NULL", sg_mixer_update(mixer, NULL, 2, NULL, &text));
  FAILS(SG_USAGE, "goal", sg_mixer_best_weights(mixer, weights, 2, "faith", NULL, &text));
  FAILS(SG_USAGE, "goal is NULL", sg_mixer_best_weights(mixer, weights, 2, NULL, NULL, &text));
  FAILS(SG_USAGE, "'step'", sg_mixer_curves(mixer, NULL, 0, "{\"step\": 1}", NULL, &result));
  FAILS(SG_USAGE, "mixer is NULL", sg_mixer_measure(NULL, weights, 2, NULL, &result));
  sg_mixer_free(mixer);
  FAILS(SG_USAGE, "attention is NULL", sg_mixer_create(NULL, 0, 0, NULL, NULL, &mixer));
  CHECK(mixer == NULL);
  sg_mixer_free(NULL);
}

/* What is moved to the sink: 0.75 * 1 and 0.25 * 2 by one head, 0.25 * 3 and 0.75 * 1 by the other.
 */
static void test_edges(void) {
  const double norms[2][3] = {{1, 2, 9}, {3, 1, 9}};
  const double uneven[2] = {3, 1};
  const int64_t shape[2] = {2, 3};
  const char* edges = "{\"edges\": \"norm\"}";
  sg_attention* attention = two_heads();
  sg_mixer* mixer = NULL;
  sg_result* result = NULL;
  char* text = NULL;
  FAILS(SG_USAGE, "need what the heads move",
        sg_system_measure(attention, 0, 0, edges, NULL, &result));
  OK(sg_attention_set_moved(attention, "norms", 0, norms, SG_FLOAT64, 2, shape, NULL));
  OK(sg_system_measure(attention, 0, 0, edges, NULL, &result));
  CHECK(fabs(number(result, "minimax_fidelity", 0) - 1.25 / 2.75) < 1e-15);
  CHECK(fabs(number(result, "heads/minimax_fidelity", 0) - 0.4) < 1e-15);
  sg_result_free(result);
  OK(sg_system_curves(attention, 0, 0, "{\"edges\": \"norm\", \"steps\": 1}", NULL, &result));
  CHECK(fabs(number(result, "signal", 2 * 6 + 3) - 1.5 / 2.75) < 1e-15);
  sg_result_free(result);
  OK(sg_system_matrix(attention, 0, 0, -1, edges, NULL, &result));
  CHECK(fabs(number(result, "diffusion", 7) - 1.25 / 2.75) < 1e-15);
  sg_result_free(result);
  OK(sg_system_steps(attention, 0, 0, edges, NULL, &result));
  CHECK(fabs(number(result, "diffusion", 2 * 9 + 6) - 1.5 / 2.75) < 1e-15);
  sg_result_free(result);
  OK(sg_mixer_create(attention, 0, 0, edges, NULL, &mixer));
  sg_attention_free(attention);
  OK(sg_mixer_measure(mixer, NULL, 0, NULL, &result));
  CHECK(fabs(number(result, "minimax_fidelity", 0) - 1.25 / 2.75) < 1e-15);
  sg_result_free(result);
  OK(sg_mixer_measure(mixer, uneven, 2, NULL, &result)); /* 3 * 0.5 + 0.75 of 3 * 1.25 + 1.5 */
  CHECK(fabs(number(result, "minimax_fidelity", 0) - 2.25 / 5.25) < 1e-15);
  sg_result_free(result);
  OK(sg_mixer_subsets(mixer, NULL, 0, NULL, &text));
  sg_free(text);
  FAILS(SG_USAGE, "there are no best weights",
        sg_mixer_best_weights(mixer, uneven, 2, "fidelity", NULL, &text));
  sg_mixer_free(mixer);
}

static void test_file(const char* path) {
  sg_attention* attention = NULL;
  sg_mixer* mixer = NULL;
  char* text = NULL;
  OK(sg_inspect(path, &text));
  CHECK(strstr(text, "\"tensors\"") != NULL);
  sg_free(text);
  FAILS(SG_INPUT, "nowhere", sg_inspect("/nowhere.npy", &text));
  OK(sg_attention_open(path, NULL, &attention));
  OK(sg_mixer_create(attention, 0, 0, "{\"convention\": \"published\"}", NULL, &mixer));
  OK(sg_mixer_update(mixer, NULL, 0, NULL, &text));
  CHECK(strstr(text, "\"horizon\": 100") != NULL);
  sg_free(text);
  sg_mixer_free(mixer);
  FAILS(SG_USAGE, "layer 99", sg_mixer_create(attention, 99, 0, NULL, NULL, &mixer));
  FAILS(SG_USAGE, "sample -1", sg_mixer_create(attention, 0, -1, NULL, NULL, &mixer));
  sg_attention_free(attention);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  test_system();
  test_curves();
  test_mixer();
  test_edges();
  test_file(argv[1]);
  return failures;
}
