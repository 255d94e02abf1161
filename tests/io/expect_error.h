#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "synergraph/core/error.h"

namespace synergraph {

/// The action throws an InputError of one line that contains `part`.
template <class Action>
void expect_input_error(const std::string& part, const Action& action) {
  try {
    action();
    FAIL() << "no error; expected: " << part;
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_THAT(message, testing::HasSubstr(part));
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

}  // namespace synergraph
