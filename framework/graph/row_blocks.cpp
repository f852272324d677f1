// Groups what reduces rows, or works along them, with its neighbours, so that rows run through all of them a few at a time.
#include "framework/op/row_blocks.h"

#include <algorithm>
#include <optional>

#include "framework/core/layout.h"
#include "framework/core/parallel.h"
#include "framework/graph/grouping.h"
#include "framework/graph/passes.h"
#include "framework/graph/plan.h"
#include "framework/op/fused.h"

namespace weir::graph {

std::optional<Dims> lines_of(const Node& n) {
  const std::string_view text = n.type->notation.text;
  const int rank = n.in.empty() || n.in[0].value < 0 ? 0 : n.in[0].meta.sizes.n;
  Dims axes;
  if (text.find(" normalized_shape") != text.npos) {
    for (int k = attribute<Dims>(n, "normalized_shape").n; k > 0; k--) axes.push(rank - k);
  } else if (text.find(" dim") != text.npos) {
    const Signature& s = *n.type->signature;
    const auto dim = std::find_if(s.params.begin(), s.params.begin() + s.n, [](const Param& p) { return p.name == "dim"; });
    if (dim == s.params.begin() + s.n) return {};
    if (dim->ty == Ty::i64) axes.push(attribute<int64_t>(n, "dim"));
    else if (dim->ty == Ty::ints) axes = attribute<Dims>(n, "dim");
    else if (dim->ty == Ty::opt_ints) axes = attribute<std::optional<Dims>>(n, "dim").value_or(Dims());
    else if (dim->ty == Ty::opt_i64) { if (auto d = attribute<std::optional<int64_t>>(n, "dim")) axes.push(*d); }
    else return {};
  }
  for (int64_t& d : axes) d += d < 0 ? rank : 0;
  if (axes.empty() || attribute<bool>(n, "whole") || std::any_of(axes.begin(), axes.end(), [&](int64_t d) { return d < 0 || d >= rank; })) return {};
  return axes;
}

namespace {

constexpr size_t kMostMembers = 32, kMostInputs = 32;
constexpr size_t kLongest = 128 << 10;  // bytes of one row

bool is_line_by_line(const Node& n) { return n.type->notation.kind == Notation::reduce || n.type->notation.kind == Notation::along; }
bool is_element_by_element(const Node& n) {
  return n.type == &op_type<Fused>() || n.type->notation.kind == Notation::pointwise || n.type->notation.kind == Notation::elements;
}

bool begins_with(const Dims& sizes, const Dims& lead) {
  return sizes.n >= lead.n && std::equal(lead.begin(), lead.end(), sizes.begin());
}

Dims behind(const Dims& d, int n) {
  Dims r;
  for (int i = n; i < d.n; i++) r.push(d[i]);
  return r;
}

// How far `u` moves with each of the axes `lead`, which are the first of tensors of `rank` axes; 0 where it is broadcast. Nothing where it has another size.
std::optional<Dims> lead_strides(const Use& u, int rank, const Dims& lead) {
  Dims r;
  for (int i = 0; i < lead.n; i++) {
    const int d = i - (rank - u.meta.sizes.n);
    if (rank < u.meta.sizes.n || (d >= 0 && u.meta.sizes[d] != lead[i] && u.meta.sizes[d] != 1)) return {};
    r.push(d < 0 || u.meta.sizes[d] != lead[i] ? 0 : u.meta.strides[d]);
  }
  return r;
}

// From which of the axes `lead` on all rows lie at one distance.
int rows_from(const Dims& strides, const Dims& lead) {
  int from = lead.n;
  for (int64_t last = -1, span = 0; from > 0; from--) {
    const int d = from - 1;
    if (lead[d] == 1) continue;
    if (last >= 0 && strides[d] != span) break;
    last = strides[d], span = strides[d] * lead[d];
  }
  return from;
}

// Of the axis that counts rows from `from` on.
int64_t row_stride(const Dims& strides, const Dims& lead, int from) {
  for (int d = lead.n; d-- > from;)
    if (lead[d] != 1) return strides[d];
  return 0;
}

// Bytes of one row of a tensor that has all of them.
size_t row_bytes(const Use& u, const Dims& lead) { return size_t(behind(u.meta.sizes, lead.n).product()) * size_of(u.meta.dtype); }

class RowGroups {
 public:
  RowGroups(const Graph& g, const BlockSizes& sizes) : g_(g), sizes_(sizes), grouping_(g), count_(versions(g)), taken_(g.nodes.size()) {}

