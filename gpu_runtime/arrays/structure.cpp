#include "arrays/structure.hpp"

#include <fmt/format.h>

namespace xcuda::arrays {
namespace {

void put(std::string& key, std::uint32_t word) {
    key.append(reinterpret_cast<const char*>(&word), sizeof word);
}

void put(std::string& key, std::uint32_t word, const Axes& axes) {
    put(key, word | static_cast<std::uint32_t>(axes.count) << 8);
    put(key, static_cast<std::uint32_t>(axes.list));
    put(key, static_cast<std::uint32_t>(axes.list >> 32));
}

std::string letter(int slot) {
    std::string name(1, static_cast<char>('a' + slot % 26));
    return slot < 26 ? name : name + std::to_string(slot / 26);
}

std::string fold_name(const Loop& loop) {
    if (loop.name == "add") return "sum";
    if (loop.name == "multiply") return "prod";
    if (loop.name == "maximum") return "max";
    if (loop.name == "minimum") return "min";
    if (loop.name == "logical_and") return "all";
    if (loop.name == "logical_or") return "any";
    return loop.name + ".reduce";
}

// Appends until the text is long enough: a value used twice stands in it twice, so all of it may be endless.
void words(const Structure& s, int at, bool inner, std::size_t longest, std::string& text) {
    if (text.size() > longest) return;
    if (at < 0) {
        text += letter(~at);
        return;
    }
    const Step& step = s.steps[static_cast<std::size_t>(at)];
    const Loop& loop = loop_of(step.loop);
    if (step.fold) {
        text += fold_name(loop) + "(";
        words(s, step.args[0], false, longest, text);
        text += ")";
    } else if (loop.name == "copy" || (loop.name == "astype" && inner)) {
        words(s, step.args[0], inner, longest, text);
    } else if (loop.name == "astype") {
        words(s, step.args[0], true, longest, text);
        text += fmt::format(".astype({})", info(loop.out).name);
    } else if (!loop.infix.empty() && step.args.size() == 2) {
        if (inner) text += "(";
        words(s, step.args[0], true, longest, text);
        text += fmt::format(" {} ", loop.infix);
        words(s, step.args[1], true, longest, text);
        if (inner) text += ")";
    } else if (loop.name == "negative") {
        text += "-";
        words(s, step.args[0], true, longest, text);
    } else {
        text += loop.name + "(";
        for (std::size_t i = 0; i < step.args.size(); ++i) {
            if (i > 0) text += ", ";
            words(s, step.args[i], false, longest, text);
        }
        text += ")";
    }
}

}  // namespace

std::string Structure::key() const {
    std::string key;
    key.reserve(4 * (4 + 2 * slots.size() + 4 * steps.size() + 3 * outputs.size()));
    put(key, static_cast<std::uint32_t>(axes));
    put(key, static_cast<std::uint32_t>(slots.size() << 16 | steps.size()));
    for (const Slot& s : slots)
        put(key, static_cast<std::uint32_t>(s.dtype) | (s.number ? 0x80u : 0u) | (s.ramp ? 0x40u : 0u),
            s.axes);
    for (const Step& s : steps) {
        put(key, static_cast<std::uint32_t>(s.loop) | (s.fold ? 0x80000000u : 0u));
        for (const int a : s.args) put(key, static_cast<std::uint32_t>(a));
    }
    for (const Output& o : outputs) {
        put(key, static_cast<std::uint32_t>(o.from));
        put(key, static_cast<std::uint32_t>(o.dtype), o.axes);
    }
    for (const Folding& f : folding)
        put(key, 0x80000000u | static_cast<std::uint32_t>(f.loop) << 8 |
                     static_cast<std::uint32_t>(f.axes) << 1 | (f.chunked ? 1u : 0u));
    for (const Rows& r : rows) {
        put(key, 0xc0000000u | static_cast<std::uint32_t>(r.axes) | (r.shares ? 0x100u : 0u));
        put(key, static_cast<std::uint32_t>(r.threads) << 16 | static_cast<std::uint32_t>(r.rows));
        put(key, static_cast<std::uint32_t>(r.vector) << 16 | static_cast<std::uint32_t>(r.turns) << 1 |
                     (r.exact ? 1u : 0u));
        put(key, static_cast<std::uint32_t>(r.blocks) << 1 | (r.streamed ? 1u : 0u));
        for (const Rows::Kept& k : r.kept)
            put(key, static_cast<std::uint32_t>(k.step) << 8 | static_cast<std::uint32_t>(k.output & 0xff));
    }
    return key;
}

std::string Structure::text(std::size_t longest) const {
    std::string text;
    for (const Output& o : outputs) {
        if (!text.empty()) text += ", ";
        if (!folding.empty()) text += fold_name(loop_of(folding[0].loop)) + "(";
        words(*this, o.from, false, longest, text);
        if (!folding.empty()) text += ")";
        if (text.size() > longest) return text.substr(0, longest - 3) + "...";
    }
    return text;
}

}  // namespace xcuda::arrays
