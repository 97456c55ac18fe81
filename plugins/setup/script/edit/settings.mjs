// Merges settings into a file, removes them, and lists missing ones, for any format that provides
//   scan      parses a text into a Tree
//   Edits     edits the text of a tree, see common.mjs
//   fill      creates the content of a file without a value
//   requireRoot, check   throw a Refusal if the file cannot hold the settings
//   isExact   true if removing settings restores every byte, so that they can keep their places until the next merge

import { Refusal, groupBy, isEmpty, refuse } from './common.mjs';

/**
 * @typedef {object} Tree
 * @property {string} text
 * @property {Node | undefined} root undefined in a file without a value
 *
 * @typedef {object} Node a value; formats add properties
 * @property {string} kind `map`, `list`, or a kind of the format
 * @property {string} value text for comparison, equal for equal values; `?` equals nothing
 * @property {Child[]} children of a map or list
 *
 * @typedef {object} Child a member of a map, or an entry of a list
 * @property {string | undefined} name undefined in lists
 * @property {number} start
 * @property {Node} node
 *
 * @typedef {object} Options
 * @property {string[]} [identity] members that identify an entry of a list, as far as the entry has them; without any, a list is
 *   one value
 * @property {'start'} [at] position of new entries; default: the end
 * @property {string} [keep] settings that will be merged next: their values keep their places until then
 * @property {boolean} [replaces] true to also remove entries that were changed since
 * @property {'plain' | 'comments'} [dialect] what the tool's JSON allows, if not both comments and trailing commas
 */

export function createEditor(format) {
  const { scan, Edits, fill, requireRoot = () => {}, check = () => {}, isExact = false } = format;

  function scanSettings(text, options) {
    const tree = scan(text);
    if (tree.root && isContainer(tree.root, options)) return tree;
    throw new Refusal('The settings must be an object, or a list of objects with an identity.');
  }

  /**
   * Sets members one by one, finds entries of lists by their identity, and replaces every other value as a whole. An empty file becomes the
   * settings.
   *
   * @param current undefined if the file does not exist
   * @throws Refusal if the file cannot be read exactly, or has a setting in a form that cannot be changed safely
   */
  function merge(current = '', wanted, options = {}) {
    const source = scanSettings(wanted, options);
    const tree = scan(current);
    check(tree, source, options);
    if (!tree.root || isEmpty(current)) return fill(tree, wanted);
    requireRoot(tree, source.root);
    const merger = new Merger(new Edits(tree), source, options);
    merger.mergeContainer(tree.root, source.root, '');
    return merger.edits.apply();
  }

  /**
   * Gives each setting the value that it has in `before`, or removes it, with any maps and lists that become empty and are not in `before`.
   * A setting whose value is not the wanted one stays.
   *
   * @param wanted the merged settings
   * @param before the file without them; undefined if it did not exist
   * @returns the text, and in `left` the names of settings that stay
   * @throws Refusal if the file cannot be read exactly
   */
  function remove(current, wanted, before, options = {}) {
    if (!isExact && merge(before, wanted, options) === current) return { text: before ?? '', left: [] };
    const keep = isExact ? options.keep : undefined;
    const source = scanSettings(wanted, options);
    const tree = scan(current);
    if (!tree.root) return { text: current, left: [] };
    requireRoot(tree, source.root);
    const nextRoot = keep === undefined ? undefined : scanSettings(keep, options).root;
    const edits = new Edits(tree, scan(before ?? ''));
    const remover = new Remover(edits, options);
    const isEmptied = remover.removeContained(tree.root, source.root, edits.former.root, nextRoot, '');
    return { text: edits.finish(isEmptied), left: remover.left };
  }

  /** @returns {string[]} names of settings that the file lacks, or has with another value */
  function missing(current = '', wanted, options = {}) {
    const tree = scan(current);
    return listMissing(tree, tree.root, scanSettings(wanted, options).root, '', options);
  }

  function withoutPresent(wanted, current, paths) {
    const file = scan(current);
    // The value in the file does not matter.
    const present = paths.filter((path) => hasPath(file, path));
    const edits = new Edits(scan(wanted), scan(''));
    if (present.length > 0) removePaths(edits, edits.tree.root, present, '');
    return edits.apply();
  }

  return { merge, remove, missing, withoutPresent };
}

