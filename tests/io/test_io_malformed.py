"""Malformed files: each gives one message with the place and the remedy."""

from __future__ import annotations

import contextlib
import io
import json
import tarfile

import numpy as np
import pytest

import umdp.io
from umdp import FormatError, IntervalMDP, Rewards

TRA = "2 3 4\n0 0 0 0.5 go\n0 0 1 0.5 go\n0 1 1 1 stop\n1 0 1 1\n"
LAB = '0="init" 1="goal"\n0: 0\n1: 1\n'
DRN = (
    "@type: MDP\n@value_type: double\n@parameters\n\n@reward_models\ncost\n@nr_states\n2\n@nr_choices\n2\n@model\n"
    "state 0 [1] init\n\taction go [0]\n\t\t0 : 0.5\n\t\t1 : 0.5\nstate 1 [0]\n\taction stay [2]\n\t\t1 : 1\n"
)


@pytest.mark.usefixtures("both_readers")
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("2 3 4", "2 3 5", r"m\.tra: the header declares 5 transitions, but the file has 4"),
        ("2 3 4", "2 4 4", r"the header declares 4 choices, but the file has 3"),
        ("2 3 4", "2 x 4", r'line 1: the header "2 x 4" should read STATES TRANSITIONS or STATES CHOICES'),
        ("2 3 4", "2 3 4 1", r"line 1: .*POMDP"),
        ("2 3 4\n", "", r"line 1: the header"),
        ("0 0 1 0.5", "0 0 7 0.5", r"line 3: successor state 7 does not exist; they are numbered 0 to 1"),
        ("0 0 1 0.5", "0 0 x 0.5", r'line 3: successor state "x" is not a number'),
        ("0 0 1 0.5", "0 0 -1 0.5", r"line 3: successor state -1 does not exist"),
        ("0 0 1 0.5", "0 0 1 half", r'line 3: probability "half" is not a number'),
        ("0 0 1 0.5", "0 0 1 nan", r"line 3: probability is nan"),
        ("0 0 1 0.5", "0 0 1 -0.5", r"m\.tra: .*-0.5 is not a probability"),
        ("0 0 1 0.5", "0 0 1 0.4", r"m\.tra: state 0, action go: probabilities sum to 0.9, not to 1"),
        ("0 0 1 0.5", "0 0 1 [0.6,0.5]", r"line 3: probability \[0.6,0.5\] has its lower bound above"),
        ("0 0 1 0.5", "0 0 1 [0.6]", r"line 3: .* is not an interval; write \[lower,upper\]"),
        ("0 0 1 0.5", "0 0 1 [0.6,0.9]", r"lower bounds sum to 1.1"),
        ("0 0 1 0.5 go", "0 0 1", r'line 3: "0 0 1" should read STATE CHOICE SUCCESSOR PROBABILITY \[ACTION\]'),
        ("0 0 1 0.5 go", "0 0 1 0.5 stop", r'line 3: the choice has two action names, "go" and "stop"'),
        ("0 1 1 1 stop", "0 2 1 1 stop", r"line 4: the choices of state 0 are not numbered 0, 1, 2"),
        ("1 0 1 1", "0 2 1 1", r"state 1 has no transitions .*-fixdl"),
        ("0 0 0 0.5", "5 0 0 0.5", r"line 2: state 5 does not exist"),
    ],
)
def test_transitions(tmp_path, old, new, said):
    (tmp_path / "m.tra").write_text(TRA.replace(old, new, 1))
    with pytest.raises(FormatError, match=said):
        umdp.io.read(tmp_path / "m.tra")


