// Every form of operator new and operator delete: blocks, alignment, new-handler, std::bad_alloc.
#include "../c/check.h"
#include <cstddef>
#include <cstring>
#include <malloc.h>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

const std::size_t too_much = opaque_size(PTRDIFF_MAX);

void all_pairs_of_forms_work_for_all_sizes() {
    for (std::size_t size = 0; size < 200000; size = size * 5 / 3 + 1) {
        ::operator delete(opaque(::operator new(size)));
        ::operator delete(opaque(::operator new(size)), size);
        ::operator delete[](opaque(::operator new[](size)));
        ::operator delete[](opaque(::operator new[](size)), size);
        ::operator delete(opaque(::operator new(size, std::nothrow)), std::nothrow);
        ::operator delete[](opaque(::operator new[](size, std::nothrow)), std::nothrow);
    }
}

void aligned_forms_align() {
    for (std::size_t align = 1; align <= 1 << 20; align *= 2) {
        const auto tag = static_cast<std::align_val_t>(align);
        for (std::size_t size : {std::size_t{0}, std::size_t{40}, std::size_t{9000}}) {
            void *blocks[] = {::operator new(size, tag), ::operator new[](size, tag),
                              ::operator new(size, tag, std::nothrow),
                              ::operator new[](size, tag, std::nothrow), ::operator new(size, tag),
                              ::operator new[](size, tag)};
            for (void *block : blocks) {
                CHECK(opaque(block) != nullptr && is_aligned(block, align));
                CHECK(malloc_usable_size(block) >= size);
                std::memset(block, 1, size);
            }
            ::operator delete(blocks[0], tag);
            ::operator delete[](blocks[1], tag);
            ::operator delete(blocks[2], tag, std::nothrow);
            ::operator delete[](blocks[3], tag, std::nothrow);
            ::operator delete(blocks[4], size, tag);
            ::operator delete[](blocks[5], size, tag);
        }
    }
}

void zero_size_gives_distinct_pointers() {
    void *a = opaque(::operator new(0));
    void *b = opaque(::operator new[](0));
    CHECK(a != nullptr && b != nullptr && a != b);
    ::operator delete(a);
    ::operator delete[](b);
    ::operator delete(nullptr);
    ::operator delete[](nullptr);
}

template <typename Allocate> bool throws_bad_alloc(Allocate allocate) {
    try {
        opaque(allocate());
        return false;
    } catch (const std::bad_alloc &error) {
        return error.what()[0] != 0;
    }
}

// Runs a destructor while the exception passes through, as programs do.
struct Passed {
    bool &flag;
    ~Passed() { flag = true; }
};

void throwing_forms_throw_bad_alloc() {
    const auto wide = static_cast<std::align_val_t>(4096);
    CHECK(throws_bad_alloc([] { return ::operator new(too_much); }));
    CHECK(throws_bad_alloc([] { return ::operator new[](too_much); }));
    CHECK(throws_bad_alloc([&] { return ::operator new(too_much, wide); }));
    CHECK(throws_bad_alloc([&] { return ::operator new[](too_much, wide); }));
    bool cleaned = false;
    CHECK(throws_bad_alloc([&] {
        Passed passed{cleaned};
        return ::operator new(too_much);
    }));
    CHECK(cleaned);
}

void nothrow_forms_return_null() {
    const auto wide = static_cast<std::align_val_t>(4096);
    CHECK(::operator new(too_much, std::nothrow) == nullptr);
    CHECK(::operator new[](too_much, std::nothrow) == nullptr);
    CHECK(::operator new(too_much, wide, std::nothrow) == nullptr);
    CHECK(::operator new[](too_much, wide, std::nothrow) == nullptr);
}

int handler_calls;

void handler_that_gives_up_at_third_call() {
    if (++handler_calls == 3) std::set_new_handler(nullptr);
}

