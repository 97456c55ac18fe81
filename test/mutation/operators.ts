import { type Edit, isNode, type Node, type Place, replace, textOf } from './edit.ts';
import { removals } from './removals.ts';

const swapped: Readonly<Record<string, readonly [text: string, operator: string]>> = {
  '<': ['<=', 'bound shifted'],
  '<=': ['<', 'bound shifted'],
  '>': ['>=', 'bound shifted'],
  '>=': ['>', 'bound shifted'],
  '===': ['!==', 'condition negated'],
  '!==': ['===', 'condition negated'],
  '+': ['-', 'arithmetic swapped'],
  '-': ['+', 'arithmetic swapped'],
  '*': ['/', 'arithmetic swapped'],
  '/': ['*', 'arithmetic swapped'],
  '%': ['*', 'arithmetic swapped'],
  '&&': ['||', 'logic swapped'],
  '||': ['&&', 'logic swapped'],
  '??': ['&&', 'logic swapped'],
};
/** Calls whose last argument is a number of ms. */
const timers = new Set(['setTimeout', 'setInterval', 'wait', 'AbortSignal.timeout', 'waitForFirst']);
/** Counts up to here are changed by one, larger numbers by a unit. */
const largestCount = 10;

/** The edits of one node, not of those inside it. */
export function editsOf(node: Node, place: Place): readonly Edit[] {
  return [...(edits[node.type]?.(node, place) ?? []), ...removals(node, place)];
}

type Operator = (node: Node, place: Place) => readonly Edit[];

const edits: Readonly<Record<string, Operator>> = {
  IfStatement: negateTest,
  ConditionalExpression: negateTest,
  WhileStatement: negateTest,
  BinaryExpression: swap,
  LogicalExpression: swap,
  Literal: (node) => [...changeNumber(node), ...changeBoolean(node)],
  CallExpression: (node, place) => [...changeDelay(node, place), ...swapExtreme(node, place)],
};

/** Comparisons are negated by their own operator. */
function negateTest({ test }: Node, { source }: Place): readonly Edit[] {
  if (!isNode(test) || isEquality(test)) return [];
  return [replace(test, `!(${textOf(source, test)})`, 'condition negated')];
}

const isEquality = ({ type, operator }: Node) =>
  type === 'BinaryExpression' && (operator === '===' || operator === '!==');

function swap(node: Node, { source }: Place): readonly Edit[] {
  const { left, right, operator } = node;
  const change = swapped[operator as string];
  if (change === undefined || !isNode(left) || !isNode(right)) return [];
  if (operator === '+' && [left, right].some(isText)) return [];
  const [text, name] = change;
  // Mixing ?? with || or && needs parentheses.
  const changed = `(${textOf(source, left)}) ${text} (${textOf(source, right)})`;
  const mixes = node.type === 'LogicalExpression';
  return [replace(node, mixes ? `(${changed})` : changed, name)];
}

const isText = ({ type, value }: Node) => type === 'TemplateLiteral' || typeof value === 'string';

function changeNumber(node: Node): readonly Edit[] {
  const { value } = node;
  if (typeof value !== 'number') return [];
  const others = value <= largestCount ? [value + 1, 0] : [value * 1000, value / 1000];
  return others
    .filter((other) => other !== value)
    .map((other) => replace(node, String(other), `${value} became ${other}`));
}

function changeBoolean(node: Node): readonly Edit[] {
  return typeof node['value'] === 'boolean' ? [replace(node, String(!node['value']), 'boolean changed')] : [];
}

/** Literal delays are changed as numbers. */
function changeDelay({ callee, arguments: given }: Node, { source }: Place): readonly Edit[] {
  const delay = (given as readonly Node[])[1] ?? (given as readonly Node[])[0];
  if (delay === undefined || delay.type === 'Literal' || !timers.has(textOf(source, callee as Node))) return [];
  if (delay.type.includes('Function')) return [];
  return [replace(delay, `(${textOf(source, delay)}) * 1000`, 'delay changed')];
}

function swapExtreme({ callee }: Node, { source }: Place): readonly Edit[] {
  const name = textOf(source, callee as Node);
  if (name !== 'Math.max' && name !== 'Math.min') return [];
  return [replace(callee as Node, name === 'Math.max' ? 'Math.min' : 'Math.max', 'extreme swapped')];
}
