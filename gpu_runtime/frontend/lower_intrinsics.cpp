// What has a meaning in a kernel only: coordinates, shared and local arrays, barriers, atomics.
#include <fmt/format.h>
#include <array>

#include "frontend/lowering.hpp"

namespace xcuda::frontend {

using ir::ExprP;
using Kind = ir::Coord::Kind;

namespace {

struct CoordinateName {
    const char* name;
    Kind kind;
};
constexpr std::array coordinate_names{
    CoordinateName{"threadIdx", Kind::thread},
    CoordinateName{"blockIdx", Kind::block},
    CoordinateName{"blockDim", Kind::block_dim},
    CoordinateName{"gridDim", Kind::grid_dim},
};

enum class On { sums, numbers, integers, unsigned_integers };  // sums: numbers, and complex ones
struct AtomicName {
    const char* name;
    ir::Atomic::Kind kind;
    On on = On::numbers;
};
constexpr std::array atomic_names{
    AtomicName{"atomic.add", ir::Atomic::Kind::add, On::sums},
    AtomicName{"atomic.sub", ir::Atomic::Kind::sub, On::sums},
    AtomicName{"atomic.max", ir::Atomic::Kind::max},
    AtomicName{"atomic.min", ir::Atomic::Kind::min},
    AtomicName{"atomic.nanmax", ir::Atomic::Kind::nanmax},
    AtomicName{"atomic.nanmin", ir::Atomic::Kind::nanmin},
    AtomicName{"atomic.exch", ir::Atomic::Kind::exch},
    AtomicName{"atomic.cas", ir::Atomic::Kind::cas},
    AtomicName{"atomic.and_", ir::Atomic::Kind::bit_and, On::integers},
    AtomicName{"atomic.or_", ir::Atomic::Kind::bit_or, On::integers},
    AtomicName{"atomic.xor", ir::Atomic::Kind::bit_xor, On::integers},
    AtomicName{"atomic.inc", ir::Atomic::Kind::inc, On::unsigned_integers},
    AtomicName{"atomic.dec", ir::Atomic::Kind::dec, On::unsigned_integers},
};

bool takes(On on, DType d) {
    if (is_integer(d) && d != DType::b1) return on != On::unsigned_integers || !is_signed(d);
    if (is_complex(d)) return on == On::sums;
    return (on == On::numbers || on == On::sums) && (d == DType::f16 || d == DType::f32 || d == DType::f64);
}

const char* taken(On on) {
    return on == On::sums ? "use an integer type, float16, float32, float64, complex64 or complex128"
           : on == On::numbers
               ? "use an integer type, float16, float32 or float64; complex numbers have atomic.add "
                 "and atomic.sub"
           : on == On::integers ? "use an integer type"
                                : "use uint8, uint16, uint32 or uint64";
}

}  // namespace

Value Lowering::coordinates(const std::string& name, const std::string& axis, const Place& place) {
    for (const CoordinateName& c : coordinate_names) {
        if (name != c.name) continue;
        const std::size_t at = std::string("xyz").find(axis);
        if (axis.size() == 1 && at != std::string::npos)
            return scalar_value(ir::coord(c.kind, static_cast<int>(at), place));
        throw refused(place, name + " has no '" + axis + "'", "it has x, y and z");
    }
    throw refused(place, "cuda." + name + " has no '" + axis + "'", "call it: cuda." + name + "(...)");
}

// cuda.threadIdx and the like as a tuple of three.
std::optional<Value> Lowering::all_coordinates(const Value& v, const Place& place) {
    if (v.kind != Value::Kind::meaning || v.meaning->kind != Meaning::Kind::intrinsic) return std::nullopt;
    for (const CoordinateName& c : coordinate_names)
        if (v.meaning->text == c.name)
            return tuple_value({coordinates(c.name, "x", place), coordinates(c.name, "y", place),
                                coordinates(c.name, "z", place)});
    return std::nullopt;
}

Value Lowering::intrinsic(const std::string& name, const Node& node) {
    if (name.starts_with("tiles.")) return tile_intrinsic(name.substr(6), node);
    if (unit.names.tile_kernel)
        throw refused(node.place, "cuda." + name + " belongs to kernels of threads; a tile program has none",
                      "tiles.bid(axis) tells the program, tiles.arange(n) the elements of a tile");
    if (name.starts_with("vector.")) return make_vector(name.substr(7), node);
    if (name == "grid") return grid(node, name, Kind::global);
    if (name == "gridsize") return grid(node, name, Kind::grid_size);
    if (name == "shared.array") return make_array(node, name, ir::Space::shared);
    if (name == "local.array") return make_array(node, name, ir::Space::local);
    if (name == "syncthreads") {
        bind(node, name, {}, 0);
        written_in(node.place);
        ir::Stmt barrier = ir::simple(ir::Stmt::Kind::barrier, node.place);
        barrier.site = meeting(name, node.place);
        emit(std::move(barrier));
        return {};
    }
    if (name == "from_buffer") {  // cffi's
        const Node& given = *bind(node, name, {"cdata"}, 1)[0];
        return address_of(value(given), given.place);
    }
    if (name == "cg.this_grid") {
        bind(node, name, {}, 0);
        return grid_group("", node.place);
    }
    if (name == "lanemask_lt") {
        bind(node, name, {}, 0);
        return lane(name, node.place);
    }
    if (name == "shfl_sync_intrinsic" || name == "vote_sync_intrinsic") return warp_intrinsic(name, node);
    if (const KernelFunction* known = find_function("cuda." + name))
        return known->effect != ir::Effect::none ? effect_call(*known, name, node)
                                                 : table_call(*known, "cuda." + name, node);
    if (name.starts_with("atomic.")) return atomic(node, name);
    if (const auto done = cache_operator(name, node)) return *done;
    if (name == "const.array_like") {
        const Node& given = *bind(node, name, {"ndarray"}, 1)[0];
        Value v = value(given);
        for (const Value* leaf : array_leaves(v))
            if (leaf->expr->type.space == ir::Space::constant) return v;
        throw refused(given.place, "cuda.const.array_like takes a global NumPy array, found " + spoken(v),
                      "use the array itself");
    }
    throw refused(node.place, "cuda." + name + " can't be called",
                  name == "laneid" ? "write cuda.laneid" : "write cuda." + name + ".x");
}

// float32x4(x, y, z, w), of numbers and shorter vectors: a struct of numbers of one type.
Value Lowering::make_vector(const std::string& name, const Node& node) {
    const std::size_t split = name.rfind('x');
    const DType dtype = *dtype_from_name(name.substr(0, split));
    const std::size_t count = static_cast<std::size_t>(name[split + 1] - '0');
    const Call c = call_of(node);
    if (!c.keywords.empty()) throw refused(c.keywords[0].second->place, name + "() takes no keywords");
    const std::vector<Value> given = operands(c.positional);
    std::vector<Value> items;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const Place& place = c.positional[i]->place;
        for (const Value& v : given[i].is_tuple() ? given[i].items : std::vector<Value>{given[i]})
            items.push_back(scalar_value(python_cast(dtype, false, number(v, place), place)));
    }
    if (items.size() != count)
        throw refused(node.place, fmt::format("{}() takes {} number{}, found {}", name, count,
                                              count == 1 ? "" : "s", items.size()));
    Value v = evaluated(tuple_value(std::move(items)));
    for (std::size_t i = 0; i < count; ++i) v.fields.emplace_back(1, "xyzw"[i]);
    v.text = name;
    return v;
}

