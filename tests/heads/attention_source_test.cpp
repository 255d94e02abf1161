#include "synergraph/heads/attention_source.h"

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>

#include "synergraph/heads/lower_triangle.h"
#include "synergraph/heads/measure.h"
#include "tests/heads/memory_source.h"
#include "tests/support/random_inputs.h"

namespace synergraph {
namespace {

using testing_support::MemorySource;
using testing_support::random_attention;

/// Heads that nobody may ask for one too many.
class GuardedHeads : public HeadSource {
 public:
  explicit GuardedHeads(HeadSource& heads) : heads_(heads) {}
  int heads() const override { return heads_.heads(); }
  int nodes() const override { return heads_.nodes(); }
  const MirroredMatrix& head(int h) override {
    if (h < 0 || h >= heads()) throw std::out_of_range("no such head");
    return heads_.head(h);
  }
  const Walk* own_walk(int h) override { return heads_.own_walk(h); }

 private:
  HeadSource& heads_;
};

/// A source whose readers guard their heads.
class GuardedSource : public MemorySource {
 public:
  using MemorySource::MemorySource;
  std::unique_ptr<AttentionReader> reader(const WorkingMemory& memory) override {
    return std::make_unique<Guard>(MemorySource::reader(memory));
  }

 private:
  class Guard : public AttentionReader {
   public:
    explicit Guard(std::unique_ptr<AttentionReader> from) : from_(std::move(from)) {}
    void open(const AttentionPiece& piece) override { from_->open(piece); }
    void visit(const LayerVisitor& visitor) override {
      from_->visit([&](int layer, HeadSource& heads) {
        GuardedHeads guarded(heads);
        visitor(layer, guarded);
      });
    }

   private:
    std::unique_ptr<AttentionReader> from_;
  };
};

// A copy has every head once and in order, of every row what is not beyond the diagonal, and no
// more.
TEST(AttentionSourceTest, CopiesEveryHeadAndRowAndNoOther) {
  constexpr int kHeads = 3;
  constexpr int kTokens = 4;
  RandomSequence draws(3, Purpose::kTest, 0);
  MemorySource::Systems systems(2, {{}, {}});
  for (auto& layer : systems)
    for (auto& sample : layer)
      for (int h = 0; h < kHeads; ++h)
        sample.push_back(head_of_attention("", random_attention(kTokens, 1.0, draws)));
  GuardedSource source(std::move(systems));
  for (const AttentionPiece& piece : source.pieces(0, 2)) {
    int copied = 0;
    source.copy_heads(piece, [&](int layer, int head, std::span<const std::byte> triangle) {
      EXPECT_EQ(layer, piece.layer);
      ASSERT_EQ(head, copied++);
      const Matrix& expected =
          source.system(layer, piece.sample)[static_cast<std::size_t>(head)].diffusion;
      ASSERT_EQ(triangle.size(), triangle_bytes(kTokens, sizeof(double)));
      std::vector<double> values(triangle.size() / sizeof(double));
      std::memcpy(values.data(), triangle.data(), triangle.size());
      std::size_t at = 0;
      for (int i = 0; i < kTokens; ++i)
        for (int j = 0; j <= i; ++j) EXPECT_EQ(values[at++], expected(i, j)) << i << ", " << j;
    });
    EXPECT_EQ(copied, kHeads);
  }
}

TEST(LowerTriangleTest, HasItsRowsAndNoOther) {
  const std::vector<double> row = {1.0, 2.0, 3.0};
  LowerTriangle triangle(2, sizeof(double));
  triangle.set_row(0, row.data());
  triangle.set_row(1, row.data());
  EXPECT_THROW(triangle.set_row(2, row.data()), std::out_of_range);
  EXPECT_THROW(triangle.set_row(-1, row.data()), std::out_of_range);
}

}  // namespace
}  // namespace synergraph
