#pragma once

#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace synergraph {

/// A JSON document, given without its last line "}", with a checksum at its end.
std::string seal_json(const std::string& text);
/// InputError where such a document has no checksum at its end, or that of another text.
void check_json_seal(const std::string& text);

/// Bytes of any kind after a line with what they are of, their size and their checksum.
std::string seal_part(std::string_view of, std::string_view bytes);
/// These bytes; InputError where they are others, or of something else.
std::string_view open_part(std::string_view of, std::string_view part);

/// Whether the file is one of these, whole, as far as a quick look tells: of a part the first line
/// and the size are looked at, and that it is of the file's name.
bool looks_whole(const std::string& path);

}  // namespace synergraph
#pragma GCC visibility pop
