#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cli/number_option.h"
#include "synergraph/train/settings.h"

namespace synergraph::cli {

/// Calls visit(option, get, group, help) for every setting of a training that is a number, but for
/// those named in `without`.
template <class Visit>
void visit_training_settings(const Visit& visit,
                             std::initializer_list<std::string_view> without = {}) {
  visit_settings([&](std::string_view name, auto get, const char* group, const char* help) {
    using Value = decltype(get(std::declval<TrainSettings&>()));
    if constexpr (std::is_arithmetic_v<std::remove_reference_t<Value>>) {
      if (std::find(without.begin(), without.end(), name) != without.end()) return;
      std::string option = "--" + std::string(name);
      std::replace(option.begin(), option.end(), '_', '-');
      visit(option, get, group, help);
    }
  });
}

/// Options for these.
inline void add_training_settings(CLI::App& command, TrainSettings& settings,
                                  std::initializer_list<std::string_view> without = {}) {
  visit_training_settings(
      [&](const std::string& option, auto get, const char* group, const char* help) {
        add_number(command, option, get(settings), help)->group(group);
      },
      without);
}

}  // namespace synergraph::cli
