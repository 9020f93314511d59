"""What a class hands in: whichever way it is laid out, each student's own file is found, and what
is wrong with one student's is said about that student alone."""

import io
import os
import re
import stat
import subprocess
import sys
import unicodedata
import zipfile
from collections import defaultdict
from pathlib import Path

import pytest

from classroom.gradebook import intake, layouts
from classroom.gradebook.intake import taken_in
from classroom.gradebook.roster import Roster, Student
from classroom.grader.handed_in import CannotGrade
from tests.grader.here import parts_of

TOY, FOLDER, MAIN = "toy.py", "07_toy", "main.py"
ANN = Student("Ann Smith", "Ann Smith", "ann@uni.edu", "ann-codes", "asmith", "101", "", "11")
BOB = Student("Bob Ray", "Bob Ray", "bob@uni.edu", "bobby", "bray", "102", "", "12")
THAI = Student("ศิริ วงศ์", "ศิริ วงศ์", "siri@uni.edu", "siri", "siri", "103", "", "13")
CLASS = Roster([ANN, BOB, THAI])

(_, GRADESCOPE), *LAID_OUT = parts_of(Path(__file__).with_name("intake.txt"))
SCENARIOS = dict(LAID_OUT)


@pytest.fixture(params=["folder", "zip"])
def kind(request):
    return request.param


@pytest.fixture
def classes(tmp_path):
    """Makes a class's folder, or an archive of it, of paths with their bytes; a path that ends in /
    is an empty folder."""

    def made(files, kind="folder", name="class"):
        if kind == "zip":
            return zipped(tmp_path / f"{name}.zip", files)
        for path, data in files.items():
            place = tmp_path / name / path
            (place if path.endswith("/") else place.parent).mkdir(parents=True, exist_ok=True)
            if not path.endswith("/"):
                place.write_bytes(as_bytes(data))
        return tmp_path / name

    return made


def as_bytes(data):
    return data if isinstance(data, bytes) else data.encode()


def zipped(path, files, **how):
    with zipfile.ZipFile(path, "w", **how) as archive:
        for name, data in files.items():
            archive.writestr(name, as_bytes(data))
    return path


def a_zip(files, **how):
    return zipped(io.BytesIO(), files, **how).getvalue()


def codes(taken):
    """What each student's file says; for a project that is a folder, its files' names."""
    found = {}
    for each in taken.handed:
        files = {name: data.decode() for name, data in each.files.items()}
        found[each.student] = files.get("submission.py", files or None)
    return found


def about(taken, student):
    (found,) = (each for each in taken.handed if each.student == student)
    return found


def refused(taken):
    return {each.student: each.problem for each in taken.handed if each.problem}


# ---- layouts -------------------------------------------------------------------------------------


def laid_out(text):
    """What each file of a scenario says, by its path; what is below a .zip is in that archive."""
    files, archives = {}, defaultdict(dict)
    for path, says in re.findall(r"^(.*?)(?:: ?(.*))?$", text.strip(), re.MULTILINE):
        outside, archive, inside = path.partition(".zip/")
        if archive:
            archives[f"{outside}.zip"][inside] = says
        else:
            files[path] = GRADESCOPE if says == "GRADESCOPE" else says
    return files | {path: a_zip(inside) for path, inside in archives.items()}


def told(taken):
    """What is found, as a scenario has it after ---."""
    lines = [taken.layout]
    for each in taken.handed:
        files = ", ".join(f"{name} {data.decode()}" for name, data in each.files.items())
        found = f"{files} of {each.file}, {each.when}" if files else f"nothing, {each.instead}"
        lines += [f"{each.student}: {found}".rstrip(" ,"), *(f"  {note}" for note in each.notes)]
    return "\n".join([*lines, *(f"* {note}" for note in taken.notes)]) + "\n"


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_class_is_found_however_it_is_laid_out(classes, kind, name):
    files, project, expected = re.split("^---(.*)\n", SCENARIOS[name], flags=re.MULTILINE)
    what = (FOLDER, MAIN) if "a folder" in project else (TOY, "")
    roster = CLASS if "with a roster" in project else None
    assert told(taken_in(classes(laid_out(files), kind), *what, roster)) == expected


