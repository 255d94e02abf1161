#pragma once

#include "cli/attention_input.h"
#include "cli/execution_options.h"
#include "cli/figure_options.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/page_options.h"
#include "cli/shared_samples_options.h"
#include "synergraph/core/error.h"
#include "synergraph/device/device_name.h"
#include "synergraph/report/command_settings.h"

namespace synergraph::cli {

/// What the commands that measure attention have in common: what is read and where a report goes.
class AttentionCommand {
 public:
  /// Of settings that were given to a command.
  template <class Settings>
  AttentionCommand(const CLI::App& command, Settings& settings, bool graphs = false)
      : input(settings.input, settings.measured.edges, graphs),
        page(settings.page),
        shared(command, settings.shared, described_settings(settings)),
        settings_(settings),
        table_(option_name(Settings::kTable.key)) {}

  AttentionArguments input;
  PageArguments page;
  SharedSamplesArguments shared;

  /// To fail before any work.
  FigureOptions check() const {
    FigureOptions drawing = figure_options(settings_.figure, settings_.figure.figure_names);
    const std::string& figure = settings_.figure.figure;
    check_outputs({{"--figure", figure},
                   {table_, settings_.table},
                   {"--json", settings_.json},
                   {"--page", page.file()}},
                  page.inputs(input.files()));
    if (!figure.empty()) check_figure(figure);
    to_standard_output({settings_.table, settings_.json, page.file()});
    shared.check();
    if (page.wanted() && input.edges().moved())
      throw UsageError("--page shows attention edges; leave --page or --edges out");
    return drawing;
  }

  /// How work runs.
  Execution execution(const WorkingMemory& memory) const {
    Execution execution = execution_of(settings_.execution);
    execution.memory = settings_.memory
                           ? WorkingMemory(static_cast<std::size_t>(*settings_.memory) << 20U)
                           : memory;
    return execution;
  }

  SharedSamples sharing(const AttentionInput& from) const {
    std::string device = from.device;
    if (device_name(settings_.input.device).gpu) device += " measured on a GPU";
    return shared.resolve(input.files(),
                          {settings_.figure.figure, settings_.table, settings_.json, page.file()},
                          device);
  }

  /// Writes a report to wherever it is wanted; `names` are of the page's tokens.
  template <class Report, class Draw>
  void write(const Report& report, const Draw& draw, Page shown, const AttentionInput& from,
             const TokenNames& names) const {
    write_page(report, std::move(shown), from, names);  // first: it may find that FILE has changed
    if (!settings_.figure.figure.empty()) draw();
    if (!settings_.table.empty()) write_output(settings_.table, format_csv(csv_table(report)));
    if (!settings_.json.empty()) write_output(settings_.json, json_report(report));
    if (!to_standard_output({settings_.table, settings_.json, page.file()}))
      print(spelled(format_report(report, output_columns()), OptionSpelling::kProgram));
  }

 private:
  template <class Report>
  void write_page(const Report& report, Page shown, const AttentionInput& from,
                  const TokenNames& names) const {
    if (!page.wanted()) return;
    shown.title = input_title(settings_.input.file);
    shown.document = json_report(report);
    page.write(std::move(shown), from, names);
  }

  const AttentionCommandSettings& settings_;
  std::string table_;
};

}  // namespace synergraph::cli
