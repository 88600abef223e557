#include "frontend/lower.hpp"

#include <fmt/format.h>

#include "frontend/lowering.hpp"
#include "ir/verify.hpp"
#include "ir/walk.hpp"

namespace xcuda::frontend {
namespace {

std::vector<std::string> parameter_names(const Source& source) {
    const ast::Node& args = source.function->one("args");
    if (args.maybe("vararg") || args.maybe("kwarg"))
        throw refused(source.function->place, "a kernel can't take *args or **kwargs", "give it named parameters");
    std::vector<std::string> names;
    for (const char* list : {"posonlyargs", "args", "kwonlyargs"})
        for (const ast::NodeP& a : args.list(list)) names.push_back(a->text("arg"));
    return names;
}

// Early passes leave helpers compiled for types that did not last: keep what the kernel reaches, renumbered.
ir::Module link(Lowered kernel, Unit& unit) {
    std::vector<int> order;                              // old ids, the kernel aside
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
    return module;
}

}  // namespace

int Unit::site(ir::Site site) {
    const Place& p = site.place;
    const std::string key = fmt::format("{}|{}|{}:{}:{}-{}:{}|{}|{}|{}|{}", static_cast<int>(site.kind), p.file, p.line,
                                        p.column, site.ndim, p.end_line, p.end_column, site.subject, site.message,
                                        site.parameter, fmt::join(site.extents, ","));
    const auto [known, fresh] = site_ids.emplace(key, static_cast<int>(sites.size()));
    if (fresh) sites.push_back(std::move(site));
    return known->second;
}

ir::Module lower(const Source& source, const std::vector<ir::Type>& types, bool checked) {
    if (!source.function) throw bug("a kernel without its syntax tree");
    if (source.function->kind != "FunctionDef") refuse_node(*source.function);
    const std::vector<std::string> names = parameter_names(source);
    if (names.size() != types.size())
        throw Error(Fault::user, "TypeError",
                    fmt::format("{}() takes {} argument{}, found {}", source.name, names.size(),
                                names.size() == 1 ? "" : "s", types.size()),
                    source.function->place);
    std::vector<std::pair<std::string, Argument>> arguments;
    for (std::size_t i = 0; i < types.size(); ++i) {
        const DTypeInfo& d = info(types[i].dtype);
        const bool later = d.kind == DKind::complex || d.dtype == DType::f16 || d.dtype == DType::bf16;
        if (later)
            throw Error(Fault::user, "TypeError",
                        fmt::format("{}(): argument '{}' is {}, which the kernel language does not have yet", source.name,
                                    names[i], d.name),
                        source.function->place, "convert it, as A.astype(np.float32)");
        if (types[i].is_array() && types[i].ndim > 8)
            throw Error(Fault::user, "TypeError",
                        fmt::format("{}(): argument '{}' has {} dimensions, a kernel takes at most 8", source.name,
                                    names[i], types[i].ndim),
                        source.function->place);
        Argument a;
        a.kind = types[i].is_array() ? Argument::Kind::array : Argument::Kind::scalar;
        a.type = types[i];
        a.root = static_cast<int>(i);
        arguments.emplace_back(names[i], std::move(a));
    }
    Unit unit;
    unit.checked = checked;
    unit.names = names_from_json(source.names);
    const NameTable no_defaults;
    const FunctionSource kernel{source.name, *source.function, unit.names.names, no_defaults, true};
    ir::Module module = link(Lowering(unit, kernel, std::move(arguments)).run(), unit);
    ir::verify(module, ir::Stage::typed, "frontend");
    return module;
}

}  // namespace xcuda::frontend
