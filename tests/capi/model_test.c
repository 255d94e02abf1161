/* A checkpoint, argument 1: 2 layers of 2 heads, 6 tokens of 9 kinds. */
#include <math.h>

#include "check.h"

enum { kSamples = 3, kLength = 6, kVocabulary = 9, kHeads = 2 };

int main(int argc, char** argv) {
  int32_t tokens[kSamples][kLength];
  float logits[kSamples * kLength * kVocabulary];
  double matrix[kHeads * kLength * kLength];
  sg_model* model = NULL;
  sg_attention* attention = NULL;
  sg_result* result = NULL;
  char* text = NULL;
  int64_t layers = 0;
  int64_t shape[3];
  size_t k;
  int s, i;
  if (argc < 2) return 2;
  for (s = 0; s < kSamples; ++s)
    for (i = 0; i < kLength; ++i) tokens[s][i] = (s + 2 * i) % kVocabulary;

  OK(sg_model_open(argv[1], NULL, &model));
  OK(sg_model_json(model, &text));
  CHECK(
      strcmp(text,
             "{\"vocabulary\":9,\"length\":6,\"width\":8,\"heads\":2,\"layers\":2,\"hidden\":8}") ==
      0);
  sg_free(text);
  OK(sg_model_run(model, tokens[0], kSamples, kLength, NULL, logits,
                  sizeof logits / sizeof *logits));
  for (k = 0; k < sizeof logits / sizeof *logits; ++k) CHECK(isfinite(logits[k]));
  FAILS(SG_USAGE, "elements", sg_model_run(model, tokens[0], kSamples, kLength, NULL, logits, 1));
  FAILS(SG_INPUT, "5 tokens", sg_model_run(model, tokens[0], kSamples, 5, NULL, logits, 1));
  FAILS(SG_INPUT, "sequences", sg_model_run(model, tokens[0], -1, kLength, NULL, logits, 1));
  tokens[1][2] = kVocabulary;
  FAILS(SG_INPUT, "", sg_model_attention(model, tokens[0], kSamples, kLength, NULL, &attention));
  tokens[1][2] = 0;
  FAILS(SG_USAGE, "NULL", sg_model_attention(model, NULL, kSamples, kLength, NULL, &attention));
  FAILS(SG_USAGE, "exclude",
        sg_model_attention(model, tokens[0], kSamples, kLength, "{\"seed\": 2}", &attention));
  FAILS(SG_USAGE, "", sg_model_attention(model, NULL, 0, 0, "{\"task\": \"sort\"}", &attention));
  FAILS(SG_USAGE, "unknown device",
        sg_model_attention(model, NULL, 0, 0, "{\"device\": \"tpu\"}", &attention));
  OK(sg_model_attention(model, tokens[0], kSamples, kLength, "{\"task\": \"copy\"}", &attention));
  sg_model_free(model); /* the attention keeps what it needs */
  FAILS(SG_USAGE, "neither from arrays nor from a file",
        sg_attention_set_sequences(attention, NULL, 0));
  OK(sg_attention_layers(attention, &layers));
  OK(sg_attention_shape(attention, 1, shape));
  CHECK(layers == 2 && shape[0] == kSamples && shape[1] == kHeads && shape[2] == kLength);
  OK(sg_attention_read(attention, 1, 2, matrix, kHeads * kLength * kLength));
  CHECK(matrix[0] == 1 && fabs(matrix[kLength] + matrix[kLength + 1] - 1) < 1e-15);
  OK(sg_measure(attention, "{\"per_head\": true}", NULL, &result));
  OK(sg_result_json(result, &text));
  CHECK(strstr(text, "\"source\": \"model\"") != NULL && strstr(text, "\"accuracy\"") != NULL &&
        strstr(text, "\"weights\": \"learned\"") != NULL);
  sg_free(text);
  sg_result_free(result);
  sg_attention_free(attention);
  FAILS(SG_INPUT, "nowhere", sg_model_open("nowhere", NULL, &model));
  FAILS(SG_INPUT, "heads", sg_model_open(argv[1], "{\"heads\": 4}", &model));
  CHECK(model == NULL);
  sg_model_free(NULL);
  return failures;
}
