// Edits the text of a JSON file. All other bytes stay as they are.

import { Edits, readLineEnd, refuse } from './common.mjs';

const kindLabels = { map: 'an object', list: 'a list', string: 'a string', number: 'a number' };
const emptyContainers = { map: '{}', list: '[]' };
const describeKind = (kind) => kindLabels[kind] ?? 'a value';

/** Keeps the style of the text: its indentation, line ends and the space after colons. */
export class JsonEdits extends Edits {
  constructor(tree, former) {
    super(tree, former);
    this.lineEnd = readLineEnd(tree.text);
    const first = tree.root && findFirstMember(tree.root);
    this.colon = first && /^[ \t]*:[ \t]*$/.test(first.colon) ? first.colon : ': ';
    this.space = this.colon.slice(-1) === ':' ? '' : ' ';
    this.indentUnit = (tree.root && this.findIndentUnit(tree.root)) ?? '  ';
  }

  /** Returns the indentation of one level, as in the first container that has a line for each child. */
  findIndentUnit(node) {
    const [first] = node.children;
    if (first && first.startsLine) {
      const [outer, inner] = [this.indentAt(node.start), this.indentAt(first.start)];
      return inner.startsWith(outer) ? inner.slice(outer.length) : inner;
    }
    for (const child of node.children) {
      const indentUnit = this.findIndentUnit(child.node);
      if (indentUnit !== undefined) return indentUnit;
    }
    return undefined;
  }

  indentAt(offset) {
    const start = this.text.lastIndexOf('\n', offset - 1) + 1;
    const [, indent = ''] = /^\ufeff?([ \t]*)/.exec(this.text.slice(start, offset)) || [];
    return indent;
  }

  /** A value of another kind is a mistake, or a form unknown to us that would be lost if it were replaced. */
  requireMergeable({ node: { kind, start } }, { name, node: want }) {
    const isLost =
      kind !== want.kind &&
      kind !== 'null' &&
      [kind, want.kind].some((kindName) => kindName === 'map' || kindName === 'list');
    if (isLost)
      refuse(this.text, start, `${name} is ${describeKind(kind)} here, but must be ${describeKind(want.kind)}.`);
  }

  set(child, setting, source) {
    const text = this.renderValue(source, setting.node, this.indentAt(child.start), isOnOneLine(child.node.parent));
    this.replace(child.node.start, child.node.end, text);
  }

  /** Replaces all edits inside the value. */
  restore({ node }, original) {
    this.list = this.list.filter(({ start, end }) => start < node.start || end > node.end);
    this.replace(node.start, node.end, this.originalText(original.node.start, original.node.end));
  }

  renderValue(source, node, indent, isParentInline) {
    const { kind, children, start, end } = node;
    const raw = source.text.slice(start, end);
    const [first] = children;
    if (!first) return emptyContainers[kind] ?? raw;
    const isInline = isParentInline || (kind === 'list' && !raw.includes('\n'));
    const inner = indent + this.indentUnit;
    const parts = children.map((child) => this.renderChild(source, child, inner, isInline));
    const text = isInline
      ? parts.join(`,${this.space}`)
      : this.lineEnd + inner + parts.join(`,${this.lineEnd}${inner}`) + this.lineEnd + indent;
    return kind === 'map' ? `{${text}}` : `[${text}]`;
  }

  renderChild(source, { start, name, colon, node }, indent, isInline) {
    const value = this.renderValue(source, node, indent, isInline);
    return name === undefined ? value : source.text.slice(start, node.start - colon.length) + this.colon + value;
  }

  add(node, added, source, { at }) {
    if (at === 'start' && node.kind === 'list' && node.children.length > 0) return this.prepend(node, added, source);
    const last = node.children[node.children.length - 1];
    // After a `//` comment, only a new line is safe.
    const isInline = isOnOneLine(node) && !this.tree.lineEnds.has(node.tail);
    const indent = last && last.startsLine ? this.indentAt(last.start) : this.indentAt(node.start) + this.indentUnit;
    const parts = added.map((child) => this.renderChild(source, child, indent, isInline));
    const lead = isInline ? this.space : this.lineEnd + indent;
    if (last) {
      if (last.comma < 0) this.replace(last.end, last.end, ',');
      const text = parts.map((part) => lead + part).join(',');
      this.replace(node.tail, node.tail, last.comma < 0 ? text : `${text},`);
    } else this.fillContainer(node, parts, lead, isInline);
  }

