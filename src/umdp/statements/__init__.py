"""Statements: what is assumed, what takes a promise away, why a certificate is refused, what there is to know about data.

Each is a member of an enumeration with its data. What decides looks at the member, the `code`; the sentence that people read is
made here, and nowhere else (`text.worded`).
"""

from umdp.statements.checking import Premise, Refusal
from umdp.statements.diagnostics import DiagnosticCode, Unlisted
from umdp.statements.provisos import Cause, Code, PastCase, PastFeature
from umdp.statements.statement import Statement, codes_of, say, stated, with_codes

__all__ = [
    "Cause", "Code", "DiagnosticCode", "PastCase", "PastFeature", "Premise", "Refusal", "Statement", "Unlisted",
    "codes_of", "say", "stated", "with_codes",
]  # fmt: skip
