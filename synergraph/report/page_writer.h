#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "synergraph/io/atomic_file.h"

namespace synergraph {

/// Text as a string of JSON, with its quotes. Bytes that are not UTF-8 are replaced.
std::string json_string(const std::string& text);

/// A list of such strings.
std::string json_strings(const std::vector<std::string>& texts);

/// Writes a page with data, piece by piece; the file is there after commit().
class PageWriter {
 public:
  PageWriter(const std::string& path, NamedBy named_by) : file_(path, named_by) {}

  /// As it is.
  void html(std::string_view text);

  /// A piece of JSON inside a script element: what could end the element or begin a comment, in
  /// strings alone, is escaped, so that it is nothing but data.
  void json(std::string_view text);

  /// Bytes in base64, which go on where the last call ended, and their end.
  void base64(std::span<const std::byte> bytes);
  void end_base64();

  void commit();

 private:
  void flush();

  AtomicFile file_;
  std::string buffer_;
  unsigned group_ = 0;  // the bits of bytes that are not yet encoded
  std::size_t held_ = 0;
};

}  // namespace synergraph
