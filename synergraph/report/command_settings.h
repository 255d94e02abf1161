#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "synergraph/analysis/analysis_settings.h"
#include "synergraph/analysis/comparison.h"
#include "synergraph/analysis/design_settings.h"
#include "synergraph/analysis/family_study.h"
#include "synergraph/analysis/head_value_settings.h"
#include "synergraph/analysis/input_settings.h"
#include "synergraph/analysis/system_settings.h"
#include "synergraph/cluster/worker_settings.h"
#include "synergraph/core/execution_settings.h"
#include "synergraph/core/working_memory.h"
#include "synergraph/io/file_writer.h"
#include "synergraph/report/output_settings.h"
#include "synergraph/study/study_settings.h"
#include "synergraph/study/verify.h"

namespace synergraph {

/// What the commands that measure attention have in common.
struct AttentionCommandSettings {
  InputSettings input;
  std::string table;  ///< a file of CSV
  std::string json;
  FigureSettings figure;
  AttentionPageSettings page;
  ExecutionSettings execution;
  std::optional<std::uint64_t> memory;  ///< MiB
  SharedSamplesSettings shared;
};

/// Visits them but for the input; `table` describes the file of CSV.
template <class Visit>
void visit_outputs(AttentionCommandSettings& settings, const Setting& table, Visit& visit) {
  visit(table, settings.table);
  visit(kJsonFile, settings.json);
  visit_settings(settings.figure, visit);
  visit_settings(settings.page, visit);
  visit_settings(settings.execution, visit);
  visit(Setting{.key = "memory",
                .group = "Execution",
                .help = "soft limit on working memory, in MiB; heads that mix slowly and inputs of "
                        "many tokens may need more (default: 1152 for analyze, 4096 for heads)",
                .faces = face::kProgram,
                .effect = SettingEffect::kExecution},
        settings.memory, NumberRange<std::uint64_t>{1, std::uint64_t{1} << 30U});
  visit_settings(settings.shared, visit);
}

struct AnalyzeSettings : AttentionCommandSettings {
  static constexpr Setting kTable = output_setting(
      "per_sample",
      "write the numbers of every sample as CSV; - for standard output instead of the tables");

  AnalysisSettings measured;
  bool page_heads = false;  ///< the page has what heads are worth, too
};

/// See Setting.
template <class Visit>
void visit_settings(AnalyzeSettings& settings, Visit&& visit) {
  visit_settings(settings.input, visit);
  visit_settings(settings.measured, visit);
  visit_outputs(settings, AnalyzeSettings::kTable, visit);
  Setting heads = output_setting(
      "page_heads", "add the results of the command heads (the values of the heads) to the page",
      "", "page");
  heads.effect = SettingEffect::kNumbers;
  visit(heads, settings.page_heads);
}

struct HeadsCommandSettings : AttentionCommandSettings {
  static constexpr Setting kTable = output_setting(
      "csv",
      "write a row for every layer, value and head as CSV; - for standard output instead of the "
      "tables");

