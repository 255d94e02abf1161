#include "synergraph/report/page_writer.h"

#include <nlohmann/json.hpp>

namespace synergraph {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 18U;
constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string json_string(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_strings(const std::vector<std::string>& texts) {
  return nlohmann::json(texts).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void PageWriter::flush() {
  file_.write(buffer_);
  buffer_.clear();
}

void PageWriter::html(std::string_view text) {
  buffer_ += text;
  flush();
}

void PageWriter::json(std::string_view text) {
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    const std::string_view next = text.substr(k, 3);
    if (c == '<')
      buffer_ += "\\u003c";
    else if (c == '>')
      buffer_ += "\\u003e";
    else if (c == '&')
      buffer_ += "\\u0026";
    else if (next == "\u2028" || next == "\u2029") {
      buffer_ += next == "\u2028" ? "\\u2028" : "\\u2029";
      k += 2;
    } else
      buffer_ += c;
    if (buffer_.size() >= kBuffer) flush();
  }
}

void PageWriter::base64(std::span<const std::byte> bytes) {
  for (const std::byte byte : bytes) {
    group_ = group_ << 8U | static_cast<unsigned>(byte);
    if (++held_ < 3) continue;
    for (const unsigned shift : {18U, 12U, 6U, 0U}) buffer_ += kBase64[group_ >> shift & 63U];
    group_ = 0;
    held_ = 0;
    if (buffer_.size() >= kBuffer) flush();
  }
}

void PageWriter::end_base64() {
  if (held_ == 0) return;
  const std::size_t padding = 3 - held_;
  constexpr std::byte zeros[2] = {};
  base64(std::span(zeros).first(padding));
  buffer_.replace(buffer_.size() - padding, padding, padding, '=');
}

void PageWriter::commit() {
  flush();
  file_.commit();
}

}  // namespace synergraph
