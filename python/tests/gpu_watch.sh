#!/bin/sh
# Watches and ablates real models of transformers: the tests that need it, and what both cost, on a GPU if there is one. For a machine with
# PyTorch, transformers and pytest.
#   python/tests/gpu_watch.sh [PYTHON]
# SYNERGRAPH_LIBRARY names libsynergraph.so.0 unless the package is installed (cmake/BundleLibrary.cmake puts the libraries that it
# needs beside it), SYNERGRAPH_STORIES stories260K.bin.
cd "$(dirname "$0")/../.." || exit 1
python=${1:-python3}
export PYTHONPATH="$PWD/python${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1
failed=0
"$python" -m pytest -q -s --tb=short -p no:cacheprovider python/tests/test_watch_transformers.py python/tests/test_watch_models.py python/tests/test_watch_edges.py \
  python/tests/test_watch_modules.py python/tests/test_ablate.py python/tests/test_ablate_transformers.py python/tests/test_device.py || failed=1
"$python" examples/hugging_face.py --random || failed=1
"$python" benchmarks/watch_layer.py || failed=1
"$python" benchmarks/watch_llama.py || failed=1
"$python" benchmarks/ablate.py || failed=1
exit $failed
