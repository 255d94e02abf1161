/* Attention in memory and in files. */
#include <math.h>

#include "check.h"

enum { kHeads = 2, kTokens = 3 };

/* Each head brings the sink a quarter of one token's signal, both together a half of either. */
static const double attention[kHeads][kTokens][kTokens] = {{{1, 0, 0}, {0, 1, 0}, {0.75, 0.25, 0}},
                                                           {{1, 0, 0}, {0, 1, 0}, {0.25, 0.75, 0}}};
static const int64_t shape[4] = {1, kHeads, kTokens, kTokens};

/* The document of one layer. */
static char* measured(const void* data, int dtype, const int64_t* strides, const char* options) {
  sg_attention* layers = NULL;
  sg_result* result = NULL;
  char* text = NULL;
  OK(sg_attention_create(NULL, &layers));
  OK(sg_attention_add(layers, NULL, data, dtype, shape, strides));
  OK(sg_measure(layers, options, NULL, &result));
  OK(sg_result_json(result, &text));
  sg_result_free(result);
  sg_attention_free(layers);
  return text;
}

static void expect_same(const char* expected, char* text) {
  CHECK(text != NULL && strcmp(expected, text) == 0);
  sg_free(text);
}

static void test_numbers(void) {
  sg_attention* layers = NULL;
  sg_result* result = NULL;
  const sg_array* array;
  char* text = NULL;
  size_t count = 0;
  const double weights[2] = {1, 3};
  int64_t extents[3];
  int64_t layer_count = 0;
  double matrix[kHeads * kTokens * kTokens];
  double curves[(kHeads + 1) * 3 * kTokens];

  OK(sg_attention_create("", &layers));
  OK(sg_attention_add(layers, "first", attention, SG_FLOAT64, shape, NULL));
  OK(sg_measure(layers, "{\"per_head\": true, \"per_node\": true}", NULL, &result));
  CHECK(number(result, "mixing_time_0.25", 0) == 4);
  CHECK(number(result, "minimax_fidelity", 0) == 0.5);
  CHECK(number(result, "synergy", 0) == 2);
  CHECK(number(result, "heads/minimax_fidelity", 1) == 0.25);
  CHECK(number(result, "best_head", 0) == 0);
  CHECK(number(result, "weights", 1) == 0.5);
  CHECK(number(result, "node_fidelity", 1) == 0.5);
  CHECK(number(result, "heads/node_fidelity", kTokens + 1) == 0.75);
  array = sg_result_find(result, "heads/hitting_time");
  CHECK(array != NULL && array->rank == 5 && array->shape[3] == kHeads &&
        array->shape[4] == kTokens && array->dtype == SG_FLOAT64 &&
        strcmp(array->axes, "convention layer sample head token") == 0);
  while (sg_result_array(result, count) != NULL) ++count;
  CHECK(count > 30);
  CHECK(sg_result_array(result, (size_t)-1) == NULL);
  CHECK(sg_result_find(result, "nothing") == NULL);
  OK(sg_result_table(result, 0, &text));
  CHECK(strstr(text, "first") != NULL && strstr(text, "mixing synergy") != NULL);
  sg_free(text);
  OK(sg_result_csv(result, &text));
  CHECK(strncmp(text, "convention,layer,sample,head,weight,", 36) == 0);
  sg_free(text);
  sg_result_free(result);

  OK(sg_attention_add(layers, NULL, attention, SG_FLOAT64, shape, NULL));
  OK(sg_attention_set_weights(layers, weights, 2));
  OK(sg_measure(layers, "{\"convention\": \"both\"}", NULL, &result));
  CHECK(number(result, "weights", 3) == 0.75);
  CHECK(number(result, "minimax_fidelity", 1) == 0.375);
  CHECK(number(result, "minimax_fidelity", 2) == 0); /* published: the sink keeps nothing */
  CHECK(sg_result_find(result, "mixing_synergy") == NULL);
  CHECK(sg_result_find(result, "node_fidelity") == NULL);
  OK(sg_result_json(result, &text));
  CHECK(strstr(text, "\"weights\": \"given\"") != NULL && strstr(text, "\"name\": \"1\"") != NULL);
  sg_free(text);
  sg_result_free(result);

  OK(sg_attention_layers(layers, &layer_count));
  CHECK(layer_count == 2);
  OK(sg_attention_shape(layers, 1, extents));
  CHECK(extents[0] == 1 && extents[1] == kHeads && extents[2] == kTokens);
  OK(sg_attention_read(layers, 0, 0, matrix, kHeads * kTokens * kTokens));
  CHECK(memcmp(matrix, attention, sizeof matrix) == 0);
  OK(sg_attention_curves(layers, 0, 0, 2, NULL, curves, sizeof curves / sizeof *curves));
  CHECK(curves[2] == 1 && curves[3] == 0.75 && curves[2 * 9 + 3] == 0.375);
  FAILS(SG_USAGE, "layer 2", sg_attention_shape(layers, 2, extents));
  FAILS(SG_USAGE, "sample 1", sg_attention_read(layers, 0, 1, matrix, 18));
  FAILS(SG_USAGE, "17 elements, 18", sg_attention_read(layers, 0, 0, matrix, 17));
  FAILS(SG_USAGE, "NULL", sg_attention_read(layers, 0, 0, NULL, 18));
  FAILS(SG_USAGE, "steps", sg_attention_curves(layers, 0, 0, -1, NULL, curves, 0));
  sg_attention_free(layers);
}

