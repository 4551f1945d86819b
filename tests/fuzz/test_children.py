"""What a trial can do to its process, and what the parent makes of it."""

import pytest

PLANTED = """
import ctypes, os, sys, time, warnings
from dataclasses import dataclass
from fuzz.children import Children, Limits
from fuzz.outcomes import Unsound
from stickbreak.exceptions import InputError

@dataclass
class Planted:
    number: int
    group: str = "planted"

class Trials:
    def make(self, number):
        return Planted(number)
    def attempt(self, given, folder):
        if given.number == 5: DEEDS[sys.argv[1]]()

def refuse(): raise InputError("the word 'x' is unknown; give another")
def raw(): {}["key"]
def die(): ctypes.string_at(0)
def hang():
    while True: pass
def grow(): return bytes(3 << 30)
def grow_in_c(): return ctypes.create_string_buffer(3 << 30)
def hide():
    try: bytes(3 << 30)
    except MemoryError: raise InputError("too much; give less")
def said(text):
    error = InputError()
    error.args = (text,)  # past the care that StickbreakError takes of its texts
    return error
def babble(): raise said("x" * 5000)
def escape(): raise said("the word '\\x1b[31m' is unknown")
def warn(): warnings.warn("careful", RuntimeWarning)
def warn_on_purpose(): warnings.warn("careful", UserWarning)
def unsound(): raise Unsound("a count of -1")
DEEDS = dict(refuse=refuse, raw=raw, die=die, hang=hang, grow=grow, grow_in_c=grow_in_c, hide=hide, babble=babble,
             escape=escape, warn=warn, warn_on_purpose=warn_on_purpose, unsound=unsound)
found, failed = {}, 0
for outcome in Children(Trials(), Limits(memory=1 << 30, seconds=1.0), 2).run(range(30)):
    found.setdefault(outcome.number, outcome)
    failed += outcome.failed
print(len(found), found[5].kind, failed)
"""


@pytest.mark.parametrize(
    ("deed", "outcome"),
    [
        ("refuse", "InputError 0"),
        ("raw", "raw error 1"),
        ("die", "signal 1"),
        ("hang", "hang 1"),
        ("grow", "memory 1"),
        ("grow_in_c", "memory 1"),
        ("hide", "memory 1"),
        ("babble", "message 1"),
        ("escape", "message 1"),
        ("warn", "warning 1"),
        ("warn_on_purpose", "result 0"),
        ("unsound", "unsound 1"),
    ],
)
def test_trial_that_fails_costs_one_input_alone(fresh_fuzz, deed, outcome):
    assert fresh_fuzz(PLANTED, deed) == f"30 {outcome}"
