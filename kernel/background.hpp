// Threads that serve the kernel: no signal is ever delivered to them, so that SIGINT always wakes the main
// thread.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace xcuda::kernel {

template <class Body>
std::thread start_background(const char* name, Body&& body) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // a thread inherits its maker's mask
    std::thread thread(std::forward<Body>(body));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_setname_np(thread.native_handle(), name);
    return thread;
}

}  // namespace xcuda::kernel
