#include <fmt/core.h>

#include <algorithm>

#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/zip_archive.h"

namespace synergraph {

bool is_plain_member(std::string_view name) {
  constexpr std::size_t kLongest = 4096;
  if (name.empty() || name.size() > kLongest || name.front() == '/') return false;
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\\' || c == '\x7f') return false;
  }
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part == ".." || part == ".") return false;
    begin = end + 1;
  }
  return true;
}

void ZipArchive::add(const Entry& entry, std::uint64_t index, std::set<std::string>& names,
                     std::uint64_t& left) {
  constexpr unsigned kStored = 0;
  constexpr unsigned kDeflated = 8;
  constexpr std::uint64_t kRatio = 1032;  // of deflate, at most
  const auto refuse = [&](const std::string& what) {
    throw InputError(fmt::format("{}: member {}: {}", path(), quoted_text(entry.name), what));
  };
  if (!entry.known) refuse("its size is not known");
  if (!is_plain_member(entry.name)) refuse("its name is not a plain relative path");
  if (!names.insert(entry.name).second) refuse("its name occurs twice");
  if (entry.encrypted) refuse("it is encrypted");
  if (entry.method != kStored && entry.method != kDeflated)
    refuse(fmt::format("compression method {} is not read", entry.method));
  if (entry.stored_size > left) refuse("it overlaps another member or the file's end");
  left -= entry.stored_size;
  const bool compressed = entry.method == kDeflated;
  if (compressed ? entry.size / kRatio > entry.stored_size : entry.size != entry.stored_size)
    refuse(fmt::format("{} bytes cannot come from {} bytes", entry.size, entry.stored_size));
  if (entry.name.back() == '/') return;
  index_.emplace(entry.name, members_.size());
  members_.push_back({entry.name, entry.size, compressed, index});
}

const ZipArchive::Member* ZipArchive::find(const std::string& name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &members_[found->second];
}

}  // namespace synergraph
