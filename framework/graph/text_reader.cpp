#include "framework/graph/text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unordered_map>

#include "framework/graph/spec.h"
#include "framework/graph/text_attributes.h"
#include "framework/op/carried.h"

namespace weir::graph {
namespace {

class Reader {
 public:
  Reader(const std::string& text, const std::function<StorageRef(const std::string&, size_t)>& memory_of) : text_(text), memory_of_(memory_of) {}

  Graph run() {
    try {
      expect("\"builtin.module\"() ({\"weir.graph\"() ({");
      while (!peek("})")) operation();
      expect("})");
      Attribute a = dictionary();
      read_arguments(a);
      expect(":()->()})");
      check<ValueError>(dictionary().at("weir.format").integer() == kFormat, "a graph's text: this is another format than ", kFormat);
      expect(":()->()");
      skip();
      check<ValueError>(at_ == text_.size(), "a graph's text: something follows its end");
      check_legal(g_);
    } catch (const Error& e) {
      throw ValueError(str("line ", 1 + std::count(text_.begin(), text_.begin() + std::min(at_, text_.size()), '\n'), ": ", e.what()));
    }
    return std::move(g_);
  }

 private:
  // ---- characters -------------------------------------------------------------------------------------------------
  void skip() {
    while (at_ < text_.size() && isspace(static_cast<unsigned char>(text_[at_]))) at_++;
  }
  bool peek(std::string_view what) {  // spaces between the characters of `what` do not count
    size_t before = at_;
    bool ok = take(what);
    at_ = before;
    return ok;
  }
  bool take(std::string_view what) {
    size_t before = at_;
    for (char c : what) {
      if (c == ' ') continue;
      skip();
      if (at_ >= text_.size() || text_[at_] != c) return at_ = before, false;
      at_++;
    }
    return true;
  }
  void expect(std::string_view what) { check<ValueError>(take(what), "a graph's text: expected ", what); }

  std::string text() {
    expect("\"");
    std::string r;
    while (at_ < text_.size() && text_[at_] != '"') {
      char c = text_[at_++];
      if (c == '\\') {
        check<ValueError>(at_ + 2 <= text_.size() && isxdigit(static_cast<unsigned char>(text_[at_])) && isxdigit(static_cast<unsigned char>(text_[at_ + 1])),
                          "a graph's text: expected two digits after a backslash");
        c = char(std::stoi(text_.substr(at_, 2), nullptr, 16));
        at_ += 2;
      }
      r += c;
    }
    expect("\"");
    return r;
  }
  std::string word() {
    skip();
    size_t from = at_;
    while (at_ < text_.size() && (isalnum(static_cast<unsigned char>(text_[at_])) || strchr("_.+-", text_[at_]))) at_++;
    check<ValueError>(at_ > from, "a graph's text: expected a word or number");
    return text_.substr(from, at_ - from);
  }
  int64_t integer() {
    std::string w = word();
    char* end;
    errno = 0;
    int64_t x = std::strtoll(w.c_str(), &end, 10);
    check<ValueError>(!*end && errno == 0, "a graph's text: expected an integer, got ", w);
    return x;
  }

  // ---- attributes -------------------------------------------------------------------------------------------------
  Attribute attribute() {
    check<ValueError>(++depth_ < 16, "a graph's text: lists within lists without end");
    Attribute a;
    if (peek("\"")) {
      a.kind = Attribute::Kind::text;
      a.s = text();
    } else if (take("[")) {
      a.kind = Attribute::Kind::list;
      while (!take("]")) {
        if (!a.items.empty()) expect(",");
        a.items.push_back(attribute());
      }
    } else if (peek("{")) {
      a = dictionary();
    } else {
      number(word(), a);
    }
    depth_--;
    return a;
  }
  void number(const std::string& w, Attribute& a) {
    char* end;
    errno = 0;
    if (w == "true" || w == "false") {
      a.kind = Attribute::Kind::truth;
      a.i = w == "true";
    } else if (w.rfind("0x", 0) == 0) {
      uint64_t bits = std::strtoull(w.c_str(), &end, 16);
      check<ValueError>(!*end && errno == 0, "a graph's text: expected the bits of a number, got ", w);
      a.kind = Attribute::Kind::real;
      std::memcpy(&a.d, &bits, sizeof bits);
    } else if (w.find('.') != w.npos) {
      a.kind = Attribute::Kind::real;
      a.d = std::strtod(w.c_str(), &end);
      check<ValueError>(!*end, "a graph's text: expected a number, got ", w);
    } else {
      a.i = std::strtoll(w.c_str(), &end, 10);
      check<ValueError>(!*end && errno == 0, "a graph's text: expected an integer, got ", w);
    }
    if (take(":")) word();
  }
  Attribute dictionary() {
    Attribute a;
    a.kind = Attribute::Kind::dictionary;
    expect("{");
    while (!take("}")) {
      if (!a.items.empty()) expect(",");
      a.names.push_back(word());
      expect("=");
      a.items.push_back(attribute());
    }
    return a;
  }

