/* SPDX-License-Identifier: BSD-3-Clause */
/* The stand-in's exported functions: each shows its registers to standin_entry, and goes on to the
 * function that this names, or returns. */
        .macro TRAMPOLINE name, entry
#ifdef STANDIN_LACKING
        .ifc \name, MPI_Scan
        .exitm
        .endif
        .ifc \name, PMPI_Scan
        .exitm
        .endif
#endif
        .weak \name /* what standin.c defines itself comes first */
        .type \name, %function
\name:
#if defined(__x86_64__)
        movl $\entry, %r11d
        jmp standin_capture
#elif defined(__aarch64__)
        mov w17, #\entry
        b standin_capture
#endif
        .size \name, . - \name
        .endm

        .text
#if defined(__x86_64__)
standin_capture:
        .cfi_startproc
        pushq %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq %rsp, %rbp
        .cfi_def_cfa_register %rbp
        andq $-16, %rsp
        subq $208, %rsp
        movq %rdi, 0(%rsp)
        movq %rsi, 8(%rsp)
        movq %rdx, 16(%rsp)
        movq %rcx, 24(%rsp)
        movq %r8, 32(%rsp)
        movq %r9, 40(%rsp)
        movq %rax, 48(%rsp)
        leaq 16(%rbp), %r10
        movq %r10, 56(%rsp)
        movaps %xmm0, 64(%rsp)
        movaps %xmm1, 80(%rsp)
        movaps %xmm2, 96(%rsp)
        movaps %xmm3, 112(%rsp)
        movaps %xmm4, 128(%rsp)
        movaps %xmm5, 144(%rsp)
        movaps %xmm6, 160(%rsp)
        movaps %xmm7, 176(%rsp)
        movl %r11d, %edi
        movq %rsp, %rsi
        call standin_entry@PLT
        movq %rax, %r11
        movq 0(%rsp), %rdi
        movq 8(%rsp), %rsi
        movq 16(%rsp), %rdx
        movq 24(%rsp), %rcx
        movq 32(%rsp), %r8
        movq 40(%rsp), %r9
        movl 192(%rsp), %eax
        leave
        .cfi_def_cfa %rsp, 8
        testq %r11, %r11
        jz 1f
        jmp *%r11
1:
        ret
        .cfi_endproc
#elif defined(__aarch64__)
standin_capture:
        stp x29, x30, [sp, #-240]!
        mov x29, sp
        stp x0, x1, [sp, #16]
        stp x2, x3, [sp, #32]
        stp x4, x5, [sp, #48]
        stp x6, x7, [sp, #64]
        add x9, sp, #240
        stp x8, x9, [sp, #80]
        stp q0, q1, [sp, #96]
        stp q2, q3, [sp, #128]
        stp q4, q5, [sp, #160]
        stp q6, q7, [sp, #192]
        mov w0, w17
        add x1, sp, #16
        bl standin_entry
        mov x16, x0
        ldp x0, x1, [sp, #16]
        ldp x2, x3, [sp, #32]
        ldp x4, x5, [sp, #48]
        ldp x6, x7, [sp, #64]
        ldr w17, [sp, #224]
        ldp x29, x30, [sp], #240
        cbz x16, 1f
        br x16
1:
        mov w0, w17
        ret
#endif
#include "preload/mpi_trampolines.S"
        .section .note.GNU-stack, "", %progbits
