#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes C and assembly from mpi_functions.def: generate.py MAKER TABLE

MAKER is names, wrappers, trampolines or check, or list: one line per function or excluded pattern.
"""
import re
import sys

ATTRIBUTES = {
    "bytes", "peer", "tag", "comm", "root", "local", "creates", "clones", "joins", "parent", "frees",
    "names", "requests", "finished", "flag", "resolves", "invalidates", "special", "variadic", "twin",
    "init", "large",
}
DERIVING = {"twin", "init", "large"}
# Which other attributes' work is needed for the labels of later calls, recorded or not.
HOOKS = {"creates", "clones", "joins", "parent", "frees", "names", "requests", "invalidates", "special"}
KINDS = {
    "point-to-point", "collective", "wait", "poll", "one-sided", "io", "communicator", "topology",
    "other",
}


MEMO_WORDS = 6  # as in memo.h
FREQUENT_KINDS = {"point-to-point", "collective", "one-sided"}
FIELD_PARAMETERS = {"peer": ("dest", "source", "target_rank"), "tag": ("tag",), "comm": ("comm",), "root": ("root",)}


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

    @property
    def polls(self):
        """It comes back at once where there is nothing."""
        return "flag" in self.attributes or "requests" in self.attributes and bool(
            re.match("MPI_(Test|Request_get_status|Parrived)", self.name))

    @property
    def hooked(self):
        return self.starts or bool(HOOKS & self.attributes.keys())

    def derived(self):
        """The functions that the table does not write down."""
        twins = []
        request = ("MPI_Request *request", "request")
        parameters = [p for p in self.parameters if p[0] != "MPI_Status *status"]
        if "twin" in self.attributes:
            twins.append(self.like(self.attributes["twin"], parameters + [request]))
        if "init" in self.attributes:
            info = [("MPI_Info info", "info")] if self.kind == "collective" else []
            twins.append(self.like(f"{self.name}_init", parameters + info + [request]))
        if "large" in self.attributes:
            chosen = self.attributes["large"]
            twins += [function.like(f"{function.name}_c",
                                    [large(*p, chosen) for p in function.parameters])
                      for function in [self, *twins]]
        return twins

    def like(self, name, parameters):
        dropped = DERIVING
        if parameters[-1:] == [("MPI_Request *request", "request")]:
            dropped = DERIVING | {"resolves"}
        attributes = {k: v for k, v in self.attributes.items() if k not in dropped}
        return Function(name, self.kind, attributes, parameters)


def large(declaration, name, chosen):
    """A parameter as the function's large-count form has it. chosen: the value of the attribute."""
    if chosen:
        if name in chosen.split(","):
            declaration = re.sub(r"\b(int|MPI_Aint)\b", "MPI_Count", declaration, count=1)
    elif re.fullmatch(r"\w*count|\w*counts|size", name):
        declaration = re.sub(r"\bint\b", "MPI_Count", declaration)
    elif re.fullmatch(r"[sr]?displs|disp_unit", name):
        declaration = re.sub(r"\bint\b", "MPI_Aint", declaration)
    return declaration, name


def split_parameters(text):
    if text == "void":
        return []
    parameters = []
    for declaration in (part.strip() for part in text.split(",")):
        name = re.search(r"(\w+)(\[3?\])*$", declaration)
        parameters.append((declaration, name.group(1) if declaration != "..." else "..."))
    return parameters


def read_table(path):
    """The functions, derived ones too, and the excluded [(pattern, reason)]."""
    functions, excluded = [], []
    with open(path, encoding="utf-8") as table:
        lines = [(number, line.rstrip()) for number, line in enumerate(table, 1)
                 if line.strip() and not line.startswith("#")]
    heads = iter(lines)
    for number, head in heads:
        words = re.split(r"  +", head)
        try:
            name, kind, *rest = words
            assert re.fullmatch(r"MPIX?_[\w*]+", name), "not a function's name"
            if kind == "excluded":
                assert len(rest) == 1, "an exclusion has one reason"
                excluded.append((name, rest[0]))
                continue
            _, parameters = next(heads)
            attributes = dict(word.partition("=")[::2] for word in rest)
            assert kind in KINDS, f"unknown kind {kind}"
            assert attributes.keys() <= ATTRIBUTES, f"unknown attribute in {rest}"
            assert parameters.startswith("    "), "parameters are indented"
            function = Function(name, kind, attributes, split_parameters(parameters.strip()))
        except (AssertionError, ValueError, StopIteration) as problem:
            sys.exit(f"{path}:{number}: {problem}")
        functions += [function, *function.derived()]
    return functions, excluded


