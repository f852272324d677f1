// Blocks of rows as CUDA C: a warp or a block of threads for each row, and shared memory for what its steps hand on.
#include <algorithm>

#include "framework/graph/cuda_source.h"
#include "framework/graph/cuda_text.h"
#include "framework/graph/passes.h"
#include "framework/graph/plan.h"
#include "framework/op/row_blocks.h"

namespace weir::graph {
namespace {

constexpr size_t kMostShared = 48 << 10;
// Ops that kernels/cuda/rows.h has, as line_NAME.
constexpr std::string_view kLines[] = {"sum", "mean", "amax", "amin", "norm2", "var_mean_forward", "std_mean_forward", "softmax", "_safe_softmax",
                                       "log_softmax", "softmax_backward", "log_softmax_backward", "layer_norm_forward"};

// A row of an operand: its own axes, and the text of where it begins. A number that is known has a `literal` and no memory.
struct Row {
  std::string base, literal;
  DType dtype;
  Dims sizes, strides;
};

// Axes in row-major order as cuda_place counts them.
std::vector<CudaAxis> counted(const std::vector<std::pair<int64_t, int64_t>>& sizes_and_steps) {
  std::vector<CudaAxis> axes;
  int64_t inner = 1;
  for (size_t d = sizes_and_steps.size(); d-- > 0;) {
    axes.push_back({sizes_and_steps[d].first, inner, sizes_and_steps[d].second});
    inner *= sizes_and_steps[d].first;
  }
  return axes;
}

std::string sum_of(const std::string& a, const std::string& b) { return a == "0" ? b : b == "0" ? a : a + " + " + b; }

class RowText {
 public:
  RowText(const Graph& g, const Node& node) : g_(g), node_(node), p_(*reinterpret_cast<const RowBlocks*>(node.op.data())->program) {}

  CudaKernel run(const std::string& name) {
    plan_memory();
    for (const RowStep& s : p_.steps) steps_ += step(s) + (by_warps() ? "  __syncwarp();\n" : "  __syncthreads();\n");
    std::string arguments;
    for (size_t k = 0; k < node_.in.size(); k++)
      if (cuda_constant(g_, node_.in[k]).empty() && first_input(node_, int(k)) == int(k)) arguments += str("const ", cuda_type(node_.in[k].meta.dtype), "* in", k, ", ");
    for (size_t k = 0; k < node_.out.size(); k++) arguments += str(cuda_type(node_.out[k].meta.dtype), "* out", k, ", ");
    // Short rows have a warp each, several in a block; long ones a block.
    const int rows = by_warps() ? int(std::clamp<size_t>(kMostShared / std::max<size_t>(shared_, 1), 1, 8)) : 1, team = by_warps() ? 32 : longest_ > 4096 ? 512 : 256;
    const std::string number = rows == 1 ? "blockIdx.x" : str("blockIdx.x * ", rows, "LL + threadIdx.x / 32");
    std::string start = str("  const int64_t number = ", number, ";\n  if (number >= n) return;\n");
    if (p_.outer.empty()) start += "  const int64_t row = number;\n";
    else start += str("  const int64_t row = number % ", p_.rows, ", place = number / ", p_.rows, ";\n");
    start += str("  const int threads = ", team, ", me = threadIdx.x % threads;\n");
    if (shared_) {
      const std::string of_warp = rows == 1 ? "" : str(" + threadIdx.x / 32 * ", shared_);
      start += str("  __shared__ alignas(64) uint8_t shared[", shared_ * rows, "];\n  uint8_t* const memory = shared", of_warp, ";\n");
    }
    return {str("namespace weir {\nextern \"C\" __global__ void ", name, "(", arguments, "int64_t n) {\n", start, memory_, steps_, "}\n}\n"),
            p_.outer.product() * p_.rows, rows * team, rows};
  }

 private:
  // `rank`: of tensors that have all axes.
  Row row_of(const RowOperand& o, int rank) {
    const Use* whole = o.whole ? &node_.in[o.index] : nullptr;
    const Meta& m = whole ? whole->meta : o.rows;
    Row r{"", "", m.dtype, {}, {}};
    for (int d = std::max(0, m.sizes.n - (rank - p_.lead)); d < m.sizes.n; d++) r.sizes.push(m.sizes[d]), r.strides.push(m.strides[d]);
    if (o.place == RowOperand::input) r.literal = cuda_constant(g_, node_.in[o.index]);
    if (!r.literal.empty()) return r;
    if (o.place == RowOperand::block) {
      r.base = str("s", latest_at(declared_, o));
      if (m.offset) r.base = str("(", r.base, " + ", m.offset, ")");
      return r;
    }
    const bool is_input = o.place == RowOperand::input;
    const Meta& given = is_input ? node_.in[o.index].meta : node_.out[o.index].meta;
    std::string shift = whole ? "0" : str("row * ", o.row_stride);
    if (!whole && !p_.outer.empty()) {
      std::vector<std::pair<int64_t, int64_t>> outer;
      for (int d = 0; d < p_.outer.n; d++) outer.push_back({p_.outer[d], o.outer[d]});
      shift = sum_of(shift, "(" + cuda_place(counted(outer), "place", p_.outer.product()) + ")");
    }
    if (!whole && m.offset != given.offset) shift = sum_of(shift, std::to_string(m.offset - given.offset));
    r.base = str("x", places_++);
    memory_ += str("  ", is_input ? "const " : "", cuda_type(m.dtype), "* const ", r.base, " = ", is_input ? str("in", first_input(node_, o.index)) : str("out", o.index),
                   " + ", shift, ";\n");
    return r;
  }

