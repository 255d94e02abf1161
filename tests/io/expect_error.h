#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "synergraph/core/error.h"
#include "synergraph/core/setting.h"

namespace synergraph {

/// The action throws an InputError of one line that contains `part`, settings being spelled as the
/// program does.
template <class Action>
void expect_input_error(const std::string& part, const Action& action) {
  try {
    action();
    FAIL() << "no error; expected: " << part;
  } catch (const InputError& error) {
    const std::string message = spelled(error.what(), OptionSpelling::kProgram);
    EXPECT_THAT(message, testing::HasSubstr(part));
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

}  // namespace synergraph
