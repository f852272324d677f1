#include "framework/ops/optimizer.h"

#include <algorithm>
#include <array>

#include "framework/kernels/cpu/casts.h"
#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/numbers.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// Numbers are float32, bool, or float64 where the state of a float64 parameter was loaded; each keeps its precision.
void multiply_number(const Tensor& t, double factor) {
  if (t.dtype() == DType::float64) *t.data<double>() *= factor;
  else *t.data<float>() *= float(factor);
}
double next_step(const Tensor& step) {
  put(step, 0, number_at(step) + 1);
  return number_at(step);
}

template <class V> V greater_of(V a, V b) { return where((a > b) | (a != a), a, b); }

// The gradient that an update follows: turned over to maximize, with the decay where that is not decoupled.
template <class T> struct Gradient {
  bool maximize, decays;
  Vec<T> decay;
  Gradient(bool maximize, double weight_decay) : maximize(maximize), decays(weight_decay != 0), decay(T(weight_decay)) {}
  Vec<T> operator()(Vec<T> g, Vec<T> p) const {
    if (maximize) g = -g;
    return decays ? g + p * decay : g;
  }
};

// The mean of the numbers so far, of which it keeps `beta`, and new ones: from the nearer of both, as lerp, so that with beta 0 it is the new ones.
template <class T> struct RunningMean {
  bool near_old;
  Vec<T> beta, rest;
  explicit RunningMean(double beta) : near_old(beta > 0.5), beta(T(beta)), rest(T(1 - beta)) {}
  Vec<T> operator()(Vec<T> old, Vec<T> x) const { return near_old ? old + (x - old) * rest : x - (x - old) * beta; }
};

// The rules: what an update does with one vector of parameter x[0], gradient x[1] and states x[2], ... The numbers n are moved
// on when the rule is made, once per parameter and step.
template <class T> auto rule(const SgdUpdate& o, double rate, Inputs n) {
  using V = Vec<T>;
  bool momentum = o.momentum != 0, first = momentum && number_at(n[0]) != 0, nesterov = o.nesterov;
  if (momentum) put(n[0], 0, 0.0);
  Gradient<T> gradient(o.maximize, o.weight_decay);
  V lr{T(rate)}, mu{T(o.momentum)}, rest{T(1 - o.dampening)};
  return [=](V* x) {
    V g = gradient(x[1], x[0]);
    if (momentum) {
      x[2] = first ? g : x[2] * mu + g * rest;
      g = nesterov ? g + mu * x[2] : x[2];
    }
    x[0] = x[0] - lr * g;
  };
}

template <class T> auto rule(const AdamUpdate& o, double rate, Inputs n) {
  using V = Vec<T>;
  double step = next_step(n[0]), c1 = 1 - std::pow(o.beta1, step), c2 = 1 - std::pow(o.beta2, step);
  Gradient<T> gradient(o.maximize, o.decoupled ? 0 : o.weight_decay);
  const RunningMean<T> mean(o.beta1);
  V kept{T(o.decoupled ? 1 - rate * o.weight_decay : 1)}, b2{T(o.beta2)}, rest2{T(1 - o.beta2)};
  V lr{T(rate / c1)}, root{T(1 / std::sqrt(c2))}, eps{T(o.eps)};
  bool amsgrad = o.amsgrad;
  return [=](V* x) {
    x[0] = x[0] * kept;
    V g = gradient(x[1], x[0]);
    x[2] = mean(x[2], g);
    x[3] = x[3] * b2 + g * g * rest2;
    if (amsgrad) x[4] = greater_of(x[4], x[3]);
    x[0] = x[0] - lr * (x[2] / (sqrt(amsgrad ? x[4] : x[3]) * root + eps));
  };
}