  // ---- the graph --------------------------------------------------------------------------------------------------
  std::vector<int> values(const char* end) {
    std::vector<int> r;
    while (!peek(end)) {
      if (!r.empty()) expect(",");
      expect("%");
      int64_t v = integer();
      check<ValueError>(v >= 0 && v < int64_t(1) << 30, "a graph's text: %", v, " is no value");
      r.push_back(int(v));
    }
    return r;
  }
  int known(int named) {
    auto it = values_.find(named);
    check<ValueError>(it != values_.end(), "a graph's text: %", named, " is used before it is made");
    return it->second;
  }

  // The bytes that a type says a value has.
  std::vector<size_t> types(bool list) {
    std::vector<size_t> r;
    if (list) expect("(");
    while (!list || !peek(")")) {
      if (!r.empty()) expect(",");
      expect("tensor<");
      std::string w = word();
      check<ValueError>(w.size() > 3 && w.substr(w.size() - 3) == "xi8", "a graph's text: expected bytes, got ", w);
      char* end;
      r.push_back(std::strtoull(w.c_str(), &end, 10));
      check<ValueError>(std::string_view(end) == "xi8" && r.back() < size_t(1) << 48, "a graph's text: expected bytes, got ", w);
      expect(">");
      if (!list) break;
    }
    if (list) expect(")");
    return r;
  }

  void operation() {
    std::vector<int> results = peek("%") ? values("=") : std::vector<int>();
    if (!results.empty()) expect("=");
    std::string name = text();
    check<ValueError>(name.rfind("weir.", 0) == 0, "a graph's text: expected an op of weir, got ", name);
    name = name.substr(5);
    expect("(");
    std::vector<int> operands = values(")");
    for (int& v : operands) v = known(v);
    expect(")");
    Attribute a = dictionary();
    expect(":");
    types(true);
    expect("->");
    std::vector<size_t> bytes = types(peek("("));
    check<ValueError>(bytes.size() == results.size(), "a graph's text: ", name, " has ", results.size(), " results and ", bytes.size(), " types");
    Place place;
    if (take("loc(")) {
      place.file = remember(text());
      expect(":");
      place.line = int(integer());
      expect(":");
      integer();
      expect(")");
    }
    if (name == "memory") return memory(results, a, bytes);
    if (name == "return") return read_results(operands, a);
    node(name, results, operands, a, bytes, place);
  }

  static const std::string* remember(const std::string& s) {
    static std::vector<std::unique_ptr<std::string>> all;
    for (const auto& known : all)
      if (*known == s) return known.get();
    all.push_back(std::make_unique<std::string>(s));
    return all.back().get();
  }

  int buffer(const Attribute& number, size_t bytes) {
    int64_t named = number.integer();
    auto it = buffers_.find(named);
    if (it == buffers_.end()) {
      it = buffers_.emplace(named, int(g_.buffers.size())).first;
      g_.buffers.push_back({});
      g_.buffers.back().bytes = bytes;
    }
    check<ValueError>(g_.buffers[it->second].bytes == bytes, "a graph's text: buffer ", named, " has two sizes");
    return it->second;
  }
  int made(int named, int buffer, int node, int old) {
    check<ValueError>(!values_.count(named), "a graph's text: %", named, " is made twice");
    g_.values.push_back({buffer, node, old});
    return values_[named] = int(g_.values.size()) - 1;
  }

