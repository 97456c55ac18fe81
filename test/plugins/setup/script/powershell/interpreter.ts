import { assign, runAssignment } from './assignments.ts';
import { runCommand } from './commands.ts';
import { evaluate } from './expressions.ts';
import type { Machine } from './machine.ts';
import type { Frame, Session } from './session.ts';
import { runStatement, Signal } from './statements.ts';
import type { SyntaxNode as Node } from './tree.ts';
import { collapse, enumerate, type ScriptBlock, type Value } from './values.ts';

/*
 * Runs the part of PowerShell that setup.ps1 is written in, read by the grammar: its scopes, output of functions, lists of one
 * element, comparisons and conversions. What it does not know is an error of the test, never of the script.
 */

const newFrame = (parent?: Frame): Frame => ({ variables: new Map(), functions: new Map(), parent });

export class Interpreter implements Session {
  frame = newFrame();
  readonly machine: Machine;
  constructor(machine: Machine) {
    this.machine = machine;
  }

  run(root: Node, variables: Readonly<Record<string, Value>>): Value[] {
    for (const [name, value] of Object.entries(variables)) this.frame.variables.set(name, value);
    return this.outputOf(() => this.statements(root));
  }

  #output: Value[] = [];
  outputOf(run: () => void): Value[] {
    const outer = this.#output;
    const inner: Value[] = (this.#output = []);
    try {
      run();
    } finally {
      this.#output = outer;
    }
    return inner;
  }
  emit(values: readonly Value[]): void {
    this.#output.push(...values);
  }

  inFrame<T>(run: () => T): T {
    const outer = this.frame;
    this.frame = newFrame(outer);
    try {
      return run();
    } finally {
      this.frame = outer;
    }
  }

  lookup(name: string): Value {
    for (let frame: Frame | undefined = this.frame; frame; frame = frame.parent) {
      if (frame.variables.has(name)) return frame.variables.get(name);
    }
    return null;
  }

  /** The statements in a node: of a block, a script or a body. */
  statements(node: Node): void {
    for (const child of node.namedChildren) {
      if (child.type === 'empty_statement') continue;
      if (/^(statement_list|script_block|script_block_body|statement_block|param_block)$/.test(child.type)) {
        if (child.type !== 'param_block') this.statements(child);
      } else runStatement(this, child);
    }
  }

  withItem<T>(value: Value, run: () => T): T {
    const before = this.frame.variables.get('_');
    this.frame.variables.set('_', value);
    try {
      return run();
    } finally {
      this.frame.variables.set('_', before);
    }
  }

  /** What a pipeline gives, element by element. */
  pipeline(node: Node): Value[] {
    const one = node.inner;
    if (one.type === 'pipeline_chain' || (one.type === 'pipeline' && one.children.length > 1))
      return this.#chain(one.namedChildren);
    if (one.type === 'command') return runCommand(this, one, undefined);
    if (one.type === 'assignment_expression') {
      runAssignment(this, one);
      return [];
    }
    if (one.type.endsWith('statement')) return this.outputOf(() => runStatement(this, one));
    if (/(in|de)crement_expression$/.test(one.type)) {
      this.value(one);
      return [];
    }
    return enumerate(this.value(one));
  }

  #chain([first, ...rest]: readonly Node[]): Value[] {
    let values = this.pipeline(first!);
    for (const command of rest) values = runCommand(this, command.inner, values);
    return values;
  }

  /** The value of a pipeline where one value is wanted: an expression keeps its lists. */
  valueOf(node: Node): Value {
    const one = node.inner;
    if (/^(pipeline|pipeline_chain|command|assignment_expression)$|statement$/.test(one.type))
      return collapse(this.pipeline(one));
    return this.value(one);
  }

  /** Until it ends or returns. */
  runBlock(block: Node): Value[] {
    return this.outputOf(() => {
      try {
        this.statements(block);
      } catch (signal) {
        if (!(signal instanceof Signal) || signal.kind !== 'return') throw signal;
      }
    });
  }

  runFor = (value: Value, block: ScriptBlock): Value[] => this.withItem(value, () => this.runBlock(block.node));
  value = (node: Node): Value => evaluate(this, node);
  assign = (target: Node, value: Value): void => assign(this, target, value);

  variable(name: string): Value {
    if (name === 'null') return null;
    if (name === 'true' || name === 'false') return name === 'true';
    if (name.startsWith('env:')) return this.machine.environment.get(name.slice(4).toUpperCase()) ?? null;
    return this.lookup(name);
  }
}