template <class T> auto rule(const RmspropUpdate& o, double rate, Inputs n) {
  using V = Vec<T>;
  next_step(n[0]);
  Gradient<T> gradient(o.maximize, o.weight_decay);
  V lr{T(rate)}, alpha{T(o.alpha)}, rest{T(1 - o.alpha)}, eps{T(o.eps)}, mu{T(o.momentum)};
  const RunningMean<T> mean(o.alpha);
  bool centered = o.centered, momentum = o.momentum > 0;
  return [=](V* x) {
    V g = gradient(x[1], x[0]);
    x[2] = x[2] * alpha + g * g * rest;
    V square = x[2];
    if (centered) {
      x[3] = mean(x[3], g);
      square = square - x[3] * x[3];
    }
    g = g / (sqrt(square) + eps);
    if (momentum) {
      V& buffer = x[centered ? 4 : 3];
      g = buffer = buffer * mu + g;
    }
    x[0] = x[0] - lr * g;
  };
}

template <class T> auto rule(const AdagradUpdate& o, double rate, Inputs n) {
  using V = Vec<T>;
  double step = next_step(n[0]);
  Gradient<T> gradient(o.maximize, o.weight_decay);
  V lr{T(rate / (1 + (step - 1) * o.lr_decay))}, eps{T(o.eps)};
  return [=](V* x) {
    V g = gradient(x[1], x[0]);
    x[2] = x[2] + g * g;
    x[0] = x[0] - g / (sqrt(x[2]) + eps) * lr;
  };
}

template <class T> auto rule(const AdadeltaUpdate& o, double rate, Inputs n) {
  using V = Vec<T>;
  next_step(n[0]);
  Gradient<T> gradient(o.maximize, o.weight_decay);
  V lr{T(rate)}, rho{T(o.rho)}, rest{T(1 - o.rho)}, eps{T(o.eps)};
  return [=](V* x) {
    V g = gradient(x[1], x[0]);
    x[2] = x[2] * rho + g * g * rest;
    V delta = sqrt(x[3] + eps) / sqrt(x[2] + eps) * g;
    x[3] = x[3] * rho + delta * delta * rest;
    x[0] = x[0] - lr * delta;
  };
}

template <class T> auto rule(const AdamaxUpdate& o, double rate, Inputs n) {
  using V = Vec<T>;
  double step = next_step(n[0]);
  Gradient<T> gradient(o.maximize, o.weight_decay);
  const RunningMean<T> mean(o.beta1);
  V lr{T(rate / (1 - std::pow(o.beta1, step)))}, b2{T(o.beta2)}, eps{T(o.eps)};
  return [=](V* x) {
    V g = gradient(x[1], x[0]);
    x[2] = mean(x[2], g);
    x[3] = greater_of(x[3] * b2, abs(g) + eps);
    x[0] = x[0] - x[2] / x[3] * lr;
  };
}

template <class T> auto rule(const NadamUpdate& o, double rate, Inputs n) {
  using V = Vec<T>;
  double step = next_step(n[0]);
  auto momentum_at = [&](double t) { return o.beta1 * (1.0 - 0.5 * std::pow(0.96, t * o.momentum_decay)); };
  double mu = momentum_at(step), mu_next = momentum_at(step + 1);
  multiply_number(n[1], mu);
  double product = number_at(n[1]);
  Gradient<T> gradient(o.maximize, o.decoupled ? 0 : o.weight_decay);
  const RunningMean<T> mean(o.beta1);
  V kept{T(o.decoupled ? 1 - rate * o.weight_decay : 1)}, b2{T(o.beta2)}, rest2{T(1 - o.beta2)}, eps{T(o.eps)};
  V c2{T(1 - std::pow(o.beta2, step))}, by_gradient{T(rate * (1.0 - mu) / (1.0 - product))}, by_mean{T(rate * mu_next / (1.0 - product * mu_next))};
  return [=](V* x) {
    x[0] = x[0] * kept;
    V g = gradient(x[1], x[0]);
    x[2] = mean(x[2], g);
    x[3] = x[3] * b2 + g * g * rest2;
    V denominator = sqrt(x[3] / c2) + eps;
    x[0] = x[0] - g / denominator * by_gradient;
    x[0] = x[0] - x[2] / denominator * by_mean;
  };
}

