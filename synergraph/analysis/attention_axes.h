#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "synergraph/core/names.h"
#include "synergraph/io/tensor.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// What an axis of an array of attention counts, in the order of the usual arrays.
enum class AttentionAxis { kLayer, kSample, kHead, kQuery, kKey };

template <>
inline constexpr NameTable<AttentionAxis, 5> kNamesOf<AttentionAxis>{{
    {AttentionAxis::kLayer, "layer"},
    {AttentionAxis::kSample, "sample"},
    {AttentionAxis::kHead, "head"},
    {AttentionAxis::kQuery, "query"},
    {AttentionAxis::kKey, "key"},
}};

/// The axes of an array, outermost first; each at most once, the query and the key among them.
using AttentionAxes = std::vector<AttentionAxis>;

/// "layer,head,query,key" as axes, in any order, with commas, blanks or both. UsageError for what
/// is no axis, stands twice, or lacks the query or the key.
AttentionAxes parse_axes(std::string_view list);

/// What arrays of this rank (2 to 5) are taken for when nobody says: the last of (layer, sample,
/// head, query, key).
AttentionAxes default_axes(std::size_t rank);

/// "layer,head,query,key", as parse_axes() takes it.
std::string axes_list(const AttentionAxes& axes);

/// "(layer, head, query, key)".
std::string to_string(const AttentionAxes& axes);

/// Attention seen as (layer, sample, head, query, key): the tensor with its axes in this order, and
/// all five extents, 1 where an axis is missing. Nothing is read.
struct OrderedAttention {
  Tensor tensor;
  std::int64_t layers, samples, heads, queries, keys;
};

/// InputError when the tensor does not have these axes, is empty, too large or not square.
OrderedAttention order_attention(const Tensor& tensor, const AttentionAxes& axes);

}  // namespace synergraph
#pragma GCC visibility pop
