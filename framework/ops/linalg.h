// What the families of linear algebra share: checks, shapes, transposes and diagonals of batches of matrices, (*, m, n).
//
// The families: linalg_lu (systems, inverses, determinants), linalg_cholesky (and triangles), linalg_qr (and least squares),
// linalg_spectrum (eigenvalues, singular values, pseudo-inverses), linalg_product (powers and exponentials).
#pragma once
#include "framework/op/call.h"
#include "framework/ops/functional.h"

namespace weir {

/// A matrix has no such decomposition: it is singular, not positive-definite, or an iteration did not converge.
struct LinAlgError : Error { using Error::Error; };

/// What ops over matrices have in common. Gradients write their conjugates themselves. The result may take an input's memory where it fits into it:
/// programs solve in place by `out=B`.
struct LinalgOp : Op {
  static constexpr Module module = Module::linalg;
  static constexpr Autocast autocast = Autocast::float32;
  static constexpr GradientRule gradient{.holomorphic = false};
  static constexpr Layouts layouts = Layouts::apart;
  static constexpr OutRule out{Out::same};
  static constexpr NewShape new_shape = NewShape::as_made;
};

/// What is said of a matrix without elements: PyTorch looks at its dtype in some functions only, and at half precision in fewer.
enum class Nothing : uint8_t { checked, of_half, of_any_dtype };
/// RuntimeError unless `t` holds matrices of float32, float64 or complex numbers, or has no elements and `nothing` allows its dtype; `op` as in "linalg.inv".
void check_matrices(const char* op, const Tensor& t, const char* name = "A", Nothing nothing = Nothing::checked);
void check_square(const char* op, const Tensor& t, const char* name = "A", Nothing nothing = Nothing::checked);

Dims batch_of(const Tensor& t);
Dims with_matrix(Dims batch, int64_t rows, int64_t cols);
/// Strides of matrices whose columns are dense, as LAPACK has them.
Dims column_strides(const Dims& sizes);
Meta column_meta(const Dims& sizes, const Tensor& like);
Meta column_meta(const Dims& sizes, DType t, const Tensor& like);
/// A copy of `t` whose columns are dense.
Tensor column_major(const Tensor& t);

Tensor mT(const Tensor& t);
/// The conjugate transpose, a view.
Tensor mH(const Tensor& t);
Tensor diagonal_of(const Tensor& t);
/// Square matrices with `values` on the diagonal and zeros elsewhere.
Tensor diag_of(const Tensor& values);
/// `t` with `values` on the diagonal.
Tensor with_diagonal(const Tensor& t, const Tensor& values);
Tensor eye_of(int64_t rows, int64_t cols, DType dtype, Device device);
Tensor row(const Tensor& t);     // (*, n) -> (*, 1, n)
Tensor column(const Tensor& t);  // (*, n) -> (*, n, 1)
Tensor up_to(const Tensor& t, int64_t dim, int64_t end);
Tensor from(const Tensor& t, int64_t dim, int64_t start);
/// Both with the batch that theirs broadcast to.
std::pair<Tensor, Tensor> same_batch(const char* op, const Tensor& a, const Tensor& b);
/// `t`, which has a number or vector per matrix of a broadcast batch, for the batch `given` that was broadcast.
Tensor own_batch(Tensor t, const Dims& given, int batch_axes);
/// Is any element of a mask on the CPU true?
bool any_true(const Tensor& mask);
/// `grad`, or zeros like `value` where there is none.
Tensor or_zeros(const Tensor& grad, const Tensor& value);

}  // namespace weir
