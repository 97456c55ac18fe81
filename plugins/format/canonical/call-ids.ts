import { hash } from 'node:crypto';

const plainPattern = /^[A-Za-z0-9_-]+$/;
/** Longer ids are hashed before a number is appended, because OpenAI's Chat endpoint accepts at most 40 characters. */
const maxStemLength = 34;

/** Returns an id of letters, digits, - and _ unchanged, because every vendor of the Messages format accepts it. Hashes any other id. */
export function toPlainId(id: string): string {
  return plainPattern.test(id) ? id : hashId(id);
}

/** Appends a number to an id. Every vendor accepts the result, except those that require a special form. */
export function appendNumber(id: string, number: number): string {
  if (id === '') return `call_${number}`;
  const stem = toPlainId(id);
  return `${stem.length > maxStemLength ? hashId(id) : stem}_${number}`;
}

function hashId(id: string): string {
  return `call_${hash('sha256', id).slice(0, 24)}`;
}

export interface IdRules {
  /** Returns the preferred form of a call's id; empty if the given id cannot be used. */
  toPreferred(id: string, name: string): string;
  /** Returns an alternative if the preferred id is already taken. */
  toNumbered(id: string, name: string, number: number): string;
  /** True if the number is the call's position among all calls rather than among the calls with its id. */
  readonly countsAllCalls?: true;
}

export const anyIdRules: IdRules = {
  toPreferred: (id) => id,
  toNumbered: (id, _name, number) => appendNumber(id, number),
};

export function createLengthRules(length: number): IdRules {
  return { ...anyIdRules, toPreferred: (id) => (id.length <= length ? id : hashId(id)) };
}

/** Accepts letters, digits, - and _. Source: Anthropic's error message, "String should match pattern '^[a-zA-Z0-9_-]+$'". */
export const plainIdRules: IdRules = { ...anyIdRules, toPreferred: toPlainId };

/** Creates a unique id for each call. It depends only on earlier calls, so that a longer history keeps its ids and prompt caches match. */
export class UniqueIds {
  readonly #rules: IdRules;
  readonly #used = new Set<string>();
  readonly #counts = new Map<string, number>();

  constructor(rules: IdRules = anyIdRules) {
    this.#rules = rules;
  }

  add(givenId: string, name = ''): string {
    const id = this.#findUnused(givenId, name);
    this.#used.add(id);
    return id;
  }

  #findUnused(givenId: string, name: string): string {
    const count = (this.#counts.get(givenId) ?? 0) + 1;
    this.#counts.set(givenId, count);
    const preferred = this.#rules.toPreferred(givenId, name);
    if (preferred !== '' && !this.#used.has(preferred)) return preferred;
    let number = givenId === '' ? count : Math.max(count, 2);
    if (this.#rules.countsAllCalls === true) number = this.#used.size;
    for (; ; number++) {
      const id = this.#rules.toNumbered(givenId, name, number);
      if (!this.#used.has(id)) return id;
    }
  }
}

interface OpenCalls {
  readonly turn: number;
  readonly uniqueIds: string[];
  answeredCount: number;
}

/**
 * Pairs the calls and results of a history under unique ids. The methods must be called in the order of the history. Some vendors restart
 * numbering in each turn or give all calls the same id. A result belongs to the nearest preceding call with its id. If a turn has several
 * such calls, results are assigned in order.
 */
export class CallIds {
  readonly #uniqueIds: UniqueIds;
  readonly #openCalls = new Map<string, OpenCalls>();
  #turn = 0;

  constructor(rules?: IdRules) {
    this.#uniqueIds = new UniqueIds(rules);
  }

  addCall(givenId: string, name: string): string {
    const id = this.#uniqueIds.add(givenId, name);
    const openCalls = this.#openCalls.get(givenId);
    if (openCalls?.turn === this.#turn) openCalls.uniqueIds.push(id);
    else this.#openCalls.set(givenId, { turn: this.#turn, uniqueIds: [id], answeredCount: 0 });
    return id;
  }

  /** Returns the unique id of the call that a result belongs to; undefined if no call matches. Surplus results get the last call's id. */
  matchResult(givenId: string): string | undefined {
    this.endTurn();
    const openCalls = this.#openCalls.get(givenId);
    if (openCalls === undefined) return undefined;
    const id = openCalls.uniqueIds[Math.min(openCalls.answeredCount, openCalls.uniqueIds.length - 1)];
    openCalls.answeredCount++;
    return id;
  }

  /** Must be called at the first item after the model's turn. */
  endTurn(): void {
    this.#turn++;
  }
}
