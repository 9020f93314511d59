"""Feedback as mails: what is in them, and that a server gets each once, whatever happens."""

import base64
import csv
import socket
import threading
from email import message_from_bytes, policy

import pytest

from classroom.gradebook import mail as module
from classroom.gradebook.mail import (
    PASSWORD,
    Sent,
    Server,
    left_out,
    mails,
    planned,
    send,
    server_of,
    written_as_files,
)
from classroom.grader.handed_in import CannotGrade
from tests.gradebook.classes import change, check, row, sheet

SENDER = "Ellis, Prof. Zoë <ellis@uni.example>"


def student(key, *checks, **more):
    return row(key, *(checks or [check("double")]), **{"email": f"{key}@uni.example", **more})


CLASS = [student("ann", name="Ann Ashby"), student("ben"), student("cem")]


def letters(*rows):
    return list(mails(sheet(*(rows or CLASS)), SENDER))


def read(message):
    """As a mail program gets it."""
    return message_from_bytes(message.as_bytes(), policy=policy.default)


# ---- what is in a mail ---------------------------------------------------------------------------


def test_a_mail_has_the_feedback_as_text_and_as_html_and_nothing_attached():
    wrong = check("lazily", "raised NameError: <x>", line=7, text="x < 1")
    ((who, made),) = letters(student("ann", check("double"), wrong, name="Ann Ashby"))
    found = read(made)
    text, page = (part.get_content() for part in found.iter_parts())
    assert who.key == "ann" and found.get_content_type() == "multipart/alternative"
    assert [part.get_content_type() for part in found.iter_parts()] == ["text/plain", "text/html"]
    assert "10 of 20 points" in text and "raised NameError: <x>" in text and "\\" not in text
    assert "raised NameError: &lt;x&gt;" in page and page.startswith("<!DOCTYPE html>")
    assert not list(found.iter_attachments())


def test_its_head_has_names_of_all_scripts_and_no_points_and_is_ascii_on_the_way():
    rows = [student("a", name=name) for name in ("ศิริ สุขใจ", "Zoë, Müller", '李 "小" 龍')]
    for (_, made), each in zip(letters(*rows), rows, strict=True):
        found = read(made)
        assert made.as_bytes().isascii()
        assert found["To"].addresses[0].display_name == each.student.name
        assert found["To"].addresses[0].addr_spec == "a@uni.example"
        assert found["From"].addresses[0].display_name == "Ellis, Prof. Zoë"
        assert found["From"].addresses[0].addr_spec == "ellis@uni.example"
        assert found["Subject"] == "Feedback on Tensors"
        assert found["Message-ID"].strip("<>").endswith("@uni.example")
        assert found["Date"].datetime and found["Auto-Submitted"] == "auto-generated"


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r", "\u2028", "\x85", "\x0b", "\0"])
def test_no_name_subject_or_sender_adds_a_line_to_the_head(end):
    bad = f"Ann{end}Bcc: all@evil.example{end}{end}body"
    rows = sheet(student("ann", name=bad))
    ((_, made),) = mails(rows, f"{bad} <ellis@uni.example>", subject=bad)
    found = read(made)
    assert "Bcc" not in found and len(found["To"].addresses) == 1
    assert "Bcc: all@evil.example" in found["Subject"]
    assert set(found) == {"From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted",
                          "MIME-Version", "Content-Type"}  # fmt: skip


NO_ADDRESS = ["a@b, c@d", "a@b\r\nBcc: c@d", "a@b\n", "ann", "@b", "a@", "a b@c", "<a@b>", "a@b>",
              "a..b@c", '"a"@b', "ä@b", "a@bä.de", "a@[1.2.3.4]", "a@b;c@d", ".a@b"]  # fmt: skip


@pytest.mark.parametrize("address", NO_ADDRESS)
def test_what_is_no_address_gets_no_mail_and_is_named(address):
    rows = sheet(student("ann", email=address), student("ben"))
    assert [who.key for who, _ in mails(rows, SENDER)] == ["ben"]
    ((who, why),) = left_out(rows)
    assert who.key == "ann" and "mails can't go to" in why and "\n" not in why


def test_who_has_no_address_or_could_not_be_graded_is_named_in_the_plan():
    rows = sheet(student("ann", email=""), student("ben", status="failed"), student("cem"))
    text = planned(rows, mails(rows, SENDER), Sent(module.Path("none")))
    assert "ann: gets none, no address" in text
    assert "ben: gets none, the grader failed; grade it again first" in text
    assert "cem <cem@uni.example>: 10 of 10 points" in text
    assert text.endswith("1 mail to be sent. 2 of 3 students get none. "
                         "(Addresses stand in the roster's column `email`.)")  # fmt: skip
    rows = sheet(student("ben", status="failed"), student("cem"))
    text = planned(rows, mails(rows, SENDER), Sent(module.Path("none")))
    assert text.endswith("1 mail to be sent. 1 of 2 students get none.")


