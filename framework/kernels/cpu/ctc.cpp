#include "framework/ops/ctc.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();  // the logarithm of an impossible path

// In PyTorch's order of comparisons, which decides what becomes of NaN and infinities.
double log_sum(double a, double b, double c = kNever) {
  double most = a;
  if (b > most) most = b;
  if (c > most) most = c;
  if (most == kNever) most = 0;
  if (std::isinf(most)) return std::log(std::exp(a - most) + std::exp(b - most) + std::exp(c - most)) + most;
  auto part = [&](double v) { return v == most ? 1.0 : v == kNever ? 0.0 : std::exp(v - most); };
  return std::log(part(a) + part(b) + part(c)) + most;
}

// The checked problem: log-probabilities of the steps that are looked at, in double, and where each target starts. State s of a target stands for a blank (even)
// or for its element (s - 1) / 2.
struct Problem {
  int64_t steps, batch, classes, blank, longest = 0;
  Tensor log_probs, targets;
  std::vector<int64_t> starts, lengths, target_lengths;

  Problem(const Tensor& x, const Tensor& t, const Tensor& input_lengths, const Tensor& target_sizes, int64_t blank)
      : steps(x.size(0)), batch(x.size(1)), classes(x.size(2)), blank(blank), targets(row_major(t)) {
    Tensor in_lengths = row_major(input_lengths), out_lengths = row_major(target_sizes);
    const int64_t row = t.ndim() == 2 ? t.size(1) : 0;
    int64_t next = 0;
    for (int64_t b = 0; b < batch; b++) {
      const int64_t n = in_lengths.data<int64_t>()[b], m = out_lengths.data<int64_t>()[b];
      check(n >= 0 && n <= steps, "ctc_loss: Expected input_lengths to have value at most ", steps, ", but got value ", n, " (while checking element ", b, ")");
      check(m >= 0, "ctc_loss: Expected target_lengths to have value at least 0, but got value ", m, " (while checking element ", b, ")");
      const int64_t start = row ? b * row : next;
      const int64_t room = row ? row : t.numel() - next;
      check(m <= room, "ctc_loss: target_lengths need ", m, " targets for element ", b, ", but there are ", room);
      starts.push_back(start), lengths.push_back(n), target_lengths.push_back(m);
      next += m, longest = std::max(longest, n);
      for (int64_t i = 0; i < m; i++) {
        const int64_t label = targets.data<int64_t>()[start + i];
        check(label >= 0 && label < classes, "ctc_loss: target ", label, " is out of range for ", classes, " classes");
      }
    }
    check(row || t.ndim() == 2 || next == t.numel(), "ctc_loss: expected as many targets as the sum of target_lengths, ", next, ", got ", t.numel());
    const Dims looked_at{longest, batch, classes};
    log_probs = copied(alias(x, looked_at, x.strides(), x->offset), Meta(looked_at, DType::float64));
  }
  int64_t label(int64_t b, int64_t s) const { return s % 2 ? targets.data<int64_t>()[starts[b] + s / 2] : blank; }
  double log_prob(int64_t t, int64_t b, int64_t c) const { return log_probs.data<double>()[(t * batch + b) * classes + c]; }
  // Whether a path may go from state s - 2 to s: past a blank, to another element.
  bool skips(int64_t b, int64_t s) const { return s > 1 && s % 2 && label(b, s) != label(b, s - 2); }
};

