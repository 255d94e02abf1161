/* Which heads matter. Argument 1: attention; argument 2: what `synergraph heads --stack --json`
 * says of it. */
#include <math.h>

#include "check.h"

enum { kSamples = 2, kHeads = 3, kTokens = 5, kMatrix = kTokens * kTokens };

static double attention[kSamples][kHeads][kTokens][kTokens];

/* Causal rows that differ between heads and samples. */
static void fill(void) {
  int s, h, i, j;
  for (s = 0; s < kSamples; ++s)
    for (h = 0; h < kHeads; ++h)
      for (i = 0; i < kTokens; ++i) {
        double sum = 0;
        for (j = 0; j <= i; ++j) sum += 1 + (3 * s + 5 * h + 7 * i + 11 * j) % 13;
        for (j = 0; j <= i; ++j)
          attention[s][h][i][j] = (1 + (3 * s + 5 * h + 7 * i + 11 * j) % 13) / sum;
      }
}

static int read_head(int64_t sample, int64_t head, void* into, void* user) {
  if (user != NULL) return 7;
  memcpy(into, attention[sample][head], sizeof attention[0][0]);
  return 0;
}

static char* read_file(const char* path) {
  FILE* file = fopen(path, "rb");
  char* text = calloc(1, 1 << 20);
  if (file == NULL || text == NULL) exit(2);
  if (fread(text, 1, (1 << 20) - 1, file) == 0) exit(2);
  fclose(file);
  return text;
}

static void test_equals_the_program(const char* path, const char* document) {
  sg_attention* layers = NULL;
  sg_result* result = NULL;
  char* text = NULL;
  char* expected = read_file(document);
  OK(sg_attention_open(path, NULL, &layers));
  OK(sg_heads(layers, "{\"stack\": true}", NULL, &result));
  OK(sg_result_json(result, &text));
  CHECK(strcmp(text, expected) == 0);
  sg_free(text);
  OK(sg_result_csv(result, &text));
  CHECK(strncmp(text, "layer,value,head,weight,shapley,", 32) == 0);
  sg_free(text);
  OK(sg_result_table(result, 60, &text));
  CHECK(strlen(text) > 100);
  sg_free(text);
  free(expected);
  sg_result_free(result);
  sg_attention_free(layers);
}

static void test_numbers(void) {
  const int64_t shape[4] = {kSamples, kHeads, kTokens, kTokens};
  sg_attention* arrays = NULL;
  sg_attention* functions = NULL;
  sg_result* result = NULL;
  char* text = NULL;
  char* same = NULL;
  size_t k;
  double sum = 0;
  OK(sg_attention_create(NULL, &arrays));
  OK(sg_attention_add(arrays, NULL, attention, SG_FLOAT64, shape, NULL));
  OK(sg_heads(arrays, "{\"values\": \"fidelity\", \"keep\": 1}", NULL, &result));
  CHECK(strcmp(sg_result_find(result, "fidelity/shapley")->axes, "layer head") == 0);
  CHECK(strcmp(sg_result_find(result, "fidelity/pairs")->axes, "layer head head") == 0);
  CHECK(sg_result_find(result, "speed/all") == NULL &&
        sg_result_find(result, "stack/heads") == NULL);
  for (k = 0; k < kHeads; ++k) sum += number(result, "fidelity/shapley", k);
  CHECK(fabs(sum - number(result, "fidelity/all", 0)) < 1e-14); /* they share the value of all */
  CHECK(number(result, "fidelity/pairs", 1) == number(result, "fidelity/pairs", 3));
  CHECK(isnan(number(result, "fidelity/pairs", 0)));
  CHECK(number(result, "fidelity/best", 0) == 0);
  CHECK(number(result, "fidelity/best", kHeads) == number(result, "fidelity/all", 0));
  CHECK(number(result, "fidelity/best_weights_value", 0) >=
        number(result, "fidelity/all", 0) * (1 - 1e-9));
  CHECK(number(result, "exact", 0) == 1);
  OK(sg_result_json(result, &text));
  sg_result_free(result);

  /* Heads that are read one at a time. */
  OK(sg_attention_create(NULL, &functions));
  OK(sg_attention_add_function(functions, NULL, read_head, NULL, SG_FLOAT64, shape));
  OK(sg_heads(functions, "{\"values\": \"fidelity\", \"keep\": 1}", NULL, &result));
  OK(sg_result_json(result, &same));
  CHECK(strcmp(text, same) == 0);
  sg_free(text);
  sg_free(same);
  sg_result_free(result);
  OK(sg_measure(functions, NULL, NULL, &result));
  sg_result_free(result);
  OK(sg_attention_add_function(functions, "gone", read_head, &sum, SG_FLOAT64, shape));
  FAILS(SG_INPUT, "head 0: the function that reads it returned 7",
        sg_measure(functions, NULL, NULL, &result));
  FAILS(SG_USAGE, "read is NULL",
        sg_attention_add_function(functions, NULL, NULL, NULL, SG_FLOAT64, shape));
  FAILS(SG_USAGE, "element type",
        sg_attention_add_function(functions, NULL, read_head, NULL, 9, shape));
  sg_attention_free(functions);

  OK(sg_heads(arrays, "{\"weight_samples\": 0, \"stack\": true, \"residual\": 0, \"follow\": 1}",
              NULL, &result));
  CHECK(sg_result_find(result, "fidelity/best_weights") == NULL);
  CHECK(number(result, "stack/residual", 0) == 0);
  CHECK(sg_result_find(result, "stack/fidelity")->rank == 0);
  sum = 0;
  for (k = 0; k < kHeads; ++k) sum += number(result, "stack/heads", k);
  CHECK(fabs(sum - 1) < 1e-14);
  sg_result_free(result);

  FAILS(SG_USAGE, "one convention, exact or published, not both",
        sg_heads(arrays, "{\"convention\": \"both\"}", NULL, &result));
  FAILS(SG_USAGE, "residual, follow and method need stack",
        sg_heads(arrays, "{\"follow\": 1}", NULL, &result));
  FAILS(SG_USAGE, "'worth'", sg_heads(arrays, "{\"values\": \"worth\"}", NULL, &result));
  FAILS(SG_USAGE, "per_head", sg_heads(arrays, "{\"per_head\": true}", NULL, &result));
  FAILS(SG_USAGE, "exact_heads", sg_heads(arrays, "{\"exact_heads\": 21}", NULL, &result));
  FAILS(SG_INPUT, "token 5", sg_heads(arrays, "{\"stack\": true, \"follow\": 5}", NULL, &result));
  FAILS(SG_USAGE, "NULL", sg_heads(NULL, NULL, NULL, &result));
  CHECK(result == NULL);
  sg_attention_free(arrays);
  OK(sg_attention_create(NULL, &arrays));
  FAILS(SG_INPUT, "no layers", sg_heads(arrays, NULL, NULL, &result));
  sg_attention_free(arrays);
}

static void test_graph(void) {
  sg_graph* graph = NULL;
  sg_attention* of_graph = NULL;
  sg_result* result = NULL;
  char* text = NULL;
  OK(sg_graph_example(2, &graph));
  OK(sg_graph_attention(graph, &of_graph));
  OK(sg_heads(of_graph, NULL, NULL, &result));
  OK(sg_result_json(result, &text));
  CHECK(strstr(text, "\"source\": \"graph\"") != NULL && strstr(text, "\"head_names\"") != NULL);
  sg_free(text);
  sg_result_free(result);
  sg_attention_free(of_graph);
  sg_graph_free(graph);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  fill();
  test_equals_the_program(argv[1], argv[2]);
  test_numbers();
  test_graph();
  return failures;
}