  // What steps hand on is planned for one row, as the plan of the CPU is for several: each value from the step that makes it to its last reader.
  void plan_memory() {
    std::vector<size_t> begins;
    for (int k = 0; k < int(p_.steps.size()); k++) {
      for (const RowOperand& o : p_.steps[k].out) longest_ = std::max(longest_, row_count(o));
      for (const RowOperand& o : p_.steps[k].in)
        if (o.place == RowOperand::block) kept_[latest_at(begins, o)].last = k;
      for (const RowOperand& o : p_.steps[k].out) {
        if (o.place != RowOperand::block) continue;
        begins.push_back(o.begin);
        kept_.push_back({k, k, size_t(row_count(o)) * size_of(o.rows.dtype), -1});
      }
    }
    shared_ = (place(kept_) + 63) / 64 * 64;
    check<NotImplemented>(shared_ <= kMostShared, "a row that hands on ", shared_, " bytes has no CUDA form: expected at most ", kMostShared);
  }
  // The number of the value that lies there, of those made so far.
  static size_t latest_at(const std::vector<size_t>& begins, const RowOperand& o) {
    return size_t(begins.rend() - std::find(begins.rbegin(), begins.rend(), o.begin)) - 1;
  }
  // Has each row a warp of its own?
  bool by_warps() const { return longest_ <= 1024; }
  int64_t row_count(const RowOperand& o) const {
    int64_t count = 1;
    for (int d = p_.lead; d < o.rows.sizes.n; d++) count *= o.rows.sizes[d];
    return count;
  }
  void declare(const RowOperand& o) {
    if (o.place != RowOperand::block) return;
    const size_t value = declared_.size();
    declared_.push_back(o.begin);
    const char* type = cuda_type(o.rows.dtype);
    memory_ += str("  ", type, "* const s", value, " = reinterpret_cast<", type, "*>(memory + ", kept_[value].offset, ");\n");
  }

  std::string step(const RowStep& s) {
    // As a node whose inputs look like a block of rows.
    Node n;
    n.type = s.type, n.op = s.op;
    const auto use = [&](const RowOperand& o) {
      Use u;
      if (o.place == RowOperand::none) return u;
      u.value = 0, u.flags = o.flags, u.meta = o.whole ? node_.in[o.index].meta : o.rows;
      return u;
    };
    for (const RowOperand& o : s.in) n.in.push_back(use(o));
    for (const RowOperand& o : s.out) n.out.push_back(use(o));
    const bool lines = s.type->notation.kind == Notation::reduce || s.type->notation.kind == Notation::along;
    const int rank = lines ? n.in[0].meta.sizes.n : n.out[0].meta.sizes.n;
    std::vector<Row> in, out;
    for (const RowOperand& o : s.in) in.push_back(o.place == RowOperand::none ? Row() : row_of(o, rank));
    for (const RowOperand& o : s.out) declare(o), out.push_back(row_of(o, n.out[0].meta.sizes.n));
    return lines ? line_by_line(n, in, out) : element_by_element(n, in, out);
  }

  std::string element_by_element(const Node& n, const std::vector<Row>& in, const std::vector<Row>& out) {
    FusedProgram alone;
    if (n.type != &op_type<Fused>()) {
      FusedStep step;
      check<NotImplemented>(find_step(n, &step), n.type->signature->name, ": has no CUDA form");
      for (size_t k = first_read(n); k < in.size(); k++) {
        step.in.push_back(n.in[k].value < 0 ? -1 : int(alone.operands.size()));
        if (n.in[k].value >= 0) alone.operands.push_back({in[k].dtype, int(k), -1, -1});
      }
      step.out = int(alone.operands.size());
      alone.operands.push_back({out[0].dtype, -1, 0, -1});
      alone.steps.push_back(std::move(step));
    }
    const FusedProgram& p = n.type == &op_type<Fused>() ? *reinterpret_cast<const Fused*>(n.op.data())->program : alone;
    const int64_t count = numel_of(out[0].sizes);
    std::vector<CudaOperand> operands;
    for (const FusedOperand& x : p.operands) {
      if (x.input >= 0) operands.push_back({in[x.input].base, in[x.input].literal.empty() ? place_in(in[x.input], out[0].sizes) : "", in[x.input].literal});
      else operands.push_back({x.output >= 0 ? out[x.output].base : "", "", ""});
    }
    const int items = cuda_items(p, operands);
    return str("  for (int64_t first = me * ", items, "; first < ", count, "; first += threads * ", items, ") {\n",
               cuda_elements(p, operands, std::to_string(count), "  "), "  }\n");
  }