def test_who_handed_in_nothing_is_told_so():
    rows = sheet(row("ann", status="missing", email="ann@uni.example"))
    ((_, made),) = mails(rows, SENDER)
    assert "Nothing that could be graded" in read(made).get_body(("plain",)).get_content()
    assert "no points yet" in planned(rows, mails(rows, SENDER), Sent(module.Path("none")))


@pytest.mark.parametrize(
    "sender", ["", "ellis", "Ellis <ellis>", "a@b, c@d", "x <a@b\r\nBcc: c@d>"]
)
def test_a_sender_without_an_address_is_refused(sender):
    with pytest.raises(CannotGrade, match="no address to send mails from"):
        list(mails(sheet(*CLASS), sender))


def test_files_can_be_opened_as_drafts_and_hold_the_same_mail(tmp_path):
    made = letters(student("Ann/..", email="ann@uni.example", name="Zoë"))
    (path,) = written_as_files(made, tmp_path / "mail")
    data = path.read_bytes()
    found = message_from_bytes(data, policy=policy.default)
    assert path.parent == tmp_path / "mail" and path.suffix == ".eml"
    assert found["X-Unsent"] == "1" and found["To"].addresses[0].display_name == "Zoë"
    assert b"\n" not in data.replace(b"\r\n", b"") and b"\r\r" not in data
    body = read(made[0][1]).get_body(("html",)).get_content()
    assert found.get_body(("html",)).get_content() == body


# ---- a server ------------------------------------------------------------------------------------


