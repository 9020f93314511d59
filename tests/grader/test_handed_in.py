"""What is handed in: a file, a folder, or a zip of it, and what of these is refused, and how."""

import io
import os
import stat
import zipfile

import pytest

from classroom.grader.handed_in import MOST_BYTES, MOST_FILES, CannotGrade, files_of, in_folder

MAIN = "backend.py"
FILES = {MAIN: b"import helper\n", "helper.py": b"x = 1\n", "more/deep.py": b"y = 2\n"}


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "07_custom_backend"
    for name, data in FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data)
    return place


def zipped(path, files, **how):
    """A zip with these entries: names with their bytes, or a ZipInfo with them."""
    with zipfile.ZipFile(path, "w", **how) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return path


def refused(path, words):
    with pytest.raises(CannotGrade) as caught:
        files_of(path, MAIN)
    assert words in str(caught.value), caught.value


def test_a_folder_that_cannot_be_read_is_refused_and_one_within_is_named(folder, monkeypatch):
    real, locked = os.scandir, {folder / "more"}

    def scandir(path):
        if path in locked:
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    problems = {entry.path: entry.problem for entry in in_folder(folder)}
    assert problems["more/"] == "more cannot be read: Permission denied" and not problems[MAIN]
    refused(folder, "more cannot be read")
    locked.add(folder)
    with pytest.raises(CannotGrade, match="07_custom_backend cannot be read"):
        list(in_folder(folder))


def test_the_file_that_is_loaded_comes_first_and_the_others_in_order(folder):
    assert list(files_of(folder, MAIN).items()) == list(FILES.items())


@pytest.mark.parametrize("top", ["", "07_custom_backend/", "handed in by Ann/"])
def test_a_zip_of_the_folder_or_of_its_files_is_the_same(folder, tmp_path, top):
    inside = [(top + name, data) for name, data in FILES.items()]
    entries = [*([(top, b"")] if top else []), *inside]
    found = files_of(zipped(tmp_path / "x.zip", entries), MAIN)
    assert list(found.items()) == list(files_of(folder, MAIN).items())


def test_what_tools_leave_behind_is_left_out(folder, tmp_path):
    left = [".DS_Store", "__pycache__/backend.pyc", ".git/config", "__MACOSX/._backend.py"]
    for name in left:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"\0" * 9)
    both = [*FILES.items(), *((name, b"\0" * 9) for name in left)]
    for path in (folder, zipped(tmp_path / "x.zip", both)):
        assert files_of(path, MAIN) == FILES


def test_a_project_that_is_a_file_is_read_as_before(tmp_path):
    (tmp_path / "a.py").write_bytes(b"x = 1\n")
    assert files_of(tmp_path / "a.py") == {"submission.py": b"x = 1\n"}


def test_a_project_that_is_a_file_is_no_link_no_pipe_and_not_huge(tmp_path):
    (tmp_path / "a.py").write_bytes(b"x = 1\n")
    (tmp_path / "link.py").symlink_to(tmp_path / "a.py")
    (tmp_path / "folder").symlink_to(tmp_path)
    (tmp_path / "huge.py").write_text("#" * (2 << 20))
    os.mkfifo(tmp_path / "pipe.py")
    for name, words in (
        ("link.py", "symbolic link"), ("folder/a.py", "symbolic link"), ("huge.py", "at most 1 MB"),
        ("pipe.py", "is not a file"), ("", "is not a file"), ("missing.py", "there is no file"),
    ):  # fmt: skip
        with pytest.raises(CannotGrade, match=words):
            files_of(tmp_path / name)


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, words",
    [
        ("/etc/passwd", "'/etc/passwd' is an absolute path; zip the folder itself"),
        ("\\windows\\x.py", "is an absolute path"),
        ("C:\\x.py", "is an absolute path"),
        ("../x.py", "'../x.py' leads out of the folder"),
        ("a/../../x.py", "leads out of the folder"),
        ("a\\..\\..\\x.py", "leads out of the folder"),
        ("x" * 201, "a path has more than 200 characters"),
        (f"{MAIN}/x.py", f"two files called {MAIN}/x.py"),
    ],
)
def test_a_path_that_leads_elsewhere_is_refused_by_name(tmp_path, name, words):
    refused(zipped(tmp_path / "x.zip", [*FILES.items(), (name, b"")]), words)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_a_link_in_a_zip_is_refused(tmp_path, kind):
    entry = zipfile.ZipInfo("helper.py")
    entry.external_attr = (kind | 0o644) << 16
    path = zipped(tmp_path / "x.zip", [(MAIN, b""), (entry, b"/etc/passwd")])
    refused(path, "'helper.py' is a link, or no file; put the file itself into the zip")


