"""Measures retrieval without a model in the loop. Never imports generation.

``golden`` and ``beir`` read questions with labels, ``run.evaluate`` drives a ``Retriever`` through
``variants``, ``measures`` scores each query, ``significance`` and ``compare`` say how far the difference of two
variants may be trusted, ``trust`` says when a run is invalid and ``notice`` when it proves nothing,
``report`` and ``runs`` hold and write the outcome.
"""