template <class T> auto rule(const RadamUpdate& o, double rate, Inputs n) {
  using V = Vec<T>;
  constexpr double kTractable = 5;  // the length from which the variance of the adaptive step is finite
  double step = next_step(n[0]), decayed = std::pow(o.beta2, step), longest = 2 / (1 - o.beta2) - 1;
  double length = longest - 2 * step * decayed / (1 - decayed), factor = 0;
  bool adaptive = length > kTractable;
  if (adaptive) factor = std::sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length));
  Gradient<T> gradient(o.maximize, o.decoupled ? 0 : o.weight_decay);
  const RunningMean<T> mean(o.beta1);
  V kept{T(o.decoupled ? 1 - rate * o.weight_decay : 1)}, b2{T(o.beta2)}, rest2{T(1 - o.beta2)}, eps{T(o.eps)};
  V c1{T(1 - std::pow(o.beta1, step))}, rectified{T(factor)}, root{T(std::sqrt(1 - decayed))}, lr{T(rate)};
  return [=](V* x) {
    x[0] = x[0] * kept;
    V g = gradient(x[1], x[0]);
    x[2] = mean(x[2], g);
    x[3] = x[3] * b2 + g * g * rest2;
    V move = x[2] / c1;
    if (adaptive) move = move * rectified * root / (sqrt(x[3]) + eps);
    x[0] = x[0] - lr * move;
  };
}

template <class T> auto rule(const RpropUpdate& o, double, Inputs n) {
  using V = Vec<T>;
  next_step(n[0]);
  bool maximize = o.maximize;
  V shrink{T(o.shrink)}, grow{T(o.grow)}, least{T(o.least)}, most{T(o.most)}, zero{T(0)}, one{T(1)};
  return [=](V* x) {
    V g = maximize ? -x[1] : x[1], agreement = g * x[2];
    V size = x[3] * where(agreement > zero, grow, where(agreement < zero, shrink, one));
    size = where(size < least, least, size);
    x[3] = where(size > most, most, size);
    x[2] = where(agreement < zero, zero, g);
    V sign = where(x[2] > zero, one, where(x[2] < zero, -one, zero));
    x[0] = x[0] - sign * x[3];
  };
}

template <class T> auto rule(const AsgdUpdate& o, double rate, Inputs n) {
  using V = Vec<T>;
  double step = next_step(n[0]), eta = number_at(n[1]), mu = number_at(n[2]);
  // Through float32, as PyTorch's.
  put(n[1], 0, float(rate / std::pow(1 + o.lambd * rate * step, o.alpha)));
  put(n[2], 0, float(1 / std::max(1.0, step - o.t0)));
  Gradient<T> gradient(o.maximize, o.weight_decay);
  bool averages = mu != 1;
  V kept{T(1 - o.lambd * eta)}, lr{T(eta)}, share{T(mu)};
  return [=](V* x) {
    V g = gradient(x[1], x[0]);
    x[0] = x[0] * kept - lr * g;
    x[2] = averages ? x[2] + (x[0] - x[2]) * share : x[0];
  };
}

// ---- All parameters in one pass ----------------------------------------------------------------------------------
template <class T, class Rule> struct Job {
  Rule rule;
  T* p[5];
  int64_t begin, end;  // of all elements of all parameters
  const std::byte* halves = nullptr;  // the gradient, where it is of a half type
  Converter widen = nullptr;
};

