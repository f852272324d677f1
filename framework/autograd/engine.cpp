#include "framework/autograd/engine.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <unordered_map>

#include "framework/autograd/nodes.h"

namespace weir {
namespace {

// How many passes run, of all threads, and above that how many have begun.
constexpr uint64_t kBegun = uint64_t(1) << 32;
std::atomic<uint64_t> passes{0};

// Counts a pass, and knows whether there were others at the same time: each of two sees the other begin, or run already.
class Count {
 public:
  Count() : before_(passes.fetch_add(kBegun + 1)) {}
  ~Count() { passes--; }
  Count(const Count&) = delete;
  uint64_t number() const { return before_ / kBegun + 1; }
  bool alone() const { return before_ % kBegun == 0 && passes.load() / kBegun == number(); }

 private:
  uint64_t before_;
};

struct State {
  NodeRef node;
  int dependencies = 0;
  bool needed = true;
  Tensors buffer;                 // one gradient per forward output, summed as they come
  std::vector<uint32_t> captures;  // pairs (output index, result index)
};

// A gradient as its tensor is: reduced over broadcast axes, in its dtype.
Tensor fit(const Tensor& g, const Meta& m, const Node& node) {
  Tensor r = g;
  if (!(r.sizes() == m.sizes)) {
    bool ok = m.sizes.n <= r.ndim();
    for (int i = 1; ok && i <= m.sizes.n; i++)
      ok = m.sizes[m.sizes.n - i] == r.size(-i) || m.sizes[m.sizes.n - i] == 1;
    check(ok, node.name(), ": returned an invalid gradient: got shape ", r.sizes(), " but expected shape compatible with ",
          m.sizes);
    // Of complex numbers for a real tensor the real parts are summed alone, as PyTorch's formulas take them first.
    if (is_complex(r.dtype()) && !is_complex(m.dtype)) r = grad_ops.cast(r, real_type(r.dtype()));
    r = grad_ops.sum_to(r, m.sizes);
  }
  return r.dtype() == m.dtype ? r : grad_ops.cast(r, m.dtype);
}

void check_answer(const Tensor& given, const Tensor& answer) {
  check(given.defined(), "a hook has put a gradient where there is none");
  check(given.dtype() == answer.dtype(), "a hook has changed the type of value (was ", name_of(given.dtype()), " got ", name_of(answer.dtype()), ")");
  check(given.sizes() == answer.sizes(), "a hook has changed the size of value: from ", given.sizes(), " to ", answer.sizes());
}

// The node that runs on this thread, and by its bits the inputs whose gradients lead to none that is wanted; inputs from the 64th on count as wanted.
struct Turn {
  const Node* node = nullptr;
  uint64_t left_out = 0;
  static thread_local Turn now;
};
thread_local Turn Turn::now;

class Task {
 public:
  Task(const std::vector<Edge>& roots, const Tensors& grads, const std::vector<Edge>& inputs, const BackwardOptions& options)
      : options_(options), pruned_(!inputs.empty()), results_(inputs.size()) {
    for (size_t i = 0; i < roots.size(); i++) seed(roots[i], i < grads.size() ? grads[i] : Tensor());
    discover();
    for (size_t i = 0; i < inputs.size(); i++) capture(inputs[i], i);
    if (pruned_) prune();
  }

  Tensors run() {
    Running running(this);
    FirstPass first;
    GradMode grad(options_.create_graph);
    for (State& s : states_)
      if (s.dependencies == 0 && s.needed) push(s);
    while (!ready_.empty()) {
      const auto [order, place] = ready_.top();
      const uint32_t slot = ~order ? place : ~place;
      ready_.pop();
      execute(slot);
    }
    for (size_t i = 0; i < at_end_.size(); i++) {
      auto fn = at_end_[i];  // which may add another
      fn();
    }
    return std::move(results_);
  }

  void call_at_end(std::function<void()> fn) { at_end_.push_back(std::move(fn)); }
  uint64_t number() const { return count_.number(); }
  bool runs(uint64_t sequence) const {
    return std::any_of(states_.begin(), states_.end(), [&](const State& s) { return s.node->sequence == sequence && s.needed; });
  }
  static thread_local Task* innermost;  // of this thread's passes

