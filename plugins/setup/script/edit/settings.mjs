// Puts settings into a file, takes them out again, and names those that are missing: the same for every format. A format gives
//   scan      the Tree of a text
//   Edits     prints changes of a tree, see common.mjs
//   fill      the text of a file that has no value yet, with the settings in it
//   requireRoot, check   throw a Refusal where the settings cannot be in such a file, by its root or by something else
//   isExact   whether settings are taken out byte for byte by their edits, and may keep their places until the next are put in
import { Refusal, groupBy, isEmpty, refuse } from './common.mjs';

/**
 * @typedef {object} Tree
 * @property {string} text
 * @property {Node | undefined} root none in a file without a value
 *
 * @typedef {object} Node a value; formats have more properties for their own use
 * @property {string} kind `map`, `list`, or another one of the format
 * @property {string} value a text that is equal for equal values; `?` equals nothing
 * @property {Child[]} children of a map or list
 *
 * @typedef {object} Child a member of a map, or an entry of a list
 * @property {string | undefined} name none in lists
 * @property {number} start
 * @property {Node} node
 *
 * @typedef {object} Options
 * @property {string[]} [identity] members by which an entry of a list is recognised, those of them that it has; without any, a list
 *   is a value
 * @property {'start'} [at] where new entries go, if not to the end
 * @property {string} [keep] settings that are put in next: their values stay until then, and so their places
 * @property {boolean} [replaces] whether entries that were changed since are taken out as well
 * @property {'plain' | 'comments'} [dialect] what the tool reads, if not all of the format
 */

export function editorOf(format) {
  const { scan, Edits, fill, requireRoot = () => {}, check = () => {}, isExact = false } = format;

  function scanSettings(text, options) {
    const tree = scan(text);
    if (tree.root && isContainer(tree.root, options)) return tree;
    throw new Refusal('The settings must be an object, or a list of objects with an identity.');
  }

  /**
   * Members are set one by one, entries of lists are recognised by their identity, and every other value is replaced whole. An
   * empty file becomes the settings.
   *
   * @param current undefined where there is no file
   * @throws Refusal where the file cannot be read exactly, or has a setting in a form that cannot be changed safely
   */
  function merge(current = '', wanted, options = {}) {
    const source = scanSettings(wanted, options);
    const tree = scan(current);
    check(tree, source, options);
    if (!tree.root || isEmpty(current)) return fill(tree, wanted);
    requireRoot(tree, source.root);
    const merging = new Merging(new Edits(tree), source, options);
    merging.container(tree.root, source.root, '');
    return merging.edits.result();
  }

  /**
   * Each setting gets the value that it has in `before`, or goes, as do the maps and lists that are empty then and not in
   * `before`. A setting with another value than the wanted one is left alone.
   *
   * @param wanted what was put in
   * @param before the file without it, undefined where there was none
   * @returns the file, and the names of settings left alone
   * @throws Refusal where the file cannot be read exactly
   */
  function remove(current, wanted, before, options = {}) {
    if (!isExact && merge(before, wanted, options) === current) return { text: before ?? '', left: [] };
    const keep = isExact ? options.keep : undefined;
    const source = scanSettings(wanted, options);
    const tree = scan(current);
    if (!tree.root) return { text: current, left: [] };
    requireRoot(tree, source.root);
    const kept = keep === undefined ? undefined : scanSettings(keep, options).root;
    const edits = new Edits(tree, scan(before ?? ''));
    const removal = new Removal(edits, options);
    const isGone = removal.container(tree.root, source.root, edits.former.root, kept, '');
    return { text: edits.finish(isGone), left: removal.left };
  }

  /**
   * @param current undefined where there is no file
   * @returns {string[]} the names of settings that it does not have, or has with another value
   * @throws Refusal where the file cannot be read exactly
   */
  function missing(current = '', wanted, options = {}) {
    const tree = scan(current);
    return listMissing(tree, tree.root, scanSettings(wanted, options).root, '', options);
  }

  /** The settings without those of these paths (`a.b`) that a file has, with whatever value. */
  function withoutPresent(wanted, current, paths) {
    const file = scan(current);
    const present = paths.filter((path) => hasPath(file, path));
    const edits = new Edits(scan(wanted), scan(''));
    if (present.length > 0) cutPaths(edits, edits.tree.root, present, '');
    return edits.result();
  }

  return { merge, remove, missing, withoutPresent };
}

