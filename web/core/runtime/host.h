#pragma once

#include <cstddef>
#include <cstdint>

/// What the module asks of the page: src/core/host.ts.
extern "C" {
#define HOST_FUNCTION(name) [[clang::import_module("host"), clang::import_name(name)]]

/// The number that a text is, correctly rounded; the text has the form of one.
HOST_FUNCTION("number") double host_number(const char* text, std::size_t length);

/// Whether a regular expression is found in a text. Without a text: whether it is one.
HOST_FUNCTION("search")
bool host_search(const char* expression, std::size_t length, const char* text,
                 std::size_t text_length);

/// The number of a file that was handed over under this name, or -1.
HOST_FUNCTION("open") std::int32_t host_open(const char* name, std::size_t length);
HOST_FUNCTION("size") double host_size(std::int32_t file);
/// Reads bytes that are there: 0, or 1 if it fails.
HOST_FUNCTION("read")
std::int32_t host_read(std::int32_t file, double offset, void* into, std::size_t count);

#undef HOST_FUNCTION
}
