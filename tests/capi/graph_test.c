/* Graphs: made, read, written, measured. */
#include <math.h>

#include "check.h"

static void test_example(void) {
  sg_graph* graph = NULL;
  sg_graph* again = NULL;
  sg_attention* attention = NULL;
  sg_result* result = NULL;
  char* text = NULL;
  char* copy = NULL;
  int64_t heads = 0;
  int64_t nodes = 0;
  double curves[3 * 4 * 3];
  OK(sg_graph_example(1, &graph));
  OK(sg_graph_size(graph, &heads, &nodes));
  CHECK(heads == 2 && nodes == 3);
  OK(sg_graph_measure(graph, NULL, NULL, &result));
  CHECK(number(result, "mixing_time_0.25", 0) == 10);
  CHECK(isinf(number(result, "heads/mixing_time_0.25", 0)));
  CHECK(sg_result_find(result, "mixing_time_0.25")->rank == 0);
  CHECK(number(result, "hitting_time", 2) == 0);
  CHECK(strcmp(sg_result_find(result, "heads/hitting_time")->axes, "head node") == 0);
  OK(sg_result_json(result, &text));
  CHECK(strstr(text, "\"schema\": \"synergraph.graph\"") != NULL);
  sg_free(text);
  OK(sg_result_table(result, 40, &text));
  CHECK(strstr(text, "Head 1") != NULL);
  sg_free(text);
  OK(sg_result_csv(result, &text));
  CHECK(strncmp(text, "head,weight,", 12) == 0);
  sg_free(text);
  sg_result_free(result);

  OK(sg_graph_text(graph, &text));
  OK(sg_graph_parse(text, strlen(text), NULL, &again));
  OK(sg_graph_text(again, &copy));
  CHECK(strcmp(text, copy) == 0);
  sg_free(text);
  sg_free(copy);
  OK(sg_graph_dot(again, &text));
  CHECK(strncmp(text, "digraph", 7) == 0);
  sg_free(text);
  sg_graph_free(again);

  OK(sg_graph_attention(graph, &attention));
  OK(sg_attention_curves(attention, 0, 0, 3, NULL, curves, 36));
  CHECK(curves[2] == 1 && fabs(curves[2 * 12 + 9 + 1] - 0.421875) < 1e-15);
  OK(sg_measure(attention, "{\"normalization\": \"per-head\"}", NULL, &result));
  CHECK(number(result, "mixing_time_0.25", 0) == 10);
  sg_result_free(result);
  sg_attention_free(attention);
  sg_graph_free(graph);
}