def banner():
    print("/* Generated from preload/mpi_functions.def by preload/generate.py. */")


def names(functions):
    """For each function F the number FUNCTION_F, and lists to expand: X(name, operation, kind), and
    X(name, local) and X(name, polls) with 1 or 0."""
    banner()
    print("#ifndef SCOPE_MPI_NAMES_H\n#define SCOPE_MPI_NAMES_H\nenum mpi_function {")
    for function in functions:
        print(f"    FUNCTION_{function.name},")
    print("    FUNCTION_COUNT\n};")
    print("#define MPI_FUNCTIONS(X) \\")
    for function in functions:
        print(f'    X({function.name}, "{function.operation}", {function.kind_constant}) \\')
    print("\n#define MPI_FUNCTIONS_LOCAL(X) \\")
    for function in functions:
        print(f"    X({function.name}, {int('local' in function.attributes)}) \\")
    print("\n#define MPI_FUNCTIONS_POLLS(X) \\")
    for function in functions:
        print(f"    X({function.name}, {int(function.polls)}) \\")
    print("\n#endif")


def signature(function):
    """The fields of the call, as C initialisers."""
    initialisers = [f".operation = OPERATION(FUNCTION_{function.name})"]
    fields = {name: function.field(name, *FIELD_PARAMETERS.get(name, ()))
              for name in ("bytes", "peer", "tag", "comm", "root")}
    comm, peer, root = fields["comm"], fields["peer"], fields["root"]
    if function.attributes.keys() & {"frees"}:
        comm = "comm ? *comm : COMM_NULL"
    values = {
        "bytes": fields["bytes"] or "-1",
        "peer": f"PEER({peer})" if peer else "PEER_NONE",
        "root": f"PEER({root})" if root else "PEER_NONE",
        "tag": f"TAG({fields['tag']})" if fields["tag"] else "-1",
        "communicator": f"COMMUNICATOR({comm})" if comm else "-1",
    }
    return initialisers + [f".{name} = {value}" for name, value in values.items()]


def memo_words(function):
    """What tells a call's signature, as words of a memo; None if more than plain arguments does."""
    attributes = function.attributes
    if attributes.keys() & ({"special", "flag", "local"} | HOOKS):
        return None
    if function.kind not in FREQUENT_KINDS or function.name.endswith("_c"):
        return None  # seldom called in a loop: not worth the compiler's time
    text = " ".join(expression for field in ("bytes", "peer", "tag", "comm", "root")
                    if (expression := function.field(field, *FIELD_PARAMETERS.get(field, ()))))
    if re.search(r"SUM|OWN|NEIGHBORS|\*", text) or attributes.get("resolves") == "true":
        return None
    ints, handles = [], []
    for name in function.names:
        if not re.search(rf"\b{name}\b", text):
            continue
        kind = function.parameter_type(name)
        if f"IN_PLACE({name})" in text:
            ints.append(f"IN_PLACE({name})")
        elif kind == "int":
            ints.append(name)
        elif kind == "MPI_Count":
            handles.append(f"(uint64_t){name}")
        else:
            handles.append(f"HANDLE({name})")
    ints += ["0"] * (len(ints) % 2)
    pairs = [f"memo_pair({first}, {second})" for first, second in zip(ints[::2], ints[1::2])]
    words = [f"memo_function(FUNCTION_{function.name})", *pairs, *handles]
    return words if len(words) <= MEMO_WORDS else None


