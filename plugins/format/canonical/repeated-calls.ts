import { type Fragment, isAside } from './reply.ts';

type Key = string | number;
type CallFragment = Extract<Fragment, { type: 'call' }>;

interface PossibleRepeat {
  readonly key: Key;
  readonly earlierKeys: readonly Key[];
  readonly fragments: Fragment[];
  input: string;
}

/**
 * Removes repeated calls from an answer. A repeated call has the id, name and arguments of an earlier, completed call. A call with
 * different arguments is a new call, and the guard gives it a new id. A possible repetition is held back until its arguments are complete.
 */
export class RepeatedCalls {
  readonly #hasSameInput: (key: Key, input: string) => boolean;
  readonly #calls = new Map<Key, CallFragment>();
  readonly #completeCalls = new Set<Key>();
  #possibleRepeat: PossibleRepeat | undefined;

  constructor(hasSameInput: (key: Key, input: string) => boolean) {
    this.#hasSameInput = hasSameInput;
  }

  get isHolding(): boolean {
    return this.#possibleRepeat !== undefined;
  }

  canPass({ type }: Fragment): boolean {
    return this.#possibleRepeat === undefined && type !== 'call' && type !== 'call_end';
  }

  filter(fragment: Fragment): readonly Fragment[] {
    const possibleRepeat = this.#possibleRepeat;
    if (possibleRepeat !== undefined) return this.#filterHeld(fragment, possibleRepeat);
    if (fragment.type === 'call') {
      const earlierKeys = this.#findEarlier(fragment);
      if (fragment.id !== undefined && fragment.name !== undefined) this.#calls.set(fragment.key, fragment);
      if (earlierKeys.length > 0) {
        this.#possibleRepeat = { key: fragment.key, earlierKeys, fragments: [fragment], input: '' };
        return [];
      }
    } else if (fragment.type === 'call_end') this.#completeCalls.add(fragment.key);
    return [fragment];
  }

  releaseHeldCall(): readonly Fragment[] {
    const { fragments = [] } = this.#possibleRepeat ?? {};
    this.#possibleRepeat = undefined;
    return fragments;
  }

  #findEarlier({ key, id, name, isParallel }: CallFragment): readonly Key[] {
    if (id === undefined || id === '' || name === undefined || isParallel === true) return [];
    return [...this.#completeCalls].filter((earlierKey) => {
      const call = this.#calls.get(earlierKey);
      return earlierKey !== key && call?.id === id && call.name === name;
    });
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
        return this.#resolveHeldCall(fragment.input ?? possibleRepeat.input)
          ? []
          : [...possibleRepeat.fragments, ...this.filter(fragment)];
      case 'finish':
      case 'end':
        return this.#resolveHeldCall(possibleRepeat.input) ? [fragment] : [...possibleRepeat.fragments, fragment];
      default:
    }
    return [...this.releaseHeldCall(), ...this.filter(fragment)];
  }

  /** Releases the held call. Returns true if it is a repetition; its fragments are then dropped. */
  #resolveHeldCall(input: string): boolean {
    const { earlierKeys = [] } = this.#possibleRepeat ?? {};
    this.#possibleRepeat = undefined;
    return earlierKeys.some((key) => this.#hasSameInput(key, input));
  }
}
