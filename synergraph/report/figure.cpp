#include "synergraph/report/figure.h"

#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "synergraph/core/error.h"
#include "synergraph/core/terminal.h"
#include "synergraph/io/atomic_file.h"
#include "synergraph/io/leftovers.h"
#include "synergraph/io/system_error.h"

extern char** environ;  // NOLINT: POSIX's name

namespace synergraph {
namespace {

/// A kind of figure: how its files' names end, and their contents.
struct Format {
  std::string_view ending;
  std::string_view last_words;
};

constexpr Format kFormats[] = {{".svg", "</svg>"}, {".pdf", "%%EOF"}, {".png", "IEND"}};

const Format& format_of(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  for (const Format& format : kFormats)
    if (ending == format.ending) return format;
  throw UsageError(fmt::format("{}: a figure ends in .svg, .pdf or .png", path));
}

/// The three show text in the same size.
std::string terminal(const Format& format, const FigureSize& size) {
  if (format.ending == ".svg")
    return fmt::format(
        "svg size {:.0f},{:.0f} dynamic noenhanced font 'Helvetica,12' background 'white'",
        size.width * 96, size.height * 96);
  if (format.ending == ".pdf")
    return fmt::format("pdfcairo size {}in,{}in noenhanced font 'Helvetica,9' fontscale 0.75",
                       size.width, size.height);
  return fmt::format(
      "pngcairo size {:.0f},{:.0f} noenhanced font 'Helvetica,9' fontscale 2.0833 linewidth 2 "
      "pointscale 2 background 'white'",
      size.width * 200, size.height * 200);
}

/// A file without a name, which goes when it is closed.
class NamelessFile {
 public:
  NamelessFile() : file_(std::tmpfile()) {
    if (!file_) fail();
  }
  int descriptor() const { return fileno(file_.get()); }

  void write(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size() ||
        std::fflush(file_.get()) != 0 || std::fseek(file_.get(), 0, SEEK_SET) != 0)
      fail();
  }
  std::string read() {
    std::string text;
    char buffer[1U << 14U];
    std::rewind(file_.get());
    while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, file_.get()))
      text.append(buffer, got);
    if (std::ferror(file_.get()) != 0) fail();
    return text;
  }

 private:
  [[noreturn]] static void fail() {
    throw InputError(fmt::format("a temporary file for a figure: {}", reason_text(errno)));
  }
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
};

constexpr int kBySignal = 128;

/// What gnuplot made of a script.
struct Drawing {
  int status = 0;  ///< of the program; 128 and more: a signal ended it
  std::string output;
  std::string messages;
};

/// The same figure is the same file, whenever it is drawn: a PDF says when that was.
std::string without_date(std::string output) {
  constexpr std::string_view kDate = "/CreationDate (D:";
  constexpr std::string_view kBegin = "19700101000000";
  const std::size_t at = output.find(kDate);
  if (at != std::string::npos && at + kDate.size() + kBegin.size() <= output.size())
    output.replace(at + kDate.size(), kBegin.size(), kBegin);
  return output;
}

/// gnuplot escapes "&" and "<" of a text, but not the ">" of "]]>", which XML forbids outside of
/// CDATA. Such sections are gnuplot's own: no text has an unescaped "<" to begin one.
std::string with_escaped_ends(std::string svg) {
  constexpr std::string_view kSection = "<![CDATA[";
  constexpr std::string_view kEnd = "]]>";
  std::size_t section = svg.find(kSection);
  for (std::size_t end = svg.find(kEnd); end != std::string::npos; end = svg.find(kEnd, end)) {
    if (section < end) {
      end += kEnd.size();
      section = svg.find(kSection, end);
      continue;
    }
    svg.replace(end, kEnd.size(), "]]&gt;");
    if (section != std::string::npos) section = svg.find(kSection, end);
  }
  return svg;
}

[[noreturn]] void fail_missing(const std::string& what) {
  throw InputError(
      fmt::format("{}: figures need the program gnuplot, which is not installed", what));
}

/// Runs gnuplot, without a shell, without the user's settings, and without the name of any file.
/// InputError, beginning with `what`, where it cannot be started.
Drawing run_gnuplot(const std::string& what, const std::string& script) {
  NamelessFile input;
  NamelessFile output;
  NamelessFile messages;
  input.write(script);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, messages.descriptor(), STDERR_FILENO);
  std::string program = "gnuplot";
  std::string own_settings = "--default-settings";
  char* arguments[] = {program.data(), own_settings.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawnp(&child, "gnuplot", &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == ENOENT) fail_missing(what);
  if (failed != 0)
    throw InputError(fmt::format("{}: the program gnuplot cannot be started: {}", what,
                                 std::generic_category().message(failed)));
  {
    // The child is not reaped here: its number stays its own as long as it may be killed.
    const Leftover at_work(child);
    siginfo_t ended{};
    while (waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) < 0 &&
           errno == EINTR) {
    }
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  constexpr int kNoSuchProgram = 127;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoSuchProgram) fail_missing(what);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : kBySignal + WTERMSIG(status),
          without_date(output.read()), messages.read()};
}

bool complete(const std::string& output, const Format& format) {
  constexpr std::size_t kTail = 16;  // the last words and what may follow them
  return output.find(format.last_words, output.size() - std::min(output.size(), kTail)) !=
         std::string::npos;
}

/// Why there is no figure: the first line of gnuplot's that says something, or how it ended.
std::string failure(const Drawing& drawing) {
  if (drawing.status == 0) return "the figure is not complete";
  const std::string& text = drawing.messages;
  const std::size_t from = text.find_first_not_of(" \n\t");
  if (from != std::string::npos) return text.substr(from, text.find('\n', from) - from);
  return drawing.status > kBySignal ? fmt::format("signal {} ended it", drawing.status - kBySignal)
                                    : fmt::format("exit status {}", drawing.status);
}

}  // namespace

void require_gnuplot(const std::string& what) {
  (void)run_gnuplot(what, "");
}

void check_figure(const std::string& path) {
  (void)format_of(path);
  check_writable(path);
  require_gnuplot(path);
}

std::string gnuplot_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : printable(text)) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ' ';
    if (plain)
      out += c;
    else
      out += fmt::format("\\0{:03o}", static_cast<unsigned char>(c));
  }
  return out + '"';
}

std::string gnuplot_tic(std::string_view text) {
  std::string format;
  for (const char c : text) format.append(c == '%' ? 2 : 1, c);
  return gnuplot_text(format);
}

void draw_figure(const std::string& path, const FigureSize& size, const std::string& commands,
                 NamedBy named_by) {
  const Format& format = format_of(path);
  AtomicFile figure(path, named_by);
  Drawing drawing = run_gnuplot(path, fmt::format("set encoding utf8\nset terminal {}\n{}\n",
                                                  terminal(format, size), commands));
  // A disk that is full ends in a part of the figure, not in an error of gnuplot's.
  if (drawing.status != 0 || !complete(drawing.output, format))
    throw InputError(fmt::format("{}: gnuplot failed: {}", path, failure(drawing)));
  if (format.ending == ".svg") drawing.output = with_escaped_ends(std::move(drawing.output));
  figure.write(drawing.output);
  figure.commit();
}

}  // namespace synergraph
