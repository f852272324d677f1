#include "bench/gbench/data.h"

#include <functional>
#include <numeric>
#include <random>

#include "framework/autograd/variable.h"

namespace weir::gbench {
namespace {

using Draw = std::function<double(std::mt19937&)>;

// Draws by name: normal, positive (0.5 to 1.5), bool, below:N, between:LOW:HIGH. What has to have no ties has few of them.
Draw draw_of(const std::string& fill) {
  if (fill == "positive") return std::uniform_real_distribution(0.5, 1.5);
  if (fill == "bool") return std::uniform_int_distribution(0, 1);
  if (fill.starts_with("below:")) return std::uniform_int_distribution<int64_t>(0, std::stoll(fill.substr(6)) - 1);
  if (fill.starts_with("between:")) {
    const size_t colon = fill.find(':', 8);
    return std::uniform_real_distribution(std::stod(fill.substr(8, colon - 8)), std::stod(fill.substr(colon + 1)));
  }
  return std::normal_distribution();
}

DType dtype_named(const std::string& name) {
  for (int i = 0; i < kNumDTypes; i++)
    if (name_of(DType(i)) == name) return DType(i);
  throw Inexpressible("no dtype " + name);
}

Dims dims(const Json& j) {
  Dims d;
  for (int64_t x : j) d.push(x);
  return d;
}

// Fills the whole storage, whatever the strides make of it.
void fill(const Tensor& t, const Draw& draw, std::mt19937& engine) {
  visit_dtype(t.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* p = t.data<T>();
    for (size_t i = 0; i < t->storage->bytes / sizeof(T); i++) p[i] = T(float(draw(engine)));
  });
}

// A A^T / n + I of every matrix A, row-major.
void make_definite(const Tensor& t) {
  const int64_t n = t.size(-1);
  float* p = t.data<float>();
  for (float* m = p; m != p + t.numel(); m += n * n) {
    const std::vector<float> a(m, m + n * n);
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < n; j++)
        m[i * n + j] = std::inner_product(&a[i * n], &a[i * n] + n, &a[j * n], 0.0f) / float(n) + float(i == j);
  }
}

Tensor make(const Json& spec, std::mt19937& engine) {
  Tensor t = empty(Meta(dims(spec["shape"]), dims(spec["strides"]), dtype_named(spec["dtype"]), Device{}));
  fill(t, draw_of(spec["fill"]), engine);
  if (spec["fill"] == "definite") make_definite(t);
  if (spec["requires_grad"].get<bool>()) set_requires_grad(t, true);
  return t;
}

}  // namespace

Tensors make_inputs(const Json& c) {
  std::mt19937 engine(0);
  Tensors made;
  for (const Json& spec : c["inputs"])
    for (int i = 0; i < spec["repeat"].get<int>(); i++) made.push_back(make(spec, engine));
  return made;
}

Tensor random_like(const Tensor& t) {
  std::mt19937 engine(0);
  const bool dense = is_non_overlapping_and_dense(t.sizes(), t.strides());
  const Tensor made = empty(dense ? Meta(t.sizes(), t.strides(), t.dtype(), t.device()) : Meta(t.sizes(), t.dtype(), t.device()));
  fill(made, draw_of("normal"), engine);
  return made;
}

}  // namespace weir::gbench
