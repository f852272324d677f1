#include "framework/op/carried.h"

#include <algorithm>
#include <unordered_map>

#include "framework/core/layout.h"
#include "framework/op/copy.h"
#include "framework/op/out.h"

namespace weir {
namespace {

enum class How : uint8_t {
  refused,
  direct,   // the kernel takes every dtype
  bytes,    // as integers of the same size, where no number of another dtype takes part
  wide,     // through a dtype that computes
  ordered,  // as wide; uint64 with its first bit turned over, so that int64 sorts it
};
enum Kinds : uint8_t { kUnsigned = 1, kFloat8 = 2, kScale = 4, kComplexHalf = 8, kSmall = kFloat8 | kScale, kAll = 15 };

Kinds kind_of(DType t) {
  return is_wide_unsigned(t) ? kUnsigned : t == DType::float8_e8m0fnu ? kScale : is_float8(t) ? kFloat8 : kComplexHalf;
}

struct Row {
  How how;
  uint8_t kinds;
  const char* names;
};
// What the CPU kernels of PyTorch 2.13 have, found by calling them. An op whose results are of a computing dtype stands here only if
// they are bool or whole numbers: those with fractions promote first, and need no row.
constexpr Row kRows[] = {
    {How::direct, kAll, "copy clone pad_constant to_dtype empty empty_like empty_strided empty_permuted new_empty new_empty_strided zeros zeros_like new_zeros fill zero"},
    {How::direct, kComplexHalf, "complex normal_fill uniform tril triu"},
    {How::bytes, kAll, "cat flip index_select index_rows embedding where select_scatter slice_scatter diagonal_scatter as_strided_scatter "
                       "repeat_interleave.Tensor scatter_by_mask"},
    {How::wide, kAll, "full full_like new_full ones ones_like new_ones scalar_tensor pad_border mul eq ne any all isnan nonzeros_of_all"},
    {How::wide, kUnsigned, "bitwise_and bitwise_or bitwise_xor floor ceil trunc round nan_to_num sum nansum prod prod.dim cumsum cumprod signbit isinf "
                           "isfinite isposinf isneginf random_range"},
    {How::ordered, kUnsigned, "sort unique_rows"},
    {How::bytes, kComplexHalf, "scatter"},  // which index_copy consists of
    {How::wide, kSmall, "eye isfinite"},
    {How::wide, kFloat8, "abs mm linear index_put_rows isinf"},
    {How::wide, kComplexHalf, "add sub neg addcmul sgn conjugate index_fill index_put_rows index_add isinf isfinite nonzero_rows"},
};

How how_of(const Signature& s, DType t) {
  static const auto* rows = [] {
    auto* all = new std::unordered_map<std::string_view, std::vector<const Row*>>;
    for (const Row& r : kRows)
      for (std::string_view rest = r.names; !rest.empty();) {
        const size_t end = std::min(rest.find(' '), rest.size());
        (*all)[rest.substr(0, end)].push_back(&r);
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    return all;
  }();
  std::string op(s.name);
  if (!s.overload.empty()) op += "." + std::string(s.overload);
  auto it = rows->find(op);
  if (it == rows->end()) return How::refused;
  for (const Row* r : it->second)
    if (r->kinds & kind_of(t)) return r->how;
  return How::refused;
}

DType carrier_of(DType t) {
  if (t == DType::complex32) return DType::complex64;
  if (is_float8(t)) return DType::float32;
  return t == DType::uint16 ? DType::int32 : DType::int64;
}
DType same_size(DType t) {
  return size_of(t) == 1 ? DType::uint8 : size_of(t) == 2 ? DType::int16 : size_of(t) == 4 ? DType::int32 : DType::int64;
}

void copy_to(const Tensor& to, const Tensor& from) {
  const OpType& copy = op_type<Copy>();
  Tensor out = to;
  copy.kernels[int(DeviceType::cpu)](copy.defaults.data(), std::array{to, from}, Outputs(&out, 1));
}
Tensor unwritten(const Tensor& x, DType t) {
  const bool dense = is_non_overlapping_and_dense(x.sizes(), x.strides());
  return dense ? empty(Meta(x.sizes(), x.strides(), t, x.device())) : empty(x.sizes(), t, x.device());
}
Tensor cast(const Tensor& x, DType t) {
  Tensor r = unwritten(x, t);
  copy_to(r, x);
  return r;
}
Tensor shown_as(const Tensor& x, DType t) { return alias(x->storage, t, x.sizes(), x.strides(), x->offset); }

// uint64 as int64, or back, in the same order.
Tensor turned(const Tensor& x) {
  static const OpType* bitwise_xor = find_op("bitwise_xor");
  const Tensor bits = shown_as(x, DType::int64);
  Tensor out[1];
  call(*bitwise_xor, bitwise_xor->defaults.data(), std::array{bits, wrapped_number(Scalar(INT64_MIN))}, out);
  return shown_as(out[0], x.dtype() == DType::uint64 ? DType::int64 : DType::uint64);
}

// What stands for the tensors of one call; the same tensor twice, as of an op in place, has one stand-in.
class Carried {
 public:
  Carried(How how, DType result, bool complex) : how_(how), result_(result), complex_(complex) {}

  Tensor of(const Tensor& x, bool read) {
    if (!x) return x;
    if (!is_storage_only(x.dtype()) && !(complex_ && !read && x.dtype() == DType::float16)) return x;
    for (auto& [from, to] : known_)
      if (same_place(from, x)) return to;
    return known_.emplace_back(x, made(x, read)).second;
  }
  // Writes what the kernel made into the tensor that it stands for.
  void back(Tensor& out, const Tensor& made, DType want) const {
    if (!out) {
      out = made.dtype() == want ? made : how_ == How::bytes ? shown_as(made, want) : is_turned(want) ? turned(made) : cast(made, want);
    } else if (!(out == made) && how_ != How::bytes) {
      copy_to(out, is_turned(want) ? turned(made) : made);
    }
  }

 private:
  Tensor made(const Tensor& x, bool read) const {
    const DType t = x.dtype();
    if (how_ == How::bytes) return shown_as(x, same_size(t));
    if (is_turned(t)) return read ? turned(x) : unwritten(x, DType::int64);
    const bool promoted = is_inexact(result_) && !is_storage_only(result_);
    const DType to = t == DType::float16 ? DType::float32 : is_wide_unsigned(t) && promoted ? result_ : carrier_of(t);
    return read ? cast(x, to) : unwritten(x, to);
  }
  // A plan has a tensor for what an op reads and another for what it writes in place.
  static bool same_place(const Tensor& a, const Tensor& b) {
    return a == b || (a->storage == b->storage && a->offset == b->offset && a.dtype() == b.dtype() && a.sizes() == b.sizes() && a.strides() == b.strides());
  }
  bool is_turned(DType t) const { return how_ == How::ordered && t == DType::uint64; }

  How how_;
  DType result_;
  bool complex_;
  std::vector<std::pair<Tensor, Tensor>> known_;
};

// Whether only elements of `t` take part, beside indices and masks.
bool only_moves(DType t, Inputs in, const Meta* metas) {
  if (metas[0].dtype != t) return false;
  return std::all_of(in.begin(), in.end(), [&](const Tensor& x) {
    return !x || x.dtype() == t || (!is_inexact(x.dtype()) && !is_storage_only(x.dtype()) && !x.has_flag(kWrappedNumber));
  });
}

// How the op is done, and for which of the stored dtypes; raises where it is not.
std::pair<How, DType> how_to_carry(const OpType& type, Inputs in, Outputs out, const Meta* metas) {
  DType stored = metas[0].dtype;
  for (const Tensor& x : in)
    if (x && is_storage_only(x.dtype())) stored = x.dtype();
  for (size_t i = 0; i < out.size(); i++)
    if (is_storage_only(metas[i].dtype)) stored = metas[i].dtype;
  const DType result = metas[0].dtype;
  How how = how_of(*type.signature, stored);
  const bool promoted = is_inexact(result) && !is_storage_only(result);
  const bool nothing = !out.empty() && std::all_of(out.begin(), out.end(), [](const Tensor& t) { return t && t.numel() == 0; });
  // Element-wise loops of PyTorch's look at the dtype first, others whether there is anything to do.
  if (how == How::refused && (promoted || (nothing && !elementwise(type)))) how = How::wide;
  check<NotImplemented>(how != How::refused, '"', type.signature->name, "\" not implemented for '", name_of(stored), "'");
  return {how, stored};
}

}  // namespace

bool any_storage_only(Inputs tensors) {
  for (const Tensor& x : tensors)
    if (x && is_storage_only(x.dtype())) return true;
  return false;
}

void check_carried(const OpType& type, Inputs in, Outputs out, const Meta* metas) { how_to_carry(type, in, out, metas); }

void run_cpu_kernel(const OpType& type, const void* op, Inputs in, Outputs out) {
  const Kernel kernel = type.kernels[int(DeviceType::cpu)];
  if (!any_storage_only(in) && !any_storage_only(out)) return kernel(op, in, out);
  Meta metas[kMaxOutputs];
  for (size_t i = 0; i < out.size(); i++) metas[i].dtype = out[i].dtype();
  run_carried(type, kernel, op, in, out, metas);
}

void run_carried(const OpType& type, Kernel kernel, const void* op, Inputs in, Outputs out, const Meta* metas) {
  auto [how, stored] = how_to_carry(type, in, out, metas);
  const DType result = metas[0].dtype;
  if (how == How::direct) return kernel(op, in, out);
  if (how == How::bytes && !only_moves(stored, in, metas)) how = How::wide;

  Carried carried(how, result, stored == DType::complex32 && how != How::bytes);
  Tensors inputs, results;
  for (const Tensor& x : in) inputs.push_back(carried.of(x, true));
  for (const Tensor& x : out) results.push_back(carried.of(x, false));
  kernel(op, inputs, results);
  for (size_t i = 0; i < out.size(); i++) carried.back(out[i], results[i], metas[i].dtype);
}

}  // namespace weir
