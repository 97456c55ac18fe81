import { endOfString, unescaped } from '#core/platform/json-scan.ts';
import { endOfRepeated, hasRest, type Rest, restOf } from '../../../canonical/repeated-event.ts';
import { namesOtherTier } from '../../../canonical/service-tier.ts';

/** The content of a chunk that needs no repair. */
type CleanDelta = (
  | { readonly type: 'text'; readonly text: string; readonly reasoning: string }
  | { readonly type: 'input'; readonly index: number; readonly input: string }
) & {
  /** True if nothing else in the chunk differs from an earlier chunk. */
  readonly isPlain: boolean;
};

/** A clean chunk without its one varying string, up to the end of its choices. */
interface Shape {
  /** The text up to and including the opening quote of the string. */
  readonly before: string;
  /** The text from the closing quote to the end of the choices. */
  readonly after: string;
  /** The text from the closing quote to the end of the chunk; undefined if readers need more than the choice. */
  readonly rest: Rest | undefined;
  /** The kind of the string; for the input of a call, the index of the call. */
  readonly kind: 'text' | 'reasoning' | number;
}

/** Kind and offsets of a string in a chunk, without its quotes. */
interface Place {
  readonly kind: Shape['kind'];
  readonly start: number;
  readonly end: number;
}

/** Maximum number of remembered shapes: text, reasoning, and the input of a few calls. */
const mostShapes = 4;
/** Matches members that may need a repair, in the spellings of all vendors. */
const notable =
  /"(?:finish_reason"\s*:\s*"|content"\s*:\s*[[{]|message"\s*:|refusal"\s*:\s*"|function_call"\s*:\s*\{|error"\s*:)/;
/** Matches members that other readers look for in chunks without a finish reason. */
const telling = /"(?:usage"\s*:\s*\{|base_resp"\s*:)/;
const delta = '"delta":{';
/** The member that clients read, and a member that is clean only together with the first. */
const reasoningNames = ['"reasoning_content":"', '"reasoning":"'] as const;
/** Matches the start of the next piece of one call. */
const nextInput = /"tool_calls":\[\{"index":(\d+),"function":\{"arguments":(?=")/g;
const endOfInput = /\}\}\]/y;

/**
 * Reads chunks without parsing them if their only choice carries text, reasoning, or the next piece of one call, because nearly
 * every token of a stream takes this path. The chunks of a stream differ in one string only, so most match an earlier chunk.
 */
export class CleanChunks {
  #shapes: Shape[] = [];
  readonly #keepsTiers: boolean;

  /** @param keepsTiers true for OpenAI itself, whose new tiers clients may support */
  constructor(keepsTiers: boolean) {
    this.#keepsTiers = keepsTiers;
  }

  /** Returns undefined for any other chunk, including a chunk that may need a repair. */
  read(chunk: string): CleanDelta | undefined {
    for (const shape of this.#shapes) {
      const clean = deltaIn(chunk, shape);
      // The tier of a plain chunk equals the tier of an earlier chunk.
      if (clean !== undefined) return clean.isPlain || !this.#hasOtherTier(chunk) ? clean : undefined;
    }
    const at = chunk.indexOf(delta);
    if (at === -1 || notable.test(chunk) || this.#hasOtherTier(chunk)) return undefined;
    if (chunk.includes('"tool_calls":', at)) return this.#learnShape(chunk, inputPlace(chunk, at));
    const text = placeOf(chunk, 'text', '"content":"', at);
    const [reasoning, unnamed] = reasoningNames
      .map((name) => placeOf(chunk, 'reasoning', name, at))
      .map((place) => (place !== undefined && place.end > place.start ? place : undefined));
    if (reasoning === undefined) {
      if (unnamed !== undefined) return undefined;
      // Without reasoning as plain text, the details may be cumulative.
      return chunk.includes('"reasoning_details":', at) ? undefined : this.#learnShape(chunk, text);
    }
    if (text === undefined || text.end === text.start) return this.#learnShape(chunk, reasoning);
    return { type: 'text', text: stringAt(chunk, text), reasoning: stringAt(chunk, reasoning), isPlain: false };
  }

  #hasOtherTier(chunk: string): boolean {
    return !this.#keepsTiers && namesOtherTier(chunk);
  }

  #learnShape(chunk: string, place: Place | undefined): CleanDelta | undefined {
    if (place === undefined) return undefined;
    const { kind, start, end } = place;
    // The list of choices ends after the list of calls.
    const inner = typeof kind === 'number' ? chunk.indexOf('}]', end) + 2 : end;
    const last = chunk.indexOf('}]', inner) + 2;
    if (last > 1) {
      const isTelling = !chunk.startsWith('{') || !chunk.includes('"choices"') || telling.test(chunk);
      const after = chunk.slice(end, last);
      const rest = isTelling ? undefined : restOf(chunk, end, last);
      const shape: Shape = { kind, before: chunk.slice(0, start), after, rest };
      this.#shapes = [shape, ...this.#shapes].slice(0, mostShapes);
    }
    return deltaOf(kind, stringAt(chunk, place), false);
  }
}

/** Reads the delta of a chunk of this shape; undefined for any other chunk. */
function deltaIn(chunk: string, { kind, before, after, rest }: Shape): CleanDelta | undefined {
  const end = endOfRepeated(chunk, before);
  if (end === undefined) return undefined;
  const isPlain = rest !== undefined && hasRest(chunk, end, rest);
  if (!isPlain && chunk.slice(end, end + after.length) !== after) return undefined;
  return deltaOf(kind, unescaped(chunk.slice(before.length, end)), isPlain);
}

function deltaOf(kind: Shape['kind'], content: string, isPlain: boolean): CleanDelta {
  if (typeof kind === 'number') return { type: 'input', index: kind, input: content, isPlain };
  const isText = kind === 'text';
  return { type: 'text', text: isText ? content : '', reasoning: isText ? '' : content, isPlain };
}

function inputPlace(chunk: string, from: number): Place | undefined {
  nextInput.lastIndex = from;
  const found = nextInput.exec(chunk);
  if (found === null) return undefined;
  const start = nextInput.lastIndex + 1;
  const end = endOfString(chunk, start - 1);
  endOfInput.lastIndex = end + 1;
  return endOfInput.test(chunk) ? { kind: Number(found[1]), start, end } : undefined;
}

/** Finds the string that follows `beginning`; undefined if `beginning` is not found. */
function placeOf(chunk: string, kind: Shape['kind'], beginning: string, from: number): Place | undefined {
  const at = chunk.indexOf(beginning, from);
  if (at === -1) return undefined;
  const start = at + beginning.length;
  return { kind, start, end: endOfString(chunk, start - 1) };
}

function stringAt(chunk: string, { start, end }: Place): string {
  return unescaped(chunk.slice(start, end));
}
