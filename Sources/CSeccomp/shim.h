/* libseccomp for Swift. Adds functions for its function-like macros, and includes the headers of the kernel with the
 * flags that rules compare with the arguments of system calls. */
#ifndef PIPELINED_CSECCOMP_SHIM_H
#define PIPELINED_CSECCOMP_SHIM_H

#include <linux/sched.h>
#include <linux/prctl.h>
#include <seccomp.h>

static inline uint32_t cseccomp_errno(uint16_t error) {
    return SCMP_ACT_ERRNO(error);
}

#endif
