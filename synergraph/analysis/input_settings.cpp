#include "synergraph/analysis/input_settings.h"

#include "synergraph/model/tasks.h"

namespace synergraph {

std::string_view judging_task_help() {
  static const std::string help = [] {
    std::string text =
        "task that judges a checkpoint; it also draws the sequences if no tokens are given";
    const char* separator = ": ";
    for (const Task& task : tasks()) {
      text += separator + task.name;
      separator = ", ";
    }
    return text;
  }();
  return help;
}

}  // namespace synergraph