  /** The container's comments stay before the new children. */
  fillContainer({ start, end, tail }, parts, lead, isInline) {
    const text = parts.join(`,${lead}`);
    const rest = this.text.slice(tail, end - 1);
    if (isInline) return this.replace(tail, tail, (tail > start + 1 ? lead : rest) + text);
    return this.replace(
      tail,
      end - 1,
      lead + text + (rest.includes('\n') ? rest : this.lineEnd + this.indentAt(start)),
    );
  }

  /** A comment on the bracket's line stays there. */
  prepend(node, added, source) {
    const [first] = node.children;
    const isInline = !first.startsLine;
    const indent = this.indentAt(first.start);
    const parts = added.map((child) => this.renderChild(source, child, indent, isInline));
    if (isInline) return this.replace(first.start, first.start, parts.map((part) => `${part},${this.space}`).join(''));
    const leadingText = this.text.slice(node.start + 1, first.start);
    const [comment = ''] = /^[ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/(?=[ \t]*\r?\n))/.exec(leadingText) || [];
    const offset = node.start + 1 + comment.length;
    return this.replace(offset, offset, parts.map((part) => `${this.lineEnd}${indent}${part},`).join(''));
  }

  /**
   * Also removes the commas of the children and the whitespace before them.
   *
   * @param original the container at the same place in the file without the settings
   * @returns true if no child is left, and no comment that the empty original does not have
   */
  cut(node, removed, original) {
    const inside = original?.children.length === 0 ? this.originalText(original.start + 1, original.end - 1) : '';
    const ranges = joinRanges(this.findRemovedRanges(node, removed));
    const isEmpty = removed.size === node.children.length;
    if (isEmpty && extractComments(this.textOutside(node, ranges)) === extractComments(inside)) {
      if (removed.size > 0) this.replace(node.start + 1, node.end - 1, inside);
      return true;
    }
    for (const [start, end] of ranges) {
      const isJoining = this.tree.lineEnds.has(start) && !/[\r\n]/.test(this.text.charAt(end));
      this.replace(start, end, isJoining ? this.lineEnd : '');
    }
    return false;
  }

  findRemovedRanges({ children }, removed) {
    const ranges = [];
    const last = children[children.length - 1];
    const remaining = children.filter((child) => !removed.has(child));
    const lastRemaining = remaining[remaining.length - 1];
    for (const [index, child] of children.entries()) {
      if (removed.has(child)) {
        // The space after the first child of a line is removed too, so that the next one takes its place.
        const isFirst = !child.startsLine && child.end < (remaining[0] ? remaining[0].start : 0);
        ranges.push([isFirst && index === 0 ? child.start : child.gap, child.end]);
        if (child.comma >= 0) ranges.push(this.commaRange(child, isFirst && children[index + 1] === remaining[0]));
      } else if (child === lastRemaining && last !== child && last && last.comma < 0) {
        ranges.push([child.comma, child.comma + 1]);
      }
    }
    return ranges;
  }

  commaRange({ end, comma }, hasSpace) {
    const start = /^[ \t\r\n]*$/.test(this.text.slice(end, comma)) ? end : comma;
    const space = hasSpace ? /^[ \t]*(?![ \t\r\n])/.exec(this.text.slice(comma + 1)) : null;
    return [start, comma + 1 + (space ? space[0].length : 0)];
  }

  textOutside({ start, end }, ranges) {
    const parts = [];
    let offset = start + 1;
    for (const [from, to] of ranges) {
      parts.push(this.text.slice(offset, from));
      offset = to;
    }
    return [...parts, this.text.slice(offset, end - 1)].join('\n');
  }

  /** If the file had only comments, it gets them back, with its present line ends. */
  finish(isEmptied) {
    const { root } = this.tree;
    if (!isEmptied || this.former.root) return this.apply();
    const outside = this.text.slice(0, root.start) + this.text.slice(root.end);
    const isSame = extractComments(outside) === extractComments(this.former.text);
    return isSame ? this.originalText(0, this.former.text.length) : outside;
  }
}

function isOnOneLine(node) {
  const last = node?.children[node.children.length - 1];
  // Without children, the parent decides.
  return last ? !last.startsLine : node !== undefined && isOnOneLine(node.parent);
}

function extractComments(text) {
  return (text.match(/\/\/[^\r\n]*|\/\*[^]*?\*\//g) || []).join('\n');
}

function findFirstMember(node) {
  for (const child of node.children) {
    const member = child.name === undefined ? findFirstMember(child.node) : child;
    if (member) return member;
  }
  return undefined;
}

function joinRanges(ranges) {
  const result = [];
  for (const [start, end] of ranges.sort((a, b) => a[0] - b[0])) {
    const last = result[result.length - 1];
    if (last && last[1] === start) last[1] = end;
    else result.push([start, end]);
  }
  return result;
}
