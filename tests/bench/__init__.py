"""The benchmark against hand-written floors and peers: `python -m tests.bench commit read tail`. Not collected by pytest."""
