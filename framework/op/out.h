// Which tensors may be written into. Source: PyTorch's MemoryOverlap.h and TensorIterator.
#pragma once
#include "framework/op/call.h"

namespace weir {

/// How the memory of two tensors meets. `unknown`: one of them has holes, and nobody looked closer.
enum class Overlap : uint8_t { none, full, partial, unknown };
Overlap overlap(const Tensor& a, const Tensor& b);

/// Is every element of the result computed from the elements at its own place?
inline bool elementwise(const OpType& type) { return type.notation.kind == Notation::pointwise; }

/// Does an axis of `written` repeat one element?
bool repeats(const Tensor& written);
/// Raises when it does.
void check_no_repeats(const Tensor& written);
/// Raises where memory that is read is known to lie in that of `written`.
void check_apart(const Tensor& written, Inputs read);
/// Raises where it is known to be another part of that memory than `written`: what is written is then read again.
void check_not_shifted(const Tensor& written, Inputs read);
/// Raises unless `out` may take a result of `result`'s dtype and shape: its dtype fits `rule`, no element stands in it
/// twice, and it meets the inputs' memory only as `rule` allows.
void check_out(std::string_view op, Out rule, bool elementwise, const Tensor& out, const Meta& result, Inputs in);
inline void check_out(const OpType& type, const Tensor& out, const Meta& result, Inputs in) {
  check_out(std::string(type.signature->name).c_str(), type.out.takes, elementwise(type), out, result, in);
}
/// Raises when out= would have to be recorded: `result`, computed from the inputs, has a history, or `out` asks for one.
void check_out_history(std::string_view op, const Tensor& out, const Tensor& result);
/// Writes `value` into `out` as out= of `rule` does: casts, resizes where shapes differ, keeps its storage. A new shape takes the
/// strides of a dense `value` too.
void write_out(std::string_view op, const Tensor& out, const Tensor& value, Out rule = Out::cast);

/// Runs an op that returns a list and writes its results into `out`, without a history. RuntimeError unless there are as many. With Out::apart
/// they are copied as by copy_, otherwise written as any out=. Source: PyTorch's copies of lists of views.
void call_list_into(const OpType& type, const void* op, Inputs in, const Tensors& out);
/// Does an op that returns a list take out=? Only where it says what that may be.
inline bool takes_list_out(const OpType& type) { return type.out.takes != Out::cast && type.out.takes != Out::none; }

/// Says that an out= of these sizes is given others, where it had elements.
void warn_of_resize(const Dims& had, const Dims& sizes);
/// Gives an out= the shape of its result; says so where it had elements.
void resize_out(const Tensor& out, const Dims& sizes);
/// Gives an out= of another shape that of `result`, and its strides, before it is computed: for take_out of an op whose out= is laid out otherwise
/// than what it makes without. Leaves one that cannot hold the result to be refused.
void shape_out(const Tensor& out, const Meta& result);

}  // namespace weir
