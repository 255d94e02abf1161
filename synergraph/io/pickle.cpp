#include "synergraph/io/pickle.h"

#include <fmt/core.h>

#include <bit>
#include <cstring>
#include <map>

#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/pickle_torch.h"

namespace synergraph::pickle {
namespace {

/// What a pickle with a class of someone's own probably holds, and what to save instead; empty:
/// that is not known. Modules of PyTorch have both attributes.
std::string advice_on(std::string_view bytes, std::string_view global) {
  const auto holds = [&](std::string_view text) { return bytes.find(text) != bytes.npos; };
  if (holds("_parameters") && holds("_modules"))
    return ". The file holds a whole model. Save output.attentions, not the model. For a model of "
           "the paper, save model.state_dict(). Or measure the model in Python with "
           "synergraph.watch (docs/formats.md)";
  if (global.find(".modeling_outputs.") != global.npos ||
      global.find(".generation.") != global.npos)
    return ". The file holds the output of a model: save its attentions, output.attentions";
  return {};
}

/// The stack machine that a pickle is a program for.
class Machine {
 public:
  Machine(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  Document run() {
    if (take_byte() != 0x80) fail("it does not begin with a protocol of 2 to 5");
    const int protocol = take_byte();
    if (protocol < 2 || protocol > 5) fail(fmt::format("protocol {}: 2 to 5 are read", protocol));
    for (;;) {
      opcode_at_ = at_;
      const unsigned char opcode = take_byte();
      if (opcode == '.') break;
      step(opcode);
    }
    if (stack_.size() != 1 || !marks_.empty()) fail("it does not end with one object");
    document_.root = stack_.back();
    return std::move(document_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("{}: byte {}: {}", where_, opcode_at_, what));
  }

  // --- the bytes ---

  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size() - at_) fail("it ends early");
    const std::string_view part = bytes_.substr(at_, static_cast<std::size_t>(count));
    at_ += static_cast<std::size_t>(count);
    return part;
  }

  unsigned char take_byte() { return static_cast<unsigned char>(take(1).front()); }

  template <class T>
  T take_number() {
    T value{};
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  std::string_view take_line() {
    const std::size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) fail("it ends early");
    const std::string_view line = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return line;
  }

  // --- the stack ---

  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  Ref pop() {
    if (stack_.size() <= floor()) fail("nothing left on the stack");
    const Ref top = stack_.back();
    stack_.pop_back();
    return top;
  }

  Ref top() const {
    if (stack_.size() <= floor()) fail("nothing left on the stack");
    return stack_.back();
  }

  /// Everything since the last mark, which goes too.
  std::vector<Ref> pop_to_mark() {
    if (marks_.empty()) fail("no mark on the stack");
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Ref> items(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return items;
  }

  void push_ref(Ref ref) {
    if (stack_.size() >= kMaxNodes) fail("too much on the stack");
    stack_.push_back(ref);
  }
  void push_mark() {
    if (marks_.size() >= kMaxNodes) fail("too many marks on the stack");
    marks_.push_back(stack_.size());
  }
  void push(Node node) { push_ref(add_node(document_, std::move(node), where_)); }
  void push(Kind kind) {
    Node node;
    node.kind = kind;
    push(std::move(node));
  }
  void push_integer(Kind kind, std::int64_t value) {
    Node node;
    node.kind = kind;
    node.integer = value;
    push(std::move(node));
  }
  void push_float(double value) {
    Node node;
    node.kind = Kind::kFloat;
    node.real = value;
    push(std::move(node));
  }
  void push_string(std::string_view text) {
    Node node;
    node.kind = Kind::kString;
    node.text = text;
    push(std::move(node));
  }
  void push_bytes(std::uint64_t count) {
    (void)take(count);
    push(Kind::kBytes);
  }
  void push_items(Kind kind, std::vector<Ref> items) {
    Node node;
    node.kind = kind;
    node.items = std::move(items);
    push(std::move(node));
  }
  void push_tuple(std::size_t count) {
    std::vector<Ref> items(count);
    while (count-- > 0) items[count] = pop();
    push_items(Kind::kTuple, std::move(items));
  }

  /// A little-endian two's complement integer of any length.
  void push_long(std::string_view digits) {
    if (digits.size() > 8) return push(Kind::kBigInteger);
    const bool negative = !digits.empty() && (digits.back() & 0x80) != 0;
    std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
    for (std::size_t i = digits.size(); i-- > 0;) {
      value = (value << 8U) | static_cast<unsigned char>(digits[i]);
    }
    push_integer(Kind::kInt, static_cast<std::int64_t>(value));
  }

  /// Adds items to the container on the top of the stack.
  void extend(Kind kind, const std::vector<Ref>& items) {
    Node& container = document_.nodes[top()];
    if (container.kind != kind) fail("items are added to what is no container of their kind");
    if (kind == Kind::kDict && items.size() % 2 != 0) fail("a key without a value");
    container.items.insert(container.items.end(), items.begin(), items.end());
  }

  // --- memo ---

  void memoize(std::uint64_t key) {
    if (memo_.size() >= kMaxNodes) fail("too much is kept for later");
    memo_[key] = top();
  }

  void recall(std::uint64_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) fail(fmt::format("nothing was kept under {}", key));
    push_ref(found->second);
  }

  // --- globals ---

  void push_global(std::string_view module, std::string_view name) {
    Node node;
    node.kind = Kind::kGlobal;
    node.text = std::string(module) + "." + std::string(name);
    if (!is_known_global(node.text)) {
      fail(fmt::format("refuses to load global {}: only tensors and plain data are read{}",
                       quoted_text(node.text), advice_on(bytes_, node.text)));
    }
    push(std::move(node));
  }