def hooks(function):
    """What a call means for the labels of later ones: statements before and after it."""
    attributes = function.attributes
    before, after = [], []
    if "frees" in attributes:
        before.append("uint64_t freed = HANDLE(comm ? *comm : COMM_NULL);")
        after.append("if (result == MPI_SUCCESS)\n    communicator_forget(freed);")
    if "creates" in attributes:
        after.append(f"communicator_made(&call, result, comm, {attributes['creates']}, false);")
    if "clones" in attributes:
        after.append(f"communicator_made(&call, result, comm, {attributes['clones']}, true);")
    if "joins" in attributes:
        tag = next((name for name in ("tag", "stringtag") if name in function.names), None)
        tag = f"TAG_HASH({tag})" if tag else "0"
        after.append(f"communicator_joined(&call, result, {attributes['joins']}, {tag});")
    if "parent" in attributes:
        after.append(f"communicator_parent(&call, result, {attributes['parent']});")
    if "names" in attributes:
        after.append(f"communicator_named(&call, result, comm, {attributes['names']});")
    if "invalidates" in attributes:
        after.append("memo_invalidate();")
    return before, after


def completion(function, ending):
    """Before and after a call that completes requests. ending: the call that takes them out, up to
    how many finished."""
    count, array = function.attributes["requests"].split(",")
    done, _, indices = function.attributes["finished"].partition(",")
    return (f"struct completion completion;\n"
            f"completion_begin(&completion, &signature, {count}, {array});",
            f"{ending}, result == MPI_SUCCESS ? {done} : -1, {indices or 'NULL'});")


def body(function, words):
    """The statements of a wrapper between entering and returning."""
    attributes = function.attributes
    before, after = [], []
    call = f"result = next({function.arguments});"
    if "resolves" in attributes:
        before.append("MPI_Status own_status;")
        before.append("if (status == STATUS_IGNORE)\n    status = &own_status;")
        after.append(f"if (result == MPI_SUCCESS && ({attributes['resolves']}))\n"
                     "    call_resolve(&call, status);")
    if "requests" in attributes:
        begin, end = completion(function, "completion_end(&completion, &call, &signature")
        before.append(begin)
        after.append(end)
    elif "flag" in attributes:
        after.append(f"if (result == MPI_SUCCESS && !*{attributes['flag']})\n"
                     "    call_relabel_poll(&call, &signature);")
    before_hooks, after_hooks = hooks(function)
    before += before_hooks
    after += after_hooks
    origin = "0"
    if function.starts:
        before.append("uint32_t origin = origin_of(&signature);")
        after.append("call_started(result, request, origin);")
        origin = "origin"
    out = ["struct trace_signature signature = {"]
    out += [f"    {field}," for field in signature(function)]
    if words:
        after.append(f"call_remember(&call, word, {len(words)}, {origin});")
    out += ["};", *before, "call_begin(&call, &signature);", call, "call_stop(&call);", *after,
            "call_record(&call);"]
    return "\n".join(out)


def indent(text, by=4):
    return "\n".join(" " * by + line if line else line for line in text.split("\n"))


def word_array(words):
    return "const uint64_t word[] = {" + ", ".join(words) + "};\n"


def long_way(function, words):
    """The wrapper of any call: looks at the arguments, defines what is new."""
    if "special" in function.attributes:
        passed = function.arguments + ", " if function.names else ""
        return f"return special_{function.name}({passed}next, caller, pmpi);"
    return ((word_array(words) if words else "") +
            f"struct call call;\n"
            f"int result;\n"
            f"if (!call_enter(&call, caller, pmpi))\n"
            f"    return next({function.arguments});\n"
            f"{body(function, words)}\n"
            f"return result;")


def short_way(function, words, pmpi):
    """The wrapper of a call that its thread has made before; hands others on to the long way."""
    condition = "!memo"
    if "resolves" in function.attributes:
        condition += f" || ({function.attributes['resolves']})"
    started = "call_started(result, request, origin);\n" if function.starts else ""
    return (word_array(words) +
            f"char frame;\n"
            f"const struct memo *memo = recorder_repeat(&frame, word, {len(words)});\n"
            f"if (__builtin_expect({condition}, 0))\n"
            f"    {long_call(function, pmpi)}\n" +
            ("uint32_t origin = memo->origin;\n" if function.starts else "") +
            f"uint64_t start = call_repeat(&frame, memo);\n"
            f"int result = next({function.arguments});\n"
            f"call_repeated(start);\n"
            f"{started}"
            f"return result;")


def long_call(function, pmpi):
    passed = function.arguments + ", " if function.names else ""
    return f"return long_{function.name}({passed}next, __builtin_return_address(0), {pmpi});"


