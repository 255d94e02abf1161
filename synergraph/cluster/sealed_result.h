#pragma once

#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace synergraph {

/// Appends a checksum to a JSON document that is given without its last line "}".
std::string seal_json(const std::string& text);
/// Throws InputError if a sealed document has no checksum at its end, or a wrong checksum.
void check_json_seal(const std::string& text);

/// Puts a line before bytes of any kind. The line holds their subject `of`, their size and their
/// checksum.
std::string seal_part(std::string_view of, std::string_view bytes);
/// Returns the bytes of a sealed part. Throws InputError if the bytes do not match their line or
/// belong to another subject.
std::string_view open_part(std::string_view of, std::string_view part);

/// Returns whether the file is a complete sealed document or part that matches the file's name. For
/// a part above 64 MiB, the function checks only the first line and the size.
bool looks_whole(const std::string& path);

}  // namespace synergraph
#pragma GCC visibility pop