  Graph run() {
    std::vector<std::vector<int>> groups;
    for (size_t i = 0; i < g_.nodes.size(); i++) {
      const Dims lead = taken_[i] ? Dims() : rows_of(g_.nodes[i]);
      if (lead.product() < 2 || !fits(g_.nodes[i], lead)) continue;
      std::vector<int> members = grown(int(i), lead);
      if (members.size() < 2 || !is_worthwhile(members)) continue;
      for (int m : members) taken_[m] = true;
      leads_.push_back(lead), groups.push_back(members);
    }
    size_t next = 0;
    return with_groups(g_, groups, [&](const std::vector<int>& members) { return blocks(members, leads_[next++]); });
  }

 private:
  // The axes in front of those that the node reduces or works along.
  static Dims rows_of(const Node& n) {
    Dims lead;
    if (!is_line_by_line(n)) return lead;
    const std::optional<Dims> axes = lines_of(n);
    const int64_t first = axes ? *std::min_element(axes->begin(), axes->end()) : 0;
    for (int i = 0; i < first; i++) lead.push(n.in[0].meta.sizes[i]);
    return lead;
  }

  // Does the node compute each row of its results from the same row of its inputs, and from what all rows share?
  bool fits(const Node& n, const Dims& lead) const {
    if (n.hidden || n.type->dynamic_shape || is_random(*n.type) || !n.type->kernels[int(DeviceType::cpu)]) return false;
    for (const Use& u : n.out)
      if (!makes_temporary(g_, u, count_) || !begins_with(u.meta.sizes, lead) || !is_row_major(u.meta.sizes, u.meta.strides) || is_storage_only(u.meta.dtype) ||
          row_bytes(u, lead) > kLongest) return false;
    const bool lines = is_line_by_line(n);
    if (lines) {
      const std::optional<Dims> axes = lines_of(n);
      if (!axes || *std::min_element(axes->begin(), axes->end()) < lead.n) return false;
      if (!begins_with(n.in[0].meta.sizes, lead) || behind(n.in[0].meta.sizes, lead.n).product() > kGrain) return false;  // longer rows are shared by threads
    } else if (!is_element_by_element(n)) {
      return false;
    }
    return std::all_of(n.in.begin(), n.in.end(), [&](const Use& u) { return u.value < 0 ? !u.blank : can_read(n, u, rank_of(n), lead); });
  }
  bool can_read(const Node& n, const Use& u, int rank, const Dims& lead) const {
    if (is_storage_only(u.meta.dtype) || !lead_strides(u, rank, lead)) return false;
    if (is_shared(u, rank, lead)) return true;
    const bool has_rows = u.meta.sizes.n == rank && begins_with(u.meta.sizes, lead), broadcast = n.type->notation.kind == Notation::pointwise || n.type == &op_type<Fused>();
    return (has_rows || broadcast) && (n.type->layouts != Layouts::row_major || is_row_major(u.meta.sizes, u.meta.strides));
  }
  // Is it the same for all rows? `rank` is that of tensors that have rows.
  static bool is_shared(const Use& u, int rank, const Dims& lead) {
    return rank - u.meta.sizes.n >= lead.n || (!begins_with(u.meta.sizes, lead) && lead_strides(u, rank, lead) == Dims(lead.n, 0));
  }
  static int rank_of(const Node& n) { return is_line_by_line(n) ? n.in[0].meta.sizes.n : n.out[0].meta.sizes.n; }

