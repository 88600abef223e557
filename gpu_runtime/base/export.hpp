// XCUDA_API marks what libxcuda_runtime.so shows to the modules over it; all else stays hidden.
#pragma once

#define XCUDA_API __attribute__((visibility("default")))
