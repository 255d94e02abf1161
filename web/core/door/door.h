#pragma once

#include "capi/synergraph.h"
#include "door/systems.h"

/// What the page calls beside the C interface, by its rules: src/core/module.ts. A place is an
/// attention, a layer and a sample; `options` are those of door/systems.h.
extern "C" {
#define DOOR(name) [[clang::export_name(#name)]] int name

/// A place that is measured: the document of `synergraph graph --json`.
DOOR(door_measure)
(sg_attention* attention, int layer, int sample, const char* options, char** text);

/// Of every head and of all together: the survival of the worst node and the mean over the nodes,
/// the minimax fidelity so far, and with "signal" the signal of every node, "steps" + 1 times each.
DOOR(door_curves)
(sg_attention* attention, int layer, int sample, const char* options,
 synergraph::door::Numbers** numbers);

/// Of every head and of all together: walk and diffusion, and with "powers" both after 0 to "steps"
/// steps.
DOOR(door_steps)
(sg_attention* attention, int layer, int sample, const char* options,
 synergraph::door::Numbers** numbers);

/// A head, or (-1) all together.
DOOR(door_matrix)
(sg_attention* attention, int layer, int sample, int head, const char* options,
 synergraph::door::Numbers** numbers);

/// Names of heads and nodes.
DOOR(door_names)(sg_attention* attention, int layer, int sample, const char* options, char** text);

/// Names and sizes of the layers.
DOOR(door_layers)(sg_attention* attention, char** text);

/// The heads of a place, ready for any weights.
struct door_mixer;
DOOR(door_mixer_create)
(sg_attention* attention, int layer, int sample, const char* options, door_mixer** mixer);
/// The whole document, at the first weights.
DOOR(door_mixer_json)(const door_mixer* mixer, char** text);
/// The same at other weights, without the heads.
DOOR(door_mixer_update)
(const door_mixer* mixer, const double* weights, std::size_t count, char** text);
DOOR(door_mixer_subsets)
(const door_mixer* mixer, const double* weights, std::size_t count, char** text);
/// For "fidelity" or "speed".
DOOR(door_mixer_best_weights)
(const door_mixer* mixer, const double* weights, std::size_t count, const char* goal, char** text);
[[clang::export_name("door_mixer_free")]] void door_mixer_free(door_mixer* mixer);

/// The nodes, heads and edges of a graph in the text format; `source` names that in messages.
DOOR(door_graph)(const char* graph, const char* source, char** text);

/// The tensors in a file: `synergraph inspect --json`.
DOOR(door_inspect)(const char* path, char** text);

#undef DOOR
}