void ctc_loss(const CtcLoss& op, Inputs in, Outputs out) {
  const Problem p(in[0], in[1], in[2], in[3], op.blank);
  const int64_t row = out[1].size(2);
  double* alphas = out[1].data<double>();
  Tensor losses = empty(Dims{p.batch}, DType::float64);
  parallel_for(p.batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; b++) {
      const int64_t n = p.lengths[b], states = 2 * p.target_lengths[b] + 1;
      double* alpha = alphas + b * p.steps * row;
      double& loss = losses.data<double>()[b];
      if (n == 0) {
        loss = p.target_lengths[b] == 0 ? 0.0 : -kNever;
        continue;
      }
      std::fill_n(alpha, states, kNever);
      for (int64_t s = 0; s < std::min<int64_t>(2, states); s++) alpha[s] = p.log_prob(0, b, p.label(b, s));
      for (int64_t t = 1; t < n; t++) {
        const double* before = alpha + (t - 1) * row;
        for (int64_t s = 0; s < states; s++)
          alpha[t * row + s] = log_sum(before[s], s > 0 ? before[s - 1] : kNever, p.skips(b, s) ? before[s - 2] : kNever) + p.log_prob(t, b, p.label(b, s));
      }
      const double* last = alpha + (n - 1) * row;
      loss = states == 1 ? -last[0] : -log_sum(last[states - 1], last[states - 2]);
    }
  });
  if (op.zero_infinity)
    for (int64_t b = 0; b < p.batch; b++)
      if (double& loss = losses.data<double>()[b]; loss == -kNever) loss = 0;
  run_copy(losses, out[0]);
}

void ctc_loss_backward(const CtcLossBackward& op, Inputs in, Outputs out) {
  const Problem p(in[1], in[2], in[3], in[4], op.blank);
  Tensor losses = copied(in[5], Meta(in[5].sizes(), DType::float64)), dy = copied(in[0], Meta(in[0].sizes(), DType::float64));
  Tensor kept = row_major(in[6]), grad = empty(p.log_probs.sizes(), DType::float64);
  const int64_t row = kept.size(2);
  double* g = grad.data<double>();
  std::fill(g, g + grad.numel(), 0.0);
  parallel_for(p.batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; b++) {
      const int64_t n = p.lengths[b], states = 2 * p.target_lengths[b] + 1;
      if (n == 0) continue;
      const double* alpha = kept.data<double>() + b * p.steps * row;
      const double* last = alpha + (n - 1) * row;
      const double loss = -log_sum(last[states - 1], states > 1 ? last[states - 2] : kNever), scale = dy.data<double>()[b];
      if (op.zero_infinity && loss == -kNever) continue;
      std::vector<double> beta(size_t(states), kNever), later(size_t(states), kNever), paths(size_t(p.classes), kNever);
      for (int64_t t = n - 1; t >= 0; t--) {
        std::fill(paths.begin(), paths.end(), kNever);
        for (int64_t s = 0; s < states; s++) {
          const double stays = t == n - 1 ? (s >= states - 2 ? 0.0 : kNever)
                                          : log_sum(later[s], s + 1 < states ? later[s + 1] : kNever,
                                                    s + 2 < states && p.skips(b, s + 2) ? later[s + 2] : kNever);
          const int64_t c = p.label(b, s);
          beta[s] = stays + p.log_prob(t, b, c);
          // At the end a target's element stands alone in PyTorch, also where it is the blank, of which both states tell.
          const double path = alpha[t * row + s] + beta[s];
          if (t == n - 1 && s == states - 1 && states > 1 && c == p.label(b, s - 1)) continue;
          paths[c] = t == n - 1 || paths[c] == kNever ? (s >= states - 2 || t < n - 1 ? path : paths[c]) : log_sum(paths[c], path);
        }
        std::swap(beta, later);
        double* to = g + (t * p.batch + b) * p.classes;
        for (int64_t c = 0; c < p.classes; c++) {
          const double lp = p.log_prob(t, b, c);
          to[c] = (std::exp(lp) - std::exp(paths[c] + loss - lp)) * scale;
        }
      }
    }
  });
  run_copy(grad, alias(out[0], grad.sizes(), out[0].strides(), out[0]->offset));
  const int64_t seen = grad.numel() * int64_t(size_of(out[0].dtype())), all = out[0].numel() * int64_t(size_of(out[0].dtype()));
  std::memset(out[0].raw() + seen, 0, size_t(all - seen));
}

}  // namespace

static const bool registered = [] {
  set_kernel<CtcLoss, ctc_loss>(DeviceType::cpu);
  set_kernel<CtcLossBackward, ctc_loss_backward>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
