#include "framework/ops/fractional.h"

#include <limits>
#include <vector>

#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/singles.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// Where the windows of one axis start, computed in T as PyTorch does.
template <class T> std::vector<int64_t> starts_of(T sample, int64_t in, int64_t out, int64_t window) {
  std::vector<int64_t> starts(size_t(out), in - window);
  if (out < 2) return starts;
  const T alpha = T(in - window) / T(out - 1);
  for (int64_t i = 0; i + 1 < out; i++) {
    const int64_t at = int64_t((T(i) + sample) * alpha) - int64_t(sample * alpha);
    starts[i] = std::min(std::max<int64_t>(at, 0), in - window);  // samples outside of [0, 1) reach no further
  }
  return starts;
}

void fractional_max_pool(const FractionalMaxPool& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0) return;  // of any dtype
  const Tensor x = row_major(in[0]), samples = row_major(in[1]), y = out[0], index = out[1];
  const int axes = op.kernel_size.n;
  // Two axes are three with a first one of size 1.
  int64_t size[3] = {1, 1, 1}, window[3] = {1, 1, 1}, wanted[3] = {1, 1, 1};
  for (int i = 0; i < axes; i++)
    size[i + 3 - axes] = x.size(i + 2), window[i + 3 - axes] = op.kernel_size[i], wanted[i + 3 - axes] = op.output_size[i];
  const int64_t channels = x.size(1), plane = size[0] * size[1] * size[2], result = wanted[0] * wanted[1] * wanted[2];
  auto run = [&]<class T>(TypeTag<T>) {
    parallel_for(x.size(0) * channels, 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; k++) {
        const T* u = samples.data<T>() + (k / channels * samples.size(1) + k % channels) * axes;
        std::vector<int64_t> starts[3];
        for (int i = 0; i < 3; i++) {
          const auto sample = single(i < 3 - axes ? T(0) : axes == 3 ? u[i] : u[2 - i]);
          starts[i] = starts_of(sample, size[i], wanted[i], window[i]);
        }
        const T* p = x.data<T>() + k * plane;
        T* q = y.data<T>() + k * result;
        int64_t* where = index.data<int64_t>() + k * result;
        for (int64_t a : starts[0])
          for (int64_t b : starts[1])
            for (int64_t c : starts[2]) {
              auto most = -std::numeric_limits<decltype(single(T()))>::infinity();
              int64_t best = (a * size[1] + b) * size[2] + c;
              for (int64_t i = a; i < a + window[0]; i++)
                for (int64_t j = b; j < b + window[1]; j++)
                  for (int64_t l = c; l < c + window[2]; l++) {
                    const int64_t place = (i * size[1] + j) * size[2] + l;
                    const auto v = single(p[place]);
                    if (v > most || v != v) most = v, best = place;
                  }
              *q++ = T(most), *where++ = best;
            }
      }
    });
  };
  switch (x.dtype()) {
    case DType::float64: return run(TypeTag<double>{});
    case DType::float16: return run(TypeTag<Half>{});
    case DType::bfloat16: return run(TypeTag<BFloat16>{});
    default: return run(TypeTag<float>{});
  }
}

}  // namespace

static const bool registered = [] {
  set_kernel<FractionalMaxPool, fractional_max_pool>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