  std::vector<int> grown(int seed, const Dims& lead) const {
    std::vector<int> members = {seed};
    for (bool more = true; more && members.size() < kMostMembers;) {
      more = false;
      for (int candidate : neighbours(members)) {
        if (taken_[candidate] || !fits(g_.nodes[candidate], lead)) continue;
        std::vector<int> tried = members;
        tried.insert(std::upper_bound(tried.begin(), tried.end(), candidate), candidate);
        if (!may_be_one(tried, lead)) continue;
        members = tried, more = true;
        break;
      }
    }
    return members;
  }

  std::vector<int> neighbours(const std::vector<int>& members) const {
    std::vector<int> r;
    for (int m : members) {
      for (const Use& u : g_.nodes[m].in)
        if (u.value >= 0 && g_.values[u.value].node >= 0) r.push_back(g_.values[u.value].node);
      for (const Use& u : g_.nodes[m].out) r.insert(r.end(), grouping_.readers(u.value).begin(), grouping_.readers(u.value).end());
    }
    std::erase_if(r, [&](int n) { return is_among(members, n); });
    return r;
  }

  bool may_be_one(const std::vector<int>& members, const Dims& lead) const {
    for (int m : members) {
      const Node& n = g_.nodes[m];
      for (const Use& u : n.in) {
        if (u.value < 0 || !is_among(members, g_.values[u.value].node)) continue;
        if (u.meta.sizes.n != rank_of(n) || !begins_with(u.meta.sizes, lead) || !stays_in_row(u, lead)) return false;
      }
    }
    return grouping_.may_run_at(members, members.back()) && grouping_.inputs(members).size() <= kMostInputs;
  }
  // Does a row of `u` show elements of the same row of the value that it looks at, and of no other?
  bool stays_in_row(const Use& u, const Dims& lead) const {
    const Dims strides = *lead_strides(u, u.meta.sizes.n, lead);
    for (const Use& made : g_.nodes[g_.values[u.value].node].out) {
      if (made.value != u.value) continue;
      const int64_t length = behind(made.meta.sizes, lead.n).product();
      const Extent e = extent(behind(u.meta.sizes, lead.n), behind(u.meta.strides, lead.n));
      return u.meta.dtype == made.meta.dtype && rows_from(strides, lead) == 0 && row_stride(strides, lead, 0) == length && u.meta.offset + e.low >= 0 && u.meta.offset + e.high < length;
    }
    return false;
  }

  bool is_worthwhile(const std::vector<int>& members) const {
    size_t largest = 0;
    for (int m : members)
      for (const auto* uses : {&g_.nodes[m].in, &g_.nodes[m].out})
        for (const Use& u : *uses)
          if (u.value >= 0) largest = std::max(largest, size_t(u.meta.sizes.product()) * size_of(u.meta.dtype));
    return largest >= sizes_.least;
  }

  Node blocks(const std::vector<int>& members, const Dims& lead) const {
    auto program = std::make_shared<RowProgram>();
    const int from = first_axis_of_rows(members, lead);
    for (int d = 0; d < from; d++) program->outer.push(lead[d]);
    program->lead = lead.n;
    program->rows = behind(lead, from).product();
    program->per_block = std::clamp<int64_t>(int64_t(sizes_.block / longest(members, lead)), 1, program->rows);
    Node node = node_running<RowBlocks>(program, g_.nodes[members.back()].place);
    const std::vector<Interval> places = memory_of_block(members, lead, *program);
    std::vector<std::pair<int, int>> outputs;  // values and which of the node's outputs they are
    for (int m : members)
      for (const Use& u : g_.nodes[m].out)
        if (grouping_.is_seen_outside(u.value, members)) outputs.push_back({u.value, int(node.out.size())}), node.out.push_back(u);
    auto operand = [&](const Use& u, int rank) {
      RowOperand o;
      if (u.value < 0) return o;
      o.flags = u.flags;
      const auto seen = std::find_if(outputs.begin(), outputs.end(), [&](auto& p) { return p.first == u.value; });
      if (!is_among(members, g_.values[u.value].node)) {
        o.place = RowOperand::input, o.index = int(node.in.size());
        o.whole = is_shared(u, rank, lead);
        node.in.push_back(u);
        if (o.whole) return o;
      } else if (seen != outputs.end()) {
        o.place = RowOperand::output, o.index = seen->second;
      } else {
        o.place = RowOperand::block, o.begin = size_t(places[u.value].offset);
      }
      place_rows(o, u, rank, lead, from, program->per_block);
      return o;
    };
    for (int m : members) {
      const Node& n = g_.nodes[m];
      RowStep step{n.type, n.op, {}, {}, n.owner};
      for (const Use& u : n.in) step.in.push_back(operand(u, rank_of(n)));
      for (const Use& u : n.out) step.out.push_back(operand(u, u.meta.sizes.n));
      program->steps.push_back(std::move(step));
    }
    return node;
  }

