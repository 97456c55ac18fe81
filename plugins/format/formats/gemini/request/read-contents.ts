import type { JsonObject } from '#core/platform/json.ts';
import { CallMatcher } from '../../../canonical/call-matcher.ts';
import type { Item, OpaqueState, Part } from '../../../canonical/conversation.ts';
import { type Notes, refuseUnreadMessage } from '../../../canonical/notes.ts';
import { readName } from '../../../canonical/tools.ts';
import { toCamelFields, iterateList, readFieldsIfPresent, readFields, readList } from '../../../wire/gemini-fields.ts';
import type {
  GeminiFunctionCall,
  GeminiContent,
  GeminiPart,
  GeminiRequest,
  GeminiFunctionResponse,
} from '../../../wire/gemini.ts';
import { invalidValue, type BodyObject } from '../../../wire/read.ts';
import { readPart } from './read-content.ts';
import { decodeSignature, signaturePlaceholder } from './thought-signature.ts';

type Side = 'user' | 'assistant';

const sidesByRole = new Map<string, Side>([
  ['user', 'user'],
  ['function', 'user'], // results from older clients
  ['model', 'assistant'],
]);

export function readInstructions(request: BodyObject<GeminiRequest>, notes: Notes): string[] {
  const { systemInstruction } = request.value;
  if (typeof systemInstruction === 'string') return systemInstruction === '' ? [] : [systemInstruction];
  const content = readFieldsIfPresent<GeminiContent, GeminiRequest>(request, 'systemInstruction');
  const instructions: string[] = [];
  if (content === undefined) return instructions;
  for (const [index, entry] of readList(content, 'parts').entries()) {
    const fields = typeof entry === 'string' ? { text: entry } : toCamelFields(entry);
    for (const part of readPart(content.place<GeminiPart>('parts', fields, index), notes)) {
      if (part.type === 'text') instructions.push(part.text);
      else notes.drop(`${part.type} in systemInstruction`);
    }
  }
  return instructions;
}

/**
 * Reads the dialogue into items. A signature belongs to the thoughts before its part. Source: Gemini API reference, "Content"; docs, "Thought
 * signatures".
 */
export class ContentReader {
  readonly items: Item[] = [];
  readonly #notes: Notes;
  readonly #calls = new CallMatcher();
  /** The current side's parts since its last call or result. */
  #parts: Part[] = [];
  /** Its signature may be on the next part. */
  #thought = '';

  constructor(notes: Notes) {
    this.#notes = notes;
  }

  /** @throws GatewayError `invalid_request` if a content is malformed or the last content is empty */
  readContents(request: BodyObject<GeminiRequest>): void {
    let lastContent: BodyObject<GeminiContent> | undefined;
    let countBefore = 0;
    for (const content of iterateList<GeminiContent, GeminiRequest>(request, 'contents')) {
      lastContent = content;
      countBefore = this.items.length;
      this.#readContent(content);
    }
    if (lastContent === undefined) throw invalidValue('contents', 'a list of at least one content');
    this.#endTurn('assistant');
    if (this.items.length === countBefore) refuseUnreadMessage(lastContent.path, this.#notes);
  }

  #readContent(content: BodyObject<GeminiContent>): void {
    const side = sidesByRole.get(content.maybeText('role') || 'user');
    if (side === undefined) throw invalidValue(content.pathOf('role'), 'user or model');
    // Clients keep each chunk of a stream as a separate content, so an assistant turn only ends at the user's content.
    if (side === 'user') this.#endTurn('assistant');
    for (const part of iterateList<GeminiPart, GeminiContent>(content, 'parts')) this.#readPart(side, part);
    if (side !== 'user') return;
    this.#endTurn('user');
    this.#calls.endTurn();
  }

