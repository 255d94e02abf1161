#pragma once

#include "cli/attention_input.h"
#include "cli/figure_options.h"
#include "cli/input.h"
#include "cli/metrics_options.h"
#include "cli/output.h"
#include "cli/page_options.h"
#include "cli/shared_samples_options.h"
#include "synergraph/core/error.h"

namespace synergraph::cli {

/// What the commands that measure attention have in common: what is read and where a report goes.
struct AttentionCommand {
  AttentionArguments input;
  MetricsArguments metrics;
  NamedPath table;  ///< of CSV
  std::string json;
  FigureArguments figure;
  PageArguments page;
  bool quiet = false;
  SharedSamplesArguments shared;

  /// `rows`: what the table has; `printed`: what is printed unless something else is.
  void add_outputs_to(CLI::App& command, const std::string& rows, const std::string& printed,
                      const std::string& drawn) {
    const std::string instead = "; - for standard output instead of the " + printed;
    add_output(command, table.option.c_str(), table.path, "write " + rows + " as CSV" + instead);
    add_output(command, "--json", json, "write everything as JSON" + instead);
    figure.add_to(command, drawn, "layers");
    page.add_to(command, true);
    command.add_flag("--quiet", quiet, "print no progress on stderr")->group("Output");
    shared.add_to(command);
  }

  /// To fail before any work.
  FigureOptions check() const {
    FigureOptions drawing = figure.resolve();
    check_outputs({{"--figure", figure.file}, table, {"--json", json}, {"--page", page.file}},
                  page.inputs(input.files()));
    if (figure.wanted()) check_figure(figure.file);
    to_standard_output({table.path, json, page.file});
    shared.check();
    if (page.wanted() && input.edges.moved())
      throw UsageError("--page shows attention edges; leave --page or --edges out");
    return drawing;
  }

  SharedSamples sharing(const AttentionInput& from) const {
    return shared.resolve(input.files(), {figure.file, table.path, json, page.file}, from.device);
  }

  /// Writes a report to wherever it is wanted; `names` are of the page's tokens.
  template <class Report, class Draw>
  void write(const Report& report, const Draw& draw, Page shown, const AttentionInput& from,
             const TokenNames& names) const {
    write_page(report, std::move(shown), from, names);  // first: it may find that FILE has changed
    if (figure.wanted()) draw();
    if (!table.path.empty()) write_output(table.path, format_csv(csv_table(report)));
    if (!json.empty()) write_output(json, json_report(report));
    if (!to_standard_output({table.path, json, page.file}))
      print(format_report(report, output_columns()));
  }

 private:
  template <class Report>
  void write_page(const Report& report, Page shown, const AttentionInput& from,
                  const TokenNames& names) const {
    if (!page.wanted()) return;
    shown.title = input_title(input.file);
    shown.document = json_report(report);
    page.write(std::move(shown), from, names);
  }
};

}  // namespace synergraph::cli