  void memory(const std::vector<int>& results, const Attribute& a, const std::vector<size_t>& bytes) {
    check<ValueError>(results.size() == 1, "a graph's text: memory has one result");
    int b = buffer(a.at("buffer"), bytes[0]);
    Buffer& buffer = g_.buffers[b];
    const std::string& kind = a.at("kind").text();
    for (int k = 1; k < 4; k++)
      if (kind == kKinds[k]) buffer.kind = Kind(k);
    check<ValueError>(buffer.kind != Kind::temporary, "a graph's text: ", kind, " is no kind of memory");
    if (buffer.kind == Kind::argument) buffer.argument = int(a.at("argument").integer());
    else {
      buffer.storage = memory_of_(a.at("name").text(), bytes[0]);
      check<ValueError>(buffer.storage && buffer.storage->bytes >= bytes[0], "a graph's text: the memory of ", a.at("name").text(), " is smaller than said");
    }
    made(results[0], b, -1, -1);
  }

  static Use geometry(const Attribute& a) {
    Use u;
    const auto& parts = a.list();
    if (parts.empty()) return u;
    check<ValueError>(parts.size() == 5, "a graph's text: a geometry has five parts");
    Meta& m = u.meta;
    m.dtype = DType(kNumDTypes);
    for (int i = 0; i < kNumDTypes; i++)
      if (name_of(DType(i)) == parts[0].text()) m.dtype = DType(i);
    check<ValueError>(int(m.dtype) < kNumDTypes, "a graph's text: ", parts[0].text(), " is no dtype");
    m.strides = Dims();
    for (const Attribute& x : parts[1].list()) m.sizes.push(x.integer());
    for (const Attribute& x : parts[2].list()) m.strides.push(x.integer());
    check<ValueError>(m.sizes.n == m.strides.n, "a graph's text: a geometry has as many strides as sizes");
    numel_of(m.sizes);
    m.offset = parts[3].integer();
    u.flags = uint32_t(parts[4].integer());
    u.blank = u.flags & kBlank;
    u.flags &= ~kBlank;
    check<ValueError>((u.flags & ~uint32_t(kWrappedNumber)) == 0, "a graph's text: a geometry with flags that none has");
    u.value = u.blank ? -1 : 0;
    return u;
  }

  void read_results(const std::vector<int>& operands, const Attribute& a) {
    size_t next = 0;
    for (const Attribute& x : a.at("reads").list()) {
      Use u = geometry(x);
      if (u.value == 0) {
        check<ValueError>(next < operands.size(), "a graph's text: return has too few values");
        u.value = operands[next++];
      }
      g_.results.push_back(u);
    }
  }

  void node(const std::string& name, const std::vector<int>& results, const std::vector<int>& operands, const Attribute& a,
            const std::vector<size_t>& bytes, const Place& place) {
    Node n;
    n.type = find_op(name);
    check<ValueError>(n.type && !n.type->compose && !n.type->geometry && !n.type->dynamic_shape, "a graph's text: ", name, " is no op of graphs");
    n.op = n.type->defaults;
    n.place = place;
    read_attributes(*n.type, a.at("attributes"), n.op.data());
    size_t next = 0;
    auto operand = [&] {
      check<ValueError>(next < operands.size(), "a graph's text: ", name, " has too few operands");
      return operands[next++];
    };
    for (const Attribute& x : a.at("reads").list()) {
      n.in.push_back(geometry(x));
      if (n.in.back().value == 0) n.in.back().value = operand();
    }
    const auto &writes = a.at("writes").list(), &buffers = a.at("buffers").list(), &over = a.at("over").list();
    check<ValueError>(writes.size() == results.size() && buffers.size() == results.size() && over.size() == results.size() &&
                          int(results.size()) >= n.type->signature->num_outputs, "a graph's text: ", name, " has another number of results");
    for (size_t k = 0; k < results.size(); k++) {
      Use u = geometry(writes[k]);
      check<ValueError>(u.value == 0, "a graph's text: a result of ", name, " has no geometry");
      int old = over[k].truth() ? operand() : -1;
      u.value = made(results[k], buffer(buffers[k], bytes[k]), int(g_.nodes.size()), old);
      n.out.push_back(u);
    }
    check<ValueError>(next == operands.size(), "a graph's text: ", name, " has too many operands");
    n.hidden = int(results.size()) - n.type->signature->num_outputs;
    for (int k = 0; k < n.hidden; k++) check_hidden(n, n.out[n.out.size() - 1 - k]);
    check_by_op(n);
    g_.nodes.push_back(std::move(n));
  }