/* Any type and any layout of the same numbers: the same document, byte for byte. */
static void test_layouts(void) {
  uint16_t half[kHeads][kTokens][kTokens];
  uint16_t brain[kHeads][kTokens][kTokens];
  float single[kHeads][kTokens][kTokens];
  double reversed[kTokens][kTokens][kHeads]; /* key, query, head, all backwards */
  unsigned char unaligned[1 + sizeof attention];
  const int64_t item = sizeof(double);
  const int64_t backwards[4] = {0, -item, -kHeads * item, -kHeads * kTokens * item};
  char* expected = measured(attention, SG_FLOAT64, NULL, NULL);
  int h, i, j;
  for (h = 0; h < kHeads; ++h)
    for (i = 0; i < kTokens; ++i)
      for (j = 0; j < kTokens; ++j) {
        const double value = attention[h][i][j];
        single[h][i][j] = (float)value;
        half[h][i][j] = (uint16_t)(value == 1      ? 0x3c00
                                   : value == 0.75 ? 0x3a00
                                   : value == 0.25 ? 0x3400
                                                   : 0);
        brain[h][i][j] = (uint16_t)(value == 1      ? 0x3f80
                                    : value == 0.75 ? 0x3f40
                                    : value == 0.25 ? 0x3e80
                                                    : 0);
        reversed[kTokens - 1 - j][kTokens - 1 - i][kHeads - 1 - h] = value;
      }
  memcpy(unaligned + 1, attention, sizeof attention);
  expect_same(expected, measured(single, SG_FLOAT32, NULL, NULL));
  expect_same(expected, measured(half, SG_FLOAT16, NULL, NULL));
  expect_same(expected, measured(brain, SG_BFLOAT16, NULL, NULL));
  expect_same(expected, measured(unaligned + 1, SG_FLOAT64, NULL, NULL));
  expect_same(expected, measured(&reversed[kTokens - 1][kTokens - 1][kHeads - 1], SG_FLOAT64,
                                 backwards, NULL));
  sg_free(expected);
}

/* Padding on either side, several sinks, one matrix for all samples. */
static void test_sequences(void) {
  const double padded[4][4] = {
      {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0.5, 0.5, 0}, {0.25, 0.25, 0.25, 0.25}};
  const int64_t padded_shape[4] = {2, 1, 4, 4};
  const int64_t strides[4] = {0, 0, sizeof padded[0], sizeof padded[0][0]};
  const sg_sequence sequences[3] = {{1, 1, 3}, {0, 0, 2}, {0, 0, 3}};
  const sg_sequence outside[1] = {{2, 0, 1}};
  const sg_sequence empty[1] = {{0, 2, 2}};
  sg_attention* layers = NULL;
  sg_result* result = NULL;
  int64_t extents[3];
  double matrix[4];
  char* text = NULL;
  OK(sg_attention_create(NULL, &layers));
  OK(sg_attention_set_sequences(layers, sequences, 3));
  OK(sg_attention_add(layers, NULL, padded, SG_FLOAT64, padded_shape, strides));
  OK(sg_attention_shape(layers, 0, extents));
  CHECK(extents[0] == 3 && extents[1] == 1 && extents[2] == 3);
  OK(sg_attention_read(layers, 0, 0, matrix, 4));
  CHECK(matrix[0] == 1 && matrix[1] == 0 && matrix[2] == 0.5 && matrix[3] == 0.5);
  OK(sg_measure(layers, "{\"per_node\": true}", NULL, &result));
  CHECK(number(result, "minimax_fidelity", 0) == 1); /* in the limit */
  CHECK(number(result, "minimax_fidelity", 1) == 0);
  CHECK(number(result, "minimax_fidelity", 2) == 0);
  CHECK(isnan(number(result, "node_fidelity", 2))); /* a token that the sequence lacks */
  OK(sg_result_json(result, &text));
  CHECK(strstr(text, "\"range\": null") != NULL && strstr(text, "\"sequences\": [") != NULL);
  sg_free(text);
  OK(sg_result_table(result, 0, &text));
  CHECK(strstr(text, "3 sequences") != NULL);
  sg_free(text);
  sg_result_free(result);
  FAILS(SG_INPUT, "sample 2", sg_attention_set_sequences(layers, outside, 1));
  FAILS(SG_INPUT, "tokens 2:2", sg_attention_set_sequences(layers, empty, 1));
  FAILS(SG_USAGE, "NULL", sg_attention_set_sequences(layers, NULL, 1));
  FAILS(SG_INPUT, "sequences, expected at most",
        sg_attention_set_sequences(layers, sequences, (size_t)-1));
  OK(sg_attention_set_sequences(layers, NULL, 0));
  OK(sg_attention_shape(layers, 0, extents));
  CHECK(extents[0] == 2 && extents[2] == 4);
  sg_attention_free(layers);
}

