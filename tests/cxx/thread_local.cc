// thread_local objects and static objects whose destructors use the heap; exceptions in threads.
#include "../c/check.h"
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

std::string text_of(std::size_t i) {
    return std::string(i % 700, static_cast<char>('a' + i % 26));
}

// Allocates when made, and both allocates and frees when destroyed.
class Keeper {
  public:
    Keeper() {
        for (std::size_t i = 0; i < 200; i++) texts_.push_back(std::make_unique<std::string>(text_of(i)));
    }
    ~Keeper() {
        std::map<std::size_t, std::string> copies;
        for (std::size_t i = 0; i < texts_.size(); i++) {
            CHECK(*texts_[i] == text_of(i));
            copies[i * 7 % 200] = *texts_[i];
            texts_[i].reset();
        }
        CHECK(copies.size() == 200);
    }
    std::size_t size() const { return texts_.size(); }

  private:
    std::vector<std::unique_ptr<std::string>> texts_;
};

thread_local Keeper keeper_of_thread;
Keeper keeper_of_process;

void use_keeper() {
    CHECK(keeper_of_thread.size() == 200);
}

void throw_deep(int depth) {
    Keeper local;
    if (depth == 0) throw text_of(99);
    throw_deep(depth - 1);
}

void throw_and_catch() {
    try {
        throw_deep(5);
        CHECK(false);
    } catch (const std::string &text) {
        CHECK(text == text_of(99));
    }
}

void run_in_threads(void (*work)()) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; i++) threads.emplace_back(work);
    for (std::thread &thread : threads) thread.join();
}

}  // namespace

int main() {
    check_allod_is_malloc();
    for (int round = 0; round < 20; round++) {
        run_in_threads(use_keeper);
        run_in_threads(throw_and_catch);
    }
    CHECK(keeper_of_thread.size() == 200 && keeper_of_process.size() == 200);
    return 0;
}
