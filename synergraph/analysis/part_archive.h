#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "synergraph/core/error.h"

namespace synergraph {

/// Numbers, lists and structures one after the other, bit for bit, for files that only this program
/// reads. A structure says what it consists of in one function for both directions:
///   template <class Archive> void archive(Archive& with, Stack& stack) { with(stack.signal, ...);
///   }
class PartWriter {
 public:
  static constexpr bool kReads = false;

  template <class... Values>
  void operator()(Values&&... values) {
    (put(values), ...);
  }
  std::string take() { return std::move(text_); }

 private:
  template <class Value>
  void put(Value& value) {
    if constexpr (std::is_arithmetic_v<Value>)
      text_.append(reinterpret_cast<const char*>(&value), sizeof value);
    else
      archive(*this, value);
  }
  template <class Value>
  void put(std::vector<Value>& values) {
    std::size_t size = values.size();
    put(size);
    if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>)
      text_.append(reinterpret_cast<const char*>(values.data()), size * sizeof(Value));
    else
      for (Value& value : values) put(value);
  }

  std::string text_;
};

/// Reads what a PartWriter has written; InputError where there is less.
class PartReader {
 public:
  static constexpr bool kReads = true;

  explicit PartReader(std::string_view text) : text_(text) {}

  template <class... Values>
  void operator()(Values&... values) {
    (get(values), ...);
  }

 private:
  void copy(void* to, std::size_t size) {
    if (size > text_.size()) throw InputError("it ends too early");
    if (size > 0) std::memcpy(to, text_.data(), size);
    text_.remove_prefix(size);
  }
  template <class Value>
  void get(Value& value) {
    if constexpr (std::is_arithmetic_v<Value>)
      copy(&value, sizeof value);
    else
      archive(*this, value);
  }
  template <class Value>
  void get(std::vector<Value>& values) {
    std::size_t size = 0;
    get(size);
    if (size > text_.size()) throw InputError("it ends too early");  // an element has a byte
    values.resize(size);
    if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>) {
      if (size > text_.size() / sizeof(Value)) throw InputError("it ends too early");
      copy(values.data(), size * sizeof(Value));
    } else {
      for (Value& value : values) get(value);
    }
  }

  std::string_view text_;
};

}  // namespace synergraph
