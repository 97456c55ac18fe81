import type { Machine } from './machine.ts';
import type { SyntaxNode } from './tree.ts';
import type { ScriptBlock, Value } from './values.ts';

/** Variables and functions of a script, a block or a call; those that are not found here are looked for in the caller. */
export interface Frame {
  readonly variables: Map<string, Value>;
  readonly functions: Map<string, SyntaxNode>;
  readonly parent: Frame | undefined;
}

/** What the parts of the interpreter need of it. */
export interface Session {
  readonly machine: Machine;
  readonly frame: Frame;
  /** Runs the statements in a node: of a block, a script or a body. */
  statements(node: SyntaxNode): void;
  outputOf(run: () => void): Value[];
  emit(values: readonly Value[]): void;
  /** What a pipeline gives, element by element. */
  pipeline(node: SyntaxNode): Value[];
  /** The value of a pipeline where one value is wanted: an expression keeps its lists. */
  valueOf(node: SyntaxNode): Value;
  value(node: SyntaxNode): Value;
  variable(name: string): Value;
  /** Puts a value where a variable, a member or an element is. */
  assign(target: SyntaxNode, value: Value): void;
  /** In a scope of its own. */
  inFrame<T>(run: () => T): T;
  /** With `$_`. */
  withItem<T>(value: Value, run: () => T): T;
  /** In the present scope, as a block of Where-Object, ForEach-Object or switch, until it ends or returns. */
  runBlock(block: SyntaxNode): Value[];
  runFor(value: Value, block: ScriptBlock): Value[];
}