// A barrier or a shared array belongs to the block: a helper that has one is always written into its caller.
void Lowering::written_in(const Place& place) {
    if (!source.is_kernel && !block_part) block_part = place;
}

Value Lowering::grid(const Node& node, const std::string& name, Kind kind) {
    const std::vector<const Node*> args = bind(node, name, {"ndim"}, 1);
    const auto ndim = constant_int(value(*args[0]));
    if (!ndim || *ndim < 1 || *ndim > 3)
        throw NeedsConstant(
            refused(args[0]->place, "cuda." + name + "() takes 1, 2 or 3", "write cuda." + name + "(1)"));
    std::vector<Value> items;
    for (int axis = 0; axis < *ndim; ++axis) items.push_back(scalar_value(ir::coord(kind, axis, node.place)));
    return *ndim == 1 ? items[0] : tuple_value(std::move(items));
}

std::optional<DType> Lowering::dtype_from(const Value& v) const {
    if (is_record_dtype(v)) return std::nullopt;
    if (v.kind == Value::Kind::dtype) return v.dtype;
    if (v.kind == Value::Kind::string) return dtype_from_name(v.text);
    if (v.kind == Value::Kind::meaning && v.meaning->kind == Meaning::Kind::function) {
        if (v.meaning->text == "builtins.float") return DType::f64;
        if (v.meaning->text == "builtins.int") return DType::i64;
        if (v.meaning->text == "builtins.bool") return DType::b1;
        if (v.meaning->text == "builtins.complex") return DType::c128;
    }
    return std::nullopt;
}