@pytest.mark.usefixtures("both_readers")
@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("m.lab", '0="init" 1="goal"\n0: 0\n9: 1\n', r'm\.lab, line 3: there is no state "9"'),
        ("m.lab", '0="init" 1="goal"\n0: 0\n1: 4\n', r'line 3: label "4" is not declared'),
        ("m.lab", '0="init"\n', r'no state is labelled "init"'),
        ("m.lab", '0="goal"\n0: 0\n', r'no state is labelled "init"'),
        ("m.lab", "init goal\n0: 0\n", r'line 1: the first line should read 0="init"'),
        ("m.lab", "", r"m\.lab: the file is empty"),
        ("m.sta", "x\n0:(1)\n1:(2)\n", r"m\.sta, line 1: the first line should list the variables"),
        ("m.sta", "(x)\n0:(1)\n", r"1 state is listed, but the model has 2"),
        ("m.sta", "(x,y)\n0:(1,2)\n1:(2)\n", r"line 3: expected 1:\(...\) with 2 values"),
        ("m.srew", "3 1\n0 1\n", r"m\.srew: the rewards are for 3 states, but the model has 2"),
        ("m.srew", "2 2\n0 1\n", r"declares 2 rewards, but the file has 1"),
        ("m.srew", "2 1\n4 1\n", r"line 2: state 4 does not exist"),
        ("m.srew", "2 1\n0 inf\n", r"line 2: reward is inf"),
        ("m.srew", "2 1\n0\n", r"line 2: .* should read STATE REWARD"),
        ("m.srew", "# only a comment\n", r"the header is missing"),
        ("m.trew", "2 3 1\n0 1 0 1\n", r"m\.trew, line 2: .* is a reward on no transition"),
        ("m.trew", "2 5 1\n0 0 0 1\n", r"does not fit the \.tra file"),
    ],
)
def test_files_beside_the_transitions(tmp_path, name, text, said):
    (tmp_path / "m.tra").write_text(TRA)
    (tmp_path / "m.lab").write_text(LAB)
    (tmp_path / name).write_text(text)
    with pytest.raises(FormatError, match=said):
        umdp.io.read(tmp_path / "m.tra")


def test_one_reward_in_two_files(tmp_path):
    (tmp_path / "m.tra").write_text(TRA)
    for name in ("m1.srew", "m2.srew"):
        (tmp_path / name).write_text('# Reward structure "a"\n# State rewards\n2 0\n')
    with pytest.raises(FormatError, match=r'm2\.srew: reward "a" is given on states by two files'):
        umdp.io.read(tmp_path / "m.tra")


@pytest.mark.usefixtures("both_readers")
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("@type: MDP", "@type: CTMC", r"line 1: the model is a CTMC; supported are DTMC and MDP"),
        ("@type: MDP\n", "", r"the header has no @type"),
        ("@parameters\n\n", "@parameters\np q\n", r"line 4: the model has parameters"),
        ("@nr_states\n2", "@nr_states\n3", r"the header declares 3 states, but the file has 2"),
        ("@nr_states\n2", "@nr_states\nmany", r"line 8: @nr_states must be followed by a number"),
        ("@nr_choices\n2", "@nr_choices\n5", r"the header declares 5 choices, but the file has 2"),
        ("@model\n", "", r'line 11: "state 0 \[1\] init" is not part of a DRN header'),
        (DRN[DRN.index("@model") :], "", r"the header has no @model"),
        ("1 : 0.5", "9 : 0.5", r"line 15: successor state 9 does not exist"),
        ("1 : 0.5", "1 : x", r'line 15: probability "x" is not a number'),
        ("1 : 0.5", "1 : $p", r'line 15: probability "\$p" is not a number'),
        ("1 : 0.5", "1 0.5", r"line 15: a transition is written STATE : PROBABILITY"),
        ("1 : 0.5", "1 : 0.6", r"probabilities sum to 1.1, not to 1"),
        ("1 : 0.5", "1 : [0.9, 0.1]", r"line 15: .* lower bound above its upper bound"),
        ("state 1", "state 2", r"line 16: expected state 1"),
        (" init", "", r'no state is labelled "init"'),
        ("\taction go [0]\n", "", r"before the first action|has 1"),
        ("\t\t1 : 1\n", "", r"line 17: there are no transitions"),
        ("[2]", "[2, 3]", r"line 17: 2 rewards, where earlier lines have 1"),
        ("[2]", "[[1, 3]]", r"line 17: uncertain rewards are not supported"),
        ("[2]", "[nan]", r"line 17: reward is nan"),
        ("state 0 [1] init", "what 0", r'line 12: "what 0" is neither a state'),
    ],
)
def test_drn(tmp_path, old, new, said):
    assert old in DRN
    (tmp_path / "m.drn").write_text(DRN.replace(old, new, 1))
    with pytest.raises(FormatError, match=said):
        umdp.io.read(tmp_path / "m.drn")


