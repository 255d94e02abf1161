/* Games whose values the caller computes, and rank correlations of numbers of heads. */
#include <math.h>
#include <string.h>

#include "check.h"

static const char kOptions[] =
    "{\"layers\": [\"first\", \"second\"], \"heads\": [3, 4], \"exact_heads\": 3, \"orders\": 1, "
    "\"intact\": [1, 2], \"without_attention\": [4, 6], \"loss\": \"surprise\", \"kind\": "
    "\"zero\"}";

static const double kWorth[2][4] = {{1, 2, 4, 0}, {1, -2, 3, 0.5}};

struct Calls {
  int count;
  int end;
};

/* Every head is worth its number, on the second sample twice as much. */
static int additive(int64_t layer, int64_t sets, const unsigned char* heads, double* values,
                    void* user) {
  const int64_t count = layer == 0 ? 3 : 4;
  struct Calls* calls = user;
  int64_t k, h;
  if (++calls->count == calls->end) return 1;
  for (k = 0; k < sets; ++k) {
    double sum = 0;
    for (h = 0; h < count; ++h) sum += heads[k * count + h] * kWorth[layer][h];
    values[2 * k] = sum;
    values[2 * k + 1] = 2 * sum;
  }
  return 0;
}

static void test_values(void) {
  struct Calls calls = {0, 0};
  sg_result* result = NULL;
  char* text = NULL;
  size_t layer, h;
  OK(sg_ablation(kOptions, additive, &calls, NULL, &result));
  for (layer = 0; layer < 2; ++layer)
    for (h = 0; h < (layer == 0 ? 3u : 4u); ++h) {
      CHECK(fabs(number(result, "loss/shapley", 4 * layer + h) - 1.5 * kWorth[layer][h]) < 1e-12);
      CHECK(fabs(number(result, "loss/shapley_error", 4 * layer + h) -
                 fabs(0.5 * kWorth[layer][h])) < 1e-12);
    }
  CHECK(isnan(number(result, "loss/shapley", 3)));
  CHECK(number(result, "exact", 0) == 1 && number(result, "exact", 1) == 0);
  CHECK(number(result, "permutations", 1) == 32);
  OK(sg_result_json(result, &text));
  CHECK(strstr(text, "\"synergraph.ablation\"") != NULL && strstr(text, "\"surprise\"") != NULL);
  sg_free(text);
  OK(sg_result_table(result, 80, &text));
  CHECK(strstr(text, "surprise: 1.5") != NULL &&
        strstr(text, "every head of every layer off: 5.0") != NULL);
  sg_free(text);
  OK(sg_result_csv(result, &text));
  CHECK(strstr(text, "\nsecond,loss,1,,") != NULL);
  sg_free(text);
  sg_result_free(result);
}

static void test_refusals(void) {
  struct Calls calls = {0, 1};
  sg_result* result = NULL;
  FAILS(SG_STOPPED, "", sg_ablation(kOptions, additive, &calls, NULL, &result));
  CHECK(result == NULL && calls.count == 1);
  FAILS(SG_USAGE, "NULL", sg_ablation(kOptions, NULL, NULL, NULL, &result));
  FAILS(SG_USAGE, "a number for every sample", sg_ablation("{}", additive, &calls, NULL, &result));
  FAILS(SG_USAGE, "1 numbers",
        sg_ablation("{\"intact\": 1, \"without_attention\": [1, 2]}", additive, &calls, NULL,
                    &result));
  FAILS(SG_USAGE, "the names of the layers",
        sg_ablation("{\"intact\": 1, \"without_attention\": 1}", additive, &calls, NULL, &result));
  FAILS(SG_USAGE, "2 numbers",
        sg_ablation(
            "{\"intact\": 1, \"without_attention\": 1, \"layers\": [\"a\", \"b\"], \"heads\": 3}",
            additive, &calls, NULL, &result));
  FAILS(SG_USAGE, "is not one of zero, mean",
        sg_ablation("{\"intact\": 1, \"without_attention\": 1, \"kind\": \"one\"}", additive,
                    &calls, NULL, &result));
}

static void test_agreement(void) {
  const int64_t heads[2] = {3, 2};
  const int64_t none[1] = {0};
  const double reference[5] = {1, 2, 3, 1, 2};
  const double numbers[10] = {2, 4, 9, 5, 8, 3, 2, 1, 1, 1};
  sg_result* result = NULL;
  OK(sg_agreement("{\"names\": [\"a\", \"b\"]}", heads, 2, reference, numbers, 2, &result));
  CHECK(number(result, "a/rho", 0) == 1 && number(result, "b/rho", 0) == -1);
  CHECK(number(result, "a/heads", 0) == 5 && number(result, "b/heads", 0) == 3);
  CHECK(number(result, "a/layer_rho", 1) == 1 && isnan(number(result, "b/layer_rho", 1)));
  sg_result_free(result);
  FAILS(SG_USAGE, "2 names",
        sg_agreement("{\"names\": \"a\"}", heads, 2, reference, numbers, 2, &result));
  FAILS(SG_INPUT, "nothing to compare",
        sg_agreement("{}", heads, 0, reference, numbers, 2, &result));
  FAILS(SG_INPUT, "a layer of 0 heads",
        sg_agreement("{\"names\": \"a\"}", none, 1, reference, numbers, 1, &result));
  FAILS(SG_USAGE, "reference is NULL",
        sg_agreement("{\"names\": \"a\"}", heads, 2, NULL, numbers, 1, &result));
}

static void test_compare(void) {
  const char* a =
      "convention,layer,sample,head,weight,minimax_fidelity\n"
      "exact,L,0,0,1,0.5\nexact,L,0,combined,1,0.5\nexact,L,1,0,1,0.25\nexact,L,1,combined,1,0."
      "25\n";
  const char* b =
      "convention,layer,sample,head,weight,minimax_fidelity\n"
      "exact,L,0,0,1,0.75\nexact,L,0,combined,1,0.75\nexact,L,1,0,1,1\nexact,L,1,combined,1,1\n";
  char* text = NULL;
  sg_result* result = NULL;
  OK(sg_compare("{\"name_a\": \"before\"}", a, b, &result));
  CHECK(number(result, "difference/minimax_fidelity", 0) == 0.5);
  CHECK(number(result, "heads/b/minimax_fidelity", 0) == 0.875);
  OK(sg_result_table(result, 80, &text));
  CHECK(strstr(text, "A: before, 2 samples") != NULL);
  sg_free(text);
  OK(sg_result_csv(result, &text));
  sg_free(text);
  sg_result_free(result);
  FAILS(SG_USAGE, "b is NULL", sg_compare(NULL, a, NULL, &result));
  FAILS(SG_INPUT, "neither a document", sg_compare(NULL, a, "{", &result));
  FAILS(SG_USAGE, "level", sg_compare("{\"level\": 2}", a, b, &result));
}

int main(void) {
  test_values();
  test_compare();
  test_refusals();
  test_agreement();
  return failures;
}
