import { Refusal, unlessRefused } from '../edit/common.mjs';
// Puts settings into files of JSON with comments, TOML and YAML, and takes them out again. All other bytes stay as they are.
import { json } from '../edit/json.mjs';
import { toml } from '../edit/toml.mjs';
import { yaml } from '../edit/yaml.mjs';
import { decode, encode } from './machine.mjs';

const formats = { json, toml, yaml };
const maxBytes = 1024 * 1024;

/**
 * `apply` puts `wanted` in and takes what only `previous` has out; `remove` takes `previous` out. `before` is the file without
 * them, as of the last run. Absent contents are files that do not exist.
 *
 * @returns after and before, and left: the names of settings that were changed since and stay; `check` gives missing alone
 * @throws Refusal for a file that cannot be edited without doubt; its message has no value of the file
 */
export function editSettings(command, { format, identity, at, dialect }, contents) {
  const texts = {};
  for (const [name, content] of Object.entries(contents))
    texts[name] = content === undefined ? undefined : toText(content);
  const [identifying, initial] = `${identity};`.split(';');
  const options = {
    identity: asList(identifying),
    initial: asList(initial),
    ...(at && { at }),
    ...(command === 'apply' && dialect && { dialect }),
  };
  const { after, before, ...rest } = commands[command](formats[format], texts, options);
  return { ...rest, after: toBytes(after), ...(command === 'apply' && { before: toBytes(before) }) };
}

const asList = (list) => (list === '-' || list === '' ? [] : list.split(','));
const toBytes = (text) => (text === undefined ? undefined : encode(text));

function toText(content) {
  if (content.length > maxBytes) throw new Refusal('The file is larger than 1 MB.');
  if (content.includes('\0')) throw new Refusal('The file contains a NUL character.');
  return decode(content);
}

const commands = {
  apply(format, texts, options) {
    const { current, wanted, previous } = texts;
    // A changed entry of ours would else count as the user's own from now on, with the key in it.
    const clean = withoutPrevious(format, texts, { ...options, replaces: true });
    const added = format.withoutPresent(wanted, clean.text ?? '', options.initial);
    const isSame = current !== undefined && previous === wanted && format.merge(current, added, options) === current;
    // Entries at the start of a list stand in the order of the settings, and so none may keep its place.
    const keeping = options.at === 'start' ? options : { ...options, keep: wanted };
    const base = withoutPrevious(format, texts, keeping).text;
    const after = isSame ? current : mergeAnew(format, base, clean.text, added, options);
    if (format.missing(after, added, options).length > 0) throw new Refusal('The settings cannot be merged safely.');
    const all = format.missing('', wanted, options);
    const isOurs = (name) => all.some((other) => other === name || other.startsWith(`${name}.`));
    return { after, before: clean.text, left: clean.left.filter((name) => !isOurs(name)) };
  },

  remove(format, texts, options) {
    const clean = withoutPrevious(format, texts, options);
    return { after: clean.text, left: clean.left.filter((name) => !options.initial.includes(name)) };
  },

  check(format, { current = '', wanted }, options) {
    return { missing: format.missing(current, format.withoutPresent(wanted, current, options.initial), options) };
  },
};

/** A value that kept its place may be of another kind than the new one: then it has to go first. */
function mergeAnew(format, base, clean, added, options) {
  return unlessRefused(
    () => format.merge(base, added, options),
    () => format.merge(clean, added, options),
  );
}

/** The file without the settings of the last run; no text where the file then would not exist. */
function withoutPrevious(format, { current, previous, before }, options) {
  if (current === undefined || previous === undefined) return { text: current, left: [] };
  const { text, left } = format.remove(current, previous, before, options);
  format.missing(text, previous, options); // Refuses what cannot be parsed.
  return { text: text === '' && before === undefined ? undefined : text, left };
}
