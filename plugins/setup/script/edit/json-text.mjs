// Changes the text of a JSON file and leaves every other byte where it is.
import { Edits, lineEndOf, refuse } from './common.mjs';

const kindNames = { map: 'an object', list: 'a list', string: 'a string', number: 'a number' };
const nameOfKind = (kind) => kindNames[kind] ?? 'a value';

/** Changes of one text, and the style in which the text is written. */
export class JsonEdits extends Edits {
  constructor(tree, former) {
    super(tree, former);
    this.eol = lineEndOf(tree.text);
    const first = tree.root && firstMember(tree.root);
    this.colon = first && /^[ \t]*:[ \t]*$/.test(first.colon) ? first.colon : ': ';
    this.space = this.colon.slice(-1) === ':' ? '' : ' ';
    this.unit = (tree.root && this.findUnit(tree.root)) ?? '  ';
  }

  /** The indentation of one level, taken from the first container with a line for each child. */
  findUnit(node) {
    const [first] = node.children;
    if (first && first.startsLine) {
      const [outer, inner] = [this.indentAt(node.start), this.indentAt(first.start)];
      return inner.startsWith(outer) ? inner.slice(outer.length) : inner;
    }
    for (const child of node.children) {
      const unit = this.findUnit(child.node);
      if (unit !== undefined) return unit;
    }
    return undefined;
  }

  indentAt(offset) {
    const start = this.text.lastIndexOf('\n', offset - 1) + 1;
    const [, indent = ''] = /^\ufeff?([ \t]*)/.exec(this.text.slice(start, offset)) || [];
    return indent;
  }

  /** A value of another kind is a mistake, or a form unknown here: to replace it would lose it. */
  requireFit({ node: { kind, start } }, { name, node: want }) {
    const isLost =
      kind !== want.kind && kind !== 'null' && [kind, want.kind].some((one) => one === 'map' || one === 'list');
    if (isLost) refuse(this.text, start, `${name} is ${nameOfKind(kind)} here, but must be ${nameOfKind(want.kind)}.`);
  }

  set(child, setting, source) {
    const text = this.render(source, setting.node, this.indentAt(child.start), isOnOneLine(child.node.parent));
    this.replace(child.node.start, child.node.end, text);
  }

  /** In place of what was changed inside. */
  restore({ node }, former) {
    this.list = this.list.filter(({ start, end }) => start < node.start || end > node.end);
    this.replace(node.start, node.end, this.formerText(former.node.start, former.node.end));
  }

  /**
   * A value or member of another text in the style of this one.
   *
   * @param indent of the line that it stands in
   */
  render(source, node, indent, isParentFlat) {
    const { kind, children, start, end } = node;
    const raw = source.text.slice(start, end);
    const [first] = children;
    if (!first) return kind === 'map' ? '{}' : kind === 'list' ? '[]' : raw;
    const isFlat = isParentFlat || (kind === 'list' && !raw.includes('\n'));
    const inner = indent + this.unit;
    const parts = children.map((child) => this.renderChild(source, child, inner, isFlat));
    const text = isFlat
      ? parts.join(`,${this.space}`)
      : this.eol + inner + parts.join(`,${this.eol}${inner}`) + this.eol + indent;
    return kind === 'map' ? `{${text}}` : `[${text}]`;
  }

  renderChild(source, { start, name, colon, node }, indent, isFlat) {
    const value = this.render(source, node, indent, isFlat);
    return name === undefined ? value : source.text.slice(start, node.start - colon.length) + this.colon + value;
  }

  add(node, added, source, { at }) {
    if (at === 'start' && node.kind === 'list' && node.children.length > 0) return this.prepend(node, added, source);
    const last = node.children[node.children.length - 1];
    // Behind a `//` comment only a new line is safe.
    const isFlat = isOnOneLine(node) && !this.tree.lineEnds.has(node.tail);
    const indent = last && last.startsLine ? this.indentAt(last.start) : this.indentAt(node.start) + this.unit;
    const parts = added.map((child) => this.renderChild(source, child, indent, isFlat));
    const lead = isFlat ? this.space : this.eol + indent;
    if (last) {
      if (last.comma < 0) this.replace(last.end, last.end, ',');
      const text = parts.map((part) => lead + part).join(',');
      this.replace(node.tail, node.tail, last.comma < 0 ? text : `${text},`);
    } else this.fill(node, parts, lead, isFlat);
  }