class Post(threading.Thread):
    """A small SMTP server. says: answers to a command, in place of 250, by how it begins; None
    hangs up. offers: what it says it can do. after: so many mails, from which on it says that."""

    def __init__(self, says=(), offers=("AUTH PLAIN",), after=0):
        super().__init__(daemon=True)
        self.says, self.offers, self.after = dict(says), offers, after
        self.commands, self.mails = [], []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]

    def run(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with connection, connection.makefile("rwb") as file:
                self.talk(file)

    def talk(self, file):
        def answer(text):
            file.write(f"{text}\r\n".encode())
            file.flush()

        answer("220 ready")
        for line in file:
            command = line.decode().strip()
            self.commands.append(command)
            said = "250 fine"
            if len(self.mails) >= self.after:
                known = self.says.items()
                said = next((a for c, a in known if command.lower().startswith(c)), said)
            if said is None:
                return
            if command.startswith("ehlo"):
                answer("\r\n".join(f"250-{each}" for each in ("post", *self.offers)))
                answer("250 HELP")
            elif command.startswith("AUTH"):
                answer("235 welcome")
            elif command == "data" and said == "250 fine":
                answer("354 go on")
                self.take(file)
                answer("250 taken")
            elif command == "quit":
                answer("221 bye")
                return
            else:
                answer(said)

    def take(self, file):
        lines = iter(file.readline, b".\r\n")
        self.mails.append(message_from_bytes(b"".join(lines), policy=policy.default))

    @property
    def got(self):
        return [mail["To"].addresses[0].username for mail in self.mails]


@pytest.fixture
def post():
    running = []

    def start(**more):
        server = Post(**more)
        server.start()
        running.append(server)
        return server

    yield start
    for server in running:
        server.socket.close()


def at(server, user="", encrypts=""):
    return Server("127.0.0.1", server.port, user, encrypts)


def test_each_gets_one_mail_and_a_second_run_sends_nothing(post, tmp_path):
    server, path, told = post(), tmp_path / "sent.csv", []
    assert send(letters(), at(server), Sent(path), told.append) == []
    assert told[0] == "1 of 3: ann" and told[-1] == "3 of 3: cem"
    assert server.got == ["ann", "ben", "cem"]
    head, *lines = csv.reader(path.open(encoding="utf-8"))
    assert head == ["at", "student", "address", "made from"]
    assert [line[1:3] for line in lines] == [[k, f"{k}@uni.example"] for k in ("ann", "ben", "cem")]
    text = planned(sheet(*CLASS), letters(), Sent(path))
    assert "ann: has it already" in text and "0 mails to be sent" in text
    assert send(letters(), at(server), Sent(path)) == [] and len(server.got) == 3
    assert server.commands.count("quit") == 1  # nobody was even called


def test_who_was_graded_anew_gets_the_new_feedback(post, tmp_path):
    server, sent = post(), Sent(tmp_path / "sent.csv")
    send(letters(), at(server), sent)
    better = [CLASS[0], student("ben", changes=[change("double", 3)]), CLASS[2]]
    assert "ben <ben@uni.example>: 3 of 10 points (again: it has changed)" in planned(
        sheet(*better), letters(*better), sent
    )
    send(letters(*better), at(server), Sent(sent.path))
    assert server.got == ["ann", "ben", "cem", "ben"]
    assert "3 of 10 points" in server.mails[-1].get_body(("plain",)).get_content()


def test_whom_the_server_refuses_is_named_and_the_others_get_theirs(post, tmp_path):
    server = post(says={"rcpt to:<ben": "550 nobody\x07 here"})
    ((who, why),) = send(letters(), at(server), Sent(tmp_path / "sent.csv"))
    assert who.key == "ben" and why == "550 nobody here"
    assert server.got == ["ann", "cem"]
    assert "1 mail to be sent" in planned(sheet(*CLASS), letters(), Sent(tmp_path / "sent.csv"))


STOPS = [(command, said) for command in ("mail", "rcpt", "data") for said in (None, "421 later")]


@pytest.mark.parametrize(("command", "said"), [*STOPS, ("mail", "451 slower")])
def test_after_a_server_that_stops_midway_the_next_run_goes_on(post, tmp_path, command, said):
    server, path = post(says={command: said}, after=2), tmp_path / "sent.csv"
    with pytest.raises(CannotGrade, match="2 mails of 3 went out"):
        send(letters(), at(server), Sent(path))
    server.says = {}
    send(letters(), at(server), Sent(path))
    assert server.got == ["ann", "ben", "cem"]


def test_a_server_that_is_not_there_is_named(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(CannotGrade, match="127.0.0.1: .*0 mails of 3 went out"):
        send(letters(), Server("127.0.0.1", port, encrypts=""), Sent(tmp_path / "sent.csv"))


# ---- passwords -----------------------------------------------------------------------------------


def test_the_password_comes_from_the_environment_or_is_asked_for(post, tmp_path, monkeypatch):
    for number, (set_, asked) in enumerate([("from outside", "no"), ("", "typed")]):
        monkeypatch.setenv(PASSWORD, set_)
        monkeypatch.setattr(module.getpass, "getpass", lambda prompt, asked=asked: asked)
        server = post()
        send(letters(), at(server, "ellis"), Sent(tmp_path / f"{number}.csv"))
        (said,) = [line.split()[-1] for line in server.commands if line.startswith("AUTH")]
        assert base64.b64decode(said).decode() == f"\0ellis\0{set_ or asked}"


def test_without_encryption_neither_password_nor_mail_leaves_this_machine(
    post, tmp_path, monkeypatch
):
    monkeypatch.setenv(PASSWORD, "secret")
    server = post()
    with pytest.raises(CannotGrade, match="0 mails of 3 went out"):
        send(letters(), at(server, "ellis", "then"), Sent(tmp_path / "sent.csv"))
    assert not server.mails and not any("AUTH" in line for line in server.commands)


def test_encryption_comes_before_the_password(post, tmp_path, monkeypatch):
    monkeypatch.setenv(PASSWORD, "secret")
    server = post(offers=("STARTTLS", "AUTH PLAIN"), says={"starttls": None})
    with pytest.raises(CannotGrade):
        send(letters(), at(server, "ellis", "then"), Sent(tmp_path / "sent.csv"))
    assert server.commands[-1] == "STARTTLS" and len(server.commands) == 2


SERVERS = {
    "smtp://ellis@smtp.uni.example:587": Server("smtp.uni.example", 587, "ellis", "then"),
    "smtp://smtp.uni.example": Server("smtp.uni.example", 587, "", "then"),
    "smtps://ellis%40uni.example@smtp.uni.example": Server(
        "smtp.uni.example", 465, "ellis@uni.example", "at once"
    ),
    "smtp://localhost:25": Server("localhost", 25, "", ""),
    "smtp://[::1]:2525": Server("::1", 2525, "", ""),
    "smtps://localhost": Server("localhost", 465, "", "at once"),
}
NO_SERVERS = {
    "smtp://ellis:secret@smtp.uni.example": "SMTP_PASSWORD",
    "smtp://ellis:@smtp.uni.example": "SMTP_PASSWORD",
    "smtp.uni.example:587": "is not a server",
    "https://smtp.uni.example": "is not a server",
    "smtp://": "is not a server",
    "smtp://host:port": "is not a server",
    "smtp://host/path": "is not a server",
}


def test_a_server_is_named_by_an_address():
    assert {url: server_of(url) for url in SERVERS} == SERVERS


@pytest.mark.parametrize("url", NO_SERVERS)
def test_what_is_no_server_or_has_a_password_is_refused_without_repeating_it(url):
    with pytest.raises(CannotGrade, match=NO_SERVERS[url]) as raised:
        server_of(url)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("text", ["", "a,b\n", "at,student,address,made from\nx,y\n", "\0"])
def test_a_file_that_does_not_say_what_was_sent_is_left_alone(tmp_path, text):
    path = tmp_path / "sent.csv"
    path.write_text(text)
    with pytest.raises(CannotGrade, match="doesn't say what was sent"):
        Sent(path)
    assert path.read_text() == text
