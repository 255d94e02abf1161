#include "synergraph/core/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cmath>
#include <utility>

#include "synergraph/core/terminal.h"

namespace synergraph {
namespace {

constexpr double kRedraw = 0.1;  ///< seconds between redraws of a terminal's line

double seconds_between(std::chrono::steady_clock::time_point from,
                       std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// A report that cannot be written (a full disk, a closed pipe) is no reason to end the work.
void report(std::FILE* stream, const std::string& text) {
  (void)std::fwrite(text.data(), 1, text.size(), stream);
  (void)std::fflush(stream);
}

}  // namespace

std::string format_duration(double seconds) {
  if (!(seconds >= 0.0) || seconds > 1e9) return "unknown";
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

Progress::Progress(std::string unit, std::uint64_t total, std::uint64_t done,
                   ProgressOptions options)
    : unit_(std::move(unit)),
      total_(total),
      first_(done),
      done_(done),
      options_(std::move(options)),
      terminal_(options_.stream != nullptr && isatty(fileno(options_.stream)) != 0),
      start_(Clock::now()),
      last_(start_) {}

Progress::~Progress() {
  if (drawn_) std::fputc('\n', options_.stream);
}

void Progress::add(std::uint64_t count) {
  const std::lock_guard lock(adding_);
  update(done_ + count, "");
}

void Progress::tell(const std::string& detail) {
  const std::lock_guard lock(adding_);
  update(done_, detail);
}

void Progress::update(std::uint64_t done, const std::string& detail) {
  done_ = done;
  if (options_.listener) options_.listener(done, total_, detail);
  if (options_.stream == nullptr) return;
  if (!moving_ && done != first_) {
    moving_ = true;
    first_ = done;
    start_ = Clock::now();
  }
  detail_ = detail;
  pending_ = true;
  if (seconds_between(last_, Clock::now()) >= (terminal_ ? kRedraw : options_.interval)) print();
}

void Progress::note(const std::string& line) {
  if (options_.stream == nullptr) return;
  const std::string shown = wrapped(printable((terminal_ ? "" : options_.prefix) + line),
                                    terminal_columns(options_.stream), 2);
  report(options_.stream, fmt::format("{}{}\n", drawn_ ? "\r\x1b[K" : "", shown));
  drawn_ = false;
}

void Progress::finish() {
  if (options_.stream == nullptr) return;
  if (pending_) print();
  if (drawn_) std::fputc('\n', options_.stream);
  drawn_ = false;
  std::fflush(options_.stream);
}

void Progress::print() {
  last_ = Clock::now();
  pending_ = false;
  const double elapsed = moving_ ? seconds_between(start_, last_) : 0.0;
  const double speed = elapsed > 0.0 ? static_cast<double>(done_ - first_) / elapsed : 0.0;
  const auto rest = static_cast<double>(total_ - done_);
  const double left = speed > 0.0 ? rest / speed : rest > 0.0 ? -1.0 : 0.0;
  const double share =
      total_ > 0 ? 100.0 * static_cast<double>(done_) / static_cast<double>(total_) : 100.0;
  const std::string done = fmt::format("{}/{} {} ({:.1f} %)  ", done_, total_, unit_, share);
  const std::string detail = printable(detail_) + "  ";
  const std::string pace = fmt::format("{:.1f} {}/s, ", speed, unit_);
  const std::string rest_of_time = format_duration(left) + " left";
  if (terminal_) {
    // A line that touches the edge may already begin the next one.
    const std::size_t columns = terminal_columns(options_.stream) - 1;
    std::string line = done + detail + pace + rest_of_time;
    // How far it is and how long it will take are what one looks for.
    if (display_width(line) > columns) line = done + pace + rest_of_time;
    if (display_width(line) > columns) line = done + rest_of_time;
    report(options_.stream, fmt::format("\r{}\x1b[K", cut_end(line, columns)));
    drawn_ = true;
  } else {
    report(options_.stream, options_.prefix + done + detail + pace + rest_of_time + '\n');
  }
}

}  // namespace synergraph
