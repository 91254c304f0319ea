"""Shipped test classes: the contract of each port, for every provider."""
