"""The encoding of a log: given, or found out from its bytes once, before any row is counted; whatever it is, UTF-8 is read."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterable
from typing import BinaryIO

from umdp.errors import FormatError

__all__ = ["UTF_8", "UTF_8_MARK", "RecodedFile", "Recoder", "find_encoding", "known_encoding", "unreadable_word"]

UTF_8 = "utf-8"
UTF_8_MARK, UTF_16_MARKS = codecs.BOM_UTF8, (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
WESTERN = "cp1252"
FEW = 5  # lines that are not UTF-8, below which a file may just be damaged
SHARE = 0.1  # of lines or words that speak for something
ENOUGH = 10_000  # lines that are looked at for which encoding it is
KEPT = 1_000  # different words that are counted
WORD, BREAK = re.compile(rb"[A-Za-z\x80-\xff]+"), re.compile(rb"[\s,;|\"{}:\[\]]+")
UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")  # what cp1252 leaves free
# What no Western word has: three letters beyond ASCII in a row, or a sign or a capital of cp1252 between small letters.
FOREIGN = re.compile(rb"[\x80-\xff]{3}|[a-z][\x80-\x8f\x90\x91\x93-\x99\x9b\x9d\x9f][a-z]")
MISSING = "\udcff"  # stands for bytes that cannot be read; no text in UTF-8 has it
HANDLER = "umdp.unreadable"


def _unreadable(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return MISSING, error.end


codecs.register_error(HANDLER, _unreadable)


def known_encoding(name: str) -> str:
    """Return the name of an encoding as Python has it.

    Examples
    --------
    >>> known_encoding("Windows-1252"), known_encoding("UTF8"), known_encoding("utf-8-sig"), known_encoding("latin1")
    ('cp1252', 'utf-8', 'utf-8', 'iso8859-1')
    """
    try:
        found = codecs.lookup(name)
        if "\n".encode(found.name).decode(found.name) != "\n":
            raise LookupError
    except (LookupError, ValueError, UnicodeError):
        raise FormatError(
            f"there is no encoding {name!r} for text; give one such as cp1252, latin-1, cp1250, utf-8 or utf-16"
        ) from None
    return UTF_8 if found.name == "utf-8-sig" else found.name


def find_encoding(blocks: Iterable[bytes], name: str) -> str:
    r"""Return the encoding of a text, as its first bytes or all of it tell: utf-8, utf-16 with a mark, or cp1252.

    It is decided once, for all lines, whatever they say; so no line is left out because of the names in it. A text is in UTF-8
    where all of it is, or where some lines are that are not plain ASCII: the others are then defective. It is in cp1252 where the
    same words stand in line after line, and could be words there. What is damaged by chance does not repeat itself.

    Raises
    ------
    FormatError
        If it is in another encoding, and nobody can tell which.

    Examples
    --------
    >>> find_encoding([b"state;action;next\n" + "neu;läuft;größer\n".encode("cp1252") * 2], "log.csv")
    'cp1252'
    >>> find_encoding(["neu;läuft;größer\n".encode("utf-16")], "log.csv")
    'utf-16'
    """
    evidence, held = _Evidence(), b""
    for block in blocks:
        if not evidence.lines and not held and block.startswith(UTF_16_MARKS):
            return "utf-16"
        cut = block.rfind(b"\n") + 1 or len(block)
        evidence.take(held + block[:cut])
        held = block[cut:]
        if evidence.bad >= ENOUGH:
            break
    else:
        evidence.take(held)
    return evidence.encoding(name)


class _Evidence:
    """What lines that are not ASCII say of their encoding."""

    def __init__(self) -> None:
        self.lines = self.bad = self._valid = self._undefined = 0
        self._header = False  # whether the first line is not UTF-8
        self._words: Counter[bytes] = Counter()

    def take(self, text: bytes) -> None:
        """Take in whole lines."""
        before, self.lines = self.lines, self.lines + text.count(b"\n") + bool(text and not text.endswith(b"\n"))
        if text.isascii() or (self._valid >= ENOUGH and _is_utf_8(text)):
            return
        for number, line in enumerate(text.split(b"\n"), before):
            if line.isascii():
                continue
            if _is_utf_8(line):
                self._valid += 1
                continue
            self.bad += 1
            self._header |= number == 0
            self._undefined += UNDEFINED.search(line) is not None
            for word in set(WORD.findall(line)):
                if not word.isascii() and (word in self._words or len(self._words) < KEPT):
                    self._words[word] += 1

    def encoding(self, name: str) -> str:
        """Return what it all comes to."""
        if not self.bad or self._valid > SHARE * self.bad:
            return UTF_8
        total = sum(self._words.values())
        again = 2 * sum(times for times in self._words.values() if times > 1) >= total
        if not (self._header or (again and self.bad > 1) or self.bad > max(FEW, SHARE * self.lines)):
            return UTF_8  # some lines are damaged
        foreign = sum(times for word, times in self._words.items() if FOREIGN.search(word))
        if self._undefined <= SHARE**2 * self.bad and foreign <= SHARE * total:
            return WESTERN
        raise FormatError(
            f"{self.bad:,} of the first {self.lines:,} lines are not text in UTF-8, and which encoding they have cannot be found "
            'out; name it with encoding="cp1250", or --encoding cp1250 (cp1251, cp850, shift_jis ...), or save the file as UTF-8',
            path=name,
        )


def _is_utf_8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def unreadable_word(line: bytes) -> str:
    r"""Return the first word of a line that is not text in UTF-8.

    Examples
    --------
    >>> unreadable_word(b"on,run,d\xe9faut,0")
    'd�faut'
    """
    words = (word for word in BREAK.split(line) if not _is_utf_8(word))
    return next(words, b"").decode(errors="replace")


class Recoder:
    r"""Turns bytes of an encoding into UTF-8, a piece at a time; a byte that cannot be read makes its line none of UTF-8.

    Examples
    --------
    >>> recoder = Recoder("cp1252")
    >>> recoder.take(b"gr\xf6\xdfer\n").decode(), recoder.take(b"\x81")
    ('größer\n', b'\xed\xb3\xbf')
    """

    def __init__(self, encoding: str) -> None:
        self._decoder = codecs.getincrementaldecoder(encoding)(HANDLER)

    def take(self, data: bytes, *, final: bool = False) -> bytes:
        """Return the text of the bytes that follow; what is cut in the middle waits for its rest."""
        return self._decoder.decode(data, final).encode(UTF_8, "surrogatepass")


class RecodedFile:
    """A file as if it were written in UTF-8; positions are those of its text, and only its beginning is found at once.

    Parameters
    ----------
    file : binary file, open for reading
    encoding : str
    growing : bool
        Whether more may come, so that what is cut at its end may become whole.
    """

    def __init__(self, file: BinaryIO, encoding: str, *, growing: bool = False) -> None:
        self._file, self._encoding, self._growing = file, encoding, growing
        self._recoder, self._text = Recoder(encoding), b""

    def read(self, size: int) -> bytes:
        """Return at most so many bytes of text."""
        while not self._text:
            data = self._file.read(size)
            self._text = self._recoder.take(data, final=not data and not self._growing)
            if not data:
                break
        found, self._text = self._text[:size], self._text[size:]
        return found

    def seek(self, offset: int) -> None:
        """Go to a position of the text."""
        self._file.seek(0)
        self._recoder, self._text = Recoder(self._encoding), b""
        while offset > 0 and (data := self.read(min(offset, 1 << 20))):
            offset -= len(data)

    def tell(self) -> int:
        """Return how much of the file itself was read."""
        return self._file.tell()

    def fileno(self) -> int:
        """Return the descriptor of the file."""
        return self._file.fileno()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
