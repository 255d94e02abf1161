#include "synergraph/io/own_file.h"

#include <filesystem>
#include <functional>
#include <iterator>
#include <vector>

#include "synergraph/core/error.h"
#include "synergraph/io/atomic_file.h"
#include "tests/io/temporary_directory.h"

namespace synergraph {
namespace {

namespace fs = std::filesystem;

class SetOwnAside : public InTemporaryDirectory {
 protected:
  std::size_t entries() const {
    const fs::directory_iterator all(directory_);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
};

TEST_F(SetOwnAside, RenamesAFileOrADirectory) {
  write_file(path("a"), "text");
  set_own_aside(path("a"));
  EXPECT_EQ(read_file(path("a.damaged")), "text");
  fs::create_directory(path("b"));
  write_file(path("b/inside"), "text");
  set_own_aside(path("b"));
  EXPECT_EQ(read_file(path("b.damaged/inside")), "text");
  EXPECT_EQ(entries(), 2U);
}

TEST_F(SetOwnAside, DoesNothingWhereThereIsNothing) {
  EXPECT_NO_THROW(set_own_aside(path("a")));
  EXPECT_NO_THROW(set_own_aside(path("missing/a")));
  EXPECT_EQ(entries(), 0U);
}

// rename(2) alone would silently replace a file, a link or an empty directory.
TEST_F(SetOwnAside, TakesTheNextNameWhereAnythingHasTheFirst) {
  const auto file = [this](const std::string& name) { write_file(path(name), "old"); };
  const auto directory = [this](const std::string& name) { fs::create_directory(path(name)); };
  const auto full = [this](const std::string& name) {
    fs::create_directory(path(name));
    write_file(path(name + "/inside"), "old");
  };
  const auto dangling = [this](const std::string& name) {
    fs::create_symlink("nowhere", path(name));
  };
  const std::vector<std::function<void(const std::string&)>> kinds = {file, directory, full,
                                                                      dangling};
  for (std::size_t before = 0; before < kinds.size(); ++before)
    for (const bool is_directory : {false, true}) {
      SCOPED_TRACE(testing::Message() << before << (is_directory ? ", directory" : ", file"));
      fs::remove_all(directory_);
      fs::create_directory(directory_);
      kinds[before]("a.damaged");
      const fs::file_status occupant = fs::symlink_status(path("a.damaged"));
      for (const char* aside : {"a.damaged-2", "a.damaged-3"}) {
        if (is_directory)
          full("a");
        else
          file("a");
        set_own_aside(path("a"));
        EXPECT_FALSE(fs::exists(fs::symlink_status(path("a"))));
        EXPECT_EQ(read_file(path(is_directory ? aside + std::string("/inside") : aside)), "old");
      }
      EXPECT_EQ(fs::symlink_status(path("a.damaged")).type(), occupant.type());
      EXPECT_FALSE(fs::exists(path("nowhere")));
      EXPECT_EQ(entries(), 3U);
    }
}

TEST_F(SetOwnAside, FollowsNoLinkOnTheWay) {
  fs::create_directory(path("there"));
  write_file(path("there/a"), "text");
  fs::create_directory_symlink("there", path("link"));
  EXPECT_THROW(set_own_aside(path("link/a")), InputError);
  EXPECT_EQ(read_file(path("there/a")), "text");
}

}  // namespace
}  // namespace synergraph
