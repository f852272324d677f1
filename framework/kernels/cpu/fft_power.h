// Fourier transforms of 2^k numbers, where ducc0 gathers lines that all meet in the same sets of the cache.
#pragma once
#include <complex>
#include <cstdint>

namespace weir {
namespace WEIR_ISA {

/// Whether dense lines of n complex numbers, or of 2 n real ones, are transformed here: of a register and more in each quarter.
template <class R> bool is_power_line(int64_t n);
/// The same for columns of n complex numbers, side by side.
bool is_power_column(int64_t n);

/// One dense line of n complex numbers into another, which may be the same.
template <class R> void fft_line(const std::complex<R>* x, std::complex<R>* y, int64_t n, bool forward, R scale);
/// `count` dense columns of n complex numbers; rows are `from` and `to` numbers apart.
template <class R>
void fft_columns(const std::complex<R>* x, int64_t from, std::complex<R>* y, int64_t to, int64_t n, int64_t count, bool forward, R scale);
/// Whether `lines` lines of n complex numbers, or of 2 n real ones, are transformed several at once, each in a lane of the registers: of which some may
/// be left idle where a line does not fill them by itself.
template <class R> bool are_short_power_lines(int64_t n, int64_t lines);
/// `count` lines, whose numbers lie `step` apart, into dense ones, which may be the same.
template <class R> void fft_lines(const std::complex<R>* const* x, int64_t step, std::complex<R>* const* y, int64_t count, int64_t n, bool forward, R scale);
/// n real numbers each into the first n / 2 + 1 complex ones of the transform, or into all of it.
template <class R> void rfft_lines(const R* const* x, int64_t step, std::complex<R>* const* y, int64_t count, int64_t n, bool whole, bool forward, R scale);
/// The first n / 2 + 1 numbers of Hermitian lines into n real ones, backwards.
template <class R> void irfft_lines(const std::complex<R>* const* x, int64_t step, R* const* y, int64_t count, int64_t n, R scale);
/// n real numbers into the first n / 2 + 1 complex ones of their transform.
template <class R> void rfft_line(const R* x, std::complex<R>* y, int64_t n, R scale);
/// The first n / 2 + 1 numbers of a Hermitian line into n real ones, backwards.
template <class R> void irfft_line(const std::complex<R>* x, R* y, int64_t n, R scale);

}  // namespace WEIR_ISA
}  // namespace weir
