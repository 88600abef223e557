#include "frontend/functions.hpp"

#include <algorithm>
#include <map>

#include "frontend/function_table.hpp"

namespace xcuda::frontend {
namespace {

struct Index {
    FunctionTable table;
    std::vector<int> owner;                    // overload -> function
    std::map<std::string_view, int> spelling;  // what the user writes -> function

    Index() {
        add_math(table);
        add_special(table);
        add_rounding(table);
        add_numbers(table);
        add_whole(table);
        add_warps(table);
        add_bits(table);
        add_named(table);
        add_complex(table);
        add_reductions(table);
        add_times(table);
        add_bfloat(table);
        add_float8(table);
        add_internal(table);
        owner.resize(table.overloads.size());
        for (std::size_t i = 0; i < table.functions.size(); ++i) {
            const KernelFunction& f = table.functions[i];
            std::fill_n(owner.begin() + f.first_overload, f.overloads, static_cast<int>(i));
            for (const std::string_view s : f.spellings) spelling.emplace(s, static_cast<int>(i));
        }
    }
};

const Index& index() {
    static const Index built;
    return built;
}

}  // namespace

std::span<const KernelFunction> all_functions() { return index().table.functions; }

std::span<const Overload> all_overloads() { return index().table.overloads; }

const Overload& overload(ir::OverloadId id) { return index().table.overloads.at(id.value); }

const KernelFunction& function_of(ir::OverloadId id) {
    return index().table.functions[index().owner.at(id.value)];
}

bool is_fence(const ir::Expr& e) {
    return e.op == ir::Op::call &&
           overload(std::get<ir::OverloadId>(e.payload)).cpu.starts_with("xc_order_fence");
}

const KernelFunction* find_function(std::string_view spelling) {
    const auto found = index().spelling.find(spelling);
    return found == index().spelling.end() ? nullptr : &index().table.functions[found->second];
}

const KernelFunction& internal_function(std::string_view name) {
    for (const KernelFunction& f : index().table.functions)
        if (f.name == name) return f;
    throw bug("the table of kernel functions has no " + std::string(name));
}

std::string_view FunctionTable::keep(std::string text) {
    texts.push_back(std::move(text));
    return texts.back();
}

void FunctionTable::begin(std::string_view name, std::vector<std::string_view> spellings,
                          std::string_view numpy, std::string_view doc) {
    functions.push_back({name, std::move(spellings), numpy, doc, static_cast<int>(overloads.size()), 0});
}

void FunctionTable::add(std::vector<DType> in, DType out, std::string cpu, std::string cuda,
                        std::string vector) {
    overloads.push_back(
        {std::move(in), out, keep(std::move(cpu)), keep(std::move(cuda)), keep(std::move(vector))});
    ++functions.back().overloads;
}

void FunctionTable::within(const Ulp& ulp) {
    const auto first = static_cast<std::size_t>(functions.back().first_overload);
    for (std::size_t i = first; i < overloads.size(); ++i) {
        Overload& o = overloads[i];
        const bool narrow = o.out == DType::f32;
        if (!is_floating(o.in[0]) || !is_floating(o.out)) continue;
        o.cpu_ulp = narrow ? ulp.cpu32 : ulp.cpu64;
        o.cuda_ulp = narrow ? ulp.cuda32 : ulp.cuda64;
    }
}

}  // namespace xcuda::frontend
