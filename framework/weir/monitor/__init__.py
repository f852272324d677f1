"""Counters of a running program, which weir does not keep."""
from weir._absent import absent_names as _absent_names

__getattr__ = _absent_names("weir.monitor", "Aggregation Event Stat data_value_t register_event_handler log_event "
                            "unregister_event_handler EventHandlerHandle TensorboardEventHandler", "weir keeps no counters")
