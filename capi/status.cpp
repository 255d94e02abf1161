#include "capi/status.h"

#include <fmt/core.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

#include "synergraph/core/error.h"
#include "synergraph/core/execution.h"
#include "synergraph/core/instruction_set.h"
#include "synergraph/core/setting.h"
#include "synergraph/core/terminal.h"
#include "synergraph/core/version.h"

namespace synergraph::capi {
namespace {

/// The message of the last failure on this thread; where there was no memory for it, `fallback`.
struct Message {
  std::string text;
  const char* fallback = "";
};

Message& message() {
  thread_local Message of_thread;
  return of_thread;
}

int failed(int status, const char* text) noexcept {
  Message& last = message();
  try {
    last.text = printable(spelled_here(text));  // one line, whatever names are in it
    last.fallback = nullptr;
  } catch (...) {
    last.fallback = "out of memory";
  }
  return status;
}

int status_of(const std::exception_ptr& error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const Stopped& stopped) {
    return failed(SG_STOPPED, stopped.what());
  } catch (const UsageError& usage) {
    return failed(SG_USAGE, usage.what());
  } catch (const Error& input) {
    return failed(SG_INPUT, input.what());
  } catch (const std::bad_alloc&) {
    return failed(SG_MEMORY, "out of memory");
  } catch (const std::exception& other) {
    return failed(SG_INTERNAL, other.what());
  } catch (...) {
    return failed(SG_INTERNAL, "unknown error");
  }
}

}  // namespace

std::string spelled_here(std::string_view message) {
  return spelled(message, OptionSpelling::kKey);
}

int guarded_call(void (*call)(const void* body), const void* body) noexcept {
  try {
    call(body);
    return SG_OK;
  } catch (...) {
    return status_of(std::current_exception());
  }
}

void require(const void* pointer, const char* what) {
  if (pointer == nullptr) throw UsageError(fmt::format("{} is NULL", what));
}

void require_buffer(const void* buffer, std::size_t count,
                    std::initializer_list<std::int64_t> extents) {
  std::size_t elements = 1;
  bool fits = true;
  for (const std::int64_t extent : extents)
    fits = fits && !__builtin_mul_overflow(elements, extent, &elements);
  if (!fits) throw UsageError("the buffer would not fit the memory");
  if (count != elements)
    throw UsageError(
        fmt::format("the buffer has {} elements, {} are written there", count, elements));
  require(buffer, "the buffer");
}

FloatType float_type_of(int dtype) {
  switch (dtype) {
    case SG_FLOAT16:
      return FloatType::kFloat16;
    case SG_BFLOAT16:
      return FloatType::kBFloat16;
    case SG_FLOAT32:
      return FloatType::kFloat32;
    case SG_FLOAT64:
      return FloatType::kFloat64;
    default:
      throw UsageError(fmt::format(
          "element type {} is not one of SG_FLOAT16, SG_BFLOAT16, SG_FLOAT32 and SG_FLOAT64",
          dtype));
  }
}

char* copied_text(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));  // NOLINT: sg_free() frees it
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace synergraph::capi

const char* sg_version(void) {
  return synergraph::kVersion;
}

const char* sg_isa(void) {
  const char* isa = nullptr;
  (void)synergraph::capi::guarded([&] {
    static const std::string name = synergraph::instruction_set();
    isa = name.c_str();
  });
  return isa;
}

const char* sg_error(void) {
  const auto& last = synergraph::capi::message();
  return last.fallback != nullptr ? last.fallback : last.text.c_str();
}

void sg_free(char* text) {
  std::free(text);  // NOLINT: copied_text() allocated it
}
