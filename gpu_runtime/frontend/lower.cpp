#include "frontend/lower.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "frontend/lowering.hpp"
#include "frontend/tell.hpp"
#include "ir/verify.hpp"
#include "ir/walk.hpp"

namespace xcuda::frontend {
namespace {

std::vector<std::string> parameter_names(const Source& source) {
    const ast::Node& args = source.function->one("args");
    if (args.maybe("vararg") || args.maybe("kwarg"))
        throw refused(source.function->place, "a kernel can't take *args or **kwargs",
                      "give it named parameters");
    std::vector<std::string> names;
    for (const char* list : {"posonlyargs", "args", "kwonlyargs"})
        for (const ast::NodeP& a : args.list(list)) names.push_back(a->text("arg"));
    return names;
}

// Early passes leave helpers compiled for types that did not last: keep what the kernel reaches, renumbered.
ir::Module link(Lowered kernel, Unit& unit) {
    std::vector<int> order;  // old ids, the kernel aside
    std::vector<int> renumbered(unit.helpers.size() + 1, -1);
    const std::function<void(const ir::Function&)> reach = [&](const ir::Function& f) {
        ir::each_expr(f.body, [&](const ir::Expr& e) {
            if (e.op != ir::Op::invoke) return;
            const int id = std::get<ir::FunctionId>(e.payload).value;
            if (renumbered[id] >= 0) return;
            order.push_back(id);
            renumbered[id] = static_cast<int>(order.size());
            reach(unit.helpers[id - 1]->function);
        });
    };
    reach(kernel.function);
    ir::Module module;
    module.sites = std::move(unit.sites);
    module.constants = std::move(unit.constants);
    if (std::any_of(order.begin(), order.end(),
                    [&](int id) { return unit.helpers[id - 1]->function.foreign.has_value(); }))
        module.sources = std::move(unit.sources);
    const auto place = [&](Lowered& lowered) {
        ir::rewrite_exprs(lowered.function.body, [&](const ir::ExprP& e) -> ir::ExprP {
            if (e->op != ir::Op::invoke) return e;
            ir::Expr copy = *e;
            copy.payload = ir::FunctionId{renumbered[std::get<ir::FunctionId>(e->payload).value]};
            return std::make_shared<const ir::Expr>(std::move(copy));
        });
        module.functions.push_back(std::move(lowered.function));
        for (std::string& w : lowered.warnings) module.warnings.push_back(std::move(w));
    };
    place(kernel);
    for (const int id : order) place(*unit.helpers[id - 1]);
    for (ir::Function& f : module.functions) tell_conditions(f, module.sites);
    return module;
}

void expect_known(const Source& source, const std::string& name, const ir::Type& type) {
    if (type.is_array() && type.ndim > 8)
        throw Error(Fault::user, "TypeError",
                    fmt::format("{}(): argument '{}' has {} dimensions, a kernel takes at most 8",
                                source.name, name, type.ndim),
                    source.function->place);
}

Argument leaf(const ir::Type& type, int place) {
    Argument a;
    a.kind = type.is_array() ? Argument::Kind::array : Argument::Kind::scalar;
    a.type = type;
    a.root = place;
    return a;
}

ir::Module lower_kernel(const Source& source, Unit& unit,
                        std::vector<std::pair<std::string, Argument>> arguments) {
    const NameTable no_defaults;
    const FunctionSource kernel{source.name, *source.function, unit.names.names, no_defaults, true};
    ir::Module module = link(Lowering(unit, kernel, std::move(arguments)).run(), unit);
    if (unit.names.tile_kernel) module.programs = std::move(unit.programs);
    ir::verify(module, ir::Stage::typed, "frontend");
    return module;
}

// Arguments that are tuples, structs or constants: the types are those of their numbers and arrays, in order.
ir::Module lower_formed(const Source& source, const std::vector<ir::Type>& types, Unit& unit,
                        const std::vector<std::string>& names) {
    std::size_t taken = 0;
    const std::function<Argument(const Form&, const std::string&)> make = [&](const Form& form,
                                                                              const std::string& name) {
        Argument a;
        if (form.kind == Form::Kind::constant) {
            a.kind = Argument::Kind::fixed;
            a.constant = &form.meaning;
        } else if (form.kind == Form::Kind::tuple) {
            a.kind = Argument::Kind::tuple;
            a.fixed.fields = form.fields;
            a.fixed.text = form.name;
            a.fixed.only_fields = form.only_fields;
            for (std::size_t i = 0; i < form.items.size(); ++i)
                a.items.push_back(make(form.items[i], name + (form.fields.empty() ? fmt::format("[{}]", i)
                                                                                  : "." + form.fields[i])));
        } else if (form.kind == Form::Kind::records) {
            const std::function<Argument(const Meaning&, std::size_t, const std::string&)> record =
                [&](const Meaning& dtype, std::size_t ndim, const std::string& path) {
                    Argument r;
                    r.kind = Argument::Kind::records;
                    r.fixed.kind = Value::Kind::records;
                    r.fixed.meaning = &dtype;
                    r.fixed.fields = dtype.fields;
                    r.fixed.text = path;
                    r.fixed.ndim = ndim;
                    for (std::size_t i = 0; i < dtype.items.size(); ++i) {
                        const Meaning& field = dtype.items[i];
                        const std::string inner = path + "." + dtype.fields[i];
                        if (field.kind == Meaning::Kind::record_dtype) {
                            r.items.push_back(record(field, ndim + field.shape.size(), inner));
                        } else if (field.kind == Meaning::Kind::dtype) {
                            if (taken == types.size())
                                throw bug("a variant's signature is shorter than its forms");
                            expect_known(source, inner, types[taken]);
                            r.items.push_back(leaf(types[taken], static_cast<int>(taken)));
                            ++taken;
                        } else {
                            Argument none;
                            none.kind = Argument::Kind::fixed;
                            none.fixed.kind = Value::Kind::meaning;
                            none.fixed.meaning = &field;
                            none.fixed.text = inner;
                            r.items.push_back(none);
                        }
                        r.fixed.items.emplace_back();
                    }
                    return r;
                };
            a = record(form.meaning, form.ndim, name);
        } else {
            if (taken == types.size()) throw bug("a variant's signature is shorter than its forms");
            expect_known(source, name, types[taken]);
            a = leaf(types[taken], static_cast<int>(taken));
            ++taken;
        }
        return a;
    };
    if (names.size() != unit.names.forms.size()) throw bug("a variant's forms are not its parameters'");
    std::vector<std::pair<std::string, Argument>> arguments;
    for (std::size_t i = 0; i < names.size(); ++i)
        arguments.emplace_back(names[i], make(unit.names.forms[i], names[i]));
    if (taken != types.size()) throw bug("a variant's signature is longer than its forms");
    return lower_kernel(source, unit, std::move(arguments));
}

}  // namespace

int Unit::site(ir::Site site) {
    const Place& p = site.place;
    const std::string key = fmt::format(
        "{}|{}|{}:{}:{}-{}:{}|{}|{}|{}|{}", static_cast<int>(site.kind), p.file, p.line, p.column, site.ndim,
        p.end_line, p.end_column, site.subject, site.message, site.parameter, fmt::join(site.extents, ","));
    const auto [known, fresh] = site_ids.emplace(key, static_cast<int>(sites.size()));
    if (fresh) sites.push_back(std::move(site));
    return known->second;
}

ir::Module lower(const Source& source, const std::vector<ir::Type>& types, bool checked,
                 const TileUnit& tile) {
    if (!source.function) throw bug("a kernel without its syntax tree");
    if (source.function->kind != "FunctionDef") refuse_node(*source.function);
    std::vector<std::string> names = parameter_names(source);
    Unit unit;
    unit.checked = checked;
    unit.tile = tile;
    unit.names = names_from_json(source.names);
    unit.sources = unit.names.sources;
    // Device arrays that the function names outside itself come after its own parameters.
    const std::size_t own = names.size();
    for (std::size_t i = own; i < unit.names.forms.size(); ++i)
        names.push_back(captured_name(static_cast<int>(i - own)) + unit.names.forms[i].name);
    if (!unit.names.forms.empty()) return lower_formed(source, types, unit, names);
    if (names.size() != types.size())
        throw Error(Fault::user, "TypeError",
                    fmt::format("{}() takes {} argument{}, found {}", source.name, names.size(),
                                names.size() == 1 ? "" : "s", types.size()),
                    source.function->place);
    std::vector<std::pair<std::string, Argument>> arguments;
    for (std::size_t i = 0; i < types.size(); ++i) {
        expect_known(source, names[i], types[i]);
        arguments.emplace_back(names[i], leaf(types[i], static_cast<int>(i)));
    }
    return lower_kernel(source, unit, std::move(arguments));
}

}  // namespace xcuda::frontend
