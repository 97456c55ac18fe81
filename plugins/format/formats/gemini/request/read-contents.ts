import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import type { Item, OpaqueState, Part } from '../../../canonical/conversation.ts';
import { CallMatcher } from '../../../canonical/call-matcher.ts';
import { type Notes, refuseUnread } from '../../../canonical/notes.ts';
import { readName } from '../../../canonical/tools.ts';
import { readFields, readMany } from '../../../wire/gemini-fields.ts';
import { invalid, maybeObject, maybeText } from '../../../wire/read.ts';
import { type PlacedPart, readPart, readPlaced } from './read-content.ts';
import { decodeSignature, skipValidation } from './thought-signature.ts';
import type { GeminiCall, GeminiContent, GeminiResult } from '../../../wire/gemini.ts';

type Side = 'user' | 'assistant';

/** Roles of the API; older clients send results with the role `function`. */
const sides = new Map<string, Side>([
  ['user', 'user'],
  ['function', 'user'],
  ['model', 'assistant'],
]);

/** Reads the instructions of a request: one content, whose role does not matter, or a string. */
export function readInstructions(value: JsonValue | undefined, notes: Notes): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value];
  if (value === undefined || value === null) return [];
  const content: GeminiContent = readFields(value, 'systemInstruction');
  const parts = readMany(content.parts, 'systemInstruction.parts');
  return parts.flatMap((entry, index) => {
    const path = `systemInstruction.parts[${index}]`;
    const placed = typeof entry === 'string' ? { part: { text: entry }, path } : readPlaced(entry, path);
    return readPart(placed, notes).flatMap((part) => {
      if (part.type === 'text') return [part.text];
      notes.drop(`${part.type} in systemInstruction`);
      return [];
    });
  });
}

/**
 * Reads the dialogue into items. A signature belongs to the thoughts that led to its part.
 *
 * Source: Gemini API reference, "Content"; docs, "Thought signatures".
 */
export class ContentReader {
  readonly items: Item[] = [];
  readonly #notes: Notes;
  readonly #calls = new CallMatcher();
  /** Parts of one side since its last call or result. */
  #parts: Part[] = [];
  /** Thoughts whose signature may be on the next part. */
  #thought = '';

  constructor(notes: Notes) {
    this.#notes = notes;
  }

  /** @throws GatewayError `invalid_request` */
  readContents(value: JsonValue | undefined): void {
    const contents = readMany(value, 'contents');
    if (contents.length === 0) throw invalid('contents', 'a list of at least one content');
    let count = 0;
    for (const [index, entry] of contents.entries()) {
      const path = `contents[${index}]`;
      count = this.items.length;
      this.#readContent(readFields(entry, path), path);
    }
    this.#endTurn('assistant');
    if (this.items.length === count) refuseUnread(`contents[${contents.length - 1}]`, this.#notes);
  }

  #readContent(content: GeminiContent, path: string): void {
    const side = sides.get(maybeText(content.role, `${path}.role`) || 'user');
    if (side === undefined) throw invalid(`${path}.role`, 'user or model');
    // Clients keep each chunk of a stream as a content: the answer continues until a user's content.
    if (side === 'user') this.#endTurn('assistant');
    for (const [index, entry] of readMany(content.parts, `${path}.parts`).entries()) {
      this.#readPart(side, readPlaced(entry, `${path}.parts[${index}]`));
    }
    if (side !== 'user') return;
    this.#endTurn('user');
    this.#calls.endTurn();
  }

