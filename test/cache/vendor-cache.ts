import { type Prompt, type Segment, tokensOf } from './prompt.ts';

/** What a vendor's cache makes of one prompt, in tokens. */
export interface Reading {
  readonly input: number;
  readonly cached: number;
}

/** How a vendor caches prompts. */
export interface CacheRules {
  /** Tokens that a prefix must have. */
  readonly least: number;
  /** Seconds without use after which a prefix is dropped. */
  readonly life: number;
  /**
   * `marks`: at breakpoints of the client, found up to 20 blocks before one. `messages`: where a message ends, whole.
   * `prefix`: any common prefix, in steps of so many tokens. `requests`: the whole input of an earlier request, or steps.
   */
  readonly by: 'marks' | 'messages' | 'prefix' | 'requests';
  readonly step: number;
}

/**
 * Sources: Anthropic docs, "Prompt caching" (20 blocks, four breakpoints, 5 minutes, 1,024 to 4,096 tokens by model). OpenAI docs, "Prompt
 * caching" (1,024 tokens in steps of 128, 5 to 10 minutes; GPT-5.6: exact matches where messages end, 30 minutes). Gemini API docs,
 * "Context caching" (4,096 tokens of a common prefix). DeepSeek docs, "Context caching" (units at the end of an input; hours).
 */
export const rulesOf = {
  chat: { by: 'prefix', least: 1_024, step: 128, life: 300 },
  responses: { by: 'messages', least: 1_024, step: 1, life: 1_800 },
  messages: { by: 'marks', least: 4_096, step: 1, life: 300 },
  gemini: { by: 'prefix', least: 4_096, step: 1, life: 300 },
  deepseek: { by: 'requests', least: 64, step: 64, life: 7_200 },
} as const satisfies Readonly<Record<string, CacheRules>>;

/** Blocks before a breakpoint in which Anthropic looks for an earlier one. */
const lookback = 20;
/** Breakpoints of a request that Anthropic accepts. */
const maxMarks = 4;
/** Breakpoints of a conversation that OpenAI looks at. */
const maxEnds = 80;

interface Entry {
  readonly text: string;
  usedAt: number; // s
}

/** The prompts that one account of a vendor has cached. */
export class VendorCache {
  readonly #rules: CacheRules;
  /** By what leads to the machine, and by text. */
  readonly #entries = new Map<string, Map<string, Entry>>();

  constructor(rules: CacheRules) {
    this.#rules = rules;
  }

  /**
   * @param place leads to the machine that has the cache
   * @param now seconds
   * @throws Error for more breakpoints than the vendor accepts
   */
  read({ segments, others }: Prompt, place: string, now: number): Reading {
    const entries = this.#entries.get(place) ?? new Map<string, Entry>();
    this.#entries.set(place, entries);
    for (const [text, { usedAt }] of entries) if (now - usedAt > this.#rules.life) entries.delete(text);
    const prefixes = prefixesOf(segments, this.#rules.by === 'marks' ? settingsOf(others) : '');
    const whole = prefixes.at(-1) ?? '';
    const cached = this.#find(segments, prefixes, entries, now);
    for (const text of this.#units(segments, prefixes)) {
      const known = entries.get(text);
      if (known === undefined) entries.set(text, { text, usedAt: now });
      else known.usedAt = now;
    }
    const { least, step } = this.#rules;
    const tokens = Math.floor(tokensOf(cached) / step) * step;
    return { input: tokensOf(whole.length), cached: tokens < least ? 0 : Math.min(tokens, tokensOf(whole.length)) };
  }

  /** @returns characters */
  #find(segments: readonly Segment[], prefixes: readonly string[], entries: Map<string, Entry>, now: number): number {
    const use = (text: string) => {
      const entry = entries.get(text);
      if (entry !== undefined) entry.usedAt = now;
      return entry === undefined ? 0 : text.length;
    };
    if (this.#rules.by === 'marks') {
      const marked = marksOf(segments);
      if (marked.length > maxMarks)
        throw new Error(`A maximum of ${maxMarks} blocks with cache_control may be provided.`);
      for (const mark of marked.toReversed())
        for (let index = mark; index >= 0 && index > mark - lookback; index--) {
          const found = use(prefixes[index] as string);
          if (found > 0) return found;
        }
      return 0;
    }
    if (this.#rules.by === 'messages') {
      const ends = endsOf(segments).slice(-maxEnds).toReversed();
      for (const end of ends) {
        const found = use(prefixes[end] as string);
        if (found > 0) return found;
      }
      return 0;
    }
    const whole = prefixes.at(-1) ?? '';
    let most = 0;
    for (const entry of entries.values()) {
      const shared = sharedLength(entry.text, whole);
      if (shared > most) most = shared;
      if (shared === entry.text.length) entry.usedAt = now;
    }
    return most;
  }

  /** The prefixes that a request leaves behind. */
  #units(segments: readonly Segment[], prefixes: readonly string[]): string[] {
    const { by, least } = this.#rules;
    const indexes =
      by === 'marks' ? marksOf(segments) : by === 'messages' ? endsOf(segments).slice(-1) : [prefixes.length - 1];
    return indexes.map((index) => prefixes[index] ?? '').filter((text) => tokensOf(text.length) >= least);
  }
}

function marksOf(segments: readonly Segment[]): number[] {
  return segments.flatMap(({ isMarked }, index) => (isMarked ? [index] : []));
}

function endsOf(segments: readonly Segment[]): number[] {
  return segments.flatMap(({ endsMessage }, index) => (endsMessage ? [index] : []));
}

/** Anthropic forgets messages when thinking or the choice of tools change. */
function settingsOf(others: string): string {
  const { thinking, tool_choice, output_config } = JSON.parse(others) as Record<string, unknown>;
  return JSON.stringify([thinking, tool_choice, output_config]);
}

/** The texts up to each segment. */
function prefixesOf(segments: readonly Segment[], settings: string): string[] {
  let text = settings;
  return segments.map((segment) => (text += segment.text));
}

function sharedLength(one: string, other: string): number {
  // Compared in steps: prompts have hundreds of thousands of characters.
  const most = Math.min(one.length, other.length);
  let from = 0;
  for (const step of [4_096, 64, 1])
    while (
      from < most &&
      one.slice(from, Math.min(from + step, most)) === other.slice(from, Math.min(from + step, most))
    )
      from = Math.min(from + step, most);
  return from;
}
