"""Feedback as mails: written as files, looked at first, and sent.

    letters = list(mails(sheet, "Prof. Ellis <ellis@uni.example>"))
    written_as_files(letters, folder)             # folder/ann.eml, to be opened and sent by hand
    print(planned(sheet, letters, sent))          # a dry run: who would get what
    send(letters, server_of("smtp://ellis@smtp.uni.example:587"), sent)

A mail has the feedback twice, as text and as HTML (multipart/alternative, RFC 2046), and a program
shows what it can. The page itself isn't attached: a phone opens an attached page badly, filters
suspect one, and its colours and columns are more than most mail programs understand. So the body
has the same words in little CSS (feedback.mailed); it stays far below the 102 kB that Gmail shows.

What was sent is a line in sent.csv, which is replaced as a whole after each mail. Started again,
`send` leaves out whoever was sent this very text; a mail of which the server's answer got lost goes
out twice at worst. The password comes from SMTP_PASSWORD or is asked for, and never from a command.
"""

from __future__ import annotations

import csv
import getpass
import hashlib
import io
import os
import re
import smtplib
import ssl
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, make_msgid
from pathlib import Path
from urllib.parse import unquote, urlsplit

from classroom.gradebook import feedback
from classroom.gradebook.names import Student, file_name, student_name
from classroom.gradebook.records import FAILED, now
from classroom.gradebook.sheet import Row, Sheet
from classroom.gradebook.tables import csv_of
from classroom.grader.handed_in import CannotGrade
from classroom.grader.report import cell, cleaned
from classroom.pages import counted
from classroom.written import written

PASSWORD = "SMTP_PASSWORD"
SECONDS = 60.0  # that a server may take for an answer
HERE = ("localhost", "127.0.0.1", "::1")  # a connection to these needs no encryption
PORTS = {"smtp": 587, "smtps": 465}  # RFC 8314
NO_ADDRESS = "no address"
HEAD = ["at", "student", "address", "made from"]
# Less than RFC 5321 allows, and all that universities give out: no quotes, comments or spaces.
ATOM = r"[\w!#$%&'*+/=?^`{|}~-]+"
ADDRESS = re.compile(rf"{ATOM}(\.{ATOM})*@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*", re.ASCII)

Letter = tuple[Student, EmailMessage]


# ---- mails ---------------------------------------------------------------------------------------


def mails(sheet: Sheet, sender: str, subject: str = "") -> Iterator[Letter]:
    """One for each student who has an address and something to be told, in the order of the sheet.

    sender: "name <address>", or an address. subject: by default the project's title. There are no
    points in it: phones show subjects to whoever is near. CannotGrade where the sender has no
    address that can be used.
    """
    name, _, address = cleaned(sender).rpartition("<")
    from_whom = _address(name.strip('" '), address.strip().removesuffix(">"))
    if from_whom is None:
        raise CannotGrade(f"{cleaned(sender)!r} is no address to send mails from")
    for row in sheet.rows:
        to_whom = _address(row.student.name or row.student.key, row.student.email)
        if to_whom is not None and row.record.status != FAILED:
            yield row.student, _mail(row, sheet, from_whom, to_whom, subject)


def left_out(sheet: Sheet) -> list[tuple[Student, str]]:
    """Who gets no mail, and why."""
    found = []
    for row in sheet.rows:
        email = cleaned(row.student.email)
        if row.record.status == FAILED:
            found.append((row.student, "the grader failed; grade it again first"))
        elif _address("", row.student.email) is None:
            found.append((row.student, f"mails can't go to {email!r}" if email else NO_ADDRESS))
    return found


def _address(name: str, address: str) -> Address | None:
    """None where the address has any sign that may mean something else to a server. The name loses
    line ends and all that can't be seen; what isn't ASCII is encoded when it is written."""
    if not ADDRESS.fullmatch(address):
        return None
    return Address(student_name(name), addr_spec=address)