 private:
  struct Running {
    Task* before = innermost;
    explicit Running(Task* task) { innermost = task; }
    ~Running() { innermost = before; }
  };

  struct FirstPass {
    uint64_t before = mode.pass;
    FirstPass() { mode.pass = std::min(mode.pass, storages_made); }
    ~FirstPass() { mode.pass = before; }
  };

  // A node says where its state is, unless another pass, nested in this one or on another thread, comes by as well: leaves belong to all.
  State& state_of(const NodeRef& node) {
    std::atomic_ref<uint64_t> task(node->task);
    std::atomic_ref<uint32_t> hint(node->slot);
    if (task.load(std::memory_order_acquire) == count_.number())
      if (const uint32_t said = hint.load(std::memory_order_acquire); said < states_.size() && states_[said].node == node) return states_[said];
    auto slot = uint32_t(states_.size());
    if (!count_.alone()) {
      for (; found_ < states_.size(); found_++) slots_.emplace(states_[found_].node.get(), uint32_t(found_));
      if (auto at = slots_.find(node.get()); at != slots_.end()) slot = at->second;
    }
    hint.store(slot, std::memory_order_release);
    task.store(count_.number(), std::memory_order_release);
    if (slot == states_.size()) states_.push_back({node});
    return states_[slot];
  }

  void seed(const Edge& e, const Tensor& grad) {
    const Meta root = e.node->metas.at(e.index).meta();
    Tensor g = grad;
    if (!g) {
      check(root.sizes.product() == 1, "grad can be implicitly created only for scalar outputs");
      check(!is_complex(root.dtype), "grad can be implicitly created only for real scalar outputs but got ", name_of(root.dtype));
      g = grad_ops.zeros(root);
      Tensor one = wrapped_number(Scalar(1.0));
      grad_ops.add_into(g, one);
    } else {
      check(is_complex(g.dtype()) == is_complex(root.dtype), "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch "
            "in dtype: grad_output has a dtype of ", name_of(g.dtype()), " and output has a dtype of ", name_of(root.dtype), ".");
      check(g.sizes() == root.sizes, "Mismatch in shape: grad_output has a shape of ", g.sizes(), " and output has a shape of ", root.sizes, ".");
    }
    add(state_of(e.node), e.index, g, *e.node);
    roots_.push_back(e.node);
  }

  // May other gradients be added to this one where it lies?
  static bool is_open(const Tensor& sum) { return !mode.grad && !sum.is_batched() && sum.unshared() && sum.is_contiguous(); }

  // Shows a node the sum for as long as it runs, also where it raises. A node without one is not written to: passes of other threads share leaves.
  struct Shown {
    Node& node;
    Shown(Node& n, Tensor sum) : node(n) { node.sum = std::move(sum); }
    ~Shown() { node.sum = Tensor(); }
  };

  // What `node` may add to itself: T slices of a tensor would else each make a gradient of the whole tensor's size. Listeners are shown
  // what a node returns, and a plan takes its memory when it is compiled.
  Tensor sum_for(const Node& node) {
    if (node.next.size() != 1 || !node.next[0].node || !node.after.empty() || mode.anomaly) return {};
    const auto& buffer = state_of(node.next[0].node).buffer;
    const uint32_t index = node.next[0].index;
    if (index >= buffer.size() || !buffer[index] || buffer[index]->storage->symbolic || !is_open(buffer[index])) return {};
    return buffer[index];
  }

  void add(State& s, uint32_t index, const Tensor& grad, const Node& from) {
    if (s.buffer.size() <= index) s.buffer.resize(std::max<size_t>(index + 1, s.node->metas.size()));
    Tensor g = index < s.node->metas.size() ? fit(grad, s.node->metas[index].meta(), from) : grad;
    Tensor& sum = s.buffer[index];
    if (!sum) sum = std::move(g);
    else if (!g.is_batched() && is_open(sum))
      grad_ops.add_into(sum, g);
    else sum = grad_ops.add(sum, g);
  }

