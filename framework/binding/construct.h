// The one way from Python data to a new tensor: numbers, nested sequences, NumPy arrays, tensors.
#pragma once
#include "framework/binding/convert.h"

namespace weir {

/// A new tensor with a copy of `data`. Without `dtype` it is inferred as PyTorch does: floats take the default dtype, NumPy
/// numbers and tensors keep theirs. RuntimeError where a number does not fit the dtype, ValueError for ragged sequences and
/// integers beyond 64 bits, TypeError for what is no number. A storage is no data to copy: the tensor is over its memory.
/// Source: https://pytorch.org/docs/stable/generated/torch.tensor.html
Tensor construct(PyObject* data, std::optional<DType> dtype);

/// Whether `o` is an np.ndarray, or a NumPy number. NumPy is never imported for the answer.
bool is_numpy_array(PyObject* o);
bool is_numpy_scalar(PyObject* o);

/// A tensor over foreign memory; `release(context)` is called when the last of them goes. Over a copy, with the release called at once,
/// where elements of `t` may not stand at `start`.
Tensor over_foreign(void* start, size_t bytes, DType t, const Dims& sizes, const Dims& strides, void (*release)(void*), void* context);
/// Warns where `t` was to be over foreign memory, and is not.
void warn_of_copy(const Tensor& t);
/// `array` as a tensor over the same memory, as `over_foreign` has it. TypeError for element types weir lacks, ValueError for strides it cannot have.
Tensor from_numpy(pybind11::handle array);
/// An object with `__dlpack__` as a tensor over its memory. RuntimeError for memory of another device.
Tensor from_exporter(pybind11::handle o);
/// Others have the address of `t`'s memory from now on, so it cannot grow: `grow` in core/storage.cpp refuses.
void keep_in_place(const Tensor& t);

/// The legacy constructor `Tensor(...)`, `FloatTensor(...)`, `t.new(...)`: sizes give an uninitialised tensor, a sequence or
/// array gives its numbers in `dtype`, a tensor or a storage of that dtype an alias. Source: https://pytorch.org/docs/stable/tensors.html
Tensor construct_legacy(PyObject* args, PyObject* kwargs, DType dtype, bool any_dtype);

/// A new tensor as a factory hands it out: with requires_grad=, and marked inside inference mode.
Tensor finish_new(Tensor t, bool requires_grad);
constexpr const char* kNoPinnedMemory =
    "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is available on this system.";
/// device= of a factory: None stands for the CPU.
Device device_argument(pybind11::handle o);

void init_construct(pybind11::module_& m);

}  // namespace weir
