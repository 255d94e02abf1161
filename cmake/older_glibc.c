/* What objects that were compiled with glibc 2.36 expect of it, for programs that are linked
 * against an older one (Portable.cmake). */
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

/* libstdc++ reads its random device by this function of glibc 2.36. */
uint32_t arc4random(void) {
  uint32_t value = 0;
  if (getrandom(&value, sizeof(value), 0) != (ssize_t)sizeof(value)) abort();
  return value;
}

/* glibc 2.32 sets this while a process has one thread. Zero is always right: then reference counts
 * are atomic. */
char __libc_single_threaded = 0;
