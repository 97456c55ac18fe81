import { cmdlets } from './cmdlets.ts';
import { callMember, elementOf, memberOf, setElement, setMember } from './members.ts';
import { add, compare, format } from './operators.ts';
import type { Frame, Session } from './session.ts';
import { runStatement, Signal } from './statements.ts';
import type { Machine } from './machine.ts';
import { expandString, literalText } from './strings.ts';
import { nameOf, type SyntaxNode as Node } from './tree.ts';
import {
  collapse,
  convert,
  enumerate,
  isTrue,
  NetType,
  ScriptBlock,
  Table,
  throwNet,
  toText,
  type Value,
} from './values.ts';

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

  #inFrame<T>(run: () => T): T {
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
    if (one.type === 'command') return this.command(one, undefined);
    if (one.type === 'assignment_expression') {
      this.#assign(one);
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
    for (const command of rest) values = this.command(command.inner, values);
    return values;
  }

  /** The value of a pipeline where one value is wanted: an expression keeps its lists. */
  valueOf(node: Node): Value {
    const one = node.inner;
    if (/^(pipeline|pipeline_chain|command|assignment_expression)$|statement$/.test(one.type))
      return collapse(this.pipeline(one));
    return this.value(one);
  }

  #assign(node: Node): void {
    const [left, operator, right] = [node.namedChildren[0]!, node.namedChildren[1]!, node.namedChildren[2]!];
    const value = this.valueOf(right);
    const target = left.inner;
    if (target.type === 'array_literal_expression') {
      const values = enumerate(value);
      target.namedChildren.forEach((one, index, { length }) =>
        this.#set(one.inner, index === length - 1 ? (collapse(values.slice(index)) ?? null) : (values[index] ?? null)),
      );
    } else
      this.#set(
        target,
        operator.text === '=' ? value : add(this.value(target), operator.text === '-=' ? -Number(value) : value),
      );
  }

  #set(target: Node, value: Value): void {
    if (target.type === 'variable') {
      const name = nameOf(target);
      if (name.startsWith('global:')) this.machine.globals.set(name.slice(7), value);
      else if (name !== 'null') this.frame.variables.set(name, value);
    } else if (target.type === 'member_access') {
      setMember(this, this.value(target.namedChildren[0]!), this.#memberName(target), value ?? null);
    } else setElement(this.value(target.namedChildren[0]!), this.value(target.namedChildren[1]!), value ?? null);
  }

  command(node: Node, input: readonly Value[] | undefined): Value[] {
    const elements = (node.child('command_elements')?.namedChildren ?? []).filter(
      (child) => child.type !== 'command_argument_sep',
    );
    const operator = node.child('command_invokation_operator');
    if (operator) return this.#callBlock(node.descendants('script_block_expression')[0]!, elements);
    const name = node.namedChildren[0]!.text;
    for (let frame: Frame | undefined = this.frame; frame; frame = frame.parent) {
      const found = frame.functions.get(name.toLowerCase());
      if (found) return this.#call(found, elements);
    }
    const cmdlet = cmdlets[name.toLowerCase()];
    if (!cmdlet) throw new Error(`no command ${name}`);
    return cmdlet(this, this.#named(elements), input ?? []);
  }

  /** Arguments of a cmdlet: those behind a parameter by its name, the others in order. */
  #named(elements: readonly Node[]) {
    const named = new Map<string, Value>();
    const positional: Value[] = [];
    for (let index = 0; index < elements.length; index++) {
      const element = elements[index]!;
      if (element.type !== 'command_parameter') positional.push(this.#argument(element));
      else {
        const next = elements[index + 1];
        const isSwitch = /^-(Force|All|AsSecureString|Unique|Descending|Off)$/i.test(element.text) || !next;
        named.set(element.text.slice(1).toLowerCase(), isSwitch ? true : this.#argument(elements[++index]!));
      }
    }
    return { named, positional };
  }

  #argument = (node: Node): Value => (node.type === 'generic_token' ? node.text : (this.valueOf(node) ?? null));

  #call(node: Node, elements: readonly Node[]): Value[] {
    const given = elements.map((element) => this.#argument(element));
    const list = node.child('function_parameter_declaration');
    return this.#inFrame(() => {
      (list?.descendants('script_parameter') ?? []).forEach((parameter, index) => {
        const name = nameOf(parameter.child('variable')!);
        const type = parameter.descendants('type_spec')[0]?.text;
        const standard = parameter.child('script_parameter_default');
        const value = index < given.length ? given[index] : standard ? this.value(standard.namedChildren[0]!) : null;
        this.frame.variables.set(name, type ? convert(value, type) : value);
      });
      return this.#body(node.child('script_block'));
    });
  }

  #body(block: Node | null | undefined): Value[] {
    return this.outputOf(() => {
      try {
        if (block) this.statements(block);
      } catch (signal) {
        if (!(signal instanceof Signal) || signal.kind !== 'return') throw signal;
      }
    });
  }

  #callBlock(block: Node, elements: readonly Node[]): Value[] {
    const given = elements.map((element) => this.#argument(element));
    const names = block.descendants('param_block')[0]?.descendants('variable') ?? [];
    return this.#inFrame(() => {
      names.forEach((name, index) => this.frame.variables.set(nameOf(name), given[index] ?? null));
      return this.#body(block);
    });
  }

  /** A block of Where-Object or ForEach-Object runs in the scope of its caller. */
  runBlock = (block: Node): Value[] => this.#body(block);
  runFor = (value: Value, block: ScriptBlock): Value[] => this.withItem(value, () => this.runBlock(block.node));

  value(given: Node): Value {
    const node = given.inner;
    const parts = node.namedChildren;
    switch (node.type.replace('_argument_expression', '_expression')) {
      case 'variable':
        return this.variable(nameOf(node));
      case 'string_literal':
        return literalText(node) ?? expandString(this, node.namedChildren[0]!);
      case 'integer_literal':
        return Number(node.text);
      case 'logical_expression': {
        const [left, right] = parts;
        const isAnd = node.children.some((child) => child.text.toLowerCase() === '-and');
        const first = isTrue(this.valueOf(left!));
        return isAnd ? first && isTrue(this.valueOf(right!)) : first || isTrue(this.valueOf(right!));
      }
      case 'bitwise_expression':
      case 'comparison_expression': {
        const operator = node.children[1]!.text.slice(1).toLowerCase();
        return compare(operator, this.valueOf(parts[0]!), this.valueOf(parts.at(-1)!));
      }
      case 'additive_expression':
      case 'multiplicative_expression':
        return this.#arithmetic(node.children[1]!.text, this.valueOf(parts[0]!), this.valueOf(parts.at(-1)!));
      case 'format_expression':
        return format(toText(this.valueOf(parts[0]!)), this.valueOf(parts.at(-1)!));
      case 'array_literal_expression':
        return parts.map((part) => this.valueOf(part) ?? null);
      case 'expression_with_unary_operator':
        return this.#unary(node, parts);
      case 'cast_expression':
        return this.#cast(parts[0]!.text.slice(1, -1), parts[1]!);
      case 'array_expression':
        return this.outputOf(() => this.statements(node));
      case 'sub_expression':
        return collapse(this.outputOf(() => this.statements(node)));
      case 'parenthesized_expression':
        return this.valueOf(parts[0]!);
      case 'hash_literal_expression':
        return this.#table(node, 'hashtable');
      case 'script_block_expression':
        return new ScriptBlock(node);
      case 'type_literal':
        return new NetType(node.text.slice(1, -1));
      case 'member_access':
        return memberOf(this, this.value(parts[0]!), this.#memberName(node), node.children[1]!.text === '::');
      case 'element_access':
        return elementOf(this.value(parts[0]!), this.valueOf(parts[1]!));
      case 'invokation_expression':
        return this.#invoke(node, parts);
      case 'post_increment_expression':
      case 'post_decrement_expression': {
        const before = Number(this.value(parts[0]!) ?? 0);
        this.#set(parts[0]!.inner, before + (node.type === 'post_increment_expression' ? 1 : -1));
        return before;
      }
      case 'command':
      case 'pipeline':
      case 'pipeline_chain':
      case 'assignment_expression':
        return this.valueOf(node);
      default:
        throw new Error(`no value of ${node.type}: ${node.text.slice(0, 80)}`);
    }
  }

  variable(name: string): Value {
    if (name === 'null') return null;
    if (name === 'true' || name === 'false') return name === 'true';
    if (name.startsWith('env:')) return this.machine.environment.get(name.slice(4).toUpperCase()) ?? null;
    return this.lookup(name);
  }

  #arithmetic(operator: string, left: Value, right: Value): Value {
    if (operator === '+') return add(left, right);
    return operator === '-' ? Number(left) - Number(right) : Number(left) * Number(right);
  }

  #unary(node: Node, parts: readonly Node[]): Value {
    const [operator] = /^(-not|,|-|!)/i.exec(node.text) ?? [];
    if (operator === undefined) return this.value(parts[0]!);
    const value = this.valueOf(parts[0]!);
    if (operator === ',') return [value];
    return operator === '-' ? -Number(value) : !isTrue(value);
  }

  #cast(type: string, node: Node): Value {
    const inner = node.inner;
    if (type === 'ordered') return this.#table(inner, 'ordered');
    return convert(this.valueOf(inner), type);
  }

  #table(node: Node, kind: 'hashtable' | 'ordered'): Table {
    const table = new Table(kind);
    for (const entry of node.descendants('hash_entry').filter((one) => one.parent?.parent === node)) {
      const [key, value] = entry.namedChildren.filter(({ type }) => type !== 'empty_statement');
      const inner = key!.inner;
      table.set(
        inner.type.endsWith('simple_name') ? inner.text : toText(this.value(inner)),
        this.valueOf(value!) ?? null,
      );
    }
    return table;
  }

  #memberName(node: Node): string {
    const name = node.namedChildren.find(({ type }) => type === 'member_name')!;
    const inner = name.inner;
    return inner.type === 'variable' ? toText(this.value(inner)) : inner.text;
  }

  #invoke(node: Node, parts: readonly Node[]): Value {
    const target = this.value(parts[0]!);
    const list = parts
      .find(({ type }) => type === 'argument_list')!
      .namedChildren.find((child) => child?.type === 'argument_expression_list');
    const args = (list?.namedChildren ?? []).map((argument) => this.valueOf(argument) ?? null);
    const name = this.#memberName(node);
    if (target === null || target === undefined)
      throwNet('RuntimeException', 'You cannot call a method on a null-valued expression.');
    return callMember(this, target, name, args);
  }
}
