// Merges settings into files of JSON with comments, TOML and YAML, and removes them. All other bytes stay as they are.

import { Refusal, unlessRefused } from '../edit/common.mjs';
import { json } from '../edit/json.mjs';
import { toml } from '../edit/toml.mjs';
import { yaml } from '../edit/yaml.mjs';
import { decode, encode } from './machine.mjs';

const formats = { json, toml, yaml };
const maxBytes = 1024 * 1024;

/**
 * `apply` merges `wanted` and removes settings that only `previous` has; `remove` removes `previous`; `check` lists missing settings.
 * `before` is the file without the settings, as of the last run. The content of a file that does not exist is undefined.
 *
 * @returns after, before, and in left the names of settings that were changed since and stay; for `check`, only missing
 * @throws Refusal if the file cannot be edited safely; the message contains no value of the file
 */
export function editSettings(command, { format, identity, at, dialect }, contents) {
  const texts = {};
  for (const [name, content] of Object.entries(contents))
    texts[name] = content === undefined ? undefined : toText(content);
  const [identifying, initial] = `${identity};`.split(';');
  const options = {
    identity: parseList(identifying),
    initial: parseList(initial),
    ...(at && { at }),
    ...(command === 'apply' && dialect && { dialect }),
  };
  const { after, before, ...rest } = commands[command](formats[format], texts, options);
  return { ...rest, after: toBytes(after), ...(command === 'apply' && { before: toBytes(before) }) };
}

const parseList = (list) => (list === '-' || list === '' ? [] : list.split(','));
const toBytes = (text) => (text === undefined ? undefined : encode(text));

function toText(content) {
  if (content.length > maxBytes) throw new Refusal('The file is larger than 1 MB.');
  if (content.includes('\0')) throw new Refusal('The file contains a NUL character.');
  return decode(content);
}

const commands = {
  apply(format, texts, options) {
    const { current, wanted, previous } = texts;
    // Otherwise, an entry of ours that was changed would count as the user's from then on, including its key.
    const original = withoutPrevious(format, texts, { ...options, replaces: true });
    const added = format.withoutPresent(wanted, original.text ?? '', options.initial);
    const isSame = current !== undefined && previous === wanted && format.merge(current, added, options) === current;
    // Entries at the start of a list follow the order of the settings, so none may keep its position.
    const keepingOptions = options.at === 'start' ? options : { ...options, keep: wanted };
    const base = withoutPrevious(format, texts, keepingOptions).text;
    const after = isSame ? current : mergeOrReplace(format, base, original.text, added, options);
    if (format.missing(after, added, options).length > 0) throw new Refusal('The settings cannot be merged safely.');
    const ownNames = format.missing('', wanted, options);
    const isOurs = (name) => ownNames.some((other) => other === name || other.startsWith(`${name}.`));
    return { after, before: original.text, left: original.left.filter((name) => !isOurs(name)) };
  },

  remove(format, texts, options) {
    const original = withoutPrevious(format, texts, options);
    return { after: original.text, left: original.left.filter((name) => !options.initial.includes(name)) };
  },

  check(format, { current = '', wanted }, options) {
    return { missing: format.missing(current, format.withoutPresent(wanted, current, options.initial), options) };
  },
};

function mergeOrReplace(format, base, original, added, options) {
  return unlessRefused(
    () => format.merge(base, added, options),
    // A value that kept its position may differ in kind from the new one, and must then be removed first.
    () => format.merge(original, added, options),
  );
}

function withoutPrevious(format, { current, previous, before }, options) {
  if (current === undefined || previous === undefined) return { text: current, left: [] };
  const { text, left } = format.remove(current, previous, before, options);
  format.missing(text, previous, options); // throws if the text cannot be parsed
  // A file that existed only because of the settings is removed with them.
  return { text: text === '' && before === undefined ? undefined : text, left };
}
