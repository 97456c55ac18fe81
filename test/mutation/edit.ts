/** A small change of a source: the text from start to end is replaced. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** What was done, such as "condition negated". */
  readonly operator: string;
}

/** A node of the syntax tree. Positions count UTF-16 units. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

export interface Place {
  readonly source: string;
  /** The nodes around it, the nearest first. */
  readonly parents: readonly Node[];
}

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Partial<Node>).type === 'string';

export const textOf = (source: string, { start, end }: Node): string => source.slice(start, end);

export function replace(node: Node, text: string, operator: string): Edit {
  return { start: node.start, end: node.end, text, operator };
}
