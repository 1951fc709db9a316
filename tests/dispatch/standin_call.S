/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls a function with given contents of every register that can carry an argument. */
#if defined(__x86_64__)
        .text
        .globl standin_call
        .type standin_call, @function
standin_call:
        pushq %rbp
        movq %rsp, %rbp
        pushq %rbx
        pushq %r12
        movq %rdi, %rbx
        movq %rsi, %r12
        subq $48, %rsp
        movups 0(%rdx), %xmm0
        movups 16(%rdx), %xmm1
        movups 32(%rdx), %xmm2
        movups %xmm0, 0(%rsp)
        movups %xmm1, 16(%rsp)
        movups %xmm2, 32(%rsp)
        movups 64(%r12), %xmm0
        movups 80(%r12), %xmm1
        movups 96(%r12), %xmm2
        movups 112(%r12), %xmm3
        movups 128(%r12), %xmm4
        movups 144(%r12), %xmm5
        movups 160(%r12), %xmm6
        movups 176(%r12), %xmm7
        movq 0(%r12), %rdi
        movq 8(%r12), %rsi
        movq 16(%r12), %rdx
        movq 24(%r12), %rcx
        movq 32(%r12), %r8
        movq 40(%r12), %r9
        movq 48(%r12), %rax
        call *%rbx
        leaq -16(%rbp), %rsp
        popq %r12
        popq %rbx
        popq %rbp
        ret
        .size standin_call, . - standin_call
#elif defined(__aarch64__)
        .text
        .globl standin_call
        .type standin_call, %function
standin_call:
        stp x29, x30, [sp, #-16]!
        mov x29, sp
        sub sp, sp, #48
        mov x16, x0
        mov x17, x1
        ldp q0, q1, [x2]
        ldr q2, [x2, #32]
        stp q0, q1, [sp]
        str q2, [sp, #32]
        ldp q0, q1, [x17, #80]
        ldp q2, q3, [x17, #112]
        ldp q4, q5, [x17, #144]
        ldp q6, q7, [x17, #176]
        ldp x0, x1, [x17]
        ldp x2, x3, [x17, #16]
        ldp x4, x5, [x17, #32]
        ldp x6, x7, [x17, #48]
        ldr x8, [x17, #64]
        blr x16
        mov sp, x29
        ldp x29, x30, [sp], #16
        ret
        .size standin_call, . - standin_call
#endif
        .section .note.GNU-stack, "", %progbits
