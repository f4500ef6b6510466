// Wrong accesses in C++: what `new` and `delete` handed out and took back.
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

struct Node {
    long value;
    Node *next;
};

__attribute__((noinline)) static long value_of(volatile Node *node) { return node->value; }

int main(int, char **words) {
    std::vector<std::unique_ptr<Node>> nodes;
    for (int i = 0; i < 100; i++) nodes.push_back(std::make_unique<Node>());
    Node *stale = nodes[50].get();
    nodes.clear();
    if (std::strcmp(words[1], "stale") == 0) return static_cast<int>(value_of(stale));
    if (std::strcmp(words[1], "twice") == 0) delete stale;
    std::puts("went on");
}
