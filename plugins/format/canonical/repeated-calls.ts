import { canonicalInput } from './kept-reasoning.ts';
import { type Fragment, isAside } from './reply.ts';

type Key = string | number;
type CallFragment = Extract<Fragment, { type: 'call' }>;

/** A call that may be a repetition, because an earlier, complete call has the same id and name. */
interface DoubtfulCall {
  readonly key: Key;
  readonly twin: Key;
  readonly fragments: Fragment[];
  input: string;
}

/**
 * Removes repeated calls from an answer, which have the id, name and arguments of an earlier, complete call. A call with different
 * arguments is a new call and gets a new id from the guard. A possible repetition is held back until its arguments are complete.
 */
export class RepeatedCalls {
  readonly #inputOf: (key: Key) => string;
  readonly #calls = new Map<Key, CallFragment>();
  readonly #complete = new Set<Key>();
  #doubtful: DoubtfulCall | undefined;

  /** @param inputOf returns the input of an earlier call */
  constructor(inputOf: (key: Key) => string) {
    this.#inputOf = inputOf;
  }

  /** True for a fragment that need not be filtered. */
  passes({ type }: Fragment): boolean {
    return this.#doubtful === undefined && type !== 'call' && type !== 'call_end';
  }

  filter(fragment: Fragment): readonly Fragment[] {
    const doubtful = this.#doubtful;
    if (doubtful !== undefined) return this.#hold(fragment, doubtful);
    if (fragment.type === 'call') {
      const twin = this.#twinOf(fragment);
      if (twin !== undefined) {
        this.#doubtful = { key: fragment.key, twin, fragments: [fragment], input: '' };
        return [];
      }
      if (fragment.id !== undefined && fragment.name !== undefined) this.#calls.set(fragment.key, fragment);
    } else if (fragment.type === 'call_end') this.#complete.add(fragment.key);
    return [fragment];
  }

  #twinOf({ key, id, name, isBeside }: CallFragment): Key | undefined {
    if (id === undefined || id === '' || name === undefined || isBeside === true) return undefined;
    for (const [earlierKey, call] of this.#calls) {
      const isSame = earlierKey !== key && call.id === id && call.name === name;
      if (isSame && this.#complete.has(earlierKey)) return earlierKey;
    }
    return undefined;
  }

  #hold(fragment: Fragment, doubtful: DoubtfulCall): readonly Fragment[] {
    if (isAside(fragment)) return [fragment];
    switch (fragment.type) {
      case 'input':
      case 'call':
        if (fragment.key !== doubtful.key) break;
        doubtful.fragments.push(fragment);
        if (fragment.type === 'call') return [];
        doubtful.input += fragment.text;
        return [{ type: 'held', characters: fragment.text.length }];
      case 'call_end':
        if (fragment.key !== doubtful.key) break;
        return this.#settle(fragment.input ?? doubtful.input) ? [] : [...doubtful.fragments, ...this.filter(fragment)];
      case 'finish':
      case 'end':
        return this.#settle(doubtful.input) ? [fragment] : [...doubtful.fragments, fragment];
      default:
    }
    this.#doubtful = undefined;
    return [...doubtful.fragments, ...this.filter(fragment)];
  }

  /** Decides about the held call; true if it is a repetition. */
  #settle(input: string): boolean {
    const twin = this.#doubtful?.twin;
    this.#doubtful = undefined;
    return twin !== undefined && canonicalInput(this.#inputOf(twin)) === canonicalInput(input);
  }
}