/* What is wrong is said, and nothing is made of it. */
static void test_errors(void) {
  const double bad[2][2] = {{1, 0}, {0.5, 0.25}};
  const int64_t bad_shape[4] = {1, 1, 2, 2};
  const int64_t oblong[4] = {1, 1, 2, 3};
  const int64_t huge[4] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
  const int64_t negative[4] = {-1, 1, 2, 2};
  const int64_t odd[4] = {8, 8, 3, 8};
  const int64_t far[4] = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN};
  const double weights[3] = {1, 1, -1};
  sg_attention* layers = (sg_attention*)1;
  sg_result* result = (sg_result*)1;
  FAILS(SG_USAGE, "NULL", sg_attention_create(NULL, NULL));
  FAILS(SG_USAGE, "not a JSON object", sg_attention_create("[1]", &layers));
  CHECK(layers == NULL);
  FAILS(SG_USAGE, "not a JSON object", sg_attention_create("{", &layers));
  FAILS(SG_USAGE, "row_tolerence' is not one of row_tolerance",
        sg_attention_create("{\"row_tolerence\": 1}", &layers));
  FAILS(SG_USAGE, "a number from 0 to 1", sg_attention_create("{\"row_tolerance\": -1}", &layers));
  FAILS(SG_USAGE, "'row_tolerance' is given twice",
        sg_attention_create("{\"row_tolerance\": 0.5, \"row_tolerance\": 1}", &layers));
  FAILS(SG_USAGE, "NULL", sg_measure(NULL, NULL, NULL, &result));
  CHECK(result == NULL);
  OK(sg_attention_create(NULL, &layers));
  FAILS(SG_INPUT, "no layers", sg_measure(layers, NULL, NULL, &result));
  FAILS(SG_USAGE, "element type 9", sg_attention_add(layers, NULL, bad, 9, bad_shape, NULL));
  FAILS(SG_USAGE, "element type 4", sg_attention_add(layers, NULL, bad, SG_INT64, bad_shape, NULL));
  FAILS(SG_USAGE, "NULL", sg_attention_add(layers, NULL, bad, SG_FLOAT64, NULL, NULL));
  FAILS(SG_INPUT, "no data", sg_attention_add(layers, NULL, NULL, SG_FLOAT64, bad_shape, NULL));
  FAILS(SG_INPUT, "2 queries and 3 keys",
        sg_attention_add(layers, NULL, bad, SG_FLOAT64, oblong, NULL));
  FAILS(SG_INPUT, "samples", sg_attention_add(layers, NULL, bad, SG_FLOAT64, huge, NULL));
  FAILS(SG_INPUT, "-1 samples", sg_attention_add(layers, NULL, bad, SG_FLOAT64, negative, NULL));
  FAILS(SG_INPUT, "multiple", sg_attention_add(layers, NULL, bad, SG_FLOAT64, bad_shape, odd));
  FAILS(SG_INPUT, "memory", sg_attention_add(layers, NULL, bad, SG_FLOAT64, bad_shape, far));
  OK(sg_attention_add(layers, NULL, bad, SG_FLOAT64, bad_shape, NULL));
  FAILS(SG_INPUT, "sample 0, head 0", sg_measure(layers, NULL, NULL, &result));
  FAILS(SG_USAGE, "exact, published",
        sg_measure(layers, "{\"convention\": \"old\"}", NULL, &result));
  FAILS(SG_USAGE, "twice",
        sg_measure(layers, "{\"convention\": [\"exact\", \"exact\"]}", NULL, &result));
  FAILS(SG_USAGE, "eps", sg_measure(layers, "{\"eps\": []}", NULL, &result));
  FAILS(SG_USAGE, "eps", sg_measure(layers, "{\"eps\": [0.5, 0]}", NULL, &result));
  FAILS(SG_USAGE, "horizon", sg_measure(layers, "{\"horizon\": \"far\"}", NULL, &result));
  FAILS(SG_USAGE, "cutoff", sg_measure(layers, "{\"cutoff\": 1.5}", NULL, &result));
  FAILS(SG_USAGE, "cutoff",
        sg_measure(layers, "{\"cutoff\": 18446744073709551615}", NULL, &result));
  FAILS(SG_USAGE, "per_head", sg_measure(layers, "{\"per_head\": 1}", NULL, &result));
  FAILS(SG_USAGE, "place", sg_measure(layers, NULL, NULL, NULL));
  OK(sg_attention_set_weights(layers, weights, 3));
  FAILS(SG_INPUT, "3 weights", sg_measure(layers, NULL, NULL, &result));
  OK(sg_attention_set_weights(layers, weights + 2, 1));
  FAILS(SG_INPUT, "weight", sg_measure(layers, NULL, NULL, &result));
  FAILS(SG_USAGE, "no weights", sg_attention_set_weights(layers, weights, 0));
  FAILS(SG_INPUT, "weights, expected at most",
        sg_attention_set_weights(layers, weights, (size_t)-1));
  CHECK(result == NULL);
  sg_attention_free(layers);
  sg_attention_free(NULL);
  sg_result_free(NULL);
  FAILS(SG_INPUT, "nowhere.npy", sg_attention_open("nowhere.npy", NULL, &layers));
  FAILS(SG_USAGE, "axis", sg_attention_open("nowhere.npy", "{\"axes\": \"time\"}", &layers));
  CHECK(strncmp(sg_error(), "axes: 'time'", 12) == 0); /* as the options here are named */
  FAILS(SG_USAGE, "begin, end", sg_attention_open("nowhere.npy", "{\"range\": [1]}", &layers));
}

