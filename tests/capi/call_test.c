/* How calls are carried out: progress, stop, many threads at once. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>

#include "check.h"

enum { kNodes = 1200 };

/* What a progress function heard. */
struct heard {
  pthread_t caller;
  int calls, elsewhere, stop_at;
  uint64_t done, total;
};

static int hear(uint64_t done, uint64_t total, const char* detail, void* user) {
  struct heard* heard = user;
  heard->done = done;
  heard->total = total;
  if (detail == NULL) ++heard->elsewhere;
  if (!pthread_equal(heard->caller, pthread_self())) ++heard->elsewhere;
  return ++heard->calls == heard->stop_at;
}

static void test_progress(void) {
  const float matrix[2][2][2] = {{{1, 0}, {0.5F, 0.5F}}, {{1, 0}, {1, 0}}};
  const int64_t shape[4] = {1, 2, 2, 2};
  struct heard heard = {0};
  sg_attention* attention = NULL;
  sg_result* result = NULL;
  sg_call call = SG_CALL_INIT;
  heard.caller = pthread_self();
  call.progress = hear;
  call.user = &heard;
  OK(sg_attention_create(NULL, &attention));
  OK(sg_attention_add(attention, NULL, matrix, SG_FLOAT32, shape, NULL));
  OK(sg_measure(attention, NULL, &call, &result));
  CHECK(heard.calls >= 1 && heard.elsewhere == 0 && heard.done == 2 && heard.total == 2);
  sg_result_free(result);
  heard.calls = 0;
  heard.stop_at = 1; /* when all is done */
  FAILS(SG_STOPPED, "stopped", sg_measure(attention, NULL, &call, &result));
  CHECK(result == NULL);
  call.threads = -1;
  FAILS(SG_USAGE, "-1 threads", sg_measure(attention, NULL, &call, &result));
  call.threads = 0;
  call.size = 3;
  FAILS(SG_USAGE, "size", sg_measure(attention, NULL, &call, &result));
  sg_attention_free(attention);
}

/* A head that hardly moves takes seconds: it ends within the head. */
static void test_stop(void) {
  const int64_t shape[4] = {1, 1, kNodes, kNodes};
  double* matrix = calloc((size_t)kNodes * kNodes, sizeof *matrix);
  struct heard heard = {0};
  sg_attention* attention = NULL;
  sg_result* result = NULL;
  sg_call call = SG_CALL_INIT;
  size_t i;
  if (matrix == NULL) exit(2);
  for (i = 0; i < kNodes; ++i) {
    matrix[i * kNodes + i] = i == 0 ? 1 : 1 - 1e-9;
    if (i > 0) matrix[i * kNodes + i - 1] = 1e-9;
  }
  heard.caller = pthread_self();
  heard.stop_at = 1;
  call.progress = hear;
  call.user = &heard;
  OK(sg_attention_create("{\"row_tolerance\": 1e-6}", &attention));
  OK(sg_attention_add(attention, NULL, matrix, SG_FLOAT64, shape, NULL));
  FAILS(SG_STOPPED, "stopped", sg_measure(attention, NULL, &call, &result));
  CHECK(heard.calls == 1 && heard.elsewhere == 0 && result == NULL);
  call.any_thread = 1;
  heard.calls = 0;
  FAILS(SG_STOPPED, "stopped", sg_measure(attention, NULL, &call, &result));
  CHECK(heard.calls == 1 && result == NULL);
  sg_attention_free(attention);
  free(matrix);
}

/* Messages are those of the calling thread; what is only read may be in several calls at once. */
static void* measure_often(void* user) {
  const sg_graph* graph = user;
  int k;
  for (k = 0; k < 20; ++k) {
    sg_result* result = NULL;
    char part[32];
    sprintf(part, "'%lx'", (unsigned long)(size_t)&result);
    {
      char options[64];
      sprintf(options, "{\"%lx\": 0}", (unsigned long)(size_t)&result);
      FAILS(SG_USAGE, part, sg_graph_measure(graph, options, NULL, &result));
    }
    OK(sg_graph_measure(graph, NULL, NULL, &result));
    CHECK(number(result, "mixing_time_0.25", 0) == 10);
    sg_result_free(result);
  }
  return NULL;
}

static void test_threads(void) {
  pthread_t threads[4];
  sg_graph* graph = NULL;
  size_t k;
  OK(sg_graph_example(1, &graph));
  for (k = 0; k < 4; ++k)
    if (pthread_create(&threads[k], NULL, measure_often, graph) != 0) exit(2);
  for (k = 0; k < 4; ++k) pthread_join(threads[k], NULL);
  sg_graph_free(graph);
}

int main(void) {
  test_progress();
  test_stop();
  test_threads();
  return failures;
}
