"""Text analysis: keyword terms by language, and sentence boundaries."""
