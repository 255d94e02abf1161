"""The quantities that the library measures. Made by scripts/generate_documents.py: do not edit."""

from typing import Dict, NamedTuple


class Quantity(NamedTuple):
    """In texts EPS and CUTOFF stand for numbers."""

    heading: str
    label: str
    unit: str
    owner: str
    column: bool


QUANTITIES: Dict[str, Quantity] = {
    "forward_probability": Quantity("p", "Forward probability", "share", "head, layer", True),
    "truncated_hitting_mean": Quantity("hit cut CUTOFF", "Hitting time, mean, cut", "steps", "head, layer", True),
    "truncated_hitting_max": Quantity("hit cut max", "Hitting time, largest, cut", "steps", "head, layer", False),
    "hitting_mean": Quantity("hit mean", "Hitting time, mean", "steps", "head, layer", True),
    "hitting_max": Quantity("hit max", "Hitting time, largest", "steps", "head, layer", True),
    "mixing_time_EPS": Quantity("T_mix(EPS)", "Mixing time T_mix(EPS)", "steps", "head, layer", True),
    "averaged_mixing_time_EPS": Quantity("T_avg(EPS)", "Averaged mixing time T_avg(EPS)", "steps", "head, layer", True),
    "averaged_mixing_time_tv_EPS": Quantity("T_avg,tv(EPS)", "Averaged mixing time T_avg(EPS) by total variation", "steps", "head, layer", False),
    "minimax_fidelity": Quantity("fidelity", "Minimax fidelity", "share", "head, layer", True),
    "minimax_fidelity_upper": Quantity("fidelity, at most", "Minimax fidelity, upper end", "share", "head, layer", False),
    "minimax_time": Quantity("at step", "Time of the minimax fidelity", "steps", "head, layer", False),
    "normalised_fidelity": Quantity("F", "Normalised fidelity", "ratio", "head, layer", True),
    "normalised_fidelity_upper": Quantity("F, at most", "Normalised fidelity, upper end", "ratio", "head, layer", False),
    "backward_hitting_time": Quantity("h_bwd", "Backward hitting time", "steps", "head, layer", True),
    "backward_mixing_time_EPS": Quantity("T_bwd(EPS)", "Backward mixing time T_bwd(EPS)", "steps", "head, layer", True),
    "fidelity_bound": Quantity("fidelity bound", "Bound of the minimax fidelity", "ratio", "head, layer", False),
    "fidelity_tightness": Quantity("tight", "Tightness of the bound", "ratio", "head, layer", True),
    "fidelity_tightness_upper": Quantity("tight, at most", "Tightness of the bound, upper end", "ratio", "head, layer", False),
    "best_head_fidelity": Quantity("its fidelity", "Fidelity of the best head", "share", "layer", True),
    "synergy": Quantity("synergy", "Synergy", "ratio", "layer", True),
    "mixing_synergy": Quantity("mixing synergy", "Mixing synergy", "ratio", "layer", True),
    "cross_head_share": Quantity("cross-head", "Cross-head share", "share", "layer", True),
    "effective_forward_probability": Quantity("Σ w p", "Effective forward probability", "share", "layer", False),
    "best_head_fidelity_upper": Quantity("best fidelity, at most", "Fidelity of the best head, upper end", "share", "layer", False),
    "synergy_lower": Quantity("synergy, at least", "Synergy, lower end", "ratio", "layer", False),
    "synergy_upper": Quantity("synergy, at most", "Synergy, upper end", "ratio", "layer", False),
    "best_head": Quantity("best head", "Best head", "head", "layer", False),
    "best_head_decided": Quantity("decided", "Best head is decided", "flag", "layer", False),
    "minimax_node": Quantity("node", "Weakest token", "node", "head, layer", False),
    "certified": Quantity("certified", "Fidelity is certified", "flag", "head, layer", False),
    "worst_node": Quantity("slowest", "Slowest token", "node", "head, layer", False),
    "hitting_time": Quantity("hit", "Hitting time", "steps", "node", False),
    "truncated_hitting_time": Quantity("hit cut CUTOFF", "Hitting time, cut", "steps", "node", False),
    "node_fidelity": Quantity("fidelity", "Node fidelity", "share", "node", False),
    "node_fidelity_upper": Quantity("fidelity, at most", "Node fidelity, upper end", "share", "node", False),
    "optimal_time": Quantity("at step", "Optimal fidelity time", "steps", "node", False),
    "weight": Quantity("weight", "Head weight", "share", "head", False),
    "best_share": Quantity("best in", "Samples in which it is the best head", "share", "head", False),
    "synergy_share": Quantity("present", "Samples with synergy", "share", "layer", False),
    "speed": Quantity("speed", "Speed", "share", "layer", False),
    "shapley": Quantity("Shapley", "Shapley value", "change", "head", True),
    "banzhaf": Quantity("Banzhaf", "Banzhaf value", "change", "head", False),
    "alone": Quantity("alone", "Value alone", "share", "head", True),
    "dropped": Quantity("lost", "Lost without it", "change", "head", True),
    "stack_share": Quantity("share", "Share of the weakest token’s signal", "share", "head", False),
    "interaction": Quantity("interaction", "Interaction", "change", "pair", False),
}
