import type { Node, TreeCursor } from 'web-tree-sitter';

/** A node of the grammar as a plain object: those of the parser cost a call into WebAssembly for everything. */
export class SyntaxNode {
  readonly type: string;
  readonly text: string;
  readonly startIndex: number;
  readonly endIndex: number;
  readonly children: readonly SyntaxNode[];
  /** Without brackets, operators and comments. */
  readonly namedChildren: readonly SyntaxNode[];
  parent: SyntaxNode | undefined;
  readonly #isNamed: boolean;

  constructor(cursor: TreeCursor, source: string) {
    this.type = cursor.nodeType;
    this.startIndex = cursor.startIndex;
    this.endIndex = cursor.endIndex;
    this.text = source.slice(this.startIndex, this.endIndex);
    this.#isNamed = cursor.nodeIsNamed;
    this.children = childrenAt(cursor, source);
    for (const child of this.children) child.parent = this;
    this.namedChildren = this.children.filter((child) => child.#isNamed && child.type !== 'comment');
  }

  child(type: string): SyntaxNode | undefined {
    return this.namedChildren.find((one) => one.type === type);
  }

  /** All inner nodes of a type, in the order of the text. */
  descendants(type: string): SyntaxNode[] {
    return this.children.flatMap((child) => [...(child.type === type ? [child] : []), ...child.descendants(type)]);
  }

  #inner: SyntaxNode | undefined;
  /** The node without those around it that add nothing. */
  get inner(): SyntaxNode {
    const isLeaf = /^(variable|(string|integer|type)_literal|command)$|statement$/.test(this.type);
    const [only] = this.namedChildren;
    return (this.#inner ??= this.children.length === 1 && only && !isLeaf ? only.inner : this);
  }
}

function childrenAt(cursor: TreeCursor, source: string): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  if (!cursor.gotoFirstChild()) return children;
  do children.push(new SyntaxNode(cursor, source));
  while (cursor.gotoNextSibling());
  cursor.gotoParent();
  return children;
}

export function toTree(root: Node): SyntaxNode {
  const cursor = root.walk();
  const tree = new SyntaxNode(cursor, root.text);
  // A cursor that is collected as garbage instead frees memory of another one.
  cursor.delete();
  return tree;
}

/** The name of a variable, in lower case. */
export const nameOf = ({ text }: SyntaxNode): string => text.replaceAll(/^\$\{?|\}$/g, '').toLowerCase();
