// A heap per request for the standard library's containers: a memory resource on a first-class heap. What the
// containers of a request hold goes at once with the heap, and `release` costs nothing per block.
#include <allod/heap.h>
#include <iostream>
#include <map>
#include <memory_resource>
#include <new>
#include <sstream>
#include <string>

class request_heap final : public std::pmr::memory_resource {
public:
    request_heap() : heap(allod_heap_new()) {
        if (!heap) throw std::bad_alloc();
    }
    ~request_heap() override { allod_heap_destroy(heap); }
    request_heap(const request_heap &) = delete;
    request_heap &operator=(const request_heap &) = delete;

private:
    void *do_allocate(std::size_t size, std::size_t align) override {
        void *block = allod_heap_aligned_alloc(heap, align, size);
        if (!block) throw std::bad_alloc();
        return block;
    }
    void do_deallocate(void *block, std::size_t, std::size_t) override { allod_free(block); }
    bool do_is_equal(const memory_resource &other) const noexcept override { return this == &other; }

    allod_heap_t *heap;
};

// How often each word is in the request.
static std::string answer(const std::string &request) {
    request_heap memory;
    std::pmr::map<std::pmr::string, int> count(&memory);
    std::istringstream words(request);
    for (std::string word; words >> word;) count[std::pmr::string(word, &memory)]++;
    std::ostringstream text;
    for (const auto &[word, times] : count) text << word << '=' << times << ' ';
    return text.str();
}

int main() {
    const std::string text = answer("a rose is a rose is a rose");
    std::cout << text << '\n';
    return text == "a=3 is=2 rose=3 " ? 0 : 1;
}
