"""Chunkers: from a document to chunks with exact spans."""