static void test_building(void) {
  const int64_t from[3] = {0, 1, 0};
  const int64_t to[3] = {1, 2, 2};
  const double strengths[3] = {1, 2, 0.5};
  const float matrix[3][3] = {{1, 0, 0}, {0.5F, 0.5F, 0}, {0, 0.5F, 0.5F}};
  const int64_t strides[2] = {sizeof matrix[0], sizeof(float)};
  const char* names[3] = {"u", "v w", "sink"};
  const char* nameless[3] = {"u", "", "sink"};
  const char* alike[3] = {"u", "v", "u"};
  const int64_t outside[1] = {3};
  sg_graph* graph = NULL;
  sg_graph* other = NULL;
  sg_result* result = NULL;
  char* text = NULL;
  OK(sg_graph_create(&graph));
  FAILS(SG_INPUT, "no head", sg_graph_measure(graph, NULL, NULL, &result));
  FAILS(SG_INPUT, "no head", sg_graph_text(graph, &text));
  FAILS(SG_INPUT, "no head", sg_graph_name_nodes(graph, names, 3));
  OK(sg_graph_add_edges(graph, NULL, 1, 3, from, to, strengths, 3, 1));
  OK(sg_graph_add_edges(graph, "without", 1, 3, from, to, NULL, 2, 0));
  OK(sg_graph_add_matrix(graph, "attention", 2, matrix, SG_FLOAT32, 3, strides));
  OK(sg_graph_add_generated(graph, NULL, 0, "chain:3", 1));
  OK(sg_graph_name_nodes(graph, names, 3));
  OK(sg_graph_text(graph, &text));
  CHECK(strstr(text, "\"v w\"") != NULL && strstr(text, "chain:3") != NULL &&
        strstr(text, "head 1") != NULL);
  sg_free(text);
  OK(sg_graph_measure(graph, "{\"weights\": [1, 1, 1, 1], \"eps\": [0.25, 0.01]}", NULL, &result));
  CHECK(number(result, "weights", 3) == 0.25);
  CHECK(number(result, "mixing_time_0.01", 0) > number(result, "mixing_time_0.25", 0));
  sg_result_free(result);
  FAILS(SG_INPUT, "weights", sg_graph_measure(graph, "{\"weights\": [1]}", NULL, &result));
  FAILS(SG_USAGE, "one convention, exact or published, not both",
        sg_graph_measure(graph, "{\"convention\": \"both\"}", NULL, &result));
  FAILS(SG_USAGE, "per_head", sg_graph_measure(graph, "{\"per_head\": true}", NULL, &result));
  FAILS(SG_INPUT, "4 nodes", sg_graph_add_generated(graph, NULL, 1, "chain:4", 1));
  FAILS(SG_INPUT, "2 names", sg_graph_name_nodes(graph, names, 2));
  FAILS(SG_INPUT, "the name of node 1 is empty", sg_graph_name_nodes(graph, nameless, 3));
  FAILS(SG_INPUT, "two nodes are named 'u'", sg_graph_name_nodes(graph, alike, 3));
  FAILS(SG_INPUT, "edges", sg_graph_add_edges(graph, NULL, 1, 3, from, to, NULL, (size_t)-1, 1));
  FAILS(SG_INPUT, "edge 0 -> 3", sg_graph_add_edges(graph, NULL, 1, 3, from, outside, NULL, 1, 1));
  FAILS(SG_INPUT, "backward", sg_graph_add_edges(graph, NULL, 1, 3, to, from, NULL, 1, 1));
  FAILS(SG_INPUT, "weight", sg_graph_add_edges(graph, NULL, NAN, 3, from, to, NULL, 1, 1));
  FAILS(SG_INPUT, "", sg_graph_add_edges(graph, NULL, 1, INT64_MAX, from, to, NULL, 1, 1));
  FAILS(SG_USAGE, "NULL", sg_graph_add_edges(graph, NULL, 1, 3, NULL, to, NULL, 1, 1));
  FAILS(SG_USAGE, "", sg_graph_add_generated(graph, NULL, 1, "wheel:3", 1));
  FAILS(SG_USAGE, "NULL", sg_graph_add_generated(graph, NULL, 1, NULL, 1));
  FAILS(SG_INPUT, "matrix",
        sg_graph_add_matrix(graph, NULL, 1, strengths + 1, SG_FLOAT64, 1, NULL));
  sg_graph_free(graph);
  FAILS(SG_USAGE, "", sg_graph_example(3, &other));
  FAILS(SG_INPUT, "mine:1", sg_graph_parse("nodes", 5, "mine", &other));
  FAILS(SG_USAGE, "NULL", sg_graph_parse(NULL, 5, "mine", &other));
  FAILS(SG_USAGE, "NULL", sg_graph_size(NULL, NULL, NULL));
  CHECK(other == NULL);
  sg_graph_free(NULL);
}

/* Names that are not UTF-8: replaced in JSON, written out in tables, given back by the text format.
 */
static void test_bytes(void) {
  const char* names[2] = {"a\xff", "b"};
  sg_graph* graph = NULL;
  sg_result* result = NULL;
  char* text = NULL;
  OK(sg_graph_create(&graph));
  OK(sg_graph_add_generated(graph, "h\xfe", 1, "chain:2", 1));
  OK(sg_graph_name_nodes(graph, names, 2));
  OK(sg_graph_measure(graph, NULL, NULL, &result));
  OK(sg_result_json(result, &text));
  CHECK(strstr(text, "\"a\xef\xbf\xbd\"") != NULL && strchr(text, '\xff') == NULL &&
        strchr(text, '\xfe') == NULL);
  sg_free(text);
  OK(sg_result_table(result, 0, &text));
  CHECK(strstr(text, "h\\xfe") != NULL && strchr(text, '\xff') == NULL);
  sg_free(text);
  sg_result_free(result);
  OK(sg_graph_text(graph, &text));
  CHECK(strstr(text, "nodes a\xff b") != NULL);
  sg_free(text);
  sg_graph_free(graph);
}

