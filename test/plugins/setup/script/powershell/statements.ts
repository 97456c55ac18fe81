import { compare } from './operators.ts';
import type { Session } from './session.ts';
import { nameOf, type SyntaxNode as Node } from './tree.ts';
import { collapse, enumerate, Exception, isTrue, Table, Thrown, toText, type Value } from './values.ts';

/* Statements of PowerShell: conditions, loops, switch, try, and what leaves them. */

export class Signal {
  readonly kind: 'return' | 'break' | 'continue';
  constructor(kind: Signal['kind']) {
    this.kind = kind;
  }
}

const rethrow = new Error('throw');

export function runStatement(interpreter: Session, node: Node): void {
  const parts = node.namedChildren;
  switch (node.type) {
    case 'function_statement':
      interpreter.frame.functions.set(parts.find(({ type }) => type === 'function_name')!.text.toLowerCase(), node);
      return;
    case 'if_statement':
      return runIf(interpreter, parts);
    case 'foreach_statement':
      return runForeach(interpreter, parts);
    case 'for_statement':
      return runFor(interpreter, parts);
    case 'while_statement':
      return runLoop(
        interpreter,
        () => isTrue(interpreter.valueOf(parts[0]!)),
        parts.at(-1)!,
        () => {},
      );
    case 'do_statement': {
      let isFirst = true;
      return runLoop(
        interpreter,
        () => isFirst || isTrue(interpreter.valueOf(parts.at(-1)!)),
        parts[0]!,
        () => {},
        () => (isFirst = false),
      );
    }
    case 'switch_statement':
      return runSwitch(interpreter, node, parts);
    case 'try_statement':
      return runTry(interpreter, parts);
    case 'flow_control_statement':
      return runFlow(interpreter, node, parts);
    case 'pipeline':
    case 'pipeline_chain':
    case 'assignment_expression':
      return interpreter.emit(interpreter.pipeline(node));
    default:
      interpreter.emit(interpreter.pipeline(node));
  }
}

function runIf(interpreter: Session, parts: readonly Node[]): void {
  const [condition, block, ...others] = parts;
  if (isTrue(interpreter.valueOf(condition!))) return interpreter.statements(block!);
  for (const other of others.flatMap((one) => (one.type === 'elseif_clauses' ? one.namedChildren : [one]))) {
    const [first, second] = other.namedChildren;
    if (other.type === 'else_clause') return interpreter.statements(first!);
    if (isTrue(interpreter.valueOf(first!))) return interpreter.statements(second!);
  }
}

function runLoop(interpreter: Session, test: () => boolean, block: Node, next: () => void, before = () => {}): void {
  for (let count = 0; test(); next()) {
    if (++count > 100_000) throw new Error('endless loop');
    try {
      before();
      interpreter.statements(block);
    } catch (signal) {
      if (!(signal instanceof Signal) || signal.kind === 'return') throw signal;
      if (signal.kind === 'break') return;
    }
  }
}

function runForeach(interpreter: Session, [variable, list, block]: readonly Node[]): void {
  const value = interpreter.valueOf(list!);
  const values = value === null ? [] : enumerate(value);
  let index = 0;
  runLoop(
    interpreter,
    () => index < values.length,
    block!,
    () => index++,
    () => interpreter.frame.variables.set(nameOf(variable!), values[index]),
  );
}

function runFor(interpreter: Session, parts: readonly Node[]): void {
  const part = (type: string) => parts.find((one) => one.type === type);
  const [start, condition, next] = [part('for_initializer'), part('for_condition'), part('for_iterator')];
  if (start) interpreter.outputOf(() => interpreter.statements(start));
  runLoop(
    interpreter,
    () => condition === undefined || isTrue(interpreter.valueOf(condition)),
    parts.at(-1)!,
    () => next && interpreter.outputOf(() => interpreter.statements(next)),
  );
}

/** Each value runs all clauses that fit; `break` and `continue` are for the switch. */
function runSwitch(interpreter: Session, node: Node, parts: readonly Node[]): void {
  const ignoreCase = !/^switch\s+-casesensitive/i.test(node.text);
  const condition = parts.find(({ type }) => type === 'switch_condition')!;
  const clauses = node.descendants('switch_clause').filter((one) => one.parent?.parent?.parent === node);
  const values = enumerate(interpreter.valueOf(condition.namedChildren[0]!));
  let index = 0;
  runLoop(
    interpreter,
    () => index < values.length,
    node,
    () => index++,
    () => {
      runClauses(interpreter, clauses, values[index], ignoreCase);
      throw new Signal('continue');
    },
  );
}

function runClauses(interpreter: Session, clauses: readonly Node[], value: Value, ignoreCase: boolean): void {
  let hasFound = false;
  for (const clause of clauses) {
    const [condition, block] = clause.namedChildren;
    if (block === undefined || condition!.text.trim().toLowerCase() === 'default') {
      if (!hasFound) interpreter.statements(block ?? condition!);
      continue;
    }
    const wanted = condition!.text.startsWith('{')
      ? isTrue(
          interpreter.withItem(value, () =>
            collapse(interpreter.runBlock(condition!.descendants('script_block_expression')[0]!)),
          ),
        )
      : isTrue(compare(ignoreCase ? 'eq' : 'ceq', value, clauseText(interpreter, condition!)));
    if (!wanted) continue;
    hasFound = true;
    interpreter.withItem(value, () => interpreter.statements(block));
  }
}

const clauseText = (interpreter: Session, node: Node): Value =>
  node.namedChildren.length > 0 ? interpreter.valueOf(node) : node.text.trim();

function runTry(interpreter: Session, parts: readonly Node[]): void {
  const [block, ...clauses] = parts;
  const handler = clauses.find(({ type }) => type === 'catch_clauses');
  const ending = clauses.find(({ type }) => type === 'finally_clause');
  try {
    interpreter.statements(block!);
  } catch (error) {
    if (!(error instanceof Thrown) || !handler) throw error;
    const record = new Table('object');
    record.set('Exception', error.exception);
    interpreter.withItem(record, () => {
      try {
        interpreter.statements(handler.namedChildren[0]!.namedChildren.at(-1)!);
      } catch (again) {
        throw again === rethrow ? error : again;
      }
    });
  } finally {
    if (ending) interpreter.statements(ending.namedChildren[0]!);
  }
}

function runFlow(interpreter: Session, node: Node, parts: readonly Node[]): void {
  const [word] = node.text.split(/\W/);
  if (word === 'throw') throw parts[0] ? toThrown(interpreter.valueOf(parts[0])) : rethrow;
  if (word === 'return' && parts[0]) interpreter.emit(interpreter.pipeline(parts[0]));
  throw new Signal(word as Signal['kind']);
}

function toThrown(value: Value): Thrown {
  if (value instanceof Table) return new Thrown(value.get('Exception') as Exception);
  return new Thrown(value instanceof Exception ? value : new Exception('RuntimeException', toText(value)));
}
