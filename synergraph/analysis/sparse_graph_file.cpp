#include "synergraph/analysis/sparse_graph_file.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/terminal.h"
#include "synergraph/graph/graph_memory.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/npy.h"
#include "synergraph/io/npz.h"
#include "synergraph/io/zip_archive.h"

namespace synergraph {
namespace {

constexpr std::int64_t kPiece = std::int64_t{1} << 16U;  ///< elements that are converted at once

std::size_t at(std::int64_t k) {
  return static_cast<std::size_t>(k);
}

/// Edges in the order of the file.
struct EdgeList {
  ScratchVector<std::int32_t> senders, receivers;
  ScratchVector<double> weights;  ///< empty: all ones
};

/// Groups edges by one end: the other ends of the edges of node j are
/// others[first[j]] .. others[first[j + 1] - 1], in the order of the list.
struct Grouped {
  std::vector<std::int64_t> first;
  ScratchVector<std::int32_t> others;
  ScratchVector<double> weights;
};

SparseGraph graph_of_list(std::int64_t nodes, EdgeList edges, const std::string& where,
                          const Execution& execution) {
  Grouped by;
  by.first.assign(at(nodes) + 1, 0);
  for (const std::int32_t j : edges.senders) ++by.first[at(j) + 1];
  std::partial_sum(by.first.begin(), by.first.end(), by.first.begin());
  std::vector<std::int64_t> place(by.first.begin(), by.first.end() - 1);
  by.others.resize(edges.senders.size());
  by.weights.resize(edges.weights.size());
  for (std::size_t e = 0; e < edges.senders.size(); ++e) {
    const auto to = at(place[at(edges.senders[e])]++);
    by.others[to] = edges.receivers[e];
    if (!edges.weights.empty()) by.weights[to] = edges.weights[e];
  }
  edges = {};
  return {
      std::move(by.first), std::move(by.others), std::move(by.weights), false, where, execution};
}

/// The arrays of scipy.sparse.save_npz.
class SciPyFile {
 public:
  SciPyFile(const ByteSourcePtr& bytes, const Execution& execution, std::int64_t most_nodes)
      : name_(bytes->name()),
        archive_(ZipArchive::open(bytes)),
        contents_(synergraph::read_npz(*archive_)),
        execution_(execution),
        most_nodes_(most_nodes) {}

  SparseGraph read() const {
    const bool by_receiver = format() == "csr";
    const std::int64_t nodes = size();
    check_graph_memory(static_cast<double>(nodes), 0.0, {.node = 24.0}, where());
    std::vector<std::int64_t> first = offsets(nodes);
    const std::int64_t edges = first.back();
    // csr is turned round: both ends exist at the same time.
    check_graph_memory(static_cast<double>(nodes), static_cast<double>(edges),
                       {.node = 24.0, .edge = by_receiver ? 12.0 : 4.0}, where());
    ScratchVector<double> weights = strengths(edges);
    ScratchVector<std::int32_t> inner = indices(edges, nodes);
    drop_zeros(first, inner, weights);
    if (!by_receiver)
      return {std::move(first), std::move(inner), std::move(weights), false, where(), execution_};
    EdgeList list{std::move(inner), {}, std::move(weights)};
    list.receivers.resize(list.senders.size());
    for (std::int64_t i = 0; i < nodes; ++i)
      std::fill(list.receivers.begin() + first[at(i)], list.receivers.begin() + first[at(i) + 1],
                static_cast<std::int32_t>(i));
    first = {};
    return graph_of_list(nodes, std::move(list), where(), execution_);
  }

 private:
  static constexpr const char* kExpected =
      "expected a file of scipy.sparse.save_npz with format csr or csc";

  std::string where() const { return name_ + ": "; }
  [[noreturn]] void fail(const std::string& what) const { throw InputError(where() + what); }

  const Tensor& member(const std::string& name) const {
    for (const Tensor& tensor : contents_.tensors)
      if (tensor.name() == name) return tensor;
    for (const SkippedTensor& skipped : contents_.skipped)
      if (skipped.name == name) fail(fmt::format("{}: {}", name, skipped.reason));
    fail(fmt::format("{} is missing; {}", name, kExpected));
  }
  const Tensor& list(const std::string& name, std::int64_t count, bool integers) const {
    const Tensor& tensor = member(name);
    if (tensor.shape() != Shape{count} || (integers && !is_integer(tensor.info().dtype)))
      fail(fmt::format("{} is {} of shape {}, expected {} {}", name, name_of(tensor.info().dtype),
                       to_string(tensor.shape()), count, integers ? "integers" : "numbers"));
    return tensor;
  }
  /// Visits all elements of a list, piece by piece.
  template <class T, class Visit>
  void each(const Tensor& tensor, const Visit& visit) const {
    std::vector<T> piece(at(kPiece));
    const std::int64_t count = tensor.info().elements();
    for (std::int64_t begin = 0; begin < count; begin += kPiece) {
      execution_.check();
      const std::int64_t taken = std::min(kPiece, count - begin);
      tensor.read(begin, taken, piece.data());
      for (std::int64_t k = 0; k < taken; ++k) visit(begin + k, piece[at(k)]);
    }
  }

