"""What an expression costs at most, estimated from its tree and from the sizes a schema allows; pure.

The estimate is Kubernetes' own, so that a rule is too expensive here when it is too expensive there.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .prices import LARGEST, TRAVERSAL, Estimate, bounded, price, scaled, searched
from .sizes import Size
from .syntax import Call, Const, Entries, Items, Loop, Name, Node, Select, Tree, Type

LIST, MAP = 10, 30
SCALARS = ("bool", "double", "duration", "int", "timestamp", "uint")
COMPARED = ("less", "less_equals", "greater", "greater_equals")
BY_CONTENT = {f"{c}_{t}" for c in COMPARED for t in ("string", "bytes")} | {"equals", "not_equals"}


@dataclass(frozen=True)
class Seen:
    """What is known of a variable: where its value comes from, or how large it and its parts are."""

    path: tuple[str, ...] = ()
    size: int | None = None
    parts: int | None = None


@dataclass
class Estimator:
    tree: Tree
    root: Size
    paths: dict[int, tuple[str, ...]] = field(default_factory=dict)
    sizes: dict[int, int] = field(default_factory=dict)
    parts: dict[int, int] = field(default_factory=dict)
    names: dict[str, Seen] = field(default_factory=dict)

    def cost(self, node: Node) -> int:
        match node:
            case Const():
                return 0
            case Name():
                self.paths[node.id] = self.names[node.name].path if node.name in self.names else (node.name,)
                return 1
            case Select():
                return self.selected(node)
            case Items():
                spent = sum(self.cost(item) for item in node.items)
                self.parts[node.id] = max((self.size(item) for item in node.items), default=0)
                return bounded(spent + LIST)
            case Entries():
                spent = sum(self.cost(e.key) + self.cost(e.value) for e in node.entries)
                self.parts[node.id] = max((self.size(e.value) for e in node.entries), default=0)
                return bounded(spent + MAP)
            case Loop():
                return self.looped(node)
            case _:
                return self.called(node)

    def selected(self, node: Select) -> int:
        spent = self.cost(node.operand)
        if node.test:
            return spent
        self.paths[node.id] = (*self.path(node.operand), node.field)
        return spent + (self.tree.type_of(node.operand).kind in ("map", "object", "parameter"))

    def looped(self, node: Loop) -> int:
        spent = self.cost(node.over) + self.cost(node.start)
        before = dict(self.names)
        self.names[node.kept] = Seen(self.path(node.start), self.known(node.start), self.inside(node.start))
        listed = self.tree.type_of(node.over).kind == "list" or isinstance(node.over, Items)
        path, parts = self.path(node.over), self.inside(node.over)
        value = Seen((*path, "@items" if listed else "@values"), parts)
        if node.second:
            self.names[node.item] = Seen((*path, "@indices" if listed else "@keys"), 1 if listed else None)
            self.names[node.second] = value
        else:
            self.names[node.item] = value if listed else Seen((*path, "@keys"))
        each = self.cost(node.condition) + self.cost(node.step)
        kept = self.names[node.kept]
        self.names = {**before, node.kept: kept}
        spent += self.cost(node.result)
        self.names = before
        count = self.size(node.over)
        if isinstance(node.start, Const):
            self.sizes[node.id] = self.size(node.start)
        elif isinstance(node.start, Items | Entries):
            self.sizes[node.id] = count
            if (made := self.inside(node.step)) is not None:
                self.parts[node.id] = made
        return bounded(spent + count * each)

    def called(self, node: Call) -> int:
        if node.function == "dyn":
            spent = 1 + self.cost(node.args[0])
            self.copy(node, node.args[0])
            return spent
        costs = [self.cost(arg) for arg in node.args]
        spent = self.cost(node.target) if node.target is not None else 0
        overloads = self.tree.overloads.get(node.id, ())
        made = [self.call(node, overload, costs) for overload in overloads]
        known = [e.size for e in made if e.size is not None]
        result: int | None = max(known) if known else None
        for overload, step in (("index_list", "@items"), ("index_map", "@values")):
            if overload in overloads:
                self.paths[node.id] = (*self.path(node.args[0]), step)
                result = self.inside(node.args[0])
        if result is None:
            result = self.known(node)
        if result is not None:
            self.sizes[node.id] = result
        return bounded(spent + max((e.cost for e in made), default=0))

    def call(self, node: Call, overload: str, costs: list[int]) -> Estimate:
        spent = sum(costs)
        if (own := price(node, self)) is not None:
            return Estimate(bounded(own.cost + spent), own.size)
        sizes = [self.size(arg) for arg in node.args]
        if overload in ("logical_or", "logical_and"):
            return Estimate(spent)
        if overload == "conditional":
            self.join(node, *node.args[1:])
            return Estimate(costs[0] + max(costs[1:]), max(sizes[1:]))
        if overload in ("add_string", "add_bytes", "add_list"):
            self.join(node, *node.args)
            both = bounded(sum(sizes))
            return Estimate(spent + (1 if overload == "add_list" else scaled(both, TRAVERSAL)), both)
        if overload in BY_CONTENT:
            return Estimate(bounded(spent + scaled(min(sizes), TRAVERSAL)))
        if overload == "in_list":
            return Estimate(bounded(spent + sizes[1]))
        if node.target is None and node.function not in ("matches", "bytes", "string", "strings.quote"):
            return Estimate(spent + 1)
        return self.of_text(node, overload, spent)

    def of_text(self, node: Call, overload: str, spent: int) -> Estimate:
        first = self.size(node.operands[0])
        second = self.size(node.operands[1]) if len(node.operands) > 1 else 0
        match overload:
            case "format_0":
                return Estimate(bounded(spent + scaled(first, TRAVERSAL)))
            case "string_to_bytes":
                return Estimate(bounded(spent + scaled(first, TRAVERSAL)), bounded(first * 4))
            case "bytes_to_string":
                return Estimate(bounded(spent + scaled(first, TRAVERSAL)), first)
            case "strings.quote_0":
                return Estimate(bounded(spent + scaled(first, TRAVERSAL)), bounded(first * 2 + 2))
            case "starts_with_string" | "ends_with_string":
                return Estimate(bounded(spent + scaled(second, TRAVERSAL)))
            case "matches" | "matches_string":
                return Estimate(bounded(spent + searched(first, second)))
            case "contains_string":
                return Estimate(bounded(spent + scaled(first, TRAVERSAL) * scaled(second, TRAVERSAL)))
        return Estimate(spent + 1)

    def item_size(self, node: Node) -> int:
        found = self.root.at((*self.path(node)[1:], "@items")) if self.path(node) else None
        return found.most if found else LARGEST

    def size(self, node: Node) -> int:
        known = self.known(node)
        return LARGEST if known is None else known

    def known(self, node: Node) -> int | None:
        if node.id in self.sizes:
            return self.sizes[node.id]
        match node:
            case Const(value=value):
                return len(value) if isinstance(value, str | bytes) else 1
            case Items(items=parts) | Entries(entries=parts):
                return len(parts)
        path = self.path(node)
        if path and (found := self.root.at(path[1:])) is not None:
            self.sizes[node.id] = found.most
            return found.most
        if scalar(self.tree.type_of(node)):
            return 1
        seen = self.names.get(node.name) if isinstance(node, Name) else None
        return seen.size if seen else None

    def inside(self, node: Node) -> int | None:
        """The size of one part of a list or map that an expression makes."""
        if node.id in self.parts:
            return self.parts[node.id]
        seen = self.names.get(node.name) if isinstance(node, Name) else None
        return seen.parts if seen else None

    def path(self, node: Node) -> tuple[str, ...]:
        if isinstance(node, Name) and node.name in self.names:
            return self.names[node.name].path
        return self.paths.get(node.id, ())

    def copy(self, node: Node, source: Node) -> None:
        if (size := self.known(source)) is not None:
            self.sizes[node.id] = size
        self.join(node, source)

    def join(self, node: Node, *sources: Node) -> None:
        found = [part for part in map(self.inside, sources) if part is not None]
        if len(found) == len(sources):
            self.parts[node.id] = max(found)


def cost_of(tree: Tree, root: Size) -> int:
    try:
        return Estimator(tree, root).cost(tree.root)
    except RecursionError:
        return LARGEST


def scalar(kind: Type) -> bool:
    return kind.kind in SCALARS or (kind.kind == "optional_type" and scalar(kind.params[0]))
