#include "synergraph/analysis/attention_axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "synergraph/core/error.h"
#include "synergraph/core/setting.h"
#include "synergraph/core/split.h"
#include "synergraph/core/terminal.h"

namespace synergraph {
namespace {

constexpr std::size_t kAxes = kNamesOf<AttentionAxis>.size();

AttentionAxis axis_named(std::string_view name) {
  if (const auto axis = parse_name<AttentionAxis>(name)) return *axis;
  throw UsageError(fmt::format("{}: {} is no axis: expected some of {}", option_mark("axes"),
                               quoted_text(name), fmt::join(all_names<AttentionAxis>(), ",")));
}

std::vector<std::string_view> names_of(const AttentionAxes& axes) {
  std::vector<std::string_view> names;
  for (const AttentionAxis axis : axes) names.push_back(name_of(axis));
  return names;
}

}  // namespace

AttentionAxes parse_axes(std::string_view list) {
  AttentionAxes axes;
  std::string separated(list);
  // "layer, head query key" is fine, "layer,,head" is not.
  for (std::size_t at = 0; (at = separated.find(' ', at)) != separated.npos;) {
    const bool beside = at == 0 || at + 1 == separated.size() || separated[at - 1] == ',' ||
                        separated[at + 1] == ',' || separated[at + 1] == ' ';
    if (beside)
      separated.erase(at, 1);
    else
      separated[at++] = ',';
  }
  for (const std::string_view name : split(separated, ',')) {
    const AttentionAxis axis = axis_named(name);
    if (std::find(axes.begin(), axes.end(), axis) != axes.end())
      throw UsageError(fmt::format("{}: {} is given twice", option_mark("axes"), name_of(axis)));
    axes.push_back(axis);
  }
  for (const AttentionAxis axis : {AttentionAxis::kQuery, AttentionAxis::kKey})
    if (std::find(axes.begin(), axes.end(), axis) == axes.end())
      throw UsageError(fmt::format("{}: {} is missing", option_mark("axes"), name_of(axis)));
  return axes;
}

AttentionAxes default_axes(std::size_t rank) {
  AttentionAxes axes;
  for (std::size_t k = kAxes - rank; k < kAxes; ++k) axes.push_back(static_cast<AttentionAxis>(k));
  return axes;
}

std::string axes_list(const AttentionAxes& axes) {
  return fmt::format("{}", fmt::join(names_of(axes), ","));
}

std::string to_string(const AttentionAxes& axes) {
  return fmt::format("({})", fmt::join(names_of(axes), ", "));
}

OrderedAttention order_attention(const Tensor& tensor, const AttentionAxes& axes) {
  const std::string where = fmt::format("{}: shape {}", tensor.where(), to_string(tensor.shape()));
  if (tensor.shape().size() != axes.size())
    throw InputError(fmt::format("{} has {} axes, {} names {}", where, tensor.shape().size(),
                                 option_mark("axes"), axes.size()));
  if (tensor.info().elements() == 0) throw InputError(where + " has no elements");
  std::vector<std::size_t> order;
  std::array<std::int64_t, kAxes> extents{1, 1, 1, 1, 1};
  for (std::size_t k = 0; k < kAxes; ++k) {
    const auto found = std::find(axes.begin(), axes.end(), static_cast<AttentionAxis>(k));
    if (found == axes.end()) continue;
    order.push_back(static_cast<std::size_t>(found - axes.begin()));
    extents[k] = tensor.shape()[order.back()];
    if (extents[k] > std::numeric_limits<int>::max() / 2) throw InputError(where + " is too large");
  }
  const auto [layers, samples, heads, queries, keys] = extents;
  if (queries != keys)
    throw InputError(
        fmt::format("{}: attention must be square, but it has {} queries and {} keys as {}", where,
                    queries, keys, to_string(axes)));
  return {tensor.permuted(order), layers, samples, heads, queries, keys};
}

}  // namespace synergraph
