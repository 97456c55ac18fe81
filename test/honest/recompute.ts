import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';

/*
 * The program of docs/examples/answer-digest.py in TypeScript, from the description in docs/honesty.md and without the code of the
 * gateway: what a customer computes from an answer.
 */

/** The digest of the body of an answer, JSON or an event stream; null for one without content. */
export function recompute(answer: string): string | null {
  const objects = objectsIn(answer);
  const content = new Content();
  const has = (name: string) => objects.some((body) => name in body);
  if (has('choices')) readChat(objects, content);
  else if (has('candidates')) readGemini(objects, content);
  else if (has('response') || objects.some(({ object }) => object === 'response')) readResponses(objects, content);
  else readMessages(objects, content);
  return content.digest();
}

interface Call {
  id: string;
  name: string;
  input: JsonValue;
}

class Content {
  text = '';
  reasoning = '';
  readonly calls = new Map<string, Call>(); // by their place in the answer

  call(key: string, id: JsonValue | undefined, name: JsonValue | undefined, more: JsonValue | undefined): void {
    const call = this.calls.get(key) ?? { id: '', name: '', input: '' };
    this.calls.set(key, call);
    call.id ||= textOf(id);
    call.name ||= textOf(name);
    call.input = isJsonObject(more) ? more : textOf(call.input) + textOf(more);
  }

  digest(): string | null {
    const lines = this.reasoning === '' ? [] : [`reasoning ${sha256(this.reasoning)}`];
    const seen = new Set<string>();
    for (const { id, name, input } of this.calls.values()) {
      const line = `call ${sha256(`${name}\n${argumentsOf(input)}`)}`;
      if (name !== '' && (id === '' || !seen.has(id + line))) lines.push(line);
      seen.add(id + line);
    }
    if (this.text === '' && lines.length === 0) return null;
    const behind = lines.length === 0 ? [] : [Buffer.from([0xff]), Buffer.from(lines.map((l) => `${l}\n`).join(''))];
    return createHash('sha256')
      .update(Buffer.concat([Buffer.from(this.text), ...behind]))
      .digest('hex');
  }
}

function readChat(objects: readonly JsonObject[], content: Content): void {
  const choices = objects.flatMap(({ choices: all }) => listOf(all));
  for (const choice of choices) {
    if (keyOf(choice['index']) !== keyOf(choices[0]?.['index'])) continue;
    const said = objectOf(choice['delta'] ?? choice['message']);
    content.text += textOf(said['content']) + textOf(said['refusal']);
    content.reasoning += textOf(said['reasoning_content']) || textOf(said['reasoning']);
    const old = said['function_call'];
    const calls = isJsonObject(old) ? [{ index: 'old', function: old } as JsonObject] : listOf(said['tool_calls']);
    for (const [place, call] of calls.entries()) {
      const body = objectOf(call['function'] ?? call['custom']);
      content.call(keyOf(call['index'] ?? place), call['id'], body['name'], body['arguments'] ?? body['input']);
    }
  }
}

function readMessages(objects: readonly JsonObject[], content: Content): void {
  for (const { type, index = null, content: blocks, content_block: block, delta } of objects) {
    if (type === 'message') for (const [place, one] of listOf(blocks).entries()) readBlock(one, keyOf(place), content);
    if (type === 'content_block_start') readBlock(objectOf(block), keyOf(index), content);
    if (type !== 'content_block_delta') continue;
    const { text, thinking, partial_json: input } = objectOf(delta);
    content.text += textOf(text);
    content.reasoning += textOf(thinking);
    if (textOf(input) !== '') content.call(keyOf(index), '', '', input);
  }
}

function readBlock({ type, text, thinking, id, name, input }: JsonObject, place: string, content: Content): void {
  content.text += textOf(text);
  content.reasoning += textOf(thinking);
  const isEmpty = isJsonObject(input) && Object.keys(input).length === 0;
  if (type === 'tool_use') content.call(place, id, name, isEmpty ? '' : input);
}

