#pragma once

// Runs a command on a terminal of its own, as wide as a test wants.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

namespace synergraph::testing_support {

/// What `sh -c LINE` writes to a terminal of so many columns; both streams, carriage returns before
/// line feeds left out.
inline std::string run_on_terminal(const std::string& line, int columns) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  EXPECT_GE(terminal, 0);
  EXPECT_EQ(grantpt(terminal), 0);
  EXPECT_EQ(unlockpt(terminal), 0);
  const std::string name = ptsname(terminal);
  const int other_end = open(name.c_str(), O_RDWR | O_NOCTTY);
  const winsize size{40, static_cast<unsigned short>(columns), 0, 0};
  EXPECT_EQ(ioctl(other_end, TIOCSWINSZ, &size), 0);
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(other_end, stream);
    close(terminal);
    execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    _exit(127);
  }
  close(other_end);
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = read(terminal, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(got));
  waitpid(child, nullptr, 0);
  close(terminal);
  for (std::size_t k = 0; (k = text.find("\r\n", k)) != std::string::npos;) text.erase(k, 1);
  return text;
}

}  // namespace synergraph::testing_support
