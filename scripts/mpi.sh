#!/usr/bin/env bash
# One study by the ranks of mpirun, without Slurm: scripts/mpi.sh RANKS [OPTION]...
#   scripts/mpi.sh 8 --preset paper --seeds 20 --out /shared/paper
#   MPIRUN="mpirun --hostfile hosts" scripts/mpi.sh 64 --preset paper --seeds 100 --out /shared/paper
# The options are those of `synergraph reproduce`; SYNERGRAPH names the program.
set -eu
[ $# -gt 0 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
ranks=$1
shift
exec ${MPIRUN:-mpirun} -n "$ranks" "${SYNERGRAPH:-synergraph}" reproduce "$@"