  #endTurn(side: Side): void {
    this.#closeThought(side, '');
    this.#flush(side);
  }

  #readPart(side: Side, part: BodyObject<GeminiPart>): void {
    const { thought, functionCall, functionResponse } = part.value;
    const signature = part.maybeText('thoughtSignature') ?? '';
    if (thought === true) this.#thought += part.maybeText('text') ?? '';
    if (signature !== '' || thought !== true) this.#closeThought(side, signature);
    if (thought === true) return;
    if (functionCall !== undefined) this.#readCall(side, readFields(part, 'functionCall'));
    else if (functionResponse !== undefined) this.#readResult(side, readFields(part, 'functionResponse'));
    else for (const content of readPart(part, this.#notes)) this.#addPart(side, content);
  }

  #addPart(side: Side, part: Part): void {
    const lastPart = this.#parts.at(-1);
    // The assistant's consecutive texts are pieces of one text.
    const isPiece = side === 'assistant' && part.type === 'text' && lastPart?.type === 'text';
    if (isPiece) this.#parts.splice(-1, 1, { type: 'text', text: lastPart.text + part.text });
    else this.#parts.push(part);
  }

  /** @param signature the next part's signature; empty if it has none or there is no next part */
  #closeThought(side: Side, signature: string): void {
    const text = this.#thought;
    const state = signature === '' ? undefined : decodeSignature(signature);
    this.#thought = '';
    if (text === '' && !hasStateData(state)) {
      const isForeign = state === undefined && signature !== '' && signature !== signaturePlaceholder;
      if (isForeign) this.#notes.drop('thoughtSignature of unknown origin');
      return;
    }
    if (state === undefined || state.kind === 'thought') this.#flush(side);
    const earlierText = text === '' ? this.#removeUnsignedThought(state) : '';
    this.items.push({ type: 'reasoning', text: earlierText + text, state });
  }

  /**
   * If text of the reply separates a signature from its unsigned thought, removes that thought and returns its text. Reasoning from other
   * vendors is added again before the reply's text, in the order in which it was generated.
   */
  #removeUnsignedThought(state: OpaqueState | undefined): string {
    const lastItem = this.items.at(-1);
    const isUnsigned = this.#parts.length > 0 && lastItem?.type === 'reasoning' && lastItem.state === undefined;
    if (!isUnsigned || state === undefined || state.kind === 'thought') return '';
    this.items.pop();
    return lastItem.text;
  }

  #readCall(side: Side, call: BodyObject<GeminiFunctionCall>): void {
    const name = readName(call);
    const id = call.maybeText('id') || undefined;
    const input = JSON.stringify(call.maybeObject('args')?.value ?? {});
    this.#notes.dropMembers(call.value, ['willContinue'], 'a function call');
    this.#flush(side);
    const callId = this.#calls.addCall(name, id);
    this.items.push({ type: 'tool_call', id: callId, name, namespace: undefined, form: 'function', input });
  }

  #readResult(side: Side, result: BodyObject<GeminiFunctionResponse>): void {
    this.#notes.dropMembers(result.value, ['scheduling', 'willContinue'], 'a function response');
    const name = readName(result);
    const id = result.maybeText('id') || undefined;
    const { text, isError } = unwrapResponse(result.maybeObject('response')?.value ?? {}, name);
    const parts: Part[] = text === '' ? [] : [{ type: 'text', text }];
    for (const part of iterateList<GeminiPart, GeminiFunctionResponse>(result, 'parts'))
      parts.push(...readPart(part, this.#notes));
    this.#flush(side);
    this.items.push({ type: 'tool_result', id: this.#calls.matchResult(name, id), parts, isError });
  }

  #flush(role: Side): void {
    if (this.#parts.length > 0) this.items.push({ type: 'message', role, parts: this.#parts });
    this.#parts = [];
  }
}

function hasStateData(state: OpaqueState | undefined): boolean {
  // The origin of thoughts does not matter without their text.
  return state !== undefined && state.kind !== 'none';
}

/** These can hold the whole result, as documented or observed. */
const resultNames = new Set(['output', 'result', 'error', 'content']);

/**
 * Reads a call's result. In this format results must be objects, so an object that only wraps a value is unwrapped. The wrapper may repeat
 * the function's name, as in older samples by Google and in genai for Rust: `{ name: "ls", content: … }`.
 */
function unwrapResponse(response: JsonObject, functionName: string): { text: string; isError: boolean } {
  const [firstEntry, ...others] = Object.entries(response).filter(
    ([key, value]) => key !== 'name' || value !== functionName || !('content' in response),
  );
  if (firstEntry === undefined) return { text: '', isError: false };
  const isError = others.length === 0 && firstEntry[0] === 'error';
  const isWrapper = others.length === 0 && resultNames.has(firstEntry[0]);
  const value = isWrapper ? firstEntry[1] : response;
  return { text: typeof value === 'string' ? value : JSON.stringify(value ?? null), isError };
}
