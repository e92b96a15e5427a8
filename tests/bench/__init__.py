"""Speed against hand-written floors and peers: `python -m tests.bench commit read tail`. Not for pytest."""
