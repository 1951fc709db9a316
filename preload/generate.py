#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes C and assembly from mpi_functions.def: generate.py MAKER TABLE

MAKER is names, wrappers, trampolines or check, or list: one line per function or excluded pattern.
"""
import re
import sys

ATTRIBUTES = {
    "bytes", "peer", "tag", "comm", "root", "local", "creates", "clones", "joins", "parent", "frees",
    "owns", "disowns", "names", "requests", "finished", "flag", "resolves", "invalidates", "helps",
    "special", "variadic", "twin", "init", "large",
}
DERIVING = {"twin", "init", "large"}
# Which other attributes' work is needed for the labels of later calls, recorded or not.
HOOKS = {"creates", "clones", "joins", "parent", "frees", "owns", "disowns", "names", "requests",
         "invalidates", "special"}
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

    @property
    def owned(self):
        """The parameter that was made on a communicator: a window or a file."""
        return next((name for name in ("win", "fh") if name in self.names), None)

    def handle(self, name):
        """A window or file, or a pointer to one, as a number."""
        value = f"*{name}" if "*" in self.parameter_type(name) else name
        return f"FILE_HANDLE({value})" if name == "fh" else f"HANDLE({value})"

    def parameter_type(self, name):
        declaration = next(d for d, n in self.parameters if n == name)
        return declaration[:declaration.rindex(name)].strip()

    @property
    def starts(self):
        return "requests" not in self.attributes and self.names[-1:] == ["request"]

    @property
    def exchanges(self):
        """Of what sends and receives at once: whence, if the tag is that of the other direction."""
        if {"source", "sendtag", "recvtag"} <= set(self.names):
            return "SOURCE(source, sendtag, recvtag)"
        return None

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
        attributes = {k: v for k, v in self.attributes.items() if k not in DERIVING}
        return Function(name, self.kind, attributes, parameters)

    @property
    def resolution(self):
        """When a request that the function starts is a receive of which its status tells more."""
        if not self.starts or "resolves" not in self.attributes:
            return "RESOLVE_NEVER"
        # Of a sendrecv the source is in no field of the signature.
        known = "source" in self.names and "dest" not in self.names
        return "RESOLVE_WILDCARD" if known else "RESOLVE_ALWAYS"

    @property
    def statuses(self):
        """The parameter in which a completing call tells of what it finished, or None: a call that
        only looks leaves it to the one that completes."""
        if "requests" not in self.attributes or "Request_get_status" in self.name:
            return None
        return next((n for n in ("status", "array_of_statuses") if n in self.names), None)


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
    """For each function F the number FUNCTION_F, and lists to expand: X(name, operation, kind),
    X(name, local) and X(name, polls) with 1 or 0, and X(name, resolution of its request)."""
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
    print("\nenum { RESOLVE_NEVER, RESOLVE_WILDCARD, RESOLVE_ALWAYS };")
    print("#define MPI_FUNCTIONS_RESOLVE(X) \\")
    for function in functions:
        print(f"    X({function.name}, {function.resolution}) \\")
    print("\n#endif")


def signature(function):
    """The fields of the call, as C initialisers."""
    initialisers = [f".operation = OPERATION(FUNCTION_{function.name})"]
    fields = {name: function.field(name, *FIELD_PARAMETERS.get(name, ()))
              for name in ("bytes", "peer", "tag", "comm", "root")}
    comm, peer, root = fields["comm"], fields["peer"], fields["root"]
    communicator = f"COMMUNICATOR({comm})" if comm else "-1"
    if "frees" in function.attributes:
        communicator = "COMMUNICATOR(comm ? *comm : COMM_NULL)"
    elif not comm and function.owned:
        communicator = f"OWNER({function.handle(function.owned)})"
    values = {
        "bytes": fields["bytes"] or "-1",
        "peer": f"PEER({peer})" if peer else "PEER_NONE",
        "root": f"PEER({root})" if root else "PEER_NONE",
        "tag": f"TAG({fields['tag']})" if fields["tag"] else "-1",
        "communicator": communicator,
    }
    if function.exchanges:
        del values["root"]
        values["source"] = function.exchanges
    return initialisers + [f".{name} = {value}" for name, value in values.items()]


def memo_words(function):
    """What tells a call's signature, as words of a memo; None if more than plain arguments does."""
    attributes = function.attributes
    if attributes.keys() & ({"special", "local"} | HOOKS):
        return None
    if function.kind not in FREQUENT_KINDS or function.name.endswith("_c"):
        return None  # seldom called in a loop: not worth the compiler's time
    text = " ".join(expression for field in ("bytes", "peer", "tag", "comm", "root")
                    if (expression := function.field(field, *FIELD_PARAMETERS.get(field, ()))))
    text += " " + (function.owned or "") + " " + (function.exchanges or "")
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
    if "disowns" in attributes:
        before.append(f"uint64_t disowned = {function.handle(attributes['disowns'])};")
        after.append("if (result == MPI_SUCCESS)\n    communicator_forget(disowned);")
    if "owns" in attributes:
        after.append("if (result == MPI_SUCCESS)\n    communicator_owns(&call, comm, "
                     f"{function.handle(attributes['owns'])});")
    if "creates" in attributes:
        after.append(f"communicator_made(&call, result, comm, {attributes['creates']}, false);")
    if "clones" in attributes:
        after.append(f"communicator_made(&call, result, comm, {attributes['clones']}, true);")
    if "joins" in attributes:
        tag = next((name for name in ("tag", "stringtag") if name in function.names), None)
        tag = f"TAG_HASH({tag})" if tag else "0"
        parent = "comm" if "comm" in function.names else "COMM_NULL"
        after.append(f"communicator_joined(&call, result, {attributes['joins']}, {tag}, {parent});")
    if "parent" in attributes:
        after.append(f"communicator_parent(&call, result, {attributes['parent']});")
    if "names" in attributes:
        after.append(f"communicator_named(&call, result, comm, {attributes['names']});")
    if "invalidates" in attributes:
        after.append("memo_invalidate();")
    return before, after


