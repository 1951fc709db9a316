/* SPDX-License-Identifier: BSD-3-Clause */
/* The exported MPI names: each jumps through its entry of dispatch_slots and changes no register that
 * carries an argument. An entry starts at a stub that asks dispatch_resolve where to go. */

#if defined(__x86_64__)

        .macro TRAMPOLINE name, entry
        .text
        .globl \name
        .type \name, @function
        .p2align 4
\name:
        .cfi_startproc
        endbr64
        jmp *(dispatch_slots + 8 * \entry)(%rip)
1:      endbr64
        movl $\entry, %r11d
        jmp resolve
        .cfi_endproc
        .size \name, . - \name
        .section .data.rel.local.slots, "aw"
        .quad 1b
        .endm

        .text
        .type resolve, @function
resolve:
        .cfi_startproc
        endbr64
        pushq %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq %rsp, %rbp
        .cfi_def_cfa_register %rbp
        andq $-16, %rsp
        subq $192, %rsp
        movq %rdi, 0(%rsp)
        movq %rsi, 8(%rsp)
        movq %rdx, 16(%rsp)
        movq %rcx, 24(%rsp)
        movq %r8, 32(%rsp)
        movq %r9, 40(%rsp)
        movq %rax, 48(%rsp)
        movaps %xmm0, 64(%rsp)
        movaps %xmm1, 80(%rsp)
        movaps %xmm2, 96(%rsp)
        movaps %xmm3, 112(%rsp)
        movaps %xmm4, 128(%rsp)
        movaps %xmm5, 144(%rsp)
        movaps %xmm6, 160(%rsp)
        movaps %xmm7, 176(%rsp)
        movl %r11d, %edi
        movq 8(%rbp), %rsi
        call dispatch_resolve
        movq %rax, %r11
        movq 0(%rsp), %rdi
        movq 8(%rsp), %rsi
        movq 16(%rsp), %rdx
        movq 24(%rsp), %rcx
        movq 32(%rsp), %r8
        movq 40(%rsp), %r9
        movq 48(%rsp), %rax
        movaps 64(%rsp), %xmm0
        movaps 80(%rsp), %xmm1
        movaps 96(%rsp), %xmm2
        movaps 112(%rsp), %xmm3
        movaps 128(%rsp), %xmm4
        movaps 144(%rsp), %xmm5
        movaps 160(%rsp), %xmm6
        movaps 176(%rsp), %xmm7
        leave
        .cfi_def_cfa %rsp, 8
        jmp *%r11
        .cfi_endproc
        .size resolve, . - resolve

#elif defined(__aarch64__)

        .macro TRAMPOLINE name, entry
        .text
        .globl \name
        .type \name, %function
        .p2align 4
\name:
        .cfi_startproc
        hint #34                /* bti c */
        adrp x16, dispatch_slots + 8 * \entry
        ldr x16, [x16, #:lo12:dispatch_slots + 8 * \entry]
        br x16
1:      hint #36                /* bti j */
        mov w16, #\entry
        b resolve
        .cfi_endproc
        .size \name, . - \name
        .section .data.rel.local.slots, "aw"
        .xword 1b
        .endm

        .text
        .type resolve, %function
resolve:
        .cfi_startproc
        stp x29, x30, [sp, #-224]!
        .cfi_def_cfa_offset 224
        .cfi_offset 29, -224
        .cfi_offset 30, -216
        mov x29, sp
        stp x0, x1, [sp, #16]
        stp x2, x3, [sp, #32]
        stp x4, x5, [sp, #48]
        stp x6, x7, [sp, #64]
        str x8, [sp, #80]
        stp q0, q1, [sp, #96]
        stp q2, q3, [sp, #128]
        stp q4, q5, [sp, #160]
        stp q6, q7, [sp, #192]
        mov w0, w16
        mov x1, x30
        bl dispatch_resolve
        mov x16, x0
        ldp x0, x1, [sp, #16]
        ldp x2, x3, [sp, #32]
        ldp x4, x5, [sp, #48]
        ldp x6, x7, [sp, #64]
        ldr x8, [sp, #80]
        ldp q0, q1, [sp, #96]
        ldp q2, q3, [sp, #128]
        ldp q4, q5, [sp, #160]
        ldp q6, q7, [sp, #192]
        ldp x29, x30, [sp], #224
        .cfi_restore 29
        .cfi_restore 30
        .cfi_def_cfa_offset 0
        br x16
        .cfi_endproc
        .size resolve, . - resolve

#else
#error "no trampolines for this processor"
#endif

        .section .data.rel.local.slots, "aw"
        .p2align 6
        .globl dispatch_slots
        .hidden dispatch_slots
        .type dispatch_slots, %object
dispatch_slots:

#include "preload/mpi_trampolines.S"

        .section .data.rel.local.slots, "aw"
        .size dispatch_slots, . - dispatch_slots
        .section .note.GNU-stack, "", %progbits
