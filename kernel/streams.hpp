// stdout and stderr: one ordered buffer that Python's streams and the process's own descriptors write into.
//
// A thread of its own publishes what waits longer than flush_after, so that output shows while the main
// thread computes, sleeps or holds the GIL. Text of both streams stays in the order in which it was written.
#pragma once

#include <chrono>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "publisher.hpp"

namespace xcuda::kernel {

enum class stream { out = 0, err = 1 };

class output_streams {
public:
    explicit output_streams(publisher& sink);
    ~output_streams();

    // Takes over descriptors 1 and 2, so that C's printf and child processes are seen too. Returns false,
    // with the descriptors as they were, if the system has no pipe to give.
    bool capture_descriptors();

    // Appends text; what the descriptors hold by now comes before it.
    void write(stream name, std::string_view text);

    // Publishes all that is buffered and all that the descriptors hold.
    void flush();

    // To the process's own stderr, past the capture: for messages about the kernel itself.
    void log(std::string_view text) const;
    int log_descriptor() const { return m_saved[1] >= 0 ? m_saved[1] : 2; }

    // Gives the descriptors back and ends the thread.
    void stop();

private:
    void run();
    void wake() const;
    void append(stream name, std::string_view text);  // with m_mutex held
    void drain(stream name, bool partial_too);        // with m_mutex held
    void publish_all();                               // with m_mutex held

    struct segment {
        stream name;
        std::string text;
    };

    static constexpr std::size_t flush_at = 64 * 1024;
    static constexpr std::chrono::milliseconds flush_after{40};

    publisher& m_sink;
    std::mutex m_mutex;
    std::deque<segment> m_segments;
    std::size_t m_size = 0;
    std::chrono::steady_clock::time_point m_deadline;
    std::string m_partial[2];  // the beginning of a character whose other bytes have not come yet
    int m_pipe[2] = {-1, -1};
    int m_saved[2] = {-1, -1};
    int m_event = -1;
    bool m_stopping = false;
    std::thread m_thread;
};

}  // namespace xcuda::kernel
