// What the standard library lacks, or would bring much code for.

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <new>
#include <string_view>

#include "runtime/host.h"
#include "synergraph/core/parallel.h"

namespace {

/// The length of the number that a text begins with, as std::from_chars() sees one; 0: there is
/// none.
std::size_t number_length(std::string_view text, bool& zero) {
  std::size_t at = text.starts_with('-') ? 1 : 0;
  bool digits = false;
  zero = true;
  for (bool point = false; at < text.size(); ++at) {
    if (text[at] == '.' && !point) {
      point = true;
    } else if (text[at] >= '0' && text[at] <= '9') {
      digits = true;
      zero = zero && text[at] == '0';
    } else {
      break;
    }
  }
  if (!digits) return 0;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    std::size_t end = at + 1;
    if (end < text.size() && (text[end] == '-' || text[end] == '+')) ++end;
    const std::size_t first = end;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    if (end > first) at = end;
  }
  return at;
}

bool same_letters(std::string_view text, std::string_view letters) {
  if (text.size() < letters.size()) return false;
  for (std::size_t k = 0; k < letters.size(); ++k)
    if ((text[k] | 0x20) != letters[k]) return false;
  return true;
}

}  // namespace

std::from_chars_result std::from_chars(const char* first, const char* last, double& value) {
  const std::string_view text(first, static_cast<std::size_t>(last - first));
  bool zero = false;
  if (const std::size_t length = number_length(text, zero); length > 0) {
    const double number = host_number(first, length);
    if (std::isinf(number) || (number == 0.0 && !zero))
      return {first + length, std::errc::result_out_of_range};
    value = number;
    return {first + length, std::errc()};
  }
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  for (const std::string_view name : {"infinity", "inf", "nan"}) {
    if (!same_letters(text.substr(sign), name)) continue;
    value = std::copysign(name == "nan" ? NAN : INFINITY, sign == 1 ? -1.0 : 1.0);
    return {first + sign + name.size(), std::errc()};
  }
  return {first, std::errc::invalid_argument};
}

extern "C" {

/// Called for numbers in JSON alone. The other two are never called: they keep those of the C
/// library away.
double strtod(const char* text, char** end) {
  bool zero = false;
  const std::size_t length = number_length(text, zero);
  if (end != nullptr) *end = const_cast<char*>(text) + length;
  return host_number(text, length);
}
float strtof(const char* text, char** end) {
  return static_cast<float>(strtod(text, end));
}
long double strtold(const char* text, char** end) {
  return strtod(text, end);
}

/// The only thread does not end.
int __cxa_thread_atexit(void (*)(void*), void*, void*) {
  return 0;
}

}  // extern "C"

void* operator new(std::size_t size) {
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  if (void* memory = std::aligned_alloc(static_cast<std::size_t>(alignment), size > 0 ? size : 1))
    return memory;
  throw std::bad_alloc();
}

namespace synergraph {

int default_thread_count() {
  return 1;
}

void parallel_for(std::size_t count, int /*threads*/,
                  const std::function<void(std::size_t, int)>& body) {
  for (std::size_t index = 0; index < count; ++index) body(index, 0);
}

}  // namespace synergraph
