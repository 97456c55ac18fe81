import { findStringEnd, unescapeString } from '#core/platform/json-scan.ts';
import { findTextEnd, hasTail, type EventTail, readTail } from '../../../canonical/repeated-event.ts';
import { namesOtherTier } from '../../../canonical/service-tier.ts';

type CleanDelta = (
  | { readonly type: 'text'; readonly text: string; readonly reasoning: string }
  | { readonly type: 'input'; readonly index: number; readonly input: string }
) & {
  /** True if nothing else in the chunk differs from an earlier chunk. */
  readonly isPlain: boolean;
  readonly missing: readonly HeadMember[];
};

/** A required member of a chunk other than its id and choices. */
export type HeadMember = 'object' | 'created' | 'model';

/** A clean chunk up to the end of its choices, without the one string that varies. */
interface ChunkShape {
  /** Up to and including the string's opening quote. */
  readonly before: string;
  /** From the string's closing quote to the end of the choices. */
  readonly after: string;
  /** From the string's closing quote to the end of the chunk; undefined if readers need more than the choice. */
  readonly remainder: EventTail | undefined;
  /** The string's kind; for a call's input, the index of the call. */
  readonly kind: 'text' | 'reasoning' | number;
  readonly missing: readonly HeadMember[];
  /** True if all required members are in `before`, which is the same in all chunks of this shape. */
  readonly hasWholeHead: boolean;
}

/** Offsets without the quotes. */
interface StringSpan {
  readonly kind: ChunkShape['kind'];
  readonly start: number;
  readonly end: number;
}