// A power of two that a pointer's size divides, as numba asks; None: no wish.
int Lowering::alignment_from(const Value& given, const Place& place) const {
    if (given.kind == Value::Kind::none) return 0;
    const auto n = given.is_scalar() && given.expr->type.is_scalar() && is_integer(given.expr->type.dtype)
                       ? constant_int(given)
                       : std::nullopt;
    if (!n)
        throw NeedsConstant(refused(place, "alignment must be a constant integer, found " + spoken(given),
                                    "write 16, 64 or another power of two"));
    if (*n < 8 || *n > 4096 || (*n & (*n - 1)) != 0)
        throw Error(Fault::user, "ValueError",
                    fmt::format("Alignment must be a power of two from 8 to 4096, found {}", *n), place,
                    "write 16, 64 or another power of two");
    return static_cast<int>(*n);
}

Value Lowering::make_array(const Node& node, const std::string& name, ir::Space space) {
    if (space == ir::Space::shared) written_in(node.place);
    const std::vector<const Node*> args = bind(node, name, {"shape", "dtype", "alignment"}, 2);
    const int alignment = args[2] ? alignment_from(value(*args[2]), args[2]->place) : 0;
    const Value shape = value(*args[0]);
    std::vector<std::int64_t> extents;
    // As numba-cuda has it: one array whose bytes the launch names.
    static const std::string whole_shared =
        "cuda.shared.array(0, dtype), whose bytes the launch gives: kernel[grid, block, 0, bytes]";
    const auto extent = [&](const Value& v, const Place& place) {
        const auto n = constant_int(v);
        if (!n)
            throw NeedsConstant(
                refused(place,
                        "the shape of cuda." + name + " must be known when the kernel is compiled, found " +
                            (v.is_scalar() ? std::string("a value of run time") : spoken(v)),
                        space == ir::Space::shared ? "write a number or a global constant; or " + whole_shared
                                                   : "write a number or a global constant"));
        if (*n < 0 || (*n == 0 && !(space == ir::Space::shared && !shape.is_tuple())))
            throw refused(place, fmt::format("an array of length {} can't be made", *n));
        if (*n > (std::int64_t{1} << 31))
            throw refused(place, fmt::format("an array of length {} is too large", *n));
        extents.push_back(*n);
    };
    if (shape.is_tuple()) {
        if (shape.items.empty() || shape.items.size() > 8)
            throw refused(args[0]->place, "an array in a kernel has 1 to 8 dimensions");
        for (const Value& item : shape.items) extent(item, args[0]->place);
    } else {
        extent(shape, args[0]->place);
        if (extents[0] == 0) extents.clear();  // the launch's dynamic shared memory
    }
    const Value type = value(*args[1]);
    if (is_record_dtype(type)) {
        if (extents.empty())
            throw refused(node.place, "dynamic shared memory can't hold records",
                          "give cuda.shared.array a length");
        if (alignment)
            throw refused(args[2]->place,
                          "an array of records has no alignment of its own: its fields are arrays",
                          "give alignment= to an array of numbers");
        return record_arrays(*type.meaning, extents, space, node.place);
    }
    const auto dtype = dtype_from(type);
    if (!dtype)
        throw refused(args[1]->place, "expected a dtype, found " + spoken(type),
                      "write np.float32 or \"float32\"");
    const auto role = space == ir::Space::shared ? ir::Var::Role::shared : ir::Var::Role::local_array;
    const ir::Type t = ir::fixed_array(*dtype, extents, space);
    // The same line is lowered again in each pass, and once more in each written-out item: an array each.
    const ir::VarId id = fn.add({"", t, role, node.place, false});
    if (alignment && extents.empty() && alignment > 16)
        throw refused(args[2]->place, "dynamic shared memory lies at a multiple of 16",
                      "give cuda.shared.array a length");
    fn.vars[id].alignment = alignment;
    Value v;
    v.kind = Value::Kind::array;
    v.expr = ir::var(id, t, node.place);
    return v;
}

