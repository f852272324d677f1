// Orthogonal polynomials by their three-term recurrences. Source of each: the page of its name under torch.special.
#pragma once
#include "framework/ops/pointwise.h"

namespace weir {

// PyTorch has no derivatives of these.
template <class Derived> struct OrthogonalPolynomial : Pointwise<Derived, Rule::wide> {
  static constexpr Module module = Module::special;
  static constexpr GradientRule gradient{.exists = false};
};

struct ChebyshevT : OrthogonalPolynomial<ChebyshevT> {
  static constexpr Signature signature = "chebyshev_polynomial_t(input: Tensor | Number, n: Tensor | Number) -> Tensor";
  static constexpr auto doc = "Chebyshev polynomial of the first kind and degree n.";
};
struct ChebyshevU : OrthogonalPolynomial<ChebyshevU> {
  static constexpr Signature signature = "chebyshev_polynomial_u(input: Tensor | Number, n: Tensor | Number) -> Tensor";
  static constexpr auto doc = "Chebyshev polynomial of the second kind and degree n.";
};
struct ChebyshevV : OrthogonalPolynomial<ChebyshevV> {
  static constexpr Signature signature = "chebyshev_polynomial_v(input: Tensor | Number, n: Tensor | Number) -> Tensor";
  static constexpr auto doc = "Chebyshev polynomial of the third kind and degree n.";
};
struct ChebyshevW : OrthogonalPolynomial<ChebyshevW> {
  static constexpr Signature signature = "chebyshev_polynomial_w(input: Tensor | Number, n: Tensor | Number) -> Tensor";
  static constexpr auto doc = "Chebyshev polynomial of the fourth kind and degree n.";
};
struct ShiftedChebyshevT : OrthogonalPolynomial<ShiftedChebyshevT> {
  static constexpr Signature signature = "shifted_chebyshev_polynomial_t(input: Tensor | Number, n: Tensor | Number) -> Tensor";
  static constexpr auto doc = "chebyshev_polynomial_t of 2 input - 1.";
};
struct ShiftedChebyshevU : OrthogonalPolynomial<ShiftedChebyshevU> {
  static constexpr Signature signature = "shifted_chebyshev_polynomial_u(input: Tensor | Number, n: Tensor | Number) -> Tensor";
  static constexpr auto doc = "chebyshev_polynomial_u of 2 input - 1.";
};
struct ShiftedChebyshevV : OrthogonalPolynomial<ShiftedChebyshevV> {
  static constexpr Signature signature = "shifted_chebyshev_polynomial_v(input: Tensor | Number, n: Tensor | Number) -> Tensor";
  static constexpr auto doc = "chebyshev_polynomial_v of 2 input - 1.";
};
struct ShiftedChebyshevW : OrthogonalPolynomial<ShiftedChebyshevW> {
  static constexpr Signature signature = "shifted_chebyshev_polynomial_w(input: Tensor | Number, n: Tensor | Number) -> Tensor";
  static constexpr auto doc = "chebyshev_polynomial_w of 2 input - 1.";
};
struct HermiteH : OrthogonalPolynomial<HermiteH> {
  static constexpr Signature signature = "hermite_polynomial_h(input: Tensor | Number, n: Tensor | Number) -> Tensor";
  static constexpr auto doc = "Physicists' Hermite polynomial of degree n.";
};
struct HermiteHe : OrthogonalPolynomial<HermiteHe> {
  static constexpr Signature signature = "hermite_polynomial_he(input: Tensor | Number, n: Tensor | Number) -> Tensor";
  static constexpr auto doc = "Probabilists' Hermite polynomial of degree n.";
};
struct LaguerreL : OrthogonalPolynomial<LaguerreL> {
  static constexpr Signature signature = "laguerre_polynomial_l(input: Tensor | Number, n: Tensor | Number) -> Tensor";
  static constexpr auto doc = "Laguerre polynomial of degree n.";
};
struct LegendreP : OrthogonalPolynomial<LegendreP> {
  static constexpr Signature signature = "legendre_polynomial_p(input: Tensor | Number, n: Tensor | Number) -> Tensor";
  static constexpr auto doc = "Legendre polynomial of degree n.";
};

using RecurrenceOps = OpList<ChebyshevT, ChebyshevU, ChebyshevV, ChebyshevW, ShiftedChebyshevT, ShiftedChebyshevU, ShiftedChebyshevV, ShiftedChebyshevW,
                             HermiteH, HermiteHe, LaguerreL, LegendreP>;

}  // namespace weir