/** Whether the children of a wanted value are set one by one: maps, and lists of maps with an identity. */
function isContainer({ kind, children }, { identity = [] }) {
  if (kind !== 'list') return kind === 'map';
  const hasIdentity = ({ node }) => identity.some((field) => node.children.some(({ name }) => name === field));
  return identity.length > 0 && children.length > 0 && children.every(hasIdentity);
}

const isEqual = (one, other) => one.value === other.value && one.value !== '?';

/** Whether a value has all members of another, at every level: tools add members to what they find. */
function hasAll(node, want) {
  if (node.kind !== 'map' || want.kind !== 'map') return isEqual(node, want);
  return want.children.every(({ name, node: wanted }) => {
    const own = node.children.filter((child) => child.name === name);
    return own.length === 1 && hasAll(own[0].node, wanted);
  });
}

/** @throws Refusal where two members have the name: which of them counts differs between programs */
function memberOf({ text }, node, name) {
  const [found, second] = node.children.filter((child) => child.name === name);
  if (second) refuse(text, second.start, 'The key is there twice.');
  return found;
}

function nameOf(path, { name }) {
  return path === '' ? name : `${path}.${name}`;
}

function identityOf({ node }, { identity }) {
  return identity.map((field) => node.children.find(({ name }) => name === field)?.node.value ?? '?').join('\n');
}

/** Finds the entry of each wanted one: one with all its members before one with the same identity, none twice. */
function matchEntries(node, want, options) {
  const groups = groupBy(node.children, (child) => identityOf(child, options));
  const taken = new Set();
  const take = (entry, isSame) => {
    const group = groups.get(identityOf(entry, options)) ?? [];
    const child = group.find((own) => !taken.has(own) && (!isSame || hasAll(own.node, entry.node)));
    if (child) taken.add(child);
    return child && { child, isSame };
  };
  const same = want.children.map((entry) => take(entry, true));
  return want.children.map((entry, index) => same[index] ?? take(entry, false));
}

class Merging {
  constructor(edits, source, options) {
    Object.assign(this, { edits, source, options });
  }

  container(node, want, path) {
    const matches = want.kind === 'list' ? matchEntries(node, want, this.options) : [];
    const added = want.children.filter((setting, index) =>
      want.kind === 'list' ? !this.entry(matches[index], setting) : !this.member(node, setting, nameOf(path, setting)),
    );
    if (added.length > 0) this.edits.add(node, added, this.source, { want, at: this.options.at });
  }

  /** Whether an entry is in the file, where it replaces the one with its identity. */
  entry(match, entry) {
    if (match && !match.isSame) this.edits.set(match.child, entry, this.source);
    return match !== undefined;
  }

  /** Whether a member of the name is in the file, with the wanted value from now on. */
  member(node, setting, path) {
    const child = memberOf(this.edits.tree, node, setting.name);
    if (!child) return false;
    this.edits.requireFit(child, setting, path);
    if (isContainer(setting.node, this.options) && child.node.kind === setting.node.kind)
      this.container(child.node, setting.node, path);
    else if (!isEqual(child.node, setting.node)) this.edits.set(child, setting, this.source);
    return true;
  }
}

/**
 * `former` is what was at the same place before, `kept` what the settings that are put in next have there. Where a method
 * returns a boolean, it says whether the value can be taken out of its container.
 */
class Removal {
  constructor(edits, options) {
    Object.assign(this, { edits, options, left: [] });
  }

