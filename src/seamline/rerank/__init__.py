"""Scores, gates, removes near-duplicates, cuts, and mints what generation may see."""
