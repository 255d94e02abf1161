"""The numbers of heads that the study compares with the loss, in the order of tables."""

#: What each number is: kind, description. The sign is such that more should mean "needed more".
SCORES = {
    "fidelity_shapley": ("structure", "minimax fidelity, Shapley value (learned weights)"),
    "speed_shapley": ("structure", "speed, Shapley value (learned weights)"),
    "fidelity_alone": ("structure", "minimax fidelity of the head alone"),
    "speed_alone": ("structure", "speed of the head alone"),
    "mean_fidelity": ("structure", "mean node fidelity of the head alone"),
    "norm_fidelity": ("moved", "minimax fidelity, Shapley value, norm edges"),
    "norm_speed": ("moved", "speed, Shapley value, norm edges"),
    "contribution_fidelity": ("moved", "minimax fidelity, Shapley value, contribution edges"),
    "contribution_speed": ("moved", "speed, Shapley value, contribution edges"),
    "norm_edges": ("moved", "norm edges, share within the layer"),
    "norm_stack": ("moved", "norm edges, share through the stack"),
    "contribution": ("moved", "L1 contribution, share within the layer"),
    "contribution_stack": ("moved", "L1 contribution, share through the stack"),
    "contribution_no_first": ("moved", "L1 contribution, without the first token"),
    "contribution_others": ("moved", "L1 contribution, without the token itself"),
    "contribution_whole": ("moved", "L1 contribution of the whole output"),
    "contribution_deviation": ("moved", "L1 contribution of the output's deviation from its mean"),
    "projection_edges": ("moved", "projection edges, share within the layer"),
    "projection_stack": ("moved", "projection edges, share through the stack"),
    "output_norm": ("moved", "norm of the output"),
    "deviation_norm": ("moved", "norm of the output's deviation from its mean"),
    "new_residual": ("moved", "projection of the output on the new residual"),
    "deviation_residual": ("moved", "projection of the deviation on the new residual"),
    "final_residual": ("moved", "projection of the output on the last residual"),
    "projection_norm": ("baseline", "norm of the output projection (learned weight)"),
    "entropy": ("baseline", "entropy of attention rows"),
    "distance": ("baseline", "mean distance that the head looks back"),
    "first_token": ("baseline", "attention to the first token"),
    "gradient": ("loss", "gradient times output, absolute"),
    "saved_gradient": ("loss", "loss saved to first order: minus gradient times output"),
    "permuted": ("null", "minimax fidelity, Shapley value, permuted rows"),
}
#: What heads move, measured by contributions: the family of which one is chosen on half of the models.
FAMILY = [name for name, (kind, _) in SCORES.items() if kind == "moved"]
#: Numbers that may be chosen as the best: they need no loss, and are not the null.
CANDIDATES = [name for name, (kind, _) in SCORES.items() if kind not in ("loss", "null")]
#: Orders of heads of which the study says how much of the loss their first heads keep.
ORDERS = ("fidelity_shapley", "speed_shapley", "contribution", "contribution_whole", "new_residual", "deviation_norm", "output_norm",
          "projection_norm", "gradient")