function isContainer({ kind, children }, { identity = [] }) {
  // Children are set one by one in maps, and in lists of maps with an identity.
  if (kind !== 'list') return kind === 'map';
  const hasIdentityMember = ({ node }) => identity.some((field) => node.children.some(({ name }) => name === field));
  return identity.length > 0 && children.length > 0 && children.every(hasIdentityMember);
}

const isEqual = (a, b) => a.value === b.value && a.value !== '?';

function containsAll(node, wanted) {
  // Tools add members of their own.
  if (node.kind !== 'map' || wanted.kind !== 'map') return isEqual(node, wanted);
  return wanted.children.every(({ name, node: member }) => {
    const matches = node.children.filter((child) => child.name === name);
    return matches.length === 1 && containsAll(matches[0].node, member);
  });
}

function findMember({ text }, node, name) {
  const [found, second] = node.children.filter((child) => child.name === name);
  // Programs disagree about which of two duplicates counts.
  if (second) refuse(text, second.start, 'The key is there twice.');
  return found;
}

function joinPath(path, { name }) {
  return path === '' ? name : `${path}.${name}`;
}

function readIdentity({ node }, { identity }) {
  return identity.map((field) => node.children.find(({ name }) => name === field)?.node.value ?? '?').join('\n');
}

function matchEntries(node, wanted, options) {
  const groups = groupBy(node.children, (child) => readIdentity(child, options));
  const claimed = new Set();
  const claim = (entry, isSame) => {
    const candidates = groups.get(readIdentity(entry, options)) ?? [];
    const child = candidates.find((own) => !claimed.has(own) && (!isSame || containsAll(own.node, entry.node)));
    if (child) claimed.add(child);
    return child && { child, isSame };
  };
  // Entries that have all wanted members take precedence over those that have only the identity.
  const exactMatches = wanted.children.map((entry) => claim(entry, true));
  return wanted.children.map((entry, index) => exactMatches[index] ?? claim(entry, false));
}

class Merger {
  constructor(edits, source, options) {
    Object.assign(this, { edits, source, options });
  }

  mergeContainer(node, wanted, path) {
    const matches = wanted.kind === 'list' ? matchEntries(node, wanted, this.options) : undefined;
    const added = wanted.children.filter((setting, index) =>
      matches ? !this.mergeEntry(matches[index], setting) : !this.mergeMember(node, setting, joinPath(path, setting)),
    );
    if (added.length > 0) this.edits.add(node, added, this.source, { wanted, at: this.options.at });
  }

  mergeEntry(match, entry) {
    if (match && !match.isSame) this.edits.set(match.child, entry, this.source);
    return match !== undefined;
  }

  mergeMember(node, setting, path) {
    const child = findMember(this.edits.tree, node, setting.name);
    if (!child) return false;
    this.edits.requireMergeable(child, setting, path);
    if (isContainer(setting.node, this.options) && child.node.kind === setting.node.kind)
      this.mergeContainer(child.node, setting.node, path);
    else if (!isEqual(child.node, setting.node)) this.edits.set(child, setting, this.source);
    return true;
  }
}

/**
 * `original` is the value at the same place before the merge, `next` the one in the settings that are merged next. Methods return true if
 * the value can be removed from its container.
 */
class Remover {
  constructor(edits, options) {
    Object.assign(this, { edits, options, left: [] });
  }

