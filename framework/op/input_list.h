// InputList: the inputs of one call, without a heap allocation for the few that most calls have.
#pragma once
#include <vector>

#include "framework/core/tensor.h"

namespace weir {

class InputList {
 public:
  InputList() = default;
  InputList(const InputList&) = delete;

  void push_back(const Tensor& t) { next() = t; }
  void push_back(Tensor&& t) { next() = std::move(t); }
  void emplace_back() { next(); }

  size_t size() const { return n_; }
  bool empty() const { return n_ == 0; }
  const Tensor& operator[](size_t i) const { return data()[i]; }
  const Tensor* begin() const { return data(); }
  const Tensor* end() const { return data() + n_; }
  operator Inputs() const { return {data(), n_}; }
  std::span<Tensor> all() { return {more_.empty() ? few_ : more_.data(), n_}; }

 private:
  static constexpr size_t kInline = 4;
  const Tensor* data() const { return more_.empty() ? few_ : more_.data(); }
  Tensor& next() {
    if (n_++ < kInline) return few_[n_ - 1];
    if (more_.empty()) more_.assign(few_, few_ + kInline);
    return more_.emplace_back();
  }

  Tensor few_[kInline];
  std::vector<Tensor> more_;  // all of them, once they are more than fit
  size_t n_ = 0;
};

}  // namespace weir