  HeadsSettings measured;
};

/// See Setting.
template <class Visit>
void visit_settings(HeadsCommandSettings& settings, Visit&& visit) {
  visit_settings(settings.input, visit);
  visit_settings(settings.measured, visit);
  visit_outputs(settings, HeadsCommandSettings::kTable, visit);
}

/// The page of a result in C and Python: sg_write_page().
struct PageCallSettings {
  std::string title;
  std::optional<int> samples;
};

/// See Setting.
template <class Visit>
void visit_settings(PageCallSettings& settings, Visit&& visit) {
  visit(Setting{.key = "title",
                .group = kOutputGroup,
                .help = "title of the page",
                .faces = face::kLibrary},
        settings.title);
  Setting samples = kPageSamplesSetting;
  samples.faces = face::kLibrary;
  visit(samples, settings.samples, NumberRange<int>{0, 100000000});
}

struct GraphSettings {
  std::string file;
  std::optional<int> example;
  std::vector<std::string> generators;
  bool no_self_loops = false;
  HeadsOnNodesSettings measured;
  std::optional<int> monte_carlo;
  std::uint64_t seed = 1;
  std::uint64_t memory = WorkingMemory().bytes() >> 20U;
  bool json = false;
  bool csv = false;
  std::string curves;
  FigureSettings figure;
  std::optional<int> steps;
  std::string dot;
  std::string text;
  PageSettings page;
  std::string device = "cpu";
  ThreadSettings execution;
};

/// See Setting.
template <class Visit>
void visit_settings(GraphSettings& settings, Visit&& visit) {
  constexpr unsigned kHere = face::kProgram;
  visit(Setting{.key = "file",
                .group = kInputGroup,
                .help = "a graph in the text format; - for standard input",
                .value = "FILE",
                .faces = kHere,
                .positional = true},
        settings.file);
  visit(Setting{.key = "example",
                .group = kInputGroup,
                .help = "the paper's worked example, 1 or 2",
                .faces = kHere},
        settings.example, NumberRange<int>{1, 2});
  visit(Setting{.key = "generate",
                .group = kInputGroup,
                .help = "a generator; give it again for further heads",
                .faces = kHere,
                .commas = false},
        settings.generators);
  visit(Setting{.key = "no_self_loops",
                .group = kInputGroup,
                .help = "generators leave out self-loops",
                .faces = kHere},
        settings.no_self_loops);
  visit_settings(settings.measured, visit);
  visit(measuring_device_setting(kMeasurementGroup, kHere), settings.device);
  visit(Setting{.key = "monte_carlo",
                .group = kMeasurementGroup,
                .help = "also sample this many walks from every node, to compare with the exact "
                        "mean",
                .faces = kHere},
        settings.monte_carlo, NumberRange<int>{2, 100000000});
  visit(Setting{.key = "seed",
                .group = kMeasurementGroup,
                .help = "seed of the sampled walks",
                .faces = kHere},
        settings.seed, NumberRange<std::uint64_t>{});
  visit(Setting{.key = "memory",
                .group = kMeasurementGroup,
                .help = "limit on the memory for the matrices of the graph, in MiB",
                .faces = kHere},
        settings.memory, NumberRange<std::uint64_t>{1, std::uint64_t{1} << 30U});
  visit(kJsonFlag, settings.json);
  visit(output_setting("csv", "print the table as CSV", ""), settings.csv);
  visit(output_setting(
            "curves", "write the signal curves as CSV; - for standard output instead of the table"),
        settings.curves);
  visit_settings(settings.figure, visit);
  visit(Setting{.key = "steps",
                .group = kOutputGroup,
                .help = "diffusion steps in curves and figure (default: 20, or as many as show the "
                        "minimax time of all heads together, up to 400)",
                .faces = kHere},
        settings.steps, NumberRange<int>{1, 1000000});
  visit(output_setting("dot",
                       "write the graph in Graphviz's DOT language; - for standard output instead "
                       "of the table"),
        settings.dot);
  visit(output_setting("text",
                       "write the graph in the text format; - for standard output instead of the "
                       "table"),
        settings.text);
  visit_settings(settings.page, visit);
  visit_settings(settings.execution, visit);
}

struct InspectSettings {
  std::string file;
  bool json = false;
};

/// See Setting.
template <class Visit>
void visit_settings(InspectSettings& settings, Visit&& visit) {
  visit(Setting{.key = "file",
                .group = kInputGroup,
                .help = "file to list; - for standard input",
                .value = "FILE",
                .faces = face::kProgram,
                .positional = true,
                .required = true},
        settings.file);
  visit(kJsonFlag, settings.json);
}

struct StatusSettings {
  std::string directory;
  bool finished = false;
};

/// See Setting.
template <class Visit>
void visit_settings(StatusSettings& settings, Visit&& visit) {
  visit(Setting{.key = "directory",
                .group = kInputGroup,
                .help = "directory that the workers share",
                .value = "DIR",
                .faces = face::kProgram,
                .positional = true,
                .required = true},
        settings.directory);
  visit(Setting{.key = "finished",
                .group = kOutputGroup,
                .help = "exit with status 3 where not all is done yet",
                .faces = face::kProgram},
        settings.finished);
}

struct ReproduceSettings : StudySettings {
  FigureLook look;
  bool no_figures = false;
  std::optional<bool> figures;
};

/// See Setting.
template <class Visit>
void visit_settings(ReproduceSettings& settings, Visit&& visit) {
  visit_settings(static_cast<StudySettings&>(settings), visit);
  visit_settings(settings.look, visit);
  visit(Setting{.key = "no_figures",
                .group = kOutputGroup,
                .help = "draw no figures; gnuplot is not needed then",
                .faces = face::kProgram},
        settings.no_figures);
  visit(Setting{.key = "figures",
                .group = kOutputGroup,
                .help = "draw figures, with gnuplot (default: false; in Python true where gnuplot "
                        "is installed)",
                .faces = face::kLibrary},
        settings.figures);
}

struct FamiliesCommandSettings {
  FamilySettings measured;
  std::string save;
  std::string csv;
  std::string json;
  std::string latex;
  std::string figure;
  std::string growth;
  std::string gallery;
  FigureLook look;
  ExecutionSettings execution;
};

/// See Setting.
template <class Visit>
void visit_settings(FamiliesCommandSettings& settings, Visit&& visit) {
  visit_settings(settings.measured, visit);
  visit(output_setting("save",
                       "write the graph, if there is a single one: SciPy's .npz if the path ends "
                       "so, else text with an edge on each line"),
        settings.save);
  visit(output_setting("csv",
                       "write a row for every graph as CSV; - for standard output instead "
                       "of the table"),
        settings.csv);
  visit(kJsonFile, settings.json);
  visit(output_setting("latex",
                       "write the table in LaTeX, for the package booktabs; - for standard output "
                       "instead of the table"),
        settings.latex);
  visit(output_setting("figure",
                       "draw a figure of the results: a path that ends in .svg, .pdf or .png"),
        settings.figure);
  visit(output_setting("growth", "draw fidelity against the number of nodes"), settings.growth);
  visit(output_setting("gallery", "draw the adjacency matrix of each family at the first size"),
        settings.gallery);
  visit_settings(settings.look, visit);
  visit_settings(settings.execution, visit);
}

struct DesignCommandSettings {
  DesignSettings measured;
  std::string json;
  std::string graphs;
  std::string gallery;
  FigureLook look;
  ExecutionSettings execution;
};

/// See Setting.
template <class Visit>
void visit_settings(DesignCommandSettings& settings, Visit&& visit) {
  visit_settings(settings.measured, visit);
  visit(kJsonFile, settings.json);
  visit(output_setting("graphs", "write the designs of the front as files of graphs", "DIR"),
        settings.graphs);
  visit(output_setting("gallery", "draw the adjacency matrix of each head of the best design"),
        settings.gallery);
  visit_settings(settings.look, visit);
  visit_settings(settings.execution, visit);
}

struct VerifySettings {
  std::string checkpoints;
  VerifyOptions options;
  std::string json;
  ExecutionSettings execution;
};

/// See Setting.
template <class Visit>
void visit_settings(VerifySettings& settings, Visit&& visit) {
  visit(Setting{.key = "checkpoints",
                .group = kInputGroup,
                .help = "directory of the authors' models",
                .value = "DIR",
                .faces = face::kProgram,
                .required = true},
        settings.checkpoints);
  visit_settings(settings.options, visit);
  visit(kJsonFile, settings.json);
  visit_settings(settings.execution, visit);
}

/// What the command compare reads, and how it measures files that hold no results.
struct CompareCommandSettings {
  CompareCommandSettings() { measured.metrics.convention.several = false; }