// Elements b to e of a job, vector by vector; the rest in one padded vector. A rule that sums is told how many lanes count.
template <int k, class T, class Rule> void sweep(const Job<T, Rule>& job, int64_t b, int64_t e) {
  using V = Vec<T>;
  constexpr int64_t kAhead = 512 / sizeof(T);  // of memory, which streams stop asking for at each page: a tenth faster where nothing is cached
  const Rule rule = job.rule;  // a copy, and the pointers too: what is stored is known not to change them
  T* p[k];
  std::copy_n(job.p, k, p);
  V x[5];  // as many as the longest rule names
  auto apply = [&](int64_t lanes) {
    if constexpr (std::is_invocable_v<Rule, V*, int64_t>) rule(x, lanes);
    else rule(x);
  };
  int64_t i = b;
  for (; i + V::size <= e; i += V::size) {
#pragma GCC unroll 5
    for (int j = 0; j < k; j++) x[j] = V::load(p[j] + i), __builtin_prefetch(p[j] + i + kAhead);
    apply(V::size);
#pragma GCC unroll 5
    for (int j = 0; j < k; j++)
      if (j != 1) x[j].store(p[j] + i);  // the gradient is only read
  }
  if (i == e) return;
  T pad[k][V::size] = {};
  for (int j = 0; j < k; j++) std::copy(p[j] + i, p[j] + e, pad[j]), x[j] = V::load(pad[j]);
  apply(e - i);
  for (int j = 0; j < k; j++)
    if (j != 1) x[j].store(pad[j]), std::copy(pad[j], pad[j] + (e - i), p[j] + i);
}

// sweep(), of a gradient in a half type by blocks that stay in the first-level cache.
template <int k, class T, class Rule> void sweep_any(const Job<T, Rule>& job, int64_t b, int64_t e) {
  if (!job.halves) return sweep<k>(job, b, e);
  constexpr int64_t kBlock = 2048, kHalf = sizeof(BFloat16);
  std::array<T, kBlock> gradient;
  for (int64_t i = b; i < e; i += kBlock) {
    const int64_t n = std::min(kBlock, e - i);
    job.widen(job.halves + i * kHalf, 1, gradient.data(), 1, n);
    Job<T, Rule> part = job;
    for (int j = 0; j < k; j++) part.p[j] = j == 1 ? gradient.data() : job.p[j] + i;
    sweep<k>(part, 0, n);
  }
}

template <int k, class T, class Rule> void run_jobs(const std::vector<Job<T, Rule>>& jobs) {
  parallel_for(jobs.back().end, kGrain, [&](int64_t b, int64_t e) {
    auto job = std::upper_bound(jobs.begin(), jobs.end(), b, [](int64_t at, const auto& j) { return at < j.end; });
    for (; job != jobs.end() && job->begin < e; ++job) sweep_any<k>(*job, std::max(b, job->begin) - job->begin, std::min(e, job->end) - job->begin);
  });
}

template <class T, class Op> void update_all(const Op& o, Inputs in) {
  const UpdateLayout layout = o.layout();
  const size_t width = size_t(layout.width());
  const double rate = number_at(in.back());
  using Rule = decltype(rule<T>(o, rate, in));
  std::vector<Job<T, Rule>> jobs;
  jobs.reserve(in.size() / width);
  int64_t total = 0;
  for (size_t i = 0; i + 1 < in.size(); i += width) {
    const Tensor& gradient = in[i + 1];
    Job<T, Rule> job{rule<T>(o, rate, in.subspan(i + 2, size_t(layout.numbers))), {in[i].data<T>()}, total, total + in[i].numel()};
    if (gradient.dtype() == in[i].dtype()) job.p[1] = gradient.data<T>();
    else job.halves = static_cast<const std::byte*>(gradient.raw()), job.widen = converter(gradient.dtype(), in[i].dtype());
    for (int s = 0; s < layout.states; s++) job.p[2 + s] = in[i + 2 + size_t(layout.numbers + s)].data<T>();
    total = job.end;
    jobs.push_back(job);
  }
  switch (layout.states) {
    case 0: return run_jobs<2>(jobs);
    case 1: return run_jobs<3>(jobs);
    case 2: return run_jobs<4>(jobs);
    default: return run_jobs<5>(jobs);
  }
}

