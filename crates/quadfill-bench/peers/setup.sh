#!/usr/bin/env bash
# Sets up the peers in a virtual environment: setup.sh FOLDER
set -euo pipefail
folder=$1
[ -x "$folder/bin/python" ] || python3 -m venv "$folder"
"$folder/bin/pip" install --quiet "setuptools<81" numpy scipy pandas polars myfm==0.4.0 lenskit==2025.8.1 libmf tensorly
"$folder/bin/pip" install --quiet wheel cython findblas
"$folder/bin/pip" install --quiet --no-build-isolation cmfrec