  removeContained(node, wanted, original, next, path) {
    const nextContainer = next && next.kind === wanted.kind && isContainer(next, this.options) ? next : undefined;
    const removed =
      wanted.kind === 'map'
        ? this.removeMembers(node, wanted, original, nextContainer, path)
        : this.removeEntries(node, wanted, original, nextContainer, path);
    return this.edits.cut(node, removed, original);
  }

  removeMembers(node, wanted, original, next, path) {
    const isValue = (child) => child && !isContainer(child.node, this.options);
    const removed = new Set();
    for (const setting of wanted.children) {
      const child = findMember(this.edits.tree, node, setting.name);
      const originalChild = original && findMember(this.edits.former, original, setting.name);
      const nextChild = next?.children.find(({ name }) => name === setting.name);
      if (!child || (!originalChild && isValue(setting) && isValue(nextChild))) continue;
      if (this.removeValue(child, setting.node, originalChild, nextChild, joinPath(path, setting))) removed.add(child);
    }
    return removed;
  }

  removeEntries(node, wanted, original, next, path) {
    const removed = new Set();
    const matches = matchEntries(node, wanted, this.options);
    const originalMatches = original ? matchEntries(original, wanted, this.options) : [];
    for (const [index, match] of matches.entries()) {
      const originalMatch = originalMatches[index];
      if (!match || originalMatch?.isSame) continue;
      const identity = readIdentity(match.child, this.options);
      const nextEntry = next?.children.find((entry) => readIdentity(entry, this.options) === identity);
      if (nextEntry && !originalMatch) {
        this.removeContained(match.child.node, wanted.children[index].node, undefined, nextEntry.node, path);
        continue;
      }
      if (!match.isSame) this.keep(match.child, originalMatch?.child, `${path}[${index}]`);
      const isOurs = match.isSame || (this.options.replaces && !originalMatch);
      if (isOurs && this.restoreOriginal(match.child, originalMatch?.child)) removed.add(match.child);
    }
    return removed;
  }

  removeValue(child, wanted, original, next, path) {
    if (!isContainer(wanted, this.options) || child.node.kind !== wanted.kind)
      return isEqual(child.node, wanted) ? this.restoreOriginal(child, original) : this.keep(child, original, path);
    const originalContainer = original?.node.kind === wanted.kind ? original.node : undefined;
    const isEmptied = this.removeContained(child.node, wanted, originalContainer, next?.node, path);
    return isEmptied && !originalContainer && this.restoreOriginal(child, original);
  }

  restoreOriginal(child, original) {
    if (original && !isEqual(child.node, original.node)) this.edits.restore(child, original);
    return !original;
  }

  keep(child, original, path) {
    if (!original || !isEqual(child.node, original.node)) this.left.push(path);
    return false;
  }
}

function listMissing(tree, node, wanted, path, options) {
  const hasSameKind = node?.kind === wanted.kind;
  if (wanted.children.length === 0 || !isContainer(wanted, options)) {
    const isPresent = wanted.kind === 'map' ? hasSameKind : node && isEqual(node, wanted);
    return isPresent ? [] : [path];
  }
  if (wanted.kind === 'map')
    return wanted.children.flatMap((setting) => {
      const child = hasSameKind ? findMember(tree, node, setting.name) : undefined;
      return listMissing(tree, child?.node, setting.node, joinPath(path, setting), options);
    });
  const matches = hasSameKind ? matchEntries(node, wanted, options) : [];
  return wanted.children.flatMap((_, index) => (matches[index]?.isSame ? [] : [`${path}[${index}]`]));
}

function hasPath(tree, path) {
  let node = tree.root;
  for (const name of path.split('.')) node = node && findMember(tree, node, name)?.node;
  return node !== undefined;
}

function removePaths(edits, node, paths, parentPath) {
  const removed = node.children.filter((child) => {
    const path = joinPath(parentPath, child);
    if (paths.includes(path)) return true;
    return paths.some((other) => other.startsWith(`${path}.`)) && removePaths(edits, child.node, paths, path);
  });
  return edits.cut(node, new Set(removed));
}