  size_t longest(const std::vector<int>& members, const Dims& lead) const {
    size_t bytes = 1;
    for (int m : members) {
      const Node& n = g_.nodes[m];
      for (const Use& u : n.out) bytes = std::max(bytes, row_bytes(u, lead));
      for (const Use& u : n.in)
        if (u.value >= 0 && begins_with(u.meta.sizes, lead)) bytes = std::max(bytes, row_bytes(u, lead));
    }
    return bytes;
  }

  // Where in a block's memory the values lie that stay in the group, by value.
  std::vector<Interval> memory_of_block(const std::vector<int>& members, const Dims& lead, RowProgram& p) const {
    std::vector<Interval> places(g_.values.size(), Interval{0, -1, 0, -1});
    for (size_t k = 0; k < members.size(); k++) {
      for (const Use& u : g_.nodes[members[k]].out)
        if (!grouping_.is_seen_outside(u.value, members)) places[u.value] = {int(k), int(k), row_bytes(u, lead) * size_t(p.per_block), -1};
      for (const Use& u : g_.nodes[members[k]].in)
        if (u.value >= 0 && places[u.value].last >= 0) places[u.value].last = int(k);
    }
    p.block_bytes = place(places);
    return places;
  }

  // From which of the axes `lead` on every operand's rows lie at one distance. Axes in front of it are places of their own.
  int first_axis_of_rows(const std::vector<int>& members, const Dims& lead) const {
    int from = 0;
    for (int m : members)
      for (const Use& u : g_.nodes[m].in)
        if (u.value >= 0) from = std::max(from, rows_from(*lead_strides(u, rank_of(g_.nodes[m]), lead), lead));
    return from;
  }

  static void place_rows(RowOperand& o, const Use& u, int rank, const Dims& lead, int from, int64_t per_block) {
    const Dims strides = *lead_strides(u, rank, lead);
    const int ahead = rank - u.meta.sizes.n, last = lead.n - 1 - ahead;  // its own axis of the rows
    o.row_stride = row_stride(strides, lead, from);
    for (int d = 0; d < from; d++) o.outer.push(strides[d]);
    o.rows = u.meta;
    for (int d = from; d < lead.n; d++)
      if (d >= ahead && lead[d] != 1 && u.meta.sizes[d - ahead] == lead[d]) o.axis = last;
    for (int d = 0; d <= last; d++) {
      o.rows.sizes[d] = d == o.axis ? per_block : 1;
      o.rows.strides[d] = d == o.axis ? o.row_stride : o.row_stride * per_block;
    }
  }

  const Graph& g_;
  const BlockSizes sizes_;
  const Grouping grouping_;
  const std::vector<int> count_;
  std::vector<char> taken_;
  std::vector<Dims> leads_;  // by group
};

}  // namespace

Graph with_row_blocks(const Graph& g, const BlockSizes& sizes) { return RowGroups(g, sizes).run(); }

}  // namespace weir::graph