def finished(function):
    """How many requests a call finished, and at which indices."""
    done, _, indices = function.attributes["finished"].partition(",")
    return f"result == MPI_SUCCESS ? {done} : -1, {indices or 'NULL'}"


def completion_begin(function):
    count, array = function.attributes["requests"].split(",")
    return ("struct completion completion;\n"
            f"completion_begin(&completion, &call, &signature, {count}, {array});")


def own_status(function):
    """Where a receive that is to be resolved tells what it got, though the program does not ask."""
    wildcard = function.attributes["resolves"].removeprefix("*flag && ")
    condition = "" if wildcard == "true" else f" && {wildcard}"
    return f"MPI_Status own_status;\nif (status == STATUS_IGNORE{condition})\n    status = &own_status;"


FAILED = "if (result != MPI_SUCCESS)\n    fail(call.thread, result);"


def begin_and_call(function):
    return ["call_begin(&call, &signature);", f"result = next({function.arguments});",
            "call_stop(&call);"]


def completing_body(function):
    """The statements of a call that completes requests."""
    before = [completion_begin(function)]
    if function.statuses:
        before.append(f"{function.statuses} = completion_statuses(&completion, {function.statuses});")
    polls = "true" if function.polls else "false"
    begin, *call = begin_and_call(function)
    return [*before, begin, "completion_show(&completion, &call);", *call,
            f"completion_end(&completion, &call, &signature, result, {finished(function)}, {polls});"]


def polling_body(function, words):
    """The statements of a call that may find nothing."""
    attributes = function.attributes
    before = [own_status(function)] if "resolves" in attributes else []
    remember = (f"    call_remember(&call, word, {len(words)}, found);\n" if words else "")
    found = "uint32_t found = call.signature;\n" if words else ""
    resolve = (f"else if ({attributes['resolves']})\n    resolve(call.thread, status, -1);"
               if "resolves" in attributes else "")
    return [*before, *begin_and_call(function),
            f"if (result == MPI_SUCCESS && !*{attributes['flag']}) {{\n"
            f"{indent(found)}    call_record_poll(&call, &signature);\n{remember}"
            f"    return result;\n}}",
            f"if (!recorder_wants(FUNCTION_{function.name})) {{\n"
            f"    call_drop(&call);\n    return result;\n}}",
            FAILED, resolve, "call_record(&call);"]


def plain_body(function, words):
    """The statements of any other call."""
    attributes = function.attributes
    before, after = [], [FAILED]
    if "resolves" in attributes and not function.starts:
        before.append(own_status(function))
        wildcard = attributes["resolves"]
        condition = "" if wildcard == "true" else f" if ({wildcard})"
        after.append(f"else{condition}\n    resolve(call.thread, status, -1);")
    before_hooks, after_hooks = hooks(function)
    before += before_hooks
    after += after_hooks
    origin = "0"
    if function.starts:
        before.append("uint32_t origin = origin_of(&signature);")
        after.append("call_started(result, request, origin);")
        origin = "origin"
    if words:
        after.append(f"call_remember(&call, word, {len(words)}, {origin});")
    return [*before, *begin_and_call(function), *after, "call_record(&call);"]


