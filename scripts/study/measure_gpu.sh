#!/bin/bash
# The measurements of docs/validity.md on a machine with a GPU: trains the models of the paper's tasks and of the tasks that need attention,
# and measures them and the language models. The same command continues after an interruption.
#   scripts/study/measure_gpu.sh WEIGHTS PROGRAM OUT [PYTHON]
# WEIGHTS holds llama2.data, minimind/, stories260K.bin, tok512.bin, tinyllama.gguf (with llama.cpp's package gguf in PYTHONPATH), and
# stories15M.npz, minimind.npz and stories260K.npz of `scripts/validity.py texts`. A model that is not there is left out.
# PROGRAM is synergraph with CUDA. SYNERGRAPH_LIBRARY names the library unless the package is installed. OUT gets small files of results.
# WORK: folder for all files between (a new one unless given). LIMIT: seconds for everything (600). PARTS: "tasks languages large", or some
# of them; large is TinyLlama. EPOCHS: of the paper's models (200). SHARES: processes that measure trained models (5). The other variables
# are for rehearsals.
set -u
weights=$1 program=$2 out=$3 python=${4:-python3}
here=$(cd "$(dirname "$0")/.." && pwd)
work=${WORK:-$(mktemp -d)}
limit=${LIMIT:-600} device=${DEVICE:-cuda} threads=${THREADS:-$(nproc)} parts=${PARTS:-tasks languages large} shares=${SHARES:-5}
texts=${TEXTS:-128} seeds=${SEEDS:-16} rows=${ROWS:-32768} tokens=${TOKENS:-128}
export PYTHONPATH="$here/../python${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1
mkdir -p "$out" "$work/logs"
left() { echo $((limit - SECONDS)); }
say() { echo "$SECONDS s: $*"; }
validity() { "$python" "$here/validity.py" "$@"; }
# within SECONDS_KEPT COMMAND...: ends the command so many seconds before the limit.
within() { local kept=$1; shift; timeout -k 5 $(($(left) > kept + 5 ? $(left) - kept : 5)) "$@"; }

# Structure is measured on the GPU if that agrees with the CPU here.
structure=${STRUCTURE-$device}
[ -z "$structure" ] || "$python" - "$structure" <<'HERE' || { say "structure is measured on the CPU"; structure=; }
import sys
import numpy as np
import synergraph as sg
random = np.random.default_rng(1)
attention = np.tril(random.random((300, 1, 64, 64)) ** 4)
attention /= attention.sum(-1, keepdims=True)
here, there = (sg.measure(attention, axes="sample head query key", cutoff=100, per_node=True, **more) for more in ({}, {"device": sys.argv[1]}))
for name in ("minimax_fidelity", "truncated_hitting_mean", "node_fidelity"):
    np.testing.assert_allclose(there[name], here[name], rtol=1e-9, atol=1e-14, err_msg=name)
HERE
common=(--device "$device" --out)
[ -z "$structure" ] || common=(--structure-device "$structure" "${common[@]}")

# language NAME FILE TEXTS COUNT LIMIT [OPTIONS]
language() {
  local name=$1 model=$2 prepared=$3 count=$4 most=$5; shift 5
  [ -e "$weights/$model" ] || { say "$name is not there"; return; }
  [ "$most" -gt 20 ] || { say "no time for $name"; return; }
  within 10 "$python" "$here/validity.py" measure "$weights/$model" --name "$name" --prepared "$weights/$prepared" --samples "$count" --tokens "$tokens" \
    --threads "$threads" --limit "$most" "$@" "${common[@]}" "$work/languages" && say "$name is measured"
  validity pack --out "$work/languages" --to "$out"
}

languages() {
  language stories15M llama2.data stories15M.npz "$texts" $((($(left) - 40) * 4 / 10)) --rows "$rows" --block "${BLOCK:-16}"
  language MiniMind2-Small minimind minimind.npz $((texts / 2)) $((($(left) - 40) * 7 / 10)) --rows "$rows" --block "${BLOCK:-16}"
  language stories260K stories260K.bin stories260K.npz "$texts" $(($(left) - 40)) --rows "$rows" --block "${BLOCK:-16}" --tokenizer "$weights/tok512.bin"
}

# 32 heads have too many subsets: sampled orders. The rest of the network runs in half precision.
large() {
  language TinyLlama-1.1B tinyllama.gguf stories15M.npz "${LARGE_TEXTS:-16}" $(($(left) - 25)) --rows $((2 * rows)) --block "${LARGE_BLOCK:-8}" \
    --orders "${LARGE_ORDERS:-24}" --structure-orders "${LARGE_STRUCTURE:-16}" --precision "${PRECISION:-half}"
}

small_sizes="--epochs ${SMALL_EPOCHS:-16} --sequences 2000 --length 24 --vocabulary 16 --layers 2 --width 32 --hidden 64 --learning-rate 0.002 --dropout 0"
quick="--samples 1 --subset-samples 0 --no-figures --quiet"
new="recall,delayed-copy,maximum,second-maximum,parity,majority"

train_paper() {
  within 60 "$program" reproduce --preset paper --heads 4,8,16 --seeds "$seeds" --epochs "${EPOCHS:-200}" ${PAPER_SIZES:-} $quick --device "$device" \
    --out "$work/paper" >"$work/logs/paper.log" 2>&1
}

train_small() {
  within 60 "$program" reproduce --tasks "$new" --heads 4,8,16 --seeds "$seeds" $small_sizes $quick --device cpu --out "$work/small" \
    >"$work/logs/small.log" 2>&1
}

# measured NAME OPTIONS: the models of a study, by several processes.
measured() {
  local name=$1 share waiting=(); shift
  for share in $(seq 0 $((shares - 1))); do
    within 5 "$python" "$here/validity.py" tasks "$work/$name" --name "$name" --share "$share/$shares" --orders 96 --structure-orders 32 \
      --rows $((4 * rows)) --threads $(((threads + shares - 1) / shares)) --limit $(($(left) - 20)) "$@" "${common[@]}" "$out" \
      >"$work/logs/$name-$share.log" 2>&1 &
    waiting+=($!)
  done
  wait "${waiting[@]}"
  say "models of $name are measured: status $?; $(grep -h 's are over' "$work/logs/$name"-*.log | tr '\n' ' ')"
}

tasks() {
  train_paper &
  local training=$!
  train_small
  say "small models are trained: status $?"
  measured small --samples "${SEQUENCES:-64}" --structure-samples 16
  wait "$training"
  say "models of the paper's size are trained: status $?"
  measured paper --samples "${SEQUENCES:-32}" --structure-samples 8
}

reading=
case " $parts " in *" languages "*) languages >"$work/logs/languages.log" 2>&1 & reading=$! ;; esac
case " $parts " in *" tasks "*) tasks 2>&1 ;; esac
[ -z "$reading" ] || wait "$reading"
case " $parts " in *" large "*) large 2>&1 | tee "$work/logs/large.log" ;; esac
[ -z "$reading" ] || grep -hv '%, ' "$work/logs/languages.log"
tail -qn 2 "$work"/logs/*.log
for log in "$work"/logs/*.log; do echo "== $log"; tail -n 40 "$log"; done >"$out/log.txt"
say "done"
ls -la "$out"
