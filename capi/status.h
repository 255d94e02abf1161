#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "capi/synergraph.h"
#include "synergraph/core/float_type.h"

namespace synergraph::capi {

/// A message or an advice of the library, with settings spelled as the options' keys.
std::string spelled_here(std::string_view message);

/// Runs the body of a function of the interface: no exception leaves it, but for its status; its
/// message becomes the calling thread's.
int guarded_call(void (*call)(const void* body), const void* body) noexcept;
template <class Body>
int guarded(const Body& body) noexcept {
  return guarded_call([](const void* of) { (*static_cast<const Body*>(of))(); }, &body);
}

/// UsageError if it is NULL.
void require(const void* pointer, const char* what);

/// The same for one that makes an object or a text.
template <class Made, class Body>
int making(Made** place, const Body& body) noexcept {
  if (place != nullptr) *place = nullptr;
  return guarded([&] {
    require(place, "the place for the result");
    *place = body();
  });
}

/// UsageError unless a buffer has exactly as many elements as the product of the extents, and is
/// there if these are any.
void require_buffer(const void* buffer, std::size_t count,
                    std::initializer_list<std::int64_t> extents);

/// The element type; UsageError if it is none of attention's.
FloatType float_type_of(int dtype);

/// A copy of a text for sg_free().
char* copied_text(const std::string& text);

}  // namespace synergraph::capi
