#include "streams.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

#include "background.hpp"
#include "utf8.hpp"

namespace xcuda::kernel {

namespace {

std::atomic<bool> in_forked_child{false};

void write_fully(int descriptor, std::string_view text) {
    while (!text.empty()) {
        ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0) {
            if (errno == EINTR) {
                continue;
            }
            return;
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

// The child has neither our thread nor our sockets: its text goes through the pipe to the parent, by lines,
// so that those of several children don't mix. No lock: another thread of the parent may have held it at the
// fork.
void write_in_child(stream name, std::string_view text) {
    static std::string lines[2];
    std::string& held = lines[static_cast<int>(name)];
    held += text;
    if (text.empty() || held.size() > 4096 || text.find('\n') != text.npos) {
        write_fully(static_cast<int>(name) + 1, held);
        held.clear();
    }
}

}  // namespace

output_streams::output_streams(publisher& sink)
    : m_sink(sink),
      m_event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    static std::once_flag once;
    std::call_once(once, [] { pthread_atfork(nullptr, nullptr, [] { in_forked_child = true; }); });
    m_thread = start_background("xcuda-streams", [this] { run(); });
}

output_streams::~output_streams() {
    stop();
    if (m_event >= 0) {
        ::close(m_event);
    }
}

bool output_streams::capture_descriptors() {
    int ends[2][2] = {{-1, -1}, {-1, -1}};
    if (::pipe2(ends[0], O_CLOEXEC) != 0) {
        return false;
    }
    if (::pipe2(ends[1], O_CLOEXEC) != 0) {
        ::close(ends[0][0]);
        ::close(ends[0][1]);
        return false;
    }
    std::lock_guard lock(m_mutex);
    // A pipe makes C's stdout block-buffered; by lines it stays in order with everything else.
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    for (int i = 0; i < 2; ++i) {
        m_saved[i] = ::fcntl(i + 1, F_DUPFD_CLOEXEC, 3);
        ::dup2(ends[i][1], i + 1);
        ::close(ends[i][1]);
        ::fcntl(ends[i][0], F_SETFL, O_NONBLOCK);
        m_pipe[i] = ends[i][0];
    }
    wake();
    return true;
}

void output_streams::write(stream name, std::string_view text) {
    if (in_forked_child) {
        write_in_child(name, text);
        return;
    }
    std::fflush(stdout);
    std::lock_guard lock(m_mutex);
    drain(stream::out, false);
    drain(stream::err, false);
    append(name, text);
    if (m_size >= flush_at) {
        publish_all();
    }
}

void output_streams::flush() {
    if (in_forked_child) {
        write_in_child(stream::out, {});
        write_in_child(stream::err, {});
        return;
    }
    std::fflush(stdout);
    std::lock_guard lock(m_mutex);
    drain(stream::out, true);
    drain(stream::err, true);
    publish_all();
}

void output_streams::log(std::string_view text) const { write_fully(log_descriptor(), text); }

void output_streams::stop() {
    if (!m_thread.joinable()) {
        return;
    }
    flush();
    {
        std::lock_guard lock(m_mutex);
        m_stopping = true;
        for (int i = 0; i < 2; ++i) {
            if (m_saved[i] >= 0) {
                ::dup2(m_saved[i], i + 1);
                ::close(m_saved[i]);
                m_saved[i] = -1;
            }
        }
    }
    wake();
    m_thread.join();
    for (int& end : m_pipe) {
        if (end >= 0) {
            ::close(end);
            end = -1;
        }
    }
}

void output_streams::wake() const {
    std::uint64_t one = 1;
    [[maybe_unused]] ssize_t ignored = ::write(m_event, &one, sizeof one);
}

void output_streams::append(stream name, std::string_view text) {
    if (text.empty()) {
        return;
    }
    if (m_segments.empty()) {
        m_deadline = std::chrono::steady_clock::now() + flush_after;
        wake();
    }
    if (m_segments.empty() || m_segments.back().name != name) {
        m_segments.push_back({name, {}});
    }
    m_segments.back().text += text;
    m_size += text.size();
}

void output_streams::drain(stream name, bool partial_too) {
    const int index = static_cast<int>(name);
    if (m_pipe[index] < 0) {
        return;
    }
    int waiting = 0;
    std::string& bytes = m_partial[index];
    // What waits now and no more: a child that writes without end must not hold us here.
    if (::ioctl(m_pipe[index], FIONREAD, &waiting) == 0 && waiting > 0) {
        const std::size_t before = bytes.size();
        bytes.resize(before + static_cast<std::size_t>(waiting));
        const ssize_t got = ::read(m_pipe[index], bytes.data() + before, static_cast<std::size_t>(waiting));
        bytes.resize(before + static_cast<std::size_t>(got > 0 ? got : 0));
    }
    if (bytes.empty()) {
        return;
    }
    const std::size_t whole = partial_too ? bytes.size() : complete_prefix(bytes);
    append(name, std::string_view(bytes).substr(0, whole));
    bytes.erase(0, whole);
}

void output_streams::publish_all() {
    static constexpr const char* names[] = {"stdout", "stderr"};
    for (const segment& part : m_segments) {
        m_sink.publish("stream",
                       to_text({{"name", names[static_cast<int>(part.name)]}, {"text", part.text}}));
    }
    m_segments.clear();
    m_size = 0;
}

void output_streams::run() {
    while (true) {
        pollfd watched[3];
        int timeout = -1;
        {
            std::lock_guard lock(m_mutex);
            if (m_stopping) {
                return;
            }
            if (!m_segments.empty()) {
                const auto left = m_deadline - std::chrono::steady_clock::now();
                const auto rounded = std::chrono::ceil<std::chrono::milliseconds>(left).count();
                timeout = rounded > 0 ? static_cast<int>(rounded) : 0;
            }
            watched[0] = {m_event, POLLIN, 0};
            watched[1] = {m_pipe[0], POLLIN, 0};  // poll skips negative descriptors
            watched[2] = {m_pipe[1], POLLIN, 0};
        }
        ::poll(watched, 3, timeout);
        if (watched[0].revents & POLLIN) {
            std::uint64_t ignored_count;
            [[maybe_unused]] ssize_t ignored = ::read(m_event, &ignored_count, sizeof ignored_count);
        }
        std::lock_guard lock(m_mutex);
        drain(stream::out, false);
        drain(stream::err, false);
        const bool due = std::chrono::steady_clock::now() >= m_deadline;
        if (!m_segments.empty() && (due || m_size >= flush_at)) {
            publish_all();
        }
    }
}

}  // namespace xcuda::kernel