def test_what_gradescope_tells_of_a_class_may_be_long(classes, kind):
    files = {"submission_metadata.yml": GRADESCOPE + "#" * (3 << 20), "submission_1001/toy.py": "a"}
    assert codes(taken_in(classes(files, kind), TOY, "", CLASS))["Ann Smith"] == "a"


def test_two_of_one_name_are_told_apart_by_gradescopes_number(classes):
    text = "".join(f"s{n}:\n  :submitters:\n  - :name: Kim Lee\n    :sid: '{n}'\n" for n in (1, 2))
    taken = taken_in(classes({"submission_metadata.yml": text, "s1/toy.py": "1", "s2/toy.py": "2"}),
                     TOY, "")  # fmt: skip
    assert sorted(codes(taken).values()) == ["1", "2"]


@pytest.mark.parametrize("text", ["- a list\n", "x: [\n", "!!python/object/apply:os.getcwd []\n"])
def test_metadata_that_says_nothing_is_refused(classes, text):
    source = classes({"submission_metadata.yml": text, "submission_1/toy.py": "a"})
    with pytest.raises(CannotGrade, match="submission_metadata.yml (cannot be read|does not say)"):
        taken_in(source, TOY, "")


def test_without_pyyaml_that_is_said(classes, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(CannotGrade, match="is read with PyYAML: pip install"):
        taken_in(classes({"submission_metadata.yml": GRADESCOPE}), TOY, "")


def committed(folder, when, files):
    """Commits the files, by a clock that says when."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
           "GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when}  # fmt: skip
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], [*who, "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=folder, env=env, check=True)


@pytest.mark.parametrize("name", ["toy-submissions", "class"])
def test_clones_of_github_classroom_and_when_they_were_committed(tmp_path, name):
    ann, bob = tmp_path / name / "toy-ann-codes", tmp_path / name / "toy-bobby"
    committed(ann, "2026-10-05T22:00:00+02:00", {"projects/toy.py": "a", "lab/toy.py": "no"})
    committed(ann, "2026-10-09T22:00:00+02:00", {"README.md": "later"})
    committed(bob, "2026-10-06T22:00:00+02:00", {"other.py": "b", "lab/toy.py": "no"})
    subprocess.run(["git", "pack-refs", "--all"], cwd=ann, check=True)
    taken = taken_in(tmp_path / name, TOY, "", CLASS)
    assert codes(taken) == {"Ann Smith": "a", "Bob Ray": None, "ศิริ วงศ์": None}
    assert about(taken, "Ann Smith").when == "2026-10-05T22:00:00+02:00"
    assert "students can set that time to anything" in taken.notes[0]
    assert codes(taken_in(tmp_path / name, TOY, "")) == {"ann-codes": "a", "bobby": None}


def test_python_files_beside_the_one_that_is_graded_are_named(classes, tmp_path):
    """Else, who wrote new.py and left toy.py as it was looks like somebody who did nothing."""
    files = {f"projects/{name}": "a" for name in ("toy.py", "new.py", "02_other.py")}
    for name, theirs in ("ann", files), ("bob", {"toy.py": "a"}):
        clone, own = tmp_path / "clones" / f"toy-{name}", {"start.py": "ours"}
        committed(clone, "2026-10-05T22:00:00+02:00", theirs | own)
    taken = taken_in(tmp_path / "clones", TOY, "")
    assert about(taken, "ann").notes == ("Beside it, and not graded: projects/new.py.",)
    assert about(taken, "bob").notes == ()
    taken = taken_in(classes({"ann/toy.py": "a", "ann/helpers.py": "b", "ann/a.txt": "c"}), TOY, "")
    assert about(taken, "ann").notes == ("Beside it, and not graded: helpers.py.",)


def test_a_clone_of_one_student_is_known_by_the_folder_of_all(tmp_path):
    committed(
        tmp_path / "toy-submissions" / "toy-ann", "2026-10-05T22:00:00+02:00", {"toy.py": "a"}
    )
    assert codes(taken_in(tmp_path / "toy-submissions", TOY, "")) == {"ann": "a"}


def test_a_clone_s_settings_start_nothing(tmp_path):
    """With log.showSignature, git runs the program that the repository names on a signed commit."""
    ann, ran = tmp_path / "class" / "toy-ann", tmp_path / "ran"
    committed(ann, "2026-10-05T22:00:00+02:00", {"toy.py": "a"})
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o755)

    def git(*arguments, text=""):
        done = subprocess.run(["git", *arguments], cwd=ann, input=text, capture_output=True,
                              text=True, check=True)  # fmt: skip
        return done.stdout

    head, _, rest = git("cat-file", "commit", "HEAD").partition("\n\n")
    sign = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    signed = git("hash-object", "-t", "commit", "-w", "--stdin", text=f"{head}\n{sign}\n\n{rest}")
    git("update-ref", "HEAD", signed.strip())
    for name, value in (("log.showSignature", "true"), ("gpg.program", str(program))):
        git("config", name, value)
    git("log", "-1")
    assert ran.exists()  # it does
    ran.unlink()
    assert about(taken_in(ann.parent, TOY, ""), "toy-ann").when == "2026-10-05T22:00:00+02:00"
    assert not ran.exists()


@pytest.mark.parametrize("spoil", [
    lambda git: (git / "HEAD").write_text("ref: refs/heads/../../x"),
    lambda git: (git / "HEAD").write_text(f"--output={git}/written"),
    lambda git: (git / "HEAD").unlink(),
    lambda git: (git / "objects").rename(git / "o") and (git / "objects").symlink_to(git / "o"),
])  # fmt: skip
def test_a_clone_whose_history_cannot_be_read_has_no_time(tmp_path, spoil):
    ann = tmp_path / "class" / "toy-ann"
    committed(ann, "2026-10-05T22:00:00+02:00", {"toy.py": "a"})
    spoil(ann / ".git")
    found = about(taken_in(ann.parent, TOY, ""), "toy-ann")
    assert found.when == "" and found.files
    assert not (ann / ".git" / "written").exists()


@pytest.mark.parametrize("beside", ["projects/toy.py", "toy.py", "mine.zip"])
def test_a_class_of_one_is_a_class(classes, kind, beside):
    files = {"ann/a/toy.py": "a", "ann/b/x.txt": "", f"ann/{beside}": ""}
    assert [each.student for each in taken_in(classes(files, kind), TOY, "").handed] == ["ann"]


@pytest.mark.parametrize("files", [{"toy.py": "a"}, {".git/HEAD": "", "x.txt": ""}, {"": ""}])
def test_where_there_is_no_class_that_is_said(classes, tmp_path, files):
    source = classes(files) if "" not in files else tmp_path
    with pytest.raises(CannotGrade, match="no students' folders in .* isn't an export from Canvas"):
        taken_in(source, TOY, "", CLASS)


def test_a_source_that_is_none(tmp_path):
    (tmp_path / "x.zip").write_bytes(b"PK\3\4 no")
    for source in (tmp_path / "nowhere", tmp_path / "x.zip"):
        with pytest.raises(CannotGrade, match="there is no folder or zip archive"):
            taken_in(source, TOY, "")


# ---- which file ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [
    "toy.py", "TOY.py", "toy (1).py", "toy(2).py", "toy-1.py", "toy copy.py", "toy copy 2.py",
    "toy - Copy.py", "toy - Copy (2).py", "toy-6fd1a0c2-0123-4567-89ab-0123456789ab.py",
])  # fmt: skip
def test_copies_are_known_by_their_names(classes, name):
    source = classes({f"ann/{name}": "a", "ann/helper.py": "no", "bob/toy.py": "b"})
    found = about(taken_in(source, TOY, ""), "ann")
    assert found.files == {"submission.py": b"a"}
    assert found.notes == ("Beside it, and not graded: helper.py.",)


@pytest.mark.parametrize("name", ["my_toy.py", "toy1.py", "toy-2024.py", "toys.py", "toy.pyc"])
def test_other_files_are_not(classes, name):
    source = classes({f"ann/{name}": "a", "ann/helper.py": "no", "bob/toy.py": "b"})
    assert taken_in(source, "toy.py", "").handed[0].student == "ann"
    assert (name == "toy.pyc") == bool(about(taken_in(source, TOY, ""), "ann").files)


def test_of_several_the_newest_is_taken_by_time_and_by_number_where_times_are_the_same(classes):
    names = ("toy.py", "toy (1).py", "toy (10).py", "toy (2).py")
    source = classes({f"ann/{name}": name for name in names} | {"bob/toy.py": "b"})
    for name in names:
        os.utime(source / "ann" / name, (1e9, 1e9))
    found = about(taken_in(source, TOY, ""), "ann")
    assert found.files["submission.py"] == b"toy (10).py"
    assert found.notes == ("There were several: ann/toy (10).py was graded, not ann/toy (1).py, "
                           "ann/toy (2).py, ann/toy.py.",)  # fmt: skip
    os.utime(source / "ann" / "toy.py", (2e9, 2e9))
    assert about(taken_in(source, TOY, ""), "ann").files["submission.py"] == b"toy.py"


@pytest.mark.parametrize("copy", ["toy (1).py", "toy copy.py", "toy - Copy.py"])
def test_a_copy_is_newer_than_what_it_was_copied_from(copy, classes):
    source = classes({"ann/toy.py": "old", f"ann/{copy}": "new"})
    for path in (source / "ann").iterdir():
        os.utime(path, (1e9, 1e9))
    assert about(taken_in(source, TOY, ""), "ann").files["submission.py"] == b"new"


def test_dates_that_a_platform_makes_up_are_not_believed(classes):
    path = "Ann Smith_11_assignsubmission_file/"
    source = classes({f"{path}toy.py": "old", f"{path}toy (1).py": "new"})
    os.utime(source / path / "toy.py", (2e9, 2e9))
    assert codes(taken_in(source, TOY, "")) == {"Ann Smith": "new"}


PROJECT, ANOTHER = "01_tensor_basics.py", "02_op_types.py"
INSTEAD = [  # what was handed in in place of the project's file, as which it counts
    (["essay.pdf"], "wrong file", "There is no 01_tensor_basics.py, only essay.pdf."),
    (["01_tensor_basics.ipynb", "x.txt"], "wrong file", "only 01_tensor_basics.ipynb, x.txt."),
    (["one.py", "two.py"], "wrong file", "only one.py, two.py."),
    ([ANOTHER], "other project", "only 02_op_types.py, which is another project."),
    (["work/02_op_types (1).py"], "other project", "work/02_op_types (1).py, which is another"),
    (["07_custom_backend/backend.py"], "other project", "which is another project."),
    ([], "", "There is no 01_tensor_basics.py."),
    ([ANOTHER, "mine.py"], None, "ann/mine.py is the only Python file."),
    ([ANOTHER, PROJECT], None, ""),
]


@pytest.mark.parametrize(("files", "status", "said"), INSTEAD)
def test_what_isn_t_this_project_s_file_is_called_what_it_is(files, status, said, classes, kind):
    source = classes({"ann/": "", "bob/x": "", **{f"ann/{name}": "x = 1" for name in files}}, kind)
    found = about(taken_in(source, PROJECT, ""), "ann")
    assert said in " ".join(found.notes)
    assert (found.instead, bool(found.files)) == (status or "", status is None)


def test_a_whole_course_that_was_handed_in_is_no_puzzle(classes):
    files = {"ann/projects/toy.py": "a", "ann/classroom/projects/toy.py": "no", "bob/toy.py": "b"}
    source = classes(files)
    os.utime(source / "ann/classroom/projects/toy.py", (2e9, 2e9))
    assert codes(taken_in(source, TOY, "")) == {"ann": "a", "bob": "b"}


def test_a_project_that_is_a_folder_in_a_clone(tmp_path):
    for name, inside in (("toy-ann", {"main.py": "m"}), ("toy-bob", {"07_toy/main.py": "m"})):
        folder = tmp_path / "class" / name
        (folder / "projects").mkdir(parents=True)
        zipped(folder / "projects" / "07_toy.zip", inside)
        committed(folder, "2026-10-05T22:00:00+02:00", {"lab/main.py": "no"})
    committed(tmp_path / "class" / "toy-cy", "2026-10-07T22:00:00+02:00",
              {"projects/07_toy/main.py": "m", "x/07_toy/main.py": "no"})  # fmt: skip
    committed(tmp_path / "class" / "toy-dee", "2026-10-07T22:00:00+02:00",
              {"projects/08_other/main.py": "no", "main.py": "no"})  # fmt: skip
    taken = taken_in(tmp_path / "class", FOLDER, MAIN)
    assert [list(each.files) for each in taken.handed] == [[MAIN], [MAIN], [MAIN], []]
    assert about(taken, "cy").when == "2026-10-07T22:00:00+02:00"


# ---- names ---------------------------------------------------------------------------------------


def test_names_of_all_languages_survive_in_either_form(classes, kind):
    nfd = {f"{unicodedata.normalize('NFD', name)}/toy.py": name for name in ("José", "ศิริ", "한글")}
    taken = taken_in(classes(nfd, kind), TOY, "")
    assert codes(taken) == {"José": "José", "ศิริ": "ศิริ", "한글": "한글"}
    assert [each.file for each in taken.handed] == ["José/toy.py", "ศิริ/toy.py", "한글/toy.py"]


def test_one_name_in_two_forms_is_one_student(classes, kind):
    files = {"José/notes.txt": "", unicodedata.normalize("NFD", "José") + "/toy.py": "j"}
    assert codes(taken_in(classes(files, kind), TOY, "")) == {"José": "j"}


def test_names_that_look_alike_are_kept_apart(classes, kind):
    files = {"ann/toy.py": "1", "an\u200bn/toy.py": "2", "a\u202ann/toy.py": "3", "bob/toy.py": "b"}
    taken = taken_in(classes(files, kind), TOY, "")
    found = codes(taken)
    assert sorted(found.values()) == ["1", "2", "3", "b"] and found["ann"] == "1"
    assert all(key == "bob" or key.startswith("ann") for key in found)
    second = next(each for each in taken.handed if each.files["submission.py"] == b"2")
    assert second.notes == ("Several are called ann; this is 'an\\u200bn'.",)
    assert codes(taken_in(classes(files, kind, "again"), TOY, "")) == found


def test_names_and_paths_are_shown_without_what_a_terminal_obeys(classes, tmp_path):
    source = classes({"e\x1b[31mve/toy.py": "e", "bob/toy.py": "b", "lo\x1bose.py": ""})
    (source / "e\x1b[31mve" / "toy.py").unlink()
    (source / "e\x1b[31mve" / "toy.py").symlink_to(tmp_path)
    taken = taken_in(source, TOY, "")
    assert "\x1b" not in repr([taken.notes, *map(vars, taken.handed)]).replace("\\x1b", "\x1b")
    assert refused(taken)["e[31mve"].startswith("e[31mve/toy.py is a symbolic link")


def test_a_name_that_is_not_unicode(classes):
    source = classes({"ann/toy.py": "a"})
    os.makedirs(os.fsencode(source) + b"/b\xffb")
    with open(os.fsencode(source) + b"/b\xffb/toy.py", "w") as file:
        file.write("b")
    assert codes(taken_in(source, TOY, "")) == {"ann": "a", "bb": "b"}
    (source / "ann" / "main.py").write_text("m")
    (source / "ann" / os.fsdecode(b"\xff.py")).write_text("m")
    assert "cannot be printed" in refused(taken_in(source, FOLDER, MAIN))["ann"]


# ---- what is refused -----------------------------------------------------------------------------


def test_links_are_never_followed(classes, tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "toy.py").write_text("secret")
    source = classes({"ann/toy.py": "a", "bob/x": "", "cy/x": "", "eve/toy.py": "e"})
    (source / "bob" / "toy.py").symlink_to(secret / "toy.py")
    (source / "cy" / "projects").symlink_to(secret)
    (source / "dee").symlink_to(secret)
    (source / "eve" / "away").symlink_to(tmp_path / "nowhere")
    taken = taken_in(source, TOY, "")
    assert codes(taken) == {"ann": "a", "bob": None, "cy": None, "dee": None, "eve": "e"}
    assert refused(taken) == {
        "bob": "bob/toy.py is a symbolic link; give the file that it leads to",
        "cy": "cy/projects is a symbolic link; give the folder that it leads to",
        "dee": "dee is a symbolic link; give the folder that it leads to",
    }


def test_a_folder_that_cannot_be_read_and_a_file_that_is_none(classes, monkeypatch):
    source = classes({"ann/toy.py": "a", "bob/toy.py": "b", "cy/x": ""})
    os.mkfifo(source / "cy" / "toy.py")
    real = os.scandir

    def scandir(path):
        if path == source / "bob":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    taken = taken_in(source, TOY, "")
    assert codes(taken)["ann"] == "a"
    assert refused(taken) == {"bob": "bob cannot be read: Permission denied",
                              "cy": "cy/toy.py is not a file"}  # fmt: skip


def link(name):
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (stat.S_IFLNK | 0o644) << 16
    return entry


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ann/../../toy.py", "'ann/../../toy.py' leads out of the folder"),
        ("ann/../bob/toy.py", "leads out of the folder"),
        ("ann\\..\\..\\x", "leads out of the folder"),
        ("ann/C:\\x", "is an absolute path"),
        (link("ann/toy.py"), "'ann/toy.py' is a link"),
        (link("ann/other"), "'ann/other' is a link"),
    ],
)
def test_what_one_student_s_part_of_an_archive_does_wrong_is_that_student_s(tmp_path, name, words):
    files = {"ann/toy.py": "a", "bob/toy.py": "b", name: "/etc/passwd"}
    if getattr(name, "filename", "") == "ann/toy.py":
        del files["ann/toy.py"]
    taken = taken_in(zipped(tmp_path / "class.zip", files), TOY, "")
    assert codes(taken) == {"ann": None, "bob": "b"}
    assert words in refused(taken)["ann"] and list(refused(taken)) == ["ann"]


def test_what_is_nobody_s_part_of_an_archive_is_named_and_left_alone(tmp_path):
    files = {"hw/ann/toy.py": "a", "hw/bob/toy.py": "b", "/etc/passwd": "", "../up.py": "",
             "C:\\x.py": "", "hw/../../up.py": ""}  # fmt: skip
    taken = taken_in(zipped(tmp_path / "class.zip", files), TOY, "")
    assert codes(taken) == {"ann": "a", "bob": "b"}
    assert [note.split("'")[1] for note in taken.notes] == ["/etc/passwd", "../up.py", "C:\\\\x.py",
                                                            "hw/../../up.py"]  # fmt: skip


@pytest.mark.parametrize(
    ("inside", "how", "words"),
    [
        ({"../toy.py": "x"}, {}, "in ann/mine.zip, '../toy.py' leads out of the folder"),
        ({"/toy.py": "x"}, {}, "'/toy.py' is an absolute path"),
        ({link("toy.py"): "/etc/passwd"}, {}, "'toy.py' is a link"),
        ({"toy.py": "#" * (9 << 20)}, {"compression": zipfile.ZIP_DEFLATED},
         "in ann/mine.zip, 'toy.py' has more than 1 MB"),
        ({"toy.py": "#" * (9 << 20)}, {"compression": zipfile.ZIP_BZIP2}, "in an unusual way"),
        ({f"{n}.txt": "" for n in range(1001)}, {}, "ann/mine.zip has more than 1,000 entries"),
    ],
)  # fmt: skip
def test_a_student_s_bad_archive_is_refused_by_name(classes, kind, inside, how, words):
    files = {"ann/mine.zip": a_zip(inside, **how), "bob/toy.py": "b"}
    taken = taken_in(classes(files, kind), TOY, "")
    assert codes(taken) == {"ann": None, "bob": "b"}
    assert words in refused(taken)["ann"]


def test_an_archive_that_is_too_large_is_not_opened(classes):
    files = {"ann/mine.zip": a_zip({"toy.py": b"1" * (2 << 20)}), "bob/toy.py": "b"}
    assert refused(taken_in(classes(files), TOY, "")) == {
        "ann": "ann/mine.zip has 2.1 MB; a project's file has at most 1 MB"
    }
    assert refused(taken_in(classes(files, "zip"), TOY, "")) == {
        "ann": "in class.zip, 'ann/mine.zip' has more than 1 MB"
    }


def test_sizes_that_lie_and_bytes_that_are_spoiled(classes):
    bomb = a_zip({"toy.py": b"\0" * (8 << 20)}, compression=zipfile.ZIP_DEFLATED)
    lies = bomb.replace((8 << 20).to_bytes(4, "little"), (9).to_bytes(4, "little"))
    good = a_zip({"toy.py": "x = 12345"})
    spoiled = good.replace(b"12345", b"12346")
    files = {"ann/x.zip": lies, "bob/x.zip": spoiled, "cy/x.zip": b"PK\3\4", "dee/x.zip": good,
             "eve/x.zip": b"no zip", "eve/only.py": "e"}  # fmt: skip
    taken = taken_in(classes(files), TOY, "")
    assert codes(taken) == {"ann": None, "bob": None, "cy": None, "dee": "x = 12345", "eve": "e"}
    assert all("x.zip cannot be unpacked" in why for why in refused(taken).values())
    assert list(refused(taken)) == ["ann", "bob", "cy"]
    assert "eve/x.zip cannot be unpacked" in about(taken, "eve").notes[1]


def test_an_archive_of_a_class_with_a_bomb_and_one_with_too_many_entries(tmp_path, monkeypatch):
    files = {"ann/toy.py": b"#" * (9 << 20), "bob/toy.py": "b", "bob/data": b"\0" * (9 << 20)}
    source = zipped(tmp_path / "class.zip", files, compression=zipfile.ZIP_DEFLATED)
    taken = taken_in(source, TOY, "")
    assert codes(taken) == {"ann": None, "bob": "b"}
    assert refused(taken) == {"ann": "in class.zip, 'ann/toy.py' has more than 1 MB"}
    monkeypatch.setattr(layouts, "MOST_ENTRIES", 2)
    with pytest.raises(CannotGrade, match="class.zip has more than 2 entries"):
        taken_in(source, TOY, "")


def test_a_folder_with_too_much_in_it_is_refused_for_its_student(classes):
    files = {f"ann/07_toy/{n}.py": "" for n in range(101)} | {"ann/07_toy/main.py": "m"}
    taken = taken_in(classes(files | {"bob/07_toy/main.py": "m"}), FOLDER, MAIN)
    assert codes(taken)["bob"] == {"main.py": "m"}
    assert refused(taken) == {"ann": "ann/07_toy has more than 100 files"}


# ---- times and notes -----------------------------------------------------------------------------


def test_the_instructor_s_times_count_more(classes):
    files = {"submission_metadata.yml": GRADESCOPE, "submission_1001/toy.py": "a",
             "submission_1002/toy.py": "b"}  # fmt: skip
    times = {"101": "2026-10-01T12:00:00+02:00", "Zoe": "2026-10-01T12:00:00+02:00"}
    taken = taken_in(classes(files), TOY, "", CLASS, times)
    assert about(taken, "Ann Smith").when == "2026-10-01T12:00:00+02:00"
    assert about(taken, "Bob Ray").when == "2026-10-06T07:00:00+00:00"
    assert taken.notes[1:] == ["the table of times names people who are not here: Zoe"]


def test_nothing_is_left_behind_and_nothing_is_written(classes, tmp_path, kind):
    source = classes({"ann/toy.py": "a", "bob/x.zip": a_zip({"toy.py": "b"})}, kind)
    before = sorted(tmp_path.rglob("*"))
    taken_in(source, TOY, "")
    assert sorted(tmp_path.rglob("*")) == before and intake.MOST_IN_ONE == 1000
