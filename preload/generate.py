#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes C and assembly from mpi_functions.def: generate.py names|wrappers|trampolines|check TABLE"""
import re
import sys

ATTRIBUTES = {
    "bytes", "peer", "tag", "comm", "root", "twin", "creates", "clones", "frees", "requests",
    "finished", "flag", "resolves", "special",
}
KINDS = {
    "point-to-point", "collective", "wait", "poll", "one-sided", "io", "communicator", "topology",
    "other",
}


class Function:
    def __init__(self, name, kind, attributes, parameters):
        self.name, self.kind, self.attributes = name, kind, attributes
        self.parameters = parameters  # [(declaration, name)]
        self.names = [name for _, name in parameters]

    operation = property(lambda self: self.name[len("MPI_"):].lower())
    kind_constant = property(lambda self: "KIND_" + self.kind.upper().replace("-", "_"))
    declarations = property(lambda self: ", ".join(d for d, _ in self.parameters) or "void")
    arguments = property(lambda self: ", ".join(self.names))

    def field(self, attribute, *parameter_names):
        """The C expression of a field: the attribute, else the parameter called so, else None."""
        if attribute in self.attributes:
            return self.attributes[attribute]
        return next((name for name in parameter_names if name in self.names), None)

    def parameter_type(self, name):
        declaration = next(d for d, n in self.parameters if n == name)
        return declaration[:declaration.rindex(name)].strip()

    @property
    def starts(self):
        return "requests" not in self.attributes and self.names[-1:] == ["request"]

    def twin(self):
        """The nonblocking function beside this one."""
        attributes = {k: v for k, v in self.attributes.items() if k != "twin"}
        return Function(self.attributes["twin"], self.kind, attributes,
                        self.parameters + [("MPI_Request *request", "request")])


def split_parameters(text):
    if text == "void":
        return []
    parameters = []
    for declaration in (part.strip() for part in text.split(",")):
        name = re.search(r"(\w+)(\[\])?$", declaration)
        parameters.append((declaration, name.group(1)))
    return parameters


def read_table(path):
    functions = []
    with open(path, encoding="utf-8") as table:
        lines = [(number, line.rstrip()) for number, line in enumerate(table, 1)
                 if line.strip() and not line.startswith("#")]
    heads = iter(lines)
    for number, head in heads:
        words = re.split(r"  +", head)
        try:
            _, parameters = next(heads)
            name, kind, *rest = words
            attributes = dict(word.partition("=")[::2] for word in rest)
            assert re.fullmatch(r"MPI_[A-Z]\w*", name), "not a function's name"
            assert kind in KINDS, f"unknown kind {kind}"
            assert attributes.keys() <= ATTRIBUTES, f"unknown attribute in {rest}"
            assert parameters.startswith("    "), "parameters are indented"
            function = Function(name, kind, attributes, split_parameters(parameters.strip()))
        except (AssertionError, ValueError, StopIteration) as problem:
            sys.exit(f"{path}:{number}: {problem}")
        functions.append(function)
        if "twin" in attributes:
            functions.append(function.twin())
    return functions


def banner():
    print("/* Generated from preload/mpi_functions.def by preload/generate.py. */")


def names(functions):
    """For each function F the number FUNCTION_F, and a list to expand: X(name, operation, kind)."""
    banner()
    print("#ifndef SCOPE_MPI_NAMES_H\n#define SCOPE_MPI_NAMES_H\nenum mpi_function {")
    for function in functions:
        print(f"    FUNCTION_{function.name},")
    print("    FUNCTION_COUNT\n};")
    print("#define MPI_FUNCTIONS(X) \\")
    for function in functions:
        print(f'    X({function.name}, "{function.operation}", {function.kind_constant}) \\')
    print("\n#endif")


def signature(function):
    """The fields of the call, as C initialisers."""
    fields = [f".operation = OPERATION(FUNCTION_{function.name})"]
    comm = function.field("comm", "comm")
    if function.attributes.keys() & {"frees"}:
        comm = "comm ? *comm : COMM_NULL"
    peer = function.field("peer", "dest", "source")
    root = function.field("root", "root")
    values = {
        "bytes": function.field("bytes") or "-1",
        "peer": f"PEER({peer})" if peer else "PEER_NONE",
        "root": f"PEER({root})" if root else "PEER_NONE",
        "tag": function.field("tag", "tag") or "-1",
        "communicator": f"COMMUNICATOR({comm})" if comm else "-1",
    }
    return fields + [f".{name} = {value}" for name, value in values.items()]


