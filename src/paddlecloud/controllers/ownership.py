"""Whose child an object is: an owner reference, or two annotations where Kubernetes allows none.

An owner reference may not leave its namespace. A child outside it (a volume of a namespaced object)
carries its owner in annotations: the garbage collector ignores them, so such a child goes only when a
decision says so.
"""

from __future__ import annotations

from ..api.meta import Key, OwnerReference, Resource

OWNER = "paddlepaddle.org/owner"
OWNER_UID = "paddlepaddle.org/owner-uid"


def placed(child: Resource, owner: Resource) -> Resource:
    """The child with the namespace of its owner, where it says none itself."""
    if child.namespace or not child.namespaced:
        return child
    return child.but(metadata=child.metadata.but(namespace=owner.namespace))


def adopted(child: Resource, owner: Resource) -> Resource:
    """The child as it is created: known as controlled by *owner*."""
    metadata = child.metadata
    if owner.namespace and owner.namespace != child.namespace:
        marks = {OWNER: full_name(owner), OWNER_UID: owner.uid}
        return child.but(metadata=metadata.but(annotations={**metadata.annotations, **marks}))
    reference = OwnerReference(
        api_version=owner.api_version,
        kind=owner.kind,
        name=owner.name,
        uid=owner.uid,
        controller=True,
        block_owner_deletion=True,
    )
    others = [o for o in metadata.owner_references if not o.controller]
    return child.but(metadata=metadata.but(owner_references=[*others, reference]))


def owner_uid(child: Resource) -> str:
    """The uid of the object that controls *child*, or an empty text."""
    return child.controlled_by() or child.metadata.annotations.get(OWNER_UID, "")


def owner_key(child: Resource, kind: type[Resource]) -> Key | None:
    """The key of the object of *kind* that controls *child*, if one does."""
    for reference in child.metadata.owner_references:
        if reference.controller:
            group = reference.api_version.rpartition("/")[0]
            if (group, reference.kind) != (kind.group(), kind.kind):
                return None
            return Key(child.namespace if kind.namespaced else "", reference.name)
    mark = child.metadata.annotations.get(OWNER, "")
    group, _, rest = mark.partition("|")
    parts = rest.split("/")
    if len(parts) != 3 or (group, parts[0]) != (kind.group(), kind.kind):
        return None
    return Key(parts[1], parts[2])


def full_name(owner: Resource) -> str:
    return f"{owner.group()}|{owner.kind}/{owner.namespace}/{owner.name}"


def left_behind(child: Resource, owner: Resource) -> bool:
    """Whether *child* belongs to a predecessor of *owner* with the same name and is about to go."""
    return child.metadata.deletion_timestamp is not None or (
        owner_uid(child) != owner.uid and owner_key(child, type(owner)) == owner.key
    )
