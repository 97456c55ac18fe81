import { hash } from 'node:crypto';

/** Ids accepted by Anthropic and by every other format. */
const plain = /^[A-Za-z0-9_-]+$/;
/** Longer ids are hashed before a number is appended: OpenAI's Chat endpoint accepts 40 characters. */
const longestStem = 34;

/** Keeps an id of letters, digits, - and _, which every vendor of Messages accepts; hashes any other id. */
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
  /** Preferred id of a call; empty if the given id cannot be used. */
  own(id: string, name: string): string;
  /** Alternative id, for when the preferred one is already used. */
  numbered(id: string, name: string, number: number): string;
  /** True if the number is the call's position among all calls rather than among the calls with its id. */
  readonly isByPlace?: true;
}

/** Only repeated ids are changed. */
export const anyId: IdForm = { own: (id) => id, numbered: (id, _name, number) => numberedId(id, number) };

/** Allows ids of up to `length` characters and hashes longer ones. */
export function idsUpTo(length: number): IdForm {
  return { ...anyId, own: (id) => (id.length <= length ? id : hashed(id)) };
}

/** Letters, digits, - and _. Source: Anthropic's refusal, "String should match pattern '^[a-zA-Z0-9_-]+$'". */
export const plainIds: IdForm = { ...anyId, own: plainId };

/** Gives each call a new id. The id depends only on earlier calls, so that prompt caches keep hitting. */
export class UniqueIds {
  readonly #form: IdForm;
  readonly #used = new Set<string>();
  readonly #counts = new Map<string, number>();

  constructor(form: IdForm = anyId) {
    this.#form = form;
  }

  next(given: string, name = ''): string {
    const id = this.#findUnused(given, name);
    this.#used.add(id);
    return id;
  }

  #findUnused(given: string, name: string): string {
    const count = (this.#counts.get(given) ?? 0) + 1;
    this.#counts.set(given, count);
    const preferred = this.#form.own(given, name);
    if (preferred !== '' && !this.#used.has(preferred)) return preferred;
    let number = given === '' ? count : Math.max(count, 2);
    if (this.#form.isByPlace === true) number = this.#used.size;
    for (; ; number++) {
      const id = this.#form.numbered(given, name, number);
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
 * Pairs the calls and results of a history under unique ids; its methods are called in the order of the history. Some vendors
 * restart numbering in each turn or give all calls one id: a result belongs to the nearest preceding call with its id. If a turn has
 * several such calls, results are assigned in order.
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

  /** Unique id of the call that a result belongs to; undefined if no call matches. Surplus results get the id of the last call. */
  result(given: string): string | undefined {
    this.endTurn();
    const open = this.#open.get(given);
    if (open === undefined) return undefined;
    const id = open.ids[Math.min(open.answered, open.ids.length - 1)];
    open.answered++;
    return id;
  }

  /** Call it at the first item that is not the model's. */
  endTurn(): void {
    this.#turn++;
  }
}
