#pragma once

#include <optional>
#include <string>

#include "synergraph/study/cell.h"

#pragma GCC visibility push(default)
namespace synergraph {

/// Where a cell's training is kept: a name that says what it is and that changes with everything
/// the trained model depends on, e.g. "copy-4-heads-seed-1-9f86d081884c7d65".
std::string training_name(const Cell& cell);

/// The file for the cell's results beside its training; its name changes with how it is measured.
std::string result_name(const Cell& cell);

/// Writes a result, atomically, with a checksum.
void write_result(const std::string& path, const CellResult& result);

/// Reads the result of exactly this cell and kResultsVersion; nothing if there is no file.
/// InputError if the file has no checksum or that of another text, holds numbers that cannot be, or
/// is another cell's.
std::optional<CellResult> read_result(const std::string& path, const Cell& cell);

}  // namespace synergraph
#pragma GCC visibility pop
