/* Checks for test programs in C: each prints what it did not find, and main() returns `failures`.
 */
#ifndef SYNERGRAPH_TESTS_CHECK_H
#define SYNERGRAPH_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synergraph.h"

static int failures = 0;

#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) {                                              \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      failures = 1;                                                  \
    }                                                                \
  } while (0)

/* A call that succeeds. */
#define OK(call)                                                        \
  do {                                                                  \
    if ((call) != SG_OK) {                                              \
      printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, sg_error()); \
      failures = 1;                                                     \
    }                                                                   \
  } while (0)

/* A call that fails with this status and a message that has this in it. */
#define FAILS(status, part, call)                                                \
  do {                                                                           \
    const int got = (call);                                                      \
    if (got != (status) || strstr(sg_error(), part) == NULL) {                   \
      printf("%s:%d: %s: %d, %s\n", __FILE__, __LINE__, #call, got, sg_error()); \
      failures = 1;                                                              \
    }                                                                            \
  } while (0)

/* A number of a result. */
static inline double number(const sg_result* result, const char* name, size_t index) {
  const sg_array* array = sg_result_find(result, name);
  size_t count = 1;
  int32_t axis;
  if (array == NULL) {
    printf("there is no %s\n", name);
    failures = 1;
    return -1;
  }
  for (axis = 0; axis < array->rank; ++axis) count *= (size_t)array->shape[axis];
  if (index >= count) {
    printf("%s has %lu numbers\n", name, (unsigned long)count);
    failures = 1;
    return -1;
  }
  return array->dtype == SG_FLOAT64 ? ((const double*)array->data)[index]
                                    : (double)((const int64_t*)array->data)[index];
}

#endif
