import fc from 'fast-check';
import type { Node } from '../../../../plugins/setup/script/edit/json-tree.mjs';
import { parse } from '../../../../plugins/setup/script/edit/json-tree.mjs';

/** JSON files with comments and trailing commas, in every style, whose members meet those of the settings. */
const names = ['env', 'model', 'list', 'id', 'url', 'A', 'x.y', '__proto__', 'ü', '😀', '\\u0061', 'q\\"'];
const name = fc.constantFrom(...names).map((text) => `"${text}"`);
const scalars = [
  '"m"',
  '"m2"',
  '""',
  '"\\u006d"',
  '"// no"',
  '"/* no */"',
  '"}\\\\"',
  '"é😀\\ud83d\\ude00"',
  'true',
  'false',
];
const numbers = ['1', '1.0', '-0', '0.10', '1e3', '12345678901234567890', '12345678901234567891'];
const scalar = fc.constantFrom(...scalars, ...numbers, 'null');
const entry = fc
  .tuple(fc.constantFrom('"m"', '"m2"', '"\\u006d"'), fc.constantFrom('', ',"url":1', ', "A" : [ ]', ',"url":{"A":1}'))
  .map(([id, more]) => `{"id":${id}${more}}`);

const gaps = ['', '', '', ' ', '\n', '\n  ', '\n\t', '\n\n    ', ' // c\n', '//\n  ', '/* c */', ' /* , } ] " */ '];
const gap = fc.constantFrom(...gaps, '\n  // "env": {},\n  ', '\n/* a\n * b */\n', '/**/ // é\n\n');

/** A container in which everything may stand between two tokens. */
function container(open: string, close: string, child: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const list = fc.array(fc.tuple(gap, child, gap), { maxLength: 4, depthIdentifier: 'json' });
  return fc.tuple(list, gap, fc.boolean()).map(([children, end, isTrailing]) => {
    const body = children.map((parts) => parts.join('')).join(',');
    return open + body + (isTrailing && children.length > 0 ? ',' : '') + end + close;
  });
}

const { value, object } = fc.letrec<{ value: string; object: string; array: string; member: string }>((tie) => ({
  value: fc.oneof({ depthIdentifier: 'json', maxDepth: 4 }, scalar, scalar, entry, tie('object'), tie('array')),
  object: container('{', '}', tie('member')),
  array: fc.oneof(container('[', ']', tie('value')), container('[', ']', entry)),
  member: fc.tuple(name, gap, gap, tie('value')).map(([key, left, right, own]) => `${key}${left}:${right}${own}`),
}));

const odd = fc.tuple(gap, object, gap).map((parts) => parts.join(''));
const plain = fc
  .tuple(object, fc.constantFrom<(number | string | undefined)[]>(undefined, 1, 2, 4, '\t'))
  .map(([text, indent]) => JSON.stringify(readJson(text), undefined, indent) + (indent ? '\n' : ''));
const files = fc.oneof(
  { weight: 8, arbitrary: odd },
  { weight: 8, arbitrary: plain },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', ' ', '\n', '\n\n', '{}', '{ }\n', '{\n}', '// c', '/* c */\n', '{}// c'),
  },
);

/** Objects. */
export const jsonFiles = inFiles(files).filter(isUnique);
/** Lists of objects. */
export const jsonLists = inFiles(container('[', ']', fc.oneof(entry, value))).filter(isUnique);

function inFiles(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const ends = fc.tuple(fc.constantFrom('', '', '', '\ufeff'), fc.constantFrom('\n', '\n', '\r\n'));
  return fc.tuple(ends, texts).map(([[mark, lineEnd], text]) => mark + text.replaceAll('\n', lineEnd));
}

/** Settings as the setup script writes them, in several styles. */
const setting = fc.constantFrom<unknown>('m', 'm2', 'é', '', 0, 1, 1000, true, null, [], ['m', 1], [[1], { A: 1 }], {});
const settings = fc.constantFrom<unknown[]>([{ id: 'm', url: 1 }], [{ id: 'm' }], [{ id: 'm' }, { id: 'm2', A: [] }]);
const tree = fc.dictionary(fc.constantFrom('env', 'model', 'A', 'a', 'x.y'), fc.oneof(setting, settings), {
  maxKeys: 3,
});
const indents = fc.constantFrom<(number | undefined)[]>(2, 2, 4, undefined);
export const wantedJson = fc
  .tuple(fc.dictionary(fc.constantFrom('env', 'model', 'list', 'ü'), fc.oneof(setting, settings, tree)), indents)
  .map(([value_, indent]) => JSON.stringify(value_, undefined, indent));
const list = fc.constantFrom(
  [{ id: 'm', url: 1 }],
  [
    { id: 'm', url: 1, A: 'm' },
    { id: 'm2', url: 1 },
  ],
);
export const wantedList = fc.tuple(list, indents).map(([value_, indent]) => JSON.stringify(value_, undefined, indent));

/** The parsed value of a file; undefined for one without a value. */
export function readJson(text: string): unknown {
  const { root } = parse(text);
  return root && valueOf(root, text);
}

function valueOf({ kind, children, start, end }: Node, text: string): unknown {
  if (kind === 'list') return children.map((child) => valueOf(child.node, text));
  if (kind !== 'map') return JSON.parse(text.slice(start, end)) as unknown;
  return Object.fromEntries(children.map((child) => [child.name, valueOf(child.node, text)]));
}

function isUnique(text: string): boolean {
  const { root } = parse(text);
  return !root || hasUniqueNames(root);
}

function hasUniqueNames({ kind, children }: Node): boolean {
  if (kind === 'map' && new Set(children.map((child) => child.name)).size < children.length) return false;
  return children.every((child) => hasUniqueNames(child.node));
}