  /// A NumPy array of one text, which holds no numbers: the text stands behind the header's line.
  std::string format() const {
    const ZipArchive::Member* found = archive_->find("format.npy");
    if (found == nullptr) fail(fmt::format("format is missing; {}", kExpected));
    const ByteSourcePtr bytes = archive_->bytes(*found);
    constexpr std::uint64_t kMost = 1024;
    std::string text = bytes->read_string(0, std::min(bytes->size(), kMost));
    text.erase(0, std::min(text.find('\n'), text.size() - 1) + 1);
    std::erase(text, '\0');  // of four bytes a letter
    if (text != "csr" && text != "csc")
      fail(fmt::format("format {}, expected csr or csc: convert with matrix.tocsr()",
                       quoted_text(text)));
    return text;
  }
  std::int64_t size() const {
    const std::vector<std::int64_t> shape = list("shape", 2, true).values<std::int64_t>();
    if (shape[0] != shape[1] || shape[0] < 1 || shape[0] > most_nodes_)
      fail(fmt::format("a matrix of {} x {}; expected a square one with 1 to {} rows", shape[0],
                       shape[1], most_nodes_));
    return shape[0];
  }
  std::vector<std::int64_t> offsets(std::int64_t nodes) const {
    std::vector<std::int64_t> first(at(nodes) + 1);
    each<std::int64_t>(list("indptr", nodes + 1, true), [&](std::int64_t k, std::int64_t value) {
      if (k == 0 ? value != 0 : value < first[at(k) - 1])
        fail(
            fmt::format("indptr[{}] is {}; indptr must begin with 0 and never decrease", k, value));
      first[at(k)] = value;
    });
    const auto most = static_cast<double>(nodes) * (static_cast<double>(nodes) + 1.0) / 2.0;
    if (static_cast<double>(first.back()) > most)
      fail(fmt::format("{} edges of {} nodes, which have at most {:.0f}", first.back(), nodes,
                       most));
    return first;
  }
  /// Empty if all are ones.
  ScratchVector<double> strengths(std::int64_t edges) const {
    ScratchVector<double> weights;
    each<double>(list("data", edges, false), [&](std::int64_t k, double value) {
      if (weights.empty() && value == 1.0) return;
      if (weights.empty()) {
        check_graph_memory(0.0, static_cast<double>(edges), {.edge = 12.0}, where());
        weights.assign(at(edges), 1.0);
      }
      weights[at(k)] = value;
    });
    return weights;
  }
  ScratchVector<std::int32_t> indices(std::int64_t edges, std::int64_t nodes) const {
    ScratchVector<std::int32_t> all(at(edges));
    each<std::int64_t>(list("indices", edges, true), [&](std::int64_t k, std::int64_t value) {
      if (value < 0 || value >= nodes)
        fail(fmt::format("indices[{}] is {}; nodes are 0 to {}", k, value, nodes - 1));
      all[at(k)] = static_cast<std::int32_t>(value);
    });
    return all;
  }
  /// SciPy keeps zeros that were stored on purpose; they are no edges.
  static void drop_zeros(std::vector<std::int64_t>& first, ScratchVector<std::int32_t>& inner,
                         ScratchVector<double>& weights) {
    if (std::find(weights.begin(), weights.end(), 0.0) == weights.end()) return;
    std::int64_t end = 0;
    std::int64_t begin = 0;
    for (std::size_t j = 0; j + 1 < first.size(); ++j) {
      const std::int64_t stop = first[j + 1];
      for (; begin < stop; ++begin) {
        if (weights[at(begin)] == 0.0) continue;
        inner[at(end)] = inner[at(begin)];
        weights[at(end++)] = weights[at(begin)];
      }
      first[j + 1] = end;
    }
    inner.resize(at(end));
    weights.resize(at(end));
    if (std::all_of(weights.begin(), weights.end(), [](double w) { return w == 1.0; }))
      weights = {};
  }