def _mail(row: Row, sheet: Sheet, sender: Address, to: Address, subject: str) -> EmailMessage:
    mail = EmailMessage(policy=SMTP)
    mail["From"], mail["To"] = sender, to
    mail["Subject"] = student_name(subject or f"Feedback on {sheet.title}")
    mail["Date"] = formatdate(localtime=True)
    mail["Message-ID"] = make_msgid(domain=sender.domain)  # else it has this machine's name
    mail["Auto-Submitted"] = "auto-generated"  # RFC 3834: nobody's holiday answers it
    # in ASCII as it is sent, so no server on the way has to be able to do more
    mail.set_content(feedback.text(row, sheet), cte="quoted-printable")
    html = feedback.mailed(row, sheet)
    mail.add_alternative(html, subtype="html", cte="quoted-printable")
    return mail


def digest_of(mail: EmailMessage) -> str:
    """Of what a student reads, and where it goes; when and by whom it is sent doesn't matter."""
    whole = hashlib.sha256()
    for text in (mail["To"], mail["Subject"], *(p.get_content() for p in mail.iter_parts())):
        whole.update(str(text).encode() + b"\0")
    return whole.hexdigest()[:16]


def written_as_files(letters: Iterable[Letter], folder: Path) -> list[Path]:
    """A file for each, which a mail program opens. Outlook takes X-Unsent for a draft that is ready
    to be sent ([MS-OXCMAIL] 2023); others ignore it."""
    paths = []
    for student, mail in letters:
        path = folder / f"{file_name(student.key)}.eml"
        written(path, f"X-Unsent: 1\r\n{mail.as_string()}")
        paths.append(path)
    return paths


# ---- what was sent -------------------------------------------------------------------------------


class Sent:
    """Lines of a CSV file on the mails that a server has taken."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: list[list[str]] = []
        if path.is_file():
            try:
                head, *self.lines = csv.reader(io.StringIO(path.read_text(encoding="utf-8")))
            except (OSError, ValueError, csv.Error):
                head = []
            if head != HEAD or any(len(line) != len(HEAD) for line in self.lines):
                raise CannotGrade(f"{path} doesn't say what was sent; is it another file?")

    def before(self, student: Student) -> str:
        """The digest of the last mail to this student; empty where there was none."""
        found = [line[3] for line in self.lines if line[1] == cell(student.key)]
        return found[-1] if found else ""

    def has(self, letter: Letter) -> bool:
        return self.before(letter[0]) == digest_of(letter[1])

    def add(self, letter: Letter) -> None:
        student, mail = letter
        self.lines.append([now(), cell(student.key), cell(student.email), digest_of(mail)])
        self._write()

    def rename(self, old: str, new: str) -> None:
        """What was sent to a student who is called otherwise from now on."""
        if theirs := [line for line in self.lines if line[1] == cell(old)]:
            for line in theirs:
                line[1] = cell(new)
            self._write()

    def _write(self) -> None:
        written(self.path, csv_of([HEAD, *self.lines]))


def planned(
    sheet: Sheet, letters: Iterable[Letter], sent: Sent, went_out: int | None = None
) -> str:
    """Who would get a mail, who has it already, and who gets none: a line each. went_out: how many
    have just been sent."""
    lines, count = [], 0
    rows = {row.student.key: row for row in sheet.rows}
    for student, mail in letters:
        name, row = student.key, rows[student.key]
        result = f"{row.final} of {row.of} points" if row.record.is_graded else "no points yet"
        if sent.has((student, mail)):
            lines.append(f"{name}: has it already")
            continue
        again = " (again: it has changed)" if sent.before(student) else ""
        lines.append(f"{name} <{student.email}>: {result}{again}")
        count += 1
    out = left_out(sheet)
    lines += [f"{who.key}: gets none, {why}" for who, why in out]
    now_ = "" if went_out is None else f"{counted(went_out, 'mail')} went out now. "
    where = " (Addresses stand in the roster's column `email`.)" * any(
        why == NO_ADDRESS for _, why in out
    )  # fmt: skip
    lines.append(f"{now_}{counted(count, 'mail')} to be sent. {len(out)} of "
                 f"{counted(len(sheet.rows), 'student')} get none.{where}")  # fmt: skip
    return "\n".join(lines)


# ---- sending -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Server:
    """encrypts: "at once" (smtps); "then" (by STARTTLS; a server without it gets nothing); or "",
    for a server on this machine."""

    host: str
    port: int
    user: str = ""
    encrypts: str = "then"


def server_of(url: str) -> Server:
    """smtp://user@host:587 or smtps://user@host; in a user's name, @ is %40. CannotGrade otherwise,
    and where there is a password in it."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise CannotGrade(f"{cleaned(url)} is not a server; smtp://user@host:587 is") from None
    if parts.password is not None:
        raise CannotGrade(f"a password in a command is seen by others; put it into {PASSWORD}")
    if parts.scheme not in PORTS or not parts.hostname or parts.path.strip("/"):
        raise CannotGrade(f"{cleaned(url)} is not a server; smtp://user@host:587 is")
    encrypts = "at once" if parts.scheme == "smtps" else "" if parts.hostname in HERE else "then"
    user = unquote(parts.username or "")
    return Server(parts.hostname, port or PORTS[parts.scheme], user, encrypts)


