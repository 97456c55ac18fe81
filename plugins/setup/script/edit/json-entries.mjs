// Entries of lists in JSON, which their identity tells apart.
import { hasAll, isEqual } from './json-tree.mjs';

/** @typedef {{ identity?: string[], at?: string, keep?: string, replaces?: boolean }} Options */
/** @typedef {{ child: Child, isSame: boolean }} Match an entry with all members of a wanted one, or only its identity */

/** Finds the entry of each wanted entry: one with all its members before one with the same identity, none twice. */
export function matchEntries(node, want, options) {
  const groups = groupsOf(node, options);
  const taken = new Set();
  const take = (entry, isSame) => {
    const group = groups.get(groupOf(entry, options)) || [];
    const fits = (own) => (isSame ? hasAll(own.node, entry.node) : isAlike(own, entry, options));
    const child = group.find((own) => !taken.has(own) && fits(own));
    if (child) taken.add(child);
    return child && { child, isSame };
  };
  const same = want.children.map((entry) => take(entry, true));
  return want.children.map((entry, index) => same[index] || take(entry, false));
}

/** The entries by what `groupOf` says of them: a comparison of all with each other takes long in a long list. */
function groupsOf({ children }, options) {
  const groups = new Map();
  for (const child of children) {
    const name = groupOf(child, options);
    const group = groups.get(name);
    if (group) group.push(child);
    else groups.set(name, [child]);
  }
  return groups;
}

/** The same text for entries with the same identity. */
function groupOf({ node }, { identity = [] }) {
  const values = identity.map((field) => {
    const member = node.children.find(({ name }) => name === field);
    return member && (member.node.kind === 'string' ? member.node.value : member.node.kind);
  });
  return JSON.stringify(values);
}

/** Whether two entries have the same identity. */
export function isAlike(child, entry, { identity = [] }) {
  return identity.every((field) => {
    const own = child.node.children.find((member) => member.name === field);
    const wanted = entry.node.children.find((member) => member.name === field);
    return own !== undefined && wanted !== undefined && isEqual(own.node, wanted.node);
  });
}

/** Whether the children of a wanted value are set one by one: objects, and lists of objects with an identity. */
export function isContainer(want, { identity = [] }) {
  if (want.kind === 'object') return true;
  return (
    identity.length > 0 &&
    want.children.length > 0 &&
    want.children.every(({ node }) => identity.every((field) => node.children.some(({ name }) => name === field)))
  );
}
