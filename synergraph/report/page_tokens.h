#pragma once

#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace synergraph {

/// Names of tokens as a file has them: one list for all samples, or one a sample.
using TokenNames = std::vector<std::vector<std::string>>;

/// Reads names from the text of a file, by its name: `.json`, a list of names or a list of such
/// lists, one a sample; `.jsonl`, a line a sample with a list of names; any other: a name a line,
/// for all samples. InputError says which list or name is wrong.
TokenNames parse_token_names(const std::string& text, const std::string& file);

/// The same for the text of a `.json` file; `name` is what messages call it.
TokenNames token_names_in_json(const std::string& text, const std::string& name);

/// InputError unless there is one list, or one a sample, each with a name for every token.
void check_token_names(const TokenNames& names, int samples, int tokens, const std::string& file);

}  // namespace synergraph
#pragma GCC visibility pop
