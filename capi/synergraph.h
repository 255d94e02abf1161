/* synergraph: how fast, and how faithfully, attention moves information to the last token.
 *
 * The interface for C and for every language that can call C. docs/c.md has an example.
 *
 * - A function that can fail returns SG_OK (0) or another status; sg_error() then says in one line
 *   what was wrong, for the calling thread. Nothing is thrown or printed, and nothing is written
 *   but the directories of sg_train() and sg_reproduce(), and the state file of sg_design().
 * - Objects are opaque. The call that makes one has a place for it as its last argument, and puts
 *   NULL there when it fails; sg_..._free() releases it, and takes NULL.
 * - Texts are UTF-8 and end with a zero byte. Names may be other bytes: JSON has U+FFFD for these,
 *   tables and messages write them out ("\xff"), CSV and graphs leave them as they are. A `char**`
 * receives one that the caller releases with sg_free(); a `const char*` stays the library's.
 * - `options` are a JSON object; NULL or "" for none. A key that is not known, or given twice, is
 * an error.
 * - Layers, samples, heads and tokens count from 0. Sizes of buffers are numbers of elements, and
 *   must be exactly what is written there.
 * - Any number of threads may call at once. An object that a call takes as `const` may be in
 * several calls at once, any other one in one call at a time.
 */
#ifndef SYNERGRAPH_C_H
#define SYNERGRAPH_C_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define SG_API __attribute__((visibility("default")))
#else
#define SG_API
#endif

