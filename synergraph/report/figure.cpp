#include "synergraph/report/figure.h"

#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "synergraph/core/error.h"
#include "synergraph/io/atomic_file.h"

extern char** environ;  // NOLINT: POSIX's name

namespace synergraph {
namespace {

std::string ending_of(const std::string& path) {
  return std::filesystem::path(path).extension().string();
}

std::string terminal(const std::string& path, const FigureSize& size) {
  const std::string ending = ending_of(path);
  if (ending == ".svg")
    return fmt::format(
        "svg size {:.0f},{:.0f} dynamic enhanced font 'Helvetica,12' background 'white'",
        size.width * 96, size.height * 96);
  if (ending == ".pdf")
    return fmt::format("pdfcairo size {}in,{}in enhanced font 'Helvetica,9'", size.width,
                       size.height);
  if (ending == ".png")
    return fmt::format(
        "pngcairo size {:.0f},{:.0f} enhanced font 'Helvetica,9' fontscale 2.0833 linewidth 2 "
        "pointscale 2 background 'white'",
        size.width * 200, size.height * 200);
  throw UsageError(fmt::format("{}: a figure ends in .svg, .pdf or .png", path));
}

/// A file that is removed when it goes out of scope.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) {
    path_ = (std::filesystem::temp_directory_path() / "synergraph-XXXXXX").string();
    const int descriptor = mkstemp(path_.data());
    if (descriptor < 0) throw InputError(fmt::format("{}: cannot create a temporary file", path_));
    close(descriptor);
    try {
      write_file(path_, text);
    } catch (...) {
      unlink(path_.c_str());
      throw;
    }
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Runs gnuplot on a script, its messages going to a file. Returns its exit status, -1 if it could
/// not run.
int run_gnuplot(const std::string& script, const std::string& messages) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", 0, 0);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, stream, messages.c_str(), 1 /* write */, 0600);
  std::string program = "gnuplot";
  std::string argument = script;
  char* arguments[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawnp(&child, "gnuplot", &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace

void check_figure_path(const std::string& path) {
  (void)terminal(path, {});
}

std::string gnuplot_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (std::string_view("_^@&~{}").find(c) != std::string_view::npos) out += "\\\\";
    if (c == '"' || c == '\\') out += c == '"' ? "\\" : "\\\\\\";
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + '"';
}

void draw_figure(const std::string& path, const FigureSize& size, const std::string& commands) {
  const std::string set_terminal = terminal(path, size);
  AtomicFile figure(path);
  const TemporaryFile script(
      fmt::format("set encoding utf8\nset terminal {}\nset output {}\n{}\nset output\n",
                  set_terminal, gnuplot_text(figure.temporary_path()), commands));
  const TemporaryFile messages("");
  const int status = run_gnuplot(script.path(), messages.path());
  if (status == -1 || status == 127)
    throw InputError(
        fmt::format("{}: figures need the program gnuplot, which is not installed", path));
  const std::string said = read_file(messages.path());
  if (status != 0) {
    const std::size_t from = said.find_first_not_of(" \n\t");
    const std::string line =
        from == std::string::npos ? "" : said.substr(from, said.find('\n', from) - from);
    throw InputError(fmt::format("{}: gnuplot failed: {}", path, line));
  }
  figure.commit();
}

}  // namespace synergraph