static void test_learned_weights(void) {
  const float projection[2][4] = {{3, 0, 0, 0}, {0, 4, 0, 5}};
  const int64_t extents[2] = {2, 4};
  const int64_t strides[2] = {sizeof projection[0], sizeof(float)};
  const int64_t large[2] = {2, 16385};
  const int64_t odd[2] = {3, sizeof(float)};
  double weights[2];
  OK(sg_learned_weights(projection, SG_FLOAT32, extents, NULL, 2, weights));
  CHECK(weights[0] == 0.5 && weights[1] == 0.5);
  OK(sg_learned_weights(projection, SG_FLOAT32, extents, strides, 2, weights));
  CHECK(weights[0] == 0.5);
  FAILS(SG_INPUT, "", sg_learned_weights(projection, SG_FLOAT32, extents, NULL, 3, weights));
  FAILS(SG_INPUT, "heads", sg_learned_weights(projection, SG_FLOAT32, extents, NULL, -1, weights));
  FAILS(SG_USAGE, "NULL", sg_learned_weights(projection, SG_FLOAT32, extents, NULL, 2, NULL));
  FAILS(SG_USAGE, "data is NULL", sg_learned_weights(NULL, SG_FLOAT32, extents, NULL, 2, weights));
  FAILS(SG_INPUT, "output projection: 2 rows, 16385 columns, expected 1 to 16384",
        sg_learned_weights(projection, SG_FLOAT32, large, NULL, 2, weights));
  FAILS(SG_INPUT, "output projection: strides of 3 and 4 bytes",
        sg_learned_weights(projection, SG_FLOAT32, extents, odd, 2, weights));
}