def archive(tmp_path, change=None, index=None):
    """Write a small UMB file with some members changed (None: removed) and the index edited."""
    model = IntervalMDP(
        [0, 2, 3],
        [0, 2, 3, 4],
        [0, 1, 1, 1],
        [0.2, 0.3, 1, 1],
        [0.7, 0.8, 1, 1],
        labels={"goal": [1]},
        rewards={"time": Rewards(state=[1, 0])},
        actions=["a", "b", "a"],
        variables={"x": np.array([3, 4])},
    )
    path = tmp_path / "m.umb"
    umdp.io.write(model, path)
    with tarfile.open(path) as tar:
        members = {m.name: tar.extractfile(m).read() for m in tar}
    for name, data in (change or {}).items():
        assert name in members
        if data is None:
            del members[name]
        else:
            members[name] = data(members[name])
    if index is not None:
        edited = json.loads(members["index.json"])
        index(edited)
        members["index.json"] = json.dumps(edited).encode()
    with tarfile.open(path, "w") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"index.json": None}, r"m\.umb: the archive has no index\.json"),
        ({"index.json": lambda d: d[:-5]}, r"index\.json cannot be read"),
        ({"index.json": lambda d: b"[]"}, r"index\.json cannot be read"),
        ({"branch-to-target.bin": None}, r"the array branch-to-target\.bin is missing"),
        ({"branch-to-probability.bin": None}, r"the array branch-to-probability\.bin is missing"),
        ({"branch-to-probability.bin": lambda d: d[:-8]}, r"branch-to-probability\.bin has 56 bytes; .*need 64"),
        ({"branch-to-probability.bin": lambda d: d[8:16] * 8}, r"m\.umb: .*(lower|upper) bounds sum"),
        ({"branch-to-probability.bin": lambda d: b"\xff" * len(d)}, r"is not an interval of probabilities"),
        ({"branch-to-target.bin": lambda d: d[:8] * 3 + b"\x09" + bytes(7)}, r"branch 3 leads to state 9"),
        ({"state-to-choices.bin": None}, r"state-to-choices\.bin is missing"),
        ({"state-to-choices.bin": lambda d: d[::-1]}, r"state-to-choices\.bin must rise from 0 to 3"),
        ({"state-is-initial.bin": None}, r"no state is initial"),
        ({"state-is-initial.bin": lambda d: bytes(8)}, r"no state is initial"),
        ({"state-is-initial.bin": lambda d: d[:1]}, r"state-is-initial\.bin has 1 bytes; 2 bits take 8"),
        ({"annotations/aps/goal/states/values.bin": None}, r"annotations/aps/goal/states/values\.bin is missing"),
        ({"annotations/rewards/time/states/values.bin": None}, r"rewards/time/states/values\.bin is missing"),
        ({"annotations/rewards/time/states/values.bin": lambda d: d[:8]}, r"has 8 bytes; 4 entries need 32"),
        ({"annotations/rewards/time/states/values.bin": lambda d: d[16:24] + d[:24]}, r"reward \"time\" is uncertain"),
        ({"annotations/rewards/time/states/values.bin": lambda d: b"\xff" * 32}, r"reward \"time\""),
        ({"actions/choices/values.bin": lambda d: b"\x07" * 12}, r"names action \d+ of 2"),
        ({"actions/choices/strings.bin": lambda d: b"\xff\xff"}, r"not UTF-8"),
        ({"valuations/states/valuations.bin": lambda d: d + d}, r"valuations\.bin has"),
    ],
)
def test_umb_members(tmp_path, change, said):
    with pytest.raises(FormatError, match=said):
        umdp.io.read(archive(tmp_path, change))


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda i: i.update({"format-version": 7}), r"format version is 7; version 1 is supported"),
        (lambda i: i.pop("transition-system"), r"index\.json lacks the entry 'transition-system'"),
        (lambda i: i["transition-system"].pop("#states"), r"lacks the entry '#states'"),
        (lambda i: i["transition-system"].update({"#states": None}), r"entry of the wrong kind"),
        (lambda i: i["transition-system"].update({"#states": "many"}), r"entry of the wrong kind"),
        (lambda i: i["transition-system"].update({"#states": 5}), r"m\.umb: "),
        (lambda i: i["transition-system"].update({"time": "stochastic"}), r"stochastic time.*supported are"),
        (lambda i: i["transition-system"].update({"#players": 2}), r"2 players"),
        (lambda i: i["transition-system"]["branch-probability-type"].update({"type": "int"}), r"numbers of type int"),
        (lambda i: i["valuations"]["states"]["classes"][0]["variables"][0]["type"].update({"size": 3}), r"3 bits"),
        (lambda i: i["valuations"]["states"].update({"classes": []}), r"0 kinds of valuations"),
        (lambda i: i.update({"annotations": []}), r"wrong kind"),
    ],
)
def test_umb_index(tmp_path, edit, said):
    with pytest.raises(FormatError, match=said):
        umdp.io.read(archive(tmp_path, index=edit))


