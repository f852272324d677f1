"""Saving replaces a file as a whole: a killed process, a full disk and an error half-way leave the old one."""

import os
import signal
import subprocess
import sys
import time

import pytest
import weir

SAVE_FOR_EVER = """
import sys, weir
step = 0
while True:
    step += 1
    weir.save({"step": step, "weights": weir.full((200000,), float(step))}, sys.argv[1])
    print(step, flush=True)
"""


def step_of(path):
    """Which save the file is of. Each fills the weights with its number."""
    weights = weir.load(path)["weights"]
    assert (weights == weights[0]).all()
    return int(weights[0])


@pytest.mark.parametrize("name", ["state.pt", "state.safetensors"])
def test_a_killed_process_loses_nothing(tmp_path, name):
    """Four kills, or as many as WEIR_KILLS says, each at another moment of saving."""
    path = tmp_path / name
    code = SAVE_FOR_EVER if name.endswith(".pt") else SAVE_FOR_EVER.replace('"step": step, ', "")
    for attempt in range(int(os.environ.get("WEIR_KILLS", "4"))):
        child = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
        child.stdout.readline()  # one file is there
        time.sleep(0.02 + 0.0131 * (attempt % 16))
        child.send_signal(signal.SIGKILL)
        child.wait()
        ended = [line for line in child.stdout.read().splitlines(keepends=True) if line.endswith("\n")]  # saves that returned
        child.stdout.close()
        assert step_of(path) >= int(ended[-1] if ended else 1)


@pytest.mark.parametrize("name", ["state.pt", "state.safetensors"])
def test_a_full_disk_loses_nothing(tmp_path, name):
    """A limit on the size of files stands for the disk: the write fails half-way, as on a full one."""
    path = tmp_path / name
    weir.save({"weights": weir.ones(1000)}, path)
    done = subprocess.run([sys.executable, "-c", f"""
import resource, signal, weir
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
try:
    weir.save({{"weights": weir.zeros(1000000)}}, {str(path)!r})
except OSError as error:
    print("raised", error.errno)
"""], capture_output=True, text=True)
    assert done.stdout.startswith("raised"), done.stderr
    assert weir.load(path)["weights"].sum() == 1000
    assert os.listdir(tmp_path) == [name]  # and nothing is left beside it


def test_an_error_while_saving_keeps_the_old_file(tmp_path):
    path = tmp_path / "state.pt"
    weir.save([1, 2], path)
    with pytest.raises(Exception):
        weir.save([lambda: None], path)
    assert weir.load(path) == [1, 2] and os.listdir(tmp_path) == ["state.pt"]


def test_links_modes_and_pipes_stay_what_they_are(tmp_path):
    real, link = tmp_path / "real.pt", tmp_path / "link.pt"
    weir.save([1], real)
    real.chmod(0o640)
    link.symlink_to(real)
    weir.save([2], link)
    assert link.is_symlink() and weir.load(real) == [2] and real.stat().st_mode & 0o777 == 0o640
    weir.save([3], os.devnull)
    assert not os.path.isfile(os.devnull)