/* A graph of a family, measured from its own rows. */
static void test_sparse(void) {
  sg_result* rows = NULL;
  sg_result* numbers = NULL;
  const sg_array* first;
  int32_t receivers[64];
  int64_t edges;
  int64_t k;
  const int64_t wrong[] = {0, 1, 0, 3};
  OK(sg_family("power", 8, 1, NULL, &rows));
  first = sg_result_find(rows, "first");
  CHECK(first->shape[0] == 9);
  edges = sg_result_find(rows, "receivers")->shape[0];
  CHECK(number(rows, "first", 8) == (double)edges && edges < 64);
  for (k = 0; k < edges; ++k) receivers[k] = (int32_t)number(rows, "receivers", (size_t)k);
  CHECK(receivers[0] == 0 && receivers[1] == 1 && receivers[2] == 2 && receivers[3] == 4);
  OK(sg_sparse_measure(8, first->data, receivers, NULL, 0.25, 1000, NULL, &numbers));
  CHECK(number(numbers, "edges", 0) == (double)edges && number(numbers, "exact", 0) == 1);
  CHECK(number(numbers, "minimax_fidelity", 0) > 0);
  CHECK(sg_result_find(numbers, "mixing_time")->rank == 0);
  sg_result_free(numbers);
  FAILS(SG_USAGE, "eps: 0 is not",
        sg_sparse_measure(8, first->data, receivers, NULL, 0, 1, NULL, &numbers));
  FAILS(SG_USAGE, "step_limit: 0",
        sg_sparse_measure(8, first->data, receivers, NULL, 0.5, 0, NULL, &numbers));
  FAILS(SG_INPUT, "1 to 1073741824 nodes, not 0",
        sg_sparse_measure(0, first->data, receivers, NULL, 0.5, 9, NULL, &numbers));
  FAILS(SG_INPUT, "offset of node 2 is 0",
        sg_sparse_measure(3, wrong, receivers, NULL, 0.5, 9, NULL, &numbers));
  FAILS(SG_USAGE, "receivers is NULL",
        sg_sparse_measure(3, wrong, NULL, NULL, 0.5, 9, NULL, &numbers));
  FAILS(SG_USAGE, "unknown family 'ring'", sg_family("ring:3", 8, 1, NULL, &numbers));
  FAILS(SG_INPUT, "not 0", sg_family("power", 0, 1, NULL, &numbers));
  sg_result_free(rows);
}

static void test_families(void) {
  sg_result* families = NULL;
  char* text = NULL;
  OK(
      sg_families("{\"families\": [\"power\", \"indegree:3\"], \"sizes\": [16, 64], "
                  "\"graphs\": 2}",
                  NULL, &families));
  CHECK(sg_result_find(families, "nodes")->shape[0] == 6);
  CHECK(number(families, "nodes", 1) == 64 && number(families, "seed", 1) == 0);
  CHECK(number(families, "nodes", 3) == 16 && number(families, "seed", 3) == 2);
  CHECK(number(families, "averaged_mixing_time", 1) == 14 && number(families, "exact", 1) == 1);
  OK(sg_result_json(families, &text));
  CHECK(strstr(text, "\"synergraph.families\"") != NULL);
  sg_free(text);
  OK(sg_result_csv(families, &text));
  CHECK(strncmp(text, "family,nodes,seed,edges,", 24) == 0);
  sg_free(text);
  OK(sg_result_table(families, 60, &text));
  CHECK(strstr(text, "T_avg") != NULL);
  sg_free(text);
  sg_result_free(families);
  FAILS(SG_USAGE, "unknown family 'ring'",
        sg_families("{\"families\": \"ring:3\"}", NULL, &families));
  FAILS(SG_USAGE, "sizes", sg_families("{\"sizes\": 0}", NULL, &families));
  FAILS(SG_USAGE, "files", sg_families("{\"files\": \"graph.npz\"}", NULL, &families));
}

static void test_design(void) {
  sg_result* designs = NULL;
  const sg_array* first;
  char* document = NULL;
  OK(
      sg_design("{\"size\": 12, \"indegree\": \"3\", \"heads\": 2, \"steps\": 50, "
                "\"starts\": [\"layers\", \"random\"]}",
                NULL, &designs));
  first = sg_result_find(designs, "first");
  CHECK(first->rank == 3 && first->shape[1] == 2 && first->shape[2] == 13);
  CHECK(number(designs, "receivers", 0) == 0);
  CHECK(number(designs, "first", (size_t)(first->shape[0] * 2 * 13 - 1)) ==
        (double)sg_result_find(designs, "receivers")->shape[0]);
  OK(sg_result_json(designs, &document));
  CHECK(strstr(document, "\"synergraph.design\"") != NULL);
  sg_free(document);
  sg_result_free(designs);
  FAILS(SG_USAGE, "needs at least 35",
        sg_design("{\"size\": 12, \"heads\": 2, \"edges\": 30}", NULL, &designs));
  FAILS(SG_USAGE, "size", sg_design("{\"size\": 0}", NULL, &designs));
}

int main(void) {
  test_example();
  test_building();
  test_bytes();
  test_sparse();
  test_families();
  test_design();
  return failures;
}