  std::string name_;
  std::shared_ptr<const ZipArchive> archive_;
  TensorFileContents contents_;
  const Execution& execution_;
  std::int64_t most_nodes_;
};

/// An edge list as text.
class EdgeText {
 public:
  EdgeText(const ByteSource& bytes, const Execution& execution, std::int64_t most_nodes)
      : bytes_(bytes), execution_(execution), most_nodes_(most_nodes) {}

  SparseGraph read() {
    constexpr std::size_t kText = std::size_t{1} << 20U;
    std::string piece;
    std::string rest;  // a line that the last piece began
    for (std::uint64_t begin = 0; begin < bytes_.size(); begin += kText) {
      execution_.check();
      piece =
          rest + bytes_.read_string(begin, std::min<std::uint64_t>(kText, bytes_.size() - begin));
      std::string_view text = piece;
      for (std::size_t end = text.find('\n'); end != std::string_view::npos;
           end = text.find('\n')) {
        line(text.substr(0, end));
        text.remove_prefix(end + 1);
      }
      if (text.size() > kLongest) line(text);  // refuses it
      rest = text;
    }
    if (!rest.empty()) line(rest);
    const std::int64_t nodes = stated_.value_or(std::int64_t{largest_} + 1);
    if (nodes < 1)
      throw InputError(bytes_.name() +
                       ": no edges; expected \"from to\" or \"from to weight\" on each line");
    check_graph_memory(static_cast<double>(nodes), static_cast<double>(edges_.senders.size()),
                       {.node = 24.0, .edge = edges_.weights.empty() ? 12.0 : 28.0},
                       bytes_.name() + ": ");
    return graph_of_list(nodes, std::move(edges_), bytes_.name() + ": ", execution_);
  }

 private:
  static constexpr std::size_t kLongest = 1000;

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("{}: line {}: {}", bytes_.name(), number_, what));
  }

  /// The next word of a line; empty at its end.
  static std::string_view word(std::string_view& line) {
    const std::size_t begin = std::min(line.find_first_not_of(" \t\r,"), line.size());
    const std::size_t end = std::min(line.find_first_of(" \t\r,", begin), line.size());
    const std::string_view found = line.substr(begin, end - begin);
    line.remove_prefix(end);
    return found;
  }
  std::int32_t node(std::string_view text) const {
    std::int64_t value = 0;
    if (!parse_number(text, value) || value < 0 || value >= stated_.value_or(most_nodes_))
      fail(fmt::format("{} is not a node; nodes are whole numbers from 0 to {}", quoted_text(text),
                       stated_.value_or(most_nodes_) - 1));
    return static_cast<std::int32_t>(value);
  }
  void line(std::string_view text) {
    ++number_;
    if (text.size() > kLongest)
      fail(fmt::format("more than {} characters; expected \"from to\" or \"from to weight\"",
                       kLongest));
    const std::size_t hash = text.find('#');
    if (hash != std::string_view::npos) {
      if (number_ == 1 && hash == 0) state_nodes(text.substr(1));
      text = text.substr(0, hash);
    }
    const std::string_view from = word(text);
    if (from.empty()) return;
    const std::string_view to = word(text);
    const std::string_view strength = word(text);
    if (to.empty() || !word(text).empty()) fail("expected \"from to\" or \"from to weight\"");
    edges_.senders.push_back(node(from));
    edges_.receivers.push_back(node(to));
    largest_ = std::max({largest_, edges_.senders.back(), edges_.receivers.back()});
    double weight = 1.0;
    if (!strength.empty() && !parse_number(strength, weight))
      fail(fmt::format("{} is not a weight", quoted_text(strength)));
    if (weight == 1.0 && edges_.weights.empty()) return;
    edges_.weights.resize(edges_.senders.size(), 1.0);
    edges_.weights.back() = weight;
  }
  /// "nodes N" behind the first #.
  void state_nodes(std::string_view text) {
    if (word(text) != "nodes") return;
    std::int64_t value = 0;
    const std::string_view count = word(text);
    if (!parse_number(count, value) || value < 1 || value > most_nodes_)
      fail(fmt::format("{} is not a number of nodes; a sparse graph has 1 to {}",
                       quoted_text(count), most_nodes_));
    stated_ = value;
  }

  const ByteSource& bytes_;
  const Execution& execution_;
  std::int64_t most_nodes_;
  std::int64_t number_ = 0;
  std::optional<std::int64_t> stated_;
  std::int32_t largest_ = -1;
  EdgeList edges_;
};

