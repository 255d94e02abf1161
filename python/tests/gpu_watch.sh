#!/bin/sh
# Watches real models of transformers: the tests that need it, and what watching costs on a GPU. For a machine with PyTorch and
# transformers; SYNERGRAPH_LIBRARY names libsynergraph.so.0 unless the package is installed, SYNERGRAPH_STORIES stories260K.bin.
#   python/tests/gpu_watch.sh [PYTHON]
set -e
cd "$(dirname "$0")/../.."
python=${1:-python3}
export PYTHONPATH="$PWD/python${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1
"$python" -m pytest -q -s -p no:cacheprovider python/tests/test_watch_transformers.py python/tests/test_watch_models.py python/tests/test_watch_modules.py
"$python" benchmarks/watch_layer.py
"$python" benchmarks/watch_llama.py
"$python" examples/hugging_face.py --random
