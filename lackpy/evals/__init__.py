"""Measures a model tier on a file of intents: validity, rightness, seconds and tokens, step by step."""

from lackpy.evals.cases import Case, EvalError, load_cases
from lackpy.evals.harness import Measured, Outcome, run_eval
from lackpy.evals.report import markdown
from lackpy.evals.steps import STEPS, Step

__all__ = ["STEPS", "Case", "EvalError", "Measured", "Outcome", "Step", "load_cases", "markdown", "run_eval"]
