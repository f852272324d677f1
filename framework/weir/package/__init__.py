"""Packages of code and weights, which weir does not write."""
from weir._absent import absent_names as _absent_names

__getattr__ = _absent_names("weir.package", "PackageExporter PackageImporter PackagingError EmptyMatchError is_from_package "
                            "Importer sys_importer Directory", "weir writes no packages of code")