  void push_global_from_stack() {
    const Ref name = pop();
    const Ref module = pop();
    const Node& name_node = document_.nodes[name];
    const Node& module_node = document_.nodes[module];
    if (name_node.kind != Kind::kString || module_node.kind != Kind::kString) {
      fail("a global whose name is not text");
    }
    push_global(module_node.text, name_node.text);
  }

  void reduce() {
    const Ref arguments = pop();
    const Ref function = pop();
    if (document_.nodes[function].kind != Kind::kGlobal) fail("a call of what is no function");
    const std::string global = document_.nodes[function].text;
    push_ref(call(document_, global, arguments, where_));
  }

  /// An object's attributes. Those of dictionaries and tensors hold nothing that we read.
  void build() {
    (void)pop();
    const Kind kind = document_.nodes[top()].kind;
    if (kind != Kind::kDict && kind != Kind::kTensor) fail("attributes for what has none");
  }

  void step(unsigned char opcode);
  bool step_value(unsigned char opcode);
  bool step_container(unsigned char opcode);

  std::string_view bytes_;
  const std::string& where_;
  std::size_t at_ = 0;
  std::size_t opcode_at_ = 0;
  Document document_;
  std::vector<Ref> stack_;
  std::vector<std::size_t> marks_;
  std::map<std::uint64_t, Ref> memo_;
};

/// Opcodes that push one plain value. False when it is none of them.
bool Machine::step_value(unsigned char opcode) {
  switch (opcode) {
    case 'N':
      return push(Kind::kNone), true;
    case 0x88:
    case 0x89:
      return push_integer(Kind::kBool, opcode == 0x88 ? 1 : 0), true;
    case 'J':
      return push_integer(Kind::kInt, take_number<std::int32_t>()), true;
    case 'K':
      return push_integer(Kind::kInt, take_byte()), true;
    case 'M':
      return push_integer(Kind::kInt, take_number<std::uint16_t>()), true;
    case 0x8a:
      return push_long(take(take_byte())), true;
    case 0x8b:
      return push_long(take(take_number<std::uint32_t>())), true;
    case 'G':
      return push_float(std::bit_cast<double>(__builtin_bswap64(take_number<std::uint64_t>()))),
             true;
    case 'X':
    case 'T':
      return push_string(take(take_number<std::uint32_t>())), true;
    case 0x8c:
    case 'U':
      return push_string(take(take_byte())), true;
    case 0x8d:
      return push_string(take(take_number<std::uint64_t>())), true;
    case 'B':
      return push_bytes(take_number<std::uint32_t>()), true;
    case 'C':
      return push_bytes(take_byte()), true;
    case 0x8e:
    case 0x96:
      return push_bytes(take_number<std::uint64_t>()), true;
    default:
      return false;
  }
}

/// Opcodes that make or extend a container. False when it is none of them.
bool Machine::step_container(unsigned char opcode) {
  switch (opcode) {
    case ']':
      return push(Kind::kList), true;
    case ')':
      return push(Kind::kTuple), true;
    case '}':
      return push(Kind::kDict), true;
    case 0x8f:
      return push(Kind::kSet), true;
    case 'l':
      return push_items(Kind::kList, pop_to_mark()), true;
    case 't':
      return push_items(Kind::kTuple, pop_to_mark()), true;
    case 0x91:
      return push_items(Kind::kSet, pop_to_mark()), true;
    case 'd': {
      const std::vector<Ref> items = pop_to_mark();
      push(Kind::kDict);
      return extend(Kind::kDict, items), true;
    }
    case 0x85:
    case 0x86:
    case 0x87:
      return push_tuple(opcode - 0x84U), true;
    case 'a': {
      const Ref item = pop();
      return extend(Kind::kList, {item}), true;
    }
    case 's': {
      const Ref value = pop();
      const Ref key = pop();
      return extend(Kind::kDict, {key, value}), true;
    }
    case 'e':
      return extend(Kind::kList, pop_to_mark()), true;
    case 'u':
      return extend(Kind::kDict, pop_to_mark()), true;
    case 0x90:
      return extend(Kind::kSet, pop_to_mark()), true;
    default:
      return false;
  }
}

void Machine::step(unsigned char opcode) {
  if (step_value(opcode) || step_container(opcode)) return;
  switch (opcode) {
    case 0x95:  // a frame: its length does not matter here, only that it is there
      (void)take_number<std::uint64_t>();
      return;
    case '(':
      return push_mark();
    case '0':
      (void)pop();
      return;
    case '1':
      (void)pop_to_mark();
      return;
    case '2':
      return push_ref(top());
    case 'q':
      return memoize(take_byte());
    case 'r':
      return memoize(take_number<std::uint32_t>());
    case 0x94:
      return memoize(memo_.size());
    case 'h':
      return recall(take_byte());
    case 'j':
      return recall(take_number<std::uint32_t>());
    case 'c': {
      const std::string_view module = take_line();
      return push_global(module, take_line());
    }
    case 0x93:
      return push_global_from_stack();
    case 'R':
      return reduce();
    case 'b':
      return build();
    case 'Q':
      return push_ref(persistent(document_, pop(), where_));
    case 'i':
    case 'o':
    case 0x81:
    case 0x92:
      fail("refuses to make an object of a class: only tensors and plain data are read");
    case 0x82:
    case 0x83:
    case 0x84:
      fail("refuses an extension code: only tensors and plain data are read");
    default:
      fail(fmt::format("opcode 0x{:02x} is not read", opcode));
  }
}

}  // namespace

Document parse(std::string_view bytes, const std::string& where) {
  return Machine(bytes, where).run();
}

}  // namespace synergraph::pickle