  #endTurn(side: Side): void {
    this.#closeThought(side, undefined);
    this.#flush(side);
  }

  #readPart(side: Side, placed: PlacedPart): void {
    const { part, path } = placed;
    const signature = maybeText(part.thoughtSignature, `${path}.thoughtSignature`) ?? '';
    if (part.thought === true) this.#think(maybeText(part.text, `${path}.text`) ?? '');
    if (signature !== '' || part.thought !== true) this.#closeThought(side, signature);
    if (part.thought === true) return;
    if (part.functionCall !== undefined)
      this.#readCall(side, readFields(part.functionCall, `${path}.functionCall`), path);
    else if (part.functionResponse !== undefined)
      this.#readResult(side, readFields(part.functionResponse, `${path}.functionResponse`), path);
    else for (const shown of readPart(placed, this.#notes)) this.#show(side, shown);
  }

  /** Consecutive texts of an answer are pieces of one text. */
  #show(side: Side, part: Part): void {
    const last = this.#parts.at(-1);
    const isPiece = side === 'assistant' && part.type === 'text' && last?.type === 'text';
    if (isPiece) this.#parts.splice(-1, 1, { type: 'text', text: last.text + part.text });
    else this.#parts.push(part);
  }

  #think(text: string): void {
    this.#thought += text;
  }

  /** @param signature empty when the next part has none, undefined when there is no next part */
  #closeThought(side: Side, signature: string | undefined): void {
    const text = this.#thought;
    const state = signature === undefined || signature === '' ? undefined : decodeSignature(signature);
    this.#thought = '';
    if (text === '' && !isWorthKeeping(state)) {
      const isForeign =
        state === undefined && signature !== undefined && signature !== '' && signature !== skipValidation;
      if (isForeign) this.#notes.drop('thoughtSignature of unknown origin');
      return;
    }
    if (state === undefined || state.kind === 'thought') this.#flush(side);
    this.items.push({ type: 'reasoning', text: this.#unsigned(text, state) + text, state });
  }

  /**
   * Takes the text of the thoughts that a signature belongs to, when text of the answer stands between them. Reasoning of
   * other vendors goes before that text, where they made it.
   */
  #unsigned(text: string, state: OpaqueState | undefined): string {
    const last = this.items.at(-1);
    const isSame = this.#parts.length > 0 && last?.type === 'reasoning' && last.state === undefined;
    if (!isSame || text !== '' || state === undefined || state.kind === 'thought') return '';
    this.items.pop();
    return last.text;
  }

  #readCall(side: Side, call: GeminiCall, path: string): void {
    const name = readName(call, `${path}.functionCall`);
    const id = maybeText(call.id, `${path}.functionCall.id`) || undefined;
    const args = maybeObject(call.args, `${path}.functionCall.args`) ?? {};
    this.#notes.dropMembers(call, ['willContinue'], 'a function call');
    this.#flush(side);
    this.items.push({
      type: 'tool_call',
      id: this.#calls.call(name, id),
      name,
      namespace: undefined,
      form: 'function',
      input: JSON.stringify(args),
    });
  }

  #readResult(side: Side, result: GeminiResult, path: string): void {
    const at = `${path}.functionResponse`;
    this.#notes.dropMembers(result, ['scheduling', 'willContinue'], 'a function response');
    const name = readName(result, at);
    const id = maybeText(result.id, `${at}.id`) || undefined;
    const { text, isError } = readResponse(maybeObject(result.response, `${at}.response`) ?? {});
    const shown = readMany(result.parts, `${at}.parts`).flatMap((entry, index) =>
      readPart(readPlaced(entry, `${at}.parts[${index}]`), this.#notes),
    );
    this.#flush(side);
    const texts: Part[] = text === '' ? [] : [{ type: 'text', text }];
    this.items.push({ type: 'tool_result', id: this.#calls.result(name, id), parts: [...texts, ...shown], isError });
  }

  #flush(role: Side): void {
    if (this.#parts.length > 0) this.items.push({ type: 'message', role, parts: this.#parts });
    this.#parts = [];
  }
}

/** False for a tag without data: without text, the origin of the thoughts does not matter. */
function isWorthKeeping(state: OpaqueState | undefined): boolean {
  return state !== undefined && state.kind !== 'none';
}

/** Members that hold a result alone, documented or observed. */
const resultNames = new Set(['output', 'result', 'error', 'content']);

/** Results must be objects in this format: one that only wraps a text is unwrapped. */
function readResponse(response: JsonObject): { text: string; isError: boolean } {
  const [only, ...others] = Object.entries(response);
  if (only === undefined) return { text: '', isError: false };
  const isError = others.length === 0 && only[0] === 'error';
  const isWrapper = others.length === 0 && resultNames.has(only[0]);
  const value = isWrapper ? only[1] : response;
  return { text: typeof value === 'string' ? value : JSON.stringify(value ?? null), isError };
}
