// The main program of a pipeline that make_references.py turned into C++. It
// builds the pipeline with the real Halide, reads a plan from its standard
// input, runs the pipeline and writes each output as raw bytes:
//
//     param  NAME VALUE
//     input  NAME RANK W H C FILE        raw little-endian values, x fastest
//     output NAME RANK W H C FILE
//
// With the argument `--scheduled` the pipeline's own schedule is followed; then
// the source must have been translated with it. With `--describe` it prints a
// line for each input, parameter and output instead: kind, name, type, rank.
//
// Otherwise nothing of a schedule is there: every Func but the outputs is
// computed whole before it is used, one element after the other. With strict
// floating point no schedule of Halide's may change a result, so the algorithm
// alone decides.

#include "support.h"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

namespace {

std::string name_of(const Type &type) {
    if (type.is_bool()) {
        return "bool";
    }
    return (type.is_float() ? "f" : type.is_int() ? "i" : "u") + std::to_string(type.bits());
}

template<typename T>
T &find(std::vector<std::pair<std::string, T>> &list, const std::string &name) {
    for (auto &entry : list) {
        if (entry.first == name) {
            return entry.second;
        }
    }
    std::cerr << "the plan names `" << name << "`, which the pipeline does not have\n";
    std::exit(1);
}

void describe(Pipe &pipe) {
    for (auto &[name, image] : pipe.inputs) {
        std::cout << "input " << name << " " << name_of(image.type()) << " " << image.dimensions() << "\n";
    }
    for (auto &[name, param] : pipe.params) {
        std::cout << "param " << name << " " << name_of(param.type) << " 0\n";
    }
    for (auto &[name, func] : pipe.outputs) {
        if (func.types().size() != 1) {
            std::cerr << "output `" << name << "` is a tuple\n";
            std::exit(1);
        }
        std::cout << "output " << name << " " << name_of(func.types()[0]) << " " << func.dimensions() << "\n";
    }
}

void execute(Pipe &pipe, bool scheduled) {
    struct Destination {
        Buffer<> buffer;
        std::string file;
    };
    std::map<std::string, Destination> destinations;
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        std::string kind, name, file;
        words >> kind >> name;
        if (kind == "param") {
            std::string value;
            words >> value;
            find(pipe.params, name).set(value);
            continue;
        }
        int rank = 0;
        std::vector<int> extents(3);
        words >> rank >> extents[0] >> extents[1] >> extents[2] >> file;
        extents.resize(rank);
        if (kind == "input") {
            ImageParam &image = find(pipe.inputs, name);
            Buffer<> buffer(image.type(), extents);
            std::ifstream stream(file, std::ios::binary);
            stream.read((char *)buffer.data(), buffer.size_in_bytes());
            if ((size_t)stream.gcount() != buffer.size_in_bytes()) {
                std::cerr << file << " is too short for `" << name << "`\n";
                std::exit(1);
            }
            image.set(buffer);
        } else {
            Func &func = find(pipe.outputs, name);
            destinations[name] = {Buffer<>(func.types()[0], extents), file};
        }
    }
    std::vector<Func> outputs;
    std::vector<Buffer<>> buffers;
    std::vector<Internal::Function> roots;
    for (auto &[name, func] : pipe.outputs) {
        outputs.push_back(func);
        roots.push_back(func.function());
        buffers.push_back(destinations.at(name).buffer);
    }
    for (auto &[name, function] : Internal::build_environment(roots)) {
        bool is_output = false;
        for (Func &func : outputs) {
            is_output |= func.name() == name;
        }
        if (!is_output && !scheduled) {
            Func(function).compute_root();
        }
    }
    // The base instruction set and its rounding instructions: the same answer
    // everywhere.
    Target target("x86-64-linux-jit-sse41-strict_float");
    Pipeline(outputs).realize(Pipeline::RealizationArg(Realization(buffers)), target);
    for (auto &[name, destination] : destinations) {
        std::ofstream stream(destination.file, std::ios::binary);
        stream.write((const char *)destination.buffer.data(), destination.buffer.size_in_bytes());
    }
}

}  // namespace

// Says what Halide objects to; some of its errors cannot be caught.
class Reporter : public CompileTimeErrorReporter {
public:
    void warning(const char *message) override {}
    void error(const char *message) override {
        std::cerr << message << "\n";
        std::exit(1);
    }
};

int main(int argc, char **argv) {
    static Reporter reporter;
    set_custom_compile_time_error_reporter(&reporter);
    try {
        Pipe pipe = build_pipeline();
        if (argc > 1 && std::string(argv[1]) == "--describe") {
            describe(pipe);
        } else {
            execute(pipe, argc > 1 && std::string(argv[1]) == "--scheduled");
        }
    } catch (const std::exception &error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
    return 0;
}
