#include <fmt/core.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/core/instruction_set.h"
#include "synergraph/core/kernels/kernels.h"
#include "synergraph/core/terminal.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace synergraph {

#if defined(__x86_64__)
namespace v2 {
extern const Kernels kTable;
}
namespace v3 {
extern const Kernels kTable;
}
namespace v4 {
extern const Kernels kTable;
}
#elif defined(__wasm__)
namespace simd128 {
extern const Kernels kTable;
}
#else
namespace plain {
extern const Kernels kTable;
}
#endif

namespace {

#if defined(__x86_64__)

bool has_v2() {
  return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
}

bool has_v3() {
  // What the builtin of some compilers does not know; no CPU with AVX2 is known to lack them.
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  const bool more = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0 &&
                    (c & bit_MOVBE) != 0 && __get_cpuid(0x80000001, &a, &b, &c, &d) != 0 &&
                    (c & bit_LZCNT) != 0;
  return more && has_v2() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

bool has_v4() {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

std::vector<const Kernels*> find_supported() {
  __builtin_cpu_init();
  std::vector<const Kernels*> found;
  if (has_v2()) found.push_back(&v2::kTable);
  if (has_v3()) found.push_back(&v3::kTable);
  if (has_v4()) found.push_back(&v4::kTable);
  return found;
}

#elif defined(__wasm__)

std::vector<const Kernels*> find_supported() {
  return {&simd128::kTable};
}

#else

std::vector<const Kernels*> find_supported() {
  return {&plain::kTable};
}

#endif

}  // namespace

std::atomic<const Kernels*> chosen_kernels = nullptr;

std::span<const Kernels* const> supported_kernels() {
  static const std::vector<const Kernels*> supported = find_supported();
  return supported;
}

const Kernels& choose_kernels() {
  const auto supported = supported_kernels();
  if (supported.empty()) throw UsageError("this CPU is older than x86-64-v2 (SSE4.2)");
  const Kernels* best = supported.back();
  const char* wanted =
      std::getenv("SYNERGRAPH_ISA");  // NOLINT(concurrency-mt-unsafe): no one sets it
  if (wanted != nullptr && *wanted != '\0') {
    best = nullptr;
    std::vector<const char*> names;
    for (const Kernels* kernels : supported) {
      names.push_back(kernels->isa);
      if (std::string_view(wanted) == kernels->isa) best = kernels;
    }
    if (best == nullptr)
      throw UsageError(fmt::format("SYNERGRAPH_ISA is {}, this CPU and build have {}",
                                   quoted_text(wanted), fmt::join(names, ", ")));
  }
  chosen_kernels.store(best, std::memory_order_release);
  return *best;
}

std::string instruction_set() {
#if defined(__x86_64__)
  return std::string("x86-64-") + kernels().isa;
#elif defined(__wasm__)
  return std::string("wasm-") + kernels().isa;
#else
  return kernels().isa;
#endif
}

}  // namespace synergraph
