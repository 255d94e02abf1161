#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "synergraph/analysis/array_readings.h"
#include "synergraph/analysis/padded_sequences.h"
#include "synergraph/core/execution_settings.h"
#include "synergraph/core/setting.h"
#include "synergraph/core/token_choice.h"
#include "synergraph/heads/attention_source.h"

namespace synergraph {

inline constexpr const char* kInputGroup = "Input";

/// Which arrays of a file are layers.
struct FileSettings {
  std::string layers;
  std::string axes;
};

/// See Setting.
template <class Visit>
void visit_settings(FileSettings& settings, Visit&& visit) {
  visit(Setting{.key = "layers",
                .group = kInputGroup,
                .help = "layers to analyse: numbers as the output shows them, such as 3 or 0,2 or "
                        "4-7, or a regular expression for the names of an archive's tensors "
                        "(default: all); layers come in natural order, 2 before 10",
                .value = "LAYERS"},
        settings.layers);
  visit(Setting{.key = "axes",
                .group = kInputGroup,
                .help = "names of the arrays' axes in their order: some of "
                        "layer,sample,head,query,key (default: the last of these, one for each "
                        "axis); for an archive, one more name in front, layer or sample, says what "
                        "each array is",
                .value = "LIST"},
        settings.axes);
}

/// Which tokens are measured. The C interface takes sinks, lengths and padding with
/// sg_attention_set_lengths().
struct TokenSettings {
  TokenChoice sink;
  std::optional<TokenRange> range;
  std::string lengths;  ///< a list or a file
  std::optional<PaddingSide> padding;
};

/// See Setting.
template <class Visit>
void visit_settings(TokenSettings& settings, Visit&& visit) {
  visit(Setting{.key = "sink",
                .group = kInputGroup,
                .help = "sinks, the tokens where information arrives: such as 63, 0-7, 15,31 or "
                        "::4; each ends a prefix of the sample, and numbers are means over the "
                        "prefixes; negative numbers count from the end (default: the last token)",
                .value = "TOKENS",
                .faces = face::kProgram | face::kPython,
                .alias = "--sink"},
        settings.sink);
  visit(Setting{.key = "range",
                .group = kInputGroup,
                .help = "analyse tokens A to B-1 only, without padding: rows and columns are cut "
                        "and what remains of each row is renormalised",
                .value = "A:B",
                .faces = face::kProgram | face::kC},
        settings.range);
  visit(Setting{.key = "lengths",
                .group = kInputGroup,
                .help = "number of real tokens per sample, as a list or a file; one number holds "
                        "for all samples; padding is ignored, even if it holds NaN",
                .value = "LIST",
                .faces = face::kProgram | face::kPython},
        settings.lengths);
  visit(Setting{.key = "padding",
                .group = kInputGroup,
                .help = "side of the padding, where lengths are given (default: right)",
                .faces = face::kProgram | face::kPython},
        settings.padding);
}

/// What rows of attention may sum to.
struct RowSettings {
  std::optional<double> row_tolerance;
  MissingMass missing_mass = MissingMass::kError;
};

/// See Setting.
template <class Visit>
void visit_settings(RowSettings& settings, Visit&& visit) {
  visit(Setting{.key = "row_tolerance",
                .group = kInputGroup,
                .help = "largest distance of a row's sum from 1 (default: the rounding error of "
                        "the element type, or of a shorter type that holds all values)"},
        settings.row_tolerance, NumberRange<double>{0.0, 1.0});
  visit(Setting{.key = "missing_mass",
                .group = kInputGroup,
                .help = "error: refuse rows that sum to less than 1 beyond rounding; node: add a "
                        "first node that takes all the missing mass and keeps it, for models with "
                        "a learned sink logit"},
        settings.missing_mass);
}

/// Where the caller's weights come from.
enum class WeightsFrom { kGiven, kLearned };

template <>
inline constexpr NameTable<WeightsFrom, 2> kNamesOf<WeightsFrom>{
    {{WeightsFrom::kGiven, "given"}, {WeightsFrom::kLearned, "learned"}}};

/// Attention in memory.
struct ArraySettings {
  RowSettings rows;
  WeightsFrom weights_from = WeightsFrom::kGiven;
  std::optional<GivenReading> reading;
};

/// See Setting.
template <class Visit>
void visit_settings(ArraySettings& settings, Visit&& visit) {
  visit_settings(settings.rows, visit);
  visit(Setting{.key = "weights_from",
                .group = kInputGroup,
                .help = "what reports call the weights of sg_attention_set_weights()",
                .faces = face::kC},
        settings.weights_from);
  visit(Setting{.key = "reading",
                .group = kInputGroup,
                .help = R"(how the arrays were read, for the first lines of reports: {"arrays": )"
                        R"([[shape, "head,query,key"], ...], "each": "layer" or "sample", )"
                        R"("by_default": true})",
                .faces = face::kC},
        settings.reading);
}

/// Weights of heads that a command reads.
struct WeightSettings {
  std::string weights;
  std::string out_proj;
};

/// See Setting. Python takes weights as arrays.
template <class Visit>
void visit_settings(WeightSettings& settings, Visit&& visit) {
  visit(Setting{.key = "weights",
                .group = kInputGroup,
                .help = "head weights: a file with (heads) or (layers, heads) numbers; for the "
                        "program also uniform, learned, or a list w1,w2,... (default: learned for "
                        "checkpoints, else uniform)",
                .faces = face::kProgram | face::kC},
        settings.weights);
  visit(Setting{.key = "out_proj",
                .group = kInputGroup,
                .help = "attention output projections (rows = outputs) that learned weights come "
                        "from",
                .value = "FILE",
                .faces = face::kProgram | face::kC,
                .effect = SettingEffect::kExecution},
        settings.out_proj);
}

/// What heads move, in a file beside their attention.
struct MovedSettings {
  std::string moved;
};

/// See Setting. Python takes it as arrays.
template <class Visit>
void visit_settings(MovedSettings& settings, Visit&& visit) {
  visit(Setting{.key = "moved",
                .group = kInputGroup,
                .help = "archive of what the heads move, for norm and contribution edges: arrays "
                        "values, out_proj, residual, and out_proj_bias; or norms",
                .value = "FILE",
                .faces = face::kProgram | face::kC,
                .effect = SettingEffect::kExecution},
        settings.moved);
}

/// A file of attention: sg_attention_open().
struct AttentionFileSettings : FileSettings,
                               TokenSettings,
                               RowSettings,
                               WeightSettings,
                               MovedSettings {};

/// See Setting. A call of the C interface alone.
template <class Visit>
void visit_settings(AttentionFileSettings& settings, Visit&& visit) {
  auto in_c = only_for(face::kC, visit);
  visit_settings(static_cast<FileSettings&>(settings), in_c);
  visit_settings(static_cast<TokenSettings&>(settings), in_c);
  visit_settings(static_cast<RowSettings&>(settings), in_c);
  visit_settings(static_cast<WeightSettings&>(settings), in_c);
  visit_settings(static_cast<MovedSettings&>(settings), in_c);
}

/// A checkpoint: sg_model_open().
struct CheckpointSettings {
  std::optional<int> heads;
};

/// See Setting.
template <class Visit>
void visit_settings(CheckpointSettings& settings, Visit&& visit) {
  visit(Setting{.key = "heads",
                .group = kInputGroup,
                .help = "heads of a checkpoint that does not say how many (default: the H of a "
                        "file name H_heads_...)",
                .faces = face::kProgram | face::kLibrary},
        settings.heads, NumberRange<int>{1, 1 << 20});
}

/// The sequences that a model runs on.
struct SequenceSettings {
  std::string task;
  std::optional<int> samples;
  std::optional<std::uint64_t> seed;
};

/// The description of the setting `task`, with the names of all tasks.
std::string_view judging_task_help();

/// See Setting.
template <class Visit>
void visit_settings(SequenceSettings& settings, Visit&& visit) {
  visit(Setting{.key = "task", .group = kInputGroup, .help = judging_task_help()}, settings.task);
  visit(Setting{.key = "samples", .group = kInputGroup, .help = "sequences to draw (default: 50)"},
        settings.samples, NumberRange<int>{1, 100000000});
  visit(
      Setting{
          .key = "seed", .group = kInputGroup, .help = "seed of the random sequences (default: 1)"},
      settings.seed, NumberRange<std::uint64_t>{});
}

/// The attention that a model makes: sg_model_attention().
struct ModelAttentionSettings {
  SequenceSettings sequences;
  TokenSettings tokens;
  std::string device = "cpu";
};

/// See Setting.
template <class Visit>
void visit_settings(ModelAttentionSettings& settings, Visit&& visit) {
  visit_settings(settings.sequences, visit);
  visit(device_setting(kInputGroup, face::kLibrary), settings.device);
  auto in_c = only_for(face::kC, visit);
  visit_settings(settings.tokens, in_c);
}

/// What analyze and heads read.
struct InputSettings : AttentionFileSettings, SequenceSettings, CheckpointSettings {
  std::string file;
  std::string tokens;
  std::string device = "cpu";
};

/// See Setting.
template <class Visit>
void visit_settings(InputSettings& settings, Visit&& visit) {
  visit(
      Setting{
          .key = "file",
          .group = kInputGroup,
          .help =
              "attention or a checkpoint, in the command heads also a graph; - for standard input",
          .value = "FILE",
          .faces = face::kProgram,
          .effect = SettingEffect::kExecution,
          .positional = true,
          .required = true},
      settings.file);
  // The calls of C and Python that measure take attention that other calls have read.
  auto by_name = only_for(face::kProgram | face::kPython, visit);
  auto in_program = only_for(face::kProgram, visit);
  visit_settings(static_cast<FileSettings&>(settings), by_name);
  visit_settings(static_cast<TokenSettings&>(settings), by_name);
  visit_settings(static_cast<RowSettings&>(settings), by_name);
  visit(Setting{.key = "tokens",
                .group = kInputGroup,
                .help = "sequences (samples, n) for a checkpoint",
                .value = "FILE",
                .faces = face::kProgram,
                .effect = SettingEffect::kExecution},
        settings.tokens);
  visit_settings(static_cast<SequenceSettings&>(settings), in_program);
  visit(measuring_device_setting(kInputGroup, face::kProgram), settings.device);
  visit_settings(static_cast<CheckpointSettings&>(settings), in_program);
  visit_settings(static_cast<WeightSettings&>(settings), in_program);
  visit_settings(static_cast<MovedSettings&>(settings), in_program);
}

}  // namespace synergraph
