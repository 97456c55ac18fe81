import { callMember, elementOf, memberOf } from './members.ts';
import { add, compare, format } from './operators.ts';
import type { Session } from './session.ts';
import { expandString, literalText } from './strings.ts';
import { nameOf, type SyntaxNode as Node } from './tree.ts';
import { collapse, convert, isTrue, NetType, ScriptBlock, Table, throwNet, toText, type Value } from './values.ts';

/** The value of an expression. */
export function evaluate(session: Session, given: Node): Value {
  const node = given.inner;
  const parts = node.namedChildren;
  switch (node.type.replace('_argument_expression', '_expression')) {
    case 'variable':
      return session.variable(nameOf(node));
    case 'string_literal':
      return literalText(node) ?? expandString(session, node.namedChildren[0]!);
    case 'integer_literal':
      return Number(node.text);
    case 'logical_expression': {
      const [left, right] = parts;
      const isAnd = node.children.some((child) => child.text.toLowerCase() === '-and');
      const first = isTrue(session.valueOf(left!));
      return isAnd ? first && isTrue(session.valueOf(right!)) : first || isTrue(session.valueOf(right!));
    }
    case 'bitwise_expression':
    case 'comparison_expression': {
      const operator = node.children[1]!.text.slice(1).toLowerCase();
      return compare(operator, session.valueOf(parts[0]!), session.valueOf(parts.at(-1)!));
    }
    case 'additive_expression':
    case 'multiplicative_expression':
      return calculate(node.children[1]!.text, session.valueOf(parts[0]!), session.valueOf(parts.at(-1)!));
    case 'format_expression':
      return format(toText(session.valueOf(parts[0]!)), session.valueOf(parts.at(-1)!));
    case 'array_literal_expression':
      return parts.map((part) => session.valueOf(part) ?? null);
    case 'expression_with_unary_operator':
      return evaluateUnary(session, node, parts);
    case 'cast_expression':
      return cast(session, parts[0]!.text.slice(1, -1), parts[1]!);
    case 'array_expression':
      return session.outputOf(() => session.statements(node));
    case 'sub_expression':
      return collapse(session.outputOf(() => session.statements(node)));
    case 'parenthesized_expression':
      return session.valueOf(parts[0]!);
    case 'hash_literal_expression':
      return createTable(session, node, 'hashtable');
    case 'script_block_expression':
      return new ScriptBlock(node);
    case 'type_literal':
      return new NetType(node.text.slice(1, -1));
    case 'member_access':
      return memberOf(session, session.value(parts[0]!), memberNameOf(session, node), node.children[1]!.text === '::');
    case 'element_access':
      return elementOf(session.value(parts[0]!), session.valueOf(parts[1]!));
    case 'invokation_expression':
      return invoke(session, node, parts);
    case 'post_increment_expression':
    case 'post_decrement_expression': {
      const before = Number(session.value(parts[0]!) ?? 0);
      session.assign(parts[0]!.inner, before + (node.type === 'post_increment_expression' ? 1 : -1));
      return before;
    }
    case 'command':
    case 'pipeline':
    case 'pipeline_chain':
    case 'assignment_expression':
      return session.valueOf(node);
    default:
      throw new Error(`no value of ${node.type}: ${node.text.slice(0, 80)}`);
  }
}

function calculate(operator: string, left: Value, right: Value): Value {
  if (operator === '+') return add(left, right);
  return operator === '-' ? Number(left) - Number(right) : Number(left) * Number(right);
}

function evaluateUnary(session: Session, node: Node, parts: readonly Node[]): Value {
  const [operator] = /^(-not|,|-|!)/i.exec(node.text) ?? [];
  if (operator === undefined) return session.value(parts[0]!);
  const value = session.valueOf(parts[0]!);
  if (operator === ',') return [value];
  return operator === '-' ? -Number(value) : !isTrue(value);
}

function cast(session: Session, type: string, node: Node): Value {
  const inner = node.inner;
  if (type === 'ordered') return createTable(session, inner, 'ordered');
  return convert(session.valueOf(inner), type);
}

function createTable(session: Session, node: Node, kind: 'hashtable' | 'ordered'): Table {
  const table = new Table(kind);
  for (const entry of node.descendants('hash_entry').filter((one) => one.parent?.parent === node)) {
    const [key, value] = entry.namedChildren.filter(({ type }) => type !== 'empty_statement');
    const inner = key!.inner;
    table.set(
      inner.type.endsWith('simple_name') ? inner.text : toText(session.value(inner)),
      session.valueOf(value!) ?? null,
    );
  }
  return table;
}

/** The name behind `.` or `::`, which may be in a variable. */
export function memberNameOf(session: Session, node: Node): string {
  const name = node.namedChildren.find(({ type }) => type === 'member_name')!;
  const inner = name.inner;
  return inner.type === 'variable' ? toText(session.value(inner)) : inner.text;
}

function invoke(session: Session, node: Node, parts: readonly Node[]): Value {
  const target = session.value(parts[0]!);
  const list = parts
    .find(({ type }) => type === 'argument_list')!
    .namedChildren.find((child) => child?.type === 'argument_expression_list');
  const args = (list?.namedChildren ?? []).map((argument) => session.valueOf(argument) ?? null);
  const name = memberNameOf(session, node);
  if (target === null || target === undefined)
    throwNet('RuntimeException', 'You cannot call a method on a null-valued expression.');
  return callMember(session, target, name, args);
}