  // Of element `i` of a row of `sizes`.
  static std::string place_in(const Row& r, const Dims& sizes) {
    std::vector<std::pair<int64_t, int64_t>> axes;
    for (int d = 0; d < sizes.n; d++) axes.push_back({sizes[d], step_of(r, d, sizes.n)});
    return cuda_place(counted(axes), "i", numel_of(sizes));
  }
  // How far the row moves along axis `d` of `rank`; 0 where it is broadcast.
  static int64_t step_of(const Row& r, int d, int rank) {
    const int own = d - (rank - r.sizes.n);
    return own < 0 || r.sizes[own] == 1 ? 0 : r.strides[own];
  }

  std::string line_by_line(const Node& n, const std::vector<Row>& in, const std::vector<Row>& out) {
    const std::string_view name = n.type->signature->name;
    check<NotImplemented>(std::find(std::begin(kLines), std::end(kLines), name) != std::end(kLines), name, ": has no CUDA form");
    const Dims axes = *lines_of(n), &sizes = in[0].sizes;
    std::vector<bool> along(sizes.n);
    for (int64_t d : axes) along[d - p_.lead] = true;
    int64_t length = 1, count = 1;
    for (int d = 0; d < sizes.n; d++) (along[d] ? length : count) *= sizes[d];
    auto part = [&](const Row& r, bool of_line) {
      std::vector<std::pair<int64_t, int64_t>> moved;
      for (int d = 0; d < sizes.n; d++)
        if (along[d] == of_line) moved.push_back({sizes[d], step_of(r, d, sizes.n)});
      return of_line ? cuda_place(counted(moved), "k", length) : cuda_place(counted(moved), "l", count);
    };
    auto place = [&](const Row& r) { return sum_of(part(r, false), part(r, true)); };
    DType sums = out[0].dtype;
    if (is_reduced(sums)) sums = in[0].dtype == DType::float64 ? DType::float64 : DType::float32;
    if (is_integral(sums)) sums = DType::int64;
    const std::string type = cuda_type(sums);
    std::string arguments;
    for (size_t k = 0; k < out.size(); k++) {
      const bool of_lines = n.type->notation.kind == Notation::reduce || k > 0;  // one number each
      arguments += str(", [&](int64_t k) -> ", cuda_type(out[k].dtype), "& { return ", out[k].base, "[", of_lines ? "l" : place(out[k]), "]; }");
    }
    for (size_t k = 0; k < in.size(); k++) {
      if (n.in[k].value < 0) arguments += str(", ", k == 1 ? "Ones<" : "Zeros<", type, ">()");
      else arguments += str(", [&](int64_t k) { return ", type, "(", in[k].literal.empty() ? str(in[k].base, "[", place(in[k]), "]") : in[k].literal, "); }");
    }
    for (int i = 0; i < n.type->signature->n; i++)
      if (n.type->fields[i].ty == Ty::f64 && !is_input(n.type->signature->params[i].ty))
        arguments += ", " + cuda_number(Scalar(attribute<double>(n, n.type->signature->params[i].name)));
    const char* team = count == 1 && !by_warps() ? "BlockTeam" : count == 1 || length >= 32 ? "WarpTeam" : "ThreadTeam";
    return str("  lines<", team, ">(", count, ", me, threads, [&](auto team, int64_t l) {\n    line_", name, "<", type,
               ">(team, ", length, arguments, ");\n  });\n");
  }

  const Graph& g_;
  const Node& node_;
  const RowProgram& p_;
  std::string memory_, steps_;
  std::vector<Interval> kept_;     // in shared memory, in the order of the steps that make them
  std::vector<size_t> declared_;  // where each that the text has so far begins in a block of the CPU
  size_t shared_ = 0;
  int places_ = 0;
  int64_t longest_ = 1;  // row that a step makes
};

}  // namespace

CudaKernel cuda_rows(const Graph& g, const Node& node, const std::string& name) { return RowText(g, node).run(name); }

}  // namespace weir::graph