function readGemini(objects: readonly JsonObject[], content: Content): void {
  const candidates = objects.flatMap(({ candidates: all }) => listOf(all));
  for (const candidate of candidates) {
    if (indexOf(candidate) !== indexOf(candidates[0])) continue;
    for (const { text, thought, functionCall: call } of listOf(objectOf(candidate['content'])['parts'])) {
      if (thought === true) content.reasoning += textOf(text);
      else content.text += textOf(text);
      if (isJsonObject(call)) content.call(keyOf(content.calls.size), call['id'], call['name'], call['args'] ?? '');
    }
  }
}

/** Google leaves out an index of 0. */
function indexOf(candidate: JsonObject | undefined): string {
  return keyOf(candidate?.['index'] ?? 0);
}

function readResponses(objects: readonly JsonObject[], content: Content): void {
  const responses = objects
    .map((body) => objectOf(body['response'] ?? body))
    .filter(({ output }) => Array.isArray(output));
  const listed = listOf(responses.at(-1)?.['output']);
  const done = objects.flatMap(({ type, item }) => (type === 'response.output_item.done' ? [objectOf(item)] : []));
  for (const [place, item] of (listed.length > 0 ? listed : done).entries()) {
    if (item['type'] === 'message')
      for (const { text, refusal } of listOf(item['content'])) content.text += textOf(text) || textOf(refusal);
    if (item['type'] === 'reasoning') {
      const texts = [...listOf(item['summary']), ...listOf(item['content'])].map(({ text }) => textOf(text));
      content.reasoning += texts.filter((text) => text !== '').join('\n\n');
    }
    if (item['type'] === 'function_call' || item['type'] === 'custom_tool_call')
      content.call(keyOf(place), item['call_id'], item['name'], item['arguments'] ?? item['input']);
    if (item['type'] === 'tool_search_call' && item['execution'] !== 'server')
      content.call(keyOf(place), item['call_id'], 'tool_search', item['arguments']);
  }
}

function objectsIn(answer: string): readonly JsonObject[] {
  const text = answer.replace(/^\uFEFF/, '');
  if (/^\s*[[{]/.test(text)) return [parse(text) as JsonValue].flat().filter(isJsonObject);
  const datas = text.split(/\r\n\r\n|\n\n|\r\r/).map((event) => {
    const lines = event.split(/\r\n|\n|\r/).filter((line) => line.startsWith('data:'));
    return lines.map((line) => line.slice(5).trim()).join('\n');
  });
  return datas.filter((data) => data.startsWith('{')).map((data) => parse(data) as JsonObject);
}

const keep = (_name: string, value: unknown, context?: { source?: string }) =>
  typeof value === 'number' && context?.source !== undefined ? JSON.rawJSON(context.source) : value;

/** Numbers stay as they are written. */
function parse(text: string): unknown {
  return JSON.parse(text, keep);
}

function argumentsOf(input: JsonValue): string {
  if (isJsonObject(input)) return canonical(input);
  const text = textOf(input);
  if (text.trim() === '') return '{}';
  try {
    const parsed = parse(text) as JsonValue;
    return isJsonObject(parsed) && !JSON.isRawJSON(parsed) ? canonical(parsed) : text;
  } catch {
    return text;
  }
}

function canonical(value: JsonValue | undefined): string {
  if (JSON.isRawJSON(value)) return numberOf((value as unknown as { rawJSON: string }).rawJSON);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'string') return JSON.stringify(value.toWellFormed());
  if (!isJsonObject(value)) return String(value);
  const names = Object.keys(value).toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return `{${names.map((name) => `${canonical(name)}:${canonical(value[name])}`).join(',')}}`;
}

function numberOf(text: string): string {
  const [sign, rest] = text.startsWith('-') ? ['-', text.slice(1)] : ['', text];
  const [number = '', power = '0'] = rest.toLowerCase().split('e');
  const [whole = '', fraction = ''] = number.split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  if (kept === '') return '0';
  const ten = BigInt(power) - BigInt(fraction.length) + BigInt(digits.length - kept.length);
  return ten === 0n ? sign + kept : `${sign}${kept}e${ten}`;
}

/** An index, however its number is written. */
function keyOf(index: JsonValue | undefined): string {
  return JSON.stringify(index ?? null);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
