// The text format for graphs: see docs/formats.md. One statement a line, '#' begins a comment.
//
//   nodes 4                     or   nodes u v w tau
//   self-loops off              (default: on; before the first head)
//   head "Head 1" weight 0.5    then one edge a line, "from -> to" or "from -> to : weight"
//   head two matrix             then one row a line, n numbers

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/core/terminal.h"
#include "synergraph/graph/attention.h"
#include "synergraph/graph/multi_head_graph.h"
#include "synergraph/graph/text_words.h"

namespace synergraph {
namespace {

using detail::escaped;
using detail::name_word;
using detail::Word;

/// A word for messages, with escapes as the format has them.
std::string quoted(std::string_view text) {
  return quoted_text(escaped(text));
}

/// The same without quotation marks: a node.
std::string shown(std::string_view name) {
  constexpr std::size_t kLongest = 40;
  return cut_middle(escaped(name), kLongest);
}

/// A head whose lines are being read.
struct OpenHead {
  std::string name;
  double weight = 1.0;
  std::optional<Matrix> matrix;
  int rows = 0;
  std::vector<Edge> edges;
  std::set<std::pair<int, int>> seen;
};

class Parser {
 public:
  void statement(const std::vector<Word>& words) {
    if (words.empty()) return;
    if (words[0].is("nodes"))
      nodes(words);
    else if (words[0].is("self-loops"))
      self_loops(words);
    else if (words[0].is("head"))
      head(words);
    else if (!head_)
      throw InputError(
          fmt::format("expected 'nodes', 'self-loops' or 'head', got {}", quoted(words[0].text)));
    else if (head_->matrix)
      matrix_row(words);
    else
      edge(words);
  }

  MultiHeadGraph finish() {
    finish_head();
    if (result_.nodes == 0) throw InputError("there is no 'nodes' line");
    if (result_.heads.empty()) throw InputError("there is no 'head'");
    return std::move(result_);
  }

 private:
  static double number(const Word& word, const char* what) {
    double value = 0.0;
    if (!parse_number(word.text, value))
      throw InputError(fmt::format("{} {} is not a number", what, quoted(word.text)));
    return value;
  }

  void nodes(const std::vector<Word>& words) {
    if (result_.nodes > 0) throw InputError("'nodes' is given twice");
    if (words.size() < 2) throw InputError("'nodes' needs a count or names");
    long long count = 0;
    const bool alone = words.size() == 2 && !words[1].quoted;
    if (alone && parse_number(words[1].text, count)) {
      check_node_count(count);
      for (long long j = 0; j < count; ++j) result_.node_names.push_back(std::to_string(j));
    } else if (alone && words[1].text.find_first_not_of("0123456789") == std::string::npos) {
      throw InputError(fmt::format("a graph has between 1 and {} nodes, not {}", kMaxNodes,
                                   cut_middle(words[1].text, 40)));
    } else {
      check_node_count(static_cast<long long>(words.size()) - 1);
      for (std::size_t k = 1; k < words.size(); ++k) {
        if (words[k].text.empty() || words[k].is("->") || words[k].is(":"))
          throw InputError(fmt::format("{} cannot name a node", quoted(words[k].text)));
        result_.node_names.push_back(words[k].text);
      }
    }
    result_.nodes = static_cast<int>(result_.node_names.size());
    for (int j = 0; j < result_.nodes; ++j) {
      const std::string& name = result_.node_names[static_cast<std::size_t>(j)];
      if (!index_.emplace(name, j).second)
        throw InputError(fmt::format("two nodes are named {}", quoted(name)));
    }
  }

  void self_loops(const std::vector<Word>& words) {
    if (words.size() != 2 || (!words[1].is("on") && !words[1].is("off")))
      throw InputError("expected 'self-loops on' or 'self-loops off'");
    if (head_) throw InputError("'self-loops' must stand before the first head");
    self_loops_ = words[1].is("on");
  }

