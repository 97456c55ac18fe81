// Settings in JSON files, which may contain comments and trailing commas.
import { Refusal, isEmpty, lineEndOf, refuse, withLineEnds } from './common.mjs';
import { JsonEdits } from './json-text.mjs';
import { parse } from './json-tree.mjs';
import { editorOf } from './settings.mjs';

function fill({ text }, wanted) {
  const lineEnd = lineEndOf(text);
  const lines = withLineEnds(wanted.replace(/[ \t\r\n]*$/, '\n'), lineEnd);
  if (isEmpty(text)) return (text.startsWith('\ufeff') ? '\ufeff' : '') + lines;
  return text + (text.endsWith('\n') ? '' : lineEnd) + lines;
}

function requireRoot({ root }, { kind }) {
  const name = kind === 'map' ? 'an object' : 'a list';
  if (root.kind !== kind) throw new Refusal(`The file does not hold ${name}, as its tool expects.`);
}

/** Settings in a file that the tool cannot read would be lost on it. */
function requireDialect({ text, comment, extraComma }, _, { dialect }) {
  if (dialect === undefined) return;
  if (extraComma !== -1) refuse(text, extraComma, 'The tool does not read a file with a comma behind the last value.');
  if (dialect === 'plain' && comment !== -1) refuse(text, comment, 'The tool does not read a file with comments.');
}

export const json = editorOf({
  scan: parse,
  Edits: JsonEdits,
  fill,
  requireRoot,
  check: requireDialect,
  isExact: true,
});
