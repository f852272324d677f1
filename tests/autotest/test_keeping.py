"""Plans of copies, pickles, files and state dicts: faults that must show."""

import copy

import torch
from planned import shows


def test_a_copy_that_shares_its_memory_shows(monkeypatch):
    assert shows("keeping.copies", monkeypatch, torch.Tensor, "__deepcopy__", lambda self, memo: copy.copy(self))


def test_a_file_that_forgets_views_shows(monkeypatch):
    save = torch.save
    assert shows("keeping.copies", monkeypatch, torch, "save", lambda thing, file, **rest: save(
        [t.clone() if isinstance(t, torch.Tensor) else t for t in thing] if isinstance(thing, list) else thing, file, **rest))


def test_a_state_dict_that_keeps_too_much_shows(monkeypatch):
    register = torch.nn.Module.register_buffer
    assert shows("keeping.states", monkeypatch, torch.nn.Module, "register_buffer", lambda self, name, tensor, persistent=True: register(self, name, tensor))


def test_a_load_that_copies_what_should_be_assigned_shows(monkeypatch):
    load = torch.nn.Module.load_state_dict
    assert shows("keeping.states", monkeypatch, torch.nn.Module, "load_state_dict", lambda self, state, strict=True, assign=False: load(self, state, strict))
