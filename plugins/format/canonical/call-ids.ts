import { createHash } from 'node:crypto';

/** The ids that Anthropic accepts; every other format takes them too. */
const plain = /^[A-Za-z0-9_-]+$/;
/** Longer ids are hashed before a number is added: OpenAI's Chat endpoint takes 40 characters. */
const longestStem = 34;

/** The id as every vendor of Messages accepts it: of letters, digits, - and _; any other id becomes its hash. */
export function plainId(id: string): string {
  return plain.test(id) ? id : hashed(id);
}

/** An id made of a given one and a number. Valid for every vendor, except those that require a form of their own. */
export function numberedId(id: string, number: number): string {
  if (id === '') return `call_${number}`;
  const stem = plainId(id);
  return `${stem.length > longestStem ? hashed(id) : stem}_${number}`;
}

function hashed(id: string): string {
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`;
}

/** How ids are written. */
export interface IdForm {
  /** The id to prefer for a call; empty if the given one cannot be used. */
  own(id: string, name: string): string;
  /** Another id, where that is taken. */
  numbered(id: string, name: string, number: number): string;
  /** True where the number is the call's place among all calls, not that among the calls of its id. */
  readonly isByPlace?: true;
}

/** Ids stay as they are, except those that repeat. */
export const anyId: IdForm = { own: (id) => id, numbered: (id, _name, number) => numberedId(id, number) };

/** Ids of at most so many characters; a longer one becomes its hash. */
export function idsUpTo(length: number): IdForm {
  return { ...anyId, own: (id) => (id.length <= length ? id : hashed(id)) };
}

/** Letters, digits, - and _. Source: Anthropic's refusal, "String should match pattern '^[a-zA-Z0-9_-]+$'". */
export const plainIds: IdForm = { ...anyId, own: plainId };

/** Gives each call an id that no call before it has. Depends only on the calls before, so prompt caches hit. */
export class UniqueIds {
  readonly #form: IdForm;
  readonly #taken = new Set<string>();
  readonly #counts = new Map<string, number>();

  constructor(form: IdForm = anyId) {
    this.#form = form;
  }

  next(given: string, name = ''): string {
    const id = this.#free(given, name);
    this.#taken.add(id);
    return id;
  }

  #free(given: string, name: string): string {
    const count = (this.#counts.get(given) ?? 0) + 1;
    this.#counts.set(given, count);
    const own = this.#form.own(given, name);
    if (own !== '' && !this.#taken.has(own)) return own;
    let number = given === '' ? count : Math.max(count, 2);
    if (this.#form.isByPlace === true) number = this.#taken.size;
    for (; ; number++) {
      const id = this.#form.numbered(given, name, number);
      if (!this.#taken.has(id)) return id;
    }
  }
}

/** The calls of the last turn with this id. */
interface OpenCalls {
  readonly turn: number;
  readonly ids: string[];
  answered: number;
}

/**
 * Pairs the calls and results of a history, read in order, under ids that are unique. Some vendors number their calls anew in
 * each turn, or give all calls one id: a result belongs to the nearest call before it with its id; if a turn has several,
 * results follow in their order.
 */
export class CallIds {
  readonly #unique: UniqueIds;
  readonly #open = new Map<string, OpenCalls>();
  #turn = 0;

  constructor(form?: IdForm) {
    this.#unique = new UniqueIds(form);
  }

  call(given: string, name: string): string {
    const id = this.#unique.next(given, name);
    const open = this.#open.get(given);
    if (open?.turn === this.#turn) open.ids.push(id);
    else this.#open.set(given, { turn: this.#turn, ids: [id], answered: 0 });
    return id;
  }

  /** The id of the call that a result belongs to; undefined if there is none. A repeated result gets that of the last call. */
  result(given: string): string | undefined {
    this.endTurn();
    const open = this.#open.get(given);
    if (open === undefined) return undefined;
    const id = open.ids[Math.min(open.answered, open.ids.length - 1)];
    open.answered++;
    return id;
  }

  /** Ends the model's turn: something that is not the model's follows. */
  endTurn(): void {
    this.#turn++;
  }
}
