import { isFilled, isJsonObject } from '#core/platform/json.ts';
import { UniqueIds } from '../../../canonical/call-ids.ts';
import type { ChatCall, ChatCallBody } from '../../../wire/chat.ts';
import { asText } from '../../../wire/members.ts';
import type { CallPiece } from '../reply/call-tracker.ts';
import type { TrackedCall } from '../reply/tracked-call.ts';

interface SentCall {
  readonly index: number;
  readonly id: string;
  readonly type: string;
}

/** The pieces of a call whose name has not arrived yet. */
interface HeldCall {
  readonly entry: ChatCall;
  readonly input: string;
}

type CallKind = readonly [body: 'function' | 'custom', input: 'arguments' | 'input'];

const otherKind = { function: 'custom', custom: 'function' } as const;

type CallEntry = readonly [call: TrackedCall, entry: ChatCall];

/**
 * Repairs entries of `tool_calls`: numbers calls 0, 1, 2…, sends id, type and name only with a call's first piece, and writes the input as
 * a string, `{}` if it is missing. The openai SDK's stream helper requires this, and LangChain concatenates repeated names.
 */
export class CallRepair {
  readonly #id: string;
  readonly #isWhole: boolean;
  readonly #sentCalls = new Map<TrackedCall, SentCall>();
  readonly #heldCalls = new Map<TrackedCall, HeldCall>();
  readonly #ids = new UniqueIds();

  /**
   * @param id prefix of the ids generated for calls that have none
   * @param isWhole true for the entries of a non-streaming message, which need no indexes
   */
  constructor(id: string, isWhole: boolean) {
    this.#id = id;
    this.#isWhole = isWhole;
  }

  get hasCalls(): boolean {
    return this.#sentCalls.size > 0;
  }

  hasSent(call: TrackedCall, index: number): boolean {
    return this.#sentCalls.get(call)?.index === index;
  }

  /** Clean entries are the vendor's own objects. `isLast` is true if no piece follows. */
  repairPieces(pieces: readonly CallPiece[], isLast: boolean): ChatCall[] {
    const entries = pieces.flatMap((piece) => this.#repairPiece(piece));
    return (isLast ? this.#addEmptyInputs(entries) : entries).map(([, entry]) => entry);
  }

  #addEmptyInputs(entries: readonly CallEntry[]): readonly CallEntry[] {
    const completedEntries = [...entries];
    for (const [call, { index }] of this.#sentCalls) {
      if (call.isCustom || !call.scanner.isBlank) continue;
      call.appendInput('{}');
      const position = completedEntries.findIndex(([entryCall]) => entryCall === call);
      const entry: ChatCall = completedEntries[position]?.[1] ?? { index };
      const body: ChatCallBody = isJsonObject(entry.function) ? entry.function : {};
      const withInput: ChatCall = { ...entry, function: { ...body, arguments: `${asText(body.arguments)}{}` } };
      completedEntries.splice(position === -1 ? completedEntries.length : position, 1, [call, withInput]);
    }
    return completedEntries;
  }

  #repairPiece(piece: CallPiece): CallEntry[] {
    const { call } = piece;
    const sentCall = this.#sentCalls.get(call);
    if (sentCall !== undefined) return this.#repairLaterPiece(piece, sentCall).map((entry) => [call, entry]);
    if (call.name !== undefined) return [[call, this.#repairFirstPiece(piece, call.name)]];
    this.#heldCalls.set(call, this.#joinHeld(piece));
    return [];
  }

  #joinHeld({ call, entry, input }: CallPiece): HeldCall {
    const heldCall = this.#heldCalls.get(call);
    return { entry: { ...heldCall?.entry, ...entry }, input: (heldCall?.input ?? '') + input };
  }

  #repairFirstPiece(piece: CallPiece, name: string): ChatCall {
    const { entry, input } = this.#heldCalls.has(piece.call) ? this.#joinHeld(piece) : piece;
    const index = this.#sentCalls.size;
    const id = this.#ids.add(piece.call.id ?? `${this.#id}_${index}`);
    const type = asText(entry.type) || (piece.isCustom ? 'custom' : 'function');
    this.#heldCalls.delete(piece.call);
    this.#sentCalls.set(piece.call, { index, id, type });
    const [bodyName, inputName] = kindOf(piece);
    const body: ChatCallBody | undefined = readBody(entry, bodyName);
    const isClean =
      (entry.index === index || (this.#isWhole && entry.index === undefined)) &&
      entry.id === id &&
      entry.type === type &&
      body !== undefined &&
      body.name === name &&
      body[inputName] === input &&
      !hasEmptyOtherBody(entry, bodyName);
    if (isClean) return entry;
    const { name: _name, arguments: _arguments, ...members } = dropEmptyOther(entry, bodyName);
    const repairedBody = { ...body, name, [inputName]: input };
    return { ...members, ...(!this.#isWhole && { index }), id, type, [bodyName]: repairedBody };
  }

  #repairLaterPiece(piece: CallPiece, { index, id, type }: SentCall): ChatCall[] {
    const { entry, input, isWhole } = piece;
    if (isWhole && input === '') return [];
    const [bodyName, inputName] = kindOf(piece);
    const body: ChatCallBody | undefined = readBody(entry, bodyName);
    const isClean =
      entry.index === index &&
      [undefined, id].includes(entry.id as string) &&
      [undefined, type].includes(entry.type as string) &&
      body !== undefined &&
      body.name === undefined &&
      [undefined, input].includes(body[inputName] as string) &&
      !hasEmptyOtherBody(entry, bodyName);
    if (isClean) return [entry];
    const { id: _id, type: _type, name: _name, arguments: _arguments, ...members } = dropEmptyOther(entry, bodyName);
    const { name: _repeated, ...bodyMembers } = body ?? {};
    return [{ ...members, index, [bodyName]: { ...bodyMembers, [inputName]: input } }];
  }
}

function readBody(entry: ChatCall, name: CallKind[0]): ChatCallBody | undefined {
  const body = entry[name];
  return isJsonObject(body) ? body : undefined;
}

function hasEmptyOtherBody(entry: ChatCall, name: CallKind[0]): boolean {
  const otherBody = readBody(entry, otherKind[name]);
  return otherBody !== undefined && !isFilled(otherBody);
}

function dropEmptyOther(entry: ChatCall, name: CallKind[0]): ChatCall {
  if (!hasEmptyOtherBody(entry, name)) return entry;
  const { [otherKind[name]]: _, ...members } = entry;
  return members;
}

function kindOf({ isCustom }: CallPiece): CallKind {
  return isCustom ? ['custom', 'input'] : ['function', 'arguments'];
}
