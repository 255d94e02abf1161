// C++ exceptions over WebAssembly's, which Debian's libc++abi for it is built without: what the
// compiler calls when it throws and catches (Itanium C++ ABI), for one thread. Types are compared
// by libc++abi's own type information.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <new>
#include <typeinfo>

namespace {

/// In front of every thrown object.
struct alignas(16) Exception {
  const std::type_info* type;
  void* (*destroy)(void*);  ///< destructors return their argument here
  void* caught;             ///< the object as the handler's type
  Exception* next;          ///< that is being handled
  int handlers;             ///< that handle it; negative where one throws it on
  int references;
};

Exception* handled = nullptr;  // the innermost, which lead to the others

Exception* header(void* object) {
  return static_cast<Exception*>(object) - 1;
}

}  // namespace

/// The beginning of libc++abi's __shim_type_info.
struct TypeInfo : std::type_info {
  virtual void noop1() const;
  virtual void noop2() const;
  virtual bool can_catch(const TypeInfo* thrown, void*& object) const;
};

namespace {

template <class Number>
Number read_leb128(const std::uint8_t*& at) {
  std::uint64_t value = 0;
  unsigned shift = 0;
  std::uint8_t byte = 0;
  do {
    byte = *at++;
    value |= std::uint64_t{byte & 0x7FU} << shift;
    shift += 7;
  } while ((byte & 0x80U) != 0);
  if (static_cast<Number>(-1) < 0 && (byte & 0x40U) != 0 && shift < 64)
    value |= ~std::uint64_t{0} << shift;
  return static_cast<Number>(value);
}

/// Which of the handlers at a landing pad takes the exception, by the table that the compiler made
/// for the function; 0: none.
int find_handler(const std::uint8_t* table, std::uintptr_t landing_pad, Exception& exception) {
  constexpr std::uint8_t kOmitted = 0xFF;
  if (table == nullptr || *table++ != kOmitted)
    std::terminate();                   // landing pads have no addresses here
  const std::uint8_t* types = nullptr;  // entries lie before this
  if (*table++ != kOmitted) {
    const auto offset = read_leb128<std::uintptr_t>(table);
    types = table + offset;
  }
  ++table;  // encoding of the call sites
  const auto length = read_leb128<std::uintptr_t>(table);
  const std::uint8_t* const actions = table + length;
  while (table < actions) {
    const auto pad = read_leb128<std::uintptr_t>(table);
    const auto first = read_leb128<std::uintptr_t>(table);
    if (pad != landing_pad || first == 0) continue;
    for (const std::uint8_t* action = actions + (first - 1);;) {
      const auto index = read_leb128<std::int32_t>(action);
      if (index > 0) {
        const auto* type = reinterpret_cast<const TypeInfo* const*>(types)[-index];
        void* object = &exception + 1;
        if (type == nullptr ||
            type->can_catch(static_cast<const TypeInfo*>(exception.type), object)) {
          exception.caught = object;
          return index;
        }
      }
      const std::uint8_t* next = action;
      const auto offset = read_leb128<std::int32_t>(next);
      if (offset == 0) break;
      action += offset;
    }
  }
  return 0;
}

void release(Exception* exception) {
  if (--exception->references > 0) return;
  if (exception->destroy != nullptr) exception->destroy(exception + 1);
  std::free(exception);
}

}  // namespace

extern "C" {

/// What a landing pad says before, and reads after, _Unwind_CallPersonality().
struct {
  std::uintptr_t landing_pad;
  const std::uint8_t* table;
  std::intptr_t selector;
} __wasm_lpad_context;

int __gxx_wasm_personality_v0() {
  return 0;
}

int _Unwind_CallPersonality(void* object) {
  __wasm_lpad_context.selector =
      find_handler(__wasm_lpad_context.table, __wasm_lpad_context.landing_pad, *header(object));
  return 0;
}

void* __cxa_allocate_exception(std::size_t size) noexcept {
  auto* exception = static_cast<Exception*>(std::malloc(sizeof(Exception) + size));
  if (exception == nullptr) std::terminate();
  return exception + 1;
}

void __cxa_free_exception(void* object) noexcept {
  std::free(header(object));
}

[[noreturn]] void __cxa_throw(void* object, std::type_info* type, void* (*destroy)(void*)) {
  *header(object) = {type, destroy, object, nullptr, 0, 1};
  __builtin_wasm_throw(0, object);
}

void* __cxa_get_exception_ptr(void* object) noexcept {
  return header(object)->caught;
}

void* __cxa_begin_catch(void* object) noexcept {
  Exception* exception = header(object);
  exception->handlers = (exception->handlers < 0 ? -exception->handlers : exception->handlers) + 1;
  if (handled != exception) {
    exception->next = handled;
    handled = exception;
  }
  return exception->caught;
}

void __cxa_end_catch() {
  Exception* exception = handled;
  if (exception == nullptr) return;
  if (exception->handlers < 0) {  // thrown on: it lives
    if (++exception->handlers == 0) handled = exception->next;
  } else if (--exception->handlers == 0) {
    handled = exception->next;
    release(exception);
  }
}

[[noreturn]] void __cxa_rethrow() {
  Exception* exception = handled;
  if (exception == nullptr) std::terminate();
  exception->handlers = -exception->handlers;
  __builtin_wasm_throw(0, exception + 1);
}

// std::exception_ptr

void* __cxa_current_primary_exception() noexcept {
  if (handled == nullptr) return nullptr;
  ++handled->references;
  return handled + 1;
}

void __cxa_increment_exception_refcount(void* object) noexcept {
  if (object != nullptr) ++header(object)->references;
}

void __cxa_decrement_exception_refcount(void* object) noexcept {
  if (object != nullptr) release(header(object));
}

void __cxa_rethrow_primary_exception(void* object) {
  if (object == nullptr) return;
  if (header(object)->handlers == 0) ++header(object)->references;
  __builtin_wasm_throw(0, object);
}

unsigned __cxa_uncaught_exceptions() noexcept {
  return 0;
}
bool __cxa_uncaught_exception() noexcept {
  return false;
}

}  // extern "C"