const maxShapes = 4; // text, reasoning, and the input of a few calls
/** Members that may need a repair, in the spellings of all vendors. */
const repairPattern =
  /"(?:finish_reason"\s*:\s*"|content"\s*:\s*[[{]|message"\s*:|refusal"\s*:\s*"|function_call"\s*:\s*\{|error"\s*:)/;
/** Members that other readers look for in chunks without a finish reason. */
const otherReaderPattern = /"(?:usage"\s*:\s*\{|base_resp"\s*:)/;
/** The patterns match values of the right type. Quotes within strings are escaped, so they do not match. */
const headMembers = [
  ['object', /"object"\s*:\s*"chat\.completion\.chunk"/],
  ['created', /"created"\s*:\s*\d/],
  ['model', /"model"\s*:\s*"/],
] as const;
const deltaStart = '"delta":{';
/** Clients read the first; the second is clean only together with it. */
const reasoningNames = ['"reasoning_content":"', '"reasoning":"'] as const;
const nextInputPattern = /"tool_calls":\[\{"index":(\d+),"function":\{"arguments":(?=")/g;
const inputEndPattern = /\}\}\]/y;
const nestedStart = /[[{]/;

/**
 * Reads a chunk without parsing it if its only choice carries text, reasoning, or the next piece of one call: nearly every token of a
 * stream takes this path. The chunks of a stream differ in only one string, so most of them match an earlier chunk.
 */
export class CleanChunks {
  #shapes: ChunkShape[] = [];
  readonly #keepsTiers: boolean;

  constructor(keepsTiers: boolean) {
    this.#keepsTiers = keepsTiers;
  }

  /** Returns undefined for a chunk that may need a repair. `id` is the JSON of a clean chunk's `id` member. */
  read(chunk: string, id: string): CleanDelta | undefined {
    for (const shape of this.#shapes) {
      const clean = readDeltaOfShape(chunk, shape);
      if (clean === undefined) continue;
      // A plain chunk has the same id, tier and head as an earlier clean chunk.
      if (clean.isPlain) return clean;
      if (!this.#hasCleanMembers(chunk, id)) return undefined;
      if (shape.hasWholeHead) return clean;
      const missing = findMissing(chunk);
      return missing && { ...clean, missing };
    }
    const deltaOffset = chunk.indexOf(deltaStart);
    if (deltaOffset === -1 || repairPattern.test(chunk) || !this.#hasCleanMembers(chunk, id)) return undefined;
    const missing = findMissing(chunk);
    if (missing === undefined) return undefined;
    const learnShape = (span: StringSpan | undefined) => this.#learnShape(chunk, span, missing);
    if (chunk.includes('"tool_calls":', deltaOffset)) return learnShape(findInput(chunk, deltaOffset));
    const text = findString(chunk, 'text', '"content":"', deltaOffset);
    const [reasoning, otherReasoning] = reasoningNames
      .map((name) => findString(chunk, 'reasoning', name, deltaOffset))
      .map((span) => (span !== undefined && span.end > span.start ? span : undefined));
    if (reasoning === undefined) {
      if (otherReasoning !== undefined) return undefined;
      // If the reasoning is not present as plain text, the details may be cumulative.
      if (chunk.includes('"reasoning_details":', deltaOffset)) return undefined;
      const members = chunk.slice(deltaOffset + deltaStart.length, text?.start);
      // Nested values, such as Groq's search results, hold quotations in a member named `content`.
      return nestedStart.test(members) ? undefined : learnShape(text);
    }
    if (text === undefined || text.end === text.start) return learnShape(reasoning);
    return {
      type: 'text',
      text: readString(chunk, text),
      reasoning: readString(chunk, reasoning),
      isPlain: false,
      missing,
    };
  }

  #hasCleanMembers(chunk: string, id: string): boolean {
    return chunk.includes(id) && (this.#keepsTiers || !namesOtherTier(chunk));
  }

  #learnShape(chunk: string, span: StringSpan | undefined, missing: readonly HeadMember[]): CleanDelta | undefined {
    if (span === undefined) return undefined;
    const { kind, start, end } = span;
    // The list of calls ends before the list of choices.
    const searchStart = typeof kind === 'number' ? chunk.indexOf('}]', end) + 2 : end;
    const choicesEnd = chunk.indexOf('}]', searchStart) + 2;
    if (choicesEnd > 1) {
      const isReadByOthers = !chunk.startsWith('{') || !chunk.includes('"choices"') || otherReaderPattern.test(chunk);
      const after = chunk.slice(end, choicesEnd);
      const remainder = isReadByOthers ? undefined : readTail(chunk, end, choicesEnd);
      const before = chunk.slice(0, start);
      const hasWholeHead = headMembers.every(([, pattern]) => pattern.test(before));
      const shape: ChunkShape = { kind, before, after, remainder, missing, hasWholeHead };
      this.#shapes = [shape, ...this.#shapes].slice(0, maxShapes);
    }
    return createDelta(kind, readString(chunk, span), false, missing);
  }
}

function readDeltaOfShape(
  chunk: string,
  { kind, before, after, remainder, missing }: ChunkShape,
): CleanDelta | undefined {
  const end = findTextEnd(chunk, before);
  if (end === undefined) return undefined;
  const isPlain = remainder !== undefined && hasTail(chunk, end, remainder[0], remainder[1]);
  if (!isPlain && chunk.slice(end, end + after.length) !== after) return undefined;
  return createDelta(kind, unescapeString(chunk.slice(before.length, end)), isPlain, missing);
}

function createDelta(
  kind: ChunkShape['kind'],
  content: string,
  isPlain: boolean,
  missing: readonly HeadMember[],
): CleanDelta {
  if (typeof kind === 'number') return { type: 'input', index: kind, input: content, isPlain, missing };
  const isText = kind === 'text';
  return { type: 'text', text: isText ? content : '', reasoning: isText ? '' : content, isPlain, missing };
}

function findMissing(chunk: string): readonly HeadMember[] | undefined {
  const missing = headMembers.filter(([, pattern]) => !pattern.test(chunk)).map(([name]) => name);
  // A member with a wrong value must be replaced.
  return missing.some((name) => chunk.includes(`"${name}":`)) || !chunk.startsWith('{') ? undefined : missing;
}

function findInput(chunk: string, offset: number): StringSpan | undefined {
  nextInputPattern.lastIndex = offset;
  const match = nextInputPattern.exec(chunk);
  if (match === null) return undefined;
  const start = nextInputPattern.lastIndex + 1;
  const end = findStringEnd(chunk, start - 1);
  inputEndPattern.lastIndex = end + 1;
  return inputEndPattern.test(chunk) ? { kind: Number(match[1]), start, end } : undefined;
}

function findString(chunk: string, kind: ChunkShape['kind'], opening: string, offset: number): StringSpan | undefined {
  const openingOffset = chunk.indexOf(opening, offset);
  if (openingOffset === -1) return undefined;
  const start = openingOffset + opening.length;
  return { kind, start, end: findStringEnd(chunk, start - 1) };
}

function readString(chunk: string, { start, end }: StringSpan): string {
  return unescapeString(chunk.slice(start, end));
}
