"""The pattern language as templates use it; it lives with the clean-up it is compiled through."""

from lackpy.intent.pattern import MAX_EXPANSIONS, CompiledPattern, Form, PatternError, compile_pattern, expand
from lackpy.intent.patternset import Entry, Hit, Match, PatternSet
from lackpy.intent.slots import TYPES as SLOT_TYPES
from lackpy.intent.slots import SlotType, slot_type

__all__ = [
    "MAX_EXPANSIONS",
    "SLOT_TYPES",
    "CompiledPattern",
    "Entry",
    "Form",
    "Hit",
    "Match",
    "PatternError",
    "PatternSet",
    "SlotType",
    "compile_pattern",
    "expand",
    "slot_type",
]
