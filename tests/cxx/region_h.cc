// allod/region.h in C++: everything that is inlined is used, without a warning.
// modes: shared archive static
#include <allod/region.h>
#include <string_view>

#include "../c/check.h"

namespace {

// A region that is left at the end of its block.
class Region {
public:
    Region() : r_(allod_region_create()) { CHECK(r_ != nullptr); }
    Region(const Region &) = delete;
    Region &operator=(const Region &) = delete;
    ~Region() { allod_region_exit(r_); }
    operator allod_region *() const { return r_; }

private:
    allod_region *r_;
};

allod_value string(allod_region *r, std::string_view text) {
    return allod_string(r, text.data(), text.size());
}

std::string_view text(allod_value v) { return {allod_text(v), allod_len(v)}; }

} // namespace

int main() {
    static allod_symbol_cell name = ALLOD_SYMBOL_CELL("name");
    Region outer;
    allod_value d = allod_dict(outer, 2);
    {
        Region inner;
        CHECK(allod_dict_set(d, allod_symbol_in(&name), string(inner, "C++")));
        CHECK(allod_dict_set(d, allod_small(1), allod_pair(inner, allod_float(inner, 1.5), ALLOD_NIL)));
    }
    CHECK(text(allod_dict_get(d, allod_symbol("name", 4))) == "C++");
    CHECK(allod_float_value(allod_car(allod_dict_get(d, allod_small(1)))) == 1.5);
    CHECK(allod_dict_contains(d, allod_symbol_in(&name)) && !allod_dict_contains(d, ALLOD_NIL));
    allod_value a = allod_array(outer, 3, ALLOD_NIL), box = allod_box(outer, a);
    CHECK(allod_set_at(a, 1, box) == box && allod_at(a, 1) == box && allod_unbox(box) == a);
    CHECK(allod_int_value(allod_int(outer, INT64_MAX)) == INT64_MAX);
    allod_list(outer, 10, [](void *, size_t i) { return allod_small(static_cast<int64_t>(i)); }, nullptr);
    CHECK(allod_region_alloc_aligned(outer, 100, 4096) != nullptr);
    char buffer[100];
    CHECK(allod_print(a, buffer, sizeof buffer) > 0 && std::string_view(buffer) == "#[nil #<box ...> nil]");
    return 0;
}