def test_a_link_in_a_folder_is_refused_wherever_it_leads(folder, tmp_path):
    (folder / "more" / "away.py").symlink_to(tmp_path)
    refused(folder, "away.py is a symbolic link; give the folder that it leads to")
    (folder / "more" / "away.py").unlink()
    os.mkfifo(folder / "waits")
    refused(folder, "waits is not a file")


def test_a_folder_that_is_a_link_is_refused(folder, tmp_path):
    (tmp_path / "link").symlink_to(folder)
    refused(tmp_path / "link", "link is a symbolic link")


def test_a_bomb_is_not_unpacked(tmp_path):
    path = zipped(tmp_path / "x.zip", [(MAIN, b""), ("big", b"\0" * (64 << 20))],
                  compression=zipfile.ZIP_DEFLATED)  # fmt: skip
    assert path.stat().st_size < 1 << 20
    refused(path, "'big' has more than 1 MB")
    many = [(f"{n}.py", b"\0" * (MOST_BYTES // 2)) for n in range(3)]
    refused(zipped(tmp_path / "y.zip", [(MAIN, b""), *many], compression=zipfile.ZIP_DEFLATED),
            "have more than 1 MB together")  # fmt: skip


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_way_of_packing_that_cannot_be_stopped_midway_is_refused(tmp_path, method):
    """Python unpacks these as a whole, however little it is asked for."""
    path = zipped(tmp_path / "x.zip", FILES.items(), compression=method)
    refused(path, "'backend.py' is packed in an unusual way; make a plain zip")


def test_names_in_utf_8_are_read_though_the_zip_does_not_say_so(folder, tmp_path):
    """As the Finder of macOS and the libraries behind some web sites write them."""
    path = zipped(tmp_path / "x.zip", [(MAIN, b""), ("ศิริ.py", b"")])
    data = path.read_bytes()
    for sign, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):  # where the flags of an entry are
        start = data.rindex(sign) + at
        data = data[:start] + b"\0\0" + data[start + 2 :]
    path.write_bytes(data)
    assert zipfile.ZipFile(path).namelist()[1] != "ศิริ.py"
    assert list(files_of(path, MAIN)) == [MAIN, "ศิริ.py"]


def test_a_zip_with_the_folder_signs_of_windows_has_folders(tmp_path):
    assert list(files_of(zipped(tmp_path / "x.zip", [(f"a\\{MAIN}", b"")]), MAIN)) == [MAIN]


def test_a_zip_that_lies_about_its_sizes_is_read_no_further_than_it_may(tmp_path):
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MAIN, b"\0" * (8 << 20))
    data = whole.getvalue().replace((8 << 20).to_bytes(4, "little"), (9).to_bytes(4, "little"))
    (tmp_path / "x.zip").write_bytes(data)
    with pytest.raises(CannotGrade):
        files_of(tmp_path / "x.zip", MAIN)


def test_many_files_are_refused(folder, tmp_path):
    many = [(f"{n}.py", b"") for n in range(MOST_FILES)]
    words = f"has more than {MOST_FILES} files"
    refused(zipped(tmp_path / "x.zip", [*FILES.items(), *many]), words)
    for name, data in many:
        (folder / name).write_bytes(data)
    refused(folder, words)


@pytest.mark.parametrize("data", [b"PK\3\4", b"PK\3\4" + b"\xff" * 999, b"PK\5\6" + b"\xff" * 18])
def test_what_is_no_zip_is_refused(tmp_path, data):
    (tmp_path / "x.zip").write_bytes(data)
    refused(tmp_path / "x.zip", "cannot be unpacked")


def test_a_zip_that_is_spoiled_or_locked_is_refused(tmp_path):
    path = zipped(tmp_path / "x.zip", FILES.items())
    data = path.read_bytes()
    path.write_bytes(data.replace(b"import helper", b"import spoilt"))
    refused(path, "cannot be unpacked")
    at = data.index(b"PK\1\2") + 8
    path.write_bytes(data[:at] + b"\1" + data[at + 1 :])
    refused(path, "cannot be unpacked")


def test_two_files_of_one_name_are_refused(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate"):
        path = zipped(tmp_path / "x.zip", [(MAIN, b"1"), (MAIN, b"2")])
    refused(path, "has two files called backend.py")


def test_one_of_its_files_or_a_folder_without_it_is_told_what_is_missing(folder, tmp_path):
    refused(folder / MAIN, "is not a folder; this project is one: name the folder, or a zip of it")
    (folder / MAIN).unlink()
    refused(folder, "there is no backend.py in ")
    refused(zipped(tmp_path / "x.zip", [("helper.py", b"")]), "there is no backend.py in ")
    refused(tmp_path / "nowhere", "there is no file ")
