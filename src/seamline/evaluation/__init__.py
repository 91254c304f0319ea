"""Measures retrieval without a model in the loop. Never imports generation."""
