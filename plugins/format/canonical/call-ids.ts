import { hash } from 'node:crypto';

/** Matches ids that Anthropic and every other format accept. */
const plain = /^[A-Za-z0-9_-]+$/;
/** Longer ids are hashed before a number is appended, because OpenAI's Chat endpoint accepts 40 characters. */
const longestStem = 34;

/** Returns an id of letters, digits, - and _ unchanged, because every vendor of Messages accepts it; hashes any other id. */
export function plainId(id: string): string {
  return plain.test(id) ? id : hashed(id);
}

/** Appends a number to an id. The result is valid for every vendor, except those that require a special form. */
export function numberedId(id: string, number: number): string {
  if (id === '') return `call_${number}`;
  const stem = plainId(id);
  return `${stem.length > longestStem ? hashed(id) : stem}_${number}`;
}

function hashed(id: string): string {
  return `call_${hash('sha256', id).slice(0, 24)}`;
}

/** Rules for the ids that a format or vendor accepts. */
export interface IdForm {
  /** Returns the preferred id of a call; empty if the given id cannot be used. */
  own(id: string, name: string): string;
  /** Returns an alternative id if the preferred one is already used. */
  numbered(id: string, name: string, number: number): string;
  /** True if the number is the call's position among all calls rather than among the calls with its id. */
  readonly isByPlace?: true;
}

/** Accepts any id; only repeated ids are changed. */
export const anyId: IdForm = { own: (id) => id, numbered: (id, _name, number) => numberedId(id, number) };

/** Accepts ids of up to `length` characters; longer ids are hashed. */
export function idsUpTo(length: number): IdForm {
  return { ...anyId, own: (id) => (id.length <= length ? id : hashed(id)) };
}

/** Accepts letters, digits, - and _. Source: Anthropic's refusal, "String should match pattern '^[a-zA-Z0-9_-]+$'". */
export const plainIds: IdForm = { ...anyId, own: plainId };

/** Gives each call a new id. The id depends only on earlier calls, so that prompt caches keep hitting. */
export class UniqueIds {
  readonly #form: IdForm;
  readonly #used = new Set<string>();
  readonly #counts = new Map<string, number>();

  constructor(form: IdForm = anyId) {
    this.#form = form;
  }

  next(givenId: string, name = ''): string {
    const id = this.#findUnused(givenId, name);
    this.#used.add(id);
    return id;
  }

  #findUnused(givenId: string, name: string): string {
    const count = (this.#counts.get(givenId) ?? 0) + 1;
    this.#counts.set(givenId, count);
    const preferred = this.#form.own(givenId, name);
    if (preferred !== '' && !this.#used.has(preferred)) return preferred;
    let number = givenId === '' ? count : Math.max(count, 2);
    if (this.#form.isByPlace === true) number = this.#used.size;
    for (; ; number++) {
      const id = this.#form.numbered(givenId, name, number);
      if (!this.#used.has(id)) return id;
    }
  }
}

/** The calls of the latest turn that share an id. */
interface OpenCalls {
  readonly turn: number;
  readonly ids: string[];
  answered: number;
}

/**
 * Pairs the calls and results of a history under unique ids. Its methods are called in the order of the history. Some vendors
 * restart numbering in each turn or give all calls one id. A result belongs to the nearest preceding call with its id; if a turn has
 * several such calls, results are assigned in order.
 */
export class CallIds {
  readonly #unique: UniqueIds;
  readonly #open = new Map<string, OpenCalls>();
  #turn = 0;

  constructor(form?: IdForm) {
    this.#unique = new UniqueIds(form);
  }

  /** Records a call and returns its unique id. */
  call(givenId: string, name: string): string {
    const id = this.#unique.next(givenId, name);
    const open = this.#open.get(givenId);
    if (open?.turn === this.#turn) open.ids.push(id);
    else this.#open.set(givenId, { turn: this.#turn, ids: [id], answered: 0 });
    return id;
  }

  /** Returns the unique id of the call that a result belongs to; undefined if no call matches. Surplus results get the last call's id. */
  result(givenId: string): string | undefined {
    this.endTurn();
    const open = this.#open.get(givenId);
    if (open === undefined) return undefined;
    const id = open.ids[Math.min(open.answered, open.ids.length - 1)];
    open.answered++;
    return id;
  }

  /** Must be called at the first item that does not come from the model. */
  endTurn(): void {
    this.#turn++;
  }
}
