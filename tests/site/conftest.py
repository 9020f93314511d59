"""The site, made once for all tests of a file."""

import pytest

from classroom.site.command import ROOT, build


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "made"
    assert build(ROOT, folder) >= 30
    return folder
