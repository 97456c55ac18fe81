// Settings in JSON files, with comments and trailing commas where the file has them.
import { Refusal, adaptLineEnds, isEmpty, lineEndOf, refuse, withLineEnds } from './common.mjs';
import { Edits, commentsOf } from './json-text.mjs';
import { isAlike, isContainer, isEqual, matchEntries, memberOf, parse } from './json-tree.mjs';

/**
 * Puts settings into a file. Members are set one by one, entries of lists are recognised by their identity, and every other
 * value is replaced whole. An empty file becomes the settings.
 *
 * @param current nothing where there is no file
 * @throws Refusal where the file cannot be parsed, or holds a list instead of an object
 */
export function merge(current = '', wanted, options = {}) {
  const source = parseSettings(wanted, options);
  const lineEnd = lineEndOf(current);
  const lines = withLineEnds(wanted.replace(/[ \t\r\n]*$/, '\n'), lineEnd);
  if (isEmpty(current)) return (current.startsWith('\ufeff') ? '\ufeff' : '') + lines;
  const tree = parse(current);
  requireDialect(tree, options.dialect);
  if (!tree.root) return current + (current.endsWith('\n') ? '' : lineEnd) + lines;
  requireKind(tree.root, source.root);
  const merging = new Merging(tree, source, options);
  merging.container(tree.root, source.root, false);
  return merging.edits.result();
}

const kindNames = { object: 'an object', array: 'a list', string: 'a string', number: 'a number', literal: 'a value' };

/** The state of one merge. */
class Merging {
  constructor(tree, source, options) {
    this.tree = tree;
    this.source = source;
    this.options = options;
    this.edits = new Edits(tree);
  }

  container(node, want, isParentFlat) {
    const isFlat = this.edits.isFlat(node, isParentFlat);
    const matches = want.kind === 'array' ? matchEntries(node, want, this.options) : [];
    const added = want.children.filter((setting, index) =>
      want.kind === 'array' ? !this.entry(matches[index], setting, isFlat) : !this.member(node, setting, isFlat),
    );
    if (added.length === 0) return;
    if (want.kind === 'array' && this.options.at === 'start')
      this.edits.prepend(node, this.source, added, isParentFlat);
    else this.edits.append(node, this.source, added, isParentFlat);
  }

  /** Whether an entry is in the file, where it replaces the one with its identity. */
  entry(match, entry, isFlat) {
    if (match && !match.isSame) this.set(match.child, entry, isFlat);
    return match !== undefined;
  }

  /** Whether a member of the name is in the file, with the wanted value from now on. */
  member(node, setting, isFlat) {
    const child = memberOf(this.tree, node, setting.name);
    if (!child) return false;
    this.requireSameKind(child, setting);
    if (isContainer(setting.node, this.options) && child.node.kind === setting.node.kind)
      this.container(child.node, setting.node, isFlat);
    else if (!isEqual(child.node, setting.node)) this.set(child, setting, isFlat);
    return true;
  }

  /** A value of another kind is a mistake of somebody, or a form that this does not know: to replace it would lose it. */
  requireSameKind(child, setting) {
    const [is, must] = [child.node, setting.node];
    const isLost = is.kind !== must.kind && [is.kind, must.kind].some((kind) => kind === 'object' || kind === 'array');
    if (!isLost || is.value === 'null') return;
    refuse(
      this.tree.text,
      is.start,
      `${setting.name} is ${kindNames[is.kind]} here, but must be ${kindNames[must.kind]}.`,
    );
  }

  set(child, setting, isFlat) {
    const text = this.edits.render(this.source, setting.node, this.edits.indentAt(child.start), isFlat);
    this.edits.replace(child.node.start, child.node.end, text);
  }
}

/**
 * Takes settings out of a file again: each gets the value that it has in `before`, or goes, as do the objects and lists
 * that are empty then and not in `before`. A setting with another value than the wanted one is left alone.
 *
 * @param wanted what was put in
 * @param before the file without it
 * @param options `keep`: settings that are put in next, whose values stay until then, and so their places
 * @returns the file, and the names of settings left alone
 * @throws Refusal where the file cannot be parsed, or holds a list instead of an object
 */
export function remove(current, wanted, before = '', options = {}) {
  const source = parseSettings(wanted, options);
  const tree = parse(current);
  if (!tree.root) return { text: current, left: [] };
  requireKind(tree.root, source.root);
  const kept = options.keep === undefined ? undefined : parseSettings(options.keep, options).root;
  const removal = new Removal(tree, parse(before), options);
  const { root } = removal.formerTree;
  if (!removal.container(tree.root, source.root, root, kept, '') || root)
    return { text: removal.edits.result(), left: removal.left };
  const outside = current.slice(0, tree.root.start) + current.slice(tree.root.end);
  const isSame = commentsOf(outside) === commentsOf(before);
  return { text: isSame ? adaptLineEnds(before, before, current) : outside, left: removal.left };
}

/**
 * The state of one removal. `former` is the node at the same place before, `kept` the one in the settings that are put in
 * next. Where a method returns a boolean, it says whether the node can be taken out of its container.
 */
class Removal {
  constructor(tree, formerTree, options) {
    this.tree = tree;
    this.formerTree = formerTree;
    this.options = options;
    this.edits = new Edits(tree);
    this.left = [];
  }

  container(node, want, former, kept, path) {
    const keptContainer = kept && kept.kind === want.kind && !this.isValue(kept) ? kept : undefined;
    const gone =
      want.kind === 'object'
        ? this.members(node, want, former, keptContainer, path)
        : this.entries(node, want, former, keptContainer, path);
    const wasEmpty = former && former.children.length === 0;
    return this.edits.cut(node, gone, wasEmpty ? this.formerText(former.start + 1, former.end - 1) : '');
  }

