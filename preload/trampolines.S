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
2:      .cfi_startproc
        endbr64
        jmp *(dispatch_slots + 8 * \entry)(%rip)
1:      endbr64
        movl $\entry, %r11d
        jmp resolve
        .cfi_endproc
        .size \name, . - \name
        .section .data.rel.local.slots, "aw"
        .quad 1b
        .section .rodata.offsets, "a"
        .long 2b - .
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
        movq %rdi, %rdx
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

/* dlsym(handle, name): names that begin otherwise than MPI's jump on at once. */
        .text
        .globl dlsym
        .type dlsym, @function
        .p2align 4
dlsym:
        .cfi_startproc
        endbr64
        movzbl (%rsi), %eax
        cmpb $'M', %al
        je 1f
        cmpb $'P', %al
        je 1f
        movq symbol_next(%rip), %rax
        testq %rax, %rax
        je 1f
        jmp *%rax
1:      pushq %rdi
        .cfi_adjust_cfa_offset 8
        pushq %rsi
        .cfi_adjust_cfa_offset 8
        subq $8, %rsp
        .cfi_adjust_cfa_offset 8
        movq 24(%rsp), %rdx
        movq %rsp, %rcx
        call symbol_answer
        movq (%rsp), %r11
        addq $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq %rsi
        .cfi_adjust_cfa_offset -8
        popq %rdi
        .cfi_adjust_cfa_offset -8
        testq %rax, %rax
        je 2f
        jmp *%rax
2:      movq %r11, %rax
        ret
        .cfi_endproc
        .size dlsym, . - dlsym

#elif defined(__aarch64__)

        .macro TRAMPOLINE name, entry
        .text
        .globl \name
        .type \name, %function
        .p2align 4
\name:
2:      .cfi_startproc
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
        .section .rodata.offsets, "a"
        .word 2b - .
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
        mov x2, x0
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

/* dlsym(handle, name): names that begin otherwise than MPI's jump on at once. */
        .text
        .globl dlsym
        .type dlsym, %function
        .p2align 4
dlsym:
        .cfi_startproc
        hint #34                /* bti c */
        ldrb w16, [x1]
        cmp w16, #'M'
        b.eq 1f
        cmp w16, #'P'
        b.eq 1f
        adrp x16, symbol_next
        ldr x16, [x16, #:lo12:symbol_next]
        cbz x16, 1f
        br x16
1:      stp x29, x30, [sp, #-48]!
        .cfi_def_cfa_offset 48
        .cfi_offset 29, -48
        .cfi_offset 30, -40
        mov x29, sp
        stp x0, x1, [sp, #16]
        mov x2, x30
        add x3, sp, #32
        bl symbol_answer
        mov x16, x0
        ldr x17, [sp, #32]
        ldp x0, x1, [sp, #16]
        ldp x29, x30, [sp], #48
        .cfi_restore 29
        .cfi_restore 30
        .cfi_def_cfa_offset 0
        cbz x16, 2f
        br x16
2:      mov x0, x17
        ret
        .cfi_endproc
        .size dlsym, . - dlsym

#else
#error "no trampolines for this processor"
#endif

        .section .data.rel.local.slots, "aw"
        .p2align 6
        .globl dispatch_slots
        .hidden dispatch_slots
        .type dispatch_slots, %object
dispatch_slots:

        .section .rodata.offsets, "a"
        .p2align 2
        .globl dispatch_offsets
        .hidden dispatch_offsets
        .type dispatch_offsets, %object
dispatch_offsets:

#include "preload/mpi_trampolines.S"

        .section .data.rel.local.slots, "aw"
        .size dispatch_slots, . - dispatch_slots
        .section .rodata.offsets, "a"
        .size dispatch_offsets, . - dispatch_offsets
        .section .note.GNU-stack, "", %progbits
