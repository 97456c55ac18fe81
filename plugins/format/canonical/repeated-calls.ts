import { type Fragment, isAside } from './reply.ts';
import { normalizeInput } from './stored-reasoning.ts';

type Key = string | number;
type CallFragment = Extract<Fragment, { type: 'call' }>;

/** A call that may be a repetition, because an earlier, complete call has the same id and name. */
interface PossibleRepeat {
  readonly key: Key;
  readonly earlierKey: Key;
  readonly fragments: Fragment[];
  input: string;
}

/**
 * Removes repeated calls from an answer, which have the id, name and arguments of an earlier, complete call. A call with different
 * arguments is a new call and gets a new id from the guard. A possible repetition is held back until its arguments are complete.
 */
export class RepeatedCalls {
  readonly #readInput: (key: Key) => string;
  readonly #calls = new Map<Key, CallFragment>();
  readonly #completeCalls = new Set<Key>();
  #possibleRepeat: PossibleRepeat | undefined;

  /** @param readInput returns the input of an earlier call */
  constructor(readInput: (key: Key) => string) {
    this.#readInput = readInput;
  }

  /** True for a fragment that need not be filtered. */
  canPass({ type }: Fragment): boolean {
    return this.#possibleRepeat === undefined && type !== 'call' && type !== 'call_end';
  }

  filter(fragment: Fragment): readonly Fragment[] {
    const possibleRepeat = this.#possibleRepeat;
    if (possibleRepeat !== undefined) return this.#filterHeld(fragment, possibleRepeat);
    if (fragment.type === 'call') {
      const earlierKey = this.#findEarlier(fragment);
      if (earlierKey !== undefined) {
        this.#possibleRepeat = { key: fragment.key, earlierKey, fragments: [fragment], input: '' };
        return [];
      }
      if (fragment.id !== undefined && fragment.name !== undefined) this.#calls.set(fragment.key, fragment);
    } else if (fragment.type === 'call_end') this.#completeCalls.add(fragment.key);
    return [fragment];
  }

  #findEarlier({ key, id, name, isParallel }: CallFragment): Key | undefined {
    if (id === undefined || id === '' || name === undefined || isParallel === true) return undefined;
    for (const [earlierKey, call] of this.#calls) {
      const isSame = earlierKey !== key && call.id === id && call.name === name;
      if (isSame && this.#completeCalls.has(earlierKey)) return earlierKey;
    }
    return undefined;
  }

  #filterHeld(fragment: Fragment, possibleRepeat: PossibleRepeat): readonly Fragment[] {
    if (isAside(fragment)) return [fragment];
    switch (fragment.type) {
      case 'input':
      case 'call':
        if (fragment.key !== possibleRepeat.key) break;
        possibleRepeat.fragments.push(fragment);
        if (fragment.type === 'call') return [];
        possibleRepeat.input += fragment.text;
        return [{ type: 'held', characters: fragment.text.length }];
      case 'call_end':
        if (fragment.key !== possibleRepeat.key) break;
        return this.#endHolding(fragment.input ?? possibleRepeat.input)
          ? []
          : [...possibleRepeat.fragments, ...this.filter(fragment)];
      case 'finish':
      case 'end':
        return this.#endHolding(possibleRepeat.input) ? [fragment] : [...possibleRepeat.fragments, fragment];
      default:
    }
    this.#possibleRepeat = undefined;
    return [...possibleRepeat.fragments, ...this.filter(fragment)];
  }

  /** Stops holding the call back; returns true if it is a repetition. */
  #endHolding(input: string): boolean {
    const earlierKey = this.#possibleRepeat?.earlierKey;
    this.#possibleRepeat = undefined;
    return earlierKey !== undefined && normalizeInput(this.#readInput(earlierKey)) === normalizeInput(input);
  }
}