def wrapper(function):
    """Both wrappers of a function, under its MPI_ and its PMPI_ name. The long way is one function for
    both, and cold where there is a short one: the compiler then spends its time on what is hot."""
    name, parameters = function.name, function.declarations
    declared = parameters + ", " if function.names else ""
    pointer = f"int (*next)({parameters})"
    words = memo_words(function)
    cold = "__attribute__((noinline, cold))" if words else "__attribute__((noinline))"
    text = (f"static {cold} int\n"
            f"long_{name}({declared}{pointer}, const void *caller, bool pmpi)\n"
            f"{{\n{indent(long_way(function, words))}\n}}\n")
    for prefix, entry, pmpi in (("", "ENTRY_MPI", "false"), ("P", "ENTRY_PMPI", "true")):
        way = short_way(function, words, pmpi) if words else long_call(function, pmpi)
        text += (f"static int wrap_{prefix}{name}({parameters})\n{{\n"
                 f"    {pointer} =\n"
                 f"        (int (*)({parameters}))dispatch_next({entry}(FUNCTION_{name}));\n"
                 f"{indent(way)}\n}}\n")
    return text


def quiet(function):
    """Both wrappers of a function that is not recorded: what later labels need, and that the calls
    which the library makes inside are its own."""
    name, parameters, attributes = function.name, function.declarations, function.attributes
    passed = function.arguments + ", " if function.names else ""
    declared = parameters + ", " if function.names else ""
    pointer = f"int (*next)({parameters})"
    before, after = hooks(function)
    if "requests" in attributes:
        begin, end = completion(function, "completion_forget(&completion, &signature")
        before.append(begin)
        after.append(end)
    if function.starts:
        after.append("call_started(result, request, origin_of(&signature));")
    if function.starts or "requests" in attributes:
        fields = ", ".join(signature(function))
        before.insert(0, f"struct trace_signature signature = {{{fields}}};")
    lines = "\n".join([*before, f"int result = next({function.arguments});", *after,
                       "call_leave(&call);", "return result;"])
    text = (f"static int silent_{name}({declared}{pointer}, const void *caller, bool pmpi)\n"
            f"{{\n    struct call call;\n"
            f"    if (!call_enter(&call, caller, pmpi))\n"
            f"        return next({function.arguments});\n{indent(lines)}\n}}\n")
    for prefix, entry, pmpi in (("", "ENTRY_MPI", "false"), ("P", "ENTRY_PMPI", "true")):
        text += (f"static int quiet_{prefix}{name}({parameters})\n{{\n    {pointer} =\n"
                 f"        (int (*)({parameters}))dispatch_next({entry}(FUNCTION_{name}));\n"
                 f"    return silent_{name}({passed}next, __builtin_return_address(0), {pmpi});\n"
                 f"}}\n")
    return text


def wrapper_entries(table, functions, prefix):
    print(f"static void *const {table}[ENTRY_COUNT] = {{")
    for function in functions:
        kept = "wrap" if always_recorded(function) else prefix
        print(f"    [ENTRY_MPI(FUNCTION_{function.name})] = (void *){kept}_{function.name},")
        print(f"    [ENTRY_PMPI(FUNCTION_{function.name})] = (void *){kept}_P{function.name},")
    print("};")


def always_recorded(function):
    """They begin and end the recording."""
    return "special" in function.attributes and "requests" not in function.attributes


def wrappers(functions):
    """All wrappers of a family; wrappers.h defines what they use."""
    banner()
    functions = [f for f in functions if "variadic" not in f.attributes]
    quiet_ones = [f for f in functions if "local" not in f.attributes or f.hooked]
    for function in functions:
        print(wrapper(function))
    for function in quiet_ones:
        if not always_recorded(function):
            print(quiet(function))
    wrapper_entries("wrapper_table", functions, "wrap")
    wrapper_entries("quiet_table", quiet_ones, "quiet")


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
    if len(sys.argv) != 3 or sys.argv[1] not in {*makers, "list"}:
        sys.exit(__doc__)
    functions, excluded = read_table(sys.argv[2])
    if sys.argv[1] != "list":
        makers[sys.argv[1]](functions)
        return
    for function in functions:
        print(f"{function.name} {function.declarations}")
    for pattern, reason in excluded:
        print(f"{pattern} excluded: {reason}")


if __name__ == "__main__":
    main()
