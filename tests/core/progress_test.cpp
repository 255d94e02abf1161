#include "synergraph/core/progress.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pty.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace synergraph {
namespace {

/// What is printed into a file, which is no terminal.
class ProgressTest : public testing::Test {
 protected:
  ProgressTest() : file_(std::tmpfile()) {}
  ~ProgressTest() override { std::fclose(file_); }

  ProgressOptions options(double interval) const { return {.stream = file_, .interval = interval}; }
  std::string printed() const {
    std::string text(static_cast<std::size_t>(std::ftell(file_)), '\0');
    std::rewind(file_);
    EXPECT_EQ(std::fread(text.data(), 1, text.size(), file_), text.size());
    return text;
  }

  std::FILE* file_;
};

TEST_F(ProgressTest, WritesPlainLinesIntoAFile) {
  {
    Progress progress("steps", 4, 0, options(0.0));
    progress.update(1, "loss 2");
    progress.note("a note");
    progress.update(4, "loss 1");
    progress.finish();
  }
  EXPECT_THAT(printed(),
              testing::MatchesRegex("1/4 steps \\(25.0 %\\)  loss 2  .* steps/s, .* left\n"
                                    "a note\n"
                                    "4/4 steps \\(100.0 %\\)  loss 1  .* 0.0 s left\n"));
}

TEST_F(ProgressTest, IsSilentBetweenIntervalsButNotAboutTheEnd) {
  {
    Progress progress("steps", 100, 50, options(3600.0));
    for (std::uint64_t k = 51; k <= 100; ++k) progress.update(k, "");
    progress.finish();
    progress.finish();
  }
  EXPECT_THAT(printed(), testing::StartsWith("100/100 steps (100.0 %)"));
}

TEST_F(ProgressTest, KnowsNoSpeedBeforeTheFirstUnit) {
  {
    Progress progress("steps", 10, 5, options(0.0));
    progress.update(5, "preparing");
    progress.update(10, "");
    progress.finish();
  }
  EXPECT_THAT(printed(), testing::MatchesRegex("5/10 .*preparing  0.0 steps/s, unknown left\n"
                                               "10/10 .* 0.0 s left\n"));
}

TEST(ProgressOnATerminal, KeepsTheTimeLeftWhereNotAllFits) {
  const auto drawn = [](unsigned short columns) {
    int terminal = -1;
    int other_end = -1;
    const winsize size{40, columns, 0, 0};
    EXPECT_EQ(openpty(&terminal, &other_end, nullptr, nullptr, &size), 0);
    std::FILE* stream = fdopen(other_end, "w");
    {
      Progress progress("steps", 1000, 0, {.stream = stream});
      progress.update(10, "epoch 1 of 2, loss 2.345, accuracy 0.123");
      progress.finish();
    }
    std::array<char, 1024> buffer{};
    const ssize_t got = read(terminal, buffer.data(), buffer.size());
    std::fclose(stream);
    close(terminal);
    return std::string(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  };
  EXPECT_THAT(drawn(132), testing::ContainsRegex("%\\)  epoch 1 .*0.123  .* steps/s, .* left"));
  EXPECT_THAT(drawn(80),
              testing::ContainsRegex("10/1000 steps \\(1.0 %\\)  [0-9.]+ steps/s, .* left"));
  EXPECT_THAT(drawn(42), testing::ContainsRegex("10/1000 steps \\(1.0 %\\)  .* left"));
}

TEST_F(ProgressTest, AStreamThatCannotBeWrittenStopsNothing) {
  std::FILE* full = std::fopen("/dev/full", "w");
  ASSERT_NE(full, nullptr);
  std::setvbuf(full, nullptr, _IONBF, 0);  // as stderr
  {
    Progress progress("steps", 2, 0, {.stream = full, .interval = 0.0});
    EXPECT_NO_THROW(progress.update(1, ""));
    EXPECT_NO_THROW(progress.note("a note"));
    EXPECT_NO_THROW(progress.update(2, ""));
    EXPECT_NO_THROW(progress.finish());
  }
  std::fclose(full);
}

TEST(ProgressWithoutAStream, TellsItsListenerAlone) {
  std::string heard;
  testing::internal::CaptureStderr();
  {
    Progress progress(
        "steps", 2, 0,
        {.listener = [&](std::uint64_t done, std::uint64_t total, const std::string& detail) {
          heard += fmt::format("{}/{} {};", done, total, detail);
        }});
    progress.update(1, "a");
    progress.note("a note");
    progress.update(2, "b");
    progress.finish();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(heard, "1/2 a;2/2 b;");
}

TEST(FormatDuration, ReadsAsPeopleSayIt) {
  EXPECT_EQ(format_duration(3.44), "3.4 s");
  EXPECT_EQ(format_duration(59.99), "1 min 00 s");
  EXPECT_EQ(format_duration(307.2), "5 min 07 s");
  EXPECT_EQ(format_duration(3599.7), "1 h 00 min");
  EXPECT_EQ(format_duration(7500), "2 h 05 min");
  EXPECT_EQ(format_duration(-1.0), "unknown");
}

}  // namespace
}  // namespace synergraph