/* A file: argument 1, written by a test of this repository. */
static void test_file(const char* path) {
  sg_attention* layers = NULL;
  sg_result* result = NULL;
  int64_t extents[3];
  OK(sg_attention_open(path, "{\"axes\": \"head,query,key\", \"range\": [0, null]}", &layers));
  OK(sg_attention_shape(layers, 0, extents));
  CHECK(extents[0] == 1 && extents[1] > 0 && extents[2] > 0);
  OK(sg_measure(layers, NULL, NULL, &result));
  const double fidelity = number(result, "minimax_fidelity", 0);
  CHECK(fidelity >= 0);
  sg_result_free(result);
  /* All tokens of the one sample, given as a sequence, are what is measured anyway. */
  const sg_sequence whole = {0, 0, extents[2]};
  OK(sg_attention_set_sequences(layers, &whole, 1));
  OK(sg_measure(layers, NULL, NULL, &result));
  CHECK(number(result, "minimax_fidelity", 0) == fidelity);
  sg_result_free(result);
  sg_attention_free(layers);
}

/* Queries and keys of two heads with the same keys, whose scores are (query * key). */
static const float queries[2][3] = {{0, 1, 2}, {0, -1, 1}};
static const float keys[3] = {1, 0.5F, -1};

static sg_scores scores_of_test(void) {
  sg_scores scores = SG_SCORES_INIT;
  scores.queries = queries;
  scores.keys = keys;
  scores.samples = scores.key_heads = scores.width = 1;
  scores.heads = kHeads;
  scores.tokens = kTokens;
  scores.query_strides[0] = scores.query_strides[1] = sizeof queries[0];
  scores.query_strides[2] = scores.key_strides[2] = sizeof(float);
  scores.key_strides[0] = scores.key_strides[1] = sizeof keys;
  return scores;
}

static void test_scores(void) {
  sg_attention* layers = NULL;
  sg_scores scores = scores_of_test();
  double matrix[kHeads * kTokens * kTokens];
  OK(sg_attention_create(NULL, &layers));
  OK(sg_attention_add_scores(layers, NULL, &scores, NULL, NULL, NULL, 0));
  OK(sg_attention_read(layers, 0, 0, matrix, kHeads * kTokens * kTokens));
  CHECK(matrix[0] == 1 && matrix[1] == 0);
  CHECK(fabs(matrix[3] - 1 / (1 + exp(-0.5))) < 1e-15);
  CHECK(fabs(matrix[9 + 6] - exp(1) / (exp(1) + exp(0.5) + exp(-1))) < 1e-15);

  scores.key_heads = 3;
  FAILS(SG_INPUT, "heads of keys",
        sg_attention_add_scores(layers, NULL, &scores, NULL, NULL, NULL, 0));
  scores = scores_of_test();
  scores.size = 1;
  FAILS(SG_USAGE, "sg_scores: size 1",
        sg_attention_add_scores(layers, NULL, &scores, NULL, NULL, NULL, 0));
  FAILS(SG_USAGE, "scores", sg_attention_add_scores(layers, NULL, NULL, NULL, NULL, NULL, 0));
  sg_attention_free(layers);
}

/* Writes a head, for what the CPU does with attention on a device. */
static int read_head(int64_t sample, int64_t head, void* into, void* user) {
  (void)user;
  if (sample != 0) return 1;
  memcpy(into, attention[head], sizeof attention[head]);
  return 0;
}

static void test_device(void) {
  sg_attention* layers = NULL;
  sg_result* result = NULL;
  sg_place place = SG_PLACE_INIT;
  OK(sg_attention_create(NULL, &layers));
  /* The pointer is a device's: it is never read here. */
  OK(sg_attention_add_device(layers, NULL, (const void*)64, SG_FLOAT64, shape, NULL, &place,
                             read_head, NULL));
  OK(sg_measure(layers, "{\"device\": \"cpu\"}", NULL, &result));
  CHECK(number(result, "minimax_fidelity", 0) == 0.5);
  sg_result_free(result);
  FAILS(SG_USAGE, "unknown device 'abacus'",
        sg_measure(layers, "{\"device\": \"abacus\"}", NULL, &result));
  place.device = -1;
  FAILS(SG_USAGE, "device -1",
        sg_attention_add_device(layers, NULL, attention, SG_FLOAT64, shape, NULL, &place, read_head,
                                NULL));
  FAILS(SG_USAGE, "place",
        sg_attention_add_device(layers, NULL, attention, SG_FLOAT64, shape, NULL, NULL, read_head,
                                NULL));
  sg_attention_free(layers);
}

int main(int argc, char** argv) {
  CHECK(strlen(sg_version()) >= 5);
  CHECK(sg_isa() != NULL);
  CHECK(strcmp(sg_error(), "") == 0);
  test_numbers();
  test_layouts();
  test_sequences();
  test_errors();
  test_learned_weights();
  test_scores();
  test_device();
  if (argc > 1) test_file(argv[1]);
  return failures;
}
