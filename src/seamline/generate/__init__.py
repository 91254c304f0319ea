"""Answers from minted passages. Imports no retrieval stage."""