@pytest.mark.parametrize("share", [0.0005, 0.2, 0.3, 0.45])
def test_umb_cut_off(tmp_path, share):
    data = archive(tmp_path).read_bytes()
    (tmp_path / "m.umb").write_bytes(data[: int(len(data) * share)])
    with pytest.raises(FormatError, match=r"m\.umb: "):
        umdp.io.read(tmp_path / "m.umb")


@pytest.mark.parametrize("head", [b"\x1f\x8b\x08\x00", b"\xfd7zXZ\x00", b"PK\x03\x04"])
def test_umb_of_another_kind(tmp_path, head):
    (tmp_path / "m.umb").write_bytes(head + b"garbage" * 50)
    with pytest.raises(FormatError, match=r"archive"):
        umdp.io.read(tmp_path / "m.umb")


def test_random_damage_never_escapes(tmp_path):
    """A damaged byte gives either a model or a message."""
    data = archive(tmp_path).read_bytes()
    rng = np.random.default_rng(1)
    path = tmp_path / "d.umb"
    for _ in range(150):
        broken = bytearray(data)
        for at in rng.integers(0, len(data), 8):
            broken[at] = rng.integers(256)
        path.write_bytes(broken)
        with contextlib.suppress(FormatError):
            umdp.io.read(path)


@pytest.mark.usefixtures("both_readers")
@pytest.mark.parametrize("text", [TRA, DRN])
def test_random_damage_of_text_never_escapes(tmp_path, text):
    rng = np.random.default_rng(2)
    path = tmp_path / ("d.tra" if text is TRA else "d.drn")
    for _ in range(400):
        broken = bytearray(text.encode())
        for at in rng.integers(0, len(broken), 2):
            broken[at] = rng.choice(list(b' \n[],.:0129-eax@$"/\xff'))
        path.write_bytes(broken)
        with contextlib.suppress(FormatError):
            umdp.io.read(path)


def test_missing_files(tmp_path):
    (tmp_path / "model.drn").write_text(DRN)
    with pytest.raises(FormatError, match=r"there is no such file; did you mean .*model\.drn\?"):
        umdp.io.read(tmp_path / "modle.drn")
    with pytest.raises(FormatError, match=r"did you mean .*model\.drn\?"):
        umdp.io.read(tmp_path / "model.umb")
    with pytest.raises(FormatError, match=r"no such file; check its name"):
        umdp.io.read(tmp_path / "zzz.umb")
    with pytest.raises(FormatError, match=r"the folder .* does not exist"):
        umdp.io.read(tmp_path / "nowhere" / "model.umb")
    with pytest.raises(FormatError, match=r"this is a folder"):
        umdp.io.read(tmp_path)
    (tmp_path / "model.xyz").write_text("x")
    with pytest.raises(FormatError, match=r"files ending in \.xyz are not known; a model has one of \.prism, \.nm"):
        umdp.io.read(tmp_path / "model.xyz")
    (tmp_path / "model").write_text("x")
    with pytest.raises(FormatError, match=r"the name has no ending"):
        umdp.io.read(tmp_path / "model")
    with pytest.raises(FormatError, match=r"constants \(K\) can only be given to programs"):
        umdp.io.read(tmp_path / "model.drn", constants="K=2")
    for name in ("m.drn", "m.umb", "m.tra"):
        (tmp_path / name).write_text("")
        with pytest.raises(FormatError, match=r"the file is empty"):
            umdp.io.read(tmp_path / name)
