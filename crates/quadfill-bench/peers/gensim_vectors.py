"""Loads vectors of `quadfill export --all-modes -o FILE.vec` with gensim and checks what they say.

gensim_vectors.py FILE.vec [WORD ...]: prints the nearest words of each WORD.
Needs gensim 4 (pip install gensim).
"""

import sys

import numpy as np
from gensim.models import KeyedVectors

vectors = KeyedVectors.load_word2vec_format(sys.argv[1], binary=False)
with open(sys.argv[1], encoding="utf-8") as lines:
    count, width = map(int, next(lines).split())
assert vectors.vectors.shape == (count, width), vectors.vectors.shape
lengths = np.linalg.norm(vectors.vectors, axis=1)
assert np.all((abs(lengths - 1) < 1e-5) | (lengths == 0)), "vectors have unit length"
print(f"{count} words, {width} numbers each")
for word in sys.argv[2:]:
    near = ", ".join(f"{other} {cosine:.2f}" for other, cosine in vectors.most_similar(word, topn=6))
    print(f"{word}: {near}")
