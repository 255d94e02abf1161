#include "synergraph/heads/sample_heads.h"

#include <gtest/gtest.h>

#include "synergraph/core/error.h"
#include "synergraph/core/setting.h"

namespace synergraph {
namespace {

TEST(SampleHeads, LargeHeadsAreReadOneAtATime) {
  // Nine heads of 1024 tokens take 72 MiB: more than is kept.
  for (const int count : {2, 9}) {
    std::vector<int> reads(static_cast<std::size_t>(count));
    SampleHeads heads(count, 1024);
    for (int sample = 0; sample < 2; ++sample) {
      heads.start([&, sample](int head, Matrix& into) {
        ++reads[static_cast<std::size_t>(head)];
        into(0, 0) = 100 * sample + head;
      });
      for (const int head : {0, 0, 1, count - 1, 0, 0})
        EXPECT_EQ(heads.head(head).view()(0, 0), 100 * sample + head);
    }
    EXPECT_EQ(reads[0], count == 9 ? 4 : 2);
    EXPECT_EQ(reads[1], 2);
  }
}

// A quarter of the memory holds both heads, or not quite.
TEST(SampleHeads, AreKeptInAPartOfTheMemory) {
  constexpr std::size_t kBoth = 2 * 64 * 64 * sizeof(double);
  for (const std::size_t memory : {4 * kBoth, 4 * kBoth - 4}) {
    int reads = 0;
    SampleHeads heads(2, 64, memory);
    heads.start([&](int, Matrix&) { ++reads; });
    for (const int head : {0, 1, 0}) (void)heads.head(head);
    EXPECT_EQ(reads, memory == 4 * kBoth ? 2 : 3);
  }
}

// Three matrices of 20,000 tokens take 8.9 GiB. Nothing is allocated before that is checked.
TEST(SampleHeads, OfManyTokensAreRefusedWithoutMemory) {
  SampleHeads heads(1, 20000, std::size_t{1} << 30U);
  try {
    heads.start([](int, Matrix&) {});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(spelled(error.what(), OptionSpelling::kProgram),
              "this needs whole heads in memory, for 20000 tokens 9 GiB, and may use 1.0 GiB: "
              "raise --memory, analyse fewer tokens, or measure on a GPU (--device cuda)");
  }
}

// Heads that take long to read are kept in more memory, which counts when systems are placed.
TEST(SampleHeads, AreKeptInAsMuchAsTheirSourceSays) {
  int reads = 0;
  SampleHeads heads(9, 1024, {}, 128 << 20);  // 72 MiB
  heads.start([&](int, Matrix&) { ++reads; });
  for (const int head : {0, 8, 0}) (void)heads.head(head);
  EXPECT_EQ(reads, 9);
  const Execution execution{.threads = 64, .memory = WorkingMemory(std::size_t{1} << 30)};
  const int at_once = systems_at_once(9, 1024, execution);
  const int kept = systems_at_once(9, 1024, execution, 128 << 20);
  EXPECT_EQ(at_once, 6);  // 4/9 GiB for 1 + 8 matrices of 8 MiB each
  EXPECT_EQ(kept, 3);     // for 9 + 8
}

}  // namespace
}  // namespace synergraph