def send(
    letters: Iterable[Letter],
    server: Server,
    sent: Sent,
    progress: Callable[[str], None] = lambda text: None,
) -> list[tuple[Student, str]]:
    """Sends those that weren't sent before; gives whom the server refused, and what it said.

    CannotGrade where the server can't be reached, or ends the connection; those that it had taken
    until then are in `sent`, so that a second run goes on there.
    """
    waiting = [letter for letter in letters if not sent.has(letter)]
    refused: list[tuple[Student, str]] = []
    if not waiting:
        return refused
    password = _password(server) if server.user else ""
    count = 0
    try:
        with closing(_connected(server, password)) as connection:
            for number, letter in enumerate(waiting, 1):
                student, mail = letter
                progress(f"{number} of {len(waiting)}: {student_name(student.key)}")
                try:
                    connection.send_message(mail)
                except smtplib.SMTPRecipientsRefused as error:
                    code, said = next(iter(error.recipients.values()))
                    if code == 421:  # not this one: the server is closing (RFC 5321, 4.2.3)
                        raise smtplib.SMTPServerDisconnected(_said(code, said)) from None
                    refused.append((student, _said(code, said)))
                    continue
                sent.add(letter)
                count += 1
            with suppress(smtplib.SMTPException, OSError):  # all is said by now
                connection.quit()
    except smtplib.SMTPResponseException as error:
        why = _said(error.smtp_code, error.smtp_error)
        raise CannotGrade(_stopped(server, why, count, len(waiting))) from None
    except (smtplib.SMTPException, OSError) as error:
        raise CannotGrade(_stopped(server, cleaned(error), count, len(waiting))) from None
    return refused


def _connected(server: Server, password: str) -> smtplib.SMTP:
    context = ssl.create_default_context()
    if server.encrypts == "at once":
        connection: smtplib.SMTP = smtplib.SMTP_SSL(
            server.host, server.port, timeout=SECONDS, context=context
        )
    else:
        connection = smtplib.SMTP(server.host, server.port, timeout=SECONDS)
    try:
        if server.encrypts == "then":
            connection.starttls(context=context)
        if server.user:
            connection.login(server.user, password)
    except BaseException:
        connection.close()
        raise
    return connection


def _password(server: Server) -> str:
    return os.environ.get(PASSWORD) or getpass.getpass(f"Password of {server.user}: ")


def _said(code: int, text: bytes | str) -> str:
    shown = text.decode(errors="replace") if isinstance(text, bytes) else text
    return f"{code} {cleaned(shown)}"


def _stopped(server: Server, why: str, count: int, whole: int) -> str:
    return (f"{server.host}: {why}. {counted(count, 'mail')} of {whole} went out. The same command "
            "sends the others.")  # fmt: skip
