"""Embedders: from text to vectors of one embedding space."""
