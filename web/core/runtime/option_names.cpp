#include "capi/option_names.h"

// A page says what the terminal says.
namespace synergraph::capi {

std::string with_names_of_options(std::string_view text) {
  return std::string(text);
}

}  // namespace synergraph::capi
