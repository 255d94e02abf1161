/* Training and the study. Argument 1: a directory to work in. */
#include "check.h"

enum { kPairs = 12, kLength = 4 };

#define SIZES                                                                                    \
  "\"heads\": 2, \"layers\": 1, \"width\": 8, \"hidden\": 8, \"vocabulary\": 5, \"length\": 4, " \
  "\"sequences\": 50, \"device\": \"cpu\""

static int stop_at = 0;
static int calls = 0;
static int details = 0;

static int hear(uint64_t done, uint64_t total, const char* detail, void* user) {
  (void)user;
  if (done > total) return 1;
  if (strstr(detail, "loss") != NULL) ++details;
  return ++calls == stop_at;
}

static void path(char* into, const char* folder, const char* name) {
  sprintf(into, "%.200s/%s", folder, name);
}

static void test_train(const char* folder) {
  char directory[256];
  char* outcome = NULL;
  sg_model* model = NULL;
  sg_call call = SG_CALL_INIT;
  call.progress = hear;
  path(directory, folder, "run");
  OK(sg_train(directory, "{" SIZES ", \"epochs\": 2, \"task\": \"cycle\"}", NULL, NULL, &call,
              &outcome));
  CHECK(strstr(outcome, "\"steps\":2,") != NULL && strstr(outcome, "\"held_out_loss\"") != NULL);
  CHECK(strstr(outcome, "model.safetensors") != NULL);
  CHECK(calls > 0 && details > 0);
  sg_free(outcome);
  path(directory, folder, "run/model.safetensors");
  OK(sg_model_open(directory, NULL, &model));
  sg_model_free(model);
  path(directory, folder, "run");
  FAILS(SG_USAGE, "resume it", sg_train(directory, "{" SIZES "}", NULL, NULL, NULL, &outcome));
  OK(sg_train(directory, "{\"resume\": true, \"epochs\": 3}", NULL, NULL, NULL, &outcome));
  CHECK(strstr(outcome, "\"steps\":3,") != NULL);
  sg_free(outcome);

  path(directory, folder, "\xff"); /* no UTF-8: trained all the same */
  OK(sg_train(directory, "{" SIZES ", \"epochs\": 1}", NULL, NULL, NULL, &outcome));
  CHECK(strstr(outcome, "\xef\xbf\xbd/model.safetensors") != NULL);
  sg_free(outcome);

  path(directory, folder, "stopped");
  stop_at = calls + 1;
  FAILS(SG_STOPPED, "stopped",
        sg_train(directory, "{" SIZES ", \"epochs\": 100000000}", NULL, NULL, &call, &outcome));
  CHECK(outcome == NULL);
  stop_at = 0;
}

static void test_promotion(const char* folder) {
  char directory[256];
  char* outcome = NULL;
  path(directory, folder, "promoted");
  FAILS(SG_USAGE, "promote: unknown metric 'mixing'",
        sg_train(directory, "{" SIZES ", \"promote\": \"mixing=1\"}", NULL, NULL, NULL, &outcome));
  OK(sg_train(directory,
              "{" SIZES ", \"epochs\": 1, \"promote\": [\"fidelity=0.1\", \"speed=0.05\"]}", NULL,
              NULL, NULL, &outcome));
  CHECK(strstr(outcome, "\"promoted\":{\"fidelity\":0.") != NULL);
  CHECK(strstr(outcome, "\"speed\":-") != NULL && strstr(outcome, "\"left_out\":0}") != NULL);
  sg_free(outcome);
}

static void test_pairs(const char* folder) {
  int32_t tokens[kPairs][kLength];
  sg_pairs pairs;
  char directory[256];
  char* outcome = NULL;
  int k;
  for (k = 0; k < kPairs * kLength; ++k) tokens[k / kLength][k % kLength] = (k * 7) % 5;
  pairs.count = kPairs;
  pairs.length = kLength;
  pairs.inputs = pairs.targets = tokens[0];
  path(directory, folder, "pairs");
  OK(sg_train(directory, "{\"heads\": 1, \"width\": 4, \"vocabulary\": 5, \"epochs\": 1}", &pairs,
              NULL, NULL, &outcome));
  CHECK(strstr(outcome, "\"training_pairs_loss\"") != NULL);
  sg_free(outcome);
  FAILS(SG_USAGE, "give them again",
        sg_train(directory, "{\"resume\": true}", NULL, NULL, NULL, &outcome));
  FAILS(SG_USAGE, "exclude",
        sg_train(directory, "{\"task\": \"copy\"}", &pairs, NULL, NULL, &outcome));
  FAILS(SG_USAGE, "12 pairs",
        sg_train(directory, "{\"sequences\": 3}", &pairs, NULL, NULL, &outcome));
  FAILS(SG_USAGE, "validation", sg_train(directory, NULL, NULL, &pairs, NULL, &outcome));
  pairs.targets = NULL;
  FAILS(SG_USAGE, "targets", sg_train(directory, NULL, &pairs, NULL, NULL, &outcome));
  pairs.targets = tokens[0];
  pairs.count = 0;
  FAILS(SG_INPUT, "(0, 4)", sg_train(directory, NULL, &pairs, NULL, NULL, &outcome));
  pairs.count = INT64_MAX;
  FAILS(SG_INPUT, "shape", sg_train(directory, NULL, &pairs, NULL, NULL, &outcome));
  FAILS(SG_USAGE, "directory", sg_train("", NULL, NULL, NULL, NULL, &outcome));
  FAILS(SG_USAGE, "directory", sg_train(NULL, NULL, NULL, NULL, NULL, &outcome));
  FAILS(SG_USAGE, "colour", sg_train(directory, "{\"colour\": 1}", NULL, NULL, NULL, &outcome));
  FAILS(SG_USAGE, "heads", sg_train(directory, "{\"heads\": 1e3}", NULL, NULL, NULL, &outcome));
}

static void test_study(const char* folder) {
  char directory[256];
  char* text = NULL;
  sg_result* result = NULL;
  path(directory, folder, "study");
  OK(sg_reproduce(
      directory,
      "{\"tasks\": \"copy\", \"heads\": [1, 2], \"layers\": 1, \"width\": 8, \"hidden\": 8, "
      "\"vocabulary\": 5, \"length\": 4, \"sequences\": 50, \"device\": \"cpu\", "
      "\"epochs\": 1, \"samples\": 2}",
      NULL, &result));
  OK(sg_result_json(result, &text));
  CHECK(strstr(text, "\"synergraph.reproduce\"") != NULL);
  sg_free(text);
  OK(sg_result_table(result, 80, &text));
  sg_free(text);
  CHECK(sg_result_array(result, 0) == NULL);
  FAILS(SG_USAGE, "several tables", sg_result_csv(result, &text));
  sg_result_free(result);
  FAILS(SG_USAGE, "'slow'", sg_reproduce(directory, "{\"preset\": \"slow\"}", NULL, &result));
  FAILS(SG_USAGE, "exclude",
        sg_reproduce(directory, "{\"seeds\": 2, \"seed_list\": [3]}", NULL, &result));
  FAILS(SG_USAGE, "heads", sg_reproduce(directory, "{\"heads\": [0]}", NULL, &result));
  FAILS(SG_USAGE, "directory", sg_reproduce(NULL, NULL, NULL, &result));
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  test_promotion(argv[1]);
  test_train(argv[1]);
  test_pairs(argv[1]);
  test_study(argv[1]);
  return failures;
}
