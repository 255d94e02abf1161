#!/usr/bin/env bash
# One study by the ranks of mpirun, without Slurm: scripts/mpi.sh RANKS [OPTION]...
#   scripts/mpi.sh 8 --preset paper --seeds 20 --out /shared/paper
#   MPIRUN="mpirun --hostfile hosts" scripts/mpi.sh 64 --preset paper --seeds 100 --out /shared/paper
# The options are those of `synergraph reproduce`; SYNERGRAPH names the program. More ranks than CPUs: MPIRUN="mpirun --oversubscribe".
set -eu
[ $# -gt 0 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
ranks=$1
shift
# shellcheck disable=SC2206  # MPIRUN is a command with its options
launcher=(${MPIRUN:-mpirun})
# A rank that dies must not take the others with it: they do its work. And each uses its part of the node, not one core.
case $("${launcher[@]}" --version 2>/dev/null) in
  *"Open MPI"* | *OpenRTE* | *PRRTE*) options=(--enable-recovery --bind-to none) ;;
  *HYDRA* | *Intel*) options=(-disable-auto-cleanup) ;;  # of MPICH, MVAPICH and Intel MPI
  *) options=() ;;
esac
exec "${launcher[@]}" "${options[@]}" -n "$ranks" "${SYNERGRAPH:-synergraph}" reproduce "$@"
