// A plug-in in C++ for a host in C: failing operator new in all its ways, from a runtime that was
// loaded late and for this library alone.
#include <cstddef>
#include <cstdint>
#include <new>

namespace {

volatile std::size_t too_much = PTRDIFF_MAX;
int calls;

void throwing_handler() {
    calls++;
    throw std::bad_alloc();
}

bool throws() {
    try {
        ::operator delete(::operator new(too_much));
    } catch (const std::bad_alloc &) {
        return true;
    }
    return false;
}

}  // namespace

// Returns 0 if all went as the C++ standard says, else the number of what did not.
extern "C" int try_failing_new() {
    if (!throws()) return 1;
    if (::operator new(too_much, std::nothrow) != nullptr) return 2;
    std::set_new_handler(throwing_handler);
    if (!throws() || calls != 1) return 3;
    if (::operator new(too_much, std::nothrow) != nullptr || calls != 2) return 4;
    std::set_new_handler(nullptr);
    int *number = new int(5);
    const bool right = *number == 5;
    delete number;
    return right ? 0 : 5;
}