void handler_that_throws() {
    handler_calls++;
    throw std::bad_alloc();
}

void handler_that_throws_its_own() {
    handler_calls++;
    throw std::runtime_error("handler");
}

void new_handler_is_called_until_it_gives_up() {
    handler_calls = 0;
    std::set_new_handler(handler_that_gives_up_at_third_call);
    CHECK(throws_bad_alloc([] { return ::operator new(too_much); }));
    CHECK(handler_calls == 3);
    handler_calls = 0;
    std::set_new_handler(handler_that_gives_up_at_third_call);
    CHECK(::operator new[](too_much, std::nothrow) == nullptr);
    CHECK(handler_calls == 3);
}

void exceptions_of_the_handler_reach_the_caller() {
    handler_calls = 0;
    std::set_new_handler(handler_that_throws);
    CHECK(throws_bad_alloc([] { return ::operator new(too_much); }));
    CHECK(handler_calls == 1);
    std::set_new_handler(handler_that_throws_its_own);
    try {
        opaque(::operator new(too_much));
        CHECK(false);
    } catch (const std::runtime_error &error) {
        CHECK(std::string(error.what()) == "handler");
    }
    std::set_new_handler(nullptr);
}

void exceptions_of_the_handler_end_in_nothrow_forms() {
    const auto wide = static_cast<std::align_val_t>(64);
    handler_calls = 0;
    std::set_new_handler(handler_that_throws);
    for (int i = 0; i < 1000; i++) {
        CHECK(::operator new(too_much, std::nothrow) == nullptr);
        CHECK(::operator new[](too_much, wide, std::nothrow) == nullptr);
    }
    CHECK(handler_calls == 2000);
    CHECK(std::uncaught_exceptions() == 0);
    std::set_new_handler(nullptr);
}

char *reserve;

void handler_that_releases_a_reserve() {
    handler_calls++;
    CHECK(reserve != nullptr);
    delete[] reserve;
    reserve = nullptr;
    std::set_new_handler(nullptr);
}

void handler_may_use_the_heap() {
    handler_calls = 0;
    reserve = new char[1 << 20];
    std::set_new_handler(handler_that_releases_a_reserve);
    CHECK(throws_bad_alloc([] { return ::operator new(too_much); }));
    CHECK(handler_calls == 1 && reserve == nullptr);
}

struct alignas(256) Wide {
    char bytes[300];
};

void containers_and_smart_pointers_work() {
    std::vector<std::unique_ptr<std::string>> texts;
    for (std::size_t i = 0; i < 20000; i++)
        texts.push_back(std::make_unique<std::string>(i % 300, 'a'));
    for (std::size_t i = 0; i < 20000; i++) CHECK(*texts[i] == std::string(i % 300, 'a'));
    std::vector<std::unique_ptr<Wide>> wide;
    for (int i = 0; i < 500; i++) {
        wide.push_back(std::make_unique<Wide>());
        CHECK(is_aligned(wide.back().get(), 256));
    }
    auto shared = std::make_shared<std::vector<int>>(100000, 7);
    CHECK(std::shared_ptr<std::vector<int>>(shared)->at(99999) == 7);
    CHECK(throws_bad_alloc([] {
        std::vector<char> bytes;
        bytes.reserve(static_cast<std::size_t>(PTRDIFF_MAX) - 4096);
        return ::operator new(bytes.capacity());
    }));
}

}  // namespace

int main() {
    check_allod_is_malloc();
    all_pairs_of_forms_work_for_all_sizes();
    aligned_forms_align();
    zero_size_gives_distinct_pointers();
    throwing_forms_throw_bad_alloc();
    nothrow_forms_return_null();
    new_handler_is_called_until_it_gives_up();
    exceptions_of_the_handler_reach_the_caller();
    exceptions_of_the_handler_end_in_nothrow_forms();
    handler_may_use_the_heap();
    containers_and_smart_pointers_work();
    return 0;
}
