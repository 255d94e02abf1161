#include <stdio.h>
#include <synergraph.h>

int main(void) {
  const float attention[2][3][3] = {{{1, 0, 0}, {0, 1, 0}, {0.75F, 0.25F, 0}},
                                    {{1, 0, 0}, {0, 1, 0}, {0.25F, 0.75F, 0}}};
  const int64_t shape[4] = {1, 2, 3, 3}; /* samples, heads, queries, keys */
  sg_attention* layers = NULL;
  sg_result* result = NULL;
  int status = sg_attention_create(NULL, &layers);
  if (status == SG_OK) status = sg_attention_add(layers, NULL, attention, SG_FLOAT32, shape, NULL);
  if (status == SG_OK) status = sg_measure(layers, "{\"per_head\": true}", NULL, &result);
  if (status == SG_OK) {
    const sg_array* fidelity = sg_result_find(result, "minimax_fidelity");
    printf("minimax fidelity %g\n", ((const double*)fidelity->data)[0]);
  } else {
    fprintf(stderr, "%s\n", sg_error());
  }
  sg_result_free(result);
  sg_attention_free(layers);
  return status;
}
