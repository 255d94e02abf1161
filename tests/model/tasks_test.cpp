#include "synergraph/model/tasks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "synergraph/core/error.h"

namespace synergraph {
namespace {

TEST(Tasks, SayWhatTheModelShallAnswer) {
  const Sequences inputs{2, 4, {5, 6, 7, 8, 1, 2, 3, 4}};
  EXPECT_EQ(targets(find_task("copy"), inputs).tokens, inputs.tokens);
  EXPECT_EQ(targets(find_task("cycle"), inputs).tokens,
            (std::vector<std::int32_t>{8, 5, 6, 7, 4, 1, 2, 3}));
  EXPECT_EQ(targets(find_task("zero"), inputs).tokens, std::vector<std::int32_t>(8, 0));
}

/// What a task says of one sequence.
std::vector<std::int32_t> answers(const char* task, const std::vector<std::int32_t>& input) {
  return targets(find_task(task), {1, static_cast<int>(input.size()), input}).tokens;
}

TEST(Tasks, AnswerTheseSequencesSo) {
  constexpr std::int32_t no = kIgnored;
  using Tokens = std::vector<std::int32_t>;
  // Two pairs (1, 9) and (0, 7), then queries; 5 is no key.
  EXPECT_EQ(answers("recall", {1, 9, 0, 7, 0, 1, 5, 0}), (Tokens{no, no, no, no, 7, 9, no, 7}));
  EXPECT_EQ(answers("delayed-copy", {4, 2, 6, 9, 4, 2}), (Tokens{no, no, no, 4, 2, 6}));
  EXPECT_EQ(answers("delayed-copy", {4, 2, 9, 4, 2}), (Tokens{no, no, 4, 2, no}));  // odd
  EXPECT_EQ(answers("maximum", {3, 1, 5, 4, 5}), (Tokens{3, 3, 5, 5, 5}));
  EXPECT_EQ(answers("second-maximum", {3, 1, 5, 4, 5}), (Tokens{no, 1, 3, 4, 5}));
  EXPECT_EQ(answers("parity", {1, 1, 0, 1, 0}), (Tokens{1, 0, 0, 1, 1}));
  EXPECT_EQ(answers("majority", {0, 1, 1, 0, 0}), (Tokens{0, no, 1, no, 0}));
}

/// Sequences of a task with sizes that every task has.
constexpr int kLength = 16;
constexpr int kVocabulary = 12;

TEST(Tasks, DrawInputsOfTheVocabularyWithAnswersInIt) {
  for (const Task& task : tasks()) {
    SCOPED_TRACE(task.name);
    const Sequences inputs = random_inputs(task, 3, 200, kLength, kVocabulary);
    const Sequences few = random_inputs(task, 3, 2, kLength, kVocabulary);
    EXPECT_TRUE(std::equal(few.tokens.begin(), few.tokens.end(), inputs.tokens.begin()));
    EXPECT_NE(random_inputs(task, 4, 200, kLength, kVocabulary).tokens, inputs.tokens);
    const Sequences answered = targets(task, inputs);
    for (const std::int32_t token : inputs.tokens) ASSERT_TRUE(token >= 0 && token < kVocabulary);
    for (const std::int32_t token : answered.tokens)
      ASSERT_TRUE(token >= kIgnored && token < kVocabulary);
    EXPECT_EQ(counted(answered.tokens),
              std::count_if(answered.tokens.begin(), answered.tokens.end(),
                            [](std::int32_t t) { return t >= 0; }));
  }
}

// Every query has one answer, since the keys of a sequence differ; nothing before the queries
// counts.
TEST(Tasks, RecallAsksForPairsOfDifferentKeys) {
  const Sequences inputs = random_inputs(find_task("recall"), 1, 100, 18, 13);
  const Sequences answered = targets(find_task("recall"), inputs);
  std::set<std::int32_t> values;
  for (int s = 0; s < inputs.count; ++s) {
    std::map<std::int32_t, std::int32_t> pairs;
    for (int k = 0; k < 4; ++k) {
      ASSERT_LT(inputs.row(s)[2 * k], 6);
      ASSERT_GE(inputs.row(s)[2 * k + 1], 6);
      pairs[inputs.row(s)[2 * k]] = inputs.row(s)[2 * k + 1];
      values.insert(inputs.row(s)[2 * k + 1]);
    }
    ASSERT_EQ(pairs.size(), 4U);
    for (int i = 0; i < 8; ++i) ASSERT_EQ(answered.row(s)[i], kIgnored);
    for (int i = 8; i < 18; ++i) ASSERT_EQ(answered.row(s)[i], pairs.at(inputs.row(s)[i]));
  }
  EXPECT_EQ(values.size(), 7U);
}

TEST(Tasks, DelayedCopyPutsTheSeparatorBetweenBothCopies) {
  const Sequences inputs = random_inputs(find_task("delayed-copy"), 1, 100, 10, 4);
  for (int s = 0; s < inputs.count; ++s) {
    const std::int32_t* row = inputs.row(s);
    EXPECT_EQ(std::count(row, row + 10, 3), 1);
    EXPECT_EQ(row[5], 3);
    EXPECT_TRUE(std::equal(row, row + 4, row + 6));
  }
}

// A bound per sequence: the last maximum has about the same share of every token. With uniform
// tokens it would be the largest token or nearly so.
TEST(Tasks, MaximaCannotBeGuessedFromThePosition) {
  const Sequences inputs = random_inputs(find_task("maximum"), 1, 4000, 30, 8);
  const Sequences answered = targets(find_task("maximum"), inputs);
  std::vector<int> seen(8);
  for (int s = 0; s < inputs.count; ++s) ++seen.at(static_cast<std::size_t>(answered.row(s)[29]));
  for (const int count : seen) EXPECT_NEAR(count, 500, 120);
}

TEST(Tasks, RefuseSizesThatTheyDoNotHave) {
  const auto message = [](const char* task, int length, int vocabulary) -> std::string {
    try {
      random_inputs(find_task(task), 1, 1, length, vocabulary);
    } catch (const UsageError& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(message("recall", 100, 50), "");
  EXPECT_EQ(message("recall", 100, 49),
            "task recall at length 100 needs a vocabulary of at least 50, not 49: choose a larger "
            "vocabulary or a smaller length");
  EXPECT_EQ(message("recall", 7, 256),
            "task recall needs a length of at least 8, not 7: choose a larger length");
  EXPECT_EQ(message("delayed-copy", 9, 8),
            "task delayed-copy needs a length that is a multiple of 2, not 9");
  EXPECT_EQ(
      message("delayed-copy", 8, 2),
      "task delayed-copy at length 8 needs a vocabulary of at least 3, not 2: choose a larger "
      "vocabulary");
  for (const Task& task : tasks()) {
    EXPECT_EQ(message(task.name.c_str(), 100, 256), "");  // the paper's sizes
    EXPECT_NE(message(task.name.c_str(), 0, 256), "");
  }
  EXPECT_THROW(answers("recall", {1, 5, 2, 6, 3, 3, 3, 3}), UsageError);  // no query is a key
}

TEST(Tasks, UnknownNamesAreRefusedWithTheKnownOnes) {
  try {
    find_task("sort");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "unknown task 'sort': expected one of copy, cycle, zero, recall, delayed-copy, "
                 "maximum, second-maximum, parity, majority");
  }
}

TEST(RandomSequences, AreUniformAndDependOnSeedAndIndexAlone) {
  const Sequences few = random_sequences(3, 10, 50, 16);
  const Sequences many = random_sequences(3, 400, 50, 16);
  EXPECT_TRUE(std::equal(few.tokens.begin(), few.tokens.end(), many.tokens.begin()));
  EXPECT_NE(random_sequences(4, 10, 50, 16).tokens, few.tokens);
  std::set<std::vector<std::int32_t>> rows;
  for (int k = 0; k < many.count; ++k) rows.insert({many.row(k), many.row(k) + 50});
  EXPECT_EQ(rows.size(), 400U);

  std::vector<double> seen(16, 0.0);
  for (const std::int32_t token : many.tokens) seen.at(static_cast<std::size_t>(token)) += 1.0;
  double chi_square = 0.0;
  for (const double count : seen) chi_square += (count - 1250.0) * (count - 1250.0) / 1250.0;
  EXPECT_LT(chi_square, 44.3);  // 99.99 % point of chi-square with 15 degrees of freedom
}

TEST(RandomSequences, NeedSizes) {
  EXPECT_THROW(random_sequences(1, 0, 5, 5), UsageError);
  EXPECT_THROW(random_sequences(1, 5, 5, 0), UsageError);
}

}  // namespace
}  // namespace synergraph
