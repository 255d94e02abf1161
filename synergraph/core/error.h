#pragma once

#include <stdexcept>

#pragma GCC visibility push(default)
namespace synergraph {

/// Everything this library throws on purpose. The message is one line a user can act on: what was
/// wrong, where (file, line, tensor, row), and what was expected.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The data is wrong: a malformed file, a matrix that is not causal, a weight that is negative.
/// The command line exits with status 1.
class InputError : public Error {
 public:
  using Error::Error;
};

/// The system cannot read or write a file now: perhaps it can later.
class FileError : public InputError {
 public:
  using InputError::InputError;
};

/// The request is wrong: an option out of range, a contradiction between options.
/// The command line exits with status 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace synergraph
#pragma GCC visibility pop