  std::string a;
  std::string b;
  std::string name_a;
  std::string name_b;
  ComparisonSettings compared;
  bool verbose = false;
  InputSettings input;
  AnalysisSettings measured;
  std::string csv;
  std::string json;
  FigureSettings figure;
  ExecutionSettings execution;
};

/// See Setting.
template <class Visit>
void visit_settings(CompareCommandSettings& settings, Visit&& visit) {
  const auto side = [](std::string_view key, std::string_view value) {
    return Setting{.key = key,
                   .group = kInputGroup,
                   .help =
                       "a document of analyze --json, a table of analyze --per-sample, or what "
                       "analyze measures: attention or a checkpoint",
                   .value = value,
                   .faces = face::kProgram,
                   .positional = true,
                   .required = true};
  };
  visit(side("a", "A"), settings.a);
  visit(side("b", "B"), settings.b);
  visit_settings(settings.compared, visit);
  const auto name = [](std::string_view key, std::string_view help) {
    return Setting{.key = key, .group = kComparisonGroup, .help = help, .faces = face::kC};
  };
  visit(name("name_a", "name of result A in the report (default: A)"), settings.name_a);
  visit(name("name_b", "name of result B in the report (default: B)"), settings.name_b);
  visit(Setting{.key = "verbose",
                .group = kOutputGroup,
                .help = "show every head, not only the heads that differ clearly"},
        settings.verbose);
  auto in_program = only_for(face::kProgram, visit);
  const auto but_the_file = [&](const Setting& setting, auto&&... rest) {
    if (setting.key != "file") in_program(setting, rest...);
  };
  visit_settings(settings.input, but_the_file);
  visit_settings(settings.measured, in_program);
  visit(output_setting("csv",
                       "write a row for every layer, head and quantity as CSV; - for standard "
                       "output instead of the tables"),
        settings.csv);
  visit(kJsonFile, settings.json);
  visit_settings(settings.figure, visit);
  visit_settings(settings.execution, in_program);
}

struct ConvertSettings {
  std::string from;
  std::string to;
};

/// See Setting.
template <class Visit>
void visit_settings(ConvertSettings& settings, Visit&& visit) {
  const auto file = [](std::string_view key, std::string_view help, std::string_view value) {
    return Setting{.key = key,
                   .group = kInputGroup,
                   .help = help,
                   .value = value,
                   .faces = face::kProgram,
                   .positional = true,
                   .required = true};
  };
  visit(file("in", "file to read; - for standard input", "IN"), settings.from);
  static const std::string endings = "file to write: " + written_endings();
  visit(file("out", endings, "OUT"), settings.to);
}

enum class Shell { kBash, kZsh, kFish };

template <>
inline constexpr NameTable<Shell, 3> kNamesOf<Shell>{
    {{Shell::kBash, "bash"}, {Shell::kZsh, "zsh"}, {Shell::kFish, "fish"}}};

struct CompletionsSettings {
  std::optional<Shell> shell;
};

/// See Setting.
template <class Visit>
void visit_settings(CompletionsSettings& settings, Visit&& visit) {
  visit(Setting{.key = "shell",
                .group = kInputGroup,
                .help = "bash, zsh or fish",
                .value = "SHELL",
                .faces = face::kProgram,
                .positional = true,
                .required = true},
        settings.shell);
}

struct SchemaSettings {
  std::string name;
};

/// See Setting.
template <class Visit>
void visit_settings(SchemaSettings& settings, Visit&& visit) {
  visit(Setting{.key = "name",
                .group = kInputGroup,
                .help = "command, or call of the C interface, whose settings are printed; or "
                        "quantities: the names, units and definitions of all measured numbers; or "
                        "formats: the formats of input files",
                .value = "NAME",
                .faces = face::kProgram,
                .positional = true,
                .required = true},
        settings.name);
}

}  // namespace synergraph