  void discover() {
    std::vector<NodeRef> stack;
    for (const NodeRef& r : roots_)
      if (visited(r)) stack.push_back(r);
    while (!stack.empty()) {
      NodeRef n = std::move(stack.back());
      stack.pop_back();
      for (const Edge& e : n->next) {
        if (!e.node) continue;
        state_of(e.node).dependencies++;
        if (visited(e.node)) stack.push_back(e.node);
      }
    }
  }
  bool visited(const NodeRef& n) {
    const auto slot = uint32_t(&state_of(n) - states_.data());
    if (slot >= seen_.size()) seen_.resize(slot + 16);
    if (seen_[slot]) return false;
    return seen_[slot] = true;
  }

  void capture(const Edge& e, size_t result) {
    State& s = state_of(e.node);
    s.captures.push_back(e.index);
    s.captures.push_back(uint32_t(result));
  }

  // Only nodes on a path to a captured one run. Slots rise away from the roots along at least one path, so iterate
  // in sequence order: a node's successors have smaller numbers, accumulators count as smallest.
  void prune() {
    std::vector<uint32_t> order(states_.size());
    for (uint32_t i = 0; i < order.size(); i++) order[i] = i;
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return priority(a) < priority(b); });
    for (uint32_t i : order) {
      bool needed = !states_[i].captures.empty();
      const Node& node = *states_[i].node;  // no reference into states_ is kept: state_of may add to them
      for (const Edge& e : node.next) needed |= e.node && state_of(e.node).needed;
      states_[i].needed = needed;
    }
  }
  uint64_t priority(uint32_t slot) const {
    const Node& n = *states_[slot].node;
    return n.is_accumulator() ? 0 : n.sequence;
  }
  // Leaves run as soon as their gradients are whole, those of one call in its order: a hook may update a parameter and let its gradient go.
  void push(State& s) {
    const auto slot = uint32_t(&s - states_.data());
    const bool leaf = s.node->is_accumulator();
    ready_.push({leaf ? ~uint64_t(0) : s.node->sequence, leaf ? ~slot : slot});
  }

  void execute(uint32_t slot) {
    NodeRef node = states_[slot].node;
    Tensors grads = std::move(states_[slot].buffer);
    if (grads.size() < node->metas.size()) grads.resize(node->metas.size());
    bool skip = !options_.accumulate && (node->is_accumulator() || !leads_on(*node));
    auto hooks = node->is_accumulator() ? static_cast<AccumulateGrad&>(*node).hooks_of_leaf() : node->hooks;
    if (!hooks.empty() || !states_[slot].captures.empty())  // nodes hand conjugates on unwritten, which nobody else is to see
      for (Tensor& g : grads)
        if (g && g.has_flag(kConj)) g = grad_ops.settled(g);
    // What retain_grad keeps is the gradient as all other hooks leave it, whenever they were added.
    std::stable_partition(hooks.begin(), hooks.end(), [](const auto& h) { return h.id != 0; });
    for (auto& hook : hooks)  // a leaf without a gradient here may get a sparse one beside the engine
      if (hook.index < grads.size() && (grads[hook.index] || !node->is_accumulator()))
        if (Tensor changed = hook.fn(grads[hook.index])) {
          check_answer(grads[hook.index], changed);
          grads[hook.index] = changed;
        }
    for (auto& listener : skip ? std::vector<Node::Listener>() : node->before)
      if (Tensors changed = listener.fn(grads, {}); !changed.empty()) grads = std::move(changed);
    const auto& captures = states_[slot].captures;
    for (size_t i = 0; !options_.accumulate && i + 1 < captures.size(); i += 2)  // kept, a gradient could not become a leaf's own
      if (captures[i] < grads.size()) results_[captures[i + 1]] = grads[captures[i]];
    Tensors given = node->after.empty() ? Tensors() : grads;
    Tensors out;
    Tensor sum = skip ? Tensor() : sum_for(*node);
    const TensorImpl* const lent = sum.get();
    if (!skip) {
      std::optional<Shown> shown;
      if (sum) shown.emplace(*node, std::move(sum));
      const Taken turn({node.get(), pruned_ ? left_out(*node) : 0});
      out = node->apply(std::move(grads));
    }
    if (lent && !out.empty() && out[0].get() == lent) out[0] = Tensor();  // the node has added to it
    grads.clear();
    if (!skip && mode.anomaly) check_numbers(*node, out);
    if (!skip)
      for (auto& listener : std::vector(node->after))
        if (Tensors changed = listener.fn(out, given); !changed.empty()) out = std::move(changed);
    if (!options_.retain_graph && !skip) node->release();
    for (size_t i = 0; i < node->next.size(); i++) {
      const Edge& e = node->next[i];
      if (!e.node) continue;
      State& s = state_of(e.node);
      if (i < out.size() && out[i]) add(s, e.index, out[i], *node), out[i] = Tensor();
      if (--s.dependencies == 0 && s.needed) push(s);
    }
  }
  struct Taken {
    Turn before = Turn::now;
    explicit Taken(const Turn& turn) { Turn::now = turn; }
    ~Taken() { Turn::now = before; }
  };

