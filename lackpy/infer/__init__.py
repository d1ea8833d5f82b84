"""Tiers: who proposes a program, in which order, and what a model is told."""