#ifdef __cplusplus
extern "C" {
#endif
/* NOLINTBEGIN(modernize-use-using): this is C */

/* ---- General ------------------------------------------------------------------------------- */

/* What calls return. */
enum {
  SG_OK = 0,
  SG_INPUT = 1,   /* the data is wrong: attention that is not causal, a malformed file */
  SG_USAGE = 2,   /* the request is wrong: an unknown option, a missing pointer */
  SG_STOPPED = 3, /* the progress function asked to stop */
  SG_MEMORY = 4,  /* there is not enough memory */
  SG_INTERNAL = 5 /* an error of the library: please report it */
};

/* Types of elements. */
enum { SG_FLOAT16 = 0, SG_BFLOAT16 = 1, SG_FLOAT32 = 2, SG_FLOAT64 = 3, SG_INT64 = 4 };

/* The library's version, "major.minor.patch". Before 1.0 a minor version may change anything. */
SG_API const char* sg_version(void);

/* The instruction set that the kernels use on this CPU, "x86-64-v3"; NULL, with sg_error(), where
 * the environment's SYNERGRAPH_ISA asks for one that it does not have. */
SG_API const char* sg_isa(void);

/* The message of the last call of this thread that failed, valid until its next one that does. */
SG_API const char* sg_error(void);

/* Releases a text. */
SG_API void sg_free(char* text);

/* Hears how far a call is, in units of its own, `total` being 0 while that is not known; `detail`
 * says how things stand, "loss 0.21", and may be empty. Called on the thread that made the call,
 * unless `any_thread` is set, about ten times a second and when all is done. Anything but 0 ends
 * the call soon, with SG_STOPPED. */
typedef int (*sg_progress)(uint64_t done, uint64_t total, const char* detail, void* user);

/* How a call is carried out; results do not depend on it. Start from SG_CALL_INIT. */
typedef struct sg_call {
  size_t size;        /* sizeof(sg_call) */
  int32_t threads;    /* 0: as many as this process has CPUs */
  int32_t any_thread; /* not 0: the progress function may be called on any thread, but one call at a
                         time; the library then starts no thread that waits */
  uint64_t memory; /* bytes to work in, beside input and results, as far as that can be kept to; 0:
                      about 1 GiB to measure attention, 4 GiB for the rest */
  sg_progress progress; /* NULL: none */
  void* user;           /* is handed to it */
} sg_call;

#define SG_CALL_INIT \
  { sizeof(sg_call), 0, 0, 0, NULL, NULL }

/* ---- Attention ----------------------------------------------------------------------------- */

/* Causal attention A[query][key] of several heads, in one or more layers and on one or more
 * samples, wherever it comes from: arrays in memory, a file, a model, a graph. Arrays, models and
 * files are read when they are measured. */
typedef struct sg_attention sg_attention;

/* Attention in memory, no layer yet. Options:
 * settings: attention_create
 *   "row_tolerance"  largest distance of a row's sum from 1 (default: the rounding error of the
 *                    element type, or of a shorter type that holds all values)
 *   "missing_mass"   error: refuse rows that sum to less than 1 beyond rounding; node: add a first
 *                    node that takes all the missing mass and keeps it, for models with a learned
 *                    sink logit (default: "error")
 *   "weights_from"   what reports call the weights of sg_attention_set_weights() (default:
 *                    "given")
 *   "reading"        how the arrays were read, for the first lines of reports: {"arrays": [[shape,
 *                    "head,query,key"], ...], "each": "layer" or "sample", "by_default": true}
 * end of settings */
SG_API int sg_attention_create(const char* options, sg_attention** attention);

/* Adds a layer: the array (samples, heads, tokens, tokens) at `data`, whose last axes are query and
 * key. Strides are bytes from one element to the next along each axis; any whole number of elements
 * will do, negative and 0 too. NULL: an array without gaps. Nothing is copied: the array must live
 * and stay as it is until the object is freed. Name NULL: the layer's number, from 0. */
SG_API int sg_attention_add(sg_attention* attention, const char* name, const void* data, int dtype,
                            const int64_t shape[4], const int64_t strides[4]);

/* Writes a head of a sample, `tokens` x `tokens` elements without gaps. Anything but 0: it cannot,
 * and the call that wanted it fails with SG_INPUT. */
typedef int (*sg_read_head)(int64_t sample, int64_t head, void* into, void* user);

/* Adds a layer of this shape that is not in memory as a whole: on a device, or computed when it is
 * wanted. `read` is called for each head whenever that is read, which is several times; on any
 * thread, but one call at a time in all layers of the object. */
SG_API int sg_attention_add_function(sg_attention* attention, const char* name, sg_read_head read,
                                     void* user, int dtype, const int64_t shape[4]);

/* The device that memory belongs to, and the caller's stream on it. Work begins after all work in
 * the stream, and is finished when a call returns. Start from SG_PLACE_INIT. */
typedef struct sg_place {
  size_t size;    /* sizeof(sg_place) */
  int32_t device; /* number of the CUDA device */
  int32_t none;   /* 0 */
  void* stream;   /* a cudaStream_t; NULL: the default stream */
} sg_place;

#define SG_PLACE_INIT \
  { sizeof(sg_place), 0, 0, NULL }

/* Adds a layer in the memory of a device: as sg_attention_add(), with a device pointer.
 * sg_measure() measures the layer in that memory. `read` reads heads for calls that run on the CPU,
 * as in sg_attention_add_function(). NULL: the library copies heads; the keys of a row must lie
 * side by side. */
SG_API int sg_attention_add_device(sg_attention* attention, const char* name, const void* data,
                                   int dtype, const int64_t shape[4], const int64_t strides[4],
                                   const sg_place* place, sg_read_head read, void* user);

/* Attention as queries and keys: row i of a head is the softmax over the keys j <= i of
 * softcap(scale * q_i . k_j). Start from SG_SCORES_INIT. */
typedef struct sg_scores {
  size_t size;         /* sizeof(sg_scores) */
  const void* queries; /* (samples, heads, tokens, width) */
  const void* keys;    /* (samples, key_heads, tokens, width) */
  int32_t dtype;       /* of both */
  int32_t none;        /* 0 */
  int64_t samples, heads;
  int64_t key_heads; /* divides heads: each serves heads / key_heads heads in a row */
  int64_t tokens, width;
  int64_t query_strides[3]; /* bytes from one sample, head, token to the next; the features of a
                               token lie side by side */
  int64_t key_strides[3];
  double scale;
  double softcap;           /* 0: none; else softcap(x) = softcap * tanh(x / softcap) */
  int64_t window;           /* 0: none; else only keys j > i - window */
  const float* sink_logits; /* learned sinks, one for each head; NULL: none */
} sg_scores;

#define SG_SCORES_INIT                                                                            \
  {                                                                                               \
    sizeof(sg_scores), NULL, NULL, SG_FLOAT32, 0, 0, 0, 0, 0, 0, {0, 0, 0}, {0, 0, 0}, 1.0, 0, 0, \
        NULL                                                                                      \
  }

/* Adds a layer of queries and keys in the memory of the CPU (`place` NULL) or of a device. The sink
 * logits lie in the same memory. A device stores no matrix of (tokens, tokens). `read` writes heads
 * for calls that run on the CPU, in elements of read_dtype. NULL: the library computes them in
 * double precision. */
SG_API int sg_attention_add_scores(sg_attention* attention, const char* name,
                                   const sg_scores* scores, const sg_place* place,
                                   sg_read_head read, void* user, int read_dtype);

/* A sequence: tokens begin to end - 1 of a sample, the last of them being the sink. */
typedef struct sg_sequence {
  int64_t sample, begin, end;
} sg_sequence;

/* Chooses the sequences to measure in every layer, of arrays or of a file: to leave padding out, or
 * to give a sample several sinks. The sequences become the samples of the result. Unless one range
 * of tokens describes them all, the result's document lists them as "sequences". Padding may hold
 * anything, NaN too. Unless called: every sample, with all its tokens. */
SG_API int sg_attention_set_sequences(sg_attention* attention, const sg_sequence* sequences,
                                      size_t count);

/* Chooses the same sequences by the lengths of padded samples. `lengths` has one number for all
 * samples or one per sample (none: all tokens). `padding` is the side of the padding, "left" or
 * "right" (NULL: "right"). `sinks` holds for every sample (none: the last token; negative numbers
 * count from the end). All layers must have the same numbers of samples and tokens. */
SG_API int sg_attention_set_lengths(sg_attention* attention, const int64_t* lengths, size_t count,
                                    const char* padding, const int64_t* sinks, size_t sink_count);

/* Head weights, not negative: one for every head of a layer, the same in all layers; or one for
 * every head of all layers, layer after layer. They are normalised. Unless given: equal ones, those
 * of the graph, or learned ones for a model. */
SG_API int sg_attention_set_weights(sg_attention* attention, const double* weights, size_t count);

/* What the heads move, for the option "edges" of sg_measure() and sg_heads(): "norm" and
 * "contribution" weigh edges by it. Norm edges need norms, or values and out_proj; contribution
 * edges need values, out_proj and residual. `part` is one of
 *   "norms"          lengths of moved values ||W_O^h v_j^h||: (samples, heads, tokens)
 *   "values"         (samples, key heads, tokens, width); a key head serves as many heads in turn
 *   "out_proj"       output projection, rows = outputs: (E, heads * width)
 *   "out_proj_bias"  (E)
 *   "residual"       what the heads' outputs are added to: (samples, tokens, E)
 * of layer `layer`, or of all layers with a negative number: then the first axis is the layers (one
 * projection without it serves all layers). `shape` has `axes` extents, `strides` bytes (NULL: no
 * gaps). The array must live until the attention is freed. */
SG_API int sg_attention_set_moved(sg_attention* attention, const char* part, int64_t layer,
                                  const void* data, int dtype, size_t axes, const int64_t* shape,
                                  const int64_t* strides);

/* The attention in a tensor file (docs/formats.md lists the formats), as `synergraph analyze FILE`
 * reads it. Options:
 * settings: attention_open
 *   "layers"         layers to analyse: numbers as the output shows them, such as 3 or 0,2 or 4-7,
 *                    or a regular expression for the names of an archive's tensors (default: all);
 *                    layers come in natural order, 2 before 10
 *   "axes"           names of the arrays' axes in their order: some of layer,sample,head,query,key
 *                    (default: the last of these, one for each axis); for an archive, one more
 *                    name in front, layer or sample, says what each array is
 *   "range"          analyse tokens A to B-1 only, without padding: rows and columns are cut and
 *                    what remains of each row is renormalised
 *   "row_tolerance"  largest distance of a row's sum from 1 (default: the rounding error of the
 *                    element type, or of a shorter type that holds all values)
 *   "missing_mass"   error: refuse rows that sum to less than 1 beyond rounding; node: add a first
 *                    node that takes all the missing mass and keeps it, for models with a learned
 *                    sink logit (default: "error")
 *   "weights"        head weights: a file with (heads) or (layers, heads) numbers; for the program
 *                    also uniform, learned, or a list w1,w2,... (default: learned for checkpoints,
 *                    else uniform)
 *   "out_proj"       attention output projections (rows = outputs) that learned weights come from
 *   "moved"          archive of what the heads move, for norm and contribution edges: arrays
 *                    values, out_proj, residual, and out_proj_bias; or norms
 * end of settings */
SG_API int sg_attention_open(const char* path, const char* options, sg_attention** attention);

/* The tensors in a file: the document that `synergraph inspect --json` writes. */
SG_API int sg_inspect(const char* path, char** text);

/* Which layers of these names "layers" chooses, as above: chosen[k] becomes 1 or 0. */
SG_API int sg_choose_layers(const char* layers, const char* const* names, size_t count,
                            unsigned char* chosen);

/* Writes a sentence that tells how to choose the layers in `names` and none of `others`. */
SG_API int sg_layers_advice(const char* const* names, size_t count, const char* const* others,
                            size_t other_count, char** text);

/* Number of layers. */
SG_API int sg_attention_layers(const sg_attention* attention, int64_t* layers);

/* The layers as a JSON list: "name", "samples", "heads" and "tokens" of each. */
SG_API int sg_attention_json(const sg_attention* attention, char** text);

/* Samples, heads and tokens (of the longest sample, with the node of missing mass) of a layer, as
 * they are measured. */
SG_API int sg_attention_shape(const sg_attention* attention, int64_t layer, int64_t shape[3]);

/* A layer on one sample: (heads, tokens, tokens) probabilities, checked, rows divided by their
 * sums. `tokens` are those of this sample. */
SG_API int sg_attention_read(sg_attention* attention, int64_t layer, int64_t sample, double* into,
                             size_t count);

/* The signal that a layer's heads bring to the sink by diffusion: (heads + 1, steps + 1, tokens),
 * (D^t)[sink][j] of each head and, last, of all together. */
SG_API int sg_attention_curves(sg_attention* attention, int64_t layer, int64_t sample,
                               int64_t steps, const sg_call* call, double* into, size_t count);

/* What reaches the sink of every token through all layers, each applied once: (samples, tokens).
 * Options:
 * settings: attention_stack
 *   "edges"          what the edges are: attention, norm (attention times the norm of what the
 *                    head moves) or contribution (share of each moved value in the output). With
 *                    norm and contribution the weights of the heads follow from the edges
 *                    (default: attention)
 *   "stack"          also follow signals through all layers, each applied once
 *   "residual"       share of the signal that bypasses the heads of each layer (default: 0.5)
 *   "follow"         token whose path through the heads is shown, counted from the first measured
 *                    token (default: the weakest token of each sample)
 *   "method"         signal: with the weights of the heads. rollout: attention rollout, with equal
 *                    weights and residual 0.5. flow: also attention flow, the maximum flow of each
 *                    token to the sink (default: signal)
 * end of settings */
SG_API int sg_attention_stack(sg_attention* attention, const char* options, const sg_call* call,
                              double* into, size_t count);

SG_API void sg_attention_free(sg_attention* attention);

/* Learned head weights: the norms of the heads' blocks of columns in an attention output projection
 * (rows, columns), rows being outputs; strides in bytes, NULL: no gaps. `weights` has a place for
 * every head. */
SG_API int sg_learned_weights(const void* data, int dtype, const int64_t shape[2],
                              const int64_t strides[2], int64_t heads, double* weights);

/* ---- Results ------------------------------------------------------------------------------- */

typedef struct sg_result sg_result;

/* Measures every layer on every sample, as `synergraph analyze` does. Options:
 * settings: measure
 *   "device"         device that runs models and measures attention: cpu, cuda (the first GPU),
 *                    cuda:1 (the second), ..., cuda:all (to measure), or auto: a GPU if there is
 *                    one that can and the work is long enough for it, else the CPU (default: cpu;
 *                    in C and Python auto)
 *   "convention"     definitions to measure by. exact: normalised walk, and certified fidelity
 *                    over the sources. published: as for the paper's tables (walk not normalised,
 *                    fidelity over all nodes and 100 steps) (default: "exact")
 *   "normalization"  how the heads are combined into one walk: per-head (as in the theory),
 *                    pooled, or published (default: pooled; per-head for graphs; published with
 *                    the published convention)
 *   "nodes"          nodes that count for the minimax fidelity: sources or all (default: sources;
 *                    with the published convention: all)
 *   "from_tokens"    tokens whose fidelity counts, counted from the first measured token: such as
 *                    5, 0-7, 0,3,9 or ::4; negative numbers count from the end. Of several, the
 *                    weakest counts (default: all nodes)
 *   "horizon"        number of diffusion steps to search, or 'certified': as many as the proof
 *                    needs (default: certified; 100 with the published convention)
 *   "eps"            threshold of T_mix, or a list of thresholds (the program takes 0.25,0.01)
 *                    (default: 0.25)
 *   "cutoff"         cutoff for truncated hitting times, in steps (default: 100)
 *   "step_limit"     limit on diffusion steps; a fidelity that is not certified by then is
 *                    reported as an interval. 0: no limit, later steps are searched by squaring
 *                    (default: 0)
 *   "edges"          what the edges are: attention, norm (attention times the norm of what the
 *                    head moves) or contribution (share of each moved value in the output). With
 *                    norm and contribution the weights of the heads follow from the edges
 *                    (default: attention)
 *   "per_head"       also measure each head alone, and the mixing synergy
 *   "backward"       also measure averaged mixing times, the backward walk to the first token, and
 *                    how close fidelity comes to its bound; the CPU measures these numbers
 *   "per_node"       keep the numbers of every token
 * end of settings */
SG_API int sg_measure(sg_attention* attention, const char* options, const sg_call* call,
                      sg_result** result);

/* What each head adds: measures every subset of the heads of every layer on every sample, or, of
 * many heads, random orders of them, as `synergraph heads` does. Options:
 * settings: heads
 *   "device"         device that runs models and measures attention: cpu, cuda (the first GPU),
 *                    cuda:1 (the second), ..., cuda:all (to measure), or auto: a GPU if there is
 *                    one that can and the work is long enough for it, else the CPU (default: cpu;
 *                    in C and Python auto)
 *   "convention"     definitions to measure by. exact: normalised walk, and certified fidelity
 *                    over the sources. published: as for the paper's tables (walk not normalised,
 *                    fidelity over all nodes and 100 steps) (default: "exact")
 *   "normalization"  how the heads are combined into one walk: per-head (as in the theory),
 *                    pooled, or published (default: pooled; per-head for graphs; published with
 *                    the published convention)
 *   "nodes"          nodes that count for the minimax fidelity: sources or all (default: sources;
 *                    with the published convention: all)
 *   "from_tokens"    tokens whose fidelity counts, counted from the first measured token: such as
 *                    5, 0-7, 0,3,9 or ::4; negative numbers count from the end. Of several, the
 *                    weakest counts (default: all nodes)
 *   "horizon"        number of diffusion steps to search, or 'certified': as many as the proof
 *                    needs (default: certified; 100 with the published convention)
 *   "cutoff"         cutoff for truncated hitting times, in steps (default: 100)
 *   "step_limit"     limit on diffusion steps; a fidelity that is not certified by then is
 *                    reported as an interval. 0: no limit, later steps are searched by squaring
 *                    (default: 0)
 *   "values"         value to measure for every set of heads: fidelity, speed or both (the program
 *                    takes fidelity,speed) (default: "fidelity", "speed")
 *   "keep"           share of the value of all heads that the smallest subset keeps (default:
 *                    0.95)
 *   "weight_samples" number of first samples used to search for the best weights, and for the best
 *                    subsets of sampled layers; 0: no search for weights (default: 20)
 *   "exact_heads"    largest number of heads for which all subsets of a layer are measured; larger
 *                    layers are sampled (default: 20)
 *   "null_samples"   number of first samples whose heads are also measured with the weights of
 *                    each row permuted among its allowed keys, to tell structure from chance;
 *                    doubles the time of these samples. 0: no claims about pairs, better sets or
 *                    other weights (default: 100)
 *   "precision"      standard error at which sampling stops, as a share of the value of all heads
 *                    (default: 0.001)
 *   "orders"         limit on the random orders of heads drawn per sample of a sampled layer
 *                    (drawn in whole balanced sets, at least eight) (default: 100000)
 *   "loss"           whether to divide the loss of a checkpoint with a task among its heads,
 *                    beside their structure: yes, no or auto, which measures up to 100000 subsets
 *                    of heads on sequences (default: auto)
 *   "ablation"       output of a head that is off, when the loss is measured: zero or mean, its
 *                    mean over all tokens of all sequences; also asks for the loss (default: mean)
 *   "edges"          what the edges are: attention, norm (attention times the norm of what the
 *                    head moves) or contribution (share of each moved value in the output). With
 *                    norm and contribution the weights of the heads follow from the edges
 *                    (default: attention)
 *   "stack"          also follow signals through all layers, each applied once
 *   "residual"       share of the signal that bypasses the heads of each layer (default: 0.5)
 *   "follow"         token whose path through the heads is shown, counted from the first measured
 *                    token (default: the weakest token of each sample)
 *   "method"         signal: with the weights of the heads. rollout: attention rollout, with equal
 *                    weights and residual 0.5. flow: also attention flow, the maximum flow of each
 *                    token to the sink (default: signal)
 *   "verbose"        also print the tables of every head and pair
 * end of settings
 *
 * The result's arrays have the names of the document's fields, the value's before them,
 * "fidelity/shapley" and "fidelity/shapley_error" (layer, head), "speed/pairs" (layer, head, head),
 * "stack/heads". */
SG_API int sg_heads(sg_attention* attention, const char* options, const sg_call* call,
                    sg_result** result);

/* Computes the values of sets of the heads of a layer, on all samples. `heads` has 1 for each head
 * of each set that is in the set and 0 for the others, set after set. values[k * samples + s] is
 * that of set k on sample s. Anything but 0 ends the call with SG_STOPPED. */
typedef int (*sg_set_values)(int64_t layer, int64_t sets, const unsigned char* heads,
                             double* values, void* user);

/* Which heads the loss of a model needs that runs elsewhere: `values` gives the loss without any
 * head of the layer minus the loss with the heads of a set, the others being off. It is called by
 * one thread, with no more than 256 sets at once. Options:
 *   "layers"         names of the layers, and
 *   "heads"          their numbers of heads
 *   "tokens"         tokens of the longest sample, for the document (0)
 *   "kind"           what heads that are off give: "mean" (default) or "zero"
 *   "loss"           name of the loss
 *   "intact", "without_attention"  loss of every sample: of the model as it is, and with every head
 *                    of every layer off
 *   "keep", "exact_heads", "precision", "orders", "seed", "pairs"  as `synergraph schema ablate`
 *                    describes them
 * The result is like that of sg_heads(), with the value "loss". */
SG_API int sg_ablation(const char* options, sg_set_values values, void* user, const sg_call* call,
                       sg_result** result);

/* Spearman's rank correlations over the heads of each layer, and pooled over all layers with ranks
 * within each: of `reference` with each of `count` numbers. `heads` has the number of heads of each
 * layer. `reference` has a number for every head of all layers, layer after layer, and `numbers`
 * has `count` times as many. NaN where a head has none. Options:
 *   "reference", "names", "layers"  names: of the reference, of the numbers, of the layers
 *   "seed"           seed of permutations (1) */
SG_API int sg_agreement(const char* options, const int64_t* heads, size_t layers,
                        const double* reference, const double* numbers, size_t count,
                        sg_result** result);

/* What differs between two results of sg_measure(): texts of sg_result_json(), or of
 * sg_result_csv(), which has the numbers of every sample, so that samples can be paired; or both
 * texts, the document first, so that the settings are compared, too. Options:
 *   "name_a", "name_b"  names of the results ("A", "B")
 *   "verbose"           the table shows every head, not only those that differ clearly
 *   "quantities", "pairing", "level", "sinks"  as `synergraph schema compare` describes them
 * For every quantity KEY the result has arrays (layers) "a/KEY", "b/KEY", "difference/KEY",
 * "low/KEY", "high/KEY", "p/KEY" and "p_corrected/KEY", and the same (layers, heads) behind
 * "heads/". NaN where a layer has no such number. */
SG_API int sg_compare(const char* options, const char* a, const char* b, sg_result** result);

/* Writes a document of sg_result_json() as an interactive page of one file, with the attention that
 * it is of, or without any (NULL). Documents are those of sg_measure() and sg_heads(). Attention of
 * other layers, heads or tokens is an error. `tokens` is NULL, or JSON with the names of the
 * measured tokens: a list for all samples, or one for every sample.
 * `note` is a text for sg_free(): what was left out for want of room, or nothing. Options:
 *   "title"          name of the page
 *   "page_samples"   samples whose attention is in the page (10, or as many as 64 MiB hold) */
SG_API int sg_write_page(const char* path, const char* options, const char* document,
                         const char* tokens, sg_attention* attention, char** note);

/* The document that `synergraph analyze --json` writes, `graph --json`, `heads --json`, or
 * `reproduce`: docs/formats.md. */
SG_API int sg_result_json(const sg_result* result, char** text);

/* A table to read, for so many columns; 0: as wide as it is. */
SG_API int sg_result_table(const sg_result* result, int64_t columns, char** text);

/* Comma-separated values, numbers in full: those of `analyze --per-sample`, `graph --csv` and
 * `heads --csv`. */
SG_API int sg_result_csv(const sg_result* result, char** text);

/* An array of a result, which owns it. No gaps, last axis fastest. */
typedef struct sg_array {
  const char* name;     /* "minimax_fidelity"; of each head alone "heads/minimax_fidelity" */
  const char* axes;     /* their names, "convention layer sample" */
  int32_t dtype;        /* SG_FLOAT64 or SG_INT64 */
  int32_t rank;         /* number of axes */
  const int64_t* shape; /* extent of each */
  const void* data;
} sg_array;

/* Array `index`, or NULL if there are not so many. What was not measured is not there. A time that
 * is never reached is infinite; a number that does not exist is NaN, and so are the places of
 * samples and heads that a layer has less than another (-1 in whole numbers). */
SG_API const sg_array* sg_result_array(const sg_result* result, size_t index);

/* The array of this name, or NULL. */
SG_API const sg_array* sg_result_find(const sg_result* result, const char* name);

SG_API void sg_result_free(sg_result* result);

/* ---- Systems ------------------------------------------------------------------------------- */

/* A system is the heads of one layer on one sample. Each function of this section takes these
 * options:
 * settings: system
 *   "convention"     definitions to measure by. exact: normalised walk, and certified fidelity
 *                    over the sources. published: as for the paper's tables (walk not normalised,
 *                    fidelity over all nodes and 100 steps) (default: "exact")
 *   "normalization"  how the heads are combined into one walk: per-head (as in the theory),
 *                    pooled, or published (default: pooled; per-head for graphs; published with
 *                    the published convention)
 *   "nodes"          nodes that count for the minimax fidelity: sources or all (default: sources;
 *                    with the published convention: all)
 *   "from_tokens"    tokens whose fidelity counts, counted from the first measured token: such as
 *                    5, 0-7, 0,3,9 or ::4; negative numbers count from the end. Of several, the
 *                    weakest counts (default: all nodes)
 *   "horizon"        number of diffusion steps to search, or 'certified': as many as the proof
 *                    needs (default: certified; 100 with the published convention)
 *   "eps"            threshold of T_mix, or a list of thresholds (the program takes 0.25,0.01)
 *                    (default: 0.25)
 *   "cutoff"         cutoff for truncated hitting times, in steps (default: 100)
 *   "step_limit"     limit on diffusion steps; a fidelity that is not certified by then is
 *                    reported as an interval. 0: no limit, later steps are searched by squaring
 *                    (default: 0)
 *   "backward"       also measure averaged mixing times, the backward walk to the first token, and
 *                    how close fidelity comes to its bound; the CPU measures these numbers
 *   "weights"        head weights, one per head; they are normalised (default: the weights of the
 *                    graph or of the attention)
 *   "edges"          what the edges are: attention, norm (attention times the norm of what the
 *                    head moves) or contribution (share of each moved value in the output). With
 *                    norm and contribution the weights of the heads follow from the edges
 *                    (default: attention)
 *   "head_names"     names of the heads (default: the names in the graph, or numbers from 0)
 *   "node_names"     names of the nodes (default: the names in the graph, or numbers from 0)
 * end of settings */

/* Measures each head and all heads together: the result of sg_graph_measure(). */
SG_API int sg_system_measure(sg_attention* attention, int64_t layer, int64_t sample,
                             const char* options, const sg_call* call, sg_result** result);

/* Computes curves over time. Further options:
 * settings: system_curves
 *   "steps"          last step of the curves (default: 100)
 *   "signal"         also compute the signal of every node (default: true)
 * end of settings
 * The result has these arrays. The last entry of the axis "head" stands for all heads together.
 * - "survival" (head, step): largest probability over the nodes that a walk from the node has not
 *   reached the sink; T_mix is the first step at which it is at most eps
 * - "mean_survival" (head, step): mean of that probability over the nodes
 * - "minimax_fidelity" (head, step): minimax fidelity within the first steps, up to the horizon
 * - "signal" (head, step, node): signal of the node at the sink, (D^t)[sink][node]
 * sg_result_json() gives the names, {"heads": [...], "nodes": [...]}. There is no table and no
 * CSV. */
SG_API int sg_system_curves(sg_attention* attention, int64_t layer, int64_t sample,
                            const char* options, const sg_call* call, sg_result** result);

/* Computes the matrices of the walk and of the diffusion. Further options:
 * settings: system_steps
 *   "steps"          highest power (default: 0)
 *   "powers"         also compute the powers of both matrices
 * end of settings
 * The result has these arrays. The last entry of the axis "head" stands for all heads together.
 *   "walk"           (head, from, to): probability of a step
 *   "diffusion"      (head, to, from): share that a node takes from another one
 *   "walkers"        (head, step, from, to): powers of the walk
 *   "reached"        (head, step, to, from): powers of the diffusion */
SG_API int sg_system_steps(sg_attention* attention, int64_t layer, int64_t sample,
                           const char* options, const sg_call* call, sg_result** result);

/* Computes the diffusion matrix of one head, or of all heads together (head -1). The result has one
 * array, "diffusion" (to, from), whose rows sum to 1. */
SG_API int sg_system_matrix(sg_attention* attention, int64_t layer, int64_t sample, int64_t head,
                            const char* options, const sg_call* call, sg_result** result);

/* A mixer holds the heads of one system in memory and measures them at any weights. It measures
 * each head once. The attention may be freed before the mixer. */
typedef struct sg_mixer sg_mixer;

/* Reads and measures the heads. Options: those of this section. */
SG_API int sg_mixer_create(sg_attention* attention, int64_t layer, int64_t sample,
                           const char* options, const sg_call* call, sg_mixer** mixer);

/* The functions below take weights, one for each head. Weights are at least 0, not all 0, and
 * normalised. NULL with count 0: the weights that the mixer was made with.
 *
 * Measures at these weights: the result of sg_system_measure(). */
SG_API int sg_mixer_measure(const sg_mixer* mixer, const double* weights, size_t count,
                            const sg_call* call, sg_result** result);

/* Measures at these weights and writes the result's document with "weights", the normalised
 * weights, and without the numbers of each head, which do not depend on weights. */
SG_API int sg_mixer_update(const sg_mixer* mixer, const double* weights, size_t count,
                           const sg_call* call, char** text);

/* Curves at these weights: see sg_system_curves(). Options: "steps" and "signal". */
SG_API int sg_mixer_curves(const sg_mixer* mixer, const double* weights, size_t count,
                           const char* options, const sg_call* call, sg_result** result);

/* Measures every subset of the heads at these weights, which are normalised in each subset. The
 * text is a JSON object with these fields:
 *   "heads"   number of heads
 *   "gap"     no fidelity is further than this above its number; 0: all are certified
 *   "values"  a list with one object for "fidelity" and one for "speed"
 * Each object has these fields:
 *   "value"               name of the value
 *   "table"               value of every subset; bit h of the index: head h is in the subset
 *   "shapley", "banzhaf"  one number for each head
 *   "pairs"               Shapley interaction index: "heads" and "interaction" of each pair
 *   "best"                best subset of every size: "subset", its bits, and "value" */
SG_API int sg_mixer_subsets(const sg_mixer* mixer, const double* weights, size_t count,
                            const sg_call* call, char** text);

/* Searches for the best weights, starting from these. `goal` is "fidelity", "speed" or
 * "hitting-time". The text is a JSON object, the "best_weights" of `synergraph heads --json`:
 * docs/formats.md. */
SG_API int sg_mixer_best_weights(const sg_mixer* mixer, const double* weights, size_t count,
                                 const char* goal, const sg_call* call, char** text);

SG_API void sg_mixer_free(sg_mixer* mixer);

/* ---- Gradients ----------------------------------------------------------------------------- */

/* A metric of every sample, and what its derivatives are made of. Attention is taken as it lies in
 * memory: rows are checked, not renormalised. The attention, which must come from arrays or from
 * queries and keys in the memory of the CPU, must outlive the gradient and keep its numbers. */
typedef struct sg_gradient sg_gradient;

/* Computes a metric. `weights` has one number for every head of all layers, layer after layer, for
 * all samples or, sample after sample, for each; they are divided by their sum in each layer. NULL
 * with count 0: equal weights. Options:
 * settings: gradient
 *   "metric"         metric to differentiate (default: "hitting_time")
 *   "sinks"          positions of the sinks, each the last token of a shorter graph; negative
 *                    positions count from the end; the metric is the mean over them (default: the
 *                    last token)
 *   "all_sinks"      use every token as a sink
 *   "log"            return the natural logarithm of the metric (of hitting_time,
 *                    backward_hitting_time, minimax, stack_fidelity)
 *   "cutoff"         cutoff for truncated hitting times, in steps (default: 100)
 *   "times"          times of survival, in steps; times of the signals of fidelity, one for each
 *                    node (default: the peak of each node)
 *   "nodes"          tokens whose fidelity is computed; negative positions count from the end
 *   "counted"        tokens that count for the minimax fidelity (default: "sources")
 *   "horizon"        last step that counts for fidelities (default: 100)
 *   "softness"       softness of minimax and stack_fidelity, 1 / beta; 0: the exact minimum with
 *                    its subgradient (default: 0.0)
 *   "residual"       share of the signal that bypasses the heads of each layer (default: 0.5)
 * end of settings
 */
SG_API int sg_gradient_create(sg_attention* attention, const double* weights, size_t count,
                              const char* options, const sg_call* call, sg_gradient** gradient);

/* Numbers of samples and of values per sample; `values` (samples, values). An infinite time is a
 * value. */
SG_API int sg_gradient_shape(const sg_gradient* gradient, int64_t* samples, int64_t* values);
SG_API int sg_gradient_values(const sg_gradient* gradient, double* values, size_t count);

/* Buffers of one layer, without gaps, which start as zeros; NULL: not wanted. Padding stays as it
 * is. Start from SG_GRADIENT_BUFFERS_INIT. */
typedef struct sg_gradient_buffers {
  size_t size;     /* sizeof(sg_gradient_buffers) */
  int32_t dtype;   /* SG_FLOAT32 or SG_FLOAT64, of all but the weights */
  int32_t none;    /* 0 */
  void* attention; /* (samples, heads, tokens, tokens), for layers of attention */
  void* queries;   /* (samples, heads, tokens, width), for layers of queries and keys */
  void* keys;      /* (samples, key_heads, tokens, width) */
  double* weights; /* (samples, heads), of the weights before their division by their sum */
} sg_gradient_buffers;

#define SG_GRADIENT_BUFFERS_INIT \
  { sizeof(sg_gradient_buffers), SG_FLOAT64, 0, NULL, NULL, NULL, NULL }

/* Adds the derivatives of the sum of upstream * values, `upstream` being (samples, values), to the
 * buffers, one entry for each layer. An error where a value that is infinite has an upstream other
 * than 0: it has no derivatives. */
SG_API int sg_gradient_pull_back(const sg_gradient* gradient, const double* upstream, size_t count,
                                 const sg_gradient_buffers* layers, size_t layer_count,
                                 const sg_call* call);

SG_API void sg_gradient_free(sg_gradient* gradient);

/* ---- Graphs -------------------------------------------------------------------------------- */

/* Several heads on the same nodes, whose edges go forward; the last node is the sink. */
typedef struct sg_graph sg_graph;

/* A graph without a head. */
SG_API int sg_graph_create(sg_graph** graph);

/* The text format of docs/formats.md; `source` names it in messages (NULL: "graph"). */
SG_API int sg_graph_parse(const char* text, size_t length, const char* source, sg_graph** graph);

/* The paper's worked example, 1 or 2. */
SG_API int sg_graph_example(int number, sg_graph** graph);

/* Add a head on as many nodes as the others have. Name NULL: "head 1", "head 2", ...
 * Edges from[k] -> to[k], of strengths[k] (NULL: 1 each). self_loops: not 0 adds one to every node
 * that has none. */
SG_API int sg_graph_add_edges(sg_graph* graph, const char* name, double weight, int64_t nodes,
                              const int64_t* from, const int64_t* to, const double* strengths,
                              size_t count, int self_loops);
/* "chain:N", "complete:N", "window:N:WIDTH", "powers:N", "star:N", "random:N:PROBABILITY[:SEED]".
 */
SG_API int sg_graph_add_generated(sg_graph* graph, const char* name, double weight,
                                  const char* generator, int self_loops);
/* An attention matrix (nodes, nodes); strides in bytes, NULL: no gaps. It is copied. */
SG_API int sg_graph_add_matrix(sg_graph* graph, const char* name, double weight, const void* data,
                               int dtype, int64_t nodes, const int64_t strides[2]);

/* Names of all nodes, none empty and no two alike; they are called by their numbers otherwise. */
SG_API int sg_graph_name_nodes(sg_graph* graph, const char* const* names, size_t count);

/* Numbers of heads and nodes. */
SG_API int sg_graph_size(const sg_graph* graph, int64_t* heads, int64_t* nodes);

/* A JSON object: "nodes" has the names of the nodes. "heads" has each head's "name", "weight",
 * "kind"
 * ("graph" or "matrix") and "edges". An edge has "from", "to" and "weight". */
SG_API int sg_graph_json(const sg_graph* graph, char** text);

/* The text format, and Graphviz's. */
SG_API int sg_graph_text(const sg_graph* graph, char** text);
SG_API int sg_graph_dot(const sg_graph* graph, char** text);

/* Measures the heads and all together, as `synergraph graph` does. Options:
 * settings: graph
 *   "convention"     definitions to measure by. exact: normalised walk, and certified fidelity
 *                    over the sources. published: as for the paper's tables (walk not normalised,
 *                    fidelity over all nodes and 100 steps) (default: "exact")
 *   "normalization"  how the heads are combined into one walk: per-head (as in the theory),
 *                    pooled, or published (default: pooled; per-head for graphs; published with
 *                    the published convention)
 *   "nodes"          nodes that count for the minimax fidelity: sources or all (default: sources;
 *                    with the published convention: all)
 *   "from_tokens"    tokens whose fidelity counts, counted from the first measured token: such as
 *                    5, 0-7, 0,3,9 or ::4; negative numbers count from the end. Of several, the
 *                    weakest counts (default: all nodes)
 *   "horizon"        number of diffusion steps to search, or 'certified': as many as the proof
 *                    needs (default: certified; 100 with the published convention)
 *   "eps"            threshold of T_mix, or a list of thresholds (the program takes 0.25,0.01)
 *                    (default: 0.25)
 *   "cutoff"         cutoff for truncated hitting times, in steps (default: 100)
 *   "step_limit"     limit on diffusion steps; a fidelity that is not certified by then is
 *                    reported as an interval. 0: no limit, later steps are searched by squaring
 *                    (default: 0)
 *   "backward"       also measure averaged mixing times, the backward walk to the first token, and
 *                    how close fidelity comes to its bound; the CPU measures these numbers
 *   "weights"        head weights, one per head; they are normalised (default: the weights of the
 *                    graph or of the attention)
 * end of settings */
SG_API int sg_graph_measure(const sg_graph* graph, const char* options, const sg_call* call,
                            sg_result** result);

/* The graph as attention, one layer and one sample, for the functions that take that. */
SG_API int sg_graph_attention(const sg_graph* graph, sg_attention** attention);

SG_API void sg_graph_free(sg_graph* graph);

/* ---- Sparse graphs -------------------------------------------------------------------------- */

/* Makes a graph of a family (docs/graphs.md). `family` is a description as `synergraph families`
 * takes: "fs:4log". Families that are not random ignore the seed. The result has these arrays:
 * - "first" (node): place of each node's first receiver; one more entry has the number of edges
 * - "receivers" (edge): the nodes that each node has an edge to, in increasing order; a node with a
 *   self-loop is its own first receiver
 * sg_result_json() has no names. There is no table and no CSV. */
SG_API int sg_family(const char* family, int64_t nodes, uint64_t seed, const sg_call* call,
                     sg_result** result);

/* Measures graphs of families as `synergraph families` does (docs/graphs.md). Options:
 * settings: families
 *   "families"       families of graphs with their parameters, without number of nodes and seed
 *                    (default: "indegree:4log", "expander:4log", "poisson:0.2:4log", "fs:4log",
 *                    "fs-sparse:log", "fs-original", "longformer:log:log", "bigbird:log:log:log",
 *                    "power")
 *   "sizes"          numbers of nodes (default: 32, 64, 128, 256, 512, 1024)
 *   "graphs"         number of graphs for each random family and size; seeds from 1 (default: 3)
 *   "eps"            threshold of the mixing times (default: 0.25)
 *   "step_limit"     limit on the steps of walks and diffusion; later results are lower limits
 *                    (default: 100000)
 * end of settings
 * Progress counts graphs. sg_result_json() is the document synergraph.families, sg_result_table()
 * has means over the graphs of one family and size, and sg_result_csv() has a row for each graph.
 * Each number is an array (graph): "nodes", "seed" (0: not random), "edges", "exact" (0 or 1), and
 * the numbers of docs/graphs.md by their keys in CSV. */
SG_API int sg_families(const char* options, const sg_call* call, sg_result** result);

/* Measures a graph in this form, as `synergraph families` does. No self-loop is added.
 * weights: one for each edge; NULL: all 1. eps: threshold of the mixing times. step_limit: limit on
 * the steps of walks and diffusion; later results are lower limits. The result has an array without
 * axes for each number of docs/graphs.md, by its key in CSV, and "edges" and "exact" (0 or 1). */
SG_API int sg_sparse_measure(int64_t nodes, const int64_t* first, const int32_t* receivers,
                             const double* weights, double eps, int64_t step_limit,
                             const sg_call* call, sg_result** result);

/* Searches for heads of high minimax fidelity within a number of edges and limits on mixing times,
 * as `synergraph design` does (docs/graphs.md). Options:
 * settings: design
 *   "size"           number of nodes (default: 256)
 *   "indegree"       budget as edges into each node beside its self-loop, on average and over all
 *                    heads: a number, log, 4log, sqrt (default: "4log")
 *   "edges"          budget as the number of edges of all heads, self-loops included (default:
 *                    from the indegree)
 *   "heads"          number of heads, each with its own edges; they have equal weights (default:
 *                    1)
 *   "averaged_mixing" limit on the averaged mixing time, in steps; 0: 4 log2 n, rounded up
 *                    (default: 0)
 *   "mixing"         limit on the mixing time from the worst node, in steps (default: none)
 *   "eps"            threshold of the mixing times (default: 0.25)
 *   "starts"         designs that searches start from: layers, random, or families of graphs
 *                    without number of nodes and seed (default: "layers", "fs-original", "power",
 *                    "poisson:0.2:4log", "random")
 *   "levels"         number of budgets, and of limits on the averaged mixing time, to try, each
 *                    half of the previous one; every pair has its own searches (default: 1)
 *   "seed"           seed of the searches (default: 1)
 *   "steps"          number of moves that each search tries (default: 20000)
 *   "seconds"        time after which searches end early, in seconds (default: none)
 *   "state"          file with the state of the searches, from which the same command continues
 * end of settings
 * Progress counts moves. After a stop request, the result is what was found until then; with a
 * state file, the same call goes on. sg_result_json() is the document synergraph.design. Its
 * designs have these arrays:
 * - "first" (design, head, node): place of each node's first receiver in "receivers"; one more
 * entry has the end of the last node's
 * - "receivers" (edge): as of sg_family() */
SG_API int sg_design(const char* options, const sg_call* call, sg_result** result);

/* ---- Models -------------------------------------------------------------------------------- */

/* A Transformer of the paper's kind, from a checkpoint of `synergraph train` or of its authors. */
typedef struct sg_model sg_model;

/* Options:
 * settings: model_open
 *   "heads"          heads of a checkpoint that does not say how many (default: the H of a file
 *                    name H_heads_...)
 * end of settings */
SG_API int sg_model_open(const char* path, const char* options, sg_model** model);

/* Its sizes, as in the JSON of `synergraph analyze`: vocabulary, length, width, heads, layers,
 * hidden. */
SG_API int sg_model_json(const sg_model* model, char** text);

/* Logits (samples, length, vocabulary) on sequences of tokens (samples, length). */
SG_API int sg_model_run(const sg_model* model, const int32_t* tokens, int64_t samples,
                        int64_t length, const sg_call* call, float* logits, size_t count);

/* The attention that a model makes on such sequences, which are copied. With tokens NULL, and
 * samples and length 0, they are drawn. The model may be freed before. Options:
 * settings: model_attention
 *   "task"           task that judges a checkpoint; it also draws the sequences if no tokens are
 *                    given: copy, cycle, zero, recall, delayed-copy, maximum, second-maximum,
 *                    parity, majority
 *   "samples"        sequences to draw (default: 50)
 *   "seed"           seed of the random sequences (default: 1)
 *   "device"         device that runs or trains models: cpu, cuda (the first GPU), cuda:1 (the
 *                    second), ..., or auto: a GPU if there is one that can, else the CPU. A GPU
 *                    also measures what it can (default: "cpu")
 *   "range"          analyse tokens A to B-1 only, without padding: rows and columns are cut and
 *                    what remains of each row is renormalised
 * end of settings */
SG_API int sg_model_attention(const sg_model* model, const int32_t* tokens, int64_t samples,
                              int64_t length, const char* options, sg_attention** attention);

SG_API void sg_model_free(sg_model* model);

/* ---- Training ------------------------------------------------------------------------------ */

/* Sequences and what a model shall answer to them: tokens (count, length) each. A target of -1
 * counts neither for the loss nor for the accuracy. */
typedef struct sg_pairs {
  int64_t count, length;
  const int32_t* inputs;
  const int32_t* targets;
} sg_pairs;

/* Trains a model, as `synergraph train --out directory` does: the directory gets model.safetensors
 * and what is needed to continue, now and then, at the end, and when the call is stopped. Pairs
 * NULL: those of the task; validation NULL: as the program judges without. Options:
 * settings: train
 *   "heads"          attention heads per layer; must divide the width (default: 4)
 *   "epochs"         passes over the training sequences (default: 200)
 *   "sequences"      number of training sequences (default: 5000)
 *   "seed"           seed of data, initialisation, order and dropout (default: 0)
 *   "layers"         number of layers (default: 4)
 *   "width"          features per token (default: 64)
 *   "hidden"         hidden units of each MLP (default: 128)
 *   "vocabulary"     number of different tokens (default: 256)
 *   "length"         tokens per sequence (default: 100)
 *   "batch"          sequences per step (default: 50)
 *   "dropout"        dropout rate of attention probabilities and after each MLP (default: 0.1)
 *   "learning_rate"  learning rate of Adam (default: 0.001)
 *   "beta1"          Adam's decay rate of the mean gradient (default: 0.9)
 *   "beta2"          Adam's decay rate of the mean squared gradient (default: 0.999)
 *   "epsilon"        number that Adam adds to the root of the mean squared gradient (default:
 *                    1e-08)
 *   "promote"        metric of attention to promote and its strength, such as fidelity=0.1 or
 *                    speed=0.05, once for each metric (fidelity, speed, entropy); a negative
 *                    strength discourages the metric
 *   "task"           task to learn: copy (answer each token with itself), cycle (answer each token
 *                    with the one before it, the first with the last), zero (answer every token
 *                    with 0), recall (answer a key with the value that stood beside it),
 *                    delayed-copy (repeat the first half of the sequence after a separator),
 *                    maximum (answer with the largest token so far), second-maximum (answer with
 *                    the second largest token so far), parity (answer with the parity of the bits
 *                    so far), majority (answer with the more frequent bit so far) (default:
 *                    "copy")
 *   "resume"         continue the run in the directory, or start one if there is none; settings
 *                    that are not given are those of the run
 *   "checkpoint_every" seconds between the checkpoints of a training; there is also one at the end
 *                    and when it is stopped (default: 60.0)
 *   "track"          measure mixing time and fidelity of every layer every N epochs, and log them;
 *                    0: never (default: 0)
 *   "device"         device that runs or trains models: cpu, cuda (the first GPU), cuda:1 (the
 *                    second), ..., or auto: a GPU if there is one that can, else the CPU. A GPU
 *                    also measures what it can (default: "auto")
 *   "precision"      precision of products on a GPU: tf32 (operands of eleven bits), or float32 at
 *                    about half the speed. The CPU computes in float32 (default: "tf32")
 * end of settings
 * The outcome is a JSON object: model (a path), steps, loss, accuracy, held_out_loss and
 * held_out_accuracy (training_pairs_... where none are held out), seconds; with "promote" also
 * promoted, the mean of each promoted metric over the last epoch. Progress counts steps.
 */
SG_API int sg_train(const char* directory, const char* options, const sg_pairs* pairs,
                    const sg_pairs* validation, const sg_call* call, char** outcome);

/* Trains and measures the paper's grid of models, as `synergraph reproduce --out directory` does;
 * what is done already is kept. Options:
 * settings: reproduce
 *   "preset"         quick: 4 epochs, up to 200 sequences measured; paper: 200 epochs, all
 *                    sequences measured (default: "quick")
 *   "tasks"          list of tasks to train (default: copy,cycle)
 *   "heads"          list of numbers of heads (default: 1,4,8,16)
 *   "seeds"          number of seeds: seeds 1 to K are used (default: 1)
 *   "seed_list"      list of seeds
 *   "epochs"         passes over the training sequences
 *   "sequences"      number of training sequences
 *   "layers"         number of layers (default: 4)
 *   "width"          features per token (default: 64)
 *   "hidden"         hidden units of each MLP (default: 128)
 *   "vocabulary"     number of different tokens (default: 256)
 *   "length"         tokens per sequence (default: 100)
 *   "batch"          sequences per step (default: 50)
 *   "dropout"        dropout rate of attention probabilities and after each MLP (default: 0.1)
 *   "learning_rate"  learning rate of Adam (default: 0.001)
 *   "beta1"          Adam's decay rate of the mean gradient (default: 0.9)
 *   "beta2"          Adam's decay rate of the mean squared gradient (default: 0.999)
 *   "epsilon"        number that Adam adds to the root of the mean squared gradient (default:
 *                    1e-08)
 *   "samples"        number of training sequences to measure, from the first (the paper: 50;
 *                    default: the preset's)
 *   "eps"            threshold of T_mix, or a list of thresholds (the program takes 0.25,0.01)
 *                    (default: 0.25)
 *   "cutoff"         cutoff for truncated hitting times, in steps (default: 100)
 *   "horizon"        diffusion steps looked at for the published fidelity (default: 100)
 *   "subset_samples" number of sequences on which all subsets of up to 20 heads are measured; 0:
 *                    none (default: the preset's)
 *   "jobs"           cells to run at the same time; they share the threads. On a GPU: sets of up
 *                    to 64 cells of one shape. 0: one; on a GPU more if they are small (default:
 *                    0)
 *   "checkpoint_every" seconds between the checkpoints of a training; there is also one at the end
 *                    and when it is stopped (default: 60.0)
 *   "device"         device that runs or trains models: cpu, cuda (the first GPU), cuda:1 (the
 *                    second), ..., or auto: a GPU if there is one that can, else the CPU. A GPU
 *                    also measures what it can (default: "auto")
 *   "precision"      precision of products on a GPU: tf32 (operands of eleven bits), or float32 at
 *                    about half the speed. The CPU computes in float32 (default: "tf32")
 *   "figures"        draw figures, with gnuplot (default: false; in Python true where gnuplot is
 *                    installed)
 * end of settings */
SG_API int sg_reproduce(const char* directory, const char* options, const sg_call* call,
                        sg_result** result);

/* NOLINTEND(modernize-use-using) */
#ifdef __cplusplus
}
#endif

#endif
