"""Stores: both indexes of a knowledge base, committed together."""
