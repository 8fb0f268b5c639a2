"""Opening a notebook in Lab runs its cells and never costs anybody an edit."""

import asyncio
import json
from pathlib import Path
from queue import Empty

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel
from nbformat.v4 import new_code_cell, new_notebook, new_output

from permtest import _jupyter
from permtest._jupyter import _get_msg_in_slices
from permtest.cli import lab


def notebook_file(folder: Path, *sources: str) -> Path:
    path = folder / "a.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(source) for source in sources]), path)
    return path


def change(path: Path, **fields: object) -> None:
    notebook = json.loads(path.read_bytes())
    notebook["cells"][0].update(fields)
    path.write_text(json.dumps(notebook), encoding="utf-8")


def test_outputs_alone_are_put_back(tmp_path):
    path = notebook_file(tmp_path, "1 + 1")
    original = path.read_bytes()
    change(path, outputs=[new_output("stream", text="2")], execution_count=7)
    lab.put_back(path, original)
    assert path.read_bytes() == original


@pytest.mark.parametrize("fields", [{"source": "mine"}, {"metadata": {"tags": ["mine"]}}])
def test_an_edited_notebook_stays_as_it_was_saved(tmp_path, fields):
    path = notebook_file(tmp_path, "1 + 1")
    original = path.read_bytes()
    change(path, outputs=[new_output("stream", text="2")], **fields)
    saved = path.read_bytes()
    lab.put_back(path, original)
    assert path.read_bytes() == saved


def test_a_deleted_notebook_stays_deleted(tmp_path):
    path = notebook_file(tmp_path, "1 + 1")
    original = path.read_bytes()
    path.unlink()
    lab.put_back(path, original)
    assert not path.exists()


def test_outputs_are_not_written_over_somebody_s_changes(tmp_path, capsys):
    path = notebook_file(tmp_path, "1 + 1")
    original = path.read_bytes()
    change(path, source="mine")
    lab.save_outputs(path, nbformat.reads(original.decode(), as_version=4), original)
    assert "mine" in path.read_text(encoding="utf-8")
    assert "outputs not written" in capsys.readouterr().out


def test_cells_are_run_in_the_given_kernel_and_errors_are_told():
    notebook = new_notebook(
        cells=[new_code_cell("x = 20"), new_code_cell("1 / 0"), new_code_cell("x + 1")]
    )
    manager, client = start_new_kernel()
    try:
        asyncio.run(lab.run_cells(notebook, Path(manager.connection_file)))
    finally:
        client.stop_channels()
        manager.shutdown_kernel()
    assert notebook.cells[2].outputs[0].data["text/plain"] == "21"
    assert lab.failures(notebook) == ["cell 2 raised ZeroDivisionError: division by zero"]


class Channel:
    """A socket that stays silent for the first polls, says how it was polled, and is the clock."""

    def __init__(self, silent: int) -> None:
        self.silent, self.now = silent, 0.0
        self.polls: list[int] = []
        self.socket = self

    async def poll(self, milliseconds: int) -> bool:
        self.polls.append(milliseconds)
        self.now += milliseconds / 1000
        return len(self.polls) > self.silent

    def monotonic(self) -> float:
        return self.now

    async def _recv(self) -> dict[str, str]:
        return {"said": "something"}


def test_a_missed_wake_up_costs_one_slice():
    channel = Channel(silent=1)
    assert asyncio.run(_get_msg_in_slices(channel)) == {"said": "something"}
    assert channel.polls == [250, 250]


def test_a_timeout_is_kept(monkeypatch):
    channel = Channel(silent=9)
    monkeypatch.setattr(_jupyter, "time", channel)
    with pytest.raises(Empty):
        asyncio.run(_get_msg_in_slices(channel, timeout=0.375))
    assert channel.polls == [250, 125]
