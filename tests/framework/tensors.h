// Small tensors in and numbers out, and errors by their text: what most C++ tests need.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "framework/autograd/variable.h"
#include "framework/core/storage_types.h"
#include "framework/op/copy.h"

namespace weir::test {

using Numbers = std::vector<double>;

/// A row-major tensor of these numbers.
inline Tensor tensor(const Dims& sizes, const Numbers& numbers, DType dtype = DType::float32) {
  Tensor t = empty(sizes, dtype);
  visit_any_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (size_t i = 0; i < numbers.size(); i++) t.data<T>()[i] = T(numbers[i]);
  });
  return t;
}
inline Tensor tensor(const Numbers& numbers, DType dtype = DType::float32) {
  return tensor(Dims{int64_t(numbers.size())}, numbers, dtype);
}
/// As tensor, and a leaf that takes part in autograd.
inline Tensor leaf(const Numbers& numbers) {
  Tensor t = tensor(numbers);
  set_requires_grad(t, true);
  return t;
}

/// The elements in row-major order, whatever the strides.
inline Numbers numbers(const Tensor& t) {
  GradMode off(false);
  Tensor flat = empty(t.sizes(), DType::float64);
  copy_into(flat, t);
  return {flat.data<double>(), flat.data<double>() + flat.numel()};
}

/// Expects `f` to throw exactly `E`, with `text` in its message.
template <class E, class F> void expect_error(F&& f, const std::string& text) {
  try {
    f();
    ADD_FAILURE() << "no error; expected one with: " << text;
  } catch (const Error& e) {
    EXPECT_EQ(typeid(e), typeid(E)) << e.what();
    EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what() << "\nshould hold: " << text;
  }
}

}  // namespace weir::test
