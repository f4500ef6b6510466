// A program for the compiler test: templates, containers, exceptions, regular expressions.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

template <int N> struct Fibonacci {
    static constexpr long value = Fibonacci<N - 1>::value + Fibonacci<N - 2>::value;
};
template <> struct Fibonacci<1> {
    static constexpr long value = 1;
};
template <> struct Fibonacci<0> {
    static constexpr long value = 0;
};

struct Circle {
    double radius;
};
struct Square {
    double side;
};
using Shape = std::variant<Circle, Square>;

static double area(const Shape &shape) {
    return std::visit(
        [](const auto &s) {
            if constexpr (std::is_same_v<std::decay_t<decltype(s)>, Circle>)
                return 3.0 * s.radius * s.radius;
            else
                return s.side * s.side;
        },
        shape);
}

static int parsed(const std::string &text) {
    static const std::regex pattern("([a-z]+)=([0-9]+)");
    std::smatch match;
    if (!std::regex_match(text, match, pattern)) throw std::invalid_argument(text);
    return std::stoi(match[2]);
}

int main() {
    std::map<std::string, std::vector<std::unique_ptr<Shape>>> shapes;
    std::unordered_map<int, std::function<int(int)>> steps;
    for (int i = 0; i < 1000; i++) {
        auto &row = shapes["row" + std::to_string(i % 17)];
        if (i % 2)
            row.push_back(std::make_unique<Shape>(Circle{double(i)}));
        else
            row.push_back(std::make_unique<Shape>(Square{double(i)}));
        steps[i] = [i](int x) { return x * 31 + i; };
    }
    double total = 0;
    for (const auto &[name, row] : shapes)
        for (const auto &shape : row) total += area(*shape);
    int hash = 0;
    for (int i = 0; i < 1000; i++) hash = steps[i](hash) % 1000003;
    std::ostringstream out;
    out << total << ' ' << hash << ' ' << Fibonacci<80>::value << ' ' << parsed("key=42");
    try {
        parsed("nothing");
    } catch (const std::exception &error) {
        out << ' ' << error.what();
    }
    std::cout << out.str() << '\n';
}
