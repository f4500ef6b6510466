// Finding a leak in a test: an object that notes what the heap holds when it is made, and tells what is more
// when it is asked. It counts the whole process, so other threads should be quiet meanwhile.
#include <allod/heap.h>
#include <iostream>
#include <memory>
#include <vector>

class held_bytes {
public:
    held_bytes() : before(now()) {}
    long long growth() const { return now() - before; }

private:
    static long long now() {
        allod_stats stats{};
        stats.record_size = sizeof stats;
        if (allod_stats_get(&stats) != 0) return 0;
        return static_cast<long long>(stats.small_bytes + stats.large_bytes);
    }
    long long before;
};

struct node {
    std::shared_ptr<node> next;
    char data[200];
};

// Two nodes that hold each other are never freed; a chain is.
static void make(bool cycle) {
    auto first = std::make_shared<node>();
    first->next = std::make_shared<node>();
    if (cycle) first->next->next = first;
}

static long long growth_of(bool cycle) {
    make(cycle); // once, so that nothing is made for the first time below
    held_bytes held;
    for (int i = 0; i < 1000; i++) make(cycle);
    return held.growth();
}

int main() {
    const long long chains = growth_of(false), cycles = growth_of(true);
    std::cout << "chains keep " << chains << " bytes, cycles " << cycles << '\n';
    return chains < 1000 && cycles >= 1000 * 2 * static_cast<long long>(sizeof(node)) ? 0 : 1;
}