  void head(const std::vector<Word>& words) {
    if (result_.nodes == 0) throw InputError("'nodes' must stand before the first head");
    finish_head();
    head_.emplace();
    head_->name = fmt::format("head {}", result_.heads.size() + 1);
    std::size_t at = 1;
    if (at < words.size() && !words[at].is("weight") && !words[at].is("matrix"))
      head_->name = words[at++].text;
    for (; at < words.size(); ++at) {
      if (words[at].is("weight") && at + 1 < words.size()) {
        head_->weight = number(words[++at], "weight");
        if (!std::isfinite(head_->weight) || head_->weight < 0.0)
          throw InputError(
              fmt::format("head weight {} is not finite and non-negative", words[at].text));
      } else if (words[at].is("matrix")) {
        head_->matrix.emplace(result_.nodes, result_.nodes);
      } else {
        throw InputError(
            fmt::format("expected 'weight W' or 'matrix', got {}", quoted(words[at].text)));
      }
    }
  }

  int node(const Word& word) const {
    const auto found = index_.find(word.text);
    if (found != index_.end()) return found->second;
    long long number = 0;
    if (parse_number(word.text, number))
      throw InputError(fmt::format("node {} is out of range, nodes are {} to {}", word.text,
                                   shown(result_.node_names.front()),
                                   shown(result_.node_names.back())));
    throw InputError(fmt::format("there is no node named {}", quoted(word.text)));
  }

  void edge(const std::vector<Word>& words) {
    const bool weighted = words.size() == 5 && words[3].is(":");
    if (words.size() < 3 || !words[1].is("->") || (words.size() != 3 && !weighted))
      throw InputError(
          "expected an edge 'from -> to' or 'from -> to : weight', with blanks around -> and :");
    Edge edge{node(words[0]), node(words[2])};
    if (weighted) edge.weight = number(words[4], "weight");
    check_edge(edge, result_.nodes, words[0].text, words[2].text);
    if (!head_->seen.emplace(edge.from, edge.to).second)
      throw InputError(
          fmt::format("edge {} -> {} is given twice", shown(words[0].text), shown(words[2].text)));
    head_->edges.push_back(edge);
  }

  void matrix_row(const std::vector<Word>& words) {
    const int n = result_.nodes;
    if (head_->rows == n) throw InputError(fmt::format("{}: more than {} rows", head_name(), n));
    if (words.size() != static_cast<std::size_t>(n))
      throw InputError(fmt::format("{}: row {} has {} numbers, expected {}", head_name(),
                                   head_->rows, words.size(), n));
    double* row = head_->matrix->row(head_->rows++);
    for (int j = 0; j < n; ++j) row[j] = number(words[static_cast<std::size_t>(j)], "entry");
    AttentionCheck check;
    check.name = head_name();
    normalise_row(row, head_->rows - 1, n, check);
  }

  /// The open head, for messages.
  std::string head_name() const { return fmt::format("head {}", quoted(head_->name)); }

  void finish_head() {
    if (!head_) return;
    GraphHead done{head_->name, head_->weight, Matrix()};
    if (head_->matrix) {
      if (head_->rows != result_.nodes)
        throw InputError(
            fmt::format("{} has {} rows, expected {}", head_name(), head_->rows, result_.nodes));
      done.content = std::move(*head_->matrix);
    } else {
      done.content = FeedforwardGraph(result_.nodes, std::move(head_->edges), self_loops_);
    }
    result_.heads.push_back(std::move(done));
    head_.reset();
  }

  MultiHeadGraph result_;
  std::map<std::string, int, std::less<>> index_;
  bool self_loops_ = true;
  std::optional<OpenHead> head_;
};

}  // namespace

MultiHeadGraph parse_graph_text(std::string_view text, const std::string& source) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // as some editors begin a file
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw InputError(fmt::format("{}: the file is empty", source));
  Parser parser;
  int line_number = 0;
  try {
    while (!text.empty()) {
      ++line_number;
      const std::size_t end = text.find('\n');
      parser.statement(detail::words_of(text.substr(0, end)));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return parser.finish();
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}:{}: {}", source, line_number, error.what()));
  }
}

