"""ONNX export, which weir does not do."""
from weir._absent import absent_names as _absent_names

__getattr__ = _absent_names("weir.onnx", "export ExportOptions ONNXProgram is_in_onnx_export dynamo_export OperatorExportTypes "
                            "TrainingMode TensorProtoDataType JitScalarType register_custom_op_symbolic "
                            "unregister_custom_op_symbolic select_model_mode_for_export symbolic_helper symbolic_opset9 errors "
                            "OnnxExporterError enable_fake_mode InputObserver ops", "weir exports no ONNX")


def is_in_onnx_export():
    """Does an export run? Never."""
    return False
