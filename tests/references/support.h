// What a pipeline that make_references.py turned into C++ is compiled against:
// the few spellings of the .halide language that Halide's header lacks.

#ifndef REFERENCES_SUPPORT_H
#define REFERENCES_SUPPORT_H

#include <Halide.h>

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace Halide;
// Where <cmath> puts a function of the same name into the global scope.
using Halide::abs;
using Halide::ceil;
using Halide::cos;
using Halide::exp;
using Halide::floor;
using Halide::log;
using Halide::pow;
using Halide::round;
using Halide::sin;
using Halide::sqrt;
using Halide::tanh;
using Halide::trunc;

// `T(e)`: Halide's cast for an expression, C's for a compile-time number.
template<typename T, typename V>
auto convert_to(V value) {
    if constexpr (std::is_arithmetic_v<V>) {
        return (T)value;
    } else {
        return cast<T>(Expr(value));
    }
}

// An input image that the file does not declare: float, repeat_edge.
class ImplicitImage : public Func {
    ImageParam image;

public:
    ImplicitImage(const std::string &name, int rank)
        : image(Float(32), rank, name) {
        Func clamped = BoundaryConditions::repeat_edge(image);
        static_cast<Func &>(*this) = clamped;
    }
    Expr width() const { return image.width(); }
    Expr height() const { return image.height(); }
    Expr channels() const { return image.channels(); }
    auto dim(int k) { return image.dim(k); }
    ImageParam parameter() const { return image; }
};

// A scalar parameter, whatever its type.
struct Scalar {
    Type type;
    std::function<void(const std::string &)> set;
};

template<typename T>
Scalar scalar(Param<T> &param) {
    return {type_of<T>(), [param](const std::string &text) mutable {
                if constexpr (std::is_floating_point_v<T>) {
                    param.set((T)std::stof(text));
                } else {
                    param.set((T)std::stoll(text, nullptr, 0));
                }
            }};
}

struct Pipe {
    std::vector<std::pair<std::string, ImageParam>> inputs;
    std::vector<std::pair<std::string, Scalar>> params;
    std::vector<std::pair<std::string, Func>> outputs;
};

// Defined by the generated source.
Pipe build_pipeline();

#endif
