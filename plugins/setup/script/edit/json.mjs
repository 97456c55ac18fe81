// Settings in JSON files, which may contain comments and trailing commas.

import { Refusal, isEmpty, readLineEnd, refuse, setLineEnds } from './common.mjs';
import { JsonEdits } from './json-text.mjs';
import { parse } from './json-tree.mjs';
import { createEditor } from './settings.mjs';

function createFile({ text }, wanted) {
  const lineEnd = readLineEnd(text);
  const lines = setLineEnds(wanted.replace(/[ \t\r\n]*$/, '\n'), lineEnd);
  if (isEmpty(text)) return (text.startsWith('\ufeff') ? '\ufeff' : '') + lines;
  return text + (text.endsWith('\n') ? '' : lineEnd) + lines;
}

function requireRoot({ root }, { kind }) {
  const name = kind === 'map' ? 'an object' : 'a list';
  if (root.kind !== kind) throw new Refusal(`The file does not hold ${name}, as its tool expects.`);
}

function requireDialect({ text, comment, extraComma }, _, { dialect }) {
  // The tool would ignore settings in a file that it cannot read.
  if (dialect === undefined) return;
  if (extraComma !== -1) refuse(text, extraComma, 'The tool does not read a file with a comma behind the last value.');
  if (dialect === 'plain' && comment !== -1) refuse(text, comment, 'The tool does not read a file with comments.');
}

export const json = createEditor({
  scan: parse,
  Edits: JsonEdits,
  fill: createFile,
  requireRoot,
  check: requireDialect,
  isExact: true,
});
