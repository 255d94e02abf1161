#pragma once

#include <stdexcept>

#pragma GCC visibility push(default)
namespace synergraph {

/// The base class of all errors that this library throws on purpose. The message is one line that a
/// user can act on. The message says what is wrong, where (file, line, tensor, row), and what was
/// expected.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The data is wrong: a malformed file, a matrix that is not causal, a negative weight. The command
/// line exits with status 1.
class InputError : public Error {
 public:
  using Error::Error;
};

/// The system cannot read or write a file now. A later attempt may succeed.
class FileError : public InputError {
 public:
  using InputError::InputError;
};

/// The request is wrong: an option out of range, or options that contradict each other. The command
/// line exits with status 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace synergraph
#pragma GCC visibility pop
