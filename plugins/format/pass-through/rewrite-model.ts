import { endOfString, type JsonObject } from '#core/json.ts';

/** Bytes at the beginning of a body in which its model is looked for the quick way. Clients name it first. */
const quickBytes = 4_096;
const key = '"model"';
const longestModel = 512;

/**
 * Returns the body with another model name in it and every other byte as it was, so that fields we do not know, big
 * numbers and spacing survive. A body that names the model twice is written anew from what was parsed: the last one
 * counts, there as here.
 */
export function rewriteModel(bytes: Buffer, text: string, body: JsonObject, model: string): Buffer | string {
  if (body['model'] === model) return bytes;
  const quick = findQuickly(bytes, body['model']);
  if (quick !== undefined) {
    return Buffer.concat([
      bytes.subarray(0, quick.begin),
      Buffer.from(JSON.stringify(model)),
      bytes.subarray(quick.end),
    ]);
  }
  const found = findMember(text, 'model');
  if (found === undefined) return JSON.stringify({ ...body, model });
  return text.slice(0, found.begin) + JSON.stringify(model) + text.slice(found.end);
}

/**
 * The same search without reading a long prompt character by character: only the beginning of the body is looked at.
 * Undefined when the model is not there, or not what the parser has found, which is a second one further on.
 */
function findQuickly(bytes: Buffer, model: unknown): Span | undefined {
  // One character a byte, so that positions are the same in both.
  const beginning = bytes.toString('latin1', 0, quickBytes);
  const at = beginning.indexOf(key);
  if (at === -1) return undefined;
  const found = findMember(beginning.slice(0, at + key.length + longestModel), 'model');
  return found !== undefined && beginning.slice(found.begin, found.end) === JSON.stringify(model) ? found : undefined;
}

interface Span {
  readonly begin: number;
  readonly end: number;
}

/** Where the string value of a top-level member stands; undefined when it is not there exactly once. */
function findMember(text: string, name: string): Span | undefined {
  const quoted = JSON.stringify(name);
  let found: Span | undefined;
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const char = text.charCodeAt(index);
    if (char === 0x7b || char === 0x5b) depth++;
    else if (char === 0x7d || char === 0x5d) depth--;
    else if (char === 0x22) {
      const end = endOfString(text, index);
      if (depth === 1 && isKey(text, end)) {
        // A name that is written with escapes is another spelling of who knows what: leave it to the parser.
        if (text.slice(index, end + 1).includes('\\')) return undefined;
        if (text.startsWith(quoted, index)) {
          if (found !== undefined) return undefined;
          found = valueAfter(text, end + 1);
          if (found === undefined) return undefined;
        }
      }
      index = end;
    }
  }
  return found;
}

/** True when the string that ends at `end` is followed by a colon. */
function isKey(text: string, end: number): boolean {
  return text.charCodeAt(skipSpace(text, end + 1)) === 0x3a;
}

function valueAfter(text: string, index: number): Span | undefined {
  const begin = skipSpace(text, skipSpace(text, index) + 1);
  return text.charCodeAt(begin) === 0x22 ? { begin, end: endOfString(text, begin) + 1 } : undefined;
}

function skipSpace(text: string, from: number): number {
  let index = from;
  for (let char = text.charCodeAt(index); char === 0x20 || (char >= 0x09 && char <= 0x0d);)
    char = text.charCodeAt(++index);
  return index;
}
