#include "launch/program.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "device/under_way.hpp"
#include "ir/walk.hpp"
#include "launch/cache.hpp"
#include "passes/cuda.hpp"
#include "passes/fixed.hpp"
#include "passes/inline.hpp"

namespace xcuda::launch {
namespace {

std::int64_t static_shared_bytes(const ir::Module& module) {
    std::int64_t bytes = 0;
    for (const ir::Function& f : module.functions) {
        for (const ir::Var& v : f.vars) {
            if (v.role != ir::Var::Role::shared) continue;
            std::int64_t elements = v.type.extents.empty() ? 0 : 1;
            for (const std::int64_t n : v.type.extents) elements *= n;
            const auto size = static_cast<std::int64_t>(info(v.type.dtype).size);
            bytes += (elements * size + 15) / 16 * 16;
        }
    }
    return bytes;
}

bool writes_var(const ir::Expr& e, ir::VarId id) {
    if (e.op == ir::Op::atomic) return e.args[0]->op == ir::Op::var && ir::var_of(*e.args[0]) == id;
    if (e.op != ir::Op::invoke) return false;
    return std::any_of(e.args.begin(), e.args.end(),
                       [id](const ir::ExprP& a) { return a->op == ir::Op::var && ir::var_of(*a) == id; });
}

std::string compile_options(const Options& options, const ir::Module& module) {
    std::string words = options.words();
    if (module.how.find("tiles") != std::string::npos) words += " tiles";  // device/cpu's short pipeline
    return words;
}

// Those of `wanted` that the kernel reads are constants from here on.
std::vector<Fixed> fix(ir::Module& module, const std::vector<Fixed>& wanted) {
    std::vector<passes::Known> known;
    for (const Fixed& f : wanted) known.push_back({f.parameter, f.axis, f.bits});
    if (known.empty()) return {};
    const std::vector<bool> read = passes::fix_arguments(module, known);
    std::vector<Fixed> out;
    for (std::size_t i = 0; i < wanted.size(); ++i)
        if (read[i]) out.push_back(wanted[i]);
    return out;
}

constexpr std::ptrdiff_t most_blocks = 8;  // shapes with a GPU text of their own; others share one

ir::Module cpu_module(const Specialisation& made, const Options& asked, const device::Info& info) {
    passes::CpuOptions options;
    options.checked = asked.checked;
    options.block_fixed = made.block.has_value();
    if (made.block) {
        options.block[0] = made.block->x;
        options.block[1] = made.block->y;
        options.block[2] = made.block->z;
    }
    if (info.vector_bytes > 0) options.vector_bytes = info.vector_bytes;
    return passes::for_cpu(made.lowered->module, options);
}

void mark_small(ir::Function& kernel, const Signature& signature) {
    for (std::size_t i = 0; i < signature.size() && i < kernel.params.size(); ++i) {
        ir::Var& v = kernel.vars[static_cast<std::size_t>(kernel.params[i])];
        v.small = v.type.is_scalar() && is_integer(v.type.dtype) && is_small(signature[i]);
    }
}

}  // namespace

ir::Module cuda_module(const Lowered& lowered, const Options& asked, bool automatic,
                       const std::optional<device::Dim3>& block, bool long_grid) {
    passes::CudaOptions options{
        automatic,           asked.tuning.order, asked.tuning.elements, asked.tuning.rows, {},
        asked.tuning.staged, !long_grid};
    if (block) options.block = {block->x, block->y, block->z};
    ir::Module module = passes::for_cuda(lowered.module, options);
    if (asked.most_threads > 0) {
        module.most_threads = asked.most_threads;
        module.least_blocks = asked.least_blocks;
    }
    module.most_cluster = asked.most_cluster;
    return module;
}

std::string device_label(const device::Info& info) {
    return info.kind == "cpu" ? info.kind : info.kind + ":" + std::to_string(info.ordinal);
}

std::string Options::words() const {
    std::string words = fastmath ? "fastmath" : "";
    if (!fma) words += " nofma";
    if (!optimise) words += " unoptimised";
    if (max_registers > 0) words += " registers=" + std::to_string(max_registers);
    return words;
}

Place Lowered::first_write(std::size_t parameter) const {
    const ir::Function& kernel = module.kernel();
    const ir::VarId id = kernel.params[parameter];
    Place found;
    ir::each_stmt(kernel.body, [&](const ir::Stmt& s) {
        if (found.known()) return;
        if (s.kind == ir::Stmt::Kind::store && s.exprs[0]->op == ir::Op::var && ir::var_of(*s.exprs[0]) == id)
            found = s.place;
        for (const ir::ExprP& e : s.exprs)
            ir::each_expr(e, [&](const ir::Expr& node) {
                if (!found.known() && writes_var(node, id)) found = node.place.known() ? node.place : s.place;
            });
    });
    return found;
}

Program::Program(frontend::Source source, Options options) : source_(std::move(source)), options_(options) {
    if (options_.door) result_ = options_.door->result(source_);
}

Program::Program(std::string name, Lowering lowering, Options options)
    : lowering_(std::move(lowering)),
      options_(std::move(options)) {
    source_.name = std::move(name);
}

PlanKey Program::key(const std::string& target, std::span<const Argument> arguments) const {
    return options_.door ? options_.door->key(target, arguments, result_) : PlanKey{"cpu"};
}

std::shared_ptr<const Lowered> Program::lower(const Signature& signature, const std::vector<Fixed>& fixed,
                                              const PlanKey& key) {
    const std::vector<Fixed>& wanted = fixed.empty() ? options_.tuning.fixed : fixed;
    std::lock_guard lock(mutex_);
    for (const auto& known : lowered_)
        if (known->signature == signature && known->asked == wanted && (!known->key || *known->key == key))
            return known;
    const double begin = now();
    auto made = std::make_shared<Lowered>();
    made->signature = signature;
    if (options_.door) {
        Prepared prepared = options_.door->prepare(source_, types_of(signature), options_.checked, key);
        made->module = std::move(prepared.module);
        made->key = key;
        made->program_block = prepared.block;
        made->programs = std::move(prepared.programs);
        made->persistent = prepared.persistent;
        made->text = std::move(prepared.text);
        made->plan = std::move(prepared.plan);
    } else {
        made->module = lowering_ ? lowering_(types_of(signature))
                                 : frontend::lower(source_, types_of(signature), options_.checked);
    }
    passes::mark_measured(made->module, options_.tuning.likely, options_.tuning.turns);
    if (!made->key) mark_small(made->module.kernel(), signature);
    made->asked = wanted;
    made->fixed = fix(made->module, wanted);
    made->uses = passes::parameter_uses(made->module);
    made->domain = passes::launch_domain(made->module);
    made->layout = emit::argument_layout(made->module);
    ir::Module whole = made->module;
    passes::inline_calls(whole);  // a helper's shared array is one a call
    made->shared_bytes = static_shared_bytes(whole);
    made->fixed_block = made->key || passes::wants_fixed_block(made->module);
    made->known_block = !made->key && (options_.tuning.staged > 0 || passes::wants_known_block(made->module));
    made->unguarded = !lowering_ && !options_.checked;
    for (const ir::Function& f : made->module.functions) {
        made->unguarded |= f.foreign.has_value();
        made->whole_grid |=
            ir::strongest_effect(f.body) == ir::Effect::grid || (f.foreign && f.foreign->cooperative);
        ir::each_expr(f.body, [&](const ir::Expr& e) { made->prints |= e.op == ir::Op::print; });
    }
    made->block = options_.tuning.block;
    made->automatic = passes::automatic_launch(made->module, options_.tuning.order, options_.tuning.elements,
                                               options_.tuning.rows);
    made->seconds = now() - begin;
    lowered_.push_back(made);
    return made;
}

std::shared_ptr<const Specialisation> Program::found(Made& made, For whom) {
    made.asked_for |= whom != For::nobody;
    return made.kernel;
}

std::shared_ptr<const Specialisation> Program::specialise(const std::shared_ptr<const Lowered>& lowered,
                                                          const std::shared_ptr<device::Device>& device,
                                                          const std::optional<device::Dim3>& block,
                                                          bool automatic, bool long_grid, For whom) {
    if (whom == For::call) called_ = true;
    const bool on_cpu = device->info().kind == "cpu";
    automatic = automatic && !on_cpu;  // the CPU device lays the axes as it likes anyway
    long_grid = long_grid && !on_cpu;
    std::unique_lock lock(mutex_);
    std::ptrdiff_t shapes = 0;  // that have a text of their own
    const bool own_text = block && (on_cpu ? lowered->fixed_block : lowered->known_block);
    Made* general = nullptr;
    for (Made& one : specialised_) {
        const auto& known = one.kernel;
        if (known->lowered != lowered || known->device != device || known->automatic != automatic ||
            known->long_grid != long_grid)
            continue;
        if (known->block ? known->block == block : !own_text) return found(one, whom);
        if (!known->block) general = &one;
        shapes += known->block.has_value();
    }
    const bool shared_text =
        own_text && !on_cpu && (shapes >= most_blocks || (general && general->kernel->source == "file"));
    if (shared_text && general) return found(*general, whom);
    lock.unlock();  // other versions may compile meanwhile; of one text get_or_compile makes one kernel

    const double begin = now();
    auto made = std::make_shared<Specialisation>();
    made->lowered = lowered;
    made->device = device;
    made->automatic = automatic;
    made->long_grid = long_grid;
    const device::Info& info = device->info();
    const bool cpu = info.kind == "cpu";
    if (own_text && !shared_text) made->block = block;

    ir::Module module;
    const auto emitted = [&] {
        module = cpu ? cpu_module(*made, options_, info)
                     : cuda_module(*lowered, options_, automatic, made->block, long_grid);
        made->text = emit::emit(module, cpu ? emit::Target::cpu : emit::Target::cuda);
        made->options = compile_options(options_, module);
        return device::Source{made->text.source, made->text.entry, made->options};
    };
    if (!cpu && made->block && any_preloaded()) {  // a file's text is for any block
        made->block.reset();
        if (!is_preloaded(*device, emitted())) made->block = block;
    }
    const device::Source source = emitted();
    made->sites = module.sites;

    CompileInfo compile;
    {
        const std::string what = source_.name + " for " + (cpu ? "the CPU device" : info.architecture);
        const device::UnderWay told(device::Doing::compile, what, begin);
        made->function = get_or_compile(*device, source, &compile);
    }
    made->source = compile.source;
    made->seconds = now() - begin;

    auto facts = std::make_shared<KernelFacts>();
    facts->name = source_.name;
    facts->symbol = made->text.entry;
    facts->signature = to_string(lowered->signature);
    facts->place = lowered->module.kernel().place;
    facts->device = device_label(info);
    facts->attributes = compile.attributes;
    if (!facts->attributes.shared_bytes || made->text.moved_shared_bytes > 0)
        facts->attributes.shared_bytes = lowered->shared_bytes;
    facts->how = lowered->plan.empty() ? module.how : lowered->plan + "; " + module.how;
    facts->warnings = lowered->module.warnings;
    facts->programs = lowered->key.has_value();
    made->facts = facts;

    lock.lock();
    for (Made& other : specialised_)  // another thread may have been as far as we are
        if (other.kernel->lowered == lowered && other.kernel->device == device &&
            other.kernel->automatic == automatic && other.kernel->long_grid == long_grid &&
            other.kernel->block == made->block)
            return found(other, whom);
    specialised_.push_back({made, whom != For::nobody});
    lock.unlock();

    Event event{};
    event.kind = Event::Kind::compile;
    event.begin = begin - lowered->seconds;
    event.end = now();
    event.device = facts->device;
    event.kernel = facts;
    event.compile_source = compile.source;
    record(std::move(event));
    return made;
}

std::string Program::assembly(const Specialisation& kernel) const {
    return kernel.device->assembly({kernel.text.source, kernel.text.entry, kernel.options});
}

std::vector<std::shared_ptr<const Specialisation>> Program::specialisations() const {
    std::vector<std::shared_ptr<const Specialisation>> out;
    std::lock_guard lock(mutex_);
    for (const auto& one : specialised_)
        if (one.asked_for) out.push_back(one.kernel);
    return out;
}

}  // namespace xcuda::launch