// LAMB scales each parameter's step by norms of the whole of it: blocks are summed one by one, so threads do not show.
template <class T> void update_lamb(const LambUpdate& o, double rate, Inputs run) {
  using V = Vec<T>;
  constexpr int64_t kBlock = 4096;
  double step = next_step(run[2]);
  Gradient<T> gradient(o.maximize, o.decoupled ? 0 : o.weight_decay);
  const RunningMean<T> mean(o.beta1);
  V b2{T(o.beta2)}, rest2{T(1 - o.beta2)}, eps{T(o.eps)}, decay{T(o.decoupled ? o.weight_decay : 0)};
  V c1{T(o.correct ? 1 - std::pow(o.beta1, step) : 1)}, c2{T(o.correct ? 1 - std::pow(o.beta2, step) : 1)};
  bool decays = o.decoupled && o.weight_decay != 0;
  auto direction = [&](V* x) {
    V r = x[2] / c1 / (sqrt(x[3] / c2) + eps);
    return decays ? r + x[0] * decay : r;
  };
  const int64_t n = run[0].numel(), blocks = (n + kBlock - 1) / kBlock;
  std::vector<double> sizes(blocks, 0.0), lengths(blocks, 0.0);
  auto moments = [&](int64_t block) {
    return [&, block](V* x, int64_t lanes) {
      V g = gradient(x[1], x[0]);
      x[2] = mean(x[2], g);
      x[3] = x[3] * b2 + g * g * rest2;
      V r = direction(x);
      for (int i = 0; i < lanes; i++) sizes[size_t(block)] += double(x[0].v[i]) * double(x[0].v[i]), lengths[size_t(block)] += double(r.v[i]) * double(r.v[i]);
    };
  };
  const Tensor widened = run[1].dtype() == run[0].dtype() ? run[1] : copied(run[1], Meta(run[0].sizes(), run[0].strides(), run[0].dtype(), {}));
  T *p = run[0].data<T>(), *g = widened.data<T>(), *m = run[3].data<T>(), *v = run[4].data<T>();
  auto each_block = [&](auto&& rule_of) {
    parallel_for(blocks, kGrain / kBlock, [&](int64_t from, int64_t to) {
      for (int64_t b = from; b < to; b++) {
        auto rule = rule_of(b);
        sweep<4>(Job<T, decltype(rule)>{rule, {p, g, m, v}, 0, n}, b * kBlock, std::min(n, (b + 1) * kBlock));
      }
    });
  };
  each_block(moments);
  double size = 0, length = 0;
  for (int64_t b = 0; b < blocks; b++) size += sizes[size_t(b)], length += lengths[size_t(b)];
  double ratio = size > 0 && length > 0 ? std::sqrt(size) / std::sqrt(length) : 1;
  V lr{T(ratio * rate)};
  each_block([&](int64_t) { return [&](V* x) { x[0] = x[0] - direction(x) * lr; }; });
}

template <class T> void update_all(const LambUpdate& o, Inputs in) {
  for (size_t i = 0; i + 1 < in.size(); i += size_t(o.layout().width())) update_lamb<T>(o, number_at(in.back()), in.subspan(i, size_t(o.layout().width())));
}

template <class Op> void update(const Op& o, Inputs in, Outputs out) {
  Tensors moved;
  if (in[0].raw() != out[0].raw()) {  // not given in place: the others are, always
    run_copy(in[0], out[0]);
    moved.assign(in.begin(), in.end());
    moved[0] = out[0];
    in = moved;
  }
  if (in[0].dtype() == DType::float64) update_all<double>(o, in);
  else update_all<float>(o, in);
}

}  // namespace

static const bool registered = [] {
  OptimizerOps::for_each([]<class T>(TypeTag<T>) { set_kernel<T, update<T>>(DeviceType::cpu); });
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
