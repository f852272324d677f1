"""The search: led by what is new in the oracle's answers, silent where nothing is wrong."""

import random

from weir_autotest.campaign.lane import Lane
from weir_autotest.campaign.tasks import Settings
from weir_autotest.campaign.search import Search, mutated
from weir_autotest.generate.author import Author
from weir_autotest.generate.choices import Choices
from weir_autotest.generate.novelty import signature, template


def test_a_template_has_no_numbers_shapes_or_names():
    one = template("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)\nmore")
    assert one == template("mat1 and mat2 shapes cannot be multiplied (12x1 and 40x5)")
    assert template("dim 3 of [2, 3] in 'self'") == template("dim -1 of [] in 'other'")
    assert template("a must be 2-D") != template("b must be 2-D")


def test_cases_that_show_the_same_have_one_signature():
    author = Author()
    items, shown = author.explore("mm", "float32", [(seed, ()) for seed in range(40)])
    assert len(shown) == 40 and len(items) <= 40
    assert 2 <= len({what for what, _ in shown}) < 20
    (again, choices), = author.explore("mm", "float32", [(0, shown[0][1])])[1]
    assert again == shown[0][0] and choices[:len(shown[0][1])] == shown[0][1]


def test_mutated_choices_still_replay():
    rng = random.Random(0)
    for _ in range(200):
        made = mutated((3, 1, 4, 1, 5), (2, 7, 1), rng)
        choices = Choices(replay=made)
        assert all(0 <= choices.below(5) < 5 for _ in range(12))


def test_pytorch_agrees_with_itself_in_a_search():
    settings = Settings("torch", ("float32",), ("add", "cat", "nn.Linear", "optim.SGD"))
    with Lane(settings) as lane:
        found = Search(lane, settings).run(seconds=60, cases=160)
    assert found.failing == []
    assert found.cases >= 160 and found.count("error") > 5 and found.count("result") > 5


def test_objects_and_programs_have_signatures():
    author = Author()
    for name in ("program", "nn.Linear", "optim.lr_scheduler.StepLR"):
        items, _ = author.explore(name, "float32", [(1, ()), (2, ())])
        assert all(signature(item)[0] in ("error", "result") for item in items)
