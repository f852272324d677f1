"""`torch._C._jit_tree_views`: names of TorchScript's syntax."""
from weir._absent import absent_names

__getattr__ = absent_names("weir._C._jit_tree_views", "Apply Assert Assign Attribute AugAssign BinOp Break ClassDef Const Continue Decl Def Delete "
                           "DictComp DictLiteral Dots EmptyTypeAnnotation Expr ExprStmt FalseLiteral For Ident If ListComp ListLiteral "
                           "NoneLiteral Param Pass Property Raise Return Select SliceExpr SourceRange SourceRangeFactory Starred Stmt "
                           "StringLiteral Subscript TernaryIf TreeView TrueLiteral TupleLiteral UnaryOp Var While With WithItem",
                           "weir has no TorchScript")