def body(function, words):
    """The statements of a wrapper between entering and returning."""
    out = ["struct trace_signature signature = {"]
    out += [f"    {field}," for field in signature(function)]
    out.append("};")
    if "requests" in function.attributes:
        out += completing_body(function)
    elif "flag" in function.attributes:
        out += polling_body(function, words)
    else:
        out += plain_body(function, words)
    return "\n".join(line for line in out if line)


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
            f"{helping(function)}"
            f"if (!call_enter(&call, caller, pmpi))\n"
            f"    return next({function.arguments});\n"
            f"{body(function, words)}\n"
            f"return result;")


def helping(function):
    """Passes on a call that the Fortran layer makes for itself."""
    if "helps" not in function.attributes:
        return ""
    name, passed = function.name, f"{function.arguments}, next, caller, pmpi"
    call = f"silent_{name}({passed})" if function.hooked else f"next({function.arguments})"
    return (f'if (objects_is_fortran_helper(caller, "{function.operation}"))\n    return {call};\n')


def short_way(function, words, pmpi):
    """The wrapper of a call that its thread has made before; hands others on to the long way."""
    return (word_array(words) +
            f"char frame;\n"
            f"const struct memo *memo = recorder_repeat(word, {len(words)});\n"
            f"if (__builtin_expect(!memo, 0))\n"
            f"    {long_call(function, pmpi)}\n" +
            (short_poll(function) if "flag" in function.attributes else short_call(function)))


def short_call(function):
    before, after, started = "", "", ""
    if function.starts:
        before = "uint32_t origin = memo->origin;\n"
        started = "call_started(result, request, origin);\n"
    elif "resolves" in function.attributes:
        before = own_status(function) + "\n"
        after = f"else if ({function.attributes['resolves']})\n    resolve_again(status);\n"
    return (f"{before}"
            f"uint64_t start = call_repeat(&frame, memo);\n"
            f"int result = next({function.arguments});\n"
            f"uint64_t end = clock_counter();\n"
            f"if (__builtin_expect(result != MPI_SUCCESS, 0))\n"
            f"    fail_again(result);\n"
            f"{after}"
            f"call_repeated(start, end);\n"
            f"{started}"
            f"return result;")


def short_poll(function):
    attributes = function.attributes
    before = own_status(function) + "\n" if "resolves" in attributes else ""
    resolve = (f"else if ({attributes['resolves']})\n    resolve(thread, status, -1);\n"
               if "resolves" in attributes else "")
    return (f"{before}"
            f"uint32_t nothing = memo->signature, found = memo->origin;\n"
            f"uint64_t start = call_repeat_poll(&frame, nothing);\n"
            f"int result = next({function.arguments});\n"
            f"uint64_t end = clock_counter();\n"
            f"struct recorder_thread *thread = call_repeated_poll(end);\n"
            f"if (!thread)\n    return result;\n"
            f"if (result == MPI_SUCCESS && !*{attributes['flag']}) {{\n"
            f"    recorder_poll(thread, nothing, NULL, start, end);\n"
            f"    return result;\n}}\n"
            f"if (!recorder_wants(FUNCTION_{function.name}))\n    return result;\n"
            f"if (result != MPI_SUCCESS)\n    fail(thread, result);\n"
            f"{resolve}"
            f"recorder_event(thread, found, start, end);\n"
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
        before.append(completion_begin(function))
        after.append(f"completion_forget(&completion, &call, &signature, {finished(function)});")
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


def wrapper_choice(choice, functions, prefix):
    """The function that tells the wrapper of an entry. No table of their addresses: the loader
    would have to fill it in, in every process there is."""
    print(f"static __attribute__((cold)) void *{choice}(unsigned entry)\n{{\n    switch (entry) {{")
    for function in functions:
        kept = "wrap" if always_recorded(function) else prefix
        for entry, p in (("ENTRY_MPI", ""), ("ENTRY_PMPI", "P")):
            print(f"    case {entry}(FUNCTION_{function.name}):\n"
                  f"        return (void *){kept}_{p}{function.name};")
    print("    }\n    return NULL;\n}")


def always_recorded(function):
    """They begin and end the recording."""
    return "special" in function.attributes and "requests" not in function.attributes


def wrappers(functions):
    """All wrappers of a family; wrappers.h defines what they use."""
    banner()
    functions = [f for f in functions if "variadic" not in f.attributes]
    quiet_ones = [f for f in functions if "local" not in f.attributes or f.hooked]
    for function in quiet_ones:
        if not always_recorded(function):
            print(quiet(function))
    for function in functions:
        print(wrapper(function))
    wrapper_choice("wrapper_of", functions, "wrap")
    wrapper_choice("quiet_of", quiet_ones, "quiet")


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
