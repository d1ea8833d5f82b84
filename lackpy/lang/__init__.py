"""The language as data: tables, validation, lowering, canonical form, stubs. Pure: no I/O."""

from lackpy.lang import grammar
from lackpy.lang.canonical import canonical, skeleton
from lackpy.lang.fill import Form, SlotError, fill, form
from lackpy.lang.signature import Grade, Param, RowType, Signature
from lackpy.lang.spec import spec_json, spec_text
from lackpy.lang.stubs import stubs
from lackpy.lang.validate import check
from lackpy.lang.verdict import Verdict, Violation

__all__ = [
    "Form",
    "Grade",
    "Param",
    "RowType",
    "Signature",
    "SlotError",
    "Verdict",
    "Violation",
    "canonical",
    "check",
    "fill",
    "form",
    "grammar",
    "skeleton",
    "spec_json",
    "spec_text",
    "stubs",
]
