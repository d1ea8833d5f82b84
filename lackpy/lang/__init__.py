"""The language as data: tables, validation, lowering, canonical form, stubs. Pure: no I/O."""

from lackpy.lang.signature import Grade, Param, RowType, Signature
from lackpy.lang.validate import check
from lackpy.lang.verdict import Verdict, Violation

__all__ = ["Grade", "Param", "RowType", "Signature", "Verdict", "Violation", "check"]