def body(function):
    """The statements of a wrapper between entering and returning."""
    attributes = function.attributes
    out = []
    before, after = [], []
    call = f"result = next({function.arguments});"
    if "resolves" in attributes:
        before.append("MPI_Status own_status;")
        before.append("if (status == STATUS_IGNORE)\n    status = &own_status;")
        after.append(f"if (result == MPI_SUCCESS && ({attributes['resolves']}))\n"
                     "    call_resolve(&call, status);")
    if "requests" in attributes:
        count, array = attributes["requests"].split(",")
        done, _, indices = attributes["finished"].partition(",")
        before.append(f"struct completion completion;\n"
                      f"completion_begin(&completion, &signature, {count}, {array});")
        after.append(f"completion_end(&completion, &call, &signature, "
                     f"result == MPI_SUCCESS ? {done} : -1, {indices or 'NULL'});")
    elif "flag" in attributes:
        after.append(f"if (result == MPI_SUCCESS && !*{attributes['flag']})\n"
                     "    call_relabel_poll(&call, &signature);")
    if "frees" in attributes:
        before.append("uint64_t freed = HANDLE(comm ? *comm : COMM_NULL);")
        after.append("if (result == MPI_SUCCESS)\n    communicator_forget(freed);")
    if "creates" in attributes:
        after.append(f"communicator_made(&call, result, comm, {attributes['creates']}, false);")
    if "clones" in attributes:
        after.append(f"communicator_made(&call, result, comm, {attributes['clones']}, true);")
    if function.starts:
        after.append("if (result == MPI_SUCCESS)\n"
                     "    call_started(&signature, request);")
    out.append("struct trace_signature signature = {")
    out += [f"    {field}," for field in signature(function)]
    out.append("};")
    out += before
    out.append("call_begin(&call, &signature);")
    out.append(call)
    if after:
        out += ["call_stop(&call);", *after, "call_record(&call);"]
    else:
        out.append("call_end(&call);")
    return "\n".join(out)


def indent(text, by=4):
    return "\n".join(" " * by + line if line else line for line in text.split("\n"))


def wrapper(function):
    name = function.name
    parameters = function.declarations
    passed = function.arguments + ", " if function.names else ""
    declared = parameters + ", " if function.names else ""
    pointer = f"int (*next)({parameters})"
    if "special" in function.attributes:
        inner = f"    return special_{name}({passed}next, caller, pmpi);\n"
    else:
        inner = (f"    struct call call;\n"
                 f"    int result;\n"
                 f"    if (!call_enter(&call, caller, pmpi))\n"
                 f"        return next({function.arguments});\n"
                 f"{indent(body(function))}\n"
                 f"    return result;\n")
    text = (f"static inline __attribute__((always_inline)) int record_{name}({declared}{pointer},\n"
            f"    const void *caller, bool pmpi)\n{{\n{inner}}}\n")
    for prefix, entry, pmpi in (("", "ENTRY_MPI", "false"), ("P", "ENTRY_PMPI", "true")):
        text += (f"static int wrap_{prefix}{name}({parameters})\n{{\n"
                 f"    {pointer} = (int (*)({parameters}))dispatch_next({entry}(FUNCTION_{name}));\n"
                 f"    return record_{name}({passed}next, __builtin_return_address(0), {pmpi});\n"
                 f"}}\n")
    return text


def wrappers(functions):
    """All wrappers of a family; wrappers.h defines what they use."""
    banner()
    for function in functions:
        print(wrapper(function))
    print("static void *const wrapper_table[ENTRY_COUNT] = {")
    for function in functions:
        print(f"    [ENTRY_MPI(FUNCTION_{function.name})] = (void *)wrap_{function.name},")
        print(f"    [ENTRY_PMPI(FUNCTION_{function.name})] = (void *)wrap_P{function.name},")
    print("};")


def trampolines(functions):
    """TRAMPOLINE for each exported name, in the order of the entries."""
    banner()
    for number, function in enumerate(functions):
        print(f"TRAMPOLINE {function.name} {2 * number}")
        print(f"TRAMPOLINE P{function.name} {2 * number + 1}")


def check(functions):
    """CHECK(name, type) for each function, to be compared with an mpi.h."""
    banner()
    for function in functions:
        print(f"CHECK({function.name}, int({function.declarations}))")


def main():
    makers = {maker.__name__: maker for maker in (names, wrappers, trampolines, check)}
    if len(sys.argv) != 3 or sys.argv[1] not in makers:
        sys.exit(__doc__)
    makers[sys.argv[1]](read_table(sys.argv[2]))


if __name__ == "__main__":
    main()
