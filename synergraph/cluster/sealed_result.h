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

/// Whether the file is one of these, whole, and of the file's name. Of a part above 64 MiB only the
/// first line and the size are looked at.
bool looks_whole(const std::string& path);

}  // namespace synergraph
#pragma GCC visibility pop