  container(node, want, former, kept, path) {
    const keptContainer = kept && kept.kind === want.kind && isContainer(kept, this.options) ? kept : undefined;
    const gone =
      want.kind === 'map'
        ? this.members(node, want, former, keptContainer, path)
        : this.entries(node, want, former, keptContainer, path);
    return this.edits.cut(node, gone, former);
  }

  members(node, want, former, kept, path) {
    const isValue = (child) => child && !isContainer(child.node, this.options);
    const gone = new Set();
    for (const setting of want.children) {
      const child = memberOf(this.edits.tree, node, setting.name);
      const formerChild = former && memberOf(this.edits.former, former, setting.name);
      const keptChild = kept?.children.find(({ name }) => name === setting.name);
      if (!child || (!formerChild && isValue(setting) && isValue(keptChild))) continue;
      if (this.value(child, setting.node, formerChild, keptChild, nameOf(path, setting))) gone.add(child);
    }
    return gone;
  }

  entries(node, want, former, kept, path) {
    const gone = new Set();
    const matches = matchEntries(node, want, this.options);
    const formers = former ? matchEntries(former, want, this.options) : [];
    for (const [index, match] of matches.entries()) {
      const formerMatch = formers[index];
      if (!match || formerMatch?.isSame) continue;
      const identity = identityOf(match.child, this.options);
      const keptChild = kept?.children.find((entry) => identityOf(entry, this.options) === identity);
      if (keptChild && !formerMatch) {
        this.container(match.child.node, want.children[index].node, undefined, keptChild.node, path);
        continue;
      }
      if (!match.isSame) this.leave(match.child, formerMatch?.child, `${path}[${index}]`);
      const isOurs = match.isSame || (this.options.replaces && !formerMatch);
      if (isOurs && this.restore(match.child, formerMatch?.child)) gone.add(match.child);
    }
    return gone;
  }

  value(child, want, former, kept, path) {
    if (!isContainer(want, this.options) || child.node.kind !== want.kind)
      return isEqual(child.node, want) ? this.restore(child, former) : this.leave(child, former, path);
    const formerContainer = former?.node.kind === want.kind ? former.node : undefined;
    const isGone = this.container(child.node, want, formerContainer, kept?.node, path);
    return isGone && !formerContainer && this.restore(child, former);
  }

  restore(child, former) {
    if (former && !isEqual(child.node, former.node)) this.edits.restore(child, former);
    return !former;
  }

  leave(child, former, path) {
    if (!former || !isEqual(child.node, former.node)) this.left.push(path);
    return false;
  }
}

function listMissing(tree, node, want, path, options) {
  const isHere = node?.kind === want.kind;
  if (want.children.length === 0 || !isContainer(want, options)) {
    const isThere = want.kind === 'map' ? isHere : node && isEqual(node, want);
    return isThere ? [] : [path];
  }
  if (want.kind === 'map')
    return want.children.flatMap((setting) => {
      const child = isHere ? memberOf(tree, node, setting.name) : undefined;
      return listMissing(tree, child?.node, setting.node, nameOf(path, setting), options);
    });
  const matches = isHere ? matchEntries(node, want, options) : [];
  return want.children.flatMap((_, index) => (matches[index]?.isSame ? [] : [`${path}[${index}]`]));
}

function hasPath(tree, path) {
  let node = tree.root;
  for (const name of path.split('.')) node = node && memberOf(tree, node, name)?.node;
  return node !== undefined;
}

/** Takes out what is at these paths, and the maps that are empty then. True when nothing is left in the node. */
function cutPaths(edits, node, paths, start) {
  const gone = node.children.filter((child) => {
    const path = nameOf(start, child);
    if (paths.includes(path)) return true;
    return paths.some((one) => one.startsWith(`${path}.`)) && cutPaths(edits, child.node, paths, path);
  });
  return edits.cut(node, new Set(gone));
}
