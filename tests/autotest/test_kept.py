"""What is kept of PyTorch's databases: asked once, the same in every process, and no loss where nothing can be written."""

import pytest
import torch
from weir_autotest.generate import databases, kept, samples
from weir_autotest.generate.author import Author


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kept._folder.cache_clear()
    yield tmp_path
    kept._folder.cache_clear()


def counted(answers: list):
    @kept.kept
    def asked(name: str, dtype: str):
        answers.append((name, dtype))
        return [name, torch.float32]

    return asked


def test_an_answer_is_asked_for_once(folder):
    answers: list = []
    first, second = counted(answers), counted(answers)
    assert first("add", "float32") == second("add", "float32") == ["add", torch.float32]
    assert first("add", "int64") and answers == [("add", "float32"), ("add", "int64")]
    assert not [path for path in folder.rglob("*") if path.is_file() and path.suffix.strip(".").isdigit()]


def test_nothing_is_lost_where_nothing_can_be_written(folder, monkeypatch):
    (folder / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "file"))
    kept._folder.cache_clear()
    answers: list = []
    assert counted(answers)("add", "float32") == ["add", torch.float32] and not kept.mostly()


def test_what_a_database_has_is_told_without_it(folder, monkeypatch):
    """So a name that is in none is refused at once."""
    found = databases.keys("float32")
    monkeypatch.setattr(databases, "_operations", None)
    assert databases.keys("float32") == found and {key.database for key in found} == {"op", "module", "optimizer"}


def test_cases_are_the_same_with_and_without_kept_samples(folder):
    made = []
    for _ in range(2):
        samples._by_overload.cache_clear()
        made.append([str(item.case) for item in Author().batch("baddbmm", "float32", list(range(20))).items])
    assert made[0] == made[1] and list(folder.rglob("by_overload.baddbmm.float32"))
