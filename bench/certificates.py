"""Certificates of random models: how many are accepted, how many changed ones refused; and forgeries of every kind.

python -m bench.certificates --models 1000 --seed 1 [--states 3 8] [--zero] [--precision 1e-12] [--method auto]
python -m bench.certificates --forged 20000 --seed 1 [--wrong FOLDER]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from properties.bridge import BOUNDED, OBJECTIVES, exact_value, outside, to_model, to_spec
from properties.generate import random_model
from umdp import solve
from umdp.statements import DiagnosticCode
from umdp.verify import verify_content
from verify.campaign import campaign
from verify.tamper import KINDS, attack


def forge(count: int, seed: int, folder: Path | None) -> int:
    """Forge certificates of every kind, print what became of them, and return how many fooled the checker."""
    begun, fooled = time.monotonic(), []
    found = campaign(count, seed, fooled)
    kinds, ends = sorted({kind for kind, _ in found}), sorted({what for _, what in found})
    print(f"{count} forged certificates, {time.monotonic() - begun:.0f} s")
    for kind in kinds:
        print(f"  {kind:12}", {what: found[kind, what] for what in ends if found[kind, what]})
    made = sum(n for (_, what), n in found.items() if what != "originals")
    print(f"  in all {made} forged, accepted though false: {len(fooled)}")
    for index, each in enumerate(fooled):
        print("FOOLED:", each["kind"], each["number"], each["changes"], each["what"])
        if folder is not None:
            folder.mkdir(exist_ok=True, parents=True)
            (folder / f"{seed}-{index}.json").write_text(json.dumps(each["content"]))
    return len(fooled)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--states", type=int, nargs=2, default=(3, 12))
    parser.add_argument("--precision", type=float, nargs="+", default=(1e-6, 1e-12, 1e-15))
    parser.add_argument("--method", nargs="+", default=("auto", "policy", "value"))
    parser.add_argument("--wrong", type=Path, default=None, help="folder for models on which the solver is wrong")
    parser.add_argument("--forged", type=int, default=0, help="forge so many certificates of every kind instead")
    options = parser.parse_args()
    if options.forged:
        sys.exit(forge(options.forged, options.seed, options.wrong) > 0)
    total: Counter[str] = Counter()
    changed: Counter[tuple[str, str]] = Counter()
    begun = time.monotonic()
    for number in range(options.models):
        rng = np.random.default_rng([11, options.seed, number])
        drawn = random_model(rng, zero_lower=bool(number % 2), states=tuple(options.states))
        model = to_model(drawn)
        for index, objective in enumerate(OBJECTIVES + BOUNDED):
            turn = number * 7 + index
            precision = options.precision[turn % len(options.precision)]
            method = options.method[turn // 3 % len(options.method)]
            solution = solve(model, to_spec(objective), precision=precision, method=method)
            certificate = solution.certificate()
            total["certificates"] += 1
            content = json.loads(certificate.to_json())
            verdict = verify_content(content)
            total["accepted" if verdict.valid else "refused"] += 1
            if any(note.code is DiagnosticCode.CLAIMED_LESS for note in certificate.notes):
                total["claim less than the solution"] += 1
                if model.states <= 12:
                    exact = exact_value(drawn, objective)[model.initial]
                    if outside(solution.bracket.lower, exact, solution.bracket.upper):
                        total["solver wrong"] += 1
                        print(
                            "solver wrong:", number, to_spec(objective), precision, method, solution.bracket, flush=True
                        )
                        if options.wrong is not None:
                            options.wrong.mkdir(exist_ok=True, parents=True)
                            name = f"{options.seed}-{number}-{index}.json"
                            certificate.write(options.wrong / name)
                        continue
                print(
                    number,
                    model.states,
                    to_spec(objective),
                    precision,
                    method,
                    solution.bracket,
                    certificate.notes,
                    flush=True,
                )
            if any(note.code is DiagnosticCode.POLICY_NOT_CLAIMED for note in certificate.notes):
                total["claim nothing of the policy"] += 1
            if model.states <= 12 and attack(content, rng, changed):
                print("FOOLED:", number, to_spec(objective), precision, method, flush=True)
    print(f"{options.models} models, {time.monotonic() - begun:.0f} s:", dict(total))
    for kind in KINDS:
        print(f"  {kind:12}", {what: n for (k, what), n in sorted(changed.items()) if k == kind})
    print("  refused in all:", sum(n for (_, what), n in changed.items() if what == "refused"))


if __name__ == "__main__":
    main()
