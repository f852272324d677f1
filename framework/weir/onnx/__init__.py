"""ONNX export, which weir does not do."""
from weir._absent import absent_names as _absent_names
from weir._lazy import lazy_attributes as _lazy

__getattr__ = _absent_names("weir.onnx", "export ExportOptions ONNXProgram is_in_onnx_export dynamo_export OperatorExportTypes "
                            "TrainingMode TensorProtoDataType JitScalarType register_custom_op_symbolic "
                            "unregister_custom_op_symbolic select_model_mode_for_export symbolic_opset9 symbolic_opset10 symbolic_opset11 errors "
                            "OnnxExporterError enable_fake_mode InputObserver ExportableModule ops", "weir exports no ONNX", _lazy("weir.onnx", {"symbolic_helper": ""}))


def is_in_onnx_export():
    """Does an export run? Never."""
    return False


def register_custom_op_symbolic(symbolic_name, symbolic_fn, opset_version, custom_opsets=None):
    """Kept for no one: an export that would use it raises."""