  // A result beyond the op's own is an input that it changes: it lies where the input does.
  void check_hidden(const Node& n, const Use& out) const {
    bool found = false;
    for (const Use& u : n.in)
      found = found || (u.value >= 0 && u.value == g_.values[out.value].old && u.meta.offset == out.meta.offset && u.meta.sizes == out.meta.sizes);
    check<ValueError>(found, "a graph's text: ", n.type->signature->name, " has another number of results");
  }

  // What the op itself says of such inputs, before a kernel believes the text.
  void check_by_op(const Node& n) const {
    const Signature& s = *n.type->signature;
    size_t inputs = 0;
    bool list = false;
    for (int i = 0; i < s.n; i++) {
      if (!is_input(s.params[i].ty)) continue;
      list = list || s.params[i].ty == Ty::tensors;
      check<ValueError>(s.params[i].ty != Ty::tensor || list || (inputs < n.in.size() && (n.in[inputs].value >= 0 || n.in[inputs].blank)), "a graph's text: ", s.name, " lacks an input");
      inputs++;
    }
    check<ValueError>(list || inputs == n.in.size(), "a graph's text: ", s.name, " has ", inputs, " inputs");
    Tensors in;
    for (const Use& u : n.in) {
      in.push_back(u.value < 0 && !u.blank ? Tensor() : u.flags ? number(u) : symbolic(u.meta));
    }
    Meta metas[kMaxOutputs];
    n.type->infer(n.op.data(), in, metas);
    Tensors out;
    for (const Use& u : n.out) out.push_back(symbolic(u.meta));
    if (any_storage_only(in) || any_storage_only(out)) check_carried(*n.type, in, Outputs(out.data(), n.out.size() - n.hidden), metas);
    for (size_t k = 0; k < n.out.size() - n.hidden; k++) {
      const Meta& m = n.out[k].meta;
      bool dtype = m.dtype == metas[k].dtype || (n.type->layouts == Layouts::any && is_floating(m.dtype) == is_floating(metas[k].dtype) && is_complex(m.dtype) == is_complex(metas[k].dtype));
      bool layout = n.type->layouts != Layouts::row_major || contiguous_strides(m.sizes) == m.strides || m.sizes.product() < 2;
      check<ValueError>(m.sizes == metas[k].sizes && dtype && layout, "a graph's text: ", s.name, " does not make what is said of result ", k);
    }
  }

  // A Python number: promotion, and some ops' checks, ask for it.
  Tensor number(const Use& u) const {
    check<ValueError>(u.value >= 0, "a graph's text: a number without a value");
    const Buffer& b = g_.buffers[g_.buffer_of(u)];
    check<ValueError>(b.kind == Kind::constant && u.meta.sizes.n == 0 && u.meta.offset == 0 && size_of(u.meta.dtype) <= b.bytes,
                      "a graph's text: a number that is no constant");
    return tensor_over(b.storage, u);
  }

  void read_arguments(const Attribute& a) {
    for (const Attribute& x : a.at("given").list()) g_.given.push_back(geometry(x).meta);
    for (const Attribute& x : a.at("arguments").list()) {
      const auto& p = x.list();
      check<ValueError>(p.size() == 4, "a graph's text: an argument has four parts");
      g_.arguments.push_back({int(p[0].integer()), p[1].integer(), p[2].integer(), size_t(p[3].integer())});
      const Argument& g = g_.arguments.back();
      check<ValueError>(g.first >= 0 && g.first < int(g_.given.size()) && g.lead == 0, "a graph's text: an argument that is none");
    }
    for (const Buffer& b : g_.buffers)
      check<ValueError>(b.kind != Kind::argument || (b.argument >= 0 && b.argument < int(g_.arguments.size()) && b.bytes == g_.arguments[b.argument].bytes),
                        "a graph's text: memory of an argument that is none");
  }

  const std::string& text_;
  const std::function<StorageRef(const std::string&, size_t)>& memory_of_;
  size_t at_ = 0;
  int depth_ = 0;
  Graph g_;
  std::unordered_map<int, int> values_;
  std::unordered_map<int64_t, int> buffers_;
};

}  // namespace

Graph from_mlir(const std::string& text, const std::function<StorageRef(const std::string&, size_t)>& memory_of) { return Reader(text, memory_of).run(); }

}  // namespace weir::graph
