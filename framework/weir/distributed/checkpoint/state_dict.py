"""State of sharded models: names only."""
from weir.distributed._named import names

__getattr__ = names("weir.distributed.checkpoint.state_dict", """get_model_state_dict get_optimizer_state_dict get_state_dict set_model_state_dict set_optimizer_state_dict set_state_dict StateDictOptions""")
