#!/usr/bin/env python3
"""Compares `synergraph analyze` on checkpoints with reference values.

Usage: check_vectors.py SYNERGRAPH CHECKPOINTS TOKENS.npy REFERENCE.json

CHECKPOINTS is a directory with {H}_heads_copy.pt. The reference has, for every H, accuracy and for every layer the mean
and standard deviation over samples of each metric; it looks 100 steps ahead for every fidelity. Exits 1 when a mean is
off by more than 2e-4 relative and 1e-7 absolute (untruncated hitting times: 1e-3; above 1e6 only "slow or never").
"""
import json
import subprocess
import sys


def analyze(program, checkpoint, tokens, *options):
    command = [program, "analyze", checkpoint, "--tokens", tokens, "--task", "copy", "--json", "-", *options]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def layers_of(report, convention):
    return next(c for c in report["conventions"] if c["convention"] == convention)["layers"]


def main():
    program, checkpoints, tokens, reference_path = sys.argv[1:]
    with open(reference_path, encoding="utf-8") as file:
        reference = json.load(file)
    failures, checked, worst = 0, 0, {}
    for heads, expected in reference.items():
        checkpoint = f"{checkpoints}/{heads}_heads_copy.pt"
        both = analyze(program, checkpoint, tokens, "--convention", "both", "--horizon", "100")
        per_head = analyze(program, checkpoint, tokens, "--normalization", "per-head", "--horizon", "100")
        if both["task"]["accuracy"] != expected["accuracy"]:
            failures += 1
            print(f"{heads} heads: accuracy {both['task']['accuracy']}, expected {expected['accuracy']}")
        for number, layer in enumerate(expected["layers"]):
            exact = layers_of(both, "exact")[number]
            published = layers_of(both, "published")[number]
            theory = layers_of(per_head, "exact")[number]
            measured = {
                "mixing_published_mean": published["combined"]["truncated_hitting_mean"],
                "mixing_published_max": published["combined"]["truncated_hitting_max"],
                "mixing_pooled_mean": exact["combined"]["truncated_hitting_mean"],
                "mixing_pooled_max": exact["combined"]["truncated_hitting_max"],
                "mixing_per-head_mean": theory["combined"]["truncated_hitting_mean"],
                "mixing_per-head_max": theory["combined"]["truncated_hitting_max"],
                "hitting_pooled_mean": exact["combined"]["hitting_mean"],
                "fidelity_published": published["combined"]["minimax_fidelity"],
                "fidelity_sources": exact["combined"]["minimax_fidelity"],
                "best_head_published": published["best_head_fidelity"],
                "best_head_sources": exact["best_head_fidelity"],
            }
            for name, values in measured.items():
                want, got = layer[name]["mean"], values["mean"]
                checked += 1
                if name == "hitting_pooled_mean" and (want is None or want > 1e6):
                    good, off = values["never"] > 0 or got is None or got > 1e5, 0.0
                else:
                    off = abs(got - want) / max(abs(want), 1e-300)
                    tolerance = 1e-3 if name == "hitting_pooled_mean" else 2e-4
                    good = off <= tolerance or abs(got - want) <= 1e-7
                    if abs(got - want) > 1e-7:
                        worst[name] = max(worst.get(name, 0.0), off)
                if not good:
                    failures += 1
                    print(f"{heads} heads, layer {number}, {name}: {got}, expected {want} (never {values['never']})")
    print(f"{checked} means, {failures} off")
    for name, off in worst.items():
        print(f"  {name:24} largest relative difference {off:.1e}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