  members(node, want, former, kept, path) {
    const gone = new Set();
    for (const setting of want.children) {
      const child = memberOf(this.tree, node, setting.name);
      const formerChild = former && memberOf(this.formerTree, former, setting.name);
      const keptChild = kept && kept.children.find(({ name }) => name === setting.name);
      if (!child || (keptChild && !formerChild && this.isValue(setting.node) && this.isValue(keptChild.node))) continue;
      const name = nameOf(path, setting);
      if (this.value(child.node, setting.node, formerChild && formerChild.node, keptChild && keptChild.node, name))
        gone.add(child);
    }
    return gone;
  }

  entries(node, want, former, kept, path) {
    const gone = new Set();
    const matches = matchEntries(node, want, this.options);
    const formers = former ? matchEntries(former, want, this.options) : [];
    for (const [index, match] of matches.entries()) {
      const formerMatch = formers[index];
      if (!match || (formerMatch && formerMatch.isSame)) continue;
      const keptChild = kept && kept.children.find((entry) => isAlike(match.child, entry, this.options));
      const setting = want.children[index];
      if (keptChild && setting && !formerMatch) {
        this.container(match.child.node, setting.node, undefined, keptChild.node, path);
        continue;
      }
      const formerNode = formerMatch && formerMatch.child.node;
      if (!match.isSame) this.leave(match.child.node, formerNode, `${path}[${index}]`);
      const isOurs = match.isSame || (this.options.replaces && !formerNode);
      if (isOurs && this.restore(match.child.node, formerNode)) gone.add(match.child);
    }
    return gone;
  }

  value(node, want, former, kept, path) {
    if (!this.isValue(want) && node.kind === want.kind) {
      const formerContainer = former && former.kind === want.kind ? former : undefined;
      const mark = this.edits.list.length;
      if (!this.container(node, want, formerContainer, kept, path) || formerContainer) return false;
      this.edits.list.length = mark;
      return this.restore(node, former);
    }
    return isEqual(node, want) ? this.restore(node, former) : this.leave(node, former, path);
  }

  isValue(want) {
    return !isContainer(want, this.options);
  }

  restore(node, former) {
    if (!former) return true;
    if (!isEqual(node, former)) this.edits.replace(node.start, node.end, this.formerText(former.start, former.end));
    return false;
  }

  formerText(start, end) {
    return adaptLineEnds(this.formerTree.text.slice(start, end), this.formerTree.text, this.tree.text);
  }

  leave(node, former, name) {
    if (!former || !isEqual(node, former)) this.left.push(name);
    return false;
  }
}

/**
 * The names of settings that a file does not have, or has with another value.
 *
 * @param current nothing where there is no file
 * @throws Refusal where the file cannot be parsed
 */
export function missing(current = '', wanted, options = {}) {
  const tree = parse(current);
  const names = [];
  listMissing(tree, tree.root, parseSettings(wanted, options).root, '', options, names);
  return names;
}

function listMissing(tree, node, want, path, options, names) {
  const isHere = node !== undefined && node.kind === want.kind;
  if (want.children.length === 0 || !isContainer(want, options)) {
    if (!isHere || (want.kind !== 'object' && !isEqual(node, want))) names.push(path);
  } else if (want.kind === 'object') {
    for (const setting of want.children) {
      const child = isHere ? memberOf(tree, node, setting.name) : undefined;
      listMissing(tree, child && child.node, setting.node, nameOf(path, setting), options, names);
    }
  } else {
    const matches = isHere ? matchEntries(node, want, options) : [];
    for (const index of want.children.keys()) {
      const match = matches[index];
      if (!match || !match.isSame) names.push(`${path}[${index}]`);
    }
  }
}

/**
 * The settings without those of these paths (`a.b`) that a file has, with whatever value.
 *
 * @param wanted plain JSON
 */
export function withoutPresent(wanted, current, paths) {
  const present = paths.filter((path) => hasPath(current, path));
  if (present.length === 0) return wanted;
  const left = present.reduce((rest, path) => without(rest, path.split('.')), JSON.parse(wanted));
  return `${JSON.stringify(left, undefined, 2)}\n`;
}

/** @throws Refusal where the file cannot be parsed */
export function hasPath(current, path) {
  const tree = parse(current);
  let node = tree.root;
  for (const name of path.split('.')) {
    const child = node?.kind === 'object' ? memberOf(tree, node, name) : undefined;
    if (!child) return false;
    node = child.node;
  }
  return true;
}

/** An object that is empty without it goes, too. */
function without(settings, [first, ...inner]) {
  const { [first]: member, ...others } = settings;
  const left = inner.length > 0 ? without(member, inner) : {};
  return Object.keys(left).length > 0 ? { ...others, [first]: left } : others;
}

/** Settings in a file that the tool cannot read would be lost on it. */
function requireDialect({ text, comment, extraComma }, dialect) {
  if (dialect === undefined) return;
  if (extraComma !== -1) refuse(text, extraComma, 'The tool does not read a file with a comma behind the last value.');
  if (dialect === 'plain' && comment !== -1) refuse(text, comment, 'The tool does not read a file with comments.');
}

function parseSettings(wanted, options) {
  const { text, root, lineEnds } = parse(wanted);
  if (root && isContainer(root, options)) return { text, root, lineEnds };
  throw new Refusal('The settings must be an object, or a list of objects with an identity.');
}

function requireKind(root, want) {
  const name = want.kind === 'object' ? 'an object' : 'a list';
  if (root.kind !== want.kind) throw new Refusal(`The file does not hold ${name}, as its tool expects.`);
}

function nameOf(path, { name = '' }) {
  return path === '' ? name : `${path}.${name}`;
}