/// The columns of the matrix, as they are written: every node's own loop, then its receivers.
class Columns {
 public:
  explicit Columns(const SparseGraph& graph) : graph_(graph), first_{0} {
    first_.reserve(at(graph.nodes()) + 1);
    for (int j = 0; j < graph.nodes(); ++j)
      first_.push_back(first_.back() + own(j) +
                       static_cast<std::int64_t>(graph.receivers(j).size()));
  }
  const std::vector<std::int64_t>& first() const { return first_; }
  std::int64_t edges() const { return first_.back(); }
  /// Visits edges [begin, begin + count): the node, its receiver and the weight.
  template <class Visit>
  void each(std::int64_t begin, std::int64_t count, const Visit& visit) const {
    auto j = static_cast<int>(std::upper_bound(first_.begin(), first_.end(), begin) -
                              first_.begin() - 1);
    for (std::int64_t e = begin; e < begin + count; ++e) {
      while (e >= first_[at(j) + 1]) ++j;
      const std::int64_t k = e - first_[at(j)] - own(j);
      if (k < 0) {
        visit(e - begin, j, j, graph_.self_loop(j));
        continue;
      }
      const auto weights = graph_.weights(j);
      visit(e - begin, j, graph_.receivers(j)[at(k)], weights.empty() ? 1.0 : weights[at(k)]);
    }
  }
  /// Whether all weights are one.
  bool plain() const {
    if (graph_.weighted()) return false;
    for (int j = 0; j < graph_.nodes(); ++j)
      if (const double loop = graph_.self_loop(j); loop != 0.0 && loop != 1.0) return false;
    return true;
  }

 private:
  std::int64_t own(int j) const { return graph_.self_loop(j) > 0.0 ? 1 : 0; }

  const SparseGraph& graph_;
  std::vector<std::int64_t> first_;
};

void write_matrix(const std::string& path, const SparseGraph& graph) {
  const Columns columns(graph);
  const std::array<std::int64_t, 2> shape{graph.nodes(), graph.nodes()};
  std::vector<TensorStream> arrays;
  arrays.push_back({{"indices", DType::kInt32, {columns.edges()}},
                    [&](std::int64_t begin, std::int64_t count, void* out) {
                      columns.each(begin, count, [&](std::int64_t k, int /*from*/, int to, double) {
                        static_cast<std::int32_t*>(out)[k] = to;
                      });
                    }});
  const std::array<TensorData, 2> small{
      tensor_data("indptr", {graph.nodes() + std::int64_t{1}}, columns.first().data()),
      tensor_data("shape", {2}, shape.data())};
  for (TensorStream& stream : streams_of(small)) arrays.push_back(std::move(stream));
  const bool plain = columns.plain();
  arrays.push_back({{"data", plain ? DType::kBool : DType::kFloat64, {columns.edges()}},
                    [&](std::int64_t begin, std::int64_t count, void* out) {
                      if (plain)
                        return std::fill_n(static_cast<std::uint8_t*>(out), count, std::uint8_t{1}),
                               void();
                      columns.each(begin, count, [&](std::int64_t k, int, int, double weight) {
                        static_cast<double*>(out)[k] = weight;
                      });
                    }});
  stream_npz(path, arrays, {{"format", "csc"}});
}

void write_text(const std::string& path, const SparseGraph& graph) {
  const Columns columns(graph);
  AtomicFile file(path);
  std::string text = fmt::format("# nodes {}\n", graph.nodes());
  for (std::int64_t begin = 0; begin < columns.edges(); begin += kPiece) {
    columns.each(begin, std::min(kPiece, columns.edges() - begin),
                 [&](std::int64_t, int from, int to, double weight) {
                   fmt::format_to(std::back_inserter(text), "{} {}", from, to);
                   if (weight != 1.0) fmt::format_to(std::back_inserter(text), " {}", weight);
                   text += '\n';
                 });
    file.write(text);
    text.clear();
  }
  file.write(text);
  file.commit();
}

}  // namespace

SparseGraph read_sparse_graph(const ByteSourcePtr& bytes, const Execution& execution,
                              std::int64_t most_nodes) {
  const bool archive = bytes->size() >= 2 && bytes->read_string(0, 2) == "PK";
  if (archive || bytes->name().ends_with(".npz"))  // a damaged archive is no text either
    return SciPyFile(bytes, execution, most_nodes).read();
  return EdgeText(*bytes, execution, most_nodes).read();
}

SparseGraph read_sparse_graph(const std::string& path, const Execution& execution) {
  return read_sparse_graph(open_bytes(path), execution);
}

void write_sparse_graph(const std::string& path, const SparseGraph& graph) {
  if (path.ends_with(".npz"))
    write_matrix(path, graph);
  else
    write_text(path, graph);
}

}  // namespace synergraph
