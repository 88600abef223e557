#include "json_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace xcuda::kernel {

namespace {

constexpr int most_levels = 64;

// What stands for a byte in a JSON string; 0: itself, 'u': as \u00xx.
constexpr std::array<char, 256> escapes = [] {
    std::array<char, 256> table{};
    for (std::size_t c = 0; c < 0x20; ++c) table[c] = 'u';
    table['\n'] = 'n';
    table['\t'] = 't';
    table['\r'] = 'r';
    table['"'] = '"';
    table['\\'] = '\\';
    return table;
}();

bool write_string(std::string& out, PyObject* text) {
    Py_ssize_t size = 0;
    const char* begin = PyUnicode_AsUTF8AndSize(text, &size);
    if (begin == nullptr) {
        PyErr_Clear();
        return false;
    }
    const std::string_view bytes(begin, static_cast<std::size_t>(size));
    out += '"';
    std::size_t from = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        if (escapes[byte] == 0) continue;
        out += bytes.substr(from, i - from);
        out += '\\';
        out += escapes[byte];
        if (escapes[byte] == 'u') {
            constexpr std::string_view digits = "0123456789abcdef";
            out += "00";
            out += digits[byte >> 4];
            out += digits[byte & 15];
        }
        from = i + 1;
    }
    out += bytes.substr(from);
    out += '"';
    return true;
}

bool write_float(std::string& out, double value) {
    if (!std::isfinite(value)) return false;
    std::array<char, 32> buffer;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
    out += text;
    if (text.find_first_of(".e") == std::string_view::npos) out += ".0";  // it comes back as a float
    return true;
}

bool write_integer(std::string& out, PyObject* number) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (overflow != 0) return false;
    std::array<char, 24> buffer;
    out.append(buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr);
    return true;
}

bool write(std::string& out, PyObject* value, int levels);

bool write_dict(std::string& out, PyObject* dict, int levels) {
    PyObject *key = nullptr, *item = nullptr;
    Py_ssize_t at = 0;
    bool first = true;
    out += '{';
    while (PyDict_Next(dict, &at, &key, &item) != 0) {
        if (!first) out += ", ";
        first = false;
        if (!PyUnicode_CheckExact(key) || !write_string(out, key)) return false;
        out += ": ";
        if (!write(out, item, levels)) return false;
    }
    out += '}';
    return true;
}

bool write_items(std::string& out, PyObject* items, int levels) {
    const Py_ssize_t size = PySequence_Fast_GET_SIZE(items);
    out += '[';
    for (Py_ssize_t i = 0; i < size; ++i) {
        if (i > 0) out += ", ";
        if (!write(out, PySequence_Fast_GET_ITEM(items, i), levels)) return false;
    }
    out += ']';
    return true;
}

bool write(std::string& out, PyObject* value, int levels) {
    if (levels == 0) return false;
    if (PyUnicode_CheckExact(value)) return write_string(out, value);
    if (PyFloat_CheckExact(value)) return write_float(out, PyFloat_AS_DOUBLE(value));
    if (PyDict_CheckExact(value)) return write_dict(out, value, levels - 1);
    if (PyList_CheckExact(value) || PyTuple_CheckExact(value)) return write_items(out, value, levels - 1);
    if (PyLong_CheckExact(value)) return write_integer(out, value);
    if (value != Py_None && value != Py_True && value != Py_False) return false;
    out += value == Py_None ? "null" : value == Py_True ? "true" : "false";
    return true;
}

}  // namespace

std::optional<std::string> json_text(pybind11::handle value) {
    std::string out;
    if (!write(out, value.ptr(), most_levels)) return std::nullopt;
    return out;
}

}  // namespace xcuda::kernel
