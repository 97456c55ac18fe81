import { type Edit, isNode, type Node, type Place, replace } from './edit.ts';

const exits = new Set(['ReturnStatement', 'ThrowStatement', 'ContinueStatement', 'BreakStatement']);
const effects = new Set([
  'CallExpression',
  'AwaitExpression',
  'UnaryExpression',
  'AssignmentExpression',
  'UpdateExpression',
]);

/** What a node loses: an effect, an early exit, a member given to a call. */
export function removals(node: Node, { parents }: Place): readonly Edit[] {
  if (node.type === 'ExpressionStatement') return removeEffect(node);
  if (exits.has(node.type)) return isEarly(node, parents) ? [replace(node, ';', 'early exit removed')] : [];
  if (node.type === 'Property') return removeMember(node, parents);
  return [];
}

function removeEffect(node: Node): readonly Edit[] {
  const { expression } = node;
  if (!isNode(expression) || !effects.has(expression.type)) return [];
  const { callee } = expression;
  if (isNode(callee) && callee.type === 'Super') return [];
  return [replace(node, ';', 'statement removed')];
}

/** Only what depends on a condition: the last statement of a function is no early exit. */
function isEarly(node: Node, [parent, grandparent]: readonly Node[]): boolean {
  if (parent?.type === 'BlockStatement') return isBranch(parent, grandparent);
  return isBranch(node, parent);
}

const isBranch = (node: Node, parent: Node | undefined) =>
  parent?.type === 'IfStatement' && (parent['consequent'] === node || parent['alternate'] === node);

/** Members of an object that a call is given, such as a timeout among options. */
function removeMember(node: Node, [object, call]: readonly Node[]): readonly Edit[] {
  const isArgument = call?.type === 'CallExpression' || call?.type === 'NewExpression';
  if (object?.type !== 'ObjectExpression' || !isArgument) return [];
  return [replace(node, '...{}', 'member removed')];
}