Value Lowering::atomic(const Node& node, const std::string& name) {
    if (name == "atomic.compare_and_swap") {
        const std::vector<const Node*> args = bind(node, name, {"array", "old", "value"}, 3);
        std::vector<Value> values = operands(args);
        Value zero = scalar_value(ir::int_constant(0, node.place));
        values.insert(values.begin() + 1, zero);
        return atomic_on(values, {args[0], args[0], args[1], args[2]}, "atomic.cas", node.place);
    }
    const bool cas = name == "atomic.cas";
    const std::vector<const Node*> args = cas ? bind(node, name, {"array", "index", "old", "value"}, 4)
                                              : bind(node, name, {"array", "index", "value"}, 3);
    return atomic_on(operands(args), args, name, node.place);
}

Value Lowering::atomic_on(std::vector<Value> values, const std::vector<const Node*>& nodes,
                          const std::string& name, const Place& place) {
    const auto row = std::find_if(atomic_names.begin(), atomic_names.end(),
                                  [&](const AtomicName& a) { return name == a.name; });
    if (row == atomic_names.end())
        throw refused(place, "cuda." + name + " is not part of the kernel language");
    ir::Atomic::Part part = ir::Atomic::Part::whole;
    if (const Value& v = values[0]; v.kind == Value::Kind::expression && !v.items.empty()) {
        part = v.text == "real" ? ir::Atomic::Part::real : ir::Atomic::Part::imag;
        values[0] = Value(v.items[0]);
    }
    const Value& base = values[0];
    if (!base.is_array() && base.kind != Value::Kind::view)
        throw refused(nodes[0]->place, "cuda." + name + " works on an array's element, found " + spoken(base),
                      "write cuda." + name + "(A, i, value)");
    if (base.expr->type.layout == ir::Layout::bytes)
        throw refused(nodes[0]->place,
                      fmt::format("cuda.{} needs aligned elements, and those of '{}' are not", name,
                                  fn.vars[ir::var_of(*base.expr)].name),
                      "make the records with np.dtype(..., align=True), or copy the array");
    const DType whole = base.expr->type.dtype;
    const DType dtype = part == ir::Atomic::Part::whole ? whole : part_of(whole);
    if (!takes(row->on, dtype))
        throw refused(place, fmt::format("cuda.{} does not work on {}", name, info(dtype).name),
                      taken(row->on));
    if (base.expr->type.readonly)
        throw refused(nodes[0]->place,
                      fmt::format("'{}' is read-only: its elements can't be assigned",
                                  fn.vars[ir::var_of(*base.expr)].name),
                      "pass a writable array, as A.copy()");
    const Element e = element(base, index_list(values[1], *nodes[1]), place);
    std::vector<ExprP> args = {e.array};
    args.insert(args.end(), e.indices.begin(), e.indices.end());
    const ir::Type type = ir::scalar(dtype);
    args.push_back(convert(number(values.back(), nodes.back()->place), type));
    if (row->kind == ir::Atomic::Kind::cas) args.push_back(convert(number(values[2], nodes[2]->place), type));
    for (const ExprP& a : args)
        if (a->type.is_none()) return scalar_value(ir::make(Op::constant, type, {}, place));
    ir::Expr atomic = *ir::make(Op::atomic, type, std::move(args), place);
    atomic.payload = ir::Atomic{row->kind, e.access, part};
    const ir::VarId old = hidden(type, place);
    emit(ir::assign(old, std::make_shared<const ir::Expr>(std::move(atomic)), place));
    return scalar_value(ir::var(old, type, place));
}

}  // namespace xcuda::frontend
