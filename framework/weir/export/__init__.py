"""Export of whole graphs, which weir does not do."""
from weir._absent import absent_names as _absent_names

__getattr__ = _absent_names("weir.export", "export Dim ExportedProgram save load register_dataclass unflatten FlatArgsAdapter "
                            "UnflattenedModule ModuleCallEntry ModuleCallSignature InputKind OutputKind Constraint "
                            "ExportGraphSignature ExportBackwardSignature default_decompositions dims draft_export "
                            "export_for_training export_for_inference AdditionalInputs ShapesCollection CustomDecompTable",
                            "weir exports no graphs yet")
