"""What an intent says: its clean-up, its concept text, and patterns over both. No file but the shipped lexicon."""

from lackpy.intent.clean import Cleaned, clean
from lackpy.intent.pattern import CompiledPattern, Form, PatternError, compile_pattern, expand
from lackpy.intent.patternset import Entry, Hit, Match, PatternSet
from lackpy.intent.slots import TYPES, SlotType, slot_type

__all__ = [
    "TYPES",
    "Cleaned",
    "CompiledPattern",
    "Entry",
    "Form",
    "Hit",
    "Match",
    "PatternError",
    "PatternSet",
    "SlotType",
    "clean",
    "compile_pattern",
    "expand",
    "slot_type",
]