  /** Puts children into a container without any. Comments in it stay in front of them. */
  fill({ start, end, tail }, parts, lead, isFlat) {
    const text = parts.join(`,${lead}`);
    const rest = this.text.slice(tail, end - 1);
    if (isFlat) return this.replace(tail, tail, (tail > start + 1 ? lead : rest) + text);
    return this.replace(tail, end - 1, lead + text + (rest.includes('\n') ? rest : this.eol + this.indentAt(start)));
  }

  /** A comment on the line of the bracket stays there. */
  prepend(node, added, source) {
    const [first] = node.children;
    const isFlat = !first.startsLine;
    const indent = this.indentAt(first.start);
    const parts = added.map((child) => this.renderChild(source, child, indent, isFlat));
    if (isFlat) return this.replace(first.start, first.start, parts.map((part) => `${part},${this.space}`).join(''));
    const front = this.text.slice(node.start + 1, first.start);
    const [comment = ''] = /^[ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/(?=[ \t]*\r?\n))/.exec(front) || [];
    const place = node.start + 1 + comment.length;
    return this.replace(place, place, parts.map((part) => `${this.eol}${indent}${part},`).join(''));
  }

  /**
   * Takes children out of a container, with their commas and the whitespace in front of them.
   *
   * @param former the container at the same place before
   * @returns whether neither a child nor a comment is left that was not inside when it had no children
   */
  cut(node, gone, former) {
    const inside = former?.children.length === 0 ? this.formerText(former.start + 1, former.end - 1) : '';
    const ranges = joined(this.rangesOf(node, gone));
    const isEmpty = gone.size === node.children.length;
    if (isEmpty && commentsOf(this.remainder(node, ranges)) === commentsOf(inside)) {
      if (gone.size > 0) this.replace(node.start + 1, node.end - 1, inside);
      return true;
    }
    for (const [start, end] of ranges) {
      const isJoining = this.tree.lineEnds.has(start) && !/[\r\n]/.test(this.text.charAt(end));
      this.replace(start, end, isJoining ? this.eol : '');
    }
    return false;
  }

  rangesOf({ children }, gone) {
    const ranges = [];
    const last = children[children.length - 1];
    const kept = children.filter((child) => !gone.has(child));
    const lastKept = kept[kept.length - 1];
    for (const [index, child] of children.entries()) {
      if (gone.has(child)) {
        // The first of a line gives up the space behind it, so that the next one takes its place.
        const isFirst = !child.startsLine && child.end < (kept[0] ? kept[0].start : 0);
        ranges.push([isFirst && index === 0 ? child.start : child.gap, child.end]);
        if (child.comma >= 0) ranges.push(this.commaRange(child, isFirst && children[index + 1] === kept[0]));
      } else if (child === lastKept && last !== child && last && last.comma < 0) {
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

  remainder({ start, end }, ranges) {
    const parts = [];
    let done = start + 1;
    for (const [from, to] of ranges) {
      parts.push(this.text.slice(done, from));
      done = to;
    }
    return [...parts, this.text.slice(done, end - 1)].join('\n');
  }

  /** Comments that were alone in the file get its line ends of now. */
  finish(isGone) {
    const { root } = this.tree;
    if (!isGone || this.former.root) return this.result();
    const outside = this.text.slice(0, root.start) + this.text.slice(root.end);
    const isSame = commentsOf(outside) === commentsOf(this.former.text);
    return isSame ? this.formerText(0, this.former.text.length) : outside;
  }
}

/** Whether the children of a container share its line. Without children, its parent decides. */
function isOnOneLine(node) {
  const last = node?.children[node.children.length - 1];
  return last ? !last.startsLine : node !== undefined && isOnOneLine(node.parent);
}

function commentsOf(text) {
  return (text.match(/\/\/[^\r\n]*|\/\*[^]*?\*\//g) || []).join('\n');
}

function firstMember(node) {
  for (const child of node.children) {
    const found = child.name === undefined ? firstMember(child.node) : child;
    if (found) return found;
  }
  return undefined;
}

/** Ranges in order, those that touch as one. */
function joined(ranges) {
  const result = [];
  for (const [start, end] of ranges.sort((a, b) => a[0] - b[0])) {
    const last = result[result.length - 1];
    if (last && last[1] === start) last[1] = end;
    else result.push([start, end]);
  }
  return result;
}
