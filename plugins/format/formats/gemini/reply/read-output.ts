import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Fragment } from '../../../canonical/reply.ts';
import { member } from '../../../wire/members.ts';
import { PartialArgs } from './partial-args.ts';
import { readCitations } from './read-citations.ts';
import type { GeminiBlob, GeminiCall, GeminiCandidate, GeminiContent, GeminiPart } from '../../../wire/gemini.ts';

/** Reads the parts of one answer in the order of arrival. */
export class PartReader {
  /** True once text or a call has come. */
  hasSpoken = false;
  /** The answer so far, in which citations are searched. */
  #text = '';
  #count = 0;
  /** A call whose arguments come in pieces. */
  #open: { readonly key: number; readonly args: PartialArgs } | undefined;

  read(candidate: GeminiCandidate): Fragment[] {
    const parts = member<GeminiContent>(candidate.content, 'parts');
    const fragments = (Array.isArray(parts) ? parts : []).flatMap((part) =>
      isJsonObject(part) ? this.#part(part) : [],
    );
    const cited = readCitations(candidate, this.#text);
    // Citations belong to the text, which a signature may follow.
    return fragments.toSpliced(fragments.findLastIndex(({ type }) => type === 'text') + 1, 0, ...cited);
  }

  /** Ends the open call. */
  finish(): Fragment[] {
    const open = this.#open;
    this.#open = undefined;
    return open === undefined ? [] : [{ type: 'call_end', key: open.key, input: open.args.text }];
  }

  #part(part: GeminiPart): Fragment[] {
    const call = part.functionCall;
    const signature = readSignature(part.thoughtSignature);
    // The signature of a call belongs to the thoughts before it; that of a text comes after the text.
    if (isJsonObject(call)) return [...signature, ...this.#call(call)];
    return [...this.#say(part), ...readDropped(part), ...signature];
  }

  #say(part: GeminiPart): Fragment[] {
    const text = typeof part.text === 'string' ? part.text : '';
    if (text === '') return [];
    if (part.thought === true) return [{ type: 'reasoning', text }];
    this.hasSpoken = true;
    this.#text += text;
    return [{ type: 'text', text }];
  }

  #call(call: GeminiCall): Fragment[] {
    const { id, name, args } = call;
    const isNew = typeof name === 'string' && name !== '';
    const before = isNew ? this.finish() : [];
    if (!isNew && this.#open === undefined) return [];
    const key = isNew ? this.#count++ : (this.#open?.key ?? 0);
    const head: Fragment[] = isNew ? [{ type: 'call', key, id: typeof id === 'string' ? id : undefined, name }] : [];
    this.hasSpoken = true;
    if (isJsonObject(args) && isNew) return [...before, ...head, ...wholeCall(key, args)];
    this.#open ??= { key, args: new PartialArgs() };
    this.#open.args.add(call.partialArgs);
    return [...before, ...head, ...(call.willContinue === true ? [] : this.finish())];
  }
}

/** Members of parts that have no place in a reply of another format, and their names in notes. */
const codeMembers = ['executableCode', 'codeExecutionResult'] as const;
const mediaMembers = ['inlineData', 'fileData'] as const;
const mediaNames = new Map([
  ['image', 'images'],
  ['audio', 'audio'],
]);

function readDropped(part: GeminiPart): Fragment[] {
  const lost = codeMembers.some((name) => isJsonObject(part[name])) ? ['executed code'] : [];
  for (const name of mediaMembers) {
    if (!isJsonObject(part[name])) continue;
    const [kind = ''] = String(member<GeminiBlob>(part[name], 'mimeType')).split('/');
    lost.push(mediaNames.get(kind) ?? 'files');
  }
  return lost.map((what) => ({ type: 'dropped', what: `${what} in the answer` }));
}

function wholeCall(key: number, args: JsonObject): Fragment[] {
  return [
    { type: 'input', key, text: JSON.stringify(args) },
    { type: 'call_end', key },
  ];
}

function readSignature(value: JsonValue | undefined): Fragment[] {
  return typeof value === 'string' && value !== '' ? [{ type: 'reasoning_state', kind: 'thought', data: value }] : [];
}