std::string format_graph_text(const MultiHeadGraph& graph) {
  bool numbered = true;
  for (int j = 0; j < graph.nodes; ++j)
    numbered = numbered && graph.node_names[static_cast<std::size_t>(j)] == std::to_string(j);
  std::string text = "nodes";
  if (numbered)
    text += fmt::format(" {}", graph.nodes);
  else  // a single name could be taken for a count
    for (const std::string& name : graph.node_names)
      text += ' ' + name_word(name, graph.nodes == 1);
  text += "\nself-loops off\n";  // the edges below are complete
  for (const GraphHead& head : graph.heads) {
    text += fmt::format("\nhead {} weight {}", name_word(head.name), head.weight);
    if (const auto* edges = std::get_if<FeedforwardGraph>(&head.content)) {
      text += '\n';
      for (const Edge& edge : edges->edges()) {
        text += fmt::format("  {} -> {}",
                            name_word(graph.node_names[static_cast<std::size_t>(edge.from)]),
                            name_word(graph.node_names[static_cast<std::size_t>(edge.to)]));
        text += edge.weight == 1.0 ? "\n" : fmt::format(" : {}\n", edge.weight);
      }
    } else {
      const auto& matrix = std::get<Matrix>(head.content);
      text += " matrix\n";
      for (int i = 0; i < matrix.rows(); ++i) {
        for (int j = 0; j < matrix.cols(); ++j)
          text += fmt::format("{}{}", j == 0 ? "  " : " ", matrix(i, j));
        text += '\n';
      }
    }
  }
  return text;
}

namespace {

/// Whether every node has the self-loop of weight 1 that 'self-loops on' gives it.
bool has_default_loops(const FeedforwardGraph& graph) {
  return graph.nodes() == std::count_if(graph.edges().begin(), graph.edges().end(), [](auto& edge) {
           return edge.from == edge.to && edge.weight == 1.0;
         });
}

}  // namespace

std::string format_dot(const MultiHeadGraph& graph) {
  const auto label = [](const std::string& text) {
    std::string out;
    for (const char c : printable(text)) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    return out;
  };
  std::string dot = "digraph synergraph {\n  rankdir=LR;\n  node [shape=circle];\n";
  for (std::size_t h = 0; h < graph.heads.size(); ++h) {
    const GraphHead& head = graph.heads[h];
    const auto* edges = std::get_if<FeedforwardGraph>(&head.content);
    const bool plain_loops = edges != nullptr && has_default_loops(*edges);
    dot += fmt::format("  subgraph cluster_{} {{\n    label=\"{} (weight {}{})\";\n", h,
                       label(head.name), head.weight,
                       plain_loops ? "; every node also has a self-loop" : "");
    for (int j = 0; j < graph.nodes; ++j)
      dot += fmt::format("    h{}_{} [label=\"{}\"{}];\n", h, j,
                         label(graph.node_names[static_cast<std::size_t>(j)]),
                         j == graph.nodes - 1 ? ", shape=doublecircle" : "");
    const auto line = [&](int from, int to, double weight) {
      dot += fmt::format("    h{}_{} -> h{}_{}", h, from, h, to);
      dot += weight == 1.0 ? ";\n" : fmt::format(" [label=\"{:.3g}\"];\n", weight);
    };
    if (edges != nullptr) {
      for (const Edge& edge : edges->edges())
        if (edge.from != edge.to || !plain_loops) line(edge.from, edge.to, edge.weight);
    } else {
      const auto& matrix = std::get<Matrix>(head.content);
      for (int j = 0; j < matrix.rows(); ++j)
        for (int i = j; i < matrix.rows(); ++i)
          if (matrix(i, j) > 0.0) line(j, i, matrix(i, j));
    }
    dot += "  }\n";
  }
  return dot + "}\n";
}

}  // namespace synergraph
