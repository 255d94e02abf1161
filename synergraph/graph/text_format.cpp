// The text format for graphs: see docs/formats.md. One statement a line, '#' begins a comment.
//
//   nodes 4                     or   nodes u v w tau
//   self-loops off              (default: on; before the first head)
//   head "Head 1" weight 0.5    then one edge a line, "from -> to" or "from -> to : weight"
//   head two matrix             then one row a line, n numbers

#include <fmt/core.h>

#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/parse_number.h"
#include "synergraph/graph/attention.h"
#include "synergraph/graph/multi_head_graph.h"

namespace synergraph {
namespace {

/// Words of a line: separated by blanks, "..." keeps blanks together, '#' ends the line.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while (at < line.size()) {
    if (std::isspace(static_cast<unsigned char>(line[at])) != 0) {
      ++at;
    } else if (line[at] == '#') {
      break;
    } else if (line[at] == '"') {
      const std::size_t end = line.find('"', at + 1);
      if (end == std::string_view::npos) throw InputError("a quoted name does not end");
      words.emplace_back(line.substr(at + 1, end - at - 1));
      at = end + 1;
    } else {
      std::size_t end = at;
      while (end < line.size() && std::isspace(static_cast<unsigned char>(line[end])) == 0 &&
             line[end] != '#')
        ++end;
      words.emplace_back(line.substr(at, end - at));
      at = end;
    }
  }
  return words;
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
  void statement(const std::vector<std::string>& words) {
    if (words.empty()) return;
    if (words[0] == "nodes")
      nodes(words);
    else if (words[0] == "self-loops")
      self_loops(words);
    else if (words[0] == "head")
      head(words);
    else if (!head_)
      throw InputError(fmt::format("expected 'nodes', 'self-loops' or 'head', got '{}'", words[0]));
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
  static double number(const std::string& word, const char* what) {
    double value = 0.0;
    if (!parse_number(word, value))
      throw InputError(fmt::format("{} '{}' is not a number", what, word));
    return value;
  }

  void nodes(const std::vector<std::string>& words) {
    if (result_.nodes > 0) throw InputError("'nodes' is given twice");
    if (words.size() < 2) throw InputError("'nodes' needs a count or names");
    long long count = 0;
    if (words.size() == 2 && parse_number(words[1], count)) {
      check_node_count(count);
      for (long long j = 0; j < count; ++j) result_.node_names.push_back(std::to_string(j));
    } else {
      check_node_count(static_cast<long long>(words.size()) - 1);
      result_.node_names.assign(words.begin() + 1, words.end());
    }
    result_.nodes = static_cast<int>(result_.node_names.size());
    for (int j = 0; j < result_.nodes; ++j) {
      const std::string& name = result_.node_names[static_cast<std::size_t>(j)];
      if (name.empty() || name == "->" || name == ":")
        throw InputError(fmt::format("'{}' cannot name a node", name));
      if (!index_.emplace(name, j).second)
        throw InputError(fmt::format("two nodes are named '{}'", name));
    }
  }

  void self_loops(const std::vector<std::string>& words) {
    if (words.size() != 2 || (words[1] != "on" && words[1] != "off"))
      throw InputError("expected 'self-loops on' or 'self-loops off'");
    if (head_) throw InputError("'self-loops' must stand before the first head");
    self_loops_ = words[1] == "on";
  }

  void head(const std::vector<std::string>& words) {
    if (result_.nodes == 0) throw InputError("'nodes' must stand before the first head");
    finish_head();
    head_.emplace();
    head_->name = fmt::format("head {}", result_.heads.size() + 1);
    std::size_t at = 1;
    if (at < words.size() && words[at] != "weight" && words[at] != "matrix")
      head_->name = words[at++];
    for (; at < words.size(); ++at) {
      if (words[at] == "weight" && at + 1 < words.size()) {
        head_->weight = number(words[++at], "weight");
        if (!std::isfinite(head_->weight) || head_->weight < 0.0)
          throw InputError(fmt::format("head weight {} is not finite and non-negative", words[at]));
      } else if (words[at] == "matrix") {
        head_->matrix.emplace(result_.nodes, result_.nodes);
      } else {
        throw InputError(fmt::format("expected 'weight W' or 'matrix', got '{}'", words[at]));
      }
    }
  }

  int node(const std::string& word) const {
    const auto found = index_.find(word);
    if (found != index_.end()) return found->second;
    long long number = 0;
    if (parse_number(word, number))
      throw InputError(fmt::format("node {} is out of range, nodes are {} to {}", word,
                                   result_.node_names.front(), result_.node_names.back()));
    throw InputError(fmt::format("there is no node named '{}'", word));
  }

  void edge(const std::vector<std::string>& words) {
    const bool weighted = words.size() == 5 && words[3] == ":";
    if (words.size() < 3 || words[1] != "->" || (words.size() != 3 && !weighted))
      throw InputError("expected an edge 'from -> to' or 'from -> to : weight'");
    Edge edge{node(words[0]), node(words[2])};
    if (weighted) edge.weight = number(words[4], "weight");
    check_edge(edge, result_.nodes);
    if (!head_->seen.emplace(edge.from, edge.to).second)
      throw InputError(fmt::format("edge {} -> {} is given twice", words[0], words[2]));
    head_->edges.push_back(edge);
  }

  void matrix_row(const std::vector<std::string>& words) {
    const int n = result_.nodes;
    if (head_->rows == n)
      throw InputError(fmt::format("head '{}': more than {} rows", head_->name, n));
    if (words.size() != static_cast<std::size_t>(n))
      throw InputError(fmt::format("head '{}': row {} has {} numbers, expected {}", head_->name,
                                   head_->rows, words.size(), n));
    double* row = head_->matrix->row(head_->rows++);
    for (int j = 0; j < n; ++j) row[j] = number(words[static_cast<std::size_t>(j)], "entry");
  }

  void finish_head() {
    if (!head_) return;
    GraphHead done{head_->name, head_->weight, Matrix()};
    if (head_->matrix) {
      if (head_->rows != result_.nodes)
        throw InputError(fmt::format("head '{}' has {} rows, expected {}", head_->name, head_->rows,
                                     result_.nodes));
      AttentionCheck check;
      check.name = fmt::format("head '{}'", head_->name);
      normalise_attention(head_->matrix->view(), check);
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

std::string quoted(const std::string& name) {
  const bool plain = !name.empty() && name.find_first_of(" \t#\r\v\f") == std::string::npos &&
                     name != "weight" && name != "matrix";
  return plain ? name : '"' + name + '"';
}

}  // namespace

MultiHeadGraph parse_graph_text(std::string_view text, const std::string& source) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw InputError(fmt::format("{}: the file is empty", source));
  Parser parser;
  int line_number = 0;
  try {
    while (!text.empty()) {
      ++line_number;
      const std::size_t end = text.find('\n');
      parser.statement(words_of(text.substr(0, end)));
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
  else
    for (const std::string& name : graph.node_names) text += ' ' + quoted(name);
  text += "\nself-loops off\n";  // the edges below are complete
  for (const GraphHead& head : graph.heads) {
    text += fmt::format("\nhead {} weight {}", quoted(head.name), head.weight);
    if (const auto* edges = std::get_if<FeedforwardGraph>(&head.content)) {
      text += '\n';
      for (const Edge& edge : edges->edges()) {
        text +=
            fmt::format("  {} -> {}", quoted(graph.node_names[static_cast<std::size_t>(edge.from)]),
                        quoted(graph.node_names[static_cast<std::size_t>(edge.to)]));
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

std::string format_dot(const MultiHeadGraph& graph) {
  const auto escaped = [](const std::string& text) {
    std::string out;
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    return out;
  };
  std::string dot = "digraph synergraph {\n  rankdir=LR;\n  node [shape=circle];\n";
  for (std::size_t h = 0; h < graph.heads.size(); ++h) {
    const GraphHead& head = graph.heads[h];
    dot += fmt::format("  subgraph cluster_{} {{\n    label=\"{} (weight {})\";\n", h,
                       escaped(head.name), head.weight);
    for (int j = 0; j < graph.nodes; ++j)
      dot += fmt::format("    h{}_{} [label=\"{}\"{}];\n", h, j,
                         escaped(graph.node_names[static_cast<std::size_t>(j)]),
                         j == graph.nodes - 1 ? ", shape=doublecircle" : "");
    const auto line = [&](int from, int to, double weight) {
      dot += fmt::format("    h{}_{} -> h{}_{}", h, from, h, to);
      dot += weight == 1.0 ? ";\n" : fmt::format(" [label=\"{:.3g}\"];\n", weight);
    };
    if (const auto* edges = std::get_if<FeedforwardGraph>(&head.content)) {
      for (const Edge& edge : edges->edges())
        if (edge.from != edge.to) line(edge.from, edge.to, edge.weight);
    } else {
      const auto& matrix = std::get<Matrix>(head.content);
      for (int j = 0; j < matrix.rows(); ++j)
        for (int i = j + 1; i < matrix.rows(); ++i)
          if (matrix(i, j) > 0.0) line(j, i, matrix(i, j));
    }
    dot += "  }\n";
  }
  return dot + "}\n";
}

}  // namespace synergraph