  uint64_t left_out(const Node& node) {
    uint64_t bits = 0;
    for (size_t i = 0; i < std::min<size_t>(node.next.size(), 63); i++)
      if (node.next[i].node && !state_of(node.next[i].node).needed) bits |= uint64_t(1) << i;
    return bits;
  }

  static void check_numbers(const Node& node, const Tensors& out) {
    for (size_t i = 0; i < out.size(); i++)
      check(!out[i] || !grad_ops.has_nan(out[i]), "Function '", node.name(), "' returned nan values in its ", i, "th output.",
            node.made_at.empty() ? "" : "\nThe forward call was made at:\n", node.made_at);
  }
  bool leads_on(const Node& n) {
    for (const Edge& e : n.next)
      if (e.node && state_of(e.node).needed) return true;
    return false;
  }

  Count count_;
  BackwardOptions options_;
  bool pruned_;  // to what leads to `inputs`; else every gradient is wanted
  std::vector<State> states_;
  std::unordered_map<const Node*, uint32_t> slots_;  // of the first `found_` states, in a pass that is not alone
  size_t found_ = 0;
  std::vector<bool> seen_;
  std::vector<NodeRef> roots_;
  Tensors results_;
  std::priority_queue<std::pair<uint64_t, uint32_t>> ready_;
  std::vector<std::function<void()>> at_end_;
};

thread_local Task* Task::innermost = nullptr;

}  // namespace

void at_end_of_backward(std::function<void()> fn) {
  check(Task::innermost != nullptr, "Final callbacks can only be installed during backward pass.");
  Task::innermost->call_at_end(std::move(fn));
}

bool asks_for(const Node& node, size_t i) { return Turn::now.node != &node || i > 62 || !(Turn::now.left_out >> i & 1); }

int64_t current_pass() { return Task::innermost ? int64_t(Task::innermost->number()) : -1; }

bool pass_runs(uint64_t sequence) {
  check(Task::innermost != nullptr, "which nodes run is known only during a backward pass");
  return Task::innermost->runs(sequence);
}

std::vector<Edge> root_edges(const Tensors& roots) {
  std::vector<Edge> edges;
  for (size_t i = 0; i < roots.size(); i++) {
    edges.push_back(requires_grad(roots[i]) ? gradient_edge(roots[i]) : Edge{});
    // A view made with gradients off says that it requires grad, as its base does, and has neither.
    check(bool(edges.back().node), "element ", i, " of tensors does not require grad and does not have a grad_fn");
  }
  return edges;
}

std::vector<Edge> input_edges(const Tensors& inputs) {
  std::vector<Edge> edges;
  for (const Tensor& x : inputs) {
    check(requires_grad(x), "One of the differentiated Tensors does not require grad");
    edges.push_back(gradient_edge(x));
    if (!edges.back().node) edges.back() = {NodeRef(new AccumulateGrad(x)), 0};  // of a view made with gradients off, where none arrive
  }
  return edges;
}

Tensors backward(const std::vector<Edge>& roots, const Tensors& grads, const std::vector<Edge>& inputs, const BackwardOptions& options) {
  return Task(roots, grads, inputs, options).run();
}

Tensors backward(const Tensors& roots, const Tensors& grads, const Tensors& inputs, const BackwardOptions& options) {
  return backward(root_edges(roots), grads, input_edges(inputs), options);
}

}  // namespace weir
