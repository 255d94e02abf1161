#!/bin/bash
# The measurements of docs/validity.md on a machine with a GPU: trains the models of the paper's tasks and of the tasks that need attention,
# and measures them and three language models.
#   scripts/study/measure_gpu.sh WEIGHTS PROGRAM OUT [PYTHON]
# WEIGHTS holds llama2.data, minimind/, stories260K.bin, tok512.bin, stories15M.npz and minimind.npz (`scripts/validity.py texts`).
# PROGRAM is synergraph with CUDA. SYNERGRAPH_LIBRARY names the library unless the package is installed. OUT gets small files of results.
# LIMIT: seconds for everything (420). EPOCHS: of the paper's models (100). The other variables are for rehearsals.
set -u
weights=$1 program=$2 out=$3 python=${4:-python3}
here=$(cd "$(dirname "$0")/.." && pwd)
work=${WORK:-$(mktemp -d)}
limit=${LIMIT:-420} device=${DEVICE:-cuda} threads=${THREADS:-$(nproc)}
texts=${TEXTS:-128} seeds=${SEEDS:-16} rows=${ROWS:-32768} tokens=${TOKENS:-128}
export PYTHONPATH="$here/../python${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1
mkdir -p "$out" "$work"
left() { echo $((limit - SECONDS)); }
say() { echo "$SECONDS s: $*"; }
validity() { "$python" "$here/validity.py" "$@"; }

languages() {
  common=(--device "$device" --threads "$threads" --rows "$rows" --tokens "$tokens" --block "${BLOCK:-16}" --out "$work/languages")
  # Each may take a part of what is left of the time.
  for one in "stories15M llama2.data stories15M.npz $texts 4" "MiniMind2-Small minimind minimind.npz $((texts / 2)) 7" \
             "stories260K stories260K.bin - $texts 10"; do
    read -r name model prepared count part <<<"$one"
    [ -e "$weights/$model" ] || { say "$name is not there"; continue; }
    [ "$prepared" = - ] && given=(--tokenizer "$weights/tok512.bin" --prepared "$weights/stories260K.npz") || given=(--prepared "$weights/$prepared")
    [ "$(left)" -gt 70 ] || { say "no time for $name"; continue; }
    timeout -k 5 $(($(left) - 15)) "$python" "$here/validity.py" measure "$weights/$model" --name "$name" "${given[@]}" --samples "$count" "${common[@]}" \
      --limit $((($(left) - 40) * part / 10)) && say "$name is measured"
    validity pack --out "$work/languages" --to "$out"
  done
}

small_sizes="--epochs ${SMALL_EPOCHS:-16} --sequences 2000 --length 24 --vocabulary 16 --layers 2 --width 32 --hidden 64 --learning-rate 0.002 --dropout 0"
quick="--samples 1 --subset-samples 0 --no-figures --quiet"
new="recall,delayed-copy,maximum,second-maximum,parity,majority"

tasks() {
  measured=(--orders 96 --structure-orders 32 --rows $((8 * rows)) --device "$device" --threads "$threads" --out "$out")
  timeout -k 5 $(($(left) - 60)) "$program" reproduce --tasks "$new" --heads 4,8,16 --seeds "$seeds" $small_sizes $quick --device cpu \
    --out "$work/small" >"$work/small.log" 2>&1
  say "small models: status $?"
  timeout -k 5 $((($(left) - 10) * 6 / 10)) "$python" "$here/validity.py" tasks "$work/small" --name small --samples "${SEQUENCES:-64}" \
    --structure-samples 16 --limit $((($(left) - 60) * 4 / 10)) "${measured[@]}"
  say "small models are measured: status $?"
  wait "$training"
  say "models of the paper's size: status $?"
  timeout -k 5 $(($(left) - 10)) "$python" "$here/validity.py" tasks "$work/paper" --name paper --samples "${SEQUENCES:-32}" \
    --structure-samples 8 --limit $(($(left) - 60)) "${measured[@]}"
  say "models of the paper's size are measured: status $?"
}

timeout -k 5 $((limit * 6 / 10)) "$program" reproduce --preset paper --heads 4,8,16 --seeds "$seeds" --epochs "${EPOCHS:-100}" ${PAPER_SIZES:-} $quick \
  --device "$device" --out "$work/paper" >"$work/paper.log" 2>&1 &
training=$!
languages >"$work/languages.log" 2>&1 &
reading=$!
tasks 2>&1
wait "$reading"
grep -hv '%, ' "$work/languages.log"
tail -n 3 "$work/paper.log" "$work/small.log"
cat "$work"/*.log >"$out/log.txt"
say "done"
ls -la "$out"
